//===- CostModelTest.cpp - Both sides of each decision ----------------------===//

#include "lib/Outline/CostModel.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::convbert;

TEST(CostModel, KnowsEveryInstructionSet) {
  EXPECT_FALSE(CostModel::get("sse"));
  for (const InstructionSet &isa : InstructionSet::getAll())
    EXPECT_TRUE(CostModel::get(isa.name)) << isa.name.str();
}

TEST(CostModel, RegisterTilesFitTheRegisters) {
  for (const InstructionSet &isa : InstructionSet::getAll()) {
    CostModel costs = *CostModel::get(isa.name);
    EXPECT_LE(costs.countTileRegisters(), costs.getCore().registers) << isa.name.str();
    EXPECT_EQ(costs.getCore().blockRows % isa.tiles.rows, 0) << isa.name.str();
  }
  // AVX2: 4 x 3 sums, 3 vectors of a panel and one of a row.
  EXPECT_EQ(CostModel::get("avx2")->countTileRegisters(), 16);
}

TEST(CostModel, RegisterTilesUseHalfOfTheRegisters) {
  for (const InstructionSet &isa : InstructionSet::getAll())
    EXPECT_GT(2 * CostModel::get(isa.name)->countTileRegisters(), CostModel::get(isa.name)->getCore().registers);
}

TEST(CostModel, DepthIsSlicedWhereABlockLeavesTheL2) {
  // (48 rows + 24 columns) x depth x 4 bytes against 512 KiB.
  CostModel avx2 = *CostModel::get("avx2");
  EXPECT_EQ(avx2.countBlockBytes(768), 72 * 768 * 4);
  EXPECT_FALSE(avx2.sliceDepth(1820).taken);
  EXPECT_TRUE(avx2.sliceDepth(1821).taken);
  // (128 + 48) x depth x 4 against 1280 KiB.
  CostModel avx512 = *CostModel::get("avx512");
  EXPECT_FALSE(avx512.sliceDepth(1861).taken);
  EXPECT_TRUE(avx512.sliceDepth(1862).taken);
  // A smaller panel leaves more room.
  EXPECT_FALSE(CostModel::get("generic")->sliceDepth(2340).taken);
  EXPECT_TRUE(CostModel::get("generic")->sliceDepth(2341).taken);
  EXPECT_FALSE(CostModel::get("neon")->sliceDepth(2047).taken);
  EXPECT_TRUE(CostModel::get("neon")->sliceDepth(2048).taken);
}

TEST(CostModel, PublishedSizesAreSlicedInTheLastProductOfBaseAlone) {
  for (const InstructionSet &isa : InstructionSet::getAll()) {
    CostModel costs = *CostModel::get(isa.name);
    for (int64_t depth : {128, 192, 256, 384, 768, 1024, 1536})
      EXPECT_FALSE(costs.sliceDepth(depth).taken) << isa.name.str() << " " << depth;
    EXPECT_TRUE(costs.sliceDepth(3072).taken) << isa.name.str();
  }
}

TEST(CostModel, ReasonsNameBothSizes) {
  CostModel avx2 = *CostModel::get("avx2");
  EXPECT_EQ(avx2.sliceDepth(768).why, "768 features: 48 rows and a panel are 216 KiB and stay in 512 KiB of L2");
  EXPECT_EQ(avx2.sliceDepth(3072).why, "3072 features: 48 rows and a panel are 864 KiB and leave 512 KiB of L2");
  EXPECT_EQ(CostModel::describeWidening(), "from 32 rows on a panel of bf16 is widened once for all of them");
}

TEST(CostModel, TilesOfFewRowsAreWhole) {
  for (const InstructionSet &isa : InstructionSet::getAll())
    EXPECT_EQ(CostModel::widenFrom % isa.tiles.rows, 0) << isa.name.str();
}

TEST(CostModel, RowsForAThreadAreAMicrosecond) {
  EXPECT_EQ(CostModel::countThreadRows(4096), 1);
  EXPECT_EQ(CostModel::countThreadRows(4080), 2);
  EXPECT_EQ(CostModel::countThreadRows(768), 6);
  EXPECT_EQ(CostModel::countThreadRows(16), 256);
}
