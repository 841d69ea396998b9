// A config as a list of keys.
#pragma once

#include <string>
#include <vector>

#include "config/document.h"

namespace lmsize {

// A value that is no object, or an empty object, at its dotted path.
struct FlatKey {
  std::string key;
  std::string json;  // in one line
};

// Every key of an object and of the objects inside, in the order of the file; those that a later one of the same name
// replaces and notes (keys that begin with `_`) left out.
std::vector<FlatKey> flat_keys(Value object);

// A value as JSON in one line; literals that JSON does not have (NaN) become null.
std::string json_text(Value value);

}  // namespace lmsize
