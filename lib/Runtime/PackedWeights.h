// From weight files to the layout that the compiled code reads.
#pragma once

#include "lib/Runtime/CompiledObject.h"
#include "lib/Runtime/Manifest.h"
#include "lib/Runtime/Memory.h"

namespace convbert::rt {

/// Maps the weight files of `description`, packs them with `object` and unmaps them again.  Peak memory is that of the
/// packed weights and about 64 MB of the files.  Throws Failure naming the parameter whose bytes its file does not
/// hold.
Memory packWeights(const CompiledObject &object, const Description &description, int32_t threads);

} // namespace convbert::rt
