//===- CAPI.cpp - The compiler's C interface ------------------------------===//

#include "lib/CAPI/CompileCheckpoint.h"
#include "lib/CAPI/convbert-c.h"
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::convbert;

/// A copy that convbert_string_free() can free.
static char *copyString(const std::string &text) { return strdup(text.c_str()); }

static llvm::Expected<std::string> compile(const char *directory, const char *options) {
  if (!directory || !*directory)
    return llvm::createStringError("requires the directory of a checkpoint, but found an empty name");
  auto parsed = CompileCheckpointOptions::parse(options ? options : "{}");
  if (!parsed)
    return parsed.takeError();
  return compileCheckpoint(directory, *parsed);
}

char *convbert_compile_checkpoint(const char *directory, const char *options_json, char **error) {
  if (error)
    *error = nullptr;
  auto result = compile(directory, options_json);
  if (result)
    return copyString(*result);
  std::string message = llvm::toString(result.takeError());
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (error)
    *error = copyString(message);
  return nullptr;
}

const char *convbert_version(void) { return CONVBERT_VERSION; }

void convbert_string_free(char *string) { std::free(string); }
