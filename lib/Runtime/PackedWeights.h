// From weight files to the layout that the compiled code reads.
#pragma once

#include "lib/Runtime/CompiledObject.h"
#include "lib/Runtime/Manifest.h"
#include "lib/Runtime/MappedFile.h"
#include "lib/Runtime/Memory.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace convbert::rt {

/// Maps the weight files of `description`, packs them with `object` and unmaps them again.  Peak memory is that of the
/// packed weights and about 64 MB of the files.  Throws Failure naming the parameter whose bytes its file does not
/// hold.
Memory packWeights(const CompiledObject &object, const Description &description, int32_t threads);

/// Parameters in memory: address and bytes of each, in the order of the manifest.
using Arrays = std::vector<MemRef1D>;

/// Packs parameters that are in memory.  Throws InvalidArgument naming the one that is not as large as its shape says.
Memory packArrays(const CompiledObject &object, const Description &description, const Arrays &parameters,
                  int32_t threads);

/// Maps the file at `path` as packed weights of `bytes`.  Throws Failure if it is of another size.
std::unique_ptr<MappedFile> mapPackedWeights(const std::string &path, int64_t bytes);

} // namespace convbert::rt
