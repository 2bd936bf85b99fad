//===- Shapes.h - What host code reads from the shape of a call -*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_SHAPES_H
#define CONVBERT_LIB_OUTLINE_SHAPES_H

#include "lib/Outline/HostBuilder.h"
#include "lib/Outline/Lengths.h"

namespace mlir::convbert {

/// Batch, longest length and counts of the lengths of a call, from `shape`.
HostContext readShape(OpBuilder &b, Location loc, const TileSizes &tiles, Value shape);

/// Bytes that the shapes of all further lengths take, from the start of the workspace on; null if there are none.
Value shapeBytes(OpBuilder &b, Location loc, const Lengths &lengths, const HostContext &context);

/// Adds the further lengths of a function to `context`: the loops that compute them, and their counts.  With `memory`,
/// memref<?xi8> of shapeBytes(), their shapes are written there; without, only the counts are known.
void addLengths(OpBuilder &b, const TileSizes &tiles, const Lengths &lengths, Value memory, Location loc,
                HostContext &context);

/// Batch and longest length of all, as the start of a shape: what temporaries of kernels are sized by.
Value largestShape(OpBuilder &b, Location loc, const HostContext &context);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_SHAPES_H
