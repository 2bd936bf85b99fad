//===- JSONText.h - Strict reading of JSON that others wrote ----*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_JSONTEXT_H
#define CONVBERT_LIB_IMPORT_JSONTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace mlir::convbert {

/// A one-line error.
llvm::Error importError(const llvm::Twine &message);

/// `text` from a file of unknown origin, fit for a one-line message: quoted, escaped, cut after 160 bytes.
std::string quoted(llvm::StringRef text);

/// A shape as users know it from Python: `[8, 1, 3]`, `[]` for a scalar.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// What a JSON value is, for messages: "null", "true", "the number 8.5", "a string", "an array", "an object".
std::string describeJSON(const llvm::json::Value &value);

/// The whole number of less than 63 bits that a JSON value is, if it is one.  (Of 2^63 written as a fraction,
/// `getAsInteger` would make something undefined.)
std::optional<int64_t> wholeNumber(const llvm::json::Value &value);

/// Largest JSON text that is read, in bytes.  A header of a 24-layer model has 60 kB; values take some 80 times their
/// shortest text.
constexpr uint64_t kMaxJSONBytes = 2u << 20;

/// Parses one JSON object.  `where` starts the messages.  Beyond what `llvm::json::parse` refuses, a key that appears
/// twice in one object is an error (which one counts would be left to chance), and so is nesting deeper than 64 levels
/// (the parser is recursive).
llvm::Expected<llvm::json::Object> parseJSONObject(llvm::StringRef text, const llvm::Twine &where);

/// Reads a regular file of at most `kMaxJSONBytes`; errors name the path.
llvm::Expected<std::string> readSmallFile(llvm::StringRef path);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_JSONTEXT_H
