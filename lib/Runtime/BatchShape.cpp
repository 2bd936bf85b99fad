#include "lib/Runtime/BatchShape.h"

#include "lib/Runtime/Error.h"

#include <algorithm>
#include <string>

using namespace convbert::rt;

/// No one needs more tokens in a batch, and sums and products of fewer cannot overflow.
static constexpr int64_t kMaxTokens = int64_t(1) << 40;

void convbert::rt::checkBatch(const Batch &batch, int64_t maxPositions, const std::string &input) {
  if (batch.batch < 1)
    throw InvalidArgument(input + ": requires at least 1 sequence, but found " + std::to_string(batch.batch));
  if (batch.length < 1)
    throw InvalidArgument(input + ": requires at least 1 token a sequence, but found " + std::to_string(batch.length));
  if (batch.length > maxPositions)
    throw InvalidArgument(input + ": requires at most " + std::to_string(maxPositions) +
                          " tokens a sequence (the model's positions), but found " + std::to_string(batch.length));
  if (batch.batch > kMaxTokens / batch.length)
    throw InvalidArgument(input + ": requires fewer than 2^40 tokens in a batch, but found " +
                          std::to_string(batch.batch) + " sequences of " + std::to_string(batch.length));
  for (int64_t b = 0; batch.lengths && b < batch.batch; ++b)
    if (batch.lengths[b] < 1 || batch.lengths[b] > batch.length)
      throw InvalidArgument("lengths: requires values in [1, " + std::to_string(batch.length) + "], but found " +
                            std::to_string(batch.lengths[b]) + " at [" + std::to_string(b) + "]");
}

void convbert::rt::fillShape(const Batch &batch, int64_t minRowPitch, std::vector<int64_t> &shape) {
  shape.clear();
  shape.reserve(3 + 2 * batch.batch);
  shape.push_back(batch.batch);
  shape.push_back(batch.length);
  int64_t row = 0;
  for (int64_t b = 0; b < batch.batch; ++b) {
    shape.push_back(row);
    row += std::max(batch.lengthOf(b), minRowPitch);
  }
  shape.push_back(row);
  for (int64_t b = 0; b < batch.batch; ++b)
    shape.push_back(batch.lengthOf(b));
}
