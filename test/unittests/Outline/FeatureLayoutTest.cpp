//===- FeatureLayoutTest.cpp - How features lie in rows ---------------------===//

#include "lib/Outline/FeatureLayout.h"
#include "lib/Outline/Target.h"
#include "test/unittests/Outline/OutlineTest.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

using FeatureLayoutTest = convbert::test::OutlineTest;

TEST_F(FeatureLayoutTest, PlacesFeatures) {
  FeatureLayout plain, heads{5, 16};
  EXPECT_TRUE(plain.isPlain());
  EXPECT_EQ(plain.padded(37), 37);
  EXPECT_EQ(heads.padded(0), 0);
  EXPECT_EQ(heads.padded(4), 4);
  EXPECT_EQ(heads.padded(5), 16);
  EXPECT_EQ(heads.padded(11), 33);
  EXPECT_EQ(heads.padded(15), 48);
}

TEST_F(FeatureLayoutTest, SpreadsOverTheSameRowsAndStopsAtDenseLayers) {
  func::FuncOp fn = parseFunction(R"(
    func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<45x8xf32>, %o: tensor<3x15xf32>, %bias: tensor<?x?xf32>)
        -> tensor<?x?x3xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %B = tensor.dim %x, %c0 : tensor<?x?x8xf32>
      %T = tensor.dim %x, %c1 : tensor<?x?x8xf32>
      %p = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<45x8xf32>) -> tensor<?x?x45xf32>
      %q = tensor.extract_slice %p[0, 0, 0] [%B, %T, 15] [1, 1, 1] : tensor<?x?x45xf32> to tensor<?x?x15xf32>
      %k = tensor.extract_slice %p[0, 0, 15] [%B, %T, 15] [1, 1, 1] : tensor<?x?x45xf32> to tensor<?x?x15xf32>
      %v = tensor.extract_slice %p[0, 0, 30] [%B, %T, 15] [1, 1, 1] : tensor<?x?x45xf32> to tensor<?x?x15xf32>
      %y = convbert.self_attention %q, %k, %v bias(%bias) {heads = 3 : i64, scale = 1.0 : f64}
        : (tensor<?x?x15xf32>, tensor<?x?x15xf32>, tensor<?x?x15xf32>, tensor<?x?xf32>) -> tensor<?x?x15xf32>
      %z = convbert.dense %y, %o : (tensor<?x?x15xf32>, tensor<3x15xf32>) -> tensor<?x?x3xf32>
      return %z : tensor<?x?x3xf32>
    })");
  FailureOr<FeatureLayouts> layouts = FeatureLayouts::compute(fn);
  ASSERT_TRUE(succeeded(layouts)) << errors;
  FeatureLayout heads{5, 16};
  fn.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        EXPECT_EQ(layouts->get(result) == heads, type.getShape().back() != 3);
  });
  EXPECT_TRUE(layouts->get(fn.getArgument(0)).isPlain());
}

TEST(TileSizes, PitchHoldsPanelsAndBlocks) {
  EXPECT_FALSE(TileSizes::get("sse"));
  for (const InstructionSet &isa : InstructionSet::getAll()) {
    TileSizes tiles = *TileSizes::get(isa.name);
    for (int64_t width = 1; width < 4000; ++width) {
      int64_t pitch = tiles.pitch(width);
      EXPECT_EQ(pitch % TileSizes::lanes, 0);
      EXPECT_GE(pitch, static_cast<int64_t>(llvm::alignTo(width, tiles.panel)) + TileSizes::lanes);
      EXPECT_GE(pitch, static_cast<int64_t>(llvm::alignTo(width, TileSizes::channelBlock)) + TileSizes::lanes);
      EXPECT_LE(pitch, width + tiles.panel + 3 * TileSizes::lanes);
    }
  }
}

TEST(InstructionSet, TilesAreWholeVectors) {
  for (const InstructionSet &isa : InstructionSet::getAll()) {
    SCOPED_TRACE(isa.name.str());
    int64_t lanes = isa.vectorBits / 32;
    EXPECT_EQ(isa.tiles.panel % lanes, 0);
    EXPECT_EQ(TileSizes::lanes % lanes, 0);
    EXPECT_EQ(TileSizes::queryRows % isa.tiles.rows, 0);
  }
  EXPECT_EQ(InstructionSet::getNames(), "generic, avx2, avx512, avx512bf16 or neon");
}

} // namespace
