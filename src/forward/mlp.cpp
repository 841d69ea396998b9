#include "forward/mlp.h"

#include <utility>

#include "base/format.h"

namespace lmsize {
namespace {

// How PyTorch writes an activation's call.
std::string torch_call(Activation function, const std::string& x) {
  switch (function) {
    case Activation::linear:
      return x;
    case Activation::gelu_tanh:
      return format_text("F.gelu({}, approximate=\"tanh\")", x);
    case Activation::relu2:
      return format_text("F.relu({}).square()", x);
    case Activation::tanh:
    case Activation::sigmoid:
      return format_text("torch.{}({})", name_of(function), x);
    case Activation::gelu:
    case Activation::silu:
    case Activation::relu:
    case Activation::relu6:
    case Activation::leaky_relu:
    case Activation::mish:
    case Activation::hardswish:
      return format_text("F.{}({})", name_of(function), x);
    default:
      return format_text("ACT2FN[\"{}\"]({})", name_of(function), x);
  }
}

// "x @ W_up.T + b_up"
std::string product_text(const Mlp& mlp, std::string_view x, std::string_view matrix, bool bias) {
  std::string text = format_text("{} @ W_{}{}", x, matrix, mlp.layout == Layout::linear ? ".T" : "");
  if (bias) text += format_text(" + b_{}", matrix);
  return text;
}

template <class T>
Rows<T> elementwise_product(Rows<T> a, const Rows<T>& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] *= b.values[i];
  return a;
}

}  // namespace

std::string prefix_of(const Mlp& mlp) { return mlp.name.empty() ? "" : mlp.name + "."; }

template <class T>
Trace<T> run(const Mlp& mlp, Weights& weights, Engine<T>& engine, Rows<T> x) {
  const std::string prefix = prefix_of(mlp);
  const std::string act(name_of(mlp.activation));
  const std::string gate_text = product_text(mlp, "x", "gate", mlp.up_bias);
  const std::string up_text = product_text(mlp, "x", "up", mlp.up_bias);
  const std::string down_text = product_text(mlp, "h", "down", mlp.down_bias);
  const ActivationParameters learned = weights.activation(prefix);
  const auto map = [&](const std::string& name) { return weights.linear(prefix + name, mlp.layout); };
  // A fused matrix has the gate's outputs first.
  const auto d_ff = static_cast<std::size_t>(mlp.d_ff.value);
  const auto gate_map = [&] { return mlp.fused.empty() ? map(mlp.gate) : map(mlp.fused).outputs(0, d_ff); };
  const auto up_map = [&] {
    return mlp.gated && !mlp.fused.empty() ? map(mlp.fused).outputs(d_ff, d_ff) : map(mlp.up);
  };

  Trace<T> trace;
  const auto step = [&](std::string name, std::string formula, std::string pytorch, Dim width,
                        Rows<T> values) -> const Rows<T>& {
    trace.push_back({std::move(name), std::move(formula), std::move(pytorch), width, std::move(values)});
    return trace.back().values;
  };

  const Rows<T>& in = step("x", "x", "", mlp.d, std::move(x));
  const Rows<T>* h = nullptr;
  if (mlp.gated) {
    const Rows<T>& gate = step("gate", "gate = " + gate_text, "", mlp.d_ff, engine.linear(in, gate_map()));
    const std::string activated_name = act + "(gate)";
    const Rows<T>& activated =
        step(activated_name, activated_name, "", mlp.d_ff, engine.activate(mlp.activation, learned, gate));
    const Rows<T>& up = step("up", "up = " + up_text, "", mlp.d_ff, engine.linear(in, up_map()));
    h = &step("h", "h = " + activated_name + " * up",
              "h = " + torch_call(mlp.activation, gate_text) + " * (" + up_text + ")", mlp.d_ff,
              elementwise_product(activated, up));
  } else {
    const Rows<T>& up = step("up", "up = " + up_text, "", mlp.d_ff, engine.linear(in, up_map()));
    h = &step("h", "h = " + act + "(up)", "h = " + torch_call(mlp.activation, up_text), mlp.d_ff,
              engine.activate(mlp.activation, learned, up));
  }
  step("y", "y = " + down_text, "y = " + down_text, mlp.d, engine.linear(*h, map(mlp.down)));
  return trace;
}

template Trace<float> run(const Mlp&, Weights&, Engine<float>&, Rows<float>);
template Trace<double> run(const Mlp&, Weights&, Engine<double>&, Rows<double>);

}  // namespace lmsize
