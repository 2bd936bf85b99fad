#include "lib/Runtime/Model.h"

#include "lib/Runtime/BatchShape.h"
#include "lib/Runtime/Error.h"
#include "lib/Runtime/Inputs.h"
#include "lib/Runtime/Threads.h"

#include <algorithm>
#include <chrono>

using namespace convbert::rt;

/// More threads than any machine has CPUs are a slip of the caller, and libomp would try to make them.
static constexpr int32_t kMaxThreads = 1024;

static int32_t checkedThreads(int32_t threads) {
  if (threads < 0 || threads > kMaxThreads)
    throw InvalidArgument("threads: requires 1 to " + std::to_string(kMaxThreads) +
                          ", or 0 for the available CPUs, but found " + std::to_string(threads));
  return threads == 0 ? std::min(availableCPUs(), kMaxThreads) : threads;
}

template <typename Source>
Model::Code::Code(Description parsed, const Source &source, int32_t threads)
    : description(std::move(parsed)), threads(checkedThreads(threads)), object(source),
      workspaces(std::max(availableCPUs(), 2)) {}

Model::Model(const std::string &text, int32_t threads, const Model *like) {
  Description description = parseDescription(text);
  std::string object = description.object;
  code = std::make_shared<Code>(std::move(description), object, threads);
  pack(like);
}

Model::Model(const std::string &text, const convbert_rt_functions &functions, int32_t threads)
    : code(std::make_shared<Code>(parseDescription(text), functions, threads)) {
  pack(/*like=*/nullptr);
}

Model::Model(const std::string &text, const Arrays &parameters, int32_t threads) {
  Description description = parseDescription(text, /*hasWeights=*/false);
  std::string object = description.object;
  code = std::make_shared<Code>(std::move(description), object, threads);
  pack(parameters);
}

Model::Model(const Model &like, const Arrays &parameters) : code(like.code) { pack(parameters); }

bool Model::packsLike(const Model &other) const {
  const Description &d = code->description, &o = other.code->description;
  if (packedSize != other.packedSize)
    return false;
  if (d.packed || o.packed)
    return d.packed == o.packed;
  int64_t layout = code->object.packedLayout();
  return layout != 0 && layout == other.code->object.packedLayout() && d.weights == o.weights && d.files == o.files;
}

void Model::pack(const Model *like) {
  auto start = std::chrono::steady_clock::now();
  const Description &description = code->description;
  packedSize = code->object.packedBytes();
  if (like && packsLike(*like)) {
    packed = like->packed;
  } else {
    auto made = std::make_shared<Packed>();
    if (description.packed)
      made->file = mapPackedWeights(*description.packed, packedSize);
    else
      made->memory = packWeights(code->object, description, code->threads);
    packed = std::move(made);
  }
  prepackMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void Model::pack(const Arrays &parameters) {
  auto start = std::chrono::steady_clock::now();
  packedSize = code->object.packedBytes();
  auto made = std::make_shared<Packed>();
  made->memory = packArrays(code->object, code->description, parameters, code->threads);
  packed = std::move(made);
  prepackMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Results are written while inputs are still read.
static void requireApart(const std::string &output, const MemRef1D &written, const char *role,
                         const std::vector<ArrayInfo> &others, const std::vector<MemRef1D> &memory) {
  auto begin = [](const MemRef1D &span) { return static_cast<const char *>(span.aligned); };
  for (size_t i = 0; i < memory.size(); ++i)
    if (begin(written) < begin(memory[i]) + memory[i].size && begin(memory[i]) < begin(written) + written.size)
      throw InvalidArgument("output " + output + ": requires memory of its own, but found that of " + role + " " +
                            others[i].name);
}

void Model::forward(int64_t batchSize, int64_t length, const int64_t *lengths, const void *const *inputs,
                    void *const *outputs) {
  const Manifest &m = code->description.manifest;
  const CompiledObject &object = code->object;
  WorkspacePool &workspaces = code->workspaces;
  int32_t threads = code->threads;
  Batch batch{batchSize, length, lengths};
  checkBatch(batch, m.maxPositions, m.inputs.empty() ? "input_ids" : m.inputs.front().name);
  checkInputs(m, batch, inputs);

  WorkspacePool::Lease lease(workspaces);
  Workspace &workspace = *lease;
  fillShape(batch, m.minRowPitch, workspace.shape);

  // All stand-ins first: growing the vector would move those that are already bound.
  size_t absent = std::count(inputs, inputs + m.inputs.size(), nullptr);
  int64_t elements = defaultElements(batch);
  if (workspace.defaults.size() < absent * elements)
    workspace.defaults.resize(absent * elements);
  int64_t *next = workspace.defaults.data();
  workspace.inputs.clear();
  for (size_t i = 0; i < m.inputs.size(); ++i) {
    const void *data = inputs[i];
    if (!data) {
      fillDefault(m.inputs[i], batch, next);
      data = next;
      next += elements;
    }
    workspace.inputs.emplace_back(data, m.inputs[i].bytes(batchSize, length));
  }
  workspace.outputs.clear();
  for (size_t i = 0; i < m.outputs.size(); ++i) {
    int64_t bytes = m.outputs[i].bytes(batchSize, length);
    if (!outputs[i] || bytes < 0)
      throw InvalidArgument("output " + m.outputs[i].name + ": requires an array of " + std::to_string(bytes) +
                            " bytes, but found none");
    MemRef1D written(outputs[i], bytes);
    requireApart(m.outputs[i].name, written, "input", m.inputs, workspace.inputs);
    requireApart(m.outputs[i].name, written, "output", m.outputs, workspace.outputs);
    workspace.outputs.push_back(written);
  }

  MemRef1D shape(workspace.shape.data(), static_cast<int64_t>(workspace.shape.size()));
  int64_t bytes = object.workspaceBytes(shape, threads);
  if (bytes < 0)
    throw Failure("compiled object " + code->description.object + ": requires a workspace size >= 0, but found " +
                  std::to_string(bytes));
  workspaces.reserve(workspace, bytes);
  object.forward(MemRef1D(packedData(), packedSize),
                 MemRef1D(workspace.inputs.data(), static_cast<int64_t>(workspace.inputs.size())),
                 MemRef1D(workspace.outputs.data(), static_cast<int64_t>(workspace.outputs.size())),
                 MemRef1D(workspace.memory.data(), bytes), shape, threads);
  if (packed->file && packed->file->lostPages())
    throw Failure("weight file " + packed->file->path() + " was shortened while the model was in use; load it again");
}
