// A model_type that is not known is a known one under a name of its own more often than a new layout, and the keys tell
// which: each architecture asks for some keys, and what is asked for by few says much. So every architecture gets a
// surprise, the negative logarithm of how likely the config is as one of its own, and a total is believed as much as
// all architectures together that come to it.

#include "arch/nearest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include "arch/class_name.h"
#include "arch/common.h"
#include "arch/families.h"
#include "base/spelling.h"
#include "base/text.h"
#include "config/built_in.h"

namespace lmsize {
namespace {

// Surprises. Measured on the reference library's configs under other names: the outcome hardly moves when one of them
// is halved or doubled.
constexpr double kUnread = 2;          // the config has a key that others read and this one does not; and the rarity
constexpr double kMissed = 0.3;        // this one reads a key that the config does not have; times 1 + the rarity
constexpr double kUnusual = 2;         // a text or a number is not the class's default
constexpr double kOtherName = 5;       // the name sounds like another architecture's
constexpr double kHopeless = 5;        // so much more than another's keys: not read at all
constexpr double kNewLayout = 8;       // of unread keys alone, more than one odd key: none of the known ones
constexpr double kLikely = 0.5;        // belief in a total that is enough to count it
constexpr double kNearlyAll = 0.9;     // of the belief
constexpr double kWorthNaming = 0.05;  // belief in another total
constexpr double kNearlySame = 0.01;   // difference of totals that may be left open

// What any config of the reference library may have, whatever its class.
constexpr std::array<std::string_view, 8> kGeneralKeys{
    "add_cross_attention", "architectures", "cross_attention_hidden_size",
    "initializer_range",   "is_decoder",    "is_encoder_decoder",
    "model_type",          "pad_token_id"};

constexpr std::size_t kNoRead = static_cast<std::size_t>(-1);  // of a key that is asked for only to be ignored

// A layout that configs can be of.
struct Layout {
  const Architecture* known = nullptr;
  std::size_t built_in{};     // how many built-in models have it
  double missed = 0;          // its surprise at a config without keys
  bool reads_nothing = true;  // false: it refuses such a config, and what it asks for is not known

  // How much likelier than a layout without built-in models, as a logarithm.
  double commonness() const { return std::log(1 + static_cast<double>(built_in)); }
};

// A key that some layouts ask for.
struct AskedKey {
  struct Ask {
    std::size_t layout, read;  // places in the catalogue
  };
  std::vector<Ask> asks{};
  double rarity = 0;  // the logarithm of how many times fewer ask for it than there are

  double unread() const { return kUnread + rarity; }
  double missed() const { return kMissed * (1 + rarity); }
};

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// All layouts and what they ask for, from having each architecture read a config without keys.
struct Catalogue {
  Catalogue();
  const AskedKey* find(std::string_view key) const {
    const auto at = keys.find(key);
    return at == keys.end() ? nullptr : &at->second;
  }

  std::vector<Layout> layouts;                                            // one for each function that builds them
  std::unordered_map<std::string, AskedKey, Hash, std::equal_to<>> keys;  // without those that any config may have
  std::vector<double> reads;  // the surprise at finding nothing under any name of a read
  std::vector<std::pair<std::string, const Architecture*>> names;  // folded, of types and classes
};

Catalogue::Catalogue() {
  for (const Architecture& known : language_models()) {
    for (const std::string_view name : {known.model_type, split_class(known.language_class).stem})
      names.emplace_back(folded(name), &known);
    if (known.composite) continue;
    const auto same = std::ranges::find(layouts, known.build, [](const Layout& l) { return l.known->build; });
    if (same == layouts.end())
      layouts.push_back({&known});
    else if (known.model_type == known.family)
      same->known = &known;
  }
  for (const BuiltIn& model : built_in_models()) {
    const Document document = Document::parse(std::string(model.json));
    const Architecture* known = find_architecture(document.root().member("model_type").text());
    for (Layout& layout : layouts)
      if (known != nullptr && layout.known->build == known->build) ++layout.built_in;
  }
  const Document nothing = Document::parse("{}");
  std::vector<std::pair<std::size_t, std::string>> first_names;  // beside reads: the layout, the first name of the read
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    // Whether this is the first time that the layout asks for the key.
    const auto ask = [&](std::string_view key, std::size_t read) {
      auto at = keys.find(key);
      if (at == keys.end()) at = keys.try_emplace(std::string(key)).first;
      std::vector<AskedKey::Ask>& asks = at->second.asks;
      if (!asks.empty() && asks.back().layout == i) return false;
      asks.push_back({i, read});
      return true;
    };
    Reader config(nothing);
    Model model;
    place_class(*layouts[i].known, model);
    try {
      layouts[i].known->build(config, model);
    } catch (const Error&) {
      layouts[i].reads_nothing = false;
    }
    for (const auto& names : config.missed()) {
      bool first = false;
      for (const std::string_view key : names) first = ask(key, first_names.size()) || first;
      if (first) first_names.emplace_back(i, names.front());
    }
    for (const std::string_view key : config.asked()) ask(key, kNoRead);
  }
  for (auto& [key, asked] : keys)
    asked.rarity = std::log(static_cast<double>(layouts.size()) / static_cast<double>(asked.asks.size()));
  for (const auto& [layout, name] : first_names) {
    reads.push_back(find(name)->missed());
    layouts[layout].missed += reads.back();
  }
  for (const std::string_view key : kGeneralKeys) keys.erase(std::string(key));
}

// Built when the first config needs it: that takes a few milliseconds.
const Catalogue& catalogue() {
  static const Catalogue made;
  return made;
}

// The layouts that the names of the keys do not rule out.
std::vector<const Layout*> plausible_layouts(Value object) {
  const Catalogue& all = catalogue();
  std::vector<double> surprises;
  for (const Layout& layout : all.layouts) surprises.push_back(layout.missed - layout.commonness());
  std::vector<bool> found(all.reads.size());
  for (Value member = object.first_child(); member; member = member.next()) {
    const AskedKey* key = member.shadowed() ? nullptr : all.find(member.key());
    if (key == nullptr) continue;
    for (const auto& [layout, read] : key->asks) {
      surprises[layout] -= key->unread();
      if (read == kNoRead || found[read]) continue;
      surprises[layout] -= all.reads[read];
      found[read] = true;
    }
  }
  // The surprise at all keys that are there would be the same for each, and is left out.
  const double most = std::ranges::min(surprises) + kHopeless;
  std::vector<const Layout*> plausible;
  for (std::size_t i = 0; i < surprises.size(); ++i)
    if (surprises[i] <= most || !all.layouts[i].reads_nothing) plausible.push_back(&all.layouts[i]);
  return plausible;
}

Int parameters(const std::vector<Tensor>& tensors) {
  Int sum = 0;
  for (const Tensor& tensor : tensors)
    if (!tensor.buffer) sum = add(sum, tensor.parameters());
  return sum;
}

Int parameters(const std::vector<Placed>& blocks) {
  Int sum = 0;
  for (const Placed& placed : blocks)
    if (placed.stored) sum = add(sum, parameters(tensors_of(placed.block, Naming::none)));
  return sum;
}

Int parameters(const Model& model) {
  Int sum = parameters(model.heads);
  for (const std::vector<Stack>* stacks : {&model.stacks, &model.towers})
    for (const Stack& stack : *stacks) {
      sum = add(sum, add(parameters(stack.input), parameters(stack.output)));
      for (const Span& span : stack.spans)
        sum = add(sum, multiply(span.count, parameters(tensors_of(stack.kinds[span.kind], Naming::none))));
    }
  return sum;
}

// A config as read by one architecture.
struct Reading {
  const Layout* layout = nullptr;
  double surprise = 0;
  double unread = 0;                   // the part of it that is of unread keys
  std::vector<std::string> left{};     // those keys, and others that look like sizes
  std::vector<std::string> missing{};  // main sizes that are not given
  bool leaves_size = false;            // one of the unread keys looks like a size
  Int total = 0;
};

// Nothing where the architecture refuses the config.
std::optional<Reading> read_as(const Layout& layout, const Reader& config, Model model) {
  const Catalogue& all = catalogue();
  const Architecture& known = *layout.known;
  Reader trial = config.fresh();
  trial.ignore({"model_type", "architectures"});
  place_class(known, model);
  Reading reading{&layout};
  try {
    known.build(trial, model);
    trial.finish(known.model_type);
    reading.total = parameters(model);
  } catch (const Error&) {
    return std::nullopt;
  } catch (const UsageError&) {  // a flag that it has no place for
    return std::nullopt;
  }
  for (const Value value : trial.unread())
    if (const AskedKey* key = all.find(value.key())) {
      reading.unread += key->unread();
      reading.left.emplace_back(value.key());
    }
  for (const Diagnostic& guess : trial.log().assumptions) {
    if (guess.rule == "default-size") reading.missing.push_back(guess.key);
    if (guess.rule != "unread-size-key") continue;
    reading.leaves_size = true;
    if (all.find(guess.key) == nullptr) reading.left.push_back(guess.key);
  }
  reading.surprise = reading.unread + kUnusual * static_cast<double>(trial.unusual());
  for (const auto& names : trial.missed())
    if (const AskedKey* key = all.find(names.front())) reading.surprise += key->missed();
  return reading;
}

// The names of types, for suggestions.
std::vector<std::string_view> known_types() {
  std::vector<std::string_view> types;
  for (const Architecture& known : architectures()) types.push_back(known.model_type);
  return types;
}

// The architecture whose name is the longest, of at least four letters, in the config's type or class ("my_llama"), or
// the one that the type may be a slip of the pen for.
const Architecture* sounds_like(const Model& model) {
  const std::string type = folded(model.model_type), of_class = folded(split_class(model.architecture).stem);
  const Architecture* meant = nullptr;
  std::size_t longest = 3;
  for (const auto& [name, known] : catalogue().names)
    if (name.size() > longest && (type.find(name) != type.npos || of_class.find(name) != of_class.npos)) {
      meant = known;
      longest = name.size();
    }
  return meant != nullptr ? meant : find_architecture(nearest(model.model_type, known_types()));
}

// A total, and a reading that comes to it: of those that fit best the one of the commonest layout.
struct Candidate {
  Reading reading;
  double belief = 0;  // of 1
};

// Most believed first.
std::vector<Candidate> candidates_of(const Reader& config, const Model& model) {
  std::vector<Reading> readings;
  const Architecture* meant = sounds_like(model);
  for (const Layout* layout : plausible_layouts(config.objects().front())) {
    auto reading = read_as(*layout, config, model);
    if (!reading) continue;
    reading->surprise -= layout->commonness();
    if (meant != nullptr && meant->build != layout->known->build) reading->surprise += kOtherName;
    readings.push_back(std::move(*reading));
  }
  // Of equals the one that a family is named after.
  std::ranges::stable_sort(readings, {}, [](const Reading& reading) {
    const Architecture& known = *reading.layout->known;
    return std::pair(reading.surprise, known.model_type != known.family);
  });
  std::vector<Candidate> candidates;
  double sum = 0;
  for (Reading& reading : readings) {
    const double belief = std::exp(readings.front().surprise - reading.surprise);
    sum += belief;
    const auto same = std::ranges::find(candidates, reading.total, [](const Candidate& c) { return c.reading.total; });
    if (same == candidates.end()) {
      candidates.push_back({reading, belief});
      continue;
    }
    same->belief += belief;
    if (reading.layout->built_in > same->reading.layout->built_in && reading.unread <= same->reading.unread &&
        reading.missing.size() <= same->reading.missing.size())
      same->reading = reading;
  }
  for (Candidate& candidate : candidates) candidate.belief /= sum;
  std::ranges::stable_sort(candidates, std::ranges::greater(), &Candidate::belief);
  return candidates;
}

// "llama 8,030,261,248, qwen3 8,030,269,440 and 2 more"
std::string listed(std::span<const Candidate> candidates) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < candidates.size() && i < kMost; ++i) {
    if (i > 0) text += i + 1 == candidates.size() ? " or " : ", ";
    text += std::string(candidates[i].reading.layout->known->model_type) + " " + grouped(candidates[i].reading.total);
  }
  if (candidates.size() > kMost) text += " or " + std::to_string(candidates.size() - kMost) + " more";
  return text;
}

std::string quoted(const std::vector<std::string>& keys) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < keys.size() && i < kMost; ++i) text += (i > 0 ? ", \"" : "\"") + escaped(keys[i]) + "\"";
  if (keys.size() > kMost) text += " and " + std::to_string(keys.size() - kMost) + " more";
  return text;
}

// Whether the totals that are believed in hardly differ.
bool nearly_same(std::span<const Candidate> candidates) {
  Int least = candidates.front().reading.total, most = least;
  double believed = 0;
  for (const Candidate& candidate : candidates) {
    if (believed >= kNearlyAll) break;
    believed += candidate.belief;
    least = std::min(least, candidate.reading.total);
    most = std::max(most, candidate.reading.total);
  }
  return static_cast<double>(most - least) <= kNearlySame * static_cast<double>(candidates.front().reading.total);
}

// A short description that is whole but for the width of a gated MLP: Llama's rule gives that, 8/3 d, where classes
// have a number.
constexpr Architecture kDescription{"", "plain", "", "model", plain};
bool reads_as_description(const Reading& best, const Reader& config, const Model& model) {
  if (best.missing != std::vector{std::string(key::d_ff.first())} || config.fresh().text(key::activation, "") != "silu")
    return false;
  const Layout layout{&kDescription};
  const auto reading = read_as(layout, config, model);
  return reading && reading->left.empty();
}

// Whether trying architectures takes no time: few layers, few keys, short lists.
bool is_small(Value object) {
  constexpr Int kMost = 1000;
  Int n = 0;
  for (Value member = object.first_child(); member && n <= kMost; member = member.next()) {
    ++n;
    if (member.kind() == JsonKind::number && looks_like_size(member.key()) &&
        member.key().find("layer") != member.key().npos && integer_of(member.text()).value > kMost)
      return false;
    for (Value entry = member.first_child(); entry && n <= kMost; entry = entry.next()) ++n;
  }
  return n <= kMost;
}

}  // namespace

std::string unknown_type(const Model& model) {
  return "model_type \"" + escaped(model.model_type) + "\" is not known" +
         did_you_mean(model.model_type, known_types());
}

const Architecture& nearest_architecture(Reader& config, const Model& model) {
  const std::string unknown = unknown_type(model);
  const auto refuse = [&](const std::string& why) { config.fail("unknown-model-type", "model_type", unknown + why); };
  const Reader whole = config.fresh();
  const Value object = whole.objects().front();
  if (!is_small(object)) refuse(", and the config is too large to be tried on all that are");
  const std::vector<Candidate> candidates = candidates_of(whole, model);
  if (candidates.empty()) refuse(", and no known one can read the config");
  const Candidate& best = candidates.front();
  const Architecture& known = *best.reading.layout->known;
  const std::string type(known.model_type);
  const std::string path = object.node() == 0 ? "" : escaped(object.key()) + ".";
  const std::string by_hand = "--set '" + path + "model_type=\"" + type + "\"'";

  if (reads_as_description(best.reading, whole, model)) {
    config.doubt("unknown-model-type", unknown + ": counted as a pre-norm decoder of the sizes that are given",
                 "model_type");
    return kDescription;
  }
  if (!best.reading.missing.empty())
    refuse(", and without " + quoted(best.reading.missing) + " it cannot be counted as another");
  if (best.reading.unread > kNewLayout || best.reading.leaves_size)
    refuse(", and the nearest one, " + type + ", does not read " + quoted(best.reading.left) + " (" + by_hand +
           " counts it without)");

  const std::span<const Candidate> others = std::span(candidates).subspan(1);
  const auto named = std::ranges::count_if(others, [](const Candidate& c) { return c.belief >= kWorthNaming; });
  if (best.belief < kLikely && !nearly_same(candidates))
    refuse(", and its keys fit layouts of different counts: " +
           listed(std::span(candidates).first(1 + static_cast<std::size_t>(std::max<std::ptrdiff_t>(named, 1)))) +
           " (" + by_hand + " chooses one)");
  config.doubt("unknown-model-type", unknown + ": counted as " + type + ", whose keys are nearest to its own",
               "model_type");
  if (named > 0)
    config.assume("layout-guess",
                  "its keys fit other layouts about as well: " + listed(others.first(static_cast<std::size_t>(named))),
                  "model_type");
  return known;
}

}  // namespace lmsize
