#include "report/count_json.h"

#include "report/reported_model.h"
#include "report/stored.h"

namespace lmsize {
namespace {

void write_shape(const MainSizes& sizes, JsonWriter& json) {
  json.key("shape").begin_object();
  json.member("hidden_size", sizes.hidden_size).member("intermediate_size", sizes.intermediate_size);
  json.member("num_hidden_layers", sizes.num_hidden_layers).member("num_attention_heads", sizes.num_attention_heads);
  json.member("num_key_value_heads", sizes.num_key_value_heads).member("head_dim", sizes.head_dim);
  json.member("vocab_size", sizes.vocab_size).member("tie_word_embeddings", sizes.tie_word_embeddings);
  json.end_object();
}

void write_parameters(const Count& count, JsonWriter& json) {
  json.key("parameters").begin_object().member("total", count.total).member("active", count.active);
  for (std::size_t r = 0; r < kRoles; ++r) json.member(kRoleNames[r], count.roles[r]);
  json.member("mtp", count.mtp).member("buffers", count.buffers).end_object();
}

void write_mlp(const std::optional<MlpCount>& mlp, JsonWriter& json) {
  json.key("mlp");
  if (!mlp) {
    json.null();
    return;
  }
  json.begin_object().member("kind", mlp->kind).member("activation", mlp->activation);
  json.member("matrices", mlp->matrices).member("d", mlp->d).member("d_ff", mlp->d_ff).member("ratio", mlp->ratio());
  json.member("parameters_per_layer", mlp->parameters_per_layer).member("rule_8_3", mlp->rule_8_3());
  if (mlp->experts) {
    json.key("experts").begin_object().member("count", mlp->experts->count);
    json.member("per_token", mlp->experts->per_token).member("shared", mlp->experts->shared);
    json.member("d_ff", mlp->experts->d_ff).end_object();
  }
  json.end_object();
}

void write_attention(const std::optional<AttentionCount>& attention, JsonWriter& json) {
  json.key("attention");
  if (!attention) {
    json.null();
    return;
  }
  json.begin_object().member("kind", attention->kind).member("n_heads", attention->n_heads);
  json.member("n_kv_heads", attention->n_kv_heads).member("head_dim", attention->head_dim);
  json.member("parameters_per_layer", attention->parameters_per_layer).end_object();
}

void write_layers(const std::vector<LayerCount>& layers, JsonWriter& json) {
  json.key("layers").begin_array();
  for (const LayerCount& layer : layers) {
    json.begin_object();
    if (!layer.part.empty()) json.member("part", layer.part);
    json.member("first", layer.first).member("last", layer.last).member("count", layer.count);
    for (Role role : kLayerRoles) json.member(name_of(role), of(layer.roles, role));
    json.member("total", layer.total).member("active", layer.active).end_object();
  }
  json.end_array();
}

void write_tensors(const std::vector<TensorCount>& tensors, JsonWriter& json) {
  json.key("tensors").begin_array();
  for (const TensorCount& tensor : tensors) {
    json.begin_object().member("name", tensor.name).key("shape").begin_array();
    for (const Int side : tensor.shape) json.value(side);
    json.end_array().member("count", tensor.count).member("parameters", tensor.parameters);
    json.member("role", name_of(tensor.role)).member("layers", tensor.layers).end_object();
  }
  json.end_array();
}

}  // namespace

void write_assumptions(std::span<const Diagnostic> assumptions, JsonWriter& json) {
  json.key("assumptions").begin_array();
  for (const Diagnostic& assumption : assumptions)
    json.begin_object().member("rule", assumption.rule).member("message", assumption.message).end_object();
  json.end_array();
}

void write_count_members(const CountReport& report, JsonWriter& json) {
  write_reported_model(report, json);
  write_shape(report.model.sizes, json);
  write_parameters(report.count, json);
  write_mlp(report.count.mlp, json);
  write_attention(report.count.attention, json);
  write_layers(report.count.layers, json);
  if (report.tensors) write_tensors(*report.tensors, json);
  if (report.stored != nullptr) write_stored_members(*report.stored, *report.implied, json);
}

void write_count_json(const CountReport& report, std::string& out) {
  out.reserve(out.size() + 1024);
  JsonWriter json(out);
  json.begin_object();
  write_count_members(report, json);
  json.end_object();
}

}  // namespace lmsize
