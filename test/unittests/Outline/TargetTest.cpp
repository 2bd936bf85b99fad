//===- TargetTest.cpp - What is made to the measure of an instruction set --===//

#include "lib/Outline/Target.h"
#include "gtest/gtest.h"

using namespace mlir::convbert;

namespace {

TEST(TargetTest, TakesNarrowPanelsWhereWideOnesPadMore) {
  TileSizes tiles = *TileSizes::get("avx512");
  ASSERT_EQ(tiles.panel, 48);
  ASSERT_EQ(tiles.narrow, 32);
  // Whole wide panels, and as many columns either way: reuse decides.
  for (int64_t features : {48, 96, 384, 768, 3072, 40, 72})
    EXPECT_EQ(tiles.getPanel(features), 48) << features;
  // 144 against 128, 288 against 256, 528 against 512, 1056 against 1024 columns.
  for (int64_t features : {1, 32, 128, 256, 512, 1024})
    EXPECT_EQ(tiles.getPanel(features), 32) << features;
  // 30528 against 30528, 2064 against 2048: less than a narrow panel loses.
  for (int64_t features : {30522, 2048})
    EXPECT_EQ(tiles.getPanel(features), 48) << features;
}

TEST(TargetTest, TakesOneNarrowPanelBehindWideOnes) {
  TileSizes tiles = *TileSizes::get("avx512");
  // 80 against 96 columns, 176 against 192, 272 against 288.
  EXPECT_EQ(tiles.getRest(65), 17);
  EXPECT_EQ(tiles.getRest(72), 24);
  EXPECT_EQ(tiles.getRest(80), 32);
  EXPECT_EQ(tiles.getRest(176), 32);
  EXPECT_EQ(tiles.getRest(272), 32);
  // Nothing behind wide panels or in front of them, more than a narrow one, or as few columns in panels of one width.
  for (int64_t features : {1, 24, 48, 64, 81, 96, 100, 128, 256, 512, 768, 3072})
    EXPECT_EQ(tiles.getRest(features), 0) << features;
  // One width.
  for (int64_t features = 1; features < 400; ++features)
    EXPECT_EQ(TileSizes::get("avx2")->getRest(features), 0) << features;
}

TEST(TargetTest, PadsToThePanelsOfAProduct) {
  EXPECT_EQ(TileSizes::get("avx512")->padToPanels(256), 256);
  EXPECT_EQ(TileSizes::get("avx512")->padToPanels(768), 768);
  EXPECT_EQ(TileSizes::get("avx512")->padToPanels(40), 48);
  EXPECT_EQ(TileSizes::get("avx2")->padToPanels(256), 264);
}

TEST(TargetTest, RowsHoldAllPanels) {
  for (const InstructionSet &isa : InstructionSet::getAll())
    for (int64_t width = 1; width < 3200; ++width)
      EXPECT_GT(isa.tiles.pitch(width), isa.tiles.padToPanels(width)) << isa.name.str() << " " << width;
}

} // namespace
