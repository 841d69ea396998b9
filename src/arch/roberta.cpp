// RoBERTa and its descendants: BERT's layers, a head with a matrix and norm of its own.

#include <set>
#include <tuple>

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {

void finish_roberta(Reader& config, Model& model, Stack& stack, const Sizes& s) {
  if (model.head_kind == HeadKind::none || model.head_kind == HeadKind::multiple_choice) add_pooler(model, stack, s);
  encoder_heads(
      config, model, s,
      {.masked = roberta_masked_head(s), .dense = "classifier.dense", .sentence_classifier = "classifier.out_proj"});
}

namespace {

void roberta_layout(Reader& config, Model& model, Int vocab, bool head_first) {
  const Sizes s = read_sizes(config, model, bert_sizes(vocab));
  Stack& stack = bert_stack(config, model, s);
  // A shared table belongs where the class meets it first, which may be the head.
  const bool has_head =
      model.head_kind == HeadKind::language_model || model.head_kind == HeadKind::masked_language_model;
  if (head_first && has_head && s.tied) std::get<Embedding>(stack.input.front().block).role = Role::head;
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  finish_roberta(config, model, stack, s);
}

}  // namespace

// RobertaForCausalLM, RobertaForMaskedLM.
void roberta(Reader& config, Model& model) { roberta_layout(config, model, 50265, false); }

// Data2VecTextForCausalLM: another default.
void data2vec_text(Reader& config, Model& model) { roberta_layout(config, model, 30522, false); }

// CamembertForCausalLM, XLMRobertaForCausalLM: the classes declare the head before the base.
void camembert(Reader& config, Model& model) { roberta_layout(config, model, 30522, true); }

// RobertaPreLayerNormForCausalLM.
void roberta_prelayernorm(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes(50265));
  Stack& stack = bert_stack(config, model, s);
  add_layers(stack, s.n_layers.value,
             bert_layer(config, s, {.attention = "LayerNorm", .mlp = "intermediate.LayerNorm", .before = true}));
  stack.output.push_back({model.base, s.named("LayerNorm")});
  finish_roberta(config, model, stack, s);
}

// XLMRobertaXLForCausalLM: norms before the blocks, none of the embeddings.
void xlm_roberta_xl(Reader& config, Model& model) {
  SizeDefaults sizes = bert_sizes(250880);
  sizes.d = 2560;
  sizes.d_ff = 10240;
  sizes.n_layers = 36;
  sizes.n_heads = 32;
  sizes.norm.eps = 1e-5;
  const Sizes s = read_sizes(config, model, sizes);
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_tables(config, model, stack, s, s.d, 514, 1);
  add_layers(stack, s.n_layers.value,
             bert_layer(config, s, {.attention = "self_attn_layer_norm", .mlp = "LayerNorm", .before = true}));
  stack.output.push_back({model.under_base("encoder"), s.named("LayerNorm")});
  finish_roberta(config, model, stack, s);
}

// XmodForCausalLM: behind each MLP an adapter for each language.
void xmod(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes());
  check_learned(config, s.activation, key::activation);
  const bool before = config.flag("pre_norm", false);
  const Dim adapter(s.d.value / config.size("adapter_reduction_factor", 2));
  const bool adapter_norm = config.flag("adapter_layer_norm", false);
  const auto listed = config.texts("languages").value_or(std::vector<std::string>{"en_XX"});
  const std::set<std::string> languages(listed.begin(), listed.end());
  Stack& stack = bert_stack(config, model, s);
  Layer layer = bert_layer(config, s, {.before = before});
  if (adapter_norm) layer.branches.push_back({.block = s.named("output.adapter_layer_norm")});
  for (const std::string& language : languages)
    for (const auto& [name, out, in] : {std::tuple("dense1", adapter, s.d), std::tuple("dense2", s.d, adapter)})
      layer.branches.push_back({.block = Matrix{"output.adapter_modules." + language + "." + name, out, in, true}});
  add_layers(stack, s.n_layers.value, layer);
  if (before) stack.output.push_back({model.under_base("encoder"), s.named("LayerNorm")});
  finish_roberta(config, model, stack, s);
}

}  // namespace lmsize
