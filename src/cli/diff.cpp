// lmsize diff: what changes between models.

#include "analysis/diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include "cli/command.h"
#include "cli/count.h"
#include "config/flat.h"
#include "report/diff.h"

namespace lmsize::cli {
namespace {

// One of the models, kept while others are read.
struct Side {
  std::string source, name;
  Count count;
  std::vector<TensorCount> tensors;
  std::vector<FlatKey> keys, shape;
  bool checkpoint = false;  // its keys are those that shapes imply, no others
};

std::vector<FlatKey> shape_of(const MainSizes& sizes) {
  std::vector<FlatKey> shape;
  const auto add = [&](std::string key, const std::optional<Int>& size) {
    if (size) shape.push_back({std::move(key), std::to_string(*size)});
  };
  add("hidden_size", sizes.hidden_size);
  add("intermediate_size", sizes.intermediate_size);
  add("num_hidden_layers", sizes.num_hidden_layers);
  add("num_attention_heads", sizes.num_attention_heads);
  add("num_key_value_heads", sizes.num_key_value_heads);
  add("head_dim", sizes.head_dim);
  add("vocab_size", sizes.vocab_size);
  if (sizes.tie_word_embeddings)
    shape.push_back({"tie_word_embeddings", *sizes.tie_word_embeddings ? "true" : "false"});
  return shape;
}

// The file's keys, and those of the shape flags over them.
std::vector<FlatKey> keys_of(const Config& config, const std::vector<FlagValue>& flags) {
  std::vector<FlatKey> keys = flat_keys(config.document.root());
  for (const FlagValue& flag : flags) {
    const auto same = std::ranges::find(keys, flag.key, &FlatKey::key);
    if (same != keys.end())
      same->json = json_text(flag.value);
    else
      keys.push_back({flag.key, json_text(flag.value)});
  }
  std::erase_if(keys, [](const FlatKey& key) { return key.key == "expected_parameters"; });  // check's own
  return keys;
}

Side side_of(const Config& config, const std::vector<FlagValue>& flags) {
  return {config.source.label,         config.name,
          lmsize::count(config.model), tensor_counts(config.model),
          keys_of(config, flags),      shape_of(config.model.sizes),
          config.stored != nullptr};
}

// Keys whose values differ, those of a first.
std::vector<KeyDifference> differing(const std::vector<FlatKey>& a, const std::vector<FlatKey>& b) {
  std::map<std::string_view, std::string_view> in_a, in_b;
  for (const FlatKey& key : a) in_a.emplace(key.key, key.json);
  for (const FlatKey& key : b) in_b.emplace(key.key, key.json);
  std::vector<KeyDifference> made;
  for (const FlatKey& key : a) {
    const auto other = in_b.find(key.key);
    if (other == in_b.end())
      made.push_back({key.key, key.json, std::nullopt});
    else if (other->second != key.json)
      made.push_back({key.key, key.json, std::string(other->second)});
  }
  for (const FlatKey& key : b)
    if (!in_a.contains(key.key)) made.push_back({key.key, std::nullopt, key.json});
  return made;
}

DiffReport report_of(const Side& a, const Side& b, bool explain) {
  std::vector<KeyDifference> keys = differing(a.keys, b.keys);
  // What a checkpoint does not tell is no difference from it.
  std::erase_if(keys, [&](const KeyDifference& key) { return (a.checkpoint && !key.a) || (b.checkpoint && !key.b); });
  return {a.source,
          b.source,
          a.name,
          b.name,
          a.count,
          b.count,
          std::move(keys),
          differing(a.shape, b.shape),
          difference(a.count, b.count, a.tensors, b.tensors),
          explain};
}

// Flags say what the other models are to be, not the first: they wait until that one has been read.
struct Flags {
  std::vector<FlagValue> shape;
  std::vector<std::pair<std::string, std::string>> sets;
  bool empty() const { return shape.empty() && sets.empty(); }
};

}  // namespace

int diff(Words words, Streams& streams) {
  CommandLine line(
      "diff", "A B [...] | A shape flags",
      "What changes from A to B, and to each further model: keys, parameters by part and by layer, tensors.\n"
      "Shape flags and --set are for the models after A; with A alone they are the what-if that it is\n"
      "compared with. Exit status 1 when something differs.");
  bool explain = false;
  line.heading("What to show");
  line.flag("--explain", explain, "each difference as a sum over the tensors that change");
  BatchOptions options(line, {Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv, Format::markdown});
  line.example("lmsize diff llama-2-7b llama-3-8b");
  line.example("lmsize diff llama-3-8b --num-hidden-layers 16");
  line.example("lmsize diff old/config.json new/config.json --json");
  if (!line.parse(words, streams.out)) return 0;
  if (line.inputs().empty()) throw UsageError("diff needs models to compare, as in: lmsize diff llama-2-7b llama-3-8b");
  Flags later{std::exchange(options.flags, {}), std::exchange(options.sets, {})};
  if (line.inputs().size() == 1 && !later.empty()) options.inputs = std::vector<std::string>(2, line.inputs().front());
  options.jobs = 1;  // one after another

  const std::optional<RowFormat> rows = row_format(options.format);
  std::optional<Side> first;
  bool unreadable = false;  // the first
  Int compared = 0;
  Rendering rendering;
  rendering.config = [&](Config& config, std::string& out) {
    if (unreadable) throw Error("nothing-to-compare", "the first model, which this is compared with, cannot be used");
    if (!first) {
      first = side_of(config, {});
      options.flags = later.shape;
      options.sets = later.sets;
      return 0;
    }
    ++compared;
    const Side second = side_of(config, options.flags);
    const DiffReport report = report_of(*first, second, explain);
    if (rows)
      write_diff_row(report, *rows, out);
    else if (options.is_json())
      write_diff_json(report, out);
    else
      write_diff_table(report, options.color(streams), out);
    return report.keys.empty() && report.difference.none() ? 0 : 1;
  };
  rendering.failure = [&](const Failure& failure, std::string& out) {
    if (!first)
      unreadable = true;
    else
      ++compared;
    if (rows)
      write_failed_diff_row(failure.source.label, failure.error.message, *rows, out);
    else if (options.is_json())
      write_failure(failure, out);
  };
  rendering.end = [&](std::string&) {
    if (first && compared == 0)
      throw UsageError("diff needs a second model, or flags that say what is to differ from " + first->name);
    return 0;
  };
  if (rows) write_diff_header(*rows, rendering.header);
  return for_each_config(options, streams, rendering);
}

}  // namespace lmsize::cli
