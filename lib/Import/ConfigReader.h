//===- ConfigReader.h - Reads config.json, key by key -----------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_CONFIGREADER_H
#define CONVBERT_LIB_IMPORT_CONFIGREADER_H

#include "lib/Import/Config.h"
#include "lib/Import/JSONText.h"

namespace mlir::convbert {

/// Typed access to one JSON object; errors name the file and the key.
class ConfigReader {
public:
  ConfigReader(const llvm::json::Object &object, Config &config) : object(object), config(config) {}

  llvm::Error read();

private:
  using Error = llvm::Error;
  using StringRef = llvm::StringRef;
  using Twine = llvm::Twine;

  Error error(const Twine &message) const { return importError(Twine(config.path) + ": " + message); }
  Error unexpected(StringRef key, const Twine &required, const llvm::json::Value &found) const {
    return error("requires " + key + " to be " + required + ", but found " + describeJSON(found));
  }

  /// The value of `key`, or null if it is absent or JSON's null.
  const llvm::json::Value *lookup(StringRef key) const {
    const llvm::json::Value *value = object.get(key);
    return value && value->kind() != llvm::json::Value::Null ? value : nullptr;
  }

  Error readSize(ConfigSize &size, int64_t least) const;
  Error readFlag(StringRef key, bool &flag) const;
  Error readActivation(StringRef key, ActivationKind &kind) const;
  Error readEps() const;
  Error readArchitecture() const;
  Error readFamily() const;
  void setDefaults() const;
  Error readLabels() const;
  Error readSummary() const;
  Error readPrunedHeads() const;
  Error readPrunedLayer(int64_t layer, const llvm::json::Value &value) const;
  Error readHeadList(const llvm::json::Value *value, const Twine &where, int64_t count,
                     llvm::SmallVectorImpl<int64_t> &heads) const;
  Error refuseUnsupported() const;
  Error checkSizes() const;

  const llvm::json::Object &object;
  Config &config;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_CONFIGREADER_H
