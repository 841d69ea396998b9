#include "checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lmsize::open_as_checkpoint(data, size, ".safetensors");
  return 0;
}
