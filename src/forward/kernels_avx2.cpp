#if defined(__AVX2__) && defined(__FMA__)
#define LMSIZE_KERNELS avx2_kernels
#define LMSIZE_KERNELS_NAME "avx2"
#define LMSIZE_VECTOR_BYTES 32
#include "forward/kernels.inc"
#endif
