// Bytecode of other versions of the dialect.
#include "dialect/IR/Bytecode.h"
#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::convbert;

namespace {

constexpr StringLiteral kSource = R"(
  func.func @f(%v: tensor<?x?x8xf32>, %taps: tensor<?x?x2x3xf32>, %even: tensor<?x?x2x4xf32>) -> tensor<?x?x8xf32> {
    %a = convbert.apply_kernel %v, %taps {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>}
      : (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x8xf32>
    %b = convbert.apply_kernel %a, %even {pads = array<i64: 3, 0>, normalize = #convbert.norm<none>}
      : (tensor<?x?x8xf32>, tensor<?x?x2x4xf32>) -> tensor<?x?x8xf32>
    return %b : tensor<?x?x8xf32>
  })";

/// What version 2 says of convolutions whose attributes are new in version 3, and what it cannot say.
constexpr StringLiteral kWindows = R"(
  func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>, %p: tensor<4x8xf32>) -> tensor<?x?x4xf32> {
    %a = convbert.depthwise_conv1d %x, %w {pads = array<i64: 2, 0>} : (tensor<?x?x8xf32>, tensor<8x3xf32>) -> tensor<?x?x8xf32>
    %b = convbert.separable_conv1d %a, %w, %p {pads = array<i64: 1, 1>}
      : (tensor<?x?x8xf32>, tensor<8x3xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
    return %b : tensor<?x?x4xf32>
  })";
constexpr StringLiteral kWideWindows = R"(
  func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>, %p: tensor<4x8xf32>) -> tensor<?x?x4xf32> {
    %a = convbert.depthwise_conv1d %x, %w {dilation = 2 : i64, pads = array<i64: 2, 0>, stride = 3 : i64}
      : (tensor<?x?x8xf32>, tensor<8x3xf32>) -> tensor<?x?x8xf32>
    %b = convbert.separable_conv1d %a, %w, %p {dilation = 2 : i64, pads = array<i64: 2, 2>}
      : (tensor<?x?x8xf32>, tensor<8x3xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
    return %b : tensor<?x?x4xf32>
  })";

class BytecodeTest : public testing::Test {
protected:
  BytecodeTest() { context.loadDialect<ConvBERTDialect, func::FuncDialect>(); }

  OwningOpRef<ModuleOp> parse(StringRef source) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
    return parseSourceString<ModuleOp>(source, &context);
  }

  /// `source` as bytecode of a version of the dialect.
  std::string write(uint64_t version, StringRef source = kSource) {
    OwningOpRef<ModuleOp> module = parse(source);
    EXPECT_TRUE(module) << message;
    BytecodeWriterConfig config("convbert-test");
    config.setDialectVersion<ConvBERTDialect>(std::make_unique<ConvBERTDialectVersion>(version));
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(*module, os, config)));
    return bytes;
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }

  MLIRContext context;
  std::string message;
};

TEST_F(BytecodeTest, CurrentVersionRoundTrips) {
  OwningOpRef<ModuleOp> before = parse(kSource), after = parse(write(ConvBERTDialectVersion::kCurrent));
  ASSERT_TRUE(before && after) << message;
  EXPECT_EQ(print(*before), print(*after));
}

TEST_F(BytecodeTest, Version1IsRead) {
  std::string old = write(1);
  EXPECT_NE(old, write(ConvBERTDialectVersion::kCurrent));
  OwningOpRef<ModuleOp> before = parse(kSource), after = parse(old);
  ASSERT_TRUE(before && after) << message;
  EXPECT_EQ(print(*before), print(*after));
}

TEST_F(BytecodeTest, ConvolutionsOfVersion2AreRead) {
  std::string old = write(2, kWindows);
  EXPECT_NE(old, write(ConvBERTDialectVersion::kCurrent, kWindows));
  OwningOpRef<ModuleOp> before = parse(kWindows), after = parse(old);
  ASSERT_TRUE(before && after) << message;
  EXPECT_EQ(print(*before), print(*after));
}

TEST_F(BytecodeTest, StrideAndDilationRoundTrip) {
  OwningOpRef<ModuleOp> before = parse(kWideWindows);
  OwningOpRef<ModuleOp> after = parse(write(ConvBERTDialectVersion::kCurrent, kWideWindows));
  ASSERT_TRUE(before && after) << message;
  EXPECT_EQ(print(*before), print(*after));
}

/// Written by a build of version 2; the generic test above would not see a mistake that both directions make.
TEST_F(BytecodeTest, StoredVersion2IsRead) {
  StringRef path =
      "test/Dialect/ConvBERT/Inputs/version2-convolutions.mlirbc"; // tests run in the root of the repository
  OwningOpRef<ModuleOp> before = parse(kWindows), after = parseSourceFile<ModuleOp>(path, &context);
  ASSERT_TRUE(before && after) << message;
  EXPECT_EQ(print(*before), print(*after));
}

TEST_F(BytecodeTest, Version0IsUpgraded) {
  std::string old = write(0);
  EXPECT_NE(old, write(ConvBERTDialectVersion::kCurrent));
  OwningOpRef<ModuleOp> before = parse(kSource), after = parse(old);
  ASSERT_TRUE(before && after) << message;
  EXPECT_TRUE(succeeded(verify(*after)));
  EXPECT_EQ(print(*before), print(*after));
}

TEST_F(BytecodeTest, Version2IsRead) {
  std::string old = write(2);
  EXPECT_NE(old, write(ConvBERTDialectVersion::kCurrent));
  OwningOpRef<ModuleOp> before = parse(kSource), after = parse(old);
  ASSERT_TRUE(before && after) << message;
  EXPECT_EQ(print(*before), print(*after));
}

TEST_F(BytecodeTest, NewerVersionIsRefused) {
  std::string bytes = write(99);
  EXPECT_FALSE(parse(bytes));
  EXPECT_NE(message.find("requires a convbert dialect of version at most 3, but found version 99"), std::string::npos)
      << message;
}

/// The stored file of version 0.  To remake it, set CONVBERT_REMAKE_FIXTURES.
TEST_F(BytecodeTest, StoredVersion0IsUpgraded) {
  StringRef path = "test/Dialect/ConvBERT/Inputs/version0.mlirbc"; // tests run in the root of the repository
  if (std::getenv("CONVBERT_REMAKE_FIXTURES")) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << write(0);
    ASSERT_FALSE(error) << error.message();
  }
  OwningOpRef<ModuleOp> before = parse(kSource), after = parseSourceFile<ModuleOp>(path, &context);
  ASSERT_TRUE(before && after) << message;
  EXPECT_EQ(print(*before), print(*after));
}

} // namespace
