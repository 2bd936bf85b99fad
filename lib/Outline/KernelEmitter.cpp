//===- KernelEmitter.cpp - Kernel calls that operations share ---------------===//

#include "lib/Outline/KernelEmitter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::convbert;

TemplateParameters KernelEmitter::branchParameters(size_t count, StringRef tile) {
  SmallVector<std::string> tiles, logits, types(count, tile.str());
  types.append(count, "tensor<1x16xf32>");
  for (size_t m = 0; m < count; ++m) {
    tiles.push_back("%u" + text(m) + "Tensor");
    logits.push_back("%l" + text(m) + "Tensor");
  }
  return {{"BRANCHES", text(count)},
          {"TILES", llvm::join(tiles, ", ")},
          {"LOGITS", llvm::join(logits, ", ")},
          {"TYPES", llvm::join(types, ", ")}};
}

LogicalResult KernelEmitter::call(StringRef name, StringRef suffix, const TemplateParameters &parameters,
                                  ValueRange operands) {
  func::FuncOp kernel = kernels.get(name, suffix, parameters);
  if (!kernel)
    return failure();
  return host.call(operation, kernel, operands);
}

LogicalResult KernelEmitter::dense(Value x, OpFoldResult inColumn, Value panels, Value bias, Value multiplier,
                                   ActivationKind activation, Value y, OpFoldResult outColumn) {
  const TileSizes &tiles = host.getTiles();
  auto type = panels ? cast<MemRefType>(panels.getType()) : MemRefType();
  if (!type || type.getRank() != (tiles.isPaired ? 4 : 3))
    return operation->emitOpError() << "requires packed parameters that rest on globals";
  if (failed(round(x)))
    return failure();
  Value rows = tiles.isPaired ? host.pairTilesIn(x, inColumn, type.getDimSize(1))
                              : host.tilesIn(x, inColumn, type.getDimSize(1));
  if (multiplier)
    multiplier = host.tilesOut(multiplier, outColumn, type);
  return product(rows, panels, bias, multiplier, activation, host.tilesOut(y, outColumn, type));
}

LogicalResult KernelEmitter::dense(Value x, Value weight, Value bias, Value multiplier, ActivationKind activation,
                                   Value y) {
  int64_t column = 0;
  unsigned part = 0;
  Value panels = parameter(weight);
  do {
    if (failed(
            dense(x, /*inColumn=*/index(0), panels, parameter(bias, part), multiplier, activation, y, index(column))))
      return failure();
    auto type = cast<MemRefType>(panels.getType());
    column += type.getDimSize(0) * type.getDimSize(2);
    panels = parameter(weight, ++part);
  } while (panels);
  return success();
}

LogicalResult KernelEmitter::product(Value rows, Value panels, Value bias, Value multiplier, ActivationKind activation,
                                     Value out) {
  const TileSizes &tiles = host.getTiles();
  auto type = cast<MemRefType>(panels.getType());
  std::string kind = stringifyActivationKind(activation).str();
  std::string suffix = activation == ActivationKind::Identity ? "" : kind;
  int64_t panel = type.getDimSize(2);
  if (panel != tiles.panel)
    suffix = "n" + text(panel) + (suffix.empty() ? "" : "_" + suffix);
  StringRef weightType = type.getElementType().isBF16() ? "bf16" : "f32";
  TemplateParameters parameters{{"MR", text(tiles.rows)},
                                {"NR", text(panel)},
                                {"NR2", text(2 * panel)},
                                {"WT", weightType.str()},
                                {"ACT", kind},
                                {"GRAIN", text(llvm::divideCeil(CostModel::sharedRows, tiles.rows))}};
  SmallVector<Value> operands{rows, panels, bias};
  if (multiplier)
    operands.push_back(multiplier);
  operands.push_back(out);
  // Pairs are half as large; activations and multipliers need the whole sum.
  bool isDeep = false;
  if (!multiplier && activation == ActivationKind::Identity && !tiles.isPaired) {
    Choice choice = host.getCosts().sliceDepth(type.getDimSize(1));
    isDeep = choice.taken;
    host.explain(choice.why);
  }
  StringRef plain = multiplier ? "dense_times" : isDeep ? "dense_deep" : "dense";
  StringRef pairs = multiplier ? "dense_times_pairs" : "dense_pairs";
  if (tiles.isPaired || weightType == "f32")
    return call(tiles.isPaired ? pairs : plain, suffix, parameters, operands);
  host.explain(CostModel::describeWidening());
  func::FuncOp few = kernels.get(plain, suffix, parameters);
  // A panel is widened into scratch, whose size is known beforehand: one of two sizes serves most models.
  parameters.push_back({"WIDE", text(llvm::PowerOf2Ceil(std::max<int64_t>(type.getDimSize(1), 1024)))});
  func::FuncOp many = kernels.get(plain, suffix.empty() ? "wide" : suffix + "_wide", parameters);
  return success(few && many &&
                 succeeded(host.callByTiles(operation, rows, CostModel::widenFrom / tiles.rows, few, many, operands)));
}

LogicalResult KernelEmitter::round(Value x) {
  if (!host.getTiles().isPaired || !host.startRounding(x))
    return success();
  int64_t width = host.getPlan().getView(x).width, whole = width / TileSizes::lanes * TileSizes::lanes;
  TemplateParameters parameters{{"W", text(width)},
                                {"WHOLE", text(whole)},
                                {"REST", text(width - whole)},
                                {"PITCH", text(TileSizes::roundedPitch(width))}};
  return call("round", text(width), parameters, {host.rows(x), host.rounded(x)});
}
