//===- Pickle.h - What a pickle describes, without running it ---*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_PICKLE_H
#define CONVBERT_LIB_IMPORT_PICKLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <deque>
#include <string>
#include <vector>

namespace mlir::convbert {

/// A value that a pickle describes.  Calls are described, never made.
struct PickleValue {
  enum Kind { None, Bool, Int, BigInt, Float, String, Tuple, List, Dict, OrderedDict, Global, Call, Persistent };

  Kind kind = None;
  /// Bool, Int.
  int64_t integer = 0;
  /// String: its bytes (also of byte strings).  BigInt: little-endian two's complement.  Global: "module.name".  All
  /// point into the pickle, but those of globals.
  llvm::StringRef text;
  /// Tuple, List: elements.  Dict, OrderedDict: key, value, key, value, ...  Call: the global, the tuple of arguments.
  /// Persistent: what stands for the object.
  std::vector<const PickleValue *> items;

  /// "a list", "the string 'x'", "a call of torch.nn.Module", ...
  std::string describe() const;
};

/// Reads pickles of protocols 0 to 5 from bytes of unknown origin.
///
/// A pickle is a program for a small stack machine.  This one builds values and does nothing else: globals must be on a
/// list, calls stay descriptions, attributes are not set, and opcodes that only make sense when something is executed
/// are refused.  Values may be nested to any depth and refer to each other (no function here recurses); their number,
/// and so the memory, is bounded.
class Unpickler {
public:
  /// `where` starts the messages; `allowed` are the globals that may appear, as "module.name".
  Unpickler(llvm::StringRef bytes, std::string where, llvm::ArrayRef<llvm::StringRef> allowed)
      : bytes(bytes), where(std::move(where)), allowed(allowed) {}

  /// Reads one pickle from the current position on and returns its value, which lives as long as this object.
  llvm::Expected<const PickleValue *> load();

  /// The byte behind the last pickle read.
  size_t getPosition() const { return position; }

  /// Values that one object makes at most, in all its pickles.
  static constexpr size_t kMaxValues = 500'000;

private:
  class Machine;
  llvm::StringRef bytes;
  std::string where;
  llvm::ArrayRef<llvm::StringRef> allowed;
  size_t position = 0;
  std::deque<PickleValue> values;
  std::deque<std::string> names;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_PICKLE_H
