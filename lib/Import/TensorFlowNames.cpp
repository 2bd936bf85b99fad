//===- TensorFlowNames.cpp - Variables of the original code -----*- C++ -*-===//

#include "lib/Import/TensorFlowNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using llvm::StringRef;

namespace mlir::convbert {

static constexpr StringRef kDiscriminator = "electra/", kGenerator = "generator/";
static constexpr StringRef kGeneratorHead = "generator_predictions/", kDetectionHead = "discriminator_predictions/";

bool hasTensorFlowNames(llvm::ArrayRef<TensorInfo> tensors) {
  return llvm::any_of(tensors, [](const TensorInfo &tensor) {
    return StringRef(tensor.name).starts_with(kDiscriminator) || StringRef(tensor.name).starts_with(kGenerator);
  });
}

RenamedVariable renameVariable(StringRef path, size_t rank) {
  RenamedVariable result;
  llvm::SmallVector<StringRef> parts;
  path.split(parts, '/');
  StringRef leaf = parts.pop_back_val();
  StringRef parent = parts.empty() ? "" : parts.back();
  for (StringRef part : parts) {
    StringRef number = part;
    if (number.consume_front("layer_")) {
      result.name += ("layer." + number + ".").str();
      continue;
    }
    result.name += llvm::StringSwitch<StringRef>(part)
                       .Case("conv_attn_key", "key_conv_attn_layer")
                       .Case("conv_attn_kernel", "conv_kernel_layer")
                       .Case("conv_attn_point", "conv_out_layer")
                       .Case("g_dense", "dense")
                       .Case("dense_1", "dense_prediction") // discriminator_predictions/dense_1
                       .Default(part);
    result.name += ".";
  }
  if (leaf == "depthwise_kernel" || leaf == "pointwise_kernel") {
    // [K,D,1] and [1,D,A] are PyTorch's [D,1,K] and [A,D,1].
    result.name += leaf == "depthwise_kernel" ? "depthwise.weight" : "pointwise.weight";
    if (rank == 3)
      result.permutation =
          leaf == "depthwise_kernel" ? llvm::SmallVector<int64_t, 4>{1, 2, 0} : llvm::SmallVector<int64_t, 4>{2, 1, 0};
    return result;
  }
  if (leaf == "output_bias") { // generator_predictions/output_bias
    result.name = "generator_lm_head.bias";
    return result;
  }
  result.name += llvm::StringSwitch<StringRef>(leaf)
                     .Cases({"kernel", "gamma"}, "weight")
                     .Cases({"bias", "beta"}, "bias")
                     .Default(leaf);
  if (leaf.ends_with("_embeddings"))
    result.name += ".weight";
  // Dense kernels are [in,out] there and [out,in] here; grouped ones are [groups,in,out] in both.
  if (leaf == "kernel" && rank == 2)
    result.permutation = {1, 0};
  result.appendUnit = leaf == "bias" && parent == "conv_attn_key" && rank == 1;
  return result;
}

namespace {

/// Counts what is dropped, by reason.
class Dropped {
public:
  void add(const TensorInfo &tensor, StringRef why) {
    for (auto &[reason, count, example] : entries)
      if (reason == why) {
        ++count;
        return;
      }
    entries.push_back({why, 1, tensor.name});
  }

  void report(std::vector<std::string> &notes) const {
    for (const auto &[reason, count, example] : entries)
      notes.push_back("ignored " + std::to_string(count) + (count == 1 ? " variable" : " variables") + " of the " +
                      reason.str() + " ('" + example + "'" + (count == 1 ? ")" : ", ...)"));
  }

private:
  struct Entry {
    StringRef reason;
    unsigned count;
    std::string example;
  };
  std::vector<Entry> entries;
};

} // namespace

std::vector<TensorInfo> renameTensorFlowVariables(std::vector<TensorInfo> tensors, StringRef architecture,
                                                  std::vector<std::string> &notes) {
  bool isGenerator = architecture.ends_with("ForMaskedLM");
  bool hasOwnTables =
      llvm::any_of(tensors, [](const TensorInfo &t) { return StringRef(t.name).starts_with("generator/embeddings/"); });
  std::vector<TensorInfo> kept;
  Dropped dropped;
  for (TensorInfo &tensor : tensors) {
    StringRef name = tensor.name, path = name;
    if (name.ends_with("/adam_m") || name.ends_with("/adam_v") || name == "global_step") {
      dropped.add(tensor, "optimizer");
      continue;
    }
    if (path.consume_front(kDiscriminator)) {
      if (isGenerator && (hasOwnTables || !path.starts_with("embeddings/"))) {
        dropped.add(tensor, "discriminator");
        continue;
      }
    } else if (path.consume_front(kGenerator)) {
      if (!isGenerator) {
        dropped.add(tensor, "generator");
        continue;
      }
    } else if (path.starts_with(kGeneratorHead)) {
      if (!isGenerator) {
        dropped.add(tensor, "generator");
        continue;
      }
    } else if (path.starts_with(kDetectionHead) && !architecture.ends_with("ForPreTraining")) {
      dropped.add(tensor, "discriminator's head");
      continue;
    }
    RenamedVariable renamed = renameVariable(path, tensor.shape.size());
    tensor.storedName = tensor.name;
    tensor.name = std::move(renamed.name);
    if (!renamed.permutation.empty())
      transposeTensor(tensor, renamed.permutation);
    if (renamed.appendUnit && tensor.layout.isPlain())
      tensor.shape.push_back(1);
    kept.push_back(std::move(tensor));
  }
  dropped.report(notes);
  return kept;
}

} // namespace mlir::convbert
