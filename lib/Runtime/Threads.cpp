#include "lib/Runtime/Threads.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sched.h>
#include <string>
#include <thread>

using namespace convbert;

/// CPUs of one cpu.max file ("200000 100000", "max 100000"); infinity without a limit.
static double readQuota(const std::string &path) {
  std::ifstream file(path);
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0)
    return std::numeric_limits<double>::infinity();
  return std::strtod(quota.c_str(), nullptr) / period;
}

/// The tightest quota from this process's control group up to the root.
static double groupQuota() {
  double quota = readQuota("/sys/fs/cgroup/cpu.max");
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::", 0) != 0)
      continue;
    for (std::string path = line.substr(3); path.size() > 1; path.resize(path.find_last_of('/')))
      quota = std::min(quota, readQuota("/sys/fs/cgroup" + path + "/cpu.max"));
  }
  // Control groups of version 1; -1 is no limit.
  double legacyQuota = 0, legacyPeriod = 0;
  std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> legacyQuota;
  std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> legacyPeriod;
  if (legacyQuota > 0 && legacyPeriod > 0)
    quota = std::min(quota, legacyQuota / legacyPeriod);
  return quota;
}

int rt::availableCPUs() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  int cpus = sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask)
                                                            : static_cast<int>(std::thread::hardware_concurrency());
  double quota = groupQuota();
  if (quota < cpus)
    cpus = static_cast<int>(std::ceil(quota));
  return std::max(cpus, 1);
}
