//===- CPUTarget.cpp - What code is generated for -------------------------===//

#include "lib/Target/CPU/CPUTarget.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::convbert;

/// LLVM's name for AVX512_BF16.
static constexpr StringLiteral kBFloat16Feature = "avx512bf16";
// What a level has over the one before it, as far as generated code may use it.
static constexpr StringLiteral kV2Features[] = {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"};
static constexpr StringLiteral kV3Features[] = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
static constexpr StringLiteral kV4Features[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};
static constexpr StringLiteral kBFloat16Features[] = {kBFloat16Feature};
static constexpr StringLiteral kNeonFeatures[] = {"neon"};

/// A CPU without a maker: what code for one of its name runs on.
struct convbert::CPULevel {
  StringLiteral name, isa;
  /// Instruction set for products of bf16, or empty.
  StringLiteral bfloat16Isa;
  StringLiteral arch, cpu, features; ///< of LLVM
  StringLiteral what;                ///< the extensions, for messages
  ArrayRef<StringLiteral> required;  ///< features, beside those of the levels before it of the same architecture
};

static constexpr CPULevel kLevels[] = {
    {"x86-64-v2", "generic", "", "x86_64", "x86-64-v2", "", "SSE4.2", kV2Features},
    {"x86-64-v3", "avx2", "", "x86_64", "x86-64-v3", "", "AVX2", kV3Features},
    {"x86-64-v4", "avx512", "", "x86_64", "x86-64-v4", "", "AVX-512", kV4Features},
    {"x86-64-v4-bf16", "avx512", "avx512bf16", "x86_64", "x86-64-v4", "+avx512bf16", "AVX-512 and AVX512_BF16",
     kBFloat16Features},
    {"aarch64", "neon", "", "aarch64", "generic", "", "NEON", kNeonFeatures},
};

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static llvm::Triple getHostTriple() { return llvm::Triple(llvm::sys::getDefaultTargetTriple()); }

/// Names of the features of `level` that `host` lacks, separated by ", ".
static std::string findMissing(const CPULevel &level, const HostFeatures &host) {
  SmallVector<StringRef> missing;
  for (const CPULevel *l = kLevels; l <= &level; ++l)
    if (l->arch == level.arch)
      llvm::copy_if(l->required, std::back_inserter(missing), [&](StringRef name) { return !host.lookup(name); });
  return llvm::join(missing, ", ");
}

static llvm::Expected<CPUTarget> parseNative(const HostFeatures &host) {
  const CPULevel &least = kLevels[0];
  std::string cpu = llvm::sys::getHostCPUName().str();
  if (std::string missing = findMissing(least, host); !missing.empty())
    return makeError("target 'native' requires a CPU with " + least.what + " (" + least.name + "), but this one (" +
                     cpu + ") lacks " + missing);
  CPUTarget target;
  target.name = "native";
  for (const CPULevel &level : kLevels)
    if (level.arch == least.arch && findMissing(level, host).empty())
      target.level = &level;
  target.isa = target.level->isa;
  target.triple = getHostTriple().str();
  target.cpu = cpu;
  // A virtual machine may hide features that the CPU's name implies, so all are spelt out.
  SmallVector<std::string> features;
  for (const auto &feature : host)
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  target.features = llvm::join(features, ",");
  return target;
}

std::string CPUTarget::getNames(StringRef quote) {
  SmallVector<std::string> names{(quote + "native" + quote).str()};
  for (const CPULevel &level : kLevels)
    names.push_back((quote + level.name + quote).str());
  return llvm::join(ArrayRef(names).drop_back(), ", ") + " or " + names.back();
}

llvm::Expected<CPUTarget> CPUTarget::parse(StringRef name, const HostFeatures &host) {
  if (name == "native")
    return parseNative(host);
  const CPULevel *level = llvm::find_if(kLevels, [&](const CPULevel &l) { return l.name == name; });
  if (level == std::end(kLevels))
    return makeError("requires a target " + getNames("'") + ", but found '" + name + "'");
  CPUTarget target;
  target.name = name.str();
  target.isa = level->isa;
  target.triple = (level->arch + "-unknown-linux-gnu").str();
  target.cpu = level->cpu;
  target.features = level->features;
  target.level = level;
  return target;
}

llvm::Error CPUTarget::setProductType(StringRef type) {
  if (type != "float32" && type != "bfloat16")
    return makeError("requires a dtype 'float32' or 'bfloat16', but found '" + type + "'");
  if (type == "float32")
    return llvm::Error::success();
  if (!level->bfloat16Isa.empty()) {
    isa = level->bfloat16Isa;
    return llvm::Error::success();
  }
  if (name == "native")
    return makeError("dtype 'bfloat16' requires a CPU with AVX512_BF16, but this one (" + cpu + ") has none");
  return makeError("dtype 'bfloat16' requires a target with AVX512_BF16, 'x86-64-v4-bf16' or 'native' on such a CPU, "
                   "but found '" +
                   name + "'");
}

llvm::Error CPUTarget::checkHost(const HostFeatures &host) const {
  std::string why, found = llvm::sys::getHostCPUName().str();
  if (getHostTriple().getArchName() != level->arch)
    why = "is of " + getHostTriple().getArchName().str();
  else if (std::string missing = findMissing(*level, host); !missing.empty())
    why = "lacks " + missing;
  if (why.empty())
    return llvm::Error::success();
  return makeError("target '" + name + "' requires a CPU with " + level->what + ", but this one (" + found + ") " +
                   why + "; use target 'native', or run it on another machine");
}
