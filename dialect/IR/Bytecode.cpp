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

//===----------------------------------------------------------------------===//
// Operations whose encoding has changed
//===----------------------------------------------------------------------===//

LogicalResult ApplyKernelOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (getVersion(reader) > 0)
    return failure(failed(reader.readAttribute(properties.normalize)) ||
                   failed(reader.readAttribute(properties.pads)) ||
                   (getVersion(reader) > 1 && failed(reader.readOptionalAttribute(properties.with_taps))));
  UnitAttr softmax;
  if (failed(reader.readAttribute(properties.pads)) || failed(reader.readOptionalAttribute(softmax)))
    return failure();
  properties.normalize = KernelNormAttr::get(reader.getContext(), softmax ? KernelNorm::Softmax : KernelNorm::None);
  return success();
}

void ApplyKernelOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  if (getVersion(writer) > 0) {
    writer.writeAttribute(properties.normalize);
    writer.writeAttribute(properties.pads);
    if (getVersion(writer) > 1)
      writer.writeOptionalAttribute(properties.with_taps);
    return;
  }
  ArrayRef<int64_t> pads = getPads();
  bool alike = pads.size() == 2 && pads[0] == pads[1];
  writer.writeAttribute(alike ? DenseI64ArrayAttr::get(getContext(), pads[0]) : properties.pads);
  writer.writeOptionalAttribute(getNormalize() == KernelNorm::Softmax ? UnitAttr::get(getContext()) : UnitAttr());
}

LogicalResult DepthwiseConv1DOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.layout)) || failed(reader.readAttribute(properties.pads)))
    return failure();
  return failure(getVersion(reader) > 2 && (failed(reader.readOptionalAttribute(properties.stride)) ||
                                            failed(reader.readOptionalAttribute(properties.dilation))));
}

/// Older versions have no word for strides and dilations: whoever asks for one loses them.
void DepthwiseConv1DOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  writer.writeOptionalAttribute(properties.layout);
  writer.writeAttribute(properties.pads);
  if (getVersion(writer) < 3)
    return;
  writer.writeOptionalAttribute(properties.stride);
  writer.writeOptionalAttribute(properties.dilation);
}

LogicalResult SeparableConv1DOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.layout)) || failed(reader.readAttribute(properties.pads)))
    return failure();
  return failure(getVersion(reader) > 2 && failed(reader.readOptionalAttribute(properties.dilation)));
}

void SeparableConv1DOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  writer.writeOptionalAttribute(properties.layout);
  writer.writeAttribute(properties.pads);
  if (getVersion(writer) > 2)
    writer.writeOptionalAttribute(properties.dilation);
}
