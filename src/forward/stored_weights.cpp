#include "forward/stored_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "forward/pass.h"

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

// A way of naming a part's tensors: what a whole checkpoint's names begin with in place of `dropped`.
struct NameScheme {
  std::string dropped;
};

// From the shortest names to the whole checkpoint's.
std::vector<NameScheme> namings_of(const Part& part) {
  std::vector<NameScheme> namings;
  if (part.kind != Part::Kind::model) namings = {{part.block_path()}, {part.path}};
  namings.push_back({part.base});
  namings.push_back({""});
  return namings;
}

std::string name_in(const NameScheme& naming, const std::string& name) {
  return name.starts_with(naming.dropped) ? name.substr(naming.dropped.size()) : name;
}

// Tables that older files store and that today's classes make anew: causal masks, what they put in place of masked
// scores, rotary frequencies, running numbers.
bool is_made_anew(const StoredTensor& tensor) {
  const std::string_view name = tensor.name;
  const bool square = tensor.shape.size() == 4 && tensor.shape[0] == 1 && tensor.shape[1] == 1;
  return (name.ends_with(".bias") && square) || name.ends_with("masked_bias") || name.ends_with("inv_freq") ||
         name.ends_with("position_ids");
}

// The name that the tied head's matrix would have; "" where there is none.
std::string tied_head_name(const Model& model) {
  for (const Placed& placed : model.heads)
    if (const Head* head = std::get_if<Head>(&placed.block); head != nullptr && head->tied)
      return joined(placed.prefix, joined(head->name, "weight"));
  return "";
}

void rename(Mlp& mlp, const Names& names) {
  mlp.gate = names.gate;
  mlp.up = names.up;
  mlp.down = names.down;
  mlp.fused = names.fused;
  mlp.layout = names.layout;
}

struct Found {
  NameScheme naming;  // that most of the part's names are there in; the whole checkpoint's where none is
  Int present = 0;    // names that are there in it
};

Found find_names(const Part& part, const Checkpoint& checkpoint) {
  const std::vector<PartTensor> tensors = part.tensors();
  Found best;
  for (const NameScheme& naming : namings_of(part)) {
    const Int present = std::ranges::count_if(
        tensors, [&](const PartTensor& t) { return checkpoint.find(name_in(naming, t.name)) != nullptr; });
    if (present > best.present) best = {naming, present};
  }
  return best;
}

// Refuses a matrix or bias that stands among a block's or layer's own and is none of them.
void check_unused(const Part& part, const Checkpoint& checkpoint, const NameScheme& naming) {
  std::set<std::string> known;
  std::vector<std::string> own;
  for (const PartTensor& tensor : part.tensors()) {
    own.push_back(tensor.name.substr(part.block_path().size()));
    known.insert(name_in(naming, tensor.name));
  }
  for (const NameScheme& any : namings_of(part))
    for (const std::string& name : part.others) known.insert(name_in(any, part.path + name));
  const std::string prefix = name_in(naming, part.block_path());
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    const std::string_view name = tensor.name;
    if (!name.starts_with(prefix) || !(name.ends_with(".weight") || name.ends_with(".bias"))) continue;
    if (!known.contains(tensor.name) && !is_made_anew(tensor))
      fail(checkpoint, format_text("tensor \"{}\" is not used: the part has {}", escaped(name), fmt::join(own, ", ")));
  }
}

// Refuses a tensor of a whole checkpoint that the model does not have.
void check_unknown(const Part& part, const Checkpoint& checkpoint, const NameScheme& naming) {
  std::set<std::string> known;
  for (const PartTensor& tensor : part.tensors()) known.insert(name_in(naming, tensor.name));
  const auto module_layers = [&](std::string_view name) {
    return std::ranges::any_of(part.model->mtp, [&](const Stack& stack) {
      return std::ranges::any_of(stack.spans, [&](const Span& span) {
        for (Int i = span.first; i < span.first + span.count; ++i)
          if (name.starts_with(name_in(naming, format_text("{}.{}.", stack.prefix, i)))) return true;
        return false;
      });
    });
  };
  for (const StoredTensor& tensor : checkpoint.tensors())
    if (!known.contains(tensor.name) && !is_made_anew(tensor) && !module_layers(tensor.name) &&
        tensor.name != tied_head_name(*part.model))
      fail(checkpoint,
           format_text("tensor \"{}\" {} is not the model's", escaped(tensor.name), shape_text(tensor.shape)));
}

void check_shape(const Checkpoint& checkpoint, const StoredTensor& stored, const PartTensor& wanted) {
  std::vector<Int> shape;
  for (const Extent& side : wanted.shape) shape.push_back(side.value());
  if (stored.shape == shape) return;
  const bool turned = shape.size() == 2 && stored.shape == std::vector{shape[1], shape[0]};
  fail(checkpoint, format_text("tensor \"{}\" has shape {}, not {}{}", escaped(stored.name), shape_text(stored.shape),
                               shape_text(shape), turned ? ": it is stored the other way round" : ""));
}

std::vector<float> read_finite(const Checkpoint& checkpoint, const StoredTensor& stored) {
  std::vector<float> values = checkpoint.read<float>(stored);
  const auto bad = std::ranges::find_if_not(values, [](float v) { return std::isfinite(v); });
  if (bad != values.end())
    fail(checkpoint, format_text("tensor \"{}\" holds {} at element {}", escaped(stored.name),
                                 std::isnan(*bad) ? "NaN" : "an infinity", bad - values.begin()));
  return values;
}

// Where a tied head is stored all the same, it must be the embedding.
void check_tied_head(const Part& part, const Checkpoint& checkpoint, Weights& weights) {
  const StoredTensor* head = checkpoint.find(tied_head_name(*part.model));
  if (head == nullptr) return;
  const std::string embedding = token_table(*part.model).name;
  const std::vector<float> values = read_finite(checkpoint, *head);
  if (!std::ranges::equal(values, weights.vector(embedding)))
    fail(checkpoint, format_text("tensor \"{}\" is not equal to \"{}\", to which the config ties it",
                                 escaped(head->name), escaped(embedding)));
}

}  // namespace

Mlp named_as_stored(const Part& part, const Checkpoint& checkpoint, std::optional<bool> bias) {
  const Mlp& given = std::get<Mlp>(part.block);
  const std::span<const Names> schemes = given.gated ? std::span<const Names>(kGated) : kPlain;
  Part candidate = part;
  Mlp& mlp = std::get<Mlp>(candidate.block);
  mlp.up_bias = mlp.down_bias = false;
  Mlp best;
  Int most = 0;
  for (const Names& names : schemes) {
    rename(mlp, names);
    const Found found = find_names(candidate, checkpoint);
    if (found.present <= most) continue;
    most = found.present;
    best = mlp;
    const auto has_bias = [&](std::string_view name) {
      return checkpoint.find(name_in(found.naming, format_text("{}{}.bias", part.block_path(), name))) != nullptr;
    };
    best.up_bias = bias.value_or(has_bias(names.fused.empty() ? names.up : names.fused));
    best.down_bias = bias.value_or(has_bias(names.down));
  }
  if (most == 0)
    fail(checkpoint,
         format_text("no weights of an MLP {}",
                     given.gated ? "with a gate: gate_proj, up_proj, down_proj; w1, w3, w2; or gate_up_proj, down_proj"
                                 : "without a gate: up_proj, down_proj; fc1, fc2; w1, w2; or c_fc, c_proj"));
  return best;
}

Weights stored_weights(const Part& part, const Checkpoint& checkpoint) {
  const NameScheme naming = find_names(part, checkpoint).naming;
  Weights weights;
  for (const PartTensor& tensor : part.tensors()) {
    const std::string name = name_in(naming, tensor.name);
    const StoredTensor* stored = checkpoint.find(name);
    if (stored != nullptr) {
      check_shape(checkpoint, *stored, tensor);
      weights.add(tensor, read_finite(checkpoint, *stored));
    } else if (const auto initial = tensor.buffer ? initial_value(tensor.name) : std::nullopt) {
      weights.add(tensor, {*initial});
    } else {
      fail(checkpoint, format_text("tensor \"{}\" is missing", escaped(name)));
    }
  }
  if (part.kind != Part::Kind::model) {
    check_unused(part, checkpoint, naming);
  } else {
    check_unknown(part, checkpoint, naming);
    check_tied_head(part, checkpoint, weights);
  }
  weights.forget();
  return weights;
}

}  // namespace lmsize
