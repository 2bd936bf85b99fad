//===- ModelCostTest.cpp - Totals of the published models -----------------===//

#include "lib/Analysis/ModelCost.h"
#include "lib/Import/ModuleBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "test/unittests/Import/TestCheckpoint.h"

using namespace mlir;
using namespace mlir::convbert;
using namespace mlir::convbert::test;

namespace {

/// A published size: what config.json changes, and the totals of its body.
struct Size {
  const char *name;
  const char *config;
  int64_t parameters;
  /// Mega-MACs at length 128 and 512.
  int64_t megaMacs128, megaMacs512;
};

const Size sizes[] = {
    {"small",
     R"({"model_type":"convbert","embedding_size":128,"hidden_size":256,"num_attention_heads":4,
         "intermediate_size":1024})",
     13143768, 1221, 5488},
    {"medium-small",
     R"({"model_type":"convbert","embedding_size":128,"hidden_size":384,"num_attention_heads":8,
         "intermediate_size":1536,"num_groups":2})",
     17475888, 1799, 8102},
    {"base", R"({"model_type":"convbert"})", 105680520, 10617, 44282},
};

int64_t rounded(int64_t macs) { return (macs + 500000) / 1000000; }

TEST(ModelCost, MatchesThePublishedModels) {
  for (const Size &size : sizes) {
    SCOPED_TRACE(size.name);
    Config config = llvm::cantFail(parseConfig(size.config, "config.json"));
    Checkpoint checkpoint = llvm::cantFail(resolveCheckpoint(config, bodyTensors(config).list()));
    MLIRContext context;
    OwningOpRef<ModuleOp> module = buildModule(checkpoint, {}, context);
    EXPECT_EQ(countParameters(*module), size.parameters);
    auto forward = module->lookupSymbol<func::FuncOp>("forward");
    FailureOr<FunctionCost> at128 = computeCost(forward, 1, 128), at512 = computeCost(forward, 1, 512);
    ASSERT_TRUE(succeeded(at128) && succeeded(at512));
    EXPECT_EQ(rounded(at128->macs), size.megaMacs128);
    EXPECT_EQ(rounded(at512->macs), size.megaMacs512);
    EXPECT_EQ(at128->byOp["convbert.mixed_attention"].count, 12);
    EXPECT_EQ(computeCost(forward, 8, 128)->macs, 8 * at128->macs);
    // One layer of base at length 128, worked out by hand: 1 769 570 304 FLOPs.
    if (StringRef(size.name) == "base")
      EXPECT_EQ(at128->macs, 12 * (int64_t(1769570304) / 2));
  }
}

TEST(ModelCost, RefusesFunctionsThatCallEachOther) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>("func.func @a() { call @b() : () -> () return }\n"
                                            "func.func @b() { call @a() : () -> () return }\n",
                                            &context);
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    EXPECT_NE(diagnostic.str().find("circle of calls"), std::string::npos);
    return success();
  });
  EXPECT_TRUE(failed(computeCost(module->lookupSymbol<func::FuncOp>("a"), 1, 128)));
}

} // namespace
