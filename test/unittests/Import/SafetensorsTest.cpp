//===- SafetensorsTest.cpp - Good, malformed and hostile headers ----------===//

#include "lib/Import/Safetensors.h"
#include "lib/Import/CheckpointFiles.h"
#include "test/unittests/Import/TestCheckpoint.h"

using namespace mlir::convbert;
using namespace mlir::convbert::test;

namespace {

llvm::Expected<std::vector<TensorInfo>> readBytes(llvm::StringRef bytes) {
  TempDir dir;
  return readSafetensorsHeader(dir.write("m.safetensors", bytes));
}

/// A header entry; `offsets` is what stands in the brackets.
std::string entry(llvm::StringRef name, llvm::StringRef dtype, llvm::StringRef shape, llvm::StringRef offsets) {
  return llvm::formatv(R"("{0}":{{"dtype":"{1}","shape":[{2}],"data_offsets":[{3}]})", name, dtype, shape, offsets)
      .str();
}

/// Reads a file with these entries and `bytes` bytes of numbers.
llvm::Expected<std::vector<TensorInfo>> readEntries(llvm::StringRef entries, size_t bytes) {
  return readBytes(safetensors(("{" + entries + "}").str(), bytes));
}

TEST(Safetensors, ReadsNamesShapesAndOffsets) {
  std::string header = "{" + entry("b", "F32", "2,3", "8,32") + "," + entry("a", "I64", "1", "0,8") + "," +
                       entry("s", "F32", "", "32,36") + "," + entry("z", "F32", "0,7", "36,36") +
                       R"(,"__metadata__":{"format":"pt"}})";
  auto tensors = readBytes(safetensors(header, 36));
  ASSERT_TRUE(bool(tensors)) << llvm::toString(tensors.takeError());
  ASSERT_EQ(tensors->size(), 4u);
  const TensorInfo &b = (*tensors)[1];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.dtype, "F32");
  EXPECT_EQ(b.shape, (llvm::SmallVector<int64_t, 4>{2, 3}));
  EXPECT_EQ(b.offset, 8 + header.size() + 8);
  EXPECT_EQ(b.bytes, 24u);
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_TRUE((*tensors)[2].shape.empty());
  EXPECT_EQ((*tensors)[3].bytes, 0u);
}

TEST(Safetensors, RefusesFilesWithoutAHeader) {
  expectError(readBytes(""), {"m.safetensors", "at least 8 bytes", "found 0"});
  expectError(readBytes("abcde"), {"at least 8 bytes", "found 5"});
  expectError(readBytes("version https://git-lfs.github.com/spec/v1\n"), {"Git LFS pointer"});
  expectError(readBytes("<!DOCTYPE html><html></html>"), {"header length", "larger than", "not a safetensors file"});
  expectError(readBytes(std::string(8, '\0') + "{}"), {"header of 2 to", "found a header length of 0"});
  expectError(readBytes(std::string(8, '\xff') + "{}"), {"18446744073709551615", "larger than"});
  expectError(readSafetensorsHeader("/nonexistent/m.safetensors"), {"cannot open"});
  TempDir dir;
  expectError(readSafetensorsHeader(dir.path), {"regular file"});
}

TEST(Safetensors, RefusesHeadersThatAreNoObject) {
  expectError(readBytes(safetensors("{no json", 0)), {"header", "valid JSON"});
  expectError(readBytes(safetensors("[1,2,3]", 0)), {"header", "JSON object", "an array"});
  expectError(readBytes(safetensors("{\"\xff\xfe\":1}", 0)), {"header", "UTF-8"});
  std::string deep;
  for (int i = 0; i < 4000; ++i)
    deep += R"({"a":)";
  expectError(readBytes(safetensors(deep, 0)), {"header", "64 levels"});
  expectError(readBytes(safetensors(R"({"__metadata__":{"format":1}})", 0)),
              {"__metadata__", "strings", "the number 1", "'format'"});
  expectError(readBytes(safetensors(R"({"__metadata__":"pt"})", 0)), {"__metadata__", "the string 'pt'"});
  expectError(readBytes(safetensors(R"({"w":7})", 0)), {"tensor 'w'", "the number 7"});
}

TEST(Safetensors, RefusesDuplicateNamesHoweverSpelt) {
  expectError(readEntries(entry("w", "F32", "2", "0,8") + "," + entry("w", "F32", "1,2", "0,8"), 8),
              {"'w'", "more than once"});
  expectError(readEntries(entry("w", "F32", "2", "0,8") + "," + entry("\\u0077", "F32", "1,2", "0,8"), 8),
              {"'w'", "more than once"});
}

TEST(Safetensors, RefusesBadEntries) {
  expectError(readEntries(entry("w", "F31", "2", "0,8"), 8), {"tensor 'w'", "dtype 'F31'"});
  expectError(readEntries(R"("w":{"shape":[2],"data_offsets":[0,8]})", 8), {"'w'", "'dtype'", "none"});
  expectError(readEntries(R"("w":{"dtype":"F32","data_offsets":[0,8]})", 8), {"'w'", "'shape'", "none"});
  expectError(readEntries(entry("w", "F32", "-1,-2", "0,8"), 8), {"'w'", "shape", "the number -1"});
  expectError(readEntries(entry("w", "F32", "4294967296,4294967296", "0,0"), 0), {"'w'", "overflows"});
  expectError(readEntries(entry("w", "F32", "2305843009213693952,4", "0,0"), 0), {"'w'", "[2305843009213693952, 4]"});
  expectError(readEntries(entry("w", "F32", "3", "0,8"), 8), {"'w'", "12 bytes", "[3]", "F32", "8 bytes"});
  expectError(readEntries(entry("w", "F16", "2", "0,8"), 8), {"'w'", "4 bytes", "F16", "8 bytes"});
  expectError(readEntries(entry("w", "F4", "3", "0,1"), 1), {"'w'", "F4"});
}

TEST(Safetensors, RefusesBadOffsets) {
  expectError(readEntries(entry("w", "F32", "2", "8,0"), 8), {"'w'", "ascending", "[8, 0]"});
  expectError(readEntries(entry("w", "F32", "2", "-8,0"), 8), {"'w'", "data_offsets", "-8"});
  expectError(readEntries(entry("w", "F32", "2", "0.5,8"), 8), {"'w'", "data_offsets", "0.5"});
  expectError(readEntries(entry("w", "F32", "2", R"("0","8")"), 8), {"'w'", "data_offsets", "the string '0'"});
  expectError(readEntries(entry("w", "F32", "2", "0"), 8), {"'w'", "data_offsets", "an array of 1"});
  expectError(readEntries(R"("w":{"dtype":"F32","shape":[2]})", 8), {"'w'", "data_offsets", "none"});
  expectError(readEntries(entry("w", "F32", "2", "1099511627776,1099511627784"), 8), {"'w'", "beyond the end"});
  expectError(readEntries(entry("w", "F32", "2", "18446744073709551608,18446744073709551616"), 8),
              {"'w'", "data_offsets"});
}

TEST(Safetensors, RefusesBytesThatOverlapOrAreNobodys) {
  std::string a = entry("a", "F32", "2", "0,8");
  expectError(readEntries(a + "," + entry("b", "F32", "2", "4,12"), 12), {"'b'", "offset 8", "'a'", "overlap"});
  expectError(readEntries(a + "," + entry("b", "F32", "2", "12,20"), 20), {"'b'", "offset 8", "gap"});
  expectError(readEntries(a, 12), {"4 trailing bytes"});
  expectError(readEntries(entry("a", "F32", "2", "4,12"), 12), {"'a'", "offset 0", "numbers start", "gap"});
}

TEST(Safetensors, QuotesHostileNamesOnOneLine) {
  expectError(readEntries(entry("x\\ny\\u001b[2J", "F31", "2", "0,8"), 8), {"'x\\0Ay\\1B[2J'"});
  expectError(readEntries(entry(std::string(100000, 'n'), "F31", "2", "0,8"), 8), {"nnn...'"});
}

/// Two shards and an index; `index` replaces the right weight map.
llvm::Expected<std::vector<TensorInfo>> readShards(llvm::StringRef index, bool bothHoldA = false) {
  TempDir dir;
  dir.write("model.safetensors.index.json", index);
  dir.write("m1.safetensors", safetensors("{" + entry("a", "F32", "1", "0,4") + "}", 4));
  if (bothHoldA)
    dir.write("m2.safetensors",
              safetensors("{" + entry("a", "F32", "1", "0,4") + "," + entry("b", "F32", "1", "4,8") + "}", 8));
  else
    dir.write("m2.safetensors", safetensors("{" + entry("b", "F32", "1", "0,4") + "}", 4));
  return listCheckpointTensors(dir.path);
}

TEST(CheckpointFiles, ReadsShards) {
  auto tensors = readShards(R"({"metadata":{},"weight_map":{"a":"m1.safetensors","b":"m2.safetensors"}})");
  ASSERT_TRUE(bool(tensors)) << llvm::toString(tensors.takeError());
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_TRUE(llvm::StringRef((*tensors)[0].file).ends_with("m1.safetensors"));
  EXPECT_TRUE(llvm::StringRef((*tensors)[1].file).ends_with("m2.safetensors"));
}

TEST(CheckpointFiles, RefusesBadIndices) {
  expectError(readShards("{"), {"model.safetensors.index.json", "JSON"});
  expectError(readShards("{}"), {"weight_map", "none"});
  expectError(readShards(R"({"weight_map":{"a":7}})"), {"weight_map", "the number 7", "'a'"});
  for (llvm::StringRef name : {"../m1.safetensors", "/etc/hostname", "sub/m1.safetensors", "..", ""})
    expectError(readShards(llvm::formatv(R"({{"weight_map":{{"a":"{0}"}})", name).str()),
                {"beside the index", name, "not allowed"});
  expectError(readShards(R"({"weight_map":{"a":"m1.safetensors","b":"m3.safetensors"}})"),
              {"m3.safetensors", "not found"});
  expectError(readShards(R"({"weight_map":{"a":"m2.safetensors","b":"m1.safetensors"}})"),
              {"'a'", "m2.safetensors", "m1.safetensors"});
  expectError(readShards(R"({"weight_map":{"a":"m1.safetensors","c":"m1.safetensors","b":"m2.safetensors"}})"),
              {"'c'", "not found"});
  expectError(readShards(R"({"weight_map":{"a":"m1.safetensors","c":"m2.safetensors"}})"), {"'b'", "not listed"});
  expectError(readShards(R"({"weight_map":{"a":"m1.safetensors","b":"m2.safetensors"}})", /*bothHoldA=*/true),
              {"'a'", "both m1.safetensors and m2.safetensors"});
}

TEST(CheckpointFiles, SaysWhatIsThereInstead) {
  struct {
    const char *file;
    std::initializer_list<llvm::StringRef> parts;
  } cases[] = {
      {"tf_model.h5", {"found only tf_model.h5", "from_tf=True", "save_pretrained"}},
      {"model.ckpt-100.index", {"found only model.ckpt-100.index", "/model.ckpt-100'", "tf1_arrays.npz"}},
      {"model_state.pdparams", {"found only model_state.pdparams", "PyTorch weights"}},
      {"model.onnx", {"found only model.onnx", "save_pretrained"}},
  };
  for (const auto &c : cases) {
    TempDir dir;
    expectError(listCheckpointTensors(dir.path), {"model.safetensors", "found none"});
    dir.write(c.file, "x");
    expectError(listCheckpointTensors(dir.path), c.parts);
    // Readable weights beside it are what counts.
    dir.write("pytorch_model.bin", "x");
    expectError(listCheckpointTensors(dir.path), {"pytorch_model.bin", "torch.save", "unknown format"});
  }
}

} // namespace
