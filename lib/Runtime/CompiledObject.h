// The code that the compiler wrote, in this process.
#pragma once

#include "lib/Runtime/MemRef.h"
#include "lib/Runtime/convbert-rt.h"

#include <string>

namespace convbert::rt {

/// Its five functions.  Tables are memrefs whose elements are MemRef1D.
class CompiledObject {
public:
  /// Loads the file at `path`.  Throws Failure naming the file and, if one is missing, the function.
  explicit CompiledObject(const std::string &path);
  /// Code that is in this process already and stays there.  Throws InvalidArgument if a function is missing.
  explicit CompiledObject(const convbert_rt_functions &functions);
  ~CompiledObject();
  CompiledObject(const CompiledObject &) = delete;
  CompiledObject &operator=(const CompiledObject &) = delete;

  int64_t packedBytes() const { return functions.packed_bytes(); }
  /// Objects with the same number here, other than 0, write the same packed bytes from the same parameters.
  int64_t packedLayout() const { return layout ? layout() : 0; }
  int64_t prepackSteps() const { return functions.prepack_steps(); }
  int64_t workspaceBytes(const MemRef1D &shape, int32_t threads) const {
    return functions.workspace_bytes(&shape, threads);
  }
  void prepack(const MemRef1D &raw, const MemRef1D &packed, int64_t step, int32_t threads) const {
    functions.prepack(&raw, &packed, step, threads);
  }
  void forward(const MemRef1D &packed, const MemRef1D &inputs, const MemRef1D &outputs, const MemRef1D &workspace,
               const MemRef1D &shape, int32_t threads) const {
    functions.forward(&packed, &inputs, &outputs, &workspace, &shape, threads);
  }

private:
  template <typename Fn> void bind(Fn *&function, const char *symbol);

  std::string path;
  void *handle = nullptr;
  convbert_rt_functions functions = {};
  int64_t (*layout)() = nullptr;
};

} // namespace convbert::rt
