// Numbers and foreign text as people read them. Independent of any locale.
#pragma once

#include <string>
#include <string_view>

#include "base/checked.h"

namespace lmsize {

// 8030261248 → "8,030,261,248".
std::string grouped(Int n);
// "1 config", "2,000 configs".
std::string counted(Int n, std::string_view noun);

// 8030261248 → "8.03 B"; K, M, B, T are decimal; three significant digits; below 1000 the integer itself.
std::string rounded(double n);

// Bytes in binary units: 141107412992 → "131.42 GiB"; below 1024 "512 B".
std::string binary_size(Int bytes);

// 1.5 → "1.5", 14336.0 → "14336", 10922.666 → "10922.67": at most `decimals` digits after the point, no trailing zeros.
std::string decimal(double x, int decimals = 2);

// part of whole → "70.2 %"; "0.0 %" for a whole of 0.
std::string share(Int part, Int whole);

// Text of foreign origin for a terminal or a log: control characters (C0, DEL, C1) and bytes that are not UTF-8 as \xNN
// or \n \r \t, at most `longest` bytes of it, then "…".
std::string escaped(std::string_view text, std::size_t longest = 200);

// A line of foreign text, or what of it is within some forty characters of the byte at `offset`, and under it a second
// line with a caret below that byte. Control characters and bytes that are not UTF-8 become blanks and U+FFFD.
std::string pointed_at(std::string_view line, std::size_t offset);

// The same text with bytes that are not UTF-8 replaced by U+FFFD, for outputs that must be UTF-8.
std::string valid_utf8(std::string_view text);

// Whether all of text is well-formed UTF-8 (no surrogates, nothing overlong, nothing beyond U+10FFFF).
// Returns the offset of the first bad byte, or npos.
std::size_t first_invalid_utf8(std::string_view text);

}  // namespace lmsize
