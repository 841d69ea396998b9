// How much memory a pass may take.
#pragma once

#include <string>

#include "base/checked.h"

namespace lmsize {

// Bytes that this process can still allocate without swapping: the least of what the kernel, the container and the
// process's own limit leave.
Int available_memory();

// From here on memory that is freed is kept for what is asked for next: from the system it comes a page at a time,
// which takes longer than what a pass does with it. Where the allocator is not glibc's nothing changes.
void keep_freed_memory();

// "704.63 MiB", "1.2 GiB".
std::string memory_text(Int bytes);

}  // namespace lmsize
