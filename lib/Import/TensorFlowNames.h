//===- TensorFlowNames.h - Variables of the original code -------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_TENSORFLOWNAMES_H
#define CONVBERT_LIB_IMPORT_TENSORFLOWNAMES_H

#include "lib/Import/TensorInfo.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace mlir::convbert {

/// Whether the tensors carry the names of the original TensorFlow code (`electra/embeddings/word_embeddings`, ...).
bool hasTensorFlowNames(llvm::ArrayRef<TensorInfo> tensors);

/// The Hugging Face name and orientation of one variable.
struct RenamedVariable {
  std::string name;
  /// Dimension i of the parameter is dimension `permutation[i]` of the variable; empty if they are the same.
  llvm::SmallVector<int64_t, 4> permutation;
  /// A unit dimension follows the variable's own.
  bool appendUnit = false;
};

/// `path` is the variable's name below its model's scope (`encoder/layer_0/...`), `rank` its number of dimensions.
RenamedVariable renameVariable(llvm::StringRef path, size_t rank);

/// Renames and turns the variables of the model `architecture` (a class of the library) and drops those of training and
/// of other models.  The masked language model is the generator (whose embedding tables are the discriminator's, unless
/// it has its own); every other class has the discriminator's body, and that for pre-training its head, too.  What is
/// dropped is said in `notes`.
std::vector<TensorInfo> renameTensorFlowVariables(std::vector<TensorInfo> tensors, llvm::StringRef architecture,
                                                  std::vector<std::string> &notes);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_TENSORFLOWNAMES_H
