// GPT-Neo: GPT-2's layers with split projections; every second layer (attention_types) looks back window_size tokens
// only; scores are not scaled.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// attention_types [[["global", "local"], 12], …]: each list of kinds as often as its number says; true: local.
std::vector<bool> local_layers(Reader& config, Int n) {
  const Value types = config.find("attention_types");
  std::vector<bool> locals;
  const auto malformed = [&] {
    config.fail("malformed", "attention_types", "attention_types is no list of [[\"global\" or \"local\", …], times]");
  };
  const auto repeat = [&](const std::vector<bool>& kinds, Int times) {
    check_layer_number(multiply(times, static_cast<Int>(kinds.size())));
    for (Int i = 0; i < times; ++i) locals.insert(locals.end(), kinds.begin(), kinds.end());
    check_layer_number(static_cast<Int>(locals.size()));
  };
  if (!types || types.is_null()) {
    if (n != 24)  // the class's default has 24
      config.assume("attention-types-default", "attention_types is not given: every second layer is local");
    repeat({false, true}, n / 2 + 1);
    locals.resize(static_cast<std::size_t>(n));
  } else {
    if (types.kind() != JsonKind::array) malformed();
    for (Value item = types.first_child(); item; item = item.next()) {
      const Value names = item.kind() == JsonKind::array ? item.first_child() : Value();
      const Value times = names ? names.next() : Value();
      if (!times || names.kind() != JsonKind::array || times.kind() != JsonKind::number) malformed();
      const IntegerText number = integer_of(times.text());
      if (!number.fault.empty()) malformed();
      std::vector<bool> kinds;
      for (Value name = names.first_child(); name; name = name.next())
        kinds.push_back(name.kind() == JsonKind::string && name.text() == "local");
      repeat(kinds, number.value);
    }
  }
  if (static_cast<Int>(locals.size()) != n)
    config.fail(
        "list-length", "attention_types",
        "attention_types gives " + std::to_string(locals.size()) + " layers, num_layers is " + std::to_string(n));
  return locals;
}

}  // namespace

// GPTNeoForCausalLM.
void gpt_neo(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 50257,
                              .d = 2048,
                              .n_layers = 24,
                              .n_heads = 16,
                              .tied = true,
                              .activation = "gelu_new",
                              .norm = kLayerNorm,
                              .has_kv_heads = false,
                              .has_head_dim = false});
  const Dim positions{config.size("max_position_embeddings", 2048), Symbol::n_positions};
  const Int window = config.size("window_size", 256);
  config.ignore({"attention_layers"});  // attention_types written out
  Attention attention = s.attention();
  attention.name = "attn.attention";
  attention.o = "out_proj";
  attention.o_bias = true;
  attention.scale = 1;
  const Mlp mlp = s.plain_mlp(config, "c_fc", "c_proj", true);
  Stack& stack =
      decoder_frame(config, model, s, {.embedding = "wte", .layers = "h", .norm = "ln_f", .classifier = "classifier"});
  stack.input.push_back({model.base, Embedding{"wpe", positions, s.d}});
  add_layers(stack, local_layers(config, s.n_layers.value), [&](Layer& layer, bool local) {
    attention.window = local ? std::optional(window) : std::nullopt;
    layer = pre_norm_layer(s, attention, mlp, "ln_1", "ln_2");
  });
}

}  // namespace lmsize
