//===- EntryOptions.h - What a checkpoint's entry takes and gives -*- C++ -*-===//

#ifndef CONVBERT_TOOLS_ENTRYOPTIONS_H
#define CONVBERT_TOOLS_ENTRYOPTIONS_H

#include "lib/Import/Import.h"
#include "llvm/Support/CommandLine.h"
#include <list>

namespace mlir::convbert {

/// Options of a tool that imports checkpoints: one for each flag of ImportOptions.
class EntryOptions {
public:
  explicit EntryOptions(llvm::cl::OptionCategory &category) {
    add(category, "inputs-embeds", "Take vectors (inputs_embeds) in place of ids", &ImportOptions::inputsEmbeds);
    add(category, "hidden-states", "Also return the hidden states of all layers", &ImportOptions::hiddenStates);
    add(category, "attentions", "Also return the attention probabilities of all layers", &ImportOptions::attentions);
    add(category, "conv-kernels", "Also return the convolution taps of all layers", &ImportOptions::convKernels);
    add(category, "head-mask", "Take a factor for each head of all layers", &ImportOptions::headMask);
  }

  /// What was given on the command line.
  ImportOptions get() const {
    ImportOptions options;
    for (const Flag &flag : flags)
      options.*flag.member = flag.option;
    return options;
  }

private:
  struct Flag {
    Flag(llvm::cl::OptionCategory &category, StringRef name, StringRef help, bool ImportOptions::*member)
        : option(name, llvm::cl::desc(help), llvm::cl::cat(category)), member(member) {}
    llvm::cl::opt<bool> option;
    bool ImportOptions::*member;
  };

  void add(llvm::cl::OptionCategory &category, StringRef name, StringRef help, bool ImportOptions::*member) {
    flags.emplace_back(category, name, help, member);
  }

  std::list<Flag> flags; // options stay where they are
};

} // namespace mlir::convbert

#endif // CONVBERT_TOOLS_ENTRYOPTIONS_H
