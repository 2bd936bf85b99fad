//===- FuzzReplayTest.cpp - Inputs that fuzzers found interesting ---------===//

#include "lib/Import/ByteSource.h"
#include "test/fuzz/FuzzTargets.h"
#include "gtest/gtest.h"

using namespace mlir::convbert;

namespace {

class FuzzReplay : public testing::TestWithParam<fuzz::Target> {};

TEST_P(FuzzReplay, SurvivesTheCorpus) {
  // Tests run from the root of the repository.
  std::string path = std::string("test/fuzz/corpus/") + GetParam().name + ".pack";
  llvm::Expected<std::unique_ptr<ByteSource>> source = openFile(path);
  ASSERT_TRUE(bool(source)) << llvm::toString(source.takeError());
  std::string pack = llvm::cantFail((*source)->read(0, (*source)->getSize()));
  unsigned inputs = 0;
  for (llvm::StringRef rest = pack; !rest.empty(); ++inputs) {
    size_t length;
    ASSERT_FALSE(rest.consumeInteger(10, length));
    ASSERT_TRUE(rest.consume_front("\n"));
    // A copy, so that reading past the end is past the end of an allocation.
    std::vector<char> input(rest.begin(), rest.begin() + length);
    GetParam().run({input.data(), input.size()});
    rest = rest.drop_front(length);
  }
  EXPECT_GT(inputs, 10u);
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay, testing::ValuesIn(fuzz::kTargets), [](const auto &info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

} // namespace
