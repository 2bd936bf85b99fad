//===- ToolMain.h - What all mains have in common ---------------*- C++ -*-===//

#ifndef CONVBERT_TOOLS_TOOLMAIN_H
#define CONVBERT_TOOLS_TOOLMAIN_H

#include "lib/CAPI/convbert-c.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::convbert {

/// To be called first: `--version`, and what a crash asks its witness to do.
inline void initTool(const char *name) {
  llvm::setBugReportMsg("convbert: this is a bug of the compiler, not of your input.  Please report it with the output "
                        "above and the input, made as small as convbert-reduce can:\n"
                        "  see CONTRIBUTING.md, \"Reporting a bug\"\n");
  static const char *tool = name;
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << tool << " " << convbert_version() << " (MLIR " << LLVM_VERSION_STRING << ")\n";
  });
}

/// Takes the option `name` from LLVM's libraries, which register hundreds, so that a tool can have one of that name.
struct FreedOption {
  explicit FreedOption(llvm::StringRef name) {
    auto &options = llvm::cl::getRegisteredOptions();
    if (auto found = options.find(name); found != options.end())
      found->second->removeArgument();
  }
};

/// Takes all options registered so far off `--help`; `--help-hidden` has them.
inline void hideOptions() {
  for (auto &entry : llvm::cl::getRegisteredOptions()) {
    llvm::cl::Option *option = entry.second;
    bool ours = llvm::any_of(option->Categories, [](llvm::cl::OptionCategory *category) {
      return category->getName() == "Generic Options" || category->getName() == "Color Options";
    });
    if (!ours && option->getOptionHiddenFlag() == llvm::cl::NotHidden)
      option->setHiddenFlag(llvm::cl::Hidden);
  }
}

} // namespace mlir::convbert

#endif // CONVBERT_TOOLS_TOOLMAIN_H
