#include "analysis/memory_steps.h"

#include "analysis/layers.h"
#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

class Steps {
 public:
  Steps(const Memory& memory, const MemoryQuestion& asked) : memory_(memory), asked_(asked) {}

  std::vector<CostStep> take() {
    asked_.training ? add_training() : add_weights();
    if (!asked_.training) {
      for (const CacheLayers& layers : memory_.layers) add_layers(layers);
      add_cache();
      add_states();
    }
    const std::optional<Int>& activations =
        asked_.training ? memory_.whole.training->activations : memory_.whole.activations;
    if (activations)
      add("activations", "activations", memory_.activations_formula, memory_.activations_numbers, *activations);
    if (memory_.whole.total) add("total", "total", "the sum of these", "", *memory_.whole.total);
    add_device();
    return std::move(steps_);
  }

 private:
  void add(std::string part, std::string name, std::string symbols, std::string numbers, Int value) {
    steps_.push_back({std::move(part), std::move(name), std::move(symbols), std::move(numbers), value});
  }

  void add_weights() {
    const std::optional<NumberFormat>& quantized = asked_.storage.quantized;
    for (std::size_t r = 0; r < kRoles; ++r) {
      const Int parameters = memory_.parameters_by_role[r], bytes = memory_.weights_by_role[r];
      if (parameters == 0) continue;
      const std::string each = decimal(8.0 * static_cast<double>(bytes) / static_cast<double>(parameters), 3);
      add("weights", std::string(kRoleNames[r]), "parameters x bits / 8",
          format_text("{} x {} / 8", grouped(parameters), each), bytes);
    }
    const std::string formats =
        quantized ? format_text("the sum of these: {}, the rest in {}", quantized->name, asked_.storage.plain.name)
                  : format_text("the sum of these, in {}", asked_.storage.plain.name);
    add("weights", "weights", formats, "", memory_.whole.weights);
  }

  void add_layers(const CacheLayers& layers) {
    if (layers.elements.empty()) return;
    const NumberFormat& format = asked_.cache_format;
    const std::string runs = layers.times == 1 ? "" : format_text("{} runs x ", layers.times);
    const std::string name = layers_in_words(layers.part, layers.first, layers.last);
    add("kv_cache", format_text("{}, {}", name, name_of(layers.kind)),
        format_text("{}({}) x bytes{}", runs, layers.elements.symbols(), layers.rate == 1 ? " a token" : " / rate"),
        format_text("{}({}) x {}{}", runs, layers.elements.numbers(), decimal(format.bits_each() / 8, 4),
                    layers.rate == 1 ? "" : format_text(" / {}", layers.rate)),
        layers.bytes_per_token);
  }

  void add_cache() {
    if (memory_.whole.cache_per_token == 0 && memory_.whole.cache_per_encoder_token == 0) return;
    add("kv_cache", "a token", "sum over layers, before any window is full", "", memory_.whole.cache_per_token);
    if (!memory_.whole.cache) return;
    add("kv_cache", "KV cache", "batch x sum over layers of bytes a token x min(tokens, window)",
        format_text("{} sequences of {} tokens", asked_.batch, *asked_.max_model_len), *memory_.whole.cache);
  }

  void add_states() {
    if (memory_.whole.state == 0) return;
    add("state", "states", "batch x (recurrences + last inputs)",
        format_text("{} x ({} in {} + {} in {})", asked_.batch, memory_.recurrent, asked_.state_format.name,
                    memory_.inputs, asked_.storage.plain.name),
        memory_.whole.state);
  }

  void add_training() { add_training(*memory_.whole.training, "", 1); }

  // Of the whole, or of the device with most of it, where ZeRO shares among so many ranks.
  void add_training(const TrainingUsage& usage, const std::string& where, Int ranks) {
    const Int each = asked_.storage.plain.bytes(1);
    const auto product = [&](std::string_view name, Int bytes, Int value, Int from_stage) {
      const bool shared = ranks > 1 && asked_.training->zero >= from_stage;
      add(where.empty() ? "training" : "device", std::string(name) + where,
          shared ? "parameters x bytes / ranks" : "parameters x bytes",
          format_text("{} x {}{}", grouped(usage.parameters), bytes, shared ? format_text(" / {}", ranks) : ""), value);
    };
    product("weights", each, usage.weights, 3);
    product("gradients", each, usage.gradients, 2);
    const bool adamw = asked_.training->optimizer == Optimizer::adamw;
    product(adamw ? "AdamW's two moments, float32" : "SGD's momentum, float32", adamw ? 8 : 4, usage.optimizer, 1);
    if (usage.master_weights > 0) product("master weights, float32", 4, usage.master_weights, 1);
  }

  // What the device with most of each holds.
  void add_device() {
    const Int ranks = asked_.training ? asked_.training->data_parallel : 1;
    if (asked_.tensor_parallel == 1 && asked_.pipeline_parallel == 1 && ranks == 1) return;
    const Usage& device = memory_.device;
    const std::string part = format_text("the same of its part: heads, widths and rows / {}, layers / {}",
                                         asked_.tensor_parallel, asked_.pipeline_parallel);
    const auto line = [&](std::string_view name, const std::optional<Int>& value) {
      if (value) add("device", std::string(name) + ", a device", part, "", *value);
    };
    if (asked_.training) {
      add_training(*device.training, ", a device", ranks);
      line("activations", device.training->activations);
    } else {
      line("weights", device.weights);
      line("KV cache of a token", device.cache_per_token);
      line("KV cache", device.cache);
      if (device.state > 0) line("states", device.state);
      line("activations", device.activations);
    }
    if (device.total) add("device", "total, a device", "the largest sum of one device", "", *device.total);
  }

  const Memory& memory_;
  const MemoryQuestion& asked_;
  std::vector<CostStep> steps_;
};

}  // namespace

std::vector<CostStep> steps_of(const Memory& memory, const MemoryQuestion& asked) {
  return Steps(memory, asked).take();
}

}  // namespace lmsize
