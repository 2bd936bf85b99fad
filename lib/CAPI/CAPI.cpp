//===- CAPI.cpp - The compiler's C interface ------------------------------===//

#include "lib/CAPI/CompileCheckpoint.h"
#include "lib/CAPI/CompileModule.h"
#include "lib/CAPI/InspectCheckpoint.h"
#include "lib/CAPI/convbert-c.h"
#include "lib/Import/Explain.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Signals.h"
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::convbert;

/// A copy that convbert_string_free() can free.
static char *copyString(const std::string &text) { return strdup(text.c_str()); }

using Action = llvm::Expected<std::string> (*)(StringRef directory, const CompileCheckpointOptions &options);

static llvm::Expected<std::string> run(Action action, const char *directory, const char *options) {
  if (!directory || !*directory)
    return llvm::createStringError("requires the directory of a checkpoint, but found an empty name");
  auto parsed = CompileCheckpointOptions::parse(options ? options : "{}");
  if (!parsed)
    return parsed.takeError();
  return action(directory, *parsed);
}

/// The text of `result`, or NULL and a message of one line.
static char *answer(llvm::Expected<std::string> result, char **error) {
  if (error)
    *error = nullptr;
  // Temporary files make LLVM catch signals; the process is not ours, and the files are gone.
  llvm::sys::unregisterHandlers();
  if (result)
    return copyString(*result);
  std::string message = llvm::toString(result.takeError());
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (error)
    *error = copyString(message);
  return nullptr;
}

char *convbert_compile_checkpoint(const char *directory, const char *options_json, char **error) {
  return answer(run(compileCheckpoint, directory, options_json), error);
}

char *convbert_inspect_checkpoint(const char *directory, const char *options_json, char **error) {
  return answer(run(inspectCheckpoint, directory, options_json), error);
}

/// Calls `action` on the module in `ir`.
static llvm::Expected<std::string> run(llvm::Expected<std::string> (*action)(StringRef, StringRef), const char *ir,
                                       size_t bytes, const char *options) {
  if (!ir || !bytes)
    return llvm::createStringError("requires the text or bytecode of a module, but found nothing");
  return action(StringRef(ir, bytes), options ? options : "{}");
}

char *convbert_compile_module(const char *ir, size_t bytes, const char *options_json, char **error) {
  return answer(run(compileModule, ir, bytes, options_json), error);
}

char *convbert_inspect_module(const char *ir, size_t bytes, const char *options_json, char **error) {
  return answer(run(inspectModule, ir, bytes, options_json), error);
}

char *convbert_explain_checkpoint(const char *directory, char **error) {
  if (error)
    *error = nullptr;
  MLIRContext context;
  auto explanation = explainCheckpoint(directory ? directory : "", context);
  std::string refusal = explanation ? explanation->refusal : llvm::toString(explanation.takeError());
  if (error && !refusal.empty())
    *error = copyString(refusal);
  return explanation ? copyString(explanation->text) : nullptr;
}

const char *convbert_version(void) { return CONVBERT_VERSION; }

void convbert_string_free(char *string) { std::free(string); }
