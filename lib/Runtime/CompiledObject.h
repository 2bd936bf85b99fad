// The shared object that the compiler wrote, loaded into this process.
#pragma once

#include "lib/Runtime/MemRef.h"

#include <string>

namespace convbert::rt {

/// Its five functions.  Tables are memrefs whose elements are MemRef1D.
class CompiledObject {
public:
  /// Loads the file at `path`.  Throws Failure naming the file and, if one is missing, the function.
  explicit CompiledObject(const std::string &path);
  ~CompiledObject();
  CompiledObject(const CompiledObject &) = delete;
  CompiledObject &operator=(const CompiledObject &) = delete;

  int64_t packedBytes() const { return packedBytesFn(); }
  int64_t prepackSteps() const { return prepackStepsFn(); }
  int64_t workspaceBytes(const MemRef1D &shape, int32_t threads) const { return workspaceBytesFn(&shape, threads); }
  void prepack(const MemRef1D &raw, const MemRef1D &packed, int64_t step, int32_t threads) const {
    prepackFn(&raw, &packed, step, threads);
  }
  void forward(const MemRef1D &packed, const MemRef1D &inputs, const MemRef1D &outputs, const MemRef1D &workspace,
               const MemRef1D &shape, int32_t threads) const {
    forwardFn(&packed, &inputs, &outputs, &workspace, &shape, threads);
  }

private:
  template <typename Fn> void bind(Fn *&function, const char *symbol);

  std::string path;
  void *handle = nullptr;
  int64_t (*packedBytesFn)() = nullptr;
  int64_t (*prepackStepsFn)() = nullptr;
  int64_t (*workspaceBytesFn)(const MemRef1D *, int32_t) = nullptr;
  void (*prepackFn)(const MemRef1D *, const MemRef1D *, int64_t, int32_t) = nullptr;
  void (*forwardFn)(const MemRef1D *, const MemRef1D *, const MemRef1D *, const MemRef1D *, const MemRef1D *,
                    int32_t) = nullptr;
};

} // namespace convbert::rt
