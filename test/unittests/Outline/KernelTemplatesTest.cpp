//===- KernelTemplatesTest.cpp - Kernels as text ----------------------------===//

#include "lib/Outline/KernelTemplates.h"
#include "test/unittests/Outline/OutlineTest.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct KernelTemplatesTest : convbert::test::OutlineTest {
  ModuleOp module = parse("func.func private @norm_8() { return }");
  KernelTemplates templates{module};
};

TEST_F(KernelTemplatesTest, EqualKernelsAreOneFunction) {
  TemplateParameters parameters{{"MR", "4"}, {"NR", "24"}, {"WT", "f32"}, {"GRAIN", "4"}, {"ACT", "identity"}};
  func::FuncOp first = templates.get("dense", "", parameters);
  ASSERT_TRUE(first);
  EXPECT_EQ(first.getName(), "dense");
  EXPECT_EQ(templates.get("dense", "other", parameters), first);
  parameters.back().second = "gelu";
  func::FuncOp second = templates.get("dense", "", parameters);
  ASSERT_TRUE(second);
  EXPECT_NE(second, first);
  EXPECT_EQ(second.getName(), "dense_1");
  EXPECT_EQ(templates.getNumKernels(), 2u);
  EXPECT_EQ(first->getParentOp(), module);
}

TEST_F(KernelTemplatesTest, NamesAvoidThoseInUse) {
  TemplateParameters parameters{{"W", "16"}, {"N", "8"}, {"EPS", "1.0e-12"}, {"GRAIN", "256"}};
  func::FuncOp kernel = templates.get("norm", "8", parameters);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel.getName(), "norm_8_1");
}

TEST_F(KernelTemplatesTest, LinesHaveConditions) {
  TemplateParameters parameters{{"NR", "16"}, {"DP", "64"}, {"NR_DP", "1024"}};
  func::FuncOp plain = templates.get("attention", "", parameters);
  parameters.push_back({"PROBABILITIES", ""});
  func::FuncOp probabilities = templates.get("attention", "", parameters);
  parameters.push_back({"HEAD_MASK", ""});
  func::FuncOp both = templates.get("attention", "", parameters);
  ASSERT_TRUE(plain && probabilities && both) << errors;
  EXPECT_EQ(probabilities.getNumArguments(), plain.getNumArguments() + 1);
  EXPECT_EQ(both.getNumArguments(), plain.getNumArguments() + 2);
}

TEST_F(KernelTemplatesTest, ReportsAnUnknownTemplate) {
  EXPECT_FALSE(templates.get("nothing", "", {}));
  EXPECT_NE(errors.find("requires a kernel template 'nothing', but found none"), std::string::npos) << errors;
}

TEST_F(KernelTemplatesTest, ReportsTextThatDoesNotParse) {
  EXPECT_FALSE(templates.get("norm", "8", {{"W", "sixteen"}, {"N", "8"}, {"EPS", "0.0"}, {"GRAIN", "256"}}));
  EXPECT_NE(errors.find("kernel template 'norm' does not parse with the parameters of this model"), std::string::npos)
      << errors;
  EXPECT_EQ(module.lookupSymbol("norm_8_1"), nullptr);
}

} // namespace
