#include "checkpoint/summary.h"

#include <algorithm>
#include <functional>

namespace lmsize {
namespace {

void count_in(Tally& tally, Int elements, Int bytes) {
  ++tally.tensors;
  tally.elements = add(tally.elements, elements);
  tally.bytes = add(tally.bytes, bytes);
}

DtypeTally& alike(std::vector<DtypeTally>& tallies, const StoredWeight& weight) {
  const std::string_view dtype = name_of(weight.stored->dtype);
  const auto at = std::ranges::find_if(tallies, [&](const DtypeTally& t) {
    return t.dtype == dtype && t.packing == weight.packing && t.quantized == weight.quantized;
  });
  return at != tallies.end() ? *at : tallies.emplace_back(DtypeTally{dtype, weight.packing, weight.quantized});
}

}  // namespace

CheckpointSummary summary_of(const Checkpoint& checkpoint, const Inventory& inventory) {
  CheckpointSummary made;
  made.format = checkpoint.format();
  made.files = static_cast<Int>(checkpoint.files().size());
  made.tensors = static_cast<Int>(checkpoint.tensors().size());
  for (const StoredTensor& tensor : checkpoint.tensors()) made.bytes = add(made.bytes, tensor.bytes());
  for (const StoredTensor* tensor : inventory.quantization) count_in(made.scales, tensor->elements, tensor->bytes());
  for (const StoredWeight& weight : inventory.weights) {
    const Int bytes = weight.stored->bytes();
    if (weight.buffer) {
      count_in(made.buffers, weight.parameters, bytes);
      continue;
    }
    count_in(alike(made.dtypes, weight).tally, weight.parameters, bytes);
  }
  std::ranges::stable_sort(made.dtypes, std::greater<>(), [](const DtypeTally& t) { return t.tally.bytes; });
  return made;
}

}  // namespace lmsize
