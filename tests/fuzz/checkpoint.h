// What both fuzz targets do: the bytes as a file, its header read, and all that is made of a header.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "checkpoint/compare.h"
#include "checkpoint/stored_model.h"
#include "checkpoint/summary.h"

namespace lmsize {

// Any Error is a right answer; a crash, a hang, an InternalError or a place outside the file is a finding.
inline void open_as_checkpoint(const std::uint8_t* data, std::size_t size, const std::string& suffix) {
  const char* folder = std::getenv("TMPDIR");
  static const std::string path =
      std::string(folder != nullptr ? folder : "/dev/shm") + "/lmsize-fuzz-" + std::to_string(::getpid()) + suffix;
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const Checkpoint checkpoint(path);
    for (const StoredTensor& tensor : checkpoint.tensors())
      if (tensor.begin < 0 || tensor.begin > tensor.end || tensor.end > static_cast<Int>(size) || tensor.elements < 0)
        std::abort();
    const Inventory inventory = inventory_of(checkpoint);
    summary_of(checkpoint, inventory);
    compare(stored_model(inventory), checkpoint, inventory);
  } catch (const Error&) {
  }
}

}  // namespace lmsize
