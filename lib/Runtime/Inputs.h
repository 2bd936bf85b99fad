// The inputs of a call: what they must hold, and what stands in for those left out.
#pragma once

#include "lib/Runtime/BatchShape.h"
#include "lib/Runtime/Manifest.h"

#include <vector>

namespace convbert::rt {

/// Throws InvalidArgument naming the first input, position and value that the model does not take: an id outside its
/// table, a mask byte other than 0 and 1, or input_ids left out.  Tokens beyond a sequence's length are not looked at.
void checkInputs(const Manifest &manifest, const Batch &batch, const void *const *inputs);

/// Number of int64 that fillDefault() may use for one input.
inline int64_t defaultElements(const Batch &batch) { return batch.batch * batch.length; }

/// Writes what an input left out means, [batch][length]: a mask of ones, token types 0, positions 0 .. length-1.
void fillDefault(const ArrayInfo &input, const Batch &batch, int64_t *destination);

} // namespace convbert::rt
