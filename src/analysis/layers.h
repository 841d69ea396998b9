// Walks over a model's layers and tensors that analyses share.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace lmsize {

// The layers [first, last] of a part: "0-31", "encoder 5"; in words "layers 0-31", "encoder layer 5".
std::string layer_range(std::string_view part, Int first, Int last);
std::string layers_in_words(std::string_view part, Int first, Int last);

// Calls visit(first, count, kind, times) for neighbouring layers of one kind that run equally often, in order: `times`
// is how often each runs (Stack::repeats).
template <class Visit>
void for_each_run(const Stack& stack, Visit visit) {
  for (const Span& span : stack.spans) {
    std::vector<Int> cuts{span.first, span.first + span.count};
    for (const Repeat& repeat : stack.repeats)
      for (const Int at : {repeat.first, repeat.first + repeat.count})
        if (at > span.first && at < span.first + span.count) cuts.push_back(at);
    std::ranges::sort(cuts);
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      if (cuts[i] == cuts[i + 1]) continue;
      Int times = 1;
      for (const Repeat& repeat : stack.repeats)
        if (cuts[i] >= repeat.first && cuts[i] < repeat.first + repeat.count) times = multiply(times, repeat.times);
      visit(cuts[i], cuts[i + 1] - cuts[i], span.kind, times);
    }
  }
}

}  // namespace lmsize
