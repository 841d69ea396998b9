// The whole program: what main() calls and what tests call.
#pragma once

#include <iosfwd>
#include <span>

namespace lmsize::cli {

// Runs one command line (args without the program's name). Results go to `out`, warnings and errors to `err`.
// Returns the exit status: 0 done; 1 done, with errors, differences or (with --strict) warnings; 2 wrong usage;
// 3 an input could not be read or used, or the output not be written.
int run(std::span<const char* const> args, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace lmsize::cli
