//===- Explain.cpp - What a checkpoint is, in words -------------*- C++ -*-===//

#include "lib/Import/Explain.h"
#include "lib/Analysis/ModelCost.h"
#include "lib/Import/CheckpointFiles.h"
#include "lib/Import/JSONText.h"
#include "lib/Import/ModuleBuilder.h"
#include "lib/Import/ParameterNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace mlir::convbert {

namespace {

/// Writes one explanation.
class Writer {
public:
  explicit Writer(std::string &text) : os(text) {}

  void writeModel(const Checkpoint &checkpoint);
  void writeCost(const Checkpoint &checkpoint, MLIRContext &context);
  void writeTensors(const Checkpoint &checkpoint);
  void writeRefused(const OpenedFiles &files);

private:
  void writeTensor(const TensorInfo &tensor, StringRef note = "");

  llvm::raw_string_ostream os;
};

} // namespace

/// What an encoder layer of BERT has: numbers, and multiply-accumulates for one sequence.
static int64_t bertLayerParameters(int64_t width, int64_t inner) {
  return 4 * width * width + 4 * width + 2 * width * inner + inner + width + 4 * width;
}
static int64_t bertLayerMACs(int64_t width, int64_t inner, int64_t length) {
  return length * (4 * width * width + 2 * length * width + 2 * width * inner);
}

static int64_t elements(const TensorInfo &tensor) { return elementCount(tensor.shape).value_or(0); }

static int64_t layerElements(const Checkpoint &checkpoint) {
  int64_t total = 0;
  for (const Checkpoint::Layer &layer : checkpoint.layers)
    for (const TensorInfo *tensor : layer.params)
      total += tensor ? elements(*tensor) : 0;
  return total;
}

/// 12345678 as 12,345,678.
static std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = int64_t(text.size()) - 3; at > 0; at -= 3)
    text.insert(at, ",");
  return text;
}

static std::string saving(int64_t ours, int64_t bert) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%+.1f", 100.0 * (double(ours) / double(bert) - 1)) << " %";
  return text;
}

void Writer::writeModel(const Checkpoint &checkpoint) {
  const Config &config = checkpoint.config;
  os << "class: " << modelClassName(checkpoint.modelClass, config.family)
     << (config.architecture.empty() ? " (by the names of the tensors)" : " (by config.json)") << "\n";
  if (checkpoint.word)
    os << "embeddings: " << config.vocabSize << " words, " << config.maxPositions << " positions, "
       << config.typeVocabSize << " types, width " << config.embeddingSize << "\n";
  os << "layers: " << config.numLayers << " of width " << config.hiddenSize << "\n";
  const Checkpoint::Layer *previous = nullptr;
  for (auto [i, layer] : llvm::enumerate(checkpoint.layers)) {
    const LayerGeometry &g = layer.geometry;
    if (previous && previous->geometry.heads == g.heads && previous->geometry.headSize == g.headSize)
      continue;
    os << "  from layer " << i << ": " << g.heads.attention << " attention heads ";
    if (config.hasConvHeads())
      os << "and " << g.heads.conv << " convolution heads ";
    os << "of width " << g.headSize;
    if (g.heads.conv > 0)
      os << ", " << g.taps << " taps";
    os << ", feed-forward " << g.intermediate << " in " << g.groups << (g.groups == 1 ? " group" : " groups");
    if (layer.rule)
      os << "; head widths follow the rule of " << headRuleName(*layer.rule);
    os << "\n";
    previous = &layer;
  }
  int64_t total = 0, bytes = 0;
  std::vector<const TensorInfo *> parameters = checkpoint.parameters();
  for (const TensorInfo *tensor : parameters) {
    total += elements(*tensor);
    bytes += tensor->bytes;
  }
  int64_t ours = layerElements(checkpoint);
  int64_t bert = config.numLayers * bertLayerParameters(config.hiddenSize, config.intermediateSize);
  os << "parameters: " << grouped(total) << " in " << parameters.size() << " tensors, " << grouped(bytes)
     << " bytes stored; a BERT of the same size has " << grouped(total - ours + bert) << " ("
     << saving(total, total - ours + bert) << ")\n";
}

void Writer::writeCost(const Checkpoint &checkpoint, MLIRContext &context) {
  OwningOpRef<ModuleOp> module = buildModule(checkpoint, {}, context);
  auto forward = module->lookupSymbol<func::FuncOp>("forward");
  const Config &config = checkpoint.config;
  os << "multiply-accumulates for one sequence:\n";
  llvm::SmallVector<int64_t> lengths = {16, 64, 128, 256, 512};
  if (checkpoint.position) // layers alone know no limit
    llvm::erase_if(lengths, [&](int64_t length) { return length > config.maxPositions; });
  if (lengths.empty())
    lengths.push_back(config.maxPositions);
  for (int64_t length : lengths) {
    FailureOr<FunctionCost> cost = computeCost(forward, /*batch=*/1, length);
    if (failed(cost))
      return;
    int64_t layers = 0;
    forward.walk([&](func::CallOp call) {
      FailureOr<FunctionCost> layer = computeCost(module->lookupSymbol<func::FuncOp>(call.getCallee()), 1, length);
      if (succeeded(layer))
        layers += layer->macs;
    });
    int64_t bert =
        cost->macs - layers + config.numLayers * bertLayerMACs(config.hiddenSize, config.intermediateSize, length);
    os << "  " << llvm::format("%4d", int(length)) << " tokens: " << grouped(cost->macs)
       << "; a BERT of the same size needs " << grouped(bert) << " (" << saving(cost->macs, bert) << ")\n";
  }
}

void Writer::writeTensor(const TensorInfo &tensor, StringRef note) {
  os << "  " << tensor.name << " " << tensor.dtype << " " << shapeText(tensor.shape);
  if (!tensor.storedName.empty())
    os << " stored as " << tensor.storedName;
  if (!tensor.layout.isPlain())
    os << " cut out of " << shapeText(tensor.layout.shape);
  if (tensor.member && tensor.member->deflated)
    os << " deflated";
  os << " in " << llvm::sys::path::filename(tensor.file);
  if (!note.empty())
    os << ": " << note;
  os << "\n";
}

void Writer::writeTensors(const Checkpoint &checkpoint) {
  std::vector<const TensorInfo *> parameters = checkpoint.parameters();
  os << "used: " << parameters.size() << " tensors\n";
  for (const TensorInfo *tensor : parameters)
    writeTensor(*tensor);
  os << "ignored: " << checkpoint.ignored.size() << " tensors\n";
  for (const Checkpoint::Ignored &entry : checkpoint.ignored)
    writeTensor(*entry.tensor, entry.reason);
  os << "missing: 0 tensors\n";
}

/// What names alone tell.
void Writer::writeRefused(const OpenedFiles &files) {
  llvm::StringMap<const TensorInfo *> byName;
  for (const TensorInfo &tensor : files.tensors)
    byName.try_emplace(tensor.name, &tensor);
  llvm::Expected<ModelClass> modelClass = decideModelClass(files.config, byName);
  if (!modelClass) {
    llvm::consumeError(modelClass.takeError());
    os << "found: " << files.tensors.size() << " tensors\n";
    for (const TensorInfo &tensor : files.tensors)
      writeTensor(tensor);
    return;
  }
  os << "class: " << modelClassName(*modelClass, files.config.family) << "\n";
  std::vector<std::string> missing;
  llvm::DenseSet<const TensorInfo *> known;
  // A configuration may claim any number of layers.
  constexpr size_t most = 100'000;
  Config config = files.config;
  config.numLayers.value = std::min<int64_t>(config.numLayers, most / NumLayerParams);
  for (const ParameterName &parameter : listParameterNames(config, *modelClass)) {
    bool found = false;
    for (const std::string &spelling : parameterSpellings(parameter.name, parameter.inBody, config.family))
      if (auto entry = byName.find(spelling); entry != byName.end()) {
        known.insert(entry->second);
        found = true;
      }
    if (!found)
      missing.push_back(parameter.name);
  }
  os << "used by name: " << known.size() << " tensors\n";
  for (const TensorInfo &tensor : files.tensors)
    if (known.contains(&tensor))
      writeTensor(tensor);
  os << "missing: " << missing.size() << " tensors\n";
  constexpr size_t shown = 200;
  for (const std::string &name : llvm::ArrayRef(missing).take_front(shown))
    os << "  " << name << "\n";
  if (missing.size() > shown)
    os << "  ... and " << missing.size() - shown << " more\n";
  os << "other: " << files.tensors.size() - known.size() << " tensors\n";
  for (const TensorInfo &tensor : files.tensors)
    if (!known.contains(&tensor))
      writeTensor(tensor);
}

llvm::Expected<Explanation> explainCheckpoint(StringRef directory, MLIRContext &context) {
  llvm::Expected<OpenedFiles> files = openFiles(directory);
  if (!files)
    return files.takeError();
  Explanation explanation;
  Writer writer(explanation.text);
  OpenedFiles copy = *files;
  llvm::Expected<Checkpoint> checkpoint = resolveCheckpoint(std::move(files->config), std::move(files->tensors));
  if (!checkpoint) {
    explanation.refusal = llvm::toString(checkpoint.takeError());
    writer.writeRefused(copy);
    return explanation;
  }
  writer.writeModel(*checkpoint);
  writer.writeCost(*checkpoint, context);
  writer.writeTensors(*checkpoint);
  for (const std::string &note : copy.notes)
    explanation.text += "note: " + note + "\n";
  return explanation;
}

} // namespace mlir::convbert
