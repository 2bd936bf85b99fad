//===- InferTypesTest.cpp - Type inference on whatever builders pass ------===//

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// Operands of all inferred operations, optional ones included; more than one segment only where `segments` says so.
struct Arity {
  const char *name;
  int64_t operands;
  bool segments = false;
};
const Arity arities[] = {
    {"dense", 4, true},
    {"grouped_dense", 3},
    {"activation", 1},
    {"layer_norm", 4},
    {"pool", 2},
    {"embeddings", 10, true},
    {"feed_forward", 5},
    {"lm_head", 7},
    {"classifier_head", 5},
    {"token_head", 3},
    {"span_head", 3},
    {"choice_head", 3},
    {"conv1d", 3},
    {"depthwise_conv1d", 3},
    {"separable_conv1d", 4},
    {"batch_norm", 5},
    {"softmax", 1},
    {"weighted_sum", 2},
    {"kernel_attention_conv", 7, true},
    {"mask_tokens", 2},
    {"dynamic_kernel", 4, true},
    {"apply_kernel", 3},
    {"span_dynamic_conv", 6, true},
    {"normalize_taps", 1},
    {"light_conv", 3},
    {"add_bias", 2},
    {"dynamic_conv", 5, true},
    {"scale_channels", 2},
    {"select_branches", 2, true},
    {"squeeze_excite", 6, true},
    {"selective_kernel", 5, true},
    {"attention_bias", 1},
    {"scale_heads", 2},
    {"self_attention", 5, true},
    {"mixed_attention", 19, true},
    {"packed_dense", 4},
    {"norm_tile", 2},
    {"depthwise_tile", 3},
    {"span_tile", 2},
    {"attention_tile", 5},
};

class InferTypes : public testing::Test {
protected:
  InferTypes() : builder(&context), module(ModuleOp::create(builder.getUnknownLoc())) {
    context.loadDialect<ConvBERTDialect>();
    builder.setInsertionPointToStart(module->getBody());
  }

  Value makeValue(Type type) {
    return UnrealizedConversionCastOp::create(builder, builder.getUnknownLoc(), type, ValueRange{}).getResult(0);
  }

  /// Infers the results of `convbert.<name>` with `operands`; attributes that may be left out are.
  FailureOr<SmallVector<Type>> infer(const Arity &arity, ArrayRef<Value> operands,
                                     ArrayRef<NamedAttribute> attributes = {}) {
    OperationName name(("convbert." + Twine(arity.name)).str(), &context);
    SmallVector<NamedAttribute> all(attributes);
    if (arity.segments)
      all.push_back(builder.getNamedAttr("operandSegmentSizes",
                                         builder.getDenseI32ArrayAttr(SmallVector<int32_t>(arity.operands, 1))));
    Operation *op = Operation::create(builder.getUnknownLoc(), name, TypeRange{}, operands, NamedAttrList(all),
                                      OpaqueProperties(nullptr), BlockRange{}, /*numRegions=*/0);
    SmallVector<Type> types;
    LogicalResult result = name.getInterface<InferTypeOpInterface>()->inferReturnTypes(
        &context, builder.getUnknownLoc(), operands, op->getRawDictionaryAttrs(), op->getPropertiesStorage(), {},
        types);
    op->destroy();
    if (failed(result))
      return failure();
    return types;
  }

  static Arity find(StringRef name) {
    return *llvm::find_if(arities, [&](const Arity &arity) { return name == arity.name; });
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

TEST_F(InferTypes, CoversEveryInferredOperation) {
  size_t count = llvm::count_if(context.getRegisteredOperations(), [](RegisteredOperationName name) {
    return name.getDialectNamespace() == "convbert" && name.hasInterface<InferTypeOpInterface>();
  });
  EXPECT_EQ(count, std::size(arities));
}

/// A builder may pass anything.  No answer is wanted, but neither is a crash, or a type that no tensor has.
TEST_F(InferTypes, SurvivesOperandsOfAnyType) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  Type f32 = builder.getF32Type();
  constexpr int64_t dynamic = ShapedType::kDynamic;
  SmallVector<Type> types{f32, builder.getI64Type(), UnrankedTensorType::get(f32), MemRefType::get({4}, f32)};
  for (int64_t rank = 0; rank < 6; ++rank)
    for (int64_t size : {dynamic, int64_t(0), int64_t(3), std::numeric_limits<int64_t>::max()})
      types.push_back(RankedTensorType::get(SmallVector<int64_t>(rank, size), f32));
  for (Type type : types)
    for (const Arity &arity : arities)
      for (int64_t heads : {-1, 0, 2}) {
        SmallVector<Value> operands(arity.operands, makeValue(type));
        SmallVector<NamedAttribute> attributes;
        auto add = [&](StringRef name, Attribute value) { attributes.push_back(builder.getNamedAttr(name, value)); };
        StringRef name = arity.name;
        if ((name == "dynamic_kernel" || name == "self_attention") && heads)
          add("heads", builder.getI64IntegerAttr(heads));
        if (name == "self_attention" || name == "mixed_attention")
          add("with_probabilities", builder.getUnitAttr());
        if (name == "mixed_attention") {
          add("attn_heads", builder.getI64IntegerAttr(heads));
          add("with_kernels", builder.getUnitAttr());
        }
        FailureOr<SmallVector<Type>> results = infer(arity, operands, attributes);
        if (failed(results))
          continue;
        for (Type result : *results)
          if (auto ranked = dyn_cast<RankedTensorType>(result))
            for (int64_t size : ranked.getShape())
              EXPECT_TRUE(ShapedType::isDynamic(size) || size >= 0) << arity.name << " makes " << size;
      }
}

TEST_F(InferTypes, SaysWhatItRequires) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  SmallVector<Value> operands(2, makeValue(builder.getF32Type()));
  EXPECT_TRUE(failed(infer(find("depthwise_conv1d"), operands)));
  EXPECT_EQ(message, "requires a ranked tensor, but found 'f32'");
}

/// What is not known of an operand is not known of the result.
TEST_F(InferTypes, KeepsDynamicExtentsDynamic) {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  auto tensor = [&](ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); };
  auto expect = [&](StringRef name, ArrayRef<RankedTensorType> operands, RankedTensorType result,
                    ArrayRef<NamedAttribute> attributes = {}) {
    SmallVector<Value> values;
    for (RankedTensorType type : operands)
      values.push_back(makeValue(type));
    FailureOr<SmallVector<Type>> types = infer(find(name), values, attributes);
    ASSERT_TRUE(succeeded(types)) << name.str();
    EXPECT_EQ(types->front(), result) << name.str();
  };
  expect("depthwise_tile", {tensor({dynamic, 32}), tensor({9, 32})}, tensor({dynamic, 32}));
  expect("depthwise_tile", {tensor({12, 32}), tensor({dynamic, 32})}, tensor({dynamic, 32}));
  expect("depthwise_tile", {tensor({12, 32}), tensor({9, 32})}, tensor({4, 32}));
  expect("span_tile", {tensor({dynamic, 9, 8}), tensor({12, 6, dynamic})}, tensor({dynamic, 6, dynamic}));
  expect("grouped_dense", {tensor({2, 3, 8}), tensor({dynamic, 4, 3}), tensor({6})}, tensor({2, 3, dynamic}));
  expect("dynamic_kernel", {tensor({2, 3, 8}), tensor({dynamic, 8}), tensor({6}), tensor({2, 3, 8})},
         tensor({2, 3, 2, dynamic}), builder.getNamedAttr("heads", builder.getI64IntegerAttr(2)));
  expect("packed_dense",
         {tensor({dynamic, 4, 8}), tensor({dynamic, 8, 24}), tensor({dynamic, 24}), tensor({dynamic, 4, dynamic, 24})},
         tensor({dynamic, 4, dynamic, 24}));
}

TEST_F(InferTypes, ProbabilitiesHaveTheLengthOfQueryAndKeys) {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  auto tensor = [&](ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); };
  SmallVector<Value> values;
  for (RankedTensorType type :
       {tensor({2, dynamic, 8}), tensor({2, 7, 8}), tensor({2, 7, 4}), tensor({2, 7}), tensor({2})})
    values.push_back(makeValue(type));
  FailureOr<SmallVector<Type>> types = infer(find("self_attention"), values,
                                             {builder.getNamedAttr("heads", builder.getI64IntegerAttr(2)),
                                              builder.getNamedAttr("with_probabilities", builder.getUnitAttr())});
  ASSERT_TRUE(succeeded(types));
  EXPECT_EQ(*types, (SmallVector<Type>{tensor({2, dynamic, 4}), tensor({2, 2, dynamic, 7})}));
}

} // namespace
