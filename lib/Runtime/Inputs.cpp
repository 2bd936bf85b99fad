#include "lib/Runtime/Inputs.h"

#include "lib/Runtime/Error.h"

#include <cstring>
#include <string>

using namespace convbert::rt;

/// Calls bad(b, t, value) for the first element of the sequences that is not in [0, limit).
template <typename T, typename Bad>
static void findOutside(const T *data, const Batch &batch, uint64_t limit, Bad bad) {
  for (int64_t b = 0; b < batch.batch; ++b) {
    const T *row = data + b * batch.length;
    bool outside = false;
    // No early exit: this loop becomes vector code.
    for (int64_t t = 0, n = batch.lengthOf(b); t < n; ++t)
      outside |= static_cast<uint64_t>(row[t]) >= limit;
    if (!outside)
      continue;
    for (int64_t t = 0; t < batch.lengthOf(b); ++t)
      if (static_cast<uint64_t>(row[t]) >= limit)
        bad(b, t, row[t]);
  }
}

/// Ids, and the vectors that may come in their place, have none.
static bool hasDefault(const ArrayInfo &input) { return input.name != "input_ids" && input.dtype != "float32"; }

void convbert::rt::checkInputs(const Manifest &manifest, const Batch &batch, const void *const *inputs) {
  for (size_t i = 0; i < manifest.inputs.size(); ++i) {
    const ArrayInfo &input = manifest.inputs[i];
    if (!inputs[i]) {
      if (!hasDefault(input))
        throw InvalidArgument(input.name + ": requires an array, but found none");
      continue;
    }
    auto refuse = [&](int64_t b, int64_t t, int64_t value, const std::string &required) {
      throw InvalidArgument(input.name + ": requires " + required + ", but found " + std::to_string(value) + " at [" +
                            std::to_string(b) + ", " + std::to_string(t) + "]");
    };
    if (input.dtype == "bool") {
      findOutside(static_cast<const uint8_t *>(inputs[i]), batch, 2,
                  [&](int64_t b, int64_t t, int64_t value) { refuse(b, t, value, "bytes of 0 or 1"); });
      continue;
    }
    // Only ids index tables.
    if (input.dtype != "int64")
      continue;
    bool isType = input.name == "token_type_ids", isPosition = input.name == "position_ids";
    int64_t table = isType ? manifest.typeVocabSize : isPosition ? manifest.maxPositions : manifest.vocabSize;
    int64_t limit = input.limit.value_or(table);
    const char *what = input.limit ? "integers" : isType ? "token types" : isPosition ? "positions" : "token ids";
    findOutside(static_cast<const int64_t *>(inputs[i]), batch, limit, [&](int64_t b, int64_t t, int64_t value) {
      refuse(b, t, value, std::string(what) + " in [0, " + std::to_string(limit) + ")");
    });
  }
}

void convbert::rt::fillDefault(const ArrayInfo &input, const Batch &batch, int64_t *destination) {
  int64_t tokens = batch.batch * batch.length;
  if (input.dtype == "bool") {
    std::memset(destination, 1, tokens);
    return;
  }
  bool isPosition = input.name == "position_ids";
  for (int64_t b = 0; b < batch.batch; ++b)
    for (int64_t t = 0; t < batch.length; ++t)
      destination[b * batch.length + t] = isPosition ? t : 0;
}
