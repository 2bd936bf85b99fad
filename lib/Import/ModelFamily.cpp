//===- ModelFamily.cpp - ConvBERT, BERT, ELECTRA ----------------*- C++ -*-===//

#include "lib/Import/ModelFamily.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::convbert {

static constexpr FamilyNames kFamilies[] = {
    {ModelFamily::ConvBERT, "convbert", "ConvBert", "convbert."},
    {ModelFamily::BERT, "bert", "Bert", "bert."},
    {ModelFamily::ELECTRA, "electra", "Electra", "electra."},
};

llvm::ArrayRef<FamilyNames> allFamilies() { return kFamilies; }

const FamilyNames &familyNames(ModelFamily family) {
  return *llvm::find_if(kFamilies, [&](const FamilyNames &names) { return names.family == family; });
}

} // namespace mlir::convbert
