//===- Binding.h - Parameters, inputs and outputs of a run ------*- C++ -*-===//

#ifndef CONVBERT_TOOLS_CONVBERT_RUN_BINDING_H
#define CONVBERT_TOOLS_CONVBERT_RUN_BINDING_H

#include "lib/Import/Import.h"
#include "tools/convbert-run/Array.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace mlir::convbert {

using Arrays = std::map<std::string, Array>;

/// An entry of a manifest's inputs, outputs or parameters.
struct ArrayType {
  std::string name, dtype;
  /// Sizes, or kBatch or kLength.
  llvm::SmallVector<int64_t, 4> shape;
  static constexpr int64_t kBatch = -1, kLength = -2;

  /// The shape for `batch` sequences of `length` tokens.
  llvm::SmallVector<int64_t, 4> instantiate(int64_t batch, int64_t length) const;
};

/// Reads manifest["inputs"] or the like.
llvm::Expected<std::vector<ArrayType>> parseArrayTypes(const llvm::json::Object &manifest, StringRef key);

/// The entry of `types` called `name`, or an error that names the nearest one.  `kind` is for the message.
llvm::Expected<const ArrayType *> findArrayType(llvm::ArrayRef<ArrayType> types, StringRef name, StringRef kind);

/// A file in memory that holds parameters one behind the other; it is gone with this object.
class ParameterFile {
public:
  ~ParameterFile();

  /// Takes `given` (names of the manifest; types must agree), and fills the others by `seed`: weights are small enough
  /// that activations stay near one.  Returns a description of where each parameter lies.
  llvm::Expected<std::vector<WeightSource>> fill(llvm::ArrayRef<ArrayType> parameters, Arrays given, uint64_t seed);

private:
  int descriptor = -1;
};

/// Sequences and tokens of a run.
struct BatchSize {
  int64_t batch = 1, length = 16;

  /// Reads "BxT".
  static llvm::Expected<BatchSize> parse(StringRef text);
};

/// One array for each of `types`, in their order: `given` where it has one, random ids by `seed` within the limits of
/// `manifest`, or nothing (what the model takes for granted: a mask of ones, positions 0 .. T-1).  All agree on the
/// size of the batch, which is `size` or, if that is not set, what the given arrays say.
llvm::Expected<std::vector<std::optional<Array>>> bindInputs(llvm::ArrayRef<ArrayType> types, Arrays given,
                                                             const llvm::json::Object &manifest, uint64_t seed,
                                                             std::optional<BatchSize> &size);

/// Compares `found`, the output `name`, with `expected`: prints a line and returns whether no element is off by more
/// than `tolerance` (NaN agrees with NaN alone).
llvm::Expected<bool> checkOutput(StringRef name, const Array &found, const Array &expected, double tolerance,
                                 llvm::raw_ostream &os);

/// Prints a line on the output `name`: type, shape, range, mean.
void summarize(StringRef name, const Array &array, llvm::raw_ostream &os);

} // namespace mlir::convbert

#endif // CONVBERT_TOOLS_CONVBERT_RUN_BINDING_H
