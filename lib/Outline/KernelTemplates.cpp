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

/// `text` with the lines that instances with `parameters` have, their conditions taken off.
static std::string selectLines(StringRef text, const TemplateParameters &parameters) {
  std::string result;
  for (StringRef line : llvm::split(text, '\n')) {
    while (line.starts_with("@?") || line.starts_with("@!")) {
      bool wanted = line[1] == '?';
      auto [name, rest] = line.drop_front(2).split('@');
      bool present = llvm::any_of(parameters, [&](const auto &parameter) { return parameter.first == name; });
      if (present != wanted)
        break;
      line = rest;
    }
    if (!line.starts_with("@?") && !line.starts_with("@!"))
      result += (line + "\n").str();
  }
  return result;
}

static std::string instantiate(StringRef text, const TemplateParameters &parameters) {
  std::string result = selectLines(text, parameters);
  for (const auto &[name, value] : parameters) {
    std::string placeholder = ("@" + name + "@").str();
    for (size_t at = result.find(placeholder); at != std::string::npos;
         at = result.find(placeholder, at + value.size()))
      result.replace(at, placeholder.size(), value);
  }
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
