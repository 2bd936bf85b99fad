//===- TestCheckpoint.h - Small checkpoints made by tests -------*- C++ -*-===//

#ifndef CONVBERT_TEST_UNITTESTS_IMPORT_TESTCHECKPOINT_H
#define CONVBERT_TEST_UNITTESTS_IMPORT_TESTCHECKPOINT_H

#include "lib/Import/Checkpoint.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace mlir::convbert::test {

/// A directory that is removed at the end of the test.
class TempDir {
public:
  TempDir() {
    std::error_code error = llvm::sys::fs::createUniqueDirectory("convbert-test", path);
    EXPECT_FALSE(error) << error.message();
  }
  ~TempDir() { llvm::sys::fs::remove_directories(path); }

  /// Writes a file and returns its path.
  std::string write(llvm::StringRef name, llvm::StringRef content) const {
    llvm::SmallString<128> file(path);
    llvm::sys::path::append(file, name);
    std::error_code error;
    llvm::raw_fd_ostream os(file, error);
    EXPECT_FALSE(error) << error.message();
    os << content;
    return file.str().str();
  }

  llvm::SmallString<128> path;
};

/// The bytes of a safetensors file with this header and `dataBytes` zeros.
inline std::string safetensors(llvm::StringRef header, size_t dataBytes) {
  std::string result(8, '\0');
  for (unsigned i = 0; i < 8; ++i)
    result[i] = char(uint64_t(header.size()) >> (8 * i));
  result += header;
  result.append(dataBytes, '\0');
  return result;
}

/// The configuration of a model with A = 4, D = 8, n' = 2, K = 3; each change is `"key": value`, later ones count.
inline std::string tinyConfigText(std::initializer_list<std::pair<const char *, llvm::json::Value>> changes = {}) {
  llvm::json::Object config{{"model_type", "convbert"},
                            {"architectures", llvm::json::Array{"ConvBertModel"}},
                            {"vocab_size", 11},
                            {"hidden_size", 8},
                            {"embedding_size", 8},
                            {"num_hidden_layers", 1},
                            {"num_attention_heads", 4},
                            {"head_ratio", 2},
                            {"conv_kernel_size", 3},
                            {"num_groups", 1},
                            {"intermediate_size", 12},
                            {"hidden_act", "gelu"},
                            {"max_position_embeddings", 7},
                            {"type_vocab_size", 2},
                            {"layer_norm_eps", 1e-12}};
  for (const auto &[key, value] : changes)
    config[key] = value;
  return llvm::formatv("{0}", llvm::json::Value(std::move(config))).str();
}

inline Config tinyConfig(std::initializer_list<std::pair<const char *, llvm::json::Value>> changes = {}) {
  return llvm::cantFail(parseConfig(tinyConfigText(changes), "config.json"));
}

/// Tensors of a checkpoint by name, as a file would list them.
class TensorSet {
public:
  void add(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, llvm::StringRef dtype = "F32") {
    TensorInfo &tensor = entries[name.str()];
    tensor.name = name.str();
    tensor.dtype = dtype.str();
    tensor.shape.assign(shape.begin(), shape.end());
    tensor.file = "model.safetensors";
    tensor.bytes = 4;
    for (int64_t size : shape)
      tensor.bytes *= size;
  }
  void addPair(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape) {
    add((name + ".weight").str(), shape);
    add((name + ".bias").str(), shape.take_front());
  }
  void remove(llvm::StringRef name) { EXPECT_EQ(entries.erase(name.str()), 1u) << name.str(); }

  std::vector<TensorInfo> list() const {
    std::vector<TensorInfo> result;
    for (const auto &entry : entries)
      result.push_back(entry.second);
    return result;
  }

private:
  std::map<std::string, TensorInfo> entries;
};

/// The tensors of a body for `config`, written out independently of the importer's own tables.
inline TensorSet bodyTensors(const Config &config, const std::string &prefix = "") {
  int64_t e = config.embeddingSize, d = config.hiddenSize, i = config.intermediateSize, g = config.numGroups;
  int64_t k = config.kernelSize, heads = std::max<int64_t>(1, config.numHeads / config.headRatio);
  int64_t a = heads * (d / heads / 2);
  TensorSet set;
  set.add(prefix + "embeddings.word_embeddings.weight", {config.vocabSize, e});
  set.add(prefix + "embeddings.position_embeddings.weight", {config.maxPositions, e});
  set.add(prefix + "embeddings.token_type_embeddings.weight", {config.typeVocabSize, e});
  set.addPair(prefix + "embeddings.LayerNorm", {e});
  if (e != d)
    set.addPair(prefix + "embeddings_project", {d, e});
  for (int64_t layer = 0; layer < config.numLayers; ++layer) {
    std::string p = prefix + "encoder.layer." + std::to_string(layer) + ".";
    for (const char *name : {"query", "key", "value", "conv_out_layer"})
      set.addPair(p + "attention.self." + name, {a, d});
    set.add(p + "attention.self.key_conv_attn_layer.depthwise.weight", {d, 1, k});
    set.add(p + "attention.self.key_conv_attn_layer.pointwise.weight", {a, d, 1});
    set.add(p + "attention.self.key_conv_attn_layer.bias", {a, 1});
    set.addPair(p + "attention.self.conv_kernel_layer", {heads * k, a});
    set.addPair(p + "attention.output.dense", {d, 2 * a});
    set.addPair(p + "attention.output.LayerNorm", {d});
    set.addPair(p + "intermediate.dense", {i, d});
    set.addPair(p + "output.dense", {d, i});
    set.addPair(p + "output.LayerNorm", {d});
    if (g > 1) {
      set.add(p + "intermediate.dense.weight", {g, d / g, i / g});
      set.add(p + "output.dense.weight", {g, i / g, d / g});
    }
  }
  return set;
}

/// Expects that `result` failed with one line that holds all of `parts`.
template <typename T> void expectError(llvm::Expected<T> result, std::initializer_list<llvm::StringRef> parts) {
  ASSERT_FALSE(bool(result)) << "accepted";
  std::string message = llvm::toString(result.takeError());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  for (llvm::StringRef part : parts)
    EXPECT_NE(message.find(part.str()), std::string::npos) << message << "\nlacks: " << part.str();
}

} // namespace mlir::convbert::test

#endif // CONVBERT_TEST_UNITTESTS_IMPORT_TESTCHECKPOINT_H
