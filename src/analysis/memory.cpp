#include "analysis/memory.h"

#include <algorithm>

#include "analysis/activations.h"
#include "analysis/arithmetic.h"
#include "analysis/layers.h"
#include "analysis/shard.h"
#include "analysis/stored_bytes.h"
#include "base/format.h"

namespace lmsize {
namespace {

constexpr Int kFloat32 = 4;

// ---- keys, values and states ----

// A layer's caches, and how often it runs with ones of its own.
template <class Visit>
void for_each_cache(const Model& model, Visit visit) {
  for (const Stack& stack : model.stacks) {
    std::vector<LayerCache> kinds;
    for (const Layer& layer : stack.kinds) kinds.push_back(cache_of(layer));
    for_each_run(stack, [&](Int first, Int count, std::size_t kind, Int times) {
      visit(stack, first, count, kinds[kind], times);
    });
  }
}

void add_cache(const Model& model, const MemoryQuestion& asked, Usage& usage) {
  if (asked.max_model_len) usage.cache = 0;
  for_each_cache(model, [&](const Stack&, Int, Int count, const LayerCache& layer, Int times) {
    const Int runs = multiply(count, times);
    for (const Cache& cache : layer.caches) {
      const Int entry = asked.cache_format.bytes(cache.elements.value());
      add_to(cache.kind == CacheKind::cross ? usage.cache_per_encoder_token : usage.cache_per_token,
             multiply(runs, divide_up(entry, cache.rate)));
      if (usage.cache)
        add_to(*usage.cache,
               product_of({asked.batch, runs, entry, cache.entries(*asked.max_model_len, asked.n_encoder())}));
    }
    const Int recurrent = asked.state_format.bytes(layer.recurrent), inputs = asked.storage.plain.bytes(layer.inputs);
    add_to(usage.state, product_of({asked.batch, runs, add(recurrent, inputs)}));
  });
}

std::vector<CacheLayers> cache_layers(const Model& model, const MemoryQuestion& asked) {
  std::vector<CacheLayers> made;
  std::vector<CacheLayers> before;  // the entries of the layers before, where these may go on
  for_each_cache(model, [&](const Stack& stack, Int first, Int count, const LayerCache& layer, Int times) {
    std::vector<CacheLayers> here;
    for (const Cache& cache : layer.caches)
      here.push_back({stack.part, first, first + count - 1, cache.kind, cache.window, cache.rate,
                      multiply(times, divide_up(asked.cache_format.bytes(cache.elements.value()), cache.rate)),
                      cache.elements, times});
    if (here.empty()) here.push_back({stack.part, first, first + count - 1});
    const auto alike = [](const CacheLayers& a, const CacheLayers& b) {
      return a.part == b.part && a.last + 1 == b.first && a.kind == b.kind && a.window == b.window &&
             a.rate == b.rate && a.bytes_per_token == b.bytes_per_token && a.times == b.times;
    };
    if (std::ranges::equal(before, here, alike)) {
      for (std::size_t i = made.size() - here.size(); i < made.size(); ++i) made[i].last = here.front().last;
      for (std::size_t i = 0; i < here.size(); ++i) before[i].last = here[i].last;
    } else {
      made.insert(made.end(), here.begin(), here.end());
      before = std::move(here);
    }
  });
  return made;
}

// ---- activations ----

Int logits_width(const Model& model) {
  Int width = 0;
  for (const Placed& placed : model.heads) {
    if (const Head* head = std::get_if<Head>(&placed.block)) width = add(width, head->rows.value);
    if (const MaskedHead* head = std::get_if<MaskedHead>(&placed.block)) width = add(width, head->vocab.value);
  }
  return width;
}

// Widths of a model's layers, in elements a token and (scores) a pair of tokens.
struct Widths {
  Int d = 0, widest = 0, layers = 0, kept = 0, scores = 0, kept_layer = 0, scores_layer = 0;
};

Widths widths_of(const Model& model) {
  Widths made;
  made.d = model.sizes.hidden_size.value_or(0);
  for (const Stack& stack : model.stacks) {
    if (stack.is_tower()) continue;
    std::vector<LayerActivations> kinds;
    for (const Layer& layer : stack.kinds) kinds.push_back(activations_of(layer));
    for_each_run(stack, [&](Int, Int count, std::size_t kind, Int times) {
      const LayerActivations& layer = kinds[kind];
      const Int runs = multiply(count, times);
      made.widest = std::max(made.widest, layer.widest);
      made.layers = add(made.layers, runs);
      made.kept = add(made.kept, multiply(runs, layer.kept));
      made.scores = add(made.scores, multiply(runs, layer.scores));
      made.kept_layer = std::max(made.kept_layer, layer.kept);
      made.scores_layer = std::max(made.scores_layer, layer.scores);
    });
  }
  return made;
}

Int forward_activations(const Model& model, const MemoryQuestion& asked) {
  const Widths widths = widths_of(model);
  const Int tokens = multiply(asked.batch, *asked.max_model_len);
  return add(product_of({tokens, add(widths.d, widths.widest), asked.bytes_per_activation()}),
             product_of({asked.batch, logits_width(model), kFloat32}));
}

Int training_activations(const Model& model, const MemoryQuestion& asked, Int batches) {
  const Widths widths = widths_of(model);
  const Int tokens = multiply(asked.batch, *asked.max_model_len), pairs = multiply(tokens, *asked.max_model_len);
  const auto elements = [&](Int kept, Int scores) { return add(multiply(tokens, kept), multiply(pairs, scores)); };
  const Int each = asked.bytes_per_activation();
  const Int logits = product_of({tokens, logits_width(model), kFloat32});
  switch (asked.training->recompute) {
    case Recompute::none:
      return add(product_of({batches, elements(widths.kept, widths.scores), each}), logits);
    case Recompute::selective:
      return add(product_of({batches, elements(widths.kept, 0), each}), logits);
    case Recompute::full:
      break;
  }
  const Int inputs = product_of({batches, tokens, widths.layers, widths.d, each});
  return add(add(inputs, multiply(elements(widths.kept_layer, widths.scores_layer), each)), logits);
}

// ---- one model, or one device's part of it ----

TrainingUsage training_usage(const Model& model, const MemoryQuestion& asked, Int ranks, Int batches) {
  const TrainingQuestion& training = *asked.training;
  const Int parameters = stored_bytes(model, {}).total_parameters(), each = asked.storage.plain.bytes(1);
  const auto share = [&](Int bytes, Int from_stage) {
    return training.zero >= from_stage ? divide_up(bytes, ranks) : bytes;
  };
  TrainingUsage usage{.parameters = parameters};
  usage.weights = share(multiply(parameters, each), 3);
  usage.gradients = share(multiply(parameters, each), 2);
  const Int moments = training.optimizer == Optimizer::adamw ? 2 : 1;
  usage.optimizer = share(product_of({parameters, moments, kFloat32}), 1);
  usage.master_weights = each < kFloat32 ? share(multiply(parameters, kFloat32), 1) : 0;
  if (asked.max_model_len) usage.activations = training_activations(model, asked, batches);
  return usage;
}

// ranks: that ZeRO shares among; batches: whose activations are kept at once.
Usage usage_of(const Model& model, const MemoryQuestion& asked, Int ranks, Int batches) {
  Usage usage;
  usage.weights = stored_bytes(model, asked.storage).total_bytes();
  add_cache(model, asked, usage);
  if (asked.max_model_len) usage.activations = forward_activations(model, asked);
  if (asked.training) {
    usage.training = training_usage(model, asked, ranks, batches);
    const TrainingUsage& t = *usage.training;
    if (t.activations)
      usage.total = add(add(add(t.weights, t.gradients), add(t.optimizer, t.master_weights)), *t.activations);
  } else if (asked.max_model_len) {
    usage.total = add(add(usage.weights, *usage.cache), add(usage.state, *usage.activations));
  }
  return usage;
}

// Each figure the larger of the two.
void take_larger(Usage& most, const Usage& other) {
  const auto take = [](auto& a, const auto& b) { a = std::max(a, b); };
  take(most.weights, other.weights);
  take(most.cache, other.cache);
  take(most.cache_per_token, other.cache_per_token);
  take(most.cache_per_encoder_token, other.cache_per_encoder_token);
  take(most.state, other.state);
  take(most.activations, other.activations);
  take(most.total, other.total);
  if (!other.training) return;
  if (!most.training) most.training.emplace();
  take(most.training->parameters, other.training->parameters);
  take(most.training->weights, other.training->weights);
  take(most.training->gradients, other.training->gradients);
  take(most.training->optimizer, other.training->optimizer);
  take(most.training->master_weights, other.training->master_weights);
  take(most.training->activations, other.training->activations);
}

std::string formula_of(const MemoryQuestion& asked) {
  if (!asked.training)
    return "batch x tokens x (d + the widest block's results) x bytes + batch x vocab x 4 (logits of the last token)";
  switch (asked.training->recompute) {
    case Recompute::none:
      return "batch x tokens x (results that backward needs, of all layers + tokens x heads of all layers) x bytes + "
             "batch x tokens x vocab x 4 (logits)";
    case Recompute::selective:
      return "batch x tokens x results that backward needs, of all layers, without scores x bytes + batch x tokens x "
             "vocab x 4 (logits)";
    case Recompute::full:
      break;
  }
  return "batch x tokens x (layers x d + the results of one layer) x bytes + batch x tokens x vocab x 4 (logits)";
}

// The formula with its numbers.
std::string numbers_of(const Widths& w, Int logits, const MemoryQuestion& asked) {
  const Int batch = asked.batch, tokens = *asked.max_model_len, each = asked.bytes_per_activation();
  if (!asked.training)
    return format_text("{} x {} x ({} + {}) x {} + {} x {} x 4", batch, tokens, w.d, w.widest, each, batch, logits);
  const std::string head = format_text("{} x {} x {} x 4", batch, tokens, logits);
  switch (asked.training->recompute) {
    case Recompute::none:
      return format_text("{} x {} x ({} + {} x {}) x {} + {}", batch, tokens, w.kept, tokens, w.scores, each, head);
    case Recompute::selective:
      return format_text("{} x {} x {} x {} + {}", batch, tokens, w.kept, each, head);
    case Recompute::full:
      break;
  }
  return format_text("{} x {} x ({} x {} + {} + {} x {}) x {} + {}", batch, tokens, w.layers, w.d, w.kept_layer, tokens,
                     w.scores_layer, each, head);
}

}  // namespace

Memory memory(const Model& model, const MemoryQuestion& asked) {
  Memory made;
  const StoredBytes weights = stored_bytes(model, asked.storage);
  made.weights_by_role = weights.bytes;
  made.parameters_by_role = weights.parameters;
  made.whole = usage_of(model, asked, 1, 1);
  made.layers = cache_layers(model, asked);
  for_each_cache(model, [&](const Stack&, Int, Int count, const LayerCache& layer, Int times) {
    made.recurrent = add(made.recurrent, product_of({count, times, layer.recurrent}));
    made.inputs = add(made.inputs, product_of({count, times, layer.inputs}));
  });
  made.activations_formula = formula_of(asked);
  if (asked.max_model_len) made.activations_numbers = numbers_of(widths_of(model), logits_width(model), asked);

  const Int ranks = asked.training ? asked.training->data_parallel : 1;
  if (asked.tensor_parallel == 1 && asked.pipeline_parallel == 1 && ranks == 1) {
    made.device = made.whole;
    return made;
  }
  const Model shard = tensor_shard(model, asked.tensor_parallel, made.warnings);
  const std::vector<Model> stages = pipeline_stages(shard, asked.pipeline_parallel);
  for (std::size_t i = 0; i < stages.size(); ++i)
    take_larger(made.device, usage_of(stages[i], asked, ranks, static_cast<Int>(stages.size() - i)));
  return made;
}

}  // namespace lmsize
