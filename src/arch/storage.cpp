#include "arch/storage.h"

#include <algorithm>

#include "base/spelling.h"
#include "base/text.h"

namespace lmsize {
namespace {

using Scope = NumberFormat::Scope;

// The value at a key of the root, or else of an object right inside it.
Value find_at(Value root, std::string_view key) {
  if (const Value here = root.member(key); here && !here.is_null()) return here;
  for (Value m = root.first_child(); m; m = m.next())
    if (m.kind() == JsonKind::object && !m.shadowed())
      if (const Value there = m.member(key); there && !there.is_null()) return there;
  return {};
}

std::string_view text_at(Value object, std::string_view key) {
  const Value value = object.member(key);
  return value && value.kind() == JsonKind::string ? value.text() : std::string_view();
}

bool truth_at(Value object, std::string_view key, bool absent) {
  const Value value = object.member(key);
  return value && value.kind() == JsonKind::boolean ? value.truth() : absent;
}

std::optional<Int> integer(Value value) {
  if (!value || value.kind() != JsonKind::number) return std::nullopt;
  const IntegerText read = integer_of(value.text());
  return read.fault.empty() && read.value > 0 ? std::optional(read.value) : std::nullopt;
}

// -1 and absent: one group for a whole row.
Int group_at(Value object, std::string_view key, Int absent) {
  const Value value = object.member(key);
  if (!value || value.is_null()) return absent;
  return integer(value).value_or(NumberFormat::kWhole);
}

void keep(Storage& storage, Value list) {
  if (!list || list.kind() != JsonKind::array) return;
  for (Value v = list.first_child(); v; v = v.next())
    if (v.kind() == JsonKind::string) storage.kept.emplace_back(v.text());
}

class Quantization {
 public:
  Quantization(Value config, Storage& storage, ReadLog& log) : config_(config), storage_(storage), log_(log) {}

  void read() {
    const std::string_view method = text_at(config_, "quant_method");
    for (const char* key : {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers"})
      keep(storage_, config_.member(key));
    storage_.head_quantized = truth_at(config_, "lm_head", false);
    const bool by_layers = method == "gptq" || method == "awq" || method == "auto-round";
    storage_.towers_quantized = !by_layers;  // these calibrate the language model's layers alone
    if (by_layers)
      packed(method);
    else if (method == "bitsandbytes" || truth_at(config_, "load_in_4bit", false))
      bits_and_bytes();
    else if (method == "fp8" || method == "fbgemm_fp8")
      blocks_of_fp8(method == "fp8");
    else if (method == "mxfp4")
      set("mxfp4", {.bits = 4, .scale_bits = 8, .group_in = 32, .scope = Scope::experts});
    else if (method == "compressed-tensors" || config_.member("config_groups"))
      compressed_tensors();
    else
      take_as_plain(method);
  }

 private:
  void set(std::string name, NumberFormat format) {
    format.name = std::move(name);
    if (format.scope == Scope::all) format.scope = Scope::linear;
    storage_.quantized = std::move(format);
  }

  void take_as_plain(std::string_view method) {
    log_.assumptions.push_back({"unknown-quantization", Severity::warning,
                                "quantization method \"" + escaped(method) +
                                    "\" is not known: its weights are taken as " + storage_.plain.name,
                                "quant_method", config_.position()});
    storage_.kept.clear();
  }

  // Packed integers; for each group of inputs and each output a scale in 16 bits and a zero point. GPTQ stores the
  // group of each input besides (g_idx, 32 bits).
  void packed(std::string_view method) {
    const Int bits = integer(config_.member("bits")).value_or(integer(config_.member("w_bit")).value_or(4));
    const Int group = group_at(config_, "group_size", group_at(config_, "q_group_size", 128));
    set(std::string(method) + ", " + std::to_string(bits) + " bits" + in_groups(group),
        {.bits = bits, .scale_bits = 16 + bits, .group_in = group, .input_bits = method == "gptq" ? 32 : 0});
  }

  // Blocks of 64 with their largest number in float32, or that in 8 bits with a float32 for each 256 (double
  // quantisation); LLM.int8 has a float32 for each output.
  void bits_and_bytes() {
    if (truth_at(config_, "load_in_8bit", false) || truth_at(config_, "_load_in_8bit", false))
      return set("bitsandbytes int8", {.bits = 8, .scale_bits = 32});
    const bool twice = truth_at(config_, "bnb_4bit_use_double_quant", false);
    const std::string_view type = text_at(config_, "bnb_4bit_quant_type");
    set("bitsandbytes " + std::string(type.empty() ? "fp4" : type) + (twice ? ", double quantisation" : ""),
        {.bits = 4, .scale_bits = twice ? 8 : 32, .group_in = 64, .flat = true, .outer_bits = twice ? 32 : 0});
  }

  // A float32 for each block, or for each matrix where there are none; FBGEMM's for each output.
  void blocks_of_fp8(bool by_block) {
    NumberFormat format{.bits = 8, .scale_bits = 32};
    const Value block = config_.member("weight_block_size");
    if (block && block.kind() == JsonKind::array) {
      const auto out = integer(block.first_child());
      const auto in = out ? integer(block.first_child().next()) : std::nullopt;
      if (out && in) {
        format.group_out = *out;
        format.group_in = *in;
        return set("fp8, blocks of " + std::to_string(*out) + " x " + std::to_string(*in), format);
      }
    }
    format.group_out = by_block ? NumberFormat::kWhole : 1;
    set("fp8", format);
  }

  // The first group of modules that has weights stands for all.
  void compressed_tensors() {
    if (const Value cache = config_.member("kv_cache_scheme"); cache && cache.kind() == JsonKind::object) {
      const std::string bits = std::to_string(integer(cache.member("num_bits")).value_or(8));
      storage_.cache = find_number_format((text_at(cache, "type") == "int" ? "int" : "fp") + bits);
    }
    const Value groups = config_.member("config_groups");
    for (Value g = groups ? groups.first_child() : Value(); g; g = g.next()) {
      const Value weights = g.kind() == JsonKind::object ? g.member("weights") : Value();
      if (!weights || weights.kind() != JsonKind::object) continue;
      const Int bits = integer(weights.member("num_bits")).value_or(8);
      const std::string_view strategy = text_at(weights, "strategy"), type = text_at(weights, "type");
      NumberFormat format{.bits = bits, .scale_bits = 16};
      if (strategy == "tensor") format.group_out = NumberFormat::kWhole;
      if (strategy == "group" || strategy == "tensor_group") format.group_in = group_at(weights, "group_size", 128);
      if (strategy == "tensor_group") format.scale_bits = 8;  // NVFP4: float8 scales in groups of 16
      if (!truth_at(weights, "symmetric", true)) format.scale_bits += bits;
      const Value block = weights.member("block_structure");
      if (strategy == "block" && block && block.kind() == JsonKind::array && block.first_child()) {
        format.group_out = integer(block.first_child()).value_or(128);
        format.group_in = integer(block.first_child().next()).value_or(128);
      }
      return set("compressed-tensors, " + std::string(type == "float" ? "fp" : "int") + std::to_string(bits) +
                     (format.group_out == 1 ? in_groups(format.group_in) : ""),
                 format);
    }
    take_as_plain("compressed-tensors");
  }

  static std::string in_groups(Int group) {
    return group == NumberFormat::kWhole ? "" : " in groups of " + std::to_string(group);
  }

  Value config_;
  Storage& storage_;
  ReadLog& log_;
};

// The format that a key names; an unknown one is an assumption.
std::optional<NumberFormat> format_at(Value root, std::string_view key, ReadLog& log) {
  const Value value = find_at(root, key);
  if (!value || value.kind() != JsonKind::string || value.text() == "auto") return std::nullopt;
  auto format = find_number_format(value.text());
  if (format && format->plain()) return format;
  log.assumptions.push_back({"unknown-dtype", Severity::warning,
                             std::string(key) + " is " + value.quoted() + ", which is no known dtype" +
                                 did_you_mean(value.text(), number_format_names()) + ": taken as bfloat16",
                             std::string(key), value.position()});
  return NumberFormat{};
}

}  // namespace

Storage read_storage(Value root, ReadLog& log) {
  Storage storage;
  auto plain = format_at(root, "torch_dtype", log);
  if (!plain) plain = format_at(root, "dtype", log);
  if (plain)
    storage.plain = *plain;
  else
    log.assumptions.push_back(
        {"dtype-default", Severity::warning, "no dtype is given: bfloat16 (--dtype says another)", "torch_dtype", {}});
  storage.states = format_at(root, "mamba_ssm_dtype", log);
  const Value quantization = find_at(root, "quantization_config");
  if (quantization && quantization.kind() == JsonKind::object) Quantization(quantization, storage, log).read();
  return storage;
}

}  // namespace lmsize
