//===- JSONText.cpp - Strict reading of JSON that others wrote --*- C++ -*-===//

#include "lib/Import/JSONText.h"
#include "lib/Import/ByteSource.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::convbert {

llvm::Error importError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

std::string quoted(llvm::StringRef text) {
  constexpr size_t maxBytes = 160;
  std::string result;
  llvm::raw_string_ostream os(result);
  os << '\'';
  llvm::printEscapedString(text.take_front(maxBytes), os);
  os << (text.size() > maxBytes ? "...'" : "'");
  return result;
}

std::optional<int64_t> wholeNumber(const llvm::json::Value &value) {
  std::optional<double> number = value.getAsNumber();
  return number && *number > -0x1p63 && *number < 0x1p63 ? value.getAsInteger() : std::nullopt;
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << '[';
  llvm::interleaveComma(shape, os);
  os << ']';
  return result;
}

std::string describeJSON(const llvm::json::Value &value) {
  switch (value.kind()) {
  case llvm::json::Value::Null:
    return "null";
  case llvm::json::Value::Boolean:
    return *value.getAsBoolean() ? "true" : "false";
  case llvm::json::Value::Number: {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return "the number " + text;
  }
  case llvm::json::Value::String:
    return "the string " + quoted(*value.getAsString());
  case llvm::json::Value::Array:
    return "an array";
  case llvm::json::Value::Object:
    return "an object";
  }
  llvm_unreachable("all kinds handled");
}

namespace {

/// Walks over JSON text without building values.  On text that is no JSON the findings mean nothing, but the walk ends
/// and stays inside the text; `llvm::json::parse` says what is wrong.
class StructureScan {
public:
  explicit StructureScan(llvm::StringRef text) : text(text) { run(); }

  static constexpr size_t maxDepth = 64;
  bool tooDeep = false;
  /// The first key that appears twice in one object.
  std::optional<std::string> duplicate;

private:
  struct Level {
    bool isObject;
    bool expectKey;
    llvm::StringSet<> keys;
  };

  /// Returns the string literal that starts at `pos`, quotes included, and moves behind it.
  llvm::StringRef takeString() {
    size_t begin = pos++;
    while (pos < text.size() && text[pos] != '"')
      pos += text[pos] == '\\' ? 2 : 1;
    pos = std::min(pos + 1, text.size());
    return text.slice(begin, pos);
  }

  void addKey(llvm::StringRef literal) {
    // "a" and "\u0061" are the same key, so escapes are resolved before comparing.
    std::string key = literal.drop_front().drop_back(literal.size() > 1 ? 1 : 0).str();
    if (literal.contains('\\')) {
      if (llvm::Expected<llvm::json::Value> value = llvm::json::parse(literal)) {
        if (std::optional<llvm::StringRef> string = value->getAsString())
          key = string->str();
      } else {
        llvm::consumeError(value.takeError());
      }
    }
    if (!levels.back().keys.insert(key).second && !duplicate)
      duplicate = key;
  }

  void run() {
    while (pos < text.size()) {
      char c = text[pos];
      if (c == '"') {
        llvm::StringRef literal = takeString();
        if (!levels.empty() && levels.back().isObject && levels.back().expectKey) {
          addKey(literal);
          levels.back().expectKey = false;
        }
        continue;
      }
      ++pos;
      if (c == '{' || c == '[') {
        if (levels.size() == maxDepth) {
          tooDeep = true;
          return;
        }
        levels.push_back({c == '{', c == '{', {}});
      } else if ((c == '}' || c == ']') && !levels.empty()) {
        levels.pop_back();
      } else if (c == ',' && !levels.empty()) {
        levels.back().expectKey = levels.back().isObject;
      }
    }
  }

  llvm::StringRef text;
  size_t pos = 0;
  llvm::SmallVector<Level> levels;
};

} // namespace

llvm::Expected<llvm::json::Object> parseJSONObject(llvm::StringRef text, const llvm::Twine &where) {
  if (text.starts_with("\xef\xbb\xbf"))
    return importError(where + ": requires JSON without a byte order mark, but found one (UTF-8)");
  StructureScan scan(text);
  if (scan.tooDeep)
    return importError(where + ": requires JSON nested at most " + llvm::Twine(StructureScan::maxDepth) +
                       " levels deep, but found deeper nesting");
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return importError(where + ": requires valid JSON, but found an error at " + llvm::toString(value.takeError()));
  llvm::json::Object *object = value->getAsObject();
  if (!object)
    return importError(where + ": requires a JSON object, but found " + describeJSON(*value));
  if (scan.duplicate)
    return importError(where + ": requires every key once, but found " + quoted(*scan.duplicate) +
                       " more than once in one object");
  return std::move(*object);
}

llvm::Expected<std::string> readSmallFile(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<ByteSource>> source = openFile(path);
  if (!source)
    return source.takeError();
  uint64_t size = (*source)->getSize();
  if (size > kMaxJSONBytes)
    return importError(path + ": requires at most " + llvm::Twine(kMaxJSONBytes) + " bytes, but found " +
                       llvm::Twine(size));
  return (*source)->read(0, size);
}

} // namespace mlir::convbert
