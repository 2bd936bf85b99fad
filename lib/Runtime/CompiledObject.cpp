#include "lib/Runtime/CompiledObject.h"

#include "lib/Runtime/Error.h"

#include <dlfcn.h>

using namespace convbert::rt;

template <typename Fn> void CompiledObject::bind(Fn *&function, const char *symbol) {
  function = reinterpret_cast<Fn *>(dlsym(handle, symbol));
  if (!function) {
    dlclose(handle);
    throw Failure("compiled object " + path + ": requires the function " + symbol +
                  ", but found none; compile the checkpoint again");
  }
}

CompiledObject::CompiledObject(const std::string &path) : path(path) {
  // A name without a slash would be looked up in the library path.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  handle = dlopen(file.c_str(), RTLD_LOCAL | RTLD_NOW);
  if (!handle) {
    const char *reason = dlerror();
    throw Failure("compiled object cannot be loaded: " + std::string(reason ? reason : path));
  }
  bind(functions.packed_bytes, "_mlir_ciface_packed_bytes");
  bind(functions.prepack_steps, "_mlir_ciface_prepack_steps");
  bind(functions.workspace_bytes, "_mlir_ciface_workspace_bytes");
  bind(functions.prepack, "_mlir_ciface_prepack");
  bind(functions.forward, "_mlir_ciface_forward");
  layout = reinterpret_cast<int64_t (*)()>(dlsym(handle, "_mlir_ciface_packed_layout")); // older objects have none
}

CompiledObject::CompiledObject(const convbert_rt_functions &functions) : functions(functions) {
  if (!functions.packed_bytes || !functions.prepack_steps || !functions.workspace_bytes || !functions.prepack ||
      !functions.forward)
    throw InvalidArgument("functions: requires all five functions of compiled code, but found a null pointer");
}

CompiledObject::~CompiledObject() {
  if (handle)
    dlclose(handle);
}
