#include "forward/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "base/text.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lmsize {
namespace {

constexpr Int kUnlimited = std::numeric_limits<Int>::max();

// MemAvailable of /proc/meminfo.
Int kernel_leaves() {
  std::ifstream in("/proc/meminfo");
  std::string word;
  Int kib = 0;
  while (in >> word)
    if (word == "MemAvailable:" && in >> kib) return multiply(kib, 1024);
  return kUnlimited;
}

// The control group's limit less what it uses; "max" where it has none.
Int container_leaves() {
  Int limit = 0, used = 0;
  if (!(std::ifstream("/sys/fs/cgroup/memory.max") >> limit)) return kUnlimited;
  if (!(std::ifstream("/sys/fs/cgroup/memory.current") >> used)) return limit;
  return std::max<Int>(0, limit - used);
}

Int process_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  return static_cast<Int>(limit.rlim_cur);
}

}  // namespace

Int available_memory() { return std::min({kernel_leaves(), container_leaves(), process_limit()}); }

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 8 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

std::string memory_text(Int bytes) {
  const double mib = static_cast<double>(bytes) / 0x1p20;
  return mib < 1024 ? decimal(mib) + " MiB" : decimal(mib / 1024) + " GiB";
}

}  // namespace lmsize
