//===- ParameterNames.h - What the parameters of a model are called -*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_PARAMETERNAMES_H
#define CONVBERT_LIB_IMPORT_PARAMETERNAMES_H

#include "lib/Import/Config.h"
#include "lib/Import/ModelClass.h"

namespace mlir::convbert {

/// Names that a file may use for the parameter `name`: with the family's prefix (`convbert.`) if it belongs to the
/// body, without `encoder.` if it is one of layers that stand alone, and with gamma and beta for the weight and bias of
/// a norm.
llvm::SmallVector<std::string, 4> parameterSpellings(llvm::StringRef name, bool inBody, ModelFamily family);

struct ParameterName {
  std::string name;
  bool inBody;
};

/// All parameters that a model of this class and configuration needs, in model order.  The output matrix of a tied
/// masked language model is not among them: it may be stored or not.
std::vector<ParameterName> listParameterNames(const Config &config, ModelClass modelClass);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_PARAMETERNAMES_H
