//===- HeadsTest.cpp - Which slices belong to a head ----------------------===//
//
// That an operation without heads computes what one with silent heads does is tested with numbers
// (test/Conversion/test_heads.py).
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

constexpr HeadBranch kAttention = HeadBranch::Attention, kConvolution = HeadBranch::Convolution;

class HeadsTest : public ::testing::Test {
protected:
  HeadsTest() { context.loadDialect<ConvBERTDialect, arith::ArithDialect, func::FuncDialect, tensor::TensorDialect>(); }

  /// The one operation with heads of a function with these arguments.
  HeadedInterface parse(const std::string &arguments, const std::string &op) {
    std::string text = "func.func @f(" + arguments + ") {\n  %r:1 = " + op + "\n  return\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    HeadedInterface found;
    if (module)
      module->walk([&](HeadedInterface op) { found = op; });
    return found;
  }

  /// Mixed attention on 8 features with heads of 2, 3 taps, and whatever `extra` says.
  HeadedInterface mixed(int64_t attn, int64_t conv, bool shared = false, const std::string &extra = "",
                        int64_t query = 0) {
    auto type = [](int64_t rows, int64_t columns = 0) {
      return "tensor<" + std::to_string(rows) + (columns ? "x" + std::to_string(columns) : "") + "xf32>";
    };
    int64_t q = (query ? query : std::max(attn, conv)) * 2;
    std::string arguments = "%x: tensor<?x?x8xf32>", syntax = "%x", types = "tensor<?x?x8xf32>";
    auto add = [&](const std::string &group, std::initializer_list<std::pair<const char *, std::string>> operands) {
      std::string names;
      for (auto [name, type] : operands) {
        arguments += std::string(", %") + name + ": " + type;
        names += std::string(names.empty() ? "" : ", ") + "%" + name;
        types += ", " + type;
      }
      syntax += " " + group + "(" + names + ")";
    };
    add("query", {{"wq", type(q, 8)}, {"bq", type(q)}});
    if (attn) {
      add("key", {{"wk", type(attn * 2, 8)}, {"bk", type(attn * 2)}});
      add("value", {{"wv", type(attn * 2, 8)}, {"bv", type(attn * 2)}});
    }
    if (conv) {
      add("span", {{"wd", type(8, 3)}, {"wp", type(q, 8)}, {"bp", type(q)}});
      add("kernel", {{"wf", type(conv * 3, q)}, {"bf", type(conv * 3)}});
      if (!shared)
        add("conv", {{"wc", type(conv * 2, 8)}, {"bc", type(conv * 2)}});
    }
    add("output", {{"wo", type(8, (attn + conv) * 2)}, {"bo", type(8)}});
    add("head_mask", {{"m", type(attn + conv)}});
    return parse(arguments, "convbert.mixed_attention " + syntax + " {attn_heads = " + std::to_string(attn) +
                                " : i64, conv_heads = " + std::to_string(conv) + " : i64, head_size = 2 : i64" + extra +
                                "} : (" + types + ") -> tensor<?x?x8xf32>");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// operand axis offset size, with what it is kept for: a or c, and the head.
std::string text(ArrayRef<HeadSlice> slices) {
  std::string result;
  for (const HeadSlice &slice : slices) {
    result += (result.empty() ? "" : " | ") + std::to_string(slice.operand) + " " + std::to_string(slice.axis) + " " +
              std::to_string(slice.offset) + " " + std::to_string(slice.size);
    if (slice.step != 1)
      result += " by " + std::to_string(slice.step);
    if (slice.keepIf) {
      result += slice.keepIf->branch == kAttention ? " if a" : " if c";
      result += slice.keepIf->index ? std::to_string(*slice.keepIf->index) : "*";
    }
  }
  return result;
}

TEST_F(HeadsTest, SelfAttention) {
  HeadedInterface op = parse("%q: tensor<?x?x12xf32>, %k: tensor<?x?x8xf32>, %v: tensor<?x?x6xf32>, %m: tensor<2xf32>",
                             "convbert.self_attention %q, %k, %v head_mask(%m) {heads = 2 : i64, scale = 1.0 : f64, "
                             "query_heads = array<i64: 2, 0>} : (tensor<?x?x12xf32>, tensor<?x?x8xf32>, "
                             "tensor<?x?x6xf32>, tensor<2xf32>) -> tensor<?x?x6xf32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(op.numHeads(kAttention), 2);
  EXPECT_EQ(op.numHeads(kConvolution), 0);
  EXPECT_EQ(text(op.slicesFor({kAttention, 0})), "0 2 8 4 | 1 2 0 4 | 2 2 0 3 | 3 0 0 1");
  EXPECT_EQ(text(op.slicesFor({kAttention, 1})), "0 2 0 4 | 1 2 4 4 | 2 2 3 3 | 3 0 1 1");
}

TEST_F(HeadsTest, HeadsThatShareASliceOfTheQuery) {
  HeadedInterface op = parse("%x: tensor<?x?x8xf32>",
                             "convbert.self_attention %x, %x, %x {heads = 2 : i64, scale = 1.0 : f64, query_heads = "
                             "array<i64: 1, 1>} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> "
                             "tensor<?x?x8xf32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(text(op.slicesFor({kAttention, 0})), "0 2 4 4 if a1 | 1 2 0 4 | 2 2 0 4");
}

TEST_F(HeadsTest, DynamicConvolution) {
  HeadedInterface kernel = parse("%q: tensor<?x?x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>",
                                 "convbert.dynamic_kernel %q, %w, %b {heads = 2 : i64, normalize = "
                                 "#convbert.norm<softmax>, layout = #convbert.layout<in_out>} : (tensor<?x?x8xf32>, "
                                 "tensor<8x6xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel.numHeads(kConvolution), 2);
  EXPECT_EQ(text(kernel.slicesFor({kConvolution, 1})), "1 1 3 3 | 2 0 3 3");

  HeadedInterface apply = parse("%v: tensor<?x?x8xf32>, %t: tensor<?x?x2x3xf32>",
                                "convbert.apply_kernel %v, %t {pads = array<i64: 1, 1>, normalize = "
                                "#convbert.norm<none>} : (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>) -> "
                                "tensor<?x?x8xf32>");
  ASSERT_TRUE(apply);
  EXPECT_EQ(text(apply.slicesFor({kConvolution, 1})), "0 2 4 4 | 1 2 1 1");

  HeadedInterface span = parse("%q: tensor<?x?x8xf32>, %v: tensor<?x?x4xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>",
                               "convbert.span_dynamic_conv %q, %q, %v, %w, %b {heads = 2 : i64, pads = "
                               "array<i64: 1, 1>} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x4xf32>, "
                               "tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x4xf32>");
  ASSERT_TRUE(span);
  EXPECT_EQ(text(span.slicesFor({kConvolution, 0})), "2 2 0 2 | 3 0 0 3 | 4 0 0 3");
}

TEST_F(HeadsTest, LightweightConvolution) {
  const char *arguments = "%x: tensor<?x?x8xf32>, %w: tensor<2x3xf32>, %b: tensor<8xf32>";
  std::string types = " : (tensor<?x?x8xf32>, tensor<2x3xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>";
  std::string op = "convbert.light_conv %x, %w, %b {pads = array<i64: 1, 1>";
  HeadedInterface blocked = parse(arguments, (op + "}" + types).c_str());
  ASSERT_TRUE(blocked);
  EXPECT_EQ(blocked.numHeads(kConvolution), 2);
  EXPECT_EQ(text(blocked.slicesFor({kConvolution, 1})), "0 2 4 4 | 1 0 1 1 | 2 0 4 4");
  // Every second channel, from the first on.
  HeadedInterface columns = parse(arguments, (op + ", head_map = #convbert.head_map<interleaved>}" + types).c_str());
  ASSERT_TRUE(columns);
  EXPECT_EQ(text(columns.slicesFor({kConvolution, 1})), "0 2 1 4 by 2 | 1 0 1 1 | 2 0 1 4 by 2");
}

TEST_F(HeadsTest, DynamicConvolutionOfItsInput) {
  const char *arguments = "%x: tensor<?x?x8xf32>, %w: tensor<6x8xf32>, %c: tensor<8xf32>, %q: tensor<?x?x8xf32>";
  // The taps of the heads that are left read all channels, unless they come from elsewhere.
  HeadedInterface own = parse(arguments, "convbert.dynamic_conv %x, %w channel_bias(%c) {heads = 2 : i64, pads = "
                                         "array<i64: 1, 1>} : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<8xf32>) -> "
                                         "tensor<?x?x8xf32>");
  ASSERT_TRUE(own);
  EXPECT_EQ(text(own.slicesFor({kConvolution, 1})), "0 2 4 4 if c* | 1 0 3 3 | 2 0 4 4");
  HeadedInterface other = parse(arguments, "convbert.dynamic_conv %x, %w query(%q) {heads = 2 : i64, pads = array<i64: "
                                           "1, 1>} : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<?x?x8xf32>) -> "
                                           "tensor<?x?x8xf32>");
  ASSERT_TRUE(other);
  EXPECT_EQ(text(other.slicesFor({kConvolution, 1})), "0 2 4 4 | 1 0 3 3");
}

// Operands: x 0, wq 1, bq 2, wk 3, bk 4, wv 5, bv 6, wd 7, wp 8, bp 9, wf 10, bf 11, wc 12, bc 13, wo 14, bo 15,
// mask 16.
TEST_F(HeadsTest, MixedAttention) {
  HeadedInterface op = mixed(2, 3);
  ASSERT_TRUE(op);
  EXPECT_EQ(op.numHeads(kAttention), 2);
  EXPECT_EQ(op.numHeads(kConvolution), 3);
  EXPECT_EQ(text(op.slicesFor({kAttention, 1})),
            "1 0 2 2 if c* | 2 0 2 2 if c* | 3 0 2 2 | 4 0 2 2 | 5 0 2 2 | 6 0 2 2 | 14 1 2 2 | 16 0 1 1");
  EXPECT_EQ(text(op.slicesFor({kConvolution, 1})), "10 0 3 3 | 11 0 3 3 | 12 0 2 2 | 13 0 2 2 | 14 1 6 2 | 16 0 3 1");
}

TEST_F(HeadsTest, SharedValues) {
  HeadedInterface op = mixed(2, 2, /*shared=*/true);
  ASSERT_TRUE(op);
  EXPECT_EQ(text(op.slicesFor({kAttention, 1})),
            "1 0 2 2 if c* | 2 0 2 2 if c* | 3 0 2 2 | 4 0 2 2 | 5 0 2 2 if c1 | 6 0 2 2 if c1 | 12 1 2 2 | 14 0 1 1");
  EXPECT_EQ(text(op.slicesFor({kConvolution, 0})),
            "5 0 0 2 if a0 | 6 0 0 2 if a0 | 10 0 0 3 | 11 0 0 3 | 12 1 4 2 | 14 0 2 1");
}

TEST_F(HeadsTest, PlainAttention) {
  HeadedInterface op = mixed(3, 0, false, ", query_heads = array<i64: 0, 2, 2>", 4);
  ASSERT_TRUE(op);
  EXPECT_EQ(text(op.slicesFor({kAttention, 0})),
            "1 0 0 2 | 2 0 0 2 | 3 0 0 2 | 4 0 0 2 | 5 0 0 2 | 6 0 0 2 | 7 1 0 2 | 9 0 0 1");
  EXPECT_EQ(text(op.slicesFor({kAttention, 2})).substr(0, 14), "1 0 4 2 if a1 ");
}

/// What removeHeads() says.
std::string complaint(MLIRContext &context, HeadedInterface op, ArrayRef<Head> heads) {
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said = diagnostic.str();
    return success();
  });
  OpBuilder builder(op);
  return failed(op.removeHeads(builder, heads)) ? said : "nothing";
}

TEST_F(HeadsTest, WhatCannotBeRemovedIsRefused) {
  HeadedInterface op =
      parse("%x: tensor<?x?x8xf32>", "convbert.self_attention %x, %x, %x {heads = 2 : i64, scale = 1.0 : f64} : "
                                     "(tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>");
  ASSERT_TRUE(op);
  EXPECT_EQ(complaint(context, op, {{kAttention, 2}}),
            "'convbert.self_attention' op requires heads to remove below 2, but found 2");
  EXPECT_EQ(complaint(context, op, {{kConvolution, 0}}),
            "'convbert.self_attention' op requires heads to remove below 0, but found 0");
  EXPECT_EQ(complaint(context, op, {{kAttention, 0}, {kAttention, 1}}),
            "'convbert.self_attention' op requires a head to stay, but found all to be removed");
}

TEST_F(HeadsTest, RemovalOfHalfABranchKeepsTheQuery) {
  HeadedInterface op = mixed(3, 2);
  ASSERT_TRUE(op);
  OpBuilder builder(op);
  FailureOr<SmallVector<Value>> values = op.removeHeads(builder, {{kAttention, 1}, {kConvolution, 0}});
  ASSERT_TRUE(succeeded(values));
  auto left = values->front().getDefiningOp<MixedAttentionOp>();
  ASSERT_TRUE(left);
  EXPECT_TRUE(succeeded(verify(left)));
  EXPECT_EQ(left.getAttnHeads(), 2u);
  EXPECT_EQ(left.getConvHeads(), 1u);
  EXPECT_EQ(*left.getQueryHeads(), (ArrayRef<int64_t>{0, 2}));
  EXPECT_EQ(left.getWq(), cast<MixedAttentionOp>(op.getOperation()).getWq());
  // Without any convolution head the slice that nobody reads goes, too.
  builder.setInsertionPoint(left);
  values = left.removeHeads(builder, {{kConvolution, 0}});
  ASSERT_TRUE(succeeded(values));
  left = values->front().getDefiningOp<MixedAttentionOp>();
  EXPECT_TRUE(succeeded(verify(left)));
  EXPECT_EQ(left.getQueryHeads(), std::nullopt);
  EXPECT_EQ(cast<RankedTensorType>(left.getBq().getType()).getDimSize(0), 4);
}

} // namespace
