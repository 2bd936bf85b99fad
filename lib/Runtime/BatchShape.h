// The ragged shape of a batch, as the compiled code wants it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convbert::rt {

/// Sequences, tokens of the longest one and, unless null, tokens of each.
struct Batch {
  int64_t batch = 0, length = 0;
  const int64_t *lengths = nullptr;

  int64_t lengthOf(int64_t sequence) const { return lengths ? lengths[sequence] : length; }
};

/// Throws InvalidArgument, naming `input`, unless 1 <= batch, 1 <= length <= maxPositions and every length is in [1,
/// length].
void checkBatch(const Batch &batch, int64_t maxPositions, const std::string &input);

/// Writes { B, T_max, row_start[B+1], length[B] } into `shape`, where sequence b owns the rows row_start[b] up to
/// row_start[b+1], at least minRowPitch of them: kernels that work on tiles of rows then never leave a sequence.
void fillShape(const Batch &batch, int64_t minRowPitch, std::vector<int64_t> &shape);

} // namespace convbert::rt
