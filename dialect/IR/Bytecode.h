//===- Bytecode.h - Versions of the dialect in bytecode ---------*- C++ -*-===//
//
// Bytecode carries the version of the dialect.  Files of an older version are brought up to date as they are read:
//
//   version   what the next one changed
//   0         `apply_kernel` had a unit attribute `softmax`; now it has `normalize` (softmax or none)
//             its `pads` were one number where both ends were alike; now they are always two
//   1         `apply_kernel` had no `with_taps`
//   2         `apply_kernel`, `dynamic_kernel` and `span_dynamic_conv` had no `edge`, `head_map` or `dilation`
//             `depthwise_conv1d` had no `stride` or `dilation`, `separable_conv1d` no `dilation`
//   3         (current)
//
// A file of a newer version is refused.  A file without a version has no operation of the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_DIALECT_IR_BYTECODE_H
#define CONVBERT_DIALECT_IR_BYTECODE_H

#include "dialect/IR/ConvBERTDialect.h"
#include "mlir/Bytecode/BytecodeImplementation.h"

namespace mlir::convbert {

struct ConvBERTDialectVersion : DialectVersion {
  static constexpr uint64_t kCurrent = 3;

  explicit ConvBERTDialectVersion(uint64_t number = kCurrent) : number(number) {}

  uint64_t number;
};

/// The version that is being read or written: what the file or the writer's configuration says, or the current one.
template <typename ReaderOrWriter> uint64_t getDialectVersion(const ReaderOrWriter &readerOrWriter) {
  FailureOr<const DialectVersion *> version = readerOrWriter.template getDialectVersion<ConvBERTDialect>();
  return succeeded(version) ? static_cast<const ConvBERTDialectVersion *>(*version)->number
                            : ConvBERTDialectVersion::kCurrent;
}

/// Makes the dialect write its version, and read and write older ones (BytecodeWriterConfig::setDialectVersion()).
void addBytecodeInterface(ConvBERTDialect &dialect);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_BYTECODE_H
