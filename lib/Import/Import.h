//===- Import.h - From a checkpoint directory to a module -------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_IMPORT_H
#define CONVBERT_LIB_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace mlir::convbert {

struct ImportOptions {
  /// Adds the results `hidden_states.0` .. `hidden_states.L`, each `B x T x D`: the input of layer 0 and the outputs of
  /// all layers.
  bool hiddenStates = false;
};

/// Where the bytes of a parameter lie: `bytes` bytes from `offset` of `file`, little-endian, row-major, as the module's
/// global `name` says.
struct WeightSource {
  std::string name;
  std::string file;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct ImportedModel {
  OwningOpRef<ModuleOp> module;
  /// One entry for each `ml_program.global` of the module, in the same order.
  std::vector<WeightSource> weights;
};

/// Imports a Hugging Face checkpoint directory (config.json beside model.safetensors, or shards and their index) as a
/// module of block operations:
///
///  * a private `ml_program.global` for each parameter, named and shaped as in the file, with external contents;
///  * a private function `@encoder_layer(x : B x T x D, bias : B x T, 23 parameters) -> B x T x D`;
///  * `@forward(input_ids, attention_mask, token_type_ids, position_ids)`, each `B x T`;
///  * the attribute `convbert.manifest` (see ManifestJSON.h).
///
/// No weight is read, only headers.  On failure, returns failure and sets `error` to one line that says what was found,
/// what is required, and where.
FailureOr<ImportedModel> importCheckpoint(StringRef directory, const ImportOptions &options, MLIRContext &context,
                                          std::string &error);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_IMPORT_H
