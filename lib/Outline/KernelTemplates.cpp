//===- KernelTemplates.cpp - Kernel functions as text with parameters -------===//

#include "lib/Outline/KernelTemplates.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {
struct Template {
  StringLiteral file, text;
};
} // namespace

static const Template kTemplates[] = {
#include "lib/Outline/Kernels.inc"
};

/// The text of kernels/<name>.mlir.in.
static StringRef findTemplate(StringRef name) {
  for (const Template &entry : kTemplates)
    if (llvm::sys::path::filename(entry.file) == (name + ".mlir.in").str())
      return entry.text;
  return {};
}

/// The value of parameter `name`, or null.
static const std::string *findParameter(StringRef name, const TemplateParameters &parameters) {
  const auto *it = llvm::find_if(parameters, [&](const auto &parameter) { return parameter.first == name; });
  return it == parameters.end() ? nullptr : &it->second;
}

static void replaceAll(std::string &text, StringRef placeholder, StringRef value) {
  for (size_t at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at + value.size()))
    text.replace(at, placeholder.size(), value);
}

/// `line` as often as the instance has it, its conditions taken off.
static void appendLine(std::string &result, StringRef line, const TemplateParameters &parameters) {
  if (!line.starts_with("@?") && !line.starts_with("@!") && !line.starts_with("@*")) {
    result += (line + "\n").str();
    return;
  }
  auto [name, rest] = line.drop_front(2).split('@');
  const std::string *value = findParameter(name, parameters);
  if (line[1] != '*') {
    if ((line[1] == '?') == (value != nullptr))
      appendLine(result, rest, parameters);
    return;
  }
  unsigned count = 0;
  if (value && !StringRef(*value).getAsInteger(10, count))
    for (unsigned i = 0; i < count; ++i) {
      std::string copy = rest.str();
      replaceAll(copy, "@#@", std::to_string(i));
      appendLine(result, copy, parameters);
    }
}

static std::string instantiate(StringRef text, const TemplateParameters &parameters) {
  std::string result;
  for (StringRef line : llvm::split(text, '\n'))
    appendLine(result, line, parameters);
  for (const auto &[name, value] : parameters)
    replaceAll(result, ("@" + name + "@").str(), value);
  return result;
}

func::FuncOp KernelTemplates::get(StringRef name, StringRef suffix, const TemplateParameters &parameters) {
  StringRef text = findTemplate(name);
  if (text.empty()) {
    emitError(module.getLoc()) << "requires a kernel template '" << name << "', but found none";
    return nullptr;
  }
  func::FuncOp &kernel = instances[instantiate(text, parameters)];
  if (kernel)
    return kernel;
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(instantiate(text, parameters), module.getContext(),
                                                             ("lib/Outline/kernels/" + name + ".mlir.in").str());
  if (!parsed) {
    emitError(module.getLoc()) << "kernel template '" << name << "' does not parse with the parameters of this model";
    return nullptr;
  }
  kernel = *parsed->getOps<func::FuncOp>().begin();
  kernel->remove();
  std::string base = suffix.empty() ? name.str() : (name + "_" + suffix).str(), symbol = base;
  for (unsigned i = 1; module.lookupSymbol(symbol); ++i)
    symbol = (base + "_" + Twine(i)).str();
  kernel.setName(symbol);
  module.push_back(kernel);
  return kernel;
}
