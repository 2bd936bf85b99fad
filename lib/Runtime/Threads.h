// How many CPUs there are for us.
#pragma once

namespace convbert::rt {

/// CPUs in this process's affinity mask, at most its control group's quota (rounded up), at least 1.
int availableCPUs();

} // namespace convbert::rt
