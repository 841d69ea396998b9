#define LMSIZE_KERNELS baseline_kernels
#define LMSIZE_KERNELS_NAME "baseline"
#define LMSIZE_VECTOR_BYTES 16
#include "forward/kernels.inc"
