#include <algorithm>
#include <cmath>
#include <utility>

#include "forward/layout.h"
#include "forward/pass.h"

namespace lmsize {
namespace {

std::size_t size(const Dim& dim) { return static_cast<std::size_t>(dim.value); }

template <class T>
struct Projections {
  Rows<T> q, k, v, gate;  // gate: where it comes with the queries, else empty
};

// q, k and v of a fused matrix's output.
template <class T>
Projections<T> split(const Attention& a, const Rows<T>& fused) {
  const std::size_t head = size(a.head_dim), n_heads = size(a.n_heads), n_kv = size(a.n_kv_heads);
  const std::size_t q = n_heads * head, kv = n_kv * head;
  switch (a.fused_order) {
    case FusedOrder::joined:
      return {columns(fused, 0, q), columns(fused, q, kv), columns(fused, q + kv, kv), {}};
    case FusedOrder::by_group: {
      const std::size_t queries = q / n_kv;
      return {columns_of_groups(fused, n_kv, 0, queries),
              columns_of_groups(fused, n_kv, queries, head),
              columns_of_groups(fused, n_kv, queries + head, head),
              {}};
    }
    case FusedOrder::codegen:
      return {columns_of_groups(fused, 4, 0, q / 4),
              columns_of_groups(fused, 4, q / 2, q / 4),
              columns_of_groups(fused, 4, q / 4, q / 4),
              {}};
  }
  throw InternalError("an order of q, k and v without code");
}

template <class T>
Projections<T> project(const Attention& a, const std::string& block, Pass<T>& pass, const Rows<T>& x) {
  const auto linear = [&](const std::string& name, const Dim& width) {
    Rows<T> y = pass.engine.linear(x, pass.weights.linear(joined(block, name), a.layout));
    pass.recorder.record(Depth::block, {.name = {}, .module = joined(block, name), .width = width}, y);
    return y;
  };
  const std::size_t head = size(a.head_dim);
  const Dim q_width(a.n_heads.value * a.head_dim.value), kv_width(a.n_kv_heads.value * a.head_dim.value);
  const Dim v_width(a.d_v.value == 0 ? kv_width.value : a.n_kv_heads.value * a.d_v.value);
  if (!a.fused.empty()) return split(a, linear(a.fused, Dim(q_width.value + 2 * kv_width.value)));
  Projections<T> made;
  made.q = linear(a.q, Dim(a.gate == OutputGate::with_q ? 2 * q_width.value : q_width.value));
  if (a.gate == OutputGate::with_q) {
    made.gate = columns_of_groups(made.q, size(a.n_heads), head, head);
    made.q = columns_of_groups(made.q, size(a.n_heads), 0, head);
  }
  if (!a.fused_kv.empty()) {
    const Rows<T> both = linear(a.fused_kv, Dim(2 * kv_width.value));
    made.k = columns(both, 0, size(kv_width));
    made.v = columns(both, size(kv_width), size(kv_width));
  } else {
    made.k = linear(a.k, kv_width);
    made.v = a.v_is_k ? made.k : linear(a.v, v_width);
  }
  return made;
}

template <class T>
void clip(double limit, Rows<T>& x) {
  if (limit == 0) return;
  for (T& v : x.values) v = std::clamp(v, static_cast<T>(-limit), static_cast<T>(limit));
}

// Norm, then rope, or the other way round.
template <class T>
void place(const Attention& a, const std::string& block, const std::optional<Norm>& norm, const Dim& heads,
           Pass<T>& pass, Rows<T>& x) {
  const auto turn = [&] {
    if (a.rope) pass.engine.turn({&*a.rope, pass.seq, size(heads), size(a.head_dim)}, x);
  };
  if (a.norm_after_rope) turn();
  if (norm) x = run(*norm, block, pass, x);
  clip(a.clip, x);
  if (!a.norm_after_rope) turn();
}

// What the context is multiplied with, before its sigmoid; empty where there is no gate.
template <class T>
Rows<T> output_gate(const Attention& a, const std::string& block, Pass<T>& pass, const Rows<T>& x, Rows<T> with_q) {
  if (a.gate == OutputGate::none) return {};
  Rows<T> gate = a.gate == OutputGate::with_q ? std::move(with_q)
                                              : pass.engine.linear(x, pass.weights.linear(joined(block, a.gate_name)));
  return pass.engine.activate(Activation::sigmoid, {}, gate);
}

// Takes down and drops the probabilities.
template <class T>
Rows<T> attend(const AttentionShape& shape, const std::string& block, Pass<T>& pass, const Rows<T>& q, const Rows<T>& k,
               const Rows<T>& v) {
  const auto step = [&](std::string_view name, const Rows<T>& values) {
    pass.recorder.record(Depth::block,
                         {.name = {}, .module = joined(block, name), .width = Dim(static_cast<Int>(values.columns))},
                         values);
  };
  step("q", q);
  step("k", k);
  step("v", v);
  Attended<T> made = pass.engine.attend(shape, q, k, v, pass.recorder.wants(Depth::block));
  const auto side = [](std::size_t n) { return static_cast<Int>(n); };
  pass.recorder.record(Depth::block, {.name = {}, .module = joined(block, "probs")}, made.probabilities,
                       {side(shape.batch), side(shape.n_heads), side(shape.seq), side(shape.seq)});
  step("ctx", made.context);
  return std::move(made.context);
}

template <class T>
Rows<T> output(const std::string& block, const std::string& name, Layout layout, const Dim& d, Pass<T>& pass,
               const Rows<T>& context) {
  Rows<T> y = pass.engine.linear(context, pass.weights.linear(joined(block, name), layout));
  pass.recorder.record(Depth::block, {.name = {}, .module = joined(block, name), .width = d}, y);
  return y;
}

}  // namespace

template <class T>
Rows<T> run(const Attention& a, const std::string& path, Pass<T>& pass, const Rows<T>& x) {
  const std::string block = joined(path, a.name);
  Projections<T> p = project(a, block, pass, x);
  place(a, block, a.q_norm, a.n_heads, pass, p.q);
  place(a, block, a.k_norm, a.n_kv_heads, pass, p.k);
  if (a.v_norm) p.v = run(*a.v_norm, block, pass, p.v);
  clip(a.clip, p.v);
  scale(p.v, a.value_scale);

  AttentionShape shape{.batch = pass.batch,
                       .seq = pass.seq,
                       .n_heads = size(a.n_heads),
                       .n_kv_heads = size(a.n_kv_heads),
                       .d_qk = size(a.head_dim),
                       .d_v = a.d_v.value == 0 ? size(a.head_dim) : size(a.d_v),
                       .scale = a.scale.value_or(1 / std::sqrt(static_cast<double>(a.head_dim.value))),
                       .softcap = a.softcap,
                       .causal = a.causal,
                       .window = a.window,
                       .chunk = a.chunk,
                       .alibi = a.alibi,
                       .temperature = a.temperature};
  if (a.sinks) shape.sinks = pass.weights.vector(joined(block, a.sinks_name));
  Rows<T> context = attend(shape, block, pass, p.q, p.k, p.v);
  if (const Rows<T> gate = output_gate(a, block, pass, x, std::move(p.gate)); gate.rows > 0)
    multiply_groups(context, gate);
  if (a.o_norm) context = run(*a.o_norm, block, pass, context);
  Rows<T> y = output(block, a.o, a.layout, a.d, pass, context);
  if (!a.o_bias_name.empty()) {
    const std::span<const float> bias = pass.weights.vector(joined(block, a.o_bias_name));
    for (std::size_t r = 0; r < y.rows; ++r)
      for (std::size_t c = 0; c < y.columns; ++c) y.row(r)[c] += static_cast<T>(bias[c]);
  }
  return y;
}

template <class T>
Rows<T> run(const LatentAttention& a, const std::string& path, Pass<T>& pass, const Rows<T>& x) {
  const std::string block = joined(path, a.name);
  const std::size_t nope = size(a.d_nope), rope = size(a.d_rope), d_v = size(a.d_v), n_heads = size(a.n_heads);
  const std::size_t d_qk = nope + rope;
  const auto linear = [&](const std::string& name, const Rows<T>& in) {
    Rows<T> y = pass.engine.linear(in, pass.weights.linear(joined(block, name)));
    pass.recorder.record(Depth::block,
                         {.name = {}, .module = joined(block, name), .width = Dim(static_cast<Int>(y.columns))}, y);
    return y;
  };
  const auto norm = [&](const std::string& name, const Dim& width, const Rows<T>& in) {
    return run(Norm{.name = name, .width = width, .eps = a.eps}, block, pass, in);
  };

  Rows<T> q =
      a.q_rank ? linear("q_b_proj", norm("q_a_layernorm", *a.q_rank, linear("q_a_proj", x))) : linear("q_proj", x);
  pass.engine.turn({&a.rope, pass.seq, n_heads, d_qk, nope}, q);

  const Rows<T> latent = linear("kv_a_proj_with_mqa", x);
  Rows<T> k_rope = columns(latent, size(a.kv_rank), rope);
  if (!a.rope_norm.empty()) k_rope = norm(a.rope_norm, a.d_rope, k_rope);
  pass.engine.turn({&a.rope, pass.seq, 1, rope}, k_rope);
  const Rows<T> unpacked = linear("kv_b_proj", norm("kv_a_layernorm", a.kv_rank, columns(latent, 0, size(a.kv_rank))));
  const Rows<T> v = columns_of_groups(unpacked, n_heads, nope, d_v);
  // Each head's key: its own part, then the rotary part that all share.
  Rows<T> k(x.rows, n_heads * d_qk);
  for (std::size_t r = 0; r < x.rows; ++r) {
    for (std::size_t h = 0; h < n_heads; ++h) {
      T* key = k.row(r) + h * d_qk;
      std::copy_n(unpacked.row(r) + h * (nope + d_v), nope, key);
      std::copy_n(k_rope.row(r), rope, key + nope);
    }
  }

  AttentionShape shape{.batch = pass.batch,
                       .seq = pass.seq,
                       .n_heads = n_heads,
                       .n_kv_heads = n_heads,
                       .d_qk = d_qk,
                       .d_v = d_v,
                       .scale = a.scale.value_or(1 / std::sqrt(static_cast<double>(d_qk))),
                       .window = a.window,
                       .temperature = a.temperature};
  if (!a.sinks.empty()) shape.sinks = pass.weights.vector(joined(block, a.sinks));
  Rows<T> context = attend(shape, block, pass, q, k, v);
  if (a.gate != OutputGate::none)
    multiply_groups(context, pass.engine.activate(Activation::sigmoid, {}, linear(a.gate_name, x)));
  return output(block, a.o, Layout::linear, a.d, pass, context);
}

template Rows<float> run(const Attention&, const std::string&, Pass<float>&, const Rows<float>&);
template Rows<double> run(const Attention&, const std::string&, Pass<double>&, const Rows<double>&);
template Rows<float> run(const LatentAttention&, const std::string&, Pass<float>&, const Rows<float>&);
template Rows<double> run(const LatentAttention&, const std::string&, Pass<double>&, const Rows<double>&);

}  // namespace lmsize
