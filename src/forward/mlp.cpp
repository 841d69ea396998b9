#include <utility>

#include "base/format.h"
#include "forward/layout.h"
#include "forward/pass.h"

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

}  // namespace

template <class T>
Rows<T> run(const Mlp& mlp, const std::string& path, Pass<T>& pass, const Rows<T>& x, const Slice& slice) {
  Engine<T>& engine = pass.engine;
  const std::string block = joined(path, mlp.name);
  const std::string act(name_of(mlp.activation));
  const std::string gate_text = product_text(mlp, "x", "gate", mlp.up_bias);
  const std::string up_text = product_text(mlp, "x", "up", mlp.up_bias);
  const std::string down_text = product_text(mlp, "h", "down", mlp.down_bias);
  const bool in_bank = slice.routed && slice.storage == ExpertStorage::separate;
  const ActivationParameters learned = pass.weights.activation(in_bank ? block.substr(0, block.rfind('.')) : block);
  const auto map = [&](const std::string& name) { return pass.weights.linear(joined(block, name), mlp.layout, slice); };
  const auto step = [&](std::string name, const std::string& module, std::string formula, std::string pytorch,
                        Dim width, const Rows<T>& values) {
    pass.recorder.record(
        Depth::block, {std::move(name), joined(block, module), std::move(formula), std::move(pytorch), width}, values);
  };
  step("x", "x", "x", "", mlp.d, x);

  Rows<T> h;
  if (mlp.gated) {
    Rows<T> gate, up;
    if (mlp.fused.empty()) {
      gate = engine.linear(x, map(mlp.gate));
      up = engine.linear(x, map(mlp.up));
    } else {
      const auto d_ff = static_cast<std::size_t>(mlp.d_ff.value);
      const Rows<T> both = engine.linear(x, map(mlp.fused));
      gate = mlp.interleaved ? columns(both, 0, d_ff, 2) : columns(both, 0, d_ff);
      up = mlp.interleaved ? columns(both, 1, d_ff, 2) : columns(both, d_ff, d_ff);
    }
    const std::string activated = act + "(gate)";
    step("gate", mlp.gate, "gate = " + gate_text, "", mlp.d_ff, gate);
    if (pass.recorder.wants(Depth::block) && !mlp.clamped)
      step(activated, "act_fn", activated, "", mlp.d_ff, engine.activate(mlp.activation, learned, gate));
    step("up", mlp.up, "up = " + up_text, "", mlp.d_ff, up);
    if (mlp.clamped) {
      h = engine.gate(*mlp.clamped, std::move(gate), up);
      step("h", "h", "h = clamped gate * up", "", mlp.d_ff, h);
    } else {
      h = engine.gate(mlp.activation, learned, std::move(gate), up);
      step("h", "h", "h = " + activated + " * up",
           "h = " + torch_call(mlp.activation, gate_text) + " * (" + up_text + ")", mlp.d_ff, h);
    }
  } else {
    const Rows<T> up = engine.linear(x, map(mlp.up));
    step("up", mlp.up, "up = " + up_text, "", mlp.d_ff, up);
    h = engine.activate(mlp.activation, learned, up);
    step("h", "h", "h = " + act + "(up)", "h = " + torch_call(mlp.activation, up_text), mlp.d_ff, h);
  }
  if (mlp.norm) h = run(*mlp.norm, block, pass, h);
  // Where experts are joined, all of their matrices lie (d_ff, d).
  const bool turned = slice.storage == ExpertStorage::joined;
  Rows<T> y =
      engine.linear(h, pass.weights.linear(joined(block, mlp.down), turned ? Layout::conv1d : mlp.layout, slice));
  step("y", mlp.down, "y = " + down_text, "y = " + down_text, mlp.d, y);
  return y;
}

template Rows<float> run(const Mlp&, const std::string&, Pass<float>&, const Rows<float>&, const Slice&);
template Rows<double> run(const Mlp&, const std::string&, Pass<double>&, const Rows<double>&, const Slice&);

}  // namespace lmsize
