//===- Activations.cpp - Activations by the names of configurations ---------===//

#include "dialect/IR/Activations.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {
struct NamedActivation {
  StringRef name;
  ActivationKind kind;
};
} // namespace

/// Sorted by name.  The tanh forms of GELU differ in the last digits of a constant at most.
static constexpr NamedActivation kActivations[] = {
    {"gelu", ActivationKind::Gelu},
    {"gelu_10", ActivationKind::Gelu10},
    {"gelu_accurate", ActivationKind::GeluNew},
    {"gelu_fast", ActivationKind::GeluNew},
    {"gelu_new", ActivationKind::GeluNew},
    {"gelu_python", ActivationKind::Gelu},
    {"gelu_python_tanh", ActivationKind::GeluNew},
    {"gelu_pytorch_tanh", ActivationKind::GeluNew},
    {"hardswish", ActivationKind::HardSwish},
    {"laplace", ActivationKind::Laplace},
    {"leaky_relu", ActivationKind::LeakyRelu},
    {"linear", ActivationKind::Identity},
    {"mish", ActivationKind::Mish},
    {"quick_gelu", ActivationKind::QuickGelu},
    {"relu", ActivationKind::Relu},
    {"relu2", ActivationKind::Relu2},
    {"relu6", ActivationKind::Relu6},
    {"selu", ActivationKind::Selu},
    {"sigmoid", ActivationKind::Sigmoid},
    {"silu", ActivationKind::Silu},
    {"sqrtsoftplus", ActivationKind::SqrtSoftplus},
    {"swish", ActivationKind::Silu},
    {"tanh", ActivationKind::Tanh},
};

std::optional<ActivationKind> convbert::parseActivationName(StringRef name) {
  for (const NamedActivation &entry : kActivations)
    if (entry.name == name)
      return entry.kind;
  return std::nullopt;
}

ArrayRef<StringRef> convbert::getActivationNames() {
  static const SmallVector<StringRef> names =
      llvm::map_to_vector(kActivations, [](const NamedActivation &entry) { return entry.name; });
  return names;
}
