// Qwen 4's experimental model: Qwen3.5's layers over a stream of several vectors, an indexer in attention, and in
// chosen layers vectors of hashed n-grams of tokens.

#include <algorithm>

#include "arch/families.h"
#include "arch/hybrid.h"
#include "arch/qwen_next.h"

namespace lmsize {
namespace {

void add_block(Layer& layer, Block block) { layer.branches.push_back({.block = std::move(block)}); }

// ---- the stream ----

// The stream's vectors and the rank of the maps that mix them.
struct Streams {
  Sizes s;
  Dim n{}, rank{};

  Extent width() const { return n * s.d; }
  // What a block reads is a low-rank mixture of all vectors; what it adds goes to each times a number (not at the end).
  std::vector<Block> connection(const std::string& name, bool injects) const {
    Norm norm = s.named(name + ".hc_norm");
    norm.heads = n;
    std::vector<Block> blocks{norm, Matrix{name + ".input_mix_weight_down", rank, width()},
                              Matrix{name + ".input_mix_weight_up", width(), rank}};
    if (injects) blocks.push_back(Matrix{name + ".block_inject_weight", n, width()});
    return blocks;
  }
};

// ---- n-grams ----

bool is_prime(Int n) {
  if (n < 4) return n > 1;
  if (n % 2 == 0) return false;
  for (Int i = 3; i * i <= n; i += 2)
    if (n % i == 0) return false;
  return true;
}

// Tables of hashed n-grams: in each layer that has them ngram_size - 1 lengths of heads_per_ngram hashes each. Head
// number i, counted through all these layers, has as many rows as the i-th prime from ngram_vocab_size_base on.
struct NGrams {
  std::vector<Int> layers;  // counted from 0, ascending
  Dim d_embed{}, taps{};
  Int size = 0, heads_per_size = 0, base = 0, multiple_of = 1, n_parts = 1;

  Int n_heads() const { return multiply(size - 1, heads_per_size); }

  // The rows of all heads of one layer together, rounded up: the rows of each layer's table.
  std::vector<Int> rows() const {
    std::vector<Int> tables;
    Int prime = base - 1;
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      Int sum = 0;
      for (Int head = 0; head < n_heads(); ++head) {
        do ++prime;
        while (!is_prime(prime));
        sum = add(sum, prime);
      }
      tables.push_back(round_up(sum, multiple_of));
    }
    return tables;
  }
};

NGrams read_ngrams(Reader& config, const Sizes& s) {
  NGrams grams;
  for (Int id : config.sizes("ple_layer_ids").value_or(std::vector<Int>{})) {
    if (id < 1 || id > s.n_layers.value)
      config.fail("out-of-range", "ple_layer_ids", "ple_layer_ids has a number that is no layer's, counted from 1");
    grams.layers.push_back(id - 1);
  }
  std::ranges::sort(grams.layers);
  grams.layers.erase(std::unique(grams.layers.begin(), grams.layers.end()), grams.layers.end());
  grams.d_embed = {config.size("ple_embed_dim", s.d.value, s.d.value), Symbol::d_embed};
  grams.taps = {config.size("ple_conv_kernel_size", 4), Symbol::d_conv};
  grams.size = config.size("ngram_size", 3);
  grams.heads_per_size = config.size("heads_per_ngram", 8);
  grams.base = config.size("ngram_vocab_size_base", 20'000'000);
  grams.multiple_of = config.size("make_ngram_vocab_size_divisible_by", 128);
  grams.n_parts = config.size("split_ngram_parts", 512);
  if (grams.layers.empty()) return grams;
  if (grams.n_heads() < 1 || grams.d_embed.value % grams.n_heads() != 0)
    config.fail("heads-do-not-divide", "ple_embed_dim",
                "ple_embed_dim is no multiple of the heads, (ngram_size - 1) heads_per_ngram");
  if (grams.base > Int{1} << 32 || grams.n_heads() > 4096 ||
      grams.n_parts > 65536 / static_cast<Int>(grams.layers.size()))
    config.fail("out-of-range", "ngram_vocab_size_base",
                "ngram_vocab_size_base, heads_per_ngram or split_ngram_parts is larger than any model's");
  return grams;
}

// What one layer takes from its n-grams: each vector of the stream asks for them by a key, gets one value, and a
// convolution mixes neighbours. The table is saved in parts of equal size, the last one smaller.
void add_ngrams(Layer& layer, const NGrams& grams, const Streams& streams, Int rows) {
  const Sizes& s = streams.s;
  const Dim width(grams.d_embed.value / grams.n_heads());
  const Int per_part = (rows + grams.n_parts - 1) / grams.n_parts;
  for (Int part = 0; part * per_part < rows; ++part)
    add_block(layer, Embedding{"ple.ple_embedding.ngram_embedding.shard_" + std::to_string(part),
                               Dim(std::min(per_part, rows - part * per_part)), width});
  const auto add_buffer = [&](const char* name, Int n) {
    add_block(layer, Lone{std::string("ple.ple_embedding.") + name, {Extent(n)}, Role::other, true});
  };
  add_buffer("layer_multipliers", grams.size);
  add_buffer("ngram_heads_vocab_sizes", grams.n_heads());
  add_buffer("ngram_heads_offsets", grams.n_heads());
  add_block(layer, Matrix{"ple.key_proj", streams.width(), grams.d_embed});
  add_block(layer, Matrix{"ple.value_proj", s.d, grams.d_embed});
  for (const char* name : {"ple.norm_key", "ple.norm_query", "ple.norm_conv"}) {
    Norm norm = s.named(name);
    norm.heads = streams.n;
    add_block(layer, norm);
  }
  add_block(layer, Lone{"ple.conv1d.weight", {streams.width(), Extent(1), grams.taps}, Role::mixer});
}

// ---- attention ----

// Small queries and one key that choose the tokens which attention looks at.
void add_indexer(Layer& layer, const Indexer& indexer, const Sizes& s) {
  const Extent rows = indexer.n_heads * indexer.head_dim + indexer.head_dim;
  add_block(layer, Matrix{"self_attn.indexer.index_qk_proj", rows, s.d, false, Role::attention});
  for (const char* name : {"self_attn.indexer.q_layernorm", "self_attn.indexer.k_layernorm"}) {
    Norm norm = s.named(name);
    norm.width = indexer.head_dim;
    add_block(layer, norm);
  }
}

Indexer read_indexer(Reader& config) {
  const auto n_heads = config.optional_size("indexer_n_heads"), head_dim = config.optional_size("indexer_head_dim");
  const Int top_k = config.size("indexer_budget", 1024, 1024);
  config.ignore({"indexer_kv_heads", "indexer_compress_ratio"});
  if (!n_heads || !head_dim)
    config.fail("indexer-missing", "indexer_n_heads", "attention needs indexer_n_heads and indexer_head_dim");
  return {.n_heads = {*n_heads, Symbol::n_index_heads}, .head_dim = {*head_dim, Symbol::index_dim}, .top_k = top_k};
}

}  // namespace

// Qwen4ExpForCausalLM.
void qwen4_exp(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 248320,
                              .d = 2048,
                              .n_layers = 40,
                              .n_heads = 16,
                              .n_kv_heads = 2,
                              .kv_heads_may_be_null = false,
                              .head_dim = 256,
                              .norm = {.unit_offset = true},
                              .has_d_ff = false});
  const Attention attention = read_gated_attention(config, s);
  const DeltaNet mixer = read_delta_net(config, s);
  const MixtureOfExperts moe = read_gated_experts(config, s, 512, 10);
  model.sizes.intermediate_size = moe.expert.d_ff.value;
  const Streams streams{s, Dim(config.size("hc_count", 4)), Dim(config.size("hc_lowrank", 320))};
  const NGrams grams = read_ngrams(config, s);
  const auto tables = grams.rows();
  config.ignore({"number_of_conv_states"});
  const Int interval = config.size("full_attention_interval", 4);
  const auto kinds = layer_types_or(
      config, "layer_types", s.n_layers.value, {"linear_attention", "full_attention", "indexed_attention"},
      [&](Int i) { return (i + 1) % interval == 0 ? "indexed_attention" : "linear_attention"; });
  const bool attends = std::ranges::any_of(kinds, [](const auto& kind) { return kind != "linear_attention"; });
  const Indexer indexer = attends || config.has("indexer_n_heads") ? read_indexer(config) : Indexer{};

  if (attends) model.cost_notes.push_back("the scores of the indexer are left out: a pass takes a little more");
  Stack& stack = add_stack(model, "layers");
  stack.input.push_back({model.base, Embedding{"embed_tokens", s.vocab, s.d}});
  const auto rows_of = [&](Int i) {
    const auto at = std::ranges::find(grams.layers, i);
    return at == grams.layers.end() ? 0 : tables[static_cast<std::size_t>(at - grams.layers.begin())];
  };
  const auto kind_of = [&](Int i) {
    return std::pair(kinds[static_cast<std::size_t>(i)] == "linear_attention", rows_of(i));
  };
  add_layers(stack, s.n_layers.value, kind_of, [&](Layer& layer, std::pair<bool, Int> kind) {
    const auto [linear, rows] = kind;
    if (rows > 0) add_ngrams(layer, grams, streams, rows);
    for (Block& block : streams.connection("attn_hyper_connection", true)) add_block(layer, std::move(block));
    add_block(layer, linear ? Block(mixer) : Block(attention));
    if (!linear) add_indexer(layer, indexer, s);
    for (Block& block : streams.connection("mlp_hyper_connection", true)) add_block(layer, std::move(block));
    add_block(layer, moe);
  });
  for (Block& block : streams.connection("hyper_connection_mixer", false))
    stack.output.push_back({model.base, std::move(block)});
  decoder_head(config, model, s);
}

}  // namespace lmsize
