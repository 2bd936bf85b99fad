//===- Dense.cpp - Lowering of packed_dense -------------------------------===//
//
//   %zero = linalg.fill                       -> tensor<mo x mr x np x nr>
//   %wide = linalg.generic (n, k, j)          tagged `widen`: panels[n,k,j] in f32, with `widen_first`
//   %sum  = linalg.generic (o, m, n, j, k)    tagged `mm`: rows[o,m,k] * panels[n,k,j], panels of bf16 widened
//                 (o, m, n, j, k, v)         pairs: rows[o,m,k,v] * panels[n,k,j,v], both widened
//   %out  = linalg.generic (o, m, n, j)       tagged `epi`: activation(sum + bias[n,j]) (* multiplier)
//
// With `bias_first` the sum starts from  linalg.generic (o, m, n, j)  tagged `start`: bias[n,j], and is the result.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "lib/Conversion/ConvBERTToLinalg/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct PackedDensePattern : OpRewritePattern<PackedDenseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PackedDenseOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Type element = type.getElementType();
    auto isProductType = [](Value value) {
      Type type = getElementTypeOrSelf(value);
      return type.isF32() || type.isBF16();
    };
    if (!element.isF32() || (op.getMultiplier() && !getElementTypeOrSelf(op.getMultiplier()).isF32()))
      return rewriter.notifyMatchFailure(op, "requires f32");
    if (!isProductType(op.getRows()) || !isProductType(op.getPanels()))
      return rewriter.notifyMatchFailure(op, "requires rows and panels of f32 or bf16");
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    OpFoldResult rowTiles = tensor::getMixedSize(rewriter, loc, op.getRows(), 0);
    OpFoldResult panels = tensor::getMixedSize(rewriter, loc, op.getPanels(), 0);
    SmallVector<OpFoldResult> sizes{rowTiles, rewriter.getIndexAttr(type.getDimSize(1)), panels,
                                    rewriter.getIndexAttr(type.getDimSize(3))};
    // One tensor.empty each: a shared one would be allocated.
    auto empty = [&]() -> Value { return tensor::EmptyOp::create(rewriter, loc, sizes, element); };

    AffineExpr o, m, n, j, k, v;
    bindDims(context, o, m, n, j, k, v);
    auto map = [&](unsigned dims, ArrayRef<AffineExpr> results) { return AffineMap::get(dims, 0, results, context); };
    SmallVector<utils::IteratorType> iterators(4, utils::IteratorType::parallel);

    AffineMap identity = map(4, {o, m, n, j}), biasMap = map(4, {n, j});
    auto buildStart = [&]() -> Value {
      if (!op.getBiasFirst()) {
        Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(element));
        return linalg::FillOp::create(rewriter, loc, zero, empty()).getResult(0);
      }
      Value to = empty();
      auto start = linalg::GenericOp::create(
          rewriter, loc, to.getType(), op.getBias(), to, ArrayRef<AffineMap>{biasMap, identity}, iterators,
          [](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, args[0]); });
      start->setAttr("start", rewriter.getUnitAttr());
      return start.getResult(0);
    };
    Value start = buildStart();
    bool isPaired = cast<RankedTensorType>(op.getRows().getType()).getRank() == 4;
    Value factors = op.getWidenFirst() ? widenPanels(rewriter, op, element) : op.getPanels();
    SmallVector<AffineMap> productMaps{map(5, {o, m, k}), map(5, {n, k, j}), map(5, {o, m, n, j})};
    if (isPaired)
      productMaps = {map(6, {o, m, k, v}), map(6, {n, k, j, v}), map(6, {o, m, n, j})};
    iterators.append(isPaired ? 2 : 1, utils::IteratorType::reduction);
    auto product = linalg::GenericOp::create(
        rewriter, loc, start.getType(), ValueRange{op.getRows(), factors}, start, productMaps, iterators,
        [&](OpBuilder &b, Location loc, ValueRange args) {
          auto widen = [&](Value x) -> Value {
            return x.getType() == element ? x : arith::ExtFOp::create(b, loc, element, x).getResult();
          };
          Value term = arith::MulFOp::create(b, loc, widen(args[0]), widen(args[1]));
          linalg::YieldOp::create(b, loc, arith::AddFOp::create(b, loc, args[2], term).getResult());
        });
    product->setAttr("mm", rewriter.getUnitAttr());
    iterators.truncate(4);
    if (op.getBiasFirst()) {
      replace(rewriter, op, product.getResult(0));
      return success();
    }

    SmallVector<Value> inputs{product.getResult(0), op.getBias()};
    SmallVector<AffineMap> maps{identity, biasMap};
    if (Value multiplier = op.getMultiplier()) {
      inputs.push_back(multiplier);
      maps.push_back(identity);
    }
    maps.push_back(identity);
    auto epilogue = linalg::GenericOp::create(rewriter, loc, start.getType(), inputs, empty(), maps, iterators,
                                              [&](OpBuilder &b, Location loc, ValueRange args) {
                                                Value sum = arith::AddFOp::create(b, loc, args[0], args[1]);
                                                Value value = buildActivation(b, loc, op.getActivation(), sum);
                                                if (op.getMultiplier())
                                                  value = arith::MulFOp::create(b, loc, value, args[2]);
                                                linalg::YieldOp::create(b, loc, value);
                                              });
    epilogue->setAttr("epi", rewriter.getUnitAttr());
    replace(rewriter, op, epilogue.getResult(0));
    return success();
  }

  /// The panels in `element`: an operation of its own, so that a schedule widens them once for many rows.
  static Value widenPanels(PatternRewriter &rewriter, PackedDenseOp op, Type element) {
    Value panels = op.getPanels();
    Location loc = op.getLoc();
    Value to = tensor::EmptyOp::create(rewriter, loc, tensor::getMixedSizes(rewriter, loc, panels), element);
    SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(3));
    SmallVector<utils::IteratorType> iterators(3, utils::IteratorType::parallel);
    auto wide = linalg::GenericOp::create(rewriter, loc, to.getType(), panels, to, maps, iterators,
                                          [&](OpBuilder &b, Location loc, ValueRange args) {
                                            Value x = arith::ExtFOp::create(b, loc, element, args[0]);
                                            linalg::YieldOp::create(b, loc, x);
                                          });
    wide->setAttr("widen", rewriter.getUnitAttr());
    return wide.getResult(0);
  }

  /// The tile sizes that the operation's type may leave open are static here or there.
  static void replace(PatternRewriter &rewriter, PackedDenseOp op, Value result) {
    if (result.getType() != op.getType())
      result = tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), result);
    rewriter.replaceOp(op, result);
  }
};

} // namespace

void mlir::convbert::populateDensePatterns(RewritePatternSet &patterns) {
  patterns.add<PackedDensePattern>(patterns.getContext());
}
