//===- OutlineTest.h - What the tests of the room share ---------*- C++ -*-===//

#ifndef CONVBERT_TEST_UNITTESTS_OUTLINE_OUTLINETEST_H
#define CONVBERT_TEST_UNITTESTS_OUTLINE_OUTLINETEST_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace mlir::convbert::test {

/// A context with the dialects of host code and kernels, and the diagnostics that were reported to it.
class OutlineTest : public testing::Test {
protected:
  OutlineTest() : handler(&context, [this](Diagnostic &diagnostic) { errors += diagnostic.str() + "\n"; }) {
    context.loadDialect<arith::ArithDialect, bufferization::BufferizationDialect, ConvBERTDialect, func::FuncDialect,
                        linalg::LinalgDialect, memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect,
                        vector::VectorDialect>();
  }

  /// The module of `text`, which lives as long as the test.
  ModuleOp parse(StringRef text) {
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back()) << text.str() << "\n" << errors;
    return *modules.back();
  }

  /// The function `f` of `text`.
  func::FuncOp parseFunction(StringRef text) { return parse(text).lookupSymbol<func::FuncOp>("f"); }

  MLIRContext context;
  std::string errors;

private:
  ScopedDiagnosticHandler handler;
  SmallVector<OwningOpRef<ModuleOp>> modules;
};

} // namespace mlir::convbert::test

#endif // CONVBERT_TEST_UNITTESTS_OUTLINE_OUTLINETEST_H
