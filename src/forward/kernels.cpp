#include "forward/kernels.h"

namespace lmsize {

extern const Kernels baseline_kernels;
#if defined(__x86_64__)
extern const Kernels avx2_kernels, avx512_kernels;
#endif

KernelList all_kernels() {
  KernelList all{{&baseline_kernels}, 1};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.list[all.n++] = &avx2_kernels;
  if (__builtin_cpu_supports("avx512f")) all.list[all.n++] = &avx512_kernels;
#endif
  return all;
}

const Kernels& kernels() {
  static const KernelList all = all_kernels();
  return *all.list[all.n - 1];
}

}  // namespace lmsize
