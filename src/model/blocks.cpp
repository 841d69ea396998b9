#include "model/blocks.h"

namespace lmsize {
namespace {

// Where tensors go.
struct Out {
  std::vector<Tensor>& tensors;
  Naming naming;
};

// Collects the tensors of one block under its name.
class Store {
 public:
  Store(Out out, std::string_view prefix, Role role) : out_(out), prefix_(prefix), role_(role) {}

  Tensor& tensor(std::string_view name, const Shape& shape, std::string_view suffix = {}) {
    Tensor& made = out_.tensors.emplace_back();
    if (out_.naming == Naming::full) made.name = join_names(prefix_, name, suffix);
    made.shape = shape;
    made.role = role_;
    made.copies = copies;
    made.bank = bank;
    made.times = times;
    made.context = context;
    return made;
  }

  // A linear map from `in` to `out` features.
  void linear(std::string_view name, const Extent& out, const Extent& in, bool bias, Layout layout = Layout::linear) {
    const Extent& rows = layout == Layout::linear ? out : in;
    const Extent& columns = layout == Layout::linear ? in : out;
    if (stacked) {
      tensor(name, {*stacked, rows, columns}).use = Use::matrix;
      if (bias) tensor(name, {*stacked, out}, "_bias");
    } else {
      tensor(name, {rows, columns}, ".weight").use = Use::matrix;
      if (bias) tensor(name, {out}, ".bias");
    }
  }

  Dim copies{1};
  Bank bank{};
  Int times = 1;
  bool context = false;
  std::optional<Dim> stacked{};  // as many such maps lie in one tensor

 private:
  Out out_;
  std::string prefix_;
  Role role_;
};

void store_norm(const Norm& norm, std::string_view prefix, Out out) {
  const bool listed = norm.over == Norm::Heads::listed;
  Store store(out, join_names(prefix, listed ? join_names(norm.name, "norms.*") : norm.name), Role::norm);
  if (listed) store.copies = norm.heads;
  Shape shape{norm.width};
  if (norm.over == Norm::Heads::rows)
    shape = {norm.heads, norm.width};
  else if (!listed && norm.heads != Dim(1))
    shape = {norm.heads * norm.width};
  const bool gated = norm.gate_rank.value > 0;
  if (norm.weight) store.tensor(gated ? "norm.weight" : norm.gamma_beta ? "gamma" : "weight", shape);
  if (norm.bias) store.tensor(norm.gamma_beta ? "beta" : "bias", shape);
  if (!gated) return;
  Store gate(out, join_names(prefix, norm.name), Role::mlp);
  gate.linear("W_down", norm.gate_rank, norm.width, false);
  gate.linear("W_up", norm.width, norm.gate_rank, false);
}

// Parameters that the activation function itself learns.
void store_activation(Activation activation, Store& store, std::string_view name = "act_fn") {
  if (activation == Activation::prelu) store.tensor(name, {Extent(1)}, ".weight");
  if (activation != Activation::xielu) return;
  store.tensor(name, {Extent(1)}, ".alpha_p");
  store.tensor(name, {Extent(1)}, ".alpha_n");
  store.tensor(name, {}, ".beta").buffer = true;
  store.tensor(name, {}, ".eps").buffer = true;
}

void store_maps(const Mlp& mlp, Store& store) {
  if (mlp.gated && !mlp.fused.empty()) {
    store.linear(mlp.fused, 2 * mlp.d_ff, mlp.d, mlp.up_bias, mlp.layout);
  } else {
    if (mlp.gated) store.linear(mlp.gate, mlp.d_ff, mlp.d, mlp.up_bias, mlp.layout);
    store.linear(mlp.up, mlp.d_ff, mlp.d, mlp.up_bias, mlp.layout);
  }
  store.linear(mlp.down, mlp.d, mlp.d_ff, mlp.down_bias, mlp.layout);
  if (mlp.channel_mix) {
    store.linear("receptance", mlp.d, mlp.d, false);
    for (std::string_view name : {"time_mix_key", "time_mix_receptance"})
      store.tensor(name, {Extent(1), Extent(1), mlp.d});
  }
}

void store_mlp(const Mlp& mlp, Store& store) {
  store_maps(mlp, store);
  if (!mlp.clamped) store_activation(mlp.activation, store);
}

// A causal convolution of `taps` inputs, each channel on its own.
void store_convolution(const std::string& name, const Extent& channels, Dim taps, bool bias, Store& store) {
  store.tensor(name + ".weight", {channels, Extent(1), taps}).use = Use::convolution;
  if (bias) store.tensor(name + ".bias", {channels});
}

// NAME_proj, or the product of NAME_b_proj and NAME_a_proj where its rank is limited.
void store_factors(const std::string& name, const Extent& out, Dim in, Dim rank, Store& store) {
  if (rank.value == 0) return store.linear(name + "_proj", out, in, false);
  store.linear(name + "_a_proj", rank, in, false);
  store.linear(name + "_b_proj", out, rank, false);
}

struct Visitor {
  Out out;

  void operator()(const Embedding& e) const {
    if (e.sinusoidal) return;
    const Extent rows = e.offset == 0 ? Extent(e.rows) : e.rows + Extent(e.offset);
    Store(out, e.name, e.role).tensor("weight", {rows, e.width});
  }

  void operator()(const Norm& norm) const { store_norm(norm, "", out); }

  void operator()(const Attention& a) const {
    Store store(out, a.name, Role::attention);
    const Extent q = a.n_heads * a.head_dim, kv = a.n_kv_heads * a.head_dim;
    const Extent q_rows = a.gate == OutputGate::with_q ? 2 * q : q;
    const Dim d_in = a.d_in.value == 0 ? a.d : a.d_in, d_context = a.d_context.value == 0 ? d_in : a.d_context;
    const Dim d_v = a.d_v.value == 0 ? a.head_dim : a.d_v;
    if (a.bank) return store_banked(a);
    if (a.layout == Layout::by_head) {
      for (const std::string& name : {a.q, a.k, a.v, a.o})
        store.tensor(name, {a.d, a.n_heads, a.head_dim}).use = Use::matrix;
      return;
    }
    if (!a.fused.empty()) {
      store.linear(a.fused, q_rows + 2 * kv, d_in, a.q_bias, a.layout);
    } else {
      store.linear(a.q, q_rows, d_in, a.q_bias, a.layout);
      store.context = a.cross;
      if (!a.takes_kv && !a.fused_kv.empty()) {
        store.linear(a.fused_kv, 2 * kv, d_in, a.k_bias, a.layout);
      } else if (!a.takes_kv) {
        if (!a.k_is_q) store.linear(a.k, kv, d_context, a.k_bias, a.layout);
        if (!a.v_delayed.empty())
          store_halves(a, store);
        else if (!a.v_is_k)
          store.linear(a.v, a.n_kv_heads * d_v, a.d_values.value == 0 ? d_context : a.d_values, a.v_bias, a.layout);
      }
      store.context = false;
    }
    if (a.gate == OutputGate::full) store.linear(a.gate_name, q, a.d, false);
    if (a.gate == OutputGate::per_head) store.linear(a.gate_name, a.n_heads, a.d, false);
    if (a.gate_bias) store.tensor("gate_bias", {a.n_heads});
    store.linear(a.o, a.d, a.d_o.value == 0 ? a.n_heads * d_v : Extent(a.d_o), a.o_bias, a.layout);
    if (!a.o_bias_name.empty()) store.tensor(a.o_bias_name, {a.d});
    if (a.differential)
      for (std::string_view name : {"lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"})
        store.tensor(name, {a.head_dim});
    if (a.dynamic_mask != 0) {
      store.tensor("A", {a.n_kv_heads});
      store.linear("dt_proj", a.n_kv_heads, kv, a.k_bias);
    }
    if (a.o_norm) store_norm(*a.o_norm, a.name, out);
    if (a.q_norm) store_norm(*a.q_norm, a.name, out);
    if (a.k_norm && !a.takes_kv) store_norm(*a.k_norm, a.name, out);
    if (a.v_norm && !a.takes_kv) store_norm(*a.v_norm, a.name, out);
    if (a.sinks) store.tensor(a.sinks_name, {a.n_heads});
    if (a.indexer) {
      const Dim width = a.indexer->head_dim;
      store.linear("indexer.q_proj", a.indexer->n_heads * width, a.d, false);
      store.linear("indexer.k_proj", width, a.d, false);
      for (const char* norm : {"indexer.q_norm", "indexer.k_norm"})
        store_norm({.name = norm, .width = width}, a.name, out);
    }
    if (a.relative && a.relative->from_state)
      store.linear("relative_pos_embeddings", a.relative->n_buckets * a.n_heads, a.d, true);
    else if (a.relative && a.relative->stored)
      store.tensor("relative_attention_bias.weight", {a.relative->n_buckets, a.n_heads});
  }

  // The two halves of v.
  static void store_halves(const Attention& a, Store& store) {
    const Extent half(multiply(a.n_kv_heads.value, a.head_dim.value) / 2);
    store.linear(a.v, half, a.d, a.v_bias);
    store.linear(a.v_delayed, half, a.d, a.v_bias);
  }

  void store_router(const MixtureOfExperts& moe, const Extent& choices) const {
    const std::string name = join_names(moe.name, moe.router);
    const Dim width = moe.router_mlp->width;
    Store store(out, name, Role::router);
    store.linear("down_proj", width, moe.expert.d, true);
    store_norm({.name = "router_mlp.norm", .width = width}, name, out);
    store.linear("router_mlp.fc1", width, width, true);
    store.linear("router_mlp.fc2", width, width, true);
    store.linear("router_mlp.out_proj", choices, width, false);
    if (moe.router_mlp->carries) store.tensor("router_states_scale", {width});
  }

  // JetMoE's: what a token takes of queries and output comes from its experts, keys and values from one matrix.
  void store_banked(const Attention& a) const {
    const std::string name = join_names(a.name, "experts");
    Store(out, name, Role::router).linear("router.layer", a.bank->n_experts, a.d, false);
    Store experts(out, name, Role::attention);
    experts.tensor("bias", {a.d});
    experts.bank = {a.bank->n_experts, std::min(a.bank->per_token, a.bank->n_experts.value)};
    experts.stacked = a.bank->n_experts;
    const Extent inner = a.n_kv_heads * a.head_dim;
    experts.linear("input_linear.weight", inner, a.d, false);
    experts.linear("output_linear.weight", a.d, inner, false);
    Store(out, a.name, Role::attention).linear(a.fused_kv, 2 * inner, a.d, false);
  }

  void operator()(const LatentAttention& a) const {
    Store store(out, a.name, Role::attention);
    const auto latent_norm = [&](std::string name, const Dim& width) {
      store_norm({.name = std::move(name), .width = width, .eps = a.eps}, a.name, out);
    };
    const Extent q = a.n_heads * a.d_nope + a.n_heads * a.d_rope;
    if (a.q_rank) {
      store.linear("q_a_proj", *a.q_rank, a.d, a.bias);
      latent_norm("q_a_layernorm", *a.q_rank);
      if (a.gated)
        store.linear("q_b_proj", q + a.n_heads * a.d_v, 2 * *a.q_rank, false);
      else
        store.linear("q_b_proj", q, *a.q_rank, false);
    } else {
      store.linear("q_proj", q, a.d, false);
    }
    store.linear("kv_a_proj_with_mqa", Extent(a.kv_rank) + a.d_rope, a.d, a.bias);
    latent_norm("kv_a_layernorm", a.kv_rank);
    store.linear("kv_b_proj", a.n_heads * a.d_nope + a.n_heads * a.d_v, a.kv_rank, false);
    if (!a.rope_norm.empty()) latent_norm(a.rope_norm, a.d_rope);
    if (a.gate == OutputGate::full) store.linear(a.gate_name, a.n_heads * a.d_v, a.d, false);
    if (a.gate == OutputGate::per_head) store.linear(a.gate_name, a.n_heads, a.d, false);
    if (!a.sinks.empty()) store.tensor(a.sinks, {a.n_heads});
    store.linear(a.o, a.d, a.n_heads * a.d_v, a.bias);
    if (!a.indexer) return;
    store.linear("indexer.wq_b", a.indexer->n_heads * a.indexer->head_dim, a.q_rank.value(), false);
    store.linear("indexer.wk", a.indexer->head_dim, a.d, false);
    store_norm({.name = "indexer.k_norm", .width = a.indexer->head_dim, .kind = Norm::Kind::layer, .bias = true},
               a.name, out);
    store.linear("indexer.weights_proj", a.indexer->n_heads, a.d, false);
  }

  // What makes compressed keys of `width` features: position_bias (ape), values (wkv) and their weights (wgate).
  void store_compressor(const std::string& prefix, const Compressor& c, Dim d, Dim width) const {
    Store store(out, prefix, Role::attention);
    const Extent features = c.overlapping ? 2 * width : Extent(width);
    store.tensor("ape", {c.rate, features});
    store.linear("wkv", features, d, false);
    store.linear("wgate", features, d, false);
    store_norm({.name = "norm", .width = width}, prefix, out);
  }

  void operator()(const CompressedAttention& a) const {
    Store store(out, a.name, Role::attention);
    const Extent inner = a.n_heads * a.head_dim;
    store.tensor("attn_sink", {a.n_heads});
    store.linear("wq_a", a.q_rank, a.d, false);
    store_norm({.name = "q_norm", .width = a.q_rank, .eps = a.eps}, a.name, out);
    store.linear("wq_b", inner, a.q_rank, false);
    store.linear("wkv", a.head_dim, a.d, false);
    store_norm({.name = "norm", .width = a.head_dim, .eps = a.eps}, a.name, out);
    store.linear("wo_a", a.n_groups * a.o_rank, inner.value() / a.n_groups.value, false);
    store.linear("wo_b", a.d, a.n_groups * a.o_rank, false);
    if (!a.compressor) return;
    store_compressor(join_names(a.name, "compressor"), *a.compressor, a.d, a.head_dim);
    if (const auto& indexer = a.compressor->indexer) {
      store_compressor(join_names(a.name, "indexer.compressor"), *a.compressor, a.d, indexer->head_dim);
      store.linear("indexer.wq_b", indexer->n_heads * indexer->head_dim, a.q_rank, false);
      store.linear("indexer.weights_proj", indexer->n_heads, a.d, false);
    }
  }

  void operator()(const Mlp& mlp) const {
    Store store(out, mlp.name, Role::mlp);
    store_mlp(mlp, store);
    if (mlp.norm) store_norm(*mlp.norm, mlp.name, out);
  }

  void operator()(const MixtureOfExperts& moe) const {
    Store router(out, moe.name, Role::router);
    const Dim d = moe.latent ? moe.latent->d : moe.expert.d;
    const Extent choices = moe.n_zero.value == 0 ? Extent(moe.n_experts) : Extent(moe.n_experts) + moe.n_zero;
    const Extent rows = moe.scores_shared ? choices + moe.n_shared : choices;
    if (moe.router_mlp)
      store_router(moe, choices);
    else
      router.linear(moe.router, rows, d, moe.router_bias);
    if (const auto& c = moe.correction)
      router.tensor(c->name, c->as_row ? Shape{Dim(1), choices} : Shape{choices}).buffer = c->buffer;
    store_bank(moe);
    if (!moe.bias.empty()) Store(out, moe.name, Role::mlp).tensor(moe.bias, {moe.expert.d});
    if (moe.shared) {
      Store shared(out, join_names(moe.name, moe.shared->name), Role::mlp);
      if (moe.scores_shared) shared.stacked = moe.n_shared;
      store_mlp(*moe.shared, shared);
      if (!moe.shared_gate.empty()) router.linear(moe.shared_gate, Dim(1), d, false);
    }
    if (moe.latent) {
      Store maps(out, moe.name, Role::mlp);
      maps.linear(moe.latent->in, moe.expert.d, d, moe.latent->bias);
      maps.linear(moe.latent->out, d, moe.expert.d, moe.latent->bias);
    }
  }

  void operator()(const Mamba& m) const {
    Store store(out, m.name, Role::mixer);
    const Extent ranks = m.dt_rank + 2 * m.d_state;
    const Extent inner = m.d_inner;
    if (m.n_heads.value == 0) {
      store.tensor("A_log", {inner, m.d_state});
      store.tensor("D", {inner});
    } else {
      const Extent head(m.d_inner.value / m.n_heads.value);
      store.tensor("A_log", {m.n_heads, head, m.d_state});
      store.tensor("D", {m.n_heads, head});
      store.tensor("x_proj_weight", {m.n_heads, ranks, head}).use = Use::matrix;
      store.tensor("dt_proj_weight", {m.n_heads, head, m.dt_rank}).use = Use::matrix;
      store.tensor("dt_proj_bias", {m.n_heads, head});
    }
    store_convolution("conv1d", inner, m.d_conv, m.conv_bias, store);
    store.linear("in_proj", 2 * m.d_inner, m.d, m.bias);
    if (m.n_heads.value == 0) {
      store.linear("x_proj", ranks, inner, false);
      store.linear("dt_proj", inner, m.dt_rank, true);
    }
    store.linear("out_proj", m.d, inner, m.bias);
    store_activation(m.activation, store, "act");
    for (const auto& norm : {m.dt_norm, m.b_norm, m.c_norm})
      if (norm) store_norm(*norm, m.name, out);
  }

  void operator()(const Mamba2& m) const {
    Store store(out, m.name, Role::mixer);
    for (std::string_view name : {"dt_bias", "A_log", "D"}) store.tensor(join_names(m.scalars, name), {m.n_heads});
    store_activation(m.activation, store, "act");
    store_convolution("conv1d", m.conv_width(), m.d_conv, m.conv_bias, store);
    store.linear("in_proj", m.d_inner + m.conv_width() + m.n_heads, m.d, m.in_bias);
    if (m.norm) store_norm(*m.norm, m.name, out);
    store.linear("out_proj", m.d, m.d_inner, m.out_bias);
  }

  void operator()(const DeltaNet& n) const {
    Store store(out, n.name, Role::mixer);
    const Extent keys = n.n_key_heads * n.d_key, values = n.n_value_heads * n.d_value;
    const Extent heads = n.n_value_heads, decays = n.channel_decay ? n.n_value_heads * n.d_key : heads;
    store.tensor("dt_bias", {decays});
    store.tensor("A_log", n.a_log_4d ? Shape{Extent(1), Extent(1), heads, Extent(1)} : Shape{heads});
    switch (n.storage) {
      case DeltaNet::Storage::one:
        store.linear("in_proj", 2 * keys + 2 * values + 2 * heads, n.d, false);
        break;
      case DeltaNet::Storage::pair:
        store.linear("in_proj_qkvz", 2 * keys + 2 * values, n.d, false);
        store.linear("in_proj_ba", 2 * heads, n.d, false);
        break;
      case DeltaNet::Storage::joined:
        store.linear("in_proj_qkv", n.conv_width(), n.d, false);
        store.linear("in_proj_z", values, n.d, false);
        store.linear("in_proj_b", heads, n.d, false);
        store.linear("in_proj_a", heads, n.d, false);
        break;
      case DeltaNet::Storage::split:
        store.linear("q_proj", keys, n.d, false);
        store.linear("k_proj", keys, n.d, false);
        store.linear("v_proj", values, n.d, false);
        store.linear("b_proj", heads, n.d, false);
        store_factors(n.channel_decay ? "f" : "a", decays, n.d, n.channel_decay ? n.rank : Dim(), store);
        store_factors("g", values, n.d, n.rank, store);
    }
    if (n.storage == DeltaNet::Storage::split) {
      // The library splits its one convolution into thirds, whatever the widths of q, k and v.
      const Int width = n.conv_width().value(), third = (width + 2) / 3;
      store_convolution("q_conv1d", third, n.d_conv, false, store);
      store_convolution("k_conv1d", third, n.d_conv, false, store);
      store_convolution("v_conv1d", width - 2 * third, n.d_conv, false, store);
    } else {
      store_convolution("conv1d", n.conv_width(), n.d_conv, false, store);
    }
    store_norm(n.norm, n.name, out);
    store.linear(n.out, n.d, values, false);
  }

  void operator()(const LightningAttention& a) const {
    Store store(out, a.name, Role::mixer);
    const Extent inner = a.n_heads * a.head_dim, one(1), block(a.block_size);
    store.tensor("slope_rate", {a.n_heads, one, one}).buffer = true;
    store.tensor("query_decay", {a.n_heads, block, one}).buffer = true;
    store.tensor("key_decay", {a.n_heads, block, one}).buffer = true;
    store.tensor("diagonal_decay", {one, a.n_heads, block, block}).buffer = true;
    store_activation(a.activation, store);
    store_norm(a.norm, a.name, out);
    store.linear("qkv_proj", 3 * inner, a.d, false);
    store.linear("out_proj", a.d, inner, false);
    store.linear("output_gate", inner, a.d, false);
  }

  void operator()(const MatrixLstm& m) const {
    Store store(out, m.name, Role::mixer);
    if (m.fused) {
      store.linear("qkv_opreact", 2 * m.d_key + 2 * m.d_value, m.d, m.bias);
      store.linear("ifgate_preact", 2 * m.n_heads, m.d, true);
    } else {
      store.linear("q", m.d_key, m.d, m.bias);
      store.linear("k", m.d_key, m.d, m.bias);
      store.linear("v", m.d_value, m.d, m.bias);
      store.linear("ogate_preact", m.d_value, m.d, m.bias);
      store.linear("igate_preact", m.n_heads, m.d, true);
      store.linear("fgate_preact", m.n_heads, m.d, true);
    }
    store_norm(m.norm, m.name, out);
    store.linear("out_proj", m.d, m.d_value, m.bias);
  }

  void operator()(const TimeMix& t) const {
    Store store(out, t.name, Role::mixer);
    for (std::string_view name : {"time_decay", "time_first"}) store.tensor(name, {t.d_inner});
    for (std::string_view name : {"time_mix_key", "time_mix_value", "time_mix_receptance"})
      store.tensor(name, {Extent(1), Extent(1), t.d});
    for (const char* name : {"key", "value", "receptance"}) store.linear(name, t.d_inner, t.d, false);
    store.linear("output", t.d, t.d_inner, false);
  }

  void operator()(const HeadedTimeMix& t) const {
    Store store(out, t.name, Role::mixer);
    const Int n_heads = t.d_inner.value / t.head_dim.value;
    const auto mixtures = [&](std::string_view prefix, std::initializer_list<const char*> names) {
      for (const char* name : names) store.tensor(std::string(prefix) + name, {Extent(1), Extent(1), t.d});
    };
    const auto matrices = [&](std::initializer_list<const char*> names, const char* output) {
      for (const char* name : names) store.linear(name, t.d_inner, t.d, false);
      store.linear(output, t.d, t.d_inner, false);
    };
    const auto norm_of = [&](const char* name) {
      store_norm({.name = name, .width = t.d_inner, .kind = Norm::Kind::layer, .bias = true}, t.name, out);
    };
    if (!t.ranks) {
      for (const char* name : {"time_decay", "time_faaaa"}) store.tensor(name, {n_heads, t.head_dim});
      mixtures("time_mix_", {"key", "value", "receptance", "gate"});
      matrices({"key", "value", "receptance", "gate"}, "output");
      return norm_of("ln_x");
    }
    mixtures("x_", {"r", "w", "k", "v", "a", "g"});
    for (const char* name : {"k_k", "k_a"}) store.tensor(name, {t.d_inner});
    store.tensor("r_k", {n_heads, t.head_dim});
    matrices({"r_proj", "k_proj", "v_proj"}, "o_proj");
    const auto low_rank = [&](const std::string& name, Dim rank, bool bias) {
      store.linear(name + ".lora.0", rank, t.d, false);
      store.linear(name + ".lora.2", t.d_inner, rank, bias);
    };
    low_rank("w_lora", t.ranks->decay, true);
    if (t.ranks->mixes_values) low_rank("v_lora", t.ranks->value, true);
    low_rank("a_lora", t.ranks->rate, true);
    low_rank("g_lora", t.ranks->gate, false);
    norm_of("g_norm");
  }

  void operator()(const GatedRecurrence& r) const {
    Store store(out, r.name, Role::mixer);
    const Extent block(r.d_inner.value / r.n_heads.value);
    store.linear("linear_y", r.d_inner, r.d, true);
    store.linear("linear_x", r.d_inner, r.d, true);
    store.linear("linear_out", r.d, r.d_inner, true);
    store_convolution("conv_1d", r.d_inner, r.d_conv, true, store);
    store_activation(r.activation, store);
    store.tensor("rg_lru.recurrent_param", {r.d_inner});
    for (const std::string gate : {"rg_lru.input_gate", "rg_lru.recurrent_gate"}) {
      store.tensor(gate + "_weight", {r.n_heads, block, block}).use = Use::matrix;
      store.tensor(gate + "_bias", {r.n_heads, block});
    }
  }

  void operator()(const HeadConvolution& c) const {
    Store store(out, c.name, Role::mixer);
    const Extent channels = c.n_heads * c.head_dim + c.n_kv_heads * c.head_dim;
    store_convolution("conv_qk_depthwise", channels, c.taps, true, store);
    store.tensor("conv_qk_grouped.weight", {channels, c.head_dim, c.head_taps}).use = Use::convolution;
    store.tensor("conv_qk_grouped.bias", {channels});
  }

  void operator()(const Convolution& c) const {
    Store store(out, "", Role::mixer);
    store_convolution(c.name, c.d, c.d_conv, false, store);
  }

  void operator()(const HyperConnection& c) const {
    Store store(out, "", Role::other);
    store.tensor(c.matrix, {Extent(c.n_weights), c.n_streams * c.d}).use = Use::matrix;
    store.tensor(c.base, {Extent(c.n_weights)});
    store.tensor(c.scale, {Extent(c.n_scales)});
  }

  void operator()(const ShortConv& c) const {
    Store store(out, c.name, Role::mixer);
    store_convolution("conv", c.d, c.d_conv, c.bias, store);
    store.linear("in_proj", 3 * c.d, c.d, c.bias);
    store.linear("out_proj", c.d, c.d, c.bias);
  }

  // The routed experts.
  // A tensor for each expert; the first ones stand for those that a token passes through.
  void store_numbered(const MixtureOfExperts& moe) const {
    for (Int i = 0; i < moe.n_experts.value; ++i) {
      Store expert(out, join_names(moe.name, join_names(moe.expert.name, "expert_" + std::to_string(i))), Role::mlp);
      if (i >= moe.per_token) expert.bank.used = 0;
      store_mlp(moe.expert, expert);
    }
  }

  void store_bank(const MixtureOfExperts& moe) const {
    if (moe.numbered) return store_numbered(moe);
    const Bank bank{moe.n_experts, std::min(moe.per_token, moe.n_experts.value)};
    const bool separate = moe.storage == ExpertStorage::separate;
    Store experts(out, join_names(moe.name, join_names(moe.expert.name, separate ? "*" : "")), Role::mlp);
    experts.bank = bank;
    if (moe.storage == ExpertStorage::joined) {
      const Shape shape{moe.n_experts * moe.expert.d_ff, moe.expert.d};
      if (moe.expert.gated) experts.tensor(moe.expert.gate, shape).use = Use::matrix;
      experts.tensor(moe.expert.up, shape).use = Use::matrix;
      experts.tensor(moe.expert.down, shape).use = Use::matrix;
      return;
    }
    (separate ? experts.copies : experts.stacked.emplace()) = moe.n_experts;
    store_maps(moe.expert, experts);
    // The experts are one module, with one activation.
    Store bank_itself(out, join_names(moe.name, moe.expert.name), Role::mlp);
    if (!moe.expert.clamped) store_activation(moe.expert.activation, bank_itself);
  }

  void operator()(const Head& head) const {
    if (!head.tied) Store(out, head.name, Role::head).tensor("weight", {head.rows, head.d}).use = Use::matrix;
    if (head.bias) Store(out, head.name, Role::head).tensor("bias", {head.rows});
  }

  void operator()(const MaskedHead& head) const {
    Store store(out, "", Role::head);
    if (!head.bias.empty()) store.tensor(head.bias, {head.vocab});
    if (!head.transform.empty()) {
      store.linear(head.transform, head.width, head.d, head.transform_bias);
      store.tensor(head.norm + ".weight", {head.width});
      if (head.norm_bias) store.tensor(head.norm + ".bias", {head.width});
      store_activation(head.activation, store, head.act);
    }
    if (head.tied) return;
    store.tensor(head.decoder + ".weight", {head.vocab, head.columns()}).use = Use::matrix;
    if (head.decoder_bias && !head.bias.empty() && head.bias != head.decoder + ".bias")
      store.tensor(head.decoder + ".bias", {head.vocab});
  }

  void operator()(const Matrix& m) const {
    Store store(out, "", m.role);
    store.times = m.times;
    store.linear(m.name, m.out, m.in, m.bias);
  }

  void operator()(const Lone& lone) const {
    Tensor& tensor = Store(out, "", lone.role).tensor(lone.name, lone.shape);
    tensor.buffer = lone.buffer;
    tensor.use = lone.use;
    tensor.times = lone.times;
  }
};

}  // namespace

std::vector<Tensor> tensors_of(const Block& block, Naming naming) {
  std::vector<Tensor> tensors;
  tensors.reserve(8);
  tensors_of(block, tensors, naming);
  return tensors;
}
void tensors_of(const Block& block, std::vector<Tensor>& out, Naming naming) {
  std::visit(Visitor{{out, naming}}, block);
}
void tensors_of(const Norm& norm, std::vector<Tensor>& out, Naming naming) { store_norm(norm, "", {out, naming}); }

const std::string& block_name(const Block& block) {
  return std::visit(
      [](const auto& b) -> const std::string& {
        if constexpr (requires { b.name; })
          return b.name;
        else if constexpr (requires { b.matrix; })
          return b.matrix;
        else
          return b.decoder;
      },
      block);
}

bool is_feed_forward(const Block& block) {
  return std::holds_alternative<Mlp>(block) || std::holds_alternative<MixtureOfExperts>(block);
}
bool is_attention(const Block& block) {
  return std::holds_alternative<Attention>(block) || std::holds_alternative<LatentAttention>(block);
}

}  // namespace lmsize
