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

class BytecodeTest : public testing::Test {
protected:
  BytecodeTest() { context.loadDialect<ConvBERTDialect, func::FuncDialect>(); }

  OwningOpRef<ModuleOp> parse(StringRef source) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
    return parseSourceString<ModuleOp>(source, &context);
  }

  /// `kSource` as bytecode of a version of the dialect.
  std::string write(uint64_t version) {
    OwningOpRef<ModuleOp> module = parse(kSource);
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
