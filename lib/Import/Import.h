//===- Import.h - From a checkpoint directory to a module -------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_IMPORT_H
#define CONVBERT_LIB_IMPORT_IMPORT_H

#include "lib/Import/Checkpoint.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir::convbert {

struct ImportOptions {
  /// Adds the results `hidden_states.0` .. `hidden_states.L`, each `B x T x D`: the input of layer 0 and the outputs of
  /// all layers.
  bool hiddenStates = false;
  /// Adds the results `attentions.0` .. `attentions.(L-1)`, each `B x H x T x T`: the probabilities of all layers.
  bool attentions = false;
  /// Adds the results `conv_kernels.0` .. `conv_kernels.(L-1)`, each `B x T x H x K`: the taps of all layers.
  bool convKernels = false;
  /// Adds the inputs `head_mask.0` .. `head_mask.(L-1)`: a factor a head, attention heads first.
  bool headMask = false;

  /// The first input is `inputs_embeds`, `B x T x E`, instead of `input_ids`.  Without effect on layers alone.
  bool inputsEmbeds = false;

  /// Gives the directory into which deflated weights are unpacked, so that they can be mapped; asked only if there are
  /// some.  Without it they are checked and have no `WeightSource::file`.
  std::function<llvm::Expected<std::string>()> unpackDirectory;
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
  /// What the weight files were when they were read, by path.
  std::map<std::string, FileStamp> files;
  /// What a user should know, one line each: what was ignored, whose rule the head widths follow.
  std::vector<std::string> notes;
};

/// Imports a checkpoint directory (config.json beside weights, see CheckpointFiles.h) as a module of block operations:
///
///  * a private `ml_program.global` for each parameter, named as in Hugging Face's files, with external contents of the
///    type and shape that the file has;
///  * a private function `@encoder_layer(x : B x T x D, bias : B x T, parameters) -> B x T x D`, or one for each kind
///  of
///    layer;
///  * `@forward(input_ids, attention_mask, token_type_ids, position_ids)`, each `B x T`, which loads the parameters
///  and,
///    where they are stored otherwise, widens them to float32, slices and transposes them; for layers alone,
///    `@forward(encoder_input : B x T x D, attention_mask : B x T)`;
///  * the attribute `convbert.manifest` (see ManifestJSON.h).
///
/// Numbers are read once to check them, and none is kept.  On failure, returns failure and sets `error` to one line
/// that says what was found, what is required, and where.
FailureOr<ImportedModel> importCheckpoint(StringRef directory, const ImportOptions &options, MLIRContext &context,
                                          std::string &error);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_IMPORT_H
