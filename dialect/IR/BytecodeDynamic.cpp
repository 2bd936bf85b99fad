//===- BytecodeDynamic.cpp - Encodings of dynamic convolution ---------------===//
//
// Version 2 knew neither `edge`, `head_map` nor `dilation`.  A file of an older version is written without them, as if
// they had their defaults: an older release could not read them.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Bytecode.h"
#include "dialect/IR/ConvBERTOps.h"

using namespace mlir;
using namespace mlir::convbert;

/// Attributes that may be missing, in order.
template <typename... Attributes>
static LogicalResult readOptional(DialectBytecodeReader &reader, Attributes &...attributes) {
  return failure((failed(reader.readOptionalAttribute(attributes)) || ...));
}
template <typename... Attributes> static void writeOptional(DialectBytecodeWriter &writer, Attributes... attributes) {
  (writer.writeOptionalAttribute(attributes), ...);
}

LogicalResult ApplyKernelOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  uint64_t version = getDialectVersion(reader);
  if (version > 0)
    return failure(
        failed(reader.readAttribute(properties.normalize)) || failed(reader.readAttribute(properties.pads)) ||
        (version > 1 && failed(readOptional(reader, properties.with_taps))) ||
        (version > 2 && failed(readOptional(reader, properties.dilation, properties.edge, properties.head_map))));
  UnitAttr softmax;
  if (failed(reader.readAttribute(properties.pads)) || failed(reader.readOptionalAttribute(softmax)))
    return failure();
  properties.normalize = KernelNormAttr::get(reader.getContext(), softmax ? KernelNorm::Softmax : KernelNorm::None);
  return success();
}

void ApplyKernelOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  uint64_t version = getDialectVersion(writer);
  if (version > 0) {
    writer.writeAttribute(properties.normalize);
    writer.writeAttribute(properties.pads);
    if (version > 1)
      writeOptional(writer, properties.with_taps);
    if (version > 2)
      writeOptional(writer, properties.dilation, properties.edge, properties.head_map);
    return;
  }
  ArrayRef<int64_t> pads = getPads();
  bool alike = pads.size() == 2 && pads[0] == pads[1];
  writer.writeAttribute(alike ? DenseI64ArrayAttr::get(getContext(), pads[0]) : properties.pads);
  writer.writeOptionalAttribute(getNormalize() == KernelNorm::Softmax ? UnitAttr::get(getContext()) : UnitAttr());
}

LogicalResult DynamicKernelOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  bool isOld = getDialectVersion(reader) < 3;
  return failure(failed(reader.readAttribute(properties.heads)) ||
                 failed(reader.readOptionalAttribute(properties.layout)) ||
                 failed(reader.readAttribute(properties.normalize)) ||
                 failed(reader.readSparseArray(MutableArrayRef(properties.operandSegmentSizes))) ||
                 (!isOld && failed(readOptional(reader, properties.edge, properties.pads, properties.dilation))));
}

void DynamicKernelOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  writer.writeAttribute(properties.heads);
  writer.writeOptionalAttribute(properties.layout);
  writer.writeAttribute(properties.normalize);
  writer.writeSparseArray(ArrayRef(properties.operandSegmentSizes));
  if (getDialectVersion(writer) > 2)
    writeOptional(writer, properties.edge, properties.pads, properties.dilation);
}

LogicalResult SpanDynamicConvOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  bool isOld = getDialectVersion(reader) < 3;
  return failure(failed(reader.readAttribute(properties.heads)) ||
                 failed(reader.readOptionalAttribute(properties.layout)) ||
                 failed(reader.readAttribute(properties.pads)) ||
                 failed(reader.readSparseArray(MutableArrayRef(properties.operandSegmentSizes))) ||
                 (!isOld && failed(readOptional(reader, properties.dilation, properties.edge, properties.head_map))));
}

void SpanDynamicConvOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  writer.writeAttribute(properties.heads);
  writer.writeOptionalAttribute(properties.layout);
  writer.writeAttribute(properties.pads);
  writer.writeSparseArray(ArrayRef(properties.operandSegmentSizes));
  if (getDialectVersion(writer) > 2)
    writeOptional(writer, properties.dilation, properties.edge, properties.head_map);
}
