//===- ContainersTest.cpp - Contents of files -----------------------------===//
//
// Real and hostile archives are files of test/golden_import and test/Import/Inputs/bad.tar.xz, which Python tests read.
// Here: what they do not reach.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/CheckpointFiles.h"
#include "lib/Import/NumpyArchive.h"
#include "lib/Import/TensorContents.h"
#include "lib/Import/TensorFlowNames.h"
#include "lib/Import/TorchState.h"
#include "lib/Import/UnpackedFile.h"
#include "test/unittests/Import/TestCheckpoint.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include <cmath>

using namespace mlir::convbert;
using namespace mlir::convbert::test;
using llvm::StringRef;

namespace {

void append(std::string &out, uint64_t number, unsigned width) {
  for (unsigned i = 0; i < width; ++i)
    out += char(number >> (8 * i));
}

/// A zip archive of stored members.
std::string zip(llvm::ArrayRef<std::pair<StringRef, std::string>> members) {
  std::string out, directory;
  for (const auto &[name, content] : members) {
    std::string common;
    append(common, 20, 2);
    append(common, 0, 2 + 2 + 4); // flags, stored, time
    append(common, llvm::crc32(llvm::arrayRefFromStringRef(content)), 4);
    append(common, content.size(), 4);
    append(common, content.size(), 4);
    append(common, name.size(), 2);
    append(common, 0, 2);
    directory += "PK\x01\x02";
    append(directory, 20, 2);
    directory += common;
    append(directory, 0, 2 + 2 + 2 + 4);
    append(directory, out.size(), 4);
    directory += name;
    out += "PK\x03\x04" + common + name.str() + content;
  }
  uint64_t start = out.size();
  out += directory + "PK\x05\x06";
  append(out, 0, 4);
  append(out, members.size(), 2);
  append(out, members.size(), 2);
  append(out, directory.size(), 4);
  append(out, start, 4);
  append(out, 0, 2);
  return out;
}

std::string npy(StringRef header, size_t bytes) {
  std::string out("\x93NUMPY\x01\x00", 8);
  append(out, header.size(), 2);
  return out + header.str() + std::string(bytes, '\0');
}

llvm::Expected<std::vector<TensorInfo>> readArrays(StringRef header, size_t bytes) {
  std::string text = zip({{"a/b.npy", npy(header, bytes)}});
  return readNumpyArchive(*openMemory(text, "x.npz"));
}

TEST(NumpyArchive, ReadsBothOrders) {
  auto arrays = llvm::cantFail(readArrays("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", 24));
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].name, "a/b");
  EXPECT_EQ(arrays[0].dtype, "F32");
  EXPECT_TRUE(arrays[0].layout.isPlain());
  EXPECT_EQ(arrays[0].bytes, 24u);
  arrays = llvm::cantFail(readArrays("{'fortran_order': True, 'shape': (2L, 3L), 'descr': '<f2'}", 12));
  EXPECT_EQ(arrays[0].shape, (llvm::SmallVector<int64_t, 4>{2, 3}));
  EXPECT_EQ(arrays[0].layout.shape, (llvm::SmallVector<int64_t, 4>{3, 2}));
  EXPECT_EQ(arrays[0].layout.permutation, (llvm::SmallVector<int64_t, 4>{1, 0}));
  EXPECT_EQ(llvm::cantFail(readArrays("{'descr': '<i8', 'fortran_order': False, 'shape': ()}", 8))[0].shape.size(), 0u);
}

TEST(NumpyArchive, RefusesOtherHeaders) {
  for (StringRef header : {"{}", "", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "__import__('os')",
                           "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} + 1"})
    expectError(readArrays(header, 8), {"x.npz", "'a/b.npy'", "header"});
  for (StringRef type : {"|O", ">f4", "<c8", "<U3"})
    expectError(readArrays(("{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,)}").str(), 8),
                {"dtype", type});
  for (StringRef shape : {"(3,)", "(1,)", "(4294967296, 4294967296)"})
    expectError(readArrays(("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}").str(), 8), {"8 bytes"});
  std::string text = zip({{"readme.txt", "x"}});
  expectError(readNumpyArchive(*openMemory(text, "x.npz")), {"'readme.txt'"});
}

TEST(TorchFile, NamesWhatItIsNot) {
  auto read = [](StringRef text) { return readTorchFile(*openMemory(text, "w.bin")); };
  expectError(read(""), {"w.bin", "an empty file"});
  expectError(read("version https://git-lfs"), {"Git LFS"});
  expectError(read("\x89HDF\r\n\x1a\n"), {"HDF5"});
  expectError(read("GIF89a.."), {"unknown format"});
  expectError(read("PK\x03\x04"), {"zip archive", "central directory"});
  expectError(read("\x80\x02K\x07."), {"magic number", "the number 7"});
}

/// Scans `numbers` in pieces of `step` bytes and returns the first finding.
template <typename T>
std::optional<std::pair<uint64_t, std::string>> scan(StringRef dtype, llvm::ArrayRef<T> numbers, size_t step) {
  FiniteScan scan(dtype);
  std::optional<std::pair<uint64_t, std::string>> found;
  StringRef bytes(reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(T));
  for (size_t at = 0; at < bytes.size() && !found; at += step)
    scan.feed(bytes.substr(at, step), [&](const FiniteScan::Finding &finding) {
      found.emplace(finding.index, finding.what);
      return false;
    });
  return found;
}

TEST(FiniteScan, FindsEveryPosition) {
  using Found = std::pair<uint64_t, std::string>;
  std::vector<float> numbers(300, std::numeric_limits<float>::max());
  numbers[7] = -std::numeric_limits<float>::denorm_min();
  for (size_t step : {1, 3, 64, 256, 1000, 5000}) {
    EXPECT_FALSE(scan<float>("F32", numbers, step));
    for (size_t at : {0, 1, 63, 64, 200, 299}) {
      std::vector<float> changed = numbers;
      changed[at] = NAN;
      EXPECT_EQ(scan<float>("F32", changed, step), Found(at, "nan"));
      changed[at] = -INFINITY;
      EXPECT_EQ(scan<float>("F32", changed, step), Found(at, "-inf"));
    }
  }
  std::vector<uint16_t> halves(301, 0x7bff); // the largest float16
  EXPECT_FALSE(scan<uint16_t>("F16", halves, 7));
  halves[300] = 0x7c00;
  EXPECT_EQ(scan<uint16_t>("F16", halves, 7), Found(300, "inf"));
  // In bfloat16 that is a number.
  EXPECT_FALSE(scan<uint16_t>("BF16", halves, 7));
  halves[1] = 0xff81;
  EXPECT_EQ(scan<uint16_t>("BF16", halves, 512), Found(1, "nan"));
  EXPECT_FALSE(scan<uint16_t>("I16", std::vector<uint16_t>(8, 0xffff), 4));
}

TEST(UnpackedFile, GetsItsNameAtTheEnd) {
  TempDir dir;
  auto provider = [&]() -> llvm::Expected<std::string> { return dir.path.str().str(); };
  std::string path;
  {
    UnpackedFile file("x.npz");
    EXPECT_FALSE(file.isOpen());
    llvm::cantFail(file.begin(provider));
    llvm::cantFail(file.append("abc"));
    EXPECT_EQ(file.endMember(3), 0u);
    llvm::cantFail(file.append("de"));
    EXPECT_EQ(file.endMember(2), 64u);
    path = llvm::cantFail(file.finish());
  }
  EXPECT_EQ(llvm::cantFail(llvm::cantFail(openFile(path))->read(64, 2)), "de");
  {
    UnpackedFile abandoned("x.npz");
    llvm::cantFail(abandoned.begin(provider));
  }
  std::error_code code;
  int files = 0;
  for (llvm::sys::fs::directory_iterator entry(dir.path, code), end; !code && entry != end; entry.increment(code))
    ++files;
  EXPECT_EQ(files, 1);
  UnpackedFile nowhere("x.npz");
  std::string message = llvm::toString(nowhere.begin([] { return llvm::Expected<std::string>("/nonexistent"); }));
  EXPECT_NE(message.find("x.npz: its deflated records cannot be unpacked to /nonexistent"), std::string::npos);
}

TEST(TensorFlowNames, AreRenamedAndTurned) {
  struct {
    StringRef path;
    size_t rank;
    StringRef name;
    llvm::SmallVector<int64_t, 4> permutation;
    bool appendUnit;
  } cases[] = {
      {"embeddings/word_embeddings", 2, "embeddings.word_embeddings.weight", {}, false},
      {"embeddings/LayerNorm/gamma", 1, "embeddings.LayerNorm.weight", {}, false},
      {"embeddings_project/kernel", 2, "embeddings_project.weight", {1, 0}, false},
      {"encoder/layer_11/attention/self/query/kernel",
       2,
       "encoder.layer.11.attention.self.query.weight",
       {1, 0},
       false},
      {"encoder/layer_0/attention/self/conv_attn_key/depthwise_kernel",
       3,
       "encoder.layer.0.attention.self.key_conv_attn_layer.depthwise.weight",
       {1, 2, 0},
       false},
      {"encoder/layer_0/attention/self/conv_attn_key/pointwise_kernel",
       3,
       "encoder.layer.0.attention.self.key_conv_attn_layer.pointwise.weight",
       {2, 1, 0},
       false},
      {"encoder/layer_0/attention/self/conv_attn_key/bias",
       1,
       "encoder.layer.0.attention.self.key_conv_attn_layer.bias",
       {},
       true},
      {"encoder/layer_0/attention/self/conv_attn_kernel/bias",
       1,
       "encoder.layer.0.attention.self.conv_kernel_layer.bias",
       {},
       false},
      {"encoder/layer_0/attention/self/conv_attn_point/kernel",
       2,
       "encoder.layer.0.attention.self.conv_out_layer.weight",
       {1, 0},
       false},
      {"encoder/layer_0/intermediate/g_dense/kernel", 3, "encoder.layer.0.intermediate.dense.weight", {}, false},
      {"encoder/layer_0/output/LayerNorm/beta", 1, "encoder.layer.0.output.LayerNorm.bias", {}, false},
      {"generator_predictions/output_bias", 1, "generator_lm_head.bias", {}, false},
      {"generator_predictions/dense/kernel", 2, "generator_predictions.dense.weight", {1, 0}, false},
  };
  for (const auto &c : cases) {
    RenamedVariable renamed = renameVariable(c.path, c.rank);
    EXPECT_EQ(renamed.name, c.name);
    EXPECT_EQ(renamed.permutation, c.permutation) << c.path.str();
    EXPECT_EQ(renamed.appendUnit, c.appendUnit) << c.path.str();
  }
}

TEST(TensorFlowNames, BelongToOneOfTwoModels) {
  auto rename = [](StringRef architecture, std::vector<std::string> &notes) {
    std::vector<TensorInfo> tensors;
    for (const char *name :
         {"electra/embeddings/word_embeddings", "electra/encoder/layer_0/output/dense/bias", "global_step",
          "electra/encoder/layer_0/output/dense/bias/adam_m", "generator/encoder/layer_0/output/dense/bias",
          "generator_predictions/dense/bias", "discriminator_predictions/dense/bias"}) {
      tensors.emplace_back().name = name;
      tensors.back().shape = {8};
    }
    std::string names;
    EXPECT_TRUE(hasTensorFlowNames(tensors));
    for (const TensorInfo &tensor : renameTensorFlowVariables(tensors, architecture, notes))
      names += tensor.storedName + " ";
    return names;
  };
  std::vector<std::string> notes;
  EXPECT_EQ(rename("ConvBertModel", notes),
            "electra/embeddings/word_embeddings electra/encoder/layer_0/output/dense/bias ");
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0], "ignored 2 variables of the optimizer ('global_step', ...)");
  EXPECT_EQ(notes[2], "ignored 1 variable of the discriminator's head ('discriminator_predictions/dense/bias')");
  EXPECT_EQ(rename("ConvBertForMaskedLM", notes),
            "electra/embeddings/word_embeddings generator/encoder/layer_0/output/dense/bias "
            "generator_predictions/dense/bias ");
}

} // namespace
