#if defined(__AVX512F__)
#define LMSIZE_KERNELS avx512_kernels
#define LMSIZE_KERNELS_NAME "avx512"
#define LMSIZE_VECTOR_BYTES 64
#include "forward/kernels.inc"
#endif
