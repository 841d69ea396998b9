#include "infer/probe.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "base/format.h"
#include "checkpoint/gguf_names.h"
#include "checkpoint/tensor_names.h"
#include "config/reader.h"

namespace lmsize {
namespace {

void add_tensors(std::vector<Tensor> tensors, bool gguf, const std::string& prefix, std::vector<Tensor>& out) {
  for (Tensor& tensor : tensors) {
    tensor.name = join_names(prefix, tensor.name);
    if (gguf) tensor.name = finished_gguf_name(std::move(tensor.name));
    if (const std::size_t star = tensor.name.find('*'); star != tensor.name.npos) tensor.name.replace(star, 1, "0");
    out.push_back(std::move(tensor));
  }
}

void add_tensors(const std::vector<Placed>& blocks, bool gguf, std::vector<Tensor>& out) {
  for (const Placed& placed : blocks) add_tensors(tensors_of(placed.block), gguf, placed.prefix, out);
}

std::optional<Probe> probe_of(const Architecture& architecture, const StoredNames& stored) {
  auto built = build_config(format_text(R"({{"model_type":"{}"}})", architecture.model_type));
  Probe probe{&architecture};
  if (!built || !probe.add(std::move(built->model), stored) || probe.in_layers.empty()) return std::nullopt;
  const auto present = std::ranges::count_if(
      probe.in_layers, [&](const Tensor& tensor) { return stored.in_layers.contains(tensor.name); });
  probe.fit = static_cast<double>(present) / static_cast<double>(probe.in_layers.size());
  return probe;
}

// Whether a name is that of a tensor, with what stands before the base model's names or without.
bool is_called(std::string_view name, std::string_view whole) {
  if (name.size() >= whole.size()) return name == whole;
  return whole.ends_with(name) && whole[whole.size() - name.size() - 1] == '.';
}

void equate_sides(const Tensor& tensor, const StoredWeight& weight, ShapeEquations& equations) {
  if (weight.flat || weight.shape.size() != tensor.shape.size()) return;
  if (!weight.packing.empty() && weight.shape.size() > 2) return;  // packed experts may lie the other way round
  for (std::size_t i = 0; i < weight.shape.size(); ++i) equations.add(tensor.shape[i], weight.shape[i]);
}

}  // namespace

StoredNames::StoredNames(const Checkpoint& stored, const Inventory& sorted)
    : checkpoint(stored), inventory(sorted), gguf(stored.format() == CheckpointFormat::gguf) {
  std::set<std::pair<std::string_view, Int>> prediction;
  for (const StoredWeight& weight : inventory.weights) {
    const NamePlace place = place_of(weight.name);
    if (place.layer && is_prediction_name(weight.name)) prediction.emplace(place.prefix, *place.layer);
  }
  for (const StoredWeight& weight : inventory.weights) {
    const NamePlace place = place_of(weight.name);
    const bool predicts =
        place.layer ? prediction.contains({place.prefix, *place.layer}) : is_prediction_name(weight.name);
    if (predicts || is_buffer(weight)) continue;
    parameters = lmsize::add(parameters, weight.parameters);
    if (!place.layer) {
      outside.push_back(&weight);
      continue;
    }
    in_layers.emplace(place.rest, &weight);
    n_layers = std::max(n_layers, lmsize::add(*place.layer, 1));
    if (place.rest.find("experts") != place.rest.npos || place.rest.find("_exps") != place.rest.npos)
      first_experts = std::min(first_experts.value_or(*place.layer), *place.layer);
  }
  n_prediction_layers = static_cast<Int>(prediction.size());
}

const std::string* StoredNames::architecture() const {
  const auto at = checkpoint.metadata().find("general.architecture");
  return at == checkpoint.metadata().end() ? nullptr : std::get_if<std::string>(&at->second);
}

std::optional<Int> StoredNames::size(std::string_view key) const {
  const std::string* prefix = architecture();
  if (prefix == nullptr) return std::nullopt;
  const auto at = checkpoint.metadata().find(format_text("{}.{}", *prefix, key));
  const Int* value = at == checkpoint.metadata().end() ? nullptr : std::get_if<Int>(&at->second);
  return value == nullptr || *value < 1 ? std::nullopt : std::optional(*value);
}

bool Probe::add(Model model, const StoredNames& stored) {
  if (model.stacks.size() != 1) return false;
  try {
    if (stored.gguf) model = in_gguf_names(model, stored.checkpoint);
  } catch (const Error&) {
    return false;
  }
  const Stack& stack = model.stacks.front();
  for (const Layer& layer : stack.kinds) add_tensors(tensors_of(layer), stored.gguf, "", in_layers);
  add_tensors(stack.input, stored.gguf, outside);
  add_tensors(stack.output, stored.gguf, outside);
  add_tensors(model.heads, stored.gguf, outside);
  return true;
}

void Probe::equate(const StoredNames& stored, ShapeEquations& equations) const {
  for (const Tensor& tensor : in_layers)
    if (const auto at = stored.in_layers.find(tensor.name); at != stored.in_layers.end())
      equate_sides(tensor, *at->second, equations);
  for (const Tensor& tensor : outside)
    for (const StoredWeight* weight : stored.outside)
      if (is_called(weight->name, tensor.name)) equate_sides(tensor, *weight, equations);
}

std::vector<Probe> probes_for(const StoredNames& stored) {
  constexpr double least_fit = 0.4;
  std::map<std::string_view, Int> family_sizes;
  for (const Architecture& known : language_models()) ++family_sizes[known.family];
  std::vector<Probe> probes;
  for (const Architecture& known : language_models()) {
    const std::string* stated = stored.architecture();
    if (stored.gguf && (stated == nullptr || known.gguf != *stated)) continue;
    if (auto probe = probe_of(known, stored); probe && probe->fit >= least_fit) probes.push_back(*std::move(probe));
  }
  std::ranges::stable_sort(probes, std::greater<>(), [&](const Probe& probe) {
    const Architecture& a = *probe.architecture;
    return std::tuple(probe.fit, !a.gguf.empty(), family_sizes[a.family], a.family == a.model_type);
  });
  return probes;
}

std::optional<BuiltConfig> build_config(const std::string& json) {
  const Document document = Document::parse(json);
  try {
    Reader reader(document);
    BuiltConfig built{build_model(reader), {}};
    for (const Value key : reader.unread()) built.unread.emplace_back(key.key());
    return built;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace lmsize
