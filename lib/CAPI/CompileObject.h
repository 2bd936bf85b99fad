//===- CompileObject.h - From a module to a shared object -------*- C++ -*-===//

#ifndef CONVBERT_LIB_CAPI_COMPILEOBJECT_H
#define CONVBERT_LIB_CAPI_COMPILEOBJECT_H

#include "lib/CAPI/ObjectCache.h"
#include "lib/Pipelines/RunPhases.h"
#include "lib/Target/CPU/CPUTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace mlir::convbert {

/// What code is made of a module, whatever the module is: members of `options_json` in convbert-c.h.
struct CompileOptions {
  std::string target = "native";
  std::string weights = "f32";
  std::string dtype = "float32";
  std::string cacheDirectory;
  std::string dumpDirectory;
  /// The module may hold what has no kernel: its refusal is no failure of the compiler.
  bool mayLackKernels = false;

  /// The option of that name which is a string, or null.
  std::string *find(StringRef name);
  /// Sets the option `name`, which find() knows, to `value`; an error if that is no string or not allowed.
  llvm::Error set(StringRef name, const llvm::json::Value &value);
  /// The CPU that they ask for; an error if there is none such or this machine cannot run its code.
  llvm::Expected<CPUTarget> getTarget() const;
};

template <typename... Ts> llvm::Error makeError(Ts &&...parts) {
  std::string message;
  llvm::raw_string_ostream os(message);
  (os << ... << parts);
  return llvm::createStringError(message);
}

using Clock = std::chrono::steady_clock;

inline double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Collects the errors of a context instead of printing them.
class ErrorCollector {
public:
  explicit ErrorCollector(MLIRContext &context);

  /// The first error, and the last: that names the phase and the reproducer.
  llvm::Error take();
  /// The first error alone.
  llvm::Error takeFirst();

private:
  SmallVector<std::string> errors;
  ScopedDiagnosticHandler handler;
};

/// Compiles `module`, which is behind phase `from` and prints as `text`, or finds its object in `cache`.  Adds to
/// `result` what convbert-c.h says of every compilation: "object", "cached", "compile_ms", "phases_ms", "target",
/// "dtype" and "stored_weights".
llvm::Error compileObject(ModuleOp module, StringRef text, StringRef from, const CPUTarget &target,
                          const CompileOptions &options, const ObjectCache &cache, PhaseTimes times,
                          llvm::json::Object &result);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_CAPI_COMPILEOBJECT_H
