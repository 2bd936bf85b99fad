//===- CPUTargetTest.cpp - What code is generated for ---------------------===//

#include "lib/Target/CPU/CPUTarget.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::convbert;

/// The features of a machine of level x86-64-v1, v2, v3 or v4.
static HostFeatures makeHost(int level) {
  HostFeatures host;
  for (StringRef feature : {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"})
    host[feature] = level >= 2;
  for (StringRef feature : {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"})
    host[feature] = level >= 3;
  for (StringRef feature : {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
    host[feature] = level >= 4;
  return host;
}

static std::string messageOf(llvm::Error error) { return llvm::toString(std::move(error)); }

TEST(CPUTarget, NativeIsWhatTheMachineHas) {
  llvm::Expected<CPUTarget> v3 = CPUTarget::parse("native", makeHost(3));
  ASSERT_TRUE(bool(v3)) << messageOf(v3.takeError());
  EXPECT_EQ(v3->isa, "avx2");
  // What a virtual machine hides must not be used.
  EXPECT_NE(v3->features.find("-avx512f"), std::string::npos);
  EXPECT_NE(v3->features.find("+avx2"), std::string::npos);
  EXPECT_TRUE(messageOf(v3->checkHost(makeHost(3))).empty());

  llvm::Expected<CPUTarget> v4 = CPUTarget::parse("native", makeHost(4));
  ASSERT_TRUE(bool(v4)) << messageOf(v4.takeError());
  EXPECT_EQ(v4->isa, "avx512");

  // Without FMA, or with AVX alone, what any CPU has.
  HostFeatures old = makeHost(2);
  old["avx"] = true;
  llvm::Expected<CPUTarget> v2 = CPUTarget::parse("native", old);
  ASSERT_TRUE(bool(v2)) << messageOf(v2.takeError());
  EXPECT_EQ(v2->isa, "generic");
  EXPECT_NE(v2->features.find("-fma"), std::string::npos);
  EXPECT_TRUE(messageOf(v2->checkHost(old)).empty());
}

TEST(CPUTarget, NativeNeedsSSE42) {
  llvm::Expected<CPUTarget> target = CPUTarget::parse("native", makeHost(1));
  ASSERT_FALSE(bool(target));
  std::string message = messageOf(target.takeError());
  EXPECT_EQ(message.find("target 'native' requires a CPU with SSE4.2 (x86-64-v2), but this one ("), 0u);
  EXPECT_NE(message.find("lacks cx16, popcnt, sahf, sse3, sse4.1, sse4.2, ssse3"), std::string::npos);
}

TEST(CPUTarget, LevelsDoNotDependOnTheMachine) {
  for (int host : {1, 2, 3, 4}) {
    llvm::Expected<CPUTarget> v2 = CPUTarget::parse("x86-64-v2", makeHost(host));
    llvm::Expected<CPUTarget> v3 = CPUTarget::parse("x86-64-v3", makeHost(host));
    llvm::Expected<CPUTarget> v4 = CPUTarget::parse("x86-64-v4", makeHost(host));
    ASSERT_TRUE(v2 && v3 && v4);
    EXPECT_EQ(v2->isa, "generic");
    EXPECT_EQ(v3->isa, "avx2");
    EXPECT_EQ(v4->isa, "avx512");
    EXPECT_EQ(v2->features + v3->features + v4->features, "");
    EXPECT_EQ(messageOf(v2->checkHost(makeHost(host))).empty(), host >= 2);
    EXPECT_EQ(messageOf(v3->checkHost(makeHost(host))).empty(), host >= 3);
    EXPECT_EQ(messageOf(v4->checkHost(makeHost(host))).empty(), host >= 4);
  }
}

TEST(CPUTarget, RefusalSaysWhatIsMissing) {
  llvm::Expected<CPUTarget> target = CPUTarget::parse("x86-64-v4");
  ASSERT_TRUE(bool(target));
  std::string message = messageOf(target->checkHost(makeHost(3)));
  EXPECT_EQ(message.find("target 'x86-64-v4' requires a CPU with AVX-512, but this one ("), 0u);
  EXPECT_NE(message.find("lacks avx512f, avx512bw, avx512cd, avx512dq, avx512vl; use target 'native', or run it on "
                         "another machine"),
            std::string::npos);
}

TEST(CPUTarget, BFloat16NeedsItsInstructions) {
  HostFeatures with = makeHost(4), without = makeHost(4);
  with["avx512bf16"] = true;
  without["avx512bf16"] = false;
  llvm::Expected<CPUTarget> native = CPUTarget::parse("native", with);
  ASSERT_TRUE(bool(native));
  EXPECT_EQ(native->isa, "avx512"); // unless asked for
  EXPECT_TRUE(messageOf(native->setProductType("float32")).empty());
  EXPECT_EQ(native->isa, "avx512");
  EXPECT_TRUE(messageOf(native->setProductType("bfloat16")).empty());
  EXPECT_EQ(native->isa, "avx512bf16");
  EXPECT_TRUE(messageOf(native->checkHost(with)).empty());

  llvm::Expected<CPUTarget> old = CPUTarget::parse("native", without);
  ASSERT_TRUE(bool(old));
  std::string message = messageOf(old->setProductType("bfloat16"));
  EXPECT_EQ(message.find("dtype 'bfloat16' requires a CPU with AVX512_BF16, but this one ("), 0u);
  EXPECT_EQ(messageOf(old->setProductType("int8")), "requires a dtype 'float32' or 'bfloat16', but found 'int8'");

  llvm::Expected<CPUTarget> level = CPUTarget::parse("x86-64-v4-bf16", without);
  ASSERT_TRUE(bool(level));
  EXPECT_EQ(level->features, "+avx512bf16");
  EXPECT_TRUE(messageOf(level->setProductType("bfloat16")).empty());
  EXPECT_TRUE(messageOf(level->checkHost(with)).empty());
  message = messageOf(level->checkHost(without));
  EXPECT_EQ(message.find("target 'x86-64-v4-bf16' requires a CPU with AVX-512 and AVX512_BF16, but this one ("), 0u);
  EXPECT_NE(message.find(") lacks avx512bf16; use target 'native'"), std::string::npos);

  llvm::Expected<CPUTarget> v4 = CPUTarget::parse("x86-64-v4", with);
  ASSERT_TRUE(bool(v4));
  EXPECT_EQ(
      messageOf(v4->setProductType("bfloat16")),
      "dtype 'bfloat16' requires a target with AVX512_BF16, 'x86-64-v4-bf16' or 'native' on such a CPU, but found "
      "'x86-64-v4'");
}

TEST(CPUTarget, AnotherArchitectureIsRefusedHere) {
  llvm::Expected<CPUTarget> target = CPUTarget::parse("aarch64");
  ASSERT_TRUE(bool(target));
  EXPECT_EQ(target->isa, "neon");
  EXPECT_EQ(target->triple, "aarch64-unknown-linux-gnu");
  std::string message = messageOf(target->checkHost(makeHost(4)));
  EXPECT_EQ(message.find("target 'aarch64' requires a CPU with NEON, but this one ("), 0u);
  EXPECT_NE(message.find(") is of x86_64; use target 'native', or run it on another machine"), std::string::npos);
}

TEST(CPUTarget, UnknownName) {
  llvm::Expected<CPUTarget> target = CPUTarget::parse("z80");
  ASSERT_FALSE(bool(target));
  EXPECT_EQ(messageOf(target.takeError()),
            "requires a target 'native', 'x86-64-v2', 'x86-64-v3', 'x86-64-v4', 'x86-64-v4-bf16' or 'aarch64', but "
            "found 'z80'");
}
