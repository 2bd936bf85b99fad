//===- BytecodeConv.cpp - Encodings of convolutions -----------------------===//
//
// Version 2 knew neither strides nor dilations.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Bytecode.h"
#include "dialect/IR/ConvBERTOps.h"

using namespace mlir;
using namespace mlir::convbert;

LogicalResult DepthwiseConv1DOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.layout)) || failed(reader.readAttribute(properties.pads)))
    return failure();
  return failure(getDialectVersion(reader) > 2 && (failed(reader.readOptionalAttribute(properties.stride)) ||
                                                   failed(reader.readOptionalAttribute(properties.dilation))));
}

/// An older version has what it can say: a reader of it refuses the rest when it verifies.
void DepthwiseConv1DOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  writer.writeOptionalAttribute(properties.layout);
  writer.writeAttribute(properties.pads);
  if (getDialectVersion(writer) < 3)
    return;
  writer.writeOptionalAttribute(properties.stride);
  writer.writeOptionalAttribute(properties.dilation);
}

LogicalResult SeparableConv1DOp::readProperties(DialectBytecodeReader &reader, OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.layout)) || failed(reader.readAttribute(properties.pads)))
    return failure();
  return failure(getDialectVersion(reader) > 2 && failed(reader.readOptionalAttribute(properties.dilation)));
}

void SeparableConv1DOp::writeProperties(DialectBytecodeWriter &writer) {
  auto &properties = getProperties();
  writer.writeOptionalAttribute(properties.layout);
  writer.writeAttribute(properties.pads);
  if (getDialectVersion(writer) > 2)
    writer.writeOptionalAttribute(properties.dilation);
}
