//===- Diagnostics.cpp - Messages for people ------------------------------===//

#include "lib/Pipelines/Diagnostics.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::convbert;

std::string convbert::describeLocation(Location location) {
  llvm::SmallSetVector<StringRef, 4> names;
  std::string file;
  location->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part))
      names.insert(named.getName());
    if (auto range = dyn_cast<FileLineColLoc>(part); range && file.empty())
      file = (range.getFilename().getValue() + ":" + Twine(range.getLine()) + ":" + Twine(range.getColumn())).str();
    return WalkResult::advance();
  });
  return names.empty() ? file : llvm::join(names, ", ");
}

static StringRef getName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("all severities are handled");
}

std::string convbert::describeDiagnostic(const Diagnostic &diagnostic, StringRef prefix) {
  std::string where = describeLocation(diagnostic.getLocation());
  std::string text = (where.empty() ? prefix : StringRef(where)).str();
  text += ": " + getName(diagnostic.getSeverity()).str() + ": " + diagnostic.str();
  // It may quote an operation over several lines.
  return llvm::join(llvm::split(text, '\n'), " ");
}

NamedDiagnosticHandler::NamedDiagnosticHandler(MLIRContext &context, StringRef tool)
    : ScopedDiagnosticHandler(&context) {
  setHandler([tool = tool.str()](Diagnostic &diagnostic) {
    if (diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      return failure();
    llvm::errs() << describeDiagnostic(diagnostic, tool) << "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      llvm::errs() << describeDiagnostic(note, tool) << "\n";
    return success();
  });
}
