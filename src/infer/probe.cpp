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

constexpr std::string_view kDecoder = "ForCausalLM";

// The class name in two: what only the task decides is behind.
std::pair<std::string_view, std::string_view> split_class(std::string_view name) {
  for (const std::string_view suffix : {kDecoder, std::string_view("LMHeadModel"), std::string_view("ForMaskedLM"),
                                        std::string_view("ForConditionalGeneration"), std::string_view("MTModel")})
    if (name.ends_with(suffix)) return {name.substr(0, name.size() - suffix.size()), suffix};
  return {name, {}};
}

std::optional<Probe> probe_of(const Architecture& architecture, const StoredNames& stored) {
  Probe probe{&architecture};
  std::tie(probe.class_stem, probe.class_suffix) = split_class(architecture.language_class);
  const auto build = [&] {
    auto built = build_config(format_text(R"({{"model_type":"{}","architectures":["{}{}"]}})", architecture.model_type,
                                          probe.class_stem, probe.class_suffix));
    return built && probe.add(std::move(built->model), stored);
  };
  if (!build()) {  // of encoder and decoder: the decoder by itself may be one
    if (probe.class_suffix == kDecoder) return std::nullopt;
    probe.class_suffix = kDecoder;
    if (!build()) return std::nullopt;
  }
  if (probe.in_layers.empty()) return std::nullopt;
  const auto present = std::ranges::count_if(
      probe.in_layers, [&](const Tensor& tensor) { return stored.in_layers.contains(tensor.name); });
  probe.buffers = std::ranges::count_if(
      probe.in_layers, [&](const Tensor& tensor) { return stored.buffers_in_layers.contains(tensor.name); });
  probe.fit = static_cast<double>(present + probe.buffers) / static_cast<double>(probe.in_layers.size());
  return probe;
}

// Whether a name is that of a tensor, with what stands before the base model's names or without.
bool is_called(std::string_view name, std::string_view whole) {
  if (name.size() >= whole.size()) return name == whole;
  return whole.ends_with(name) && whole[whole.size() - name.size() - 1] == '.';
}

// Whether a tensor may be stored so, whichever way round a packed one lies.
bool fits(const Tensor& tensor, const StoredWeight& weight) {
  if (!weight.packing.empty() || weight.shape.size() != tensor.shape.size()) return true;
  return std::equal(tensor.shape.begin(), tensor.shape.end(), weight.shape.begin(),
                    [](const Extent& side, Int stored) { return side.value() == stored; });
}

// "mlp.experts.7.up_proj.weight" as "mlp.experts.0.up_proj.weight".
std::string without_numbers(std::string_view name) {
  std::string made;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    if (at > 0) made += '.';
    made += number ? std::string_view("0") : part;
    at = end + 1;
  }
  return made;
}

void equate_sides(const Tensor& tensor, const StoredWeight& weight, ShapeEquations& equations) {
  if (weight.flat && tensor.shape.size() == 2)
    return equations.add_product(tensor.shape[0], tensor.shape[1], weight.parameters);
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
    if (predicts) continue;
    if (weight.buffer) {
      buffers = lmsize::add(buffers, weight.parameters);
      if (place.layer) buffers_in_layers.insert(place.rest);
      continue;
    }
    parameters = lmsize::add(parameters, weight.parameters);
    if (!place.layer) {
      outside.push_back(&weight);
      continue;
    }
    in_layers.emplace(place.rest, &weight);
    in_any_layer.insert(without_numbers(place.rest));
    stacks.insert(place.prefix);
    n_layers = std::max(n_layers, lmsize::add(*place.layer, 1));
    layer_numbers.insert(*place.layer);
    if (*place.layer >= static_cast<Int>(kMostLayers)) continue;
    layers.resize(std::max(layers.size(), static_cast<std::size_t>(*place.layer) + 1));
    StoredLayer& layer = layers[static_cast<std::size_t>(*place.layer)];
    const auto holds = [&](std::string_view word) { return place.rest.find(word) != place.rest.npos; };
    if (holds("experts.") || holds("_exps.") || holds("ffn_gate_inp.")) layer.experts = true;
    if (holds("linear_attn.")) layer.linear_attention = true;
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

std::size_t Probe::apart(const StoredNames& stored) const {
  std::set<std::string> ours;
  for (const Tensor& tensor : in_layers)
    if (!tensor.buffer) ours.insert(without_numbers(tensor.name));
  auto names = static_cast<std::size_t>(
      std::ranges::count_if(ours, [&](const std::string& name) { return !stored.in_any_layer.contains(name); }) +
      std::ranges::count_if(stored.in_any_layer, [&](const std::string& name) { return !ours.contains(name); }));
  const auto is_stored = [&](const Tensor& tensor) {
    return tensor.buffer || std::ranges::any_of(stored.outside, [&](const StoredWeight* weight) {
             return is_called(weight->name, tensor.name);
           });
  };
  const auto is_ours = [&](const StoredWeight* weight) {
    return std::ranges::any_of(outside, [&](const Tensor& tensor) { return is_called(weight->name, tensor.name); });
  };
  const auto shapes = static_cast<std::size_t>(std::ranges::count_if(in_layers, [&](const Tensor& tensor) {
    const auto at = stored.in_layers.find(tensor.name);
    return at != stored.in_layers.end() && !fits(tensor, *at->second);
  }));
  names += outside.size() - static_cast<std::size_t>(std::ranges::count_if(outside, is_stored));
  names += stored.outside.size() - static_cast<std::size_t>(std::ranges::count_if(stored.outside, is_ours));
  return 2 * names + shapes;
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
    return std::tuple(probe.fit, probe.buffers, !a.gguf.empty(), family_sizes[a.family], a.family == a.model_type);
  });
  return probes;
}

std::optional<BuiltConfig> build_config(const std::string& json) {
  const Document document = Document::parse(json);
  try {
    Reader reader(document);
    BuiltConfig built{build_model(reader), {}, {}};
    built.asked.insert(reader.asked().begin(), reader.asked().end());
    for (const Value key : reader.unread()) built.unread.emplace_back(key.key());
    return built;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace lmsize
