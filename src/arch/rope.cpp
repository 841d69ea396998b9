#include "arch/rope.h"

#include <cmath>

#include "arch/common.h"
#include "base/format.h"

namespace lmsize {
namespace {

using Scaling = Rope::Scaling;

Scaling scaling_of(std::string_view type) {
  if (type == "default" || type == "mrope" || type == "axial") return Scaling::none;  // all one for text alone
  if (type == "linear") return Scaling::linear;
  if (type == "dynamic") return Scaling::dynamic;
  if (type == "llama3") return Scaling::llama3;
  if (type == "yarn") return Scaling::yarn;
  if (type == "longrope" || type == "su") return Scaling::longrope;
  if (type == "proportional") return Scaling::proportional;
  return Scaling::unknown;
}

// The object that says how positions turn: rope_scaling, or where it is not there rope_parameters.
Reader rope_object(Reader& config) {
  Reader scaling = config.object("rope_scaling"), parameters = config.object("rope_parameters");
  return scaling.empty() ? parameters : scaling;
}

// What stretching the context takes from its parameters; class_original, where it is not 0, goes before their original
// length.
void read_scaling(Reader& config, Reader& given, Rope& rope, Int class_original) {
  const bool retrained =
      rope.scaling == Scaling::llama3 || rope.scaling == Scaling::yarn || rope.scaling == Scaling::longrope;
  constexpr std::string_view kOriginal = "original_max_position_embeddings";
  if (retrained) {
    const Int stated = given.count(kOriginal, rope.positions, rope.positions);
    rope.original_positions = config.count(kOriginal, class_original > 0 ? class_original : stated);
  }
  const double stretched = retrained && rope.original_positions > 0
                               ? static_cast<double>(rope.positions) / static_cast<double>(rope.original_positions)
                               : 1;
  rope.factor = given.number("factor", stretched);
  switch (rope.scaling) {
    case Scaling::dynamic: {
      // Hunyuan's alpha stretches theta once and for all.
      const double alpha = given.number("alpha", 0), width = static_cast<double>(rope.width);
      if (alpha <= 0) break;
      rope.theta *= std::pow(alpha, width / (width - 2));
      rope.scaling = Scaling::none;
      break;
    }
    case Scaling::llama3:
      rope.low_frequency_factor = given.number("low_freq_factor", 1);
      rope.high_frequency_factor = given.number("high_freq_factor", 4);
      break;
    case Scaling::yarn: {
      rope.beta_fast = given.number("beta_fast", 32);
      rope.beta_slow = given.number("beta_slow", 1);
      rope.truncate = given.flag("truncate", true);
      const double mscale = given.number("mscale", 0);
      rope.mscale_all_dim = given.number("mscale_all_dim", 0);
      const double usual = mscale != 0 && rope.mscale_all_dim != 0
                               ? yarn_mscale(rope.factor, mscale) / yarn_mscale(rope.factor, rope.mscale_all_dim)
                               : yarn_mscale(rope.factor, 1);
      rope.attention_factor = given.number("attention_factor", usual);
      break;
    }
    case Scaling::longrope: {
      rope.short_factor = given.numbers("short_factor");
      rope.long_factor = given.numbers("long_factor");
      const double positions = static_cast<double>(rope.original_positions);
      const double usual = rope.factor > 1 ? std::sqrt(1 + std::log(rope.factor) / std::log(positions)) : 1;
      rope.attention_factor = given.number("attention_factor", usual);
      break;
    }
    default:
      break;
  }
}

}  // namespace

double yarn_mscale(double factor, double mscale) { return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1; }

Rope read_rope(Reader& config, Int head_dim, const RopeDefaults& defaults) {
  Reader given = rope_object(config);
  const bool nested = !defaults.layer_type.empty() && given.has(defaults.layer_type);
  if (nested) given = given.object(defaults.layer_type);
  const double theta = config.number({"rope_theta", "rotary_emb_base"}, defaults.theta);
  const double partial = config.number({"partial_rotary_factor", "rotary_pct"}, defaults.partial);
  Rope rope;
  rope.interleaved = defaults.interleaved;
  rope.positions = config.count({"max_position_embeddings", "n_positions", "max_seq_len"}, 0, 0);
  if (!defaults.own_theta.empty()) {
    const double own = config.number(defaults.own_theta, defaults.theta);
    rope.theta = nested ? given.number("rope_theta", own) : own;
  } else {
    rope.theta = given.number("rope_theta", theta);
  }
  const double part = given.number("partial_rotary_factor", partial);
  if (!(part >= 0 && part <= defaults.largest_partial))
    config.fail("out-of-range", "partial_rotary_factor",
                format_text("partial_rotary_factor is not between 0 and {}", defaults.largest_partial));
  rope.width = static_cast<Int>(static_cast<double>(head_dim) * part);
  const bool absent = given.empty() && !config.has("rope_parameters");
  if (absent || (!nested && !defaults.own_theta.empty())) {
    rope.scaling = defaults.scaling;
    if (rope.scaling != Scaling::none) rope.theta = defaults.theta;  // the class's, whatever rope_theta is
    if (defaults.whole) rope.width = head_dim;
    rope.factor = defaults.factor;
    rope.original_positions = defaults.original_positions;
    rope.mscale_all_dim = defaults.mscale_all_dim;
    return rope;
  }
  given.ignore({"max_position_embeddings"});
  rope.scaling = scaling_of(given.text({"rope_type", "type"}, "default"));
  if (rope.scaling != Scaling::none)
    read_scaling(config, given, rope, defaults.scaling == Scaling::none ? defaults.original_positions : 0);
  else if (defaults.whole)
    rope.width = head_dim;
  if (nested) rope.truncate = true;  // the reference looks for it beside the layer types
  return rope;
}

std::optional<Temperature> read_temperature(Reader& config, const Rope& rope, double class_strength) {
  Reader given = rope_object(config);
  const double strength = given.empty() ? class_strength : given.number("llama_4_scaling_beta", 0);
  if (strength == 0 || rope.original_positions == 0) return std::nullopt;
  return Temperature{strength, rope.original_positions};
}

std::optional<std::vector<bool>> sliding_layer_types(Reader& config, Int n) {
  const auto types = config.texts("layer_types", n);
  if (!types) return std::nullopt;
  std::vector<bool> slides;
  for (const auto& type : *types) slides.push_back(type == "sliding_attention");
  return slides;
}

}  // namespace lmsize
