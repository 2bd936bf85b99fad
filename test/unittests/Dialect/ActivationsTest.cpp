//===- ActivationsTest.cpp - Activations by the names of configurations ---===//

#include "dialect/IR/Activations.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir::convbert;

namespace {

TEST(Activations, SeveralNamesAreOneFunction) {
  for (llvm::StringRef name : {"gelu_new", "gelu_fast", "gelu_accurate", "gelu_pytorch_tanh", "gelu_python_tanh"})
    EXPECT_EQ(parseActivationName(name), ActivationKind::GeluNew) << name.str();
  EXPECT_EQ(parseActivationName("gelu_python"), ActivationKind::Gelu);
  EXPECT_EQ(parseActivationName("swish"), parseActivationName("silu"));
  EXPECT_EQ(parseActivationName("linear"), ActivationKind::Identity);
}

TEST(Activations, EveryFunctionHasAName) {
  std::set<ActivationKind> found{ActivationKind::HardSigmoid}; // of gates, which no configuration names
  for (llvm::StringRef name : getActivationNames())
    found.insert(*parseActivationName(name));
  EXPECT_EQ(found.size(), getMaxEnumValForActivationKind() + 1);
  EXPECT_TRUE(llvm::is_sorted(getActivationNames()));
}

TEST(Activations, OthersAreNone) {
  // The first two have parameters; a name of the dialect is no name of a configuration.
  for (llvm::StringRef name : {"prelu", "xielu", "identity", "Gelu", ""})
    EXPECT_EQ(parseActivationName(name), std::nullopt) << name.str();
}

} // namespace
