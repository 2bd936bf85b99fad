// What the compiler says about a compiled model, parsed and checked.
#pragma once

#include "lib/Runtime/MappedFile.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace convbert::rt {

/// Entries of ArrayInfo::shape that stand for the batch's sizes; kDerived - i is number i of ArrayInfo::derived.
inline constexpr int64_t kBatch = -1, kLength = -2, kDerived = -3;

/// Of T tokens, a convolution makes floor((T + extra) / stride) + 1; none where T + extra is negative.
struct LengthStep {
  int64_t extra = -1, stride = 1;
};

/// An input, output or parameter: name, element width in bytes, shape.
struct ArrayInfo {
  std::string name;
  std::string dtype;
  int64_t elementBytes = 0;
  /// Sizes >= 0, kBatch, kLength or kDerived - i.
  std::vector<int64_t> shape;
  /// The steps from the length of a call to another one.
  std::vector<std::vector<LengthStep>> derived;
  /// Of integers: below which all must be; without one, what the names of models' inputs say.
  std::optional<int64_t> limit;

  /// Bytes for `batch` sequences of up to `length` tokens; -1 when they do not fit 63 bits.
  int64_t bytes(int64_t batch, int64_t length) const;
};

/// Where a parameter's raw bytes lie.
struct WeightLocation {
  std::string file;
  int64_t offset = 0, bytes = 0;

  bool operator==(const WeightLocation &other) const {
    return file == other.file && offset == other.offset && bytes == other.bytes;
  }
};

struct Manifest {
  /// Sizes of the tables; without a table, what has no limit.
  int64_t vocabSize = INT64_MAX, maxPositions = INT64_MAX, typeVocabSize = INT64_MAX;
  /// Rows that each sequence owns at least.
  int64_t minRowPitch = 1;
  std::vector<ArrayInfo> inputs, outputs, parameters;
};

struct Description {
  std::string object;
  Manifest manifest;
  /// The manifest as it was given.
  std::string manifestText;
  /// One for each parameter; none if `packed` is given.
  std::vector<WeightLocation> weights;
  /// A file with the packed weights.
  std::optional<std::string> packed;
  /// What the files were when the model was compiled, by path; files need not be listed.
  std::map<std::string, FileStamp> files;
};

/// Parses the JSON of convbert_rt_load().  Throws Failure naming the member that is missing, of the wrong kind or at
/// odds with another one.
/// hasWeights: false where the parameters come from elsewhere.
Description parseDescription(const std::string &json, bool hasWeights = true);

} // namespace convbert::rt
