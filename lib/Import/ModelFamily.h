//===- ModelFamily.h - ConvBERT, BERT, ELECTRA ------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_MODELFAMILY_H
#define CONVBERT_LIB_IMPORT_MODELFAMILY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::convbert {

/// The library's model families that can be built.  Layers of BERT and ELECTRA have no convolution heads.
enum class ModelFamily { ConvBERT, BERT, ELECTRA };

/// What a family is called in the library.
struct FamilyNames {
  ModelFamily family;
  /// `model_type` in config.json, and the start of its classes' names.
  llvm::StringLiteral modelType, className;
  /// What may stand before the names of the body's tensors.
  llvm::StringLiteral prefix;
};

llvm::ArrayRef<FamilyNames> allFamilies();
const FamilyNames &familyNames(ModelFamily family);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_MODELFAMILY_H
