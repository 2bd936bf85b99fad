// The description that goes with FakeModel.c, and its weight file.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace convbert::rt::test {

/// A weight file of 12 bytes of other things, table [10][4] = 0, 1, 2, ... and bias [4] = 0.5; removed at the end.
class WeightFile {
public:
  WeightFile() : path("/tmp/convbert-runtime-test-" + std::to_string(getpid()) + ".weights") {
    std::vector<float> values = {-1, -1, -1};
    for (int i = 0; i < 40; ++i)
      values.push_back(static_cast<float>(i));
    values.insert(values.end(), 4, 0.5f);
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<char *>(values.data()), values.size() * 4);
  }
  ~WeightFile() { std::remove(path.c_str()); }

  const std::string path;
};

inline std::string describe(const std::string &object, const std::string &weights, int biasOffset = 172) {
  return R"({"object": ")" + object + R"(", "manifest": {"vocab_size": 10, "max_positions": 20, "type_vocab_size": 2,
    "min_row_pitch": 8,
    "inputs": [{"name": "input_ids", "dtype": "int64", "shape": ["B", "T"]},
               {"name": "attention_mask", "dtype": "bool", "shape": ["B", "T"]},
               {"name": "token_type_ids", "dtype": "int64", "shape": ["B", "T"]},
               {"name": "position_ids", "dtype": "int64", "shape": ["B", "T"]}],
    "outputs": [{"name": "last_hidden_state", "dtype": "float32", "shape": ["B", "T", 4]},
                {"name": "info", "dtype": "int64", "shape": ["B", 2]}],
    "parameters": [{"name": "table", "dtype": "float32", "shape": [10, 4]},
                   {"name": "bias", "dtype": "float32", "shape": [4]}]},
    "weights": [{"name": "table", "file": ")" +
         weights + R"(", "offset": 12, "bytes": 160},
                {"name": "bias", "file": ")" +
         weights + R"(", "offset": )" + std::to_string(biasOffset) + R"(, "bytes": 16}]})";
}

} // namespace convbert::rt::test
