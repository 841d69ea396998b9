#include "forward/stored_weights.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "forward/mlp.h"

namespace lmsize {
namespace {

// The names of one MLP's matrices; gate and fused are empty where there is none.
struct Names {
  std::string_view gate, up, down, fused;
  Layout layout = Layout::linear;
};

constexpr std::array kGated{
    Names{"gate_proj", "up_proj", "down_proj", ""},
    Names{"w1", "w3", "w2", ""},
    Names{"", "", "down_proj", "gate_up_proj"},
};
constexpr std::array kPlain{
    Names{"", "up_proj", "down_proj", ""},
    Names{"", "fc1", "fc2", ""},
    Names{"", "w1", "w2", ""},
    Names{"", "c_fc", "c_proj", "", Layout::conv1d},
};

[[noreturn]] void fail(const Checkpoint& checkpoint, std::string_view what) {
  throw Error("weights", format_text("{}: {}", checkpoint.path(), what));
}

// What may stand before the names of the layer's tensors in a checkpoint of more than the part.
std::array<std::string, 3> layer_prefixes_of(const MlpPart& part) {
  return {"", part.layer.substr(part.base.size()), part.layer};
}

// What may stand before the names inside the block.
std::array<std::string, 4> prefixes_of(const MlpPart& part) {
  const auto [in_layer, in_base, whole] = layer_prefixes_of(part);
  const std::string block = prefix_of(part.mlp);
  return {"", in_layer + block, in_base + block, whole + block};
}

void rename(Mlp& mlp, const Names& names) {
  mlp.gate = names.gate;
  mlp.up = names.up;
  mlp.down = names.down;
  mlp.fused = names.fused;
  mlp.layout = names.layout;
}

// The part's tensors by their names inside the block.
std::vector<std::string> own_names(const MlpPart& part) {
  std::vector<std::string> names;
  for (const Tensor& tensor : part.tensors()) names.push_back(tensor.name.substr(prefix_of(part.mlp).size()));
  return names;
}

struct Found {
  std::string prefix;  // that stands before most of the part's names; the whole checkpoint's where none is there
  Int present = 0;     // names that are there with it
};

Found find_names(const MlpPart& part, const Checkpoint& checkpoint) {
  const std::vector<std::string> own = own_names(part);
  Found best{prefixes_of(part).back(), 0};
  for (const std::string& prefix : prefixes_of(part)) {
    const Int present =
        std::ranges::count_if(own, [&](const std::string& name) { return checkpoint.find(prefix + name) != nullptr; });
    if (present > best.present) best = {prefix, present};
  }
  return best;
}

// Refuses a matrix or bias that stands among the part's own and is none of them.
void check_unused(const MlpPart& part, const Checkpoint& checkpoint, const std::string& prefix) {
  const std::vector<std::string> own = own_names(part);
  std::set<std::string> known;
  for (const std::string& layer : layer_prefixes_of(part))
    for (const std::string& name : part.others) known.insert(layer + name);
  for (const std::string& name : own) known.insert(prefix + name);
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    const std::string_view name = tensor.name;
    if (!name.starts_with(prefix) || !(name.ends_with(".weight") || name.ends_with(".bias"))) continue;
    if (!known.contains(tensor.name))
      fail(checkpoint, format_text("tensor \"{}\" is not used: the part has {}", escaped(name), fmt::join(own, ", ")));
  }
}

void check_shape(const Checkpoint& checkpoint, const StoredTensor& stored, const Tensor& wanted) {
  std::vector<Int> shape;
  for (const Extent& side : wanted.shape) shape.push_back(side.value());
  if (stored.shape == shape) return;
  const bool turned = shape.size() == 2 && stored.shape == std::vector{shape[1], shape[0]};
  fail(checkpoint, format_text("tensor \"{}\" has shape {}, not {}{}", escaped(stored.name), shape_text(stored.shape),
                               shape_text(shape), turned ? ": it is stored the other way round" : ""));
}

}  // namespace

Mlp named_as_stored(const MlpPart& part, const Checkpoint& checkpoint, std::optional<bool> bias) {
  const std::span<const Names> schemes = part.mlp.gated ? std::span<const Names>(kGated) : kPlain;
  MlpPart candidate = part;
  candidate.mlp.up_bias = candidate.mlp.down_bias = false;
  Mlp best;
  Int most = 0;
  for (const Names& names : schemes) {
    rename(candidate.mlp, names);
    const Found found = find_names(candidate, checkpoint);
    if (found.present <= most) continue;
    most = found.present;
    best = candidate.mlp;
    const auto has_bias = [&](std::string_view name) {
      return checkpoint.find(format_text("{}{}.bias", found.prefix, name)) != nullptr;
    };
    best.up_bias = bias.value_or(has_bias(names.fused.empty() ? names.up : names.fused));
    best.down_bias = bias.value_or(has_bias(names.down));
  }
  if (most == 0)
    fail(checkpoint,
         format_text("no weights of an MLP {}",
                     part.mlp.gated
                         ? "with a gate: gate_proj, up_proj, down_proj; w1, w3, w2; or gate_up_proj, down_proj"
                         : "without a gate: up_proj, down_proj; fc1, fc2; w1, w2; or c_fc, c_proj"));
  return best;
}

Weights stored_weights(const MlpPart& part, const Checkpoint& checkpoint) {
  const std::string prefix = find_names(part, checkpoint).prefix;
  Weights weights;
  for (const Tensor& tensor : part.tensors()) {
    const std::string name = prefix + tensor.name.substr(prefix_of(part.mlp).size());
    const StoredTensor* stored = checkpoint.find(name);
    if (stored != nullptr) {
      check_shape(checkpoint, *stored, tensor);
      weights.add(tensor, checkpoint.read<float>(*stored));
    } else if (tensor.buffer) {
      weights.add(tensor, {initial_value(tensor.name).value()});
    } else {
      fail(checkpoint, format_text("tensor \"{}\" is missing", escaped(name)));
    }
  }
  check_unused(part, checkpoint, prefix);
  return weights;
}

}  // namespace lmsize
