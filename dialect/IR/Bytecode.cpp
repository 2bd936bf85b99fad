//===- Bytecode.cpp - Versions of the dialect in bytecode -----------------===//

#include "dialect/IR/Bytecode.h"
#include "dialect/IR/ConvBERTOps.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {
struct ConvBERTBytecodeInterface : BytecodeDialectInterface {
  explicit ConvBERTBytecodeInterface(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const override { writer.writeVarInt(getDialectVersion(writer)); }

  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number > ConvBERTDialectVersion::kCurrent) {
      reader.emitError() << "requires a convbert dialect of version at most " << ConvBERTDialectVersion::kCurrent
                         << ", but found version " << number
                         << "; read it with the release that wrote it, or a newer one";
      return nullptr;
    }
    return std::make_unique<ConvBERTDialectVersion>(number);
  }

  LogicalResult upgradeFromVersion(Operation *top, const DialectVersion &version) const override {
    if (static_cast<const ConvBERTDialectVersion &>(version).number > 0)
      return success();
    top->walk([](ApplyKernelOp op) {
      if (ArrayRef<int64_t> pads = op.getPads(); pads.size() == 1)
        op.setPads({pads[0], pads[0]});
    });
    return success();
  }
};
} // namespace

void convbert::addBytecodeInterface(ConvBERTDialect &dialect) {
  dialect.addInterface(std::make_unique<ConvBERTBytecodeInterface>(&dialect));
}
