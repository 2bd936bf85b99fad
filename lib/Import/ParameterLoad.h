//===- ParameterLoad.h - Parameters as the model wants them -----*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_PARAMETERLOAD_H
#define CONVBERT_LIB_IMPORT_PARAMETERLOAD_H

#include "lib/Import/TensorInfo.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::convbert {

/// The type of what the file holds, and of the global that stands for it.
RankedTensorType getStoredType(const TensorInfo &tensor, MLIRContext *context);

/// Loads the global of `tensor` and returns the parameter in float32 and in Hugging Face's orientation.  What the file
/// has otherwise (half precision, a slice of a larger block, another order of dimensions) is undone by operations that
/// rest on the global alone, so that it happens once, when parameters are packed.
Value loadParameter(OpBuilder &builder, Location loc, const TensorInfo &tensor);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_PARAMETERLOAD_H
