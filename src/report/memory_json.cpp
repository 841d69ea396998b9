#include "analysis/memory_steps.h"
#include "report/cost_steps.h"
#include "report/json_writer.h"
#include "report/memory.h"

namespace lmsize {
namespace {

void write_weights(const MemoryReport& report, JsonWriter& json) {
  const Memory& memory = report.memory;
  json.key("weights").begin_object().member("bytes", memory.whole.weights);
  json.member("bytes_per_device", memory.device.weights).key("by_role").begin_object();
  for (std::size_t r = 0; r < kRoles; ++r) json.member(kRoleNames[r], memory.weights_by_role[r]);
  json.end_object().end_object();
}

void write_cache(const MemoryReport& report, JsonWriter& json) {
  const Memory& memory = report.memory;
  json.key("kv_cache").begin_object().member("bytes", memory.whole.cache);
  json.member("bytes_per_device", memory.device.cache).member("bytes_per_token", memory.whole.cache_per_token);
  json.member("bytes_per_token_per_device", memory.device.cache_per_token);
  json.member("bytes_per_encoder_token", memory.whole.cache_per_encoder_token);
  json.member("dtype", report.asked.cache_format.name).member("max_model_len", report.asked.max_model_len);
  json.member("batch_size", report.asked.batch).key("layers").begin_array();
  for (const CacheLayers& layers : memory.layers) {
    json.begin_object();
    if (!layers.part.empty()) json.member("part", layers.part);
    json.member("first", layers.first).member("last", layers.last).member("kind", name_of(layers.kind));
    json.member("window", layers.window)
        .member("tokens_per_entry", layers.rate)
        .member("bytes_per_token", layers.bytes_per_token)
        .end_object();
  }
  json.end_array().end_object();
}

void write_state(const MemoryReport& report, JsonWriter& json) {
  const Memory& memory = report.memory;
  json.key("state").begin_object().member("bytes", memory.whole.state);
  json.member("bytes_per_device", memory.device.state).member("dtype", report.asked.state_format.name);
  json.member("recurrent_elements", memory.recurrent).member("input_elements", memory.inputs).end_object();
}

void write_training(const MemoryReport& report, JsonWriter& json) {
  const TrainingQuestion& asked = *report.asked.training;
  const TrainingUsage &whole = *report.memory.whole.training, &device = *report.memory.device.training;
  constexpr std::string_view optimizers[]{"adamw", "sgd"}, recomputes[]{"none", "selective", "full"};
  json.key("training").begin_object();
  json.member("optimizer", optimizers[static_cast<std::size_t>(asked.optimizer)]).member("zero", asked.zero);
  json.member("data_parallel", asked.data_parallel);
  json.member("recompute", recomputes[static_cast<std::size_t>(asked.recompute)]);
  const auto part = [&](std::string_view name, const auto& bytes, const auto& per_device) {
    json.key(name).begin_object().member("bytes", bytes).member("bytes_per_device", per_device).end_object();
  };
  part("weights", whole.weights, device.weights);
  part("gradients", whole.gradients, device.gradients);
  part("optimizer_states", whole.optimizer, device.optimizer);
  part("master_weights", whole.master_weights, device.master_weights);
  part("activations", whole.activations, device.activations);
  json.end_object();
}

}  // namespace

void write_memory_json(const MemoryReport& report, std::string& out) {
  const MemoryQuestion& asked = report.asked;
  const Memory& memory = report.memory;
  JsonWriter json(out);
  json.begin_object();
  write_reported_model(report.about, json);
  json.member("dtype", asked.dtype());
  json.member("tensor_parallel", asked.tensor_parallel).member("pipeline_parallel", asked.pipeline_parallel);
  write_weights(report, json);
  write_cache(report, json);
  write_state(report, json);
  const bool training = asked.training.has_value();
  json.key("activations").begin_object();
  json.member("bytes", training ? memory.whole.training->activations : memory.whole.activations);
  json.member("bytes_per_device", training ? memory.device.training->activations : memory.device.activations);
  json.member("formula", memory.activations_formula).end_object();
  if (training) write_training(report, json);
  json.key("total").begin_object().member("bytes", memory.whole.total);
  json.member("bytes_per_device", memory.device.total).end_object();
  if (report.explain) write_steps_json(steps_of(memory, asked), json);
  json.end_object();
}

}  // namespace lmsize
