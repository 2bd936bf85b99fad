//===- CPUTarget.cpp - What code is generated for -------------------------===//

#include "lib/Target/CPU/CPUTarget.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::convbert;

/// What x86-64-v3 has over v2, as far as generated code may use it.
static constexpr StringLiteral kV3Features[] = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
/// What x86-64-v4 has over v3.
static constexpr StringLiteral kV4Features[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};

/// LLVM's name for AVX512_BF16.
static constexpr StringLiteral kBFloat16Feature = "avx512bf16";

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Names of the `required` features that `host` lacks, separated by ", ".
static std::string findMissing(ArrayRef<StringLiteral> required, const HostFeatures &host) {
  SmallVector<StringRef> missing;
  for (StringRef feature : required)
    if (!host.lookup(feature))
      missing.push_back(feature);
  return llvm::join(missing, ", ");
}

static llvm::Expected<CPUTarget> parseNative(const HostFeatures &host) {
  std::string missing = findMissing(kV3Features, host);
  std::string cpu = llvm::sys::getHostCPUName().str();
  if (!missing.empty())
    return makeError("target 'native' requires a CPU with AVX2 and FMA (x86-64-v3), but this one (" + cpu + ") lacks " +
                     missing);
  CPUTarget target;
  target.name = "native";
  target.isa = findMissing(kV4Features, host).empty() ? "avx512" : "avx2";
  target.hasBFloat16 = target.isa == "avx512" && host.lookup(kBFloat16Feature);
  target.triple = llvm::sys::getDefaultTargetTriple();
  target.cpu = cpu;
  // A virtual machine may hide features that the CPU's name implies, so all are spelt out.
  SmallVector<std::string> features;
  for (const auto &feature : host)
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  target.features = llvm::join(features, ",");
  return target;
}

llvm::Expected<CPUTarget> CPUTarget::parse(StringRef name, const HostFeatures &host) {
  if (name == "native")
    return parseNative(host);
  CPUTarget target;
  target.name = target.cpu = name.str();
  target.triple = "x86_64-unknown-linux-gnu";
  if (name == "x86-64-v3")
    target.isa = "avx2";
  else if (name == "x86-64-v4" || name == "x86-64-v4-bf16")
    target.isa = "avx512";
  else
    return makeError("requires a target 'native', 'x86-64-v3', 'x86-64-v4' or 'x86-64-v4-bf16', but found '" + name +
                     "'");
  if (name == "x86-64-v4-bf16") {
    target.cpu = "x86-64-v4";
    target.features = ("+" + kBFloat16Feature).str();
    target.hasBFloat16 = true;
  }
  return target;
}

llvm::Error CPUTarget::setProductType(StringRef type) {
  if (type != "float32" && type != "bfloat16")
    return makeError("requires a dtype 'float32' or 'bfloat16', but found '" + type + "'");
  if (type == "float32")
    return llvm::Error::success();
  if (hasBFloat16) {
    isa = "avx512bf16";
    return llvm::Error::success();
  }
  if (name == "native")
    return makeError("dtype 'bfloat16' requires a CPU with AVX512_BF16, but this one (" + cpu + ") has none");
  return makeError("dtype 'bfloat16' requires a target with AVX512_BF16, 'x86-64-v4-bf16' or 'native' on such a CPU, "
                   "but found '" +
                   name + "'");
}

llvm::Error CPUTarget::checkHost(const HostFeatures &host) const {
  SmallVector<StringLiteral> required(std::begin(kV3Features), std::end(kV3Features));
  bool isWide = isa != "avx2", isRounding = name == "x86-64-v4-bf16" || isa == "avx512bf16";
  if (isWide)
    required.append(std::begin(kV4Features), std::end(kV4Features));
  if (isRounding)
    required.push_back(kBFloat16Feature);
  std::string missing = findMissing(required, host);
  if (missing.empty())
    return llvm::Error::success();
  return makeError("target '" + name + "' requires a CPU with " +
                   StringRef(isRounding ? "AVX-512 and AVX512_BF16"
                             : isWide   ? "AVX-512"
                                        : "AVX2") +
                   ", but this one (" + llvm::sys::getHostCPUName() + ") lacks " + missing +
                   "; use target 'native', or run it on another machine");
}
