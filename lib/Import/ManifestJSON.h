//===- ManifestJSON.h - What a module says about itself ---------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_MANIFESTJSON_H
#define CONVBERT_LIB_IMPORT_MANIFESTJSON_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::convbert {

/// The module attribute with the manifest, a dictionary of: `model_class`; `labels` (empty for classes without);
/// `vocab_size`, `max_positions`, `type_vocab_size` (of models with tables); `hidden_size`; `min_row_pitch`;
/// `least_tokens` (of functions: with fewer, a convolution in them would make none); `head_rule` (whose rule the head
/// widths follow, where there are several); `inputs`, `outputs` and `parameters`, arrays of {name, dtype, shape}.  In a
/// shape, "B" is the batch and "T" the length.
inline constexpr llvm::StringLiteral kManifestAttrName = "convbert.manifest";

/// Rows that the runtime gives every sequence at least, however short it is.
constexpr int64_t kMinRowPitch = 8;

/// An entry of `inputs`, `outputs` or `parameters`; the type's dynamic dimensions are, in order, B and T.
Attribute makeManifestEntry(Builder &builder, StringRef name, RankedTensorType type);

/// The manifest of a module as JSON (an object), or null if the module has none.
llvm::json::Value manifestToJSON(ModuleOp module);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_MANIFESTJSON_H
