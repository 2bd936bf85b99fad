// A loaded model: compiled object, packed weights, workspaces.
#pragma once

#include "lib/Runtime/CompiledObject.h"
#include "lib/Runtime/Manifest.h"
#include "lib/Runtime/MappedFile.h"
#include "lib/Runtime/Memory.h"
#include "lib/Runtime/PackedWeights.h"
#include "lib/Runtime/WorkspacePool.h"

#include <cstdint>
#include <memory>
#include <string>

namespace convbert::rt {

class Model {
public:
  /// Loads what `description` (convbert_rt_load()) names.  threads: 0 for the available CPUs.  The packed weights are
  /// those of `like`, if there is one and they are the same.
  Model(const std::string &description, int32_t threads, const Model *like = nullptr);
  /// The same with `functions` for its compiled code (convbert_rt_load_functions()).
  Model(const std::string &description, const convbert_rt_functions &functions, int32_t threads);
  /// The same with parameters in memory (convbert_rt_load_arrays()).
  Model(const std::string &description, const Arrays &parameters, int32_t threads);
  /// The code, threads and workspaces of `like` with parameters of its own.
  Model(const Model &like, const Arrays &parameters);

  /// See convbert_rt_forward().  Re-entrant.
  void forward(int64_t batch, int64_t length, const int64_t *lengths, const void *const *inputs, void *const *outputs);

  const Manifest &manifest() const { return code->description.manifest; }
  const std::string &manifestText() const { return code->description.manifestText; }
  int32_t threadCount() const { return code->threads; }
  const char *packedData() const { return packed->file ? packed->file->data() : packed->memory.data(); }
  int64_t packedBytes() const { return packedSize; }
  int64_t workspaceBytes() const { return static_cast<int64_t>(code->workspaces.heldBytes()); }
  double prepackMilliseconds() const { return prepackMs; }

private:
  /// What does not depend on the parameters.
  struct Code {
    template <typename Source> Code(Description description, const Source &source, int32_t threads);

    Description description;
    int32_t threads;
    CompiledObject object;
    WorkspacePool workspaces;
  };

  /// One of the two holds the bytes.
  struct Packed {
    Memory memory;
    std::unique_ptr<MappedFile> file;
  };

  /// Makes packedData() hold the packed weights.
  void pack(const Model *like);
  void pack(const Arrays &parameters);
  /// Whether the packed weights of `other` are what this model would pack.
  bool packsLike(const Model &other) const;

  /// Shared by models that differ in their parameters.
  std::shared_ptr<Code> code;
  /// Shared by the models of one checkpoint.
  std::shared_ptr<const Packed> packed;
  int64_t packedSize = 0;
  double prepackMs = 0;
};

} // namespace convbert::rt
