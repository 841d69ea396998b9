#include "cli/read_checkpoint.h"

#include <algorithm>
#include <utility>

#include "arch/registry.h"
#include "base/format.h"
#include "checkpoint/stored_model.h"
#include "checkpoint/tensor_names.h"

namespace lmsize::cli {

std::shared_ptr<StoredInput> read_headers(const std::string& path) {
  auto stored = std::make_shared<StoredInput>(StoredInput{Checkpoint(path), {}, {}, {}});
  stored->inventory = inventory_of(stored->checkpoint);
  stored->implied = implied_config(stored->checkpoint, stored->inventory);
  if (const auto& implied = stored->implied.config)
    for (std::size_t i = 0; i < implied->buffers.size(); ++i) stored->inventory.weights[i].buffer = implied->buffers[i];
  stored->summary = summary_of(stored->checkpoint, stored->inventory);
  return stored;
}

namespace {

bool is_guessed(const ImpliedConfig& implied, std::string_view key) {
  return std::ranges::find(implied.guessed, key) != implied.guessed.end();
}

void assume_active(Config& config, std::string message) {
  config.log.assumptions.push_back(
      {"experts-per-token", Severity::warning, std::move(message), "num_experts_per_tok", {}});
}

void build_implied(const ImpliedConfig& implied, const BatchOptions& options, Config& config) {
  config.document = Document::parse(implied.json);
  for (const auto& [key, json] : options.sets) config.document.set(key, json);
  config.reader.emplace(config.document, options.flags);
  config.model = build_model(*config.reader);
  config.log = std::move(config.reader->log());
  for (Diagnostic& warning : config.log.warnings) warning.at = {};  // no place in any file
  if (is_guessed(implied, "num_attention_heads")) {
    MainSizes& sizes = config.model.sizes;
    sizes.num_attention_heads = sizes.num_key_value_heads = sizes.head_dim = std::nullopt;
  }
  if (is_guessed(implied, "num_experts_per_tok"))
    assume_active(config,
                  "how many experts a token passes through no shape tells: as many as the class has by default");
}

bool has_experts(const Inventory& inventory) {
  return std::ranges::any_of(inventory.weights, [](const StoredWeight& weight) {
    return weight.name.find("experts.") != std::string::npos || weight.name.find("_exps.") != std::string::npos;
  });
}

}  // namespace

void read_checkpoint(const std::string& path, const BatchOptions& options, Config& config) {
  const std::shared_ptr<StoredInput> stored = read_headers(path);
  config.stored = stored;
  config.document = Document::parse("{}");
  config.reader.emplace(config.document);
  if (const auto& implied = stored->implied.config) {
    build_implied(*implied, options, config);
  } else if (!options.flags.empty() || !options.sets.empty()) {
    throw UsageError(format_text("{}: the tensors are those of no known architecture, so {} has no place in it", path,
                                 options.flags.empty() ? "--set" : options.flags.front().flag));
  } else {
    config.model = stored_model(stored->inventory);
    if (has_experts(stored->inventory))
      assume_active(config, "how many experts a token passes through no shape tells: all are counted as active");
    if (std::ranges::any_of(stored->inventory.weights,
                            [](const StoredWeight& weight) { return weight.buffer && may_be_learned(weight.name); }))
      config.log.assumptions.push_back({"buffers-by-name",
                                        Severity::warning,
                                        "corrections of routers' choices are taken for buffers, as most architectures "
                                        "have them",
                                        {},
                                        {}});
  }
  const std::vector<Diagnostic>& open = stored->inventory.assumptions;
  config.log.assumptions.insert(config.log.assumptions.end(), open.begin(), open.end());
  const std::vector<Diagnostic>& warnings = stored->checkpoint.warnings();
  config.log.warnings.insert(config.log.warnings.end(), warnings.begin(), warnings.end());
}

}  // namespace lmsize::cli
