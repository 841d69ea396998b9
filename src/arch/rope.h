// Reading what positions mean to attention: rotary embeddings under all their spellings, and which layers slide.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/reader.h"
#include "model/blocks.h"

namespace lmsize {

constexpr double kAnyPartial = 1e6;

// What a class says of its rotary embedding where the config does not.
struct RopeDefaults {
  double theta = 10000;
  double partial = 1;          // the part of a head that turns
  double largest_partial = 1;  // kAnyPartial where another key says the rotary width
  bool whole = false;  // the class turns whole heads where it does not stretch, whatever partial_rotary_factor says
  bool interleaved = false;
  // Where layer types differ: the type's entry in rope_parameters ("sliding_attention"), and the older key of its theta
  // ("rope_local_base_freq"). A type with such a key takes nothing from rope_scaling and rope_theta.
  std::string_view layer_type{};
  std::string_view own_theta{};
  // How the class stretches the context where neither rope_parameters nor rope_scaling is given. Without a scaling,
  // original_positions is what an absent original_max_position_embeddings is, whatever stands in these.
  Rope::Scaling scaling = Rope::Scaling::none;
  double factor = 1;
  Int original_positions = 0;
  double mscale_all_dim = 0;
};

// The rotary embedding of heads of head_dim features: rope_parameters, or rope_theta, rope_scaling and
// partial_rotary_factor (rotary_pct). Marks these and the context lengths as read.
// Formulas: transformers/modeling_rope_utils.py.
Rope read_rope(Reader& config, Int head_dim, const RopeDefaults& defaults);
// That of a class that turns whole heads.
inline Rope read_rope(Reader& config, Int head_dim, double theta) {
  return read_rope(config, head_dim, {.theta = theta, .whole = true});
}

// How queries grow with their position by llama_4_scaling_beta, which stands beside the rotary embedding's sizes; where
// none of these is given, with the class's own strength.
std::optional<Temperature> read_temperature(Reader& config, const Rope& rope, double class_strength);

// YaRN's factor for a context stretched `factor` times.
double yarn_mscale(double factor, double mscale);

// Layers that may differ are listed one by one: throws Error "too-many-layers" where they are more than a million, or
// of more than a thousand kinds.
void check_layer_number(Int n);
void check_kind_number(std::size_t n);

// The layers that layer_types calls sliding, or nothing where it is absent.
std::optional<std::vector<bool>> sliding_layer_types(Reader& config, Int n);

// For each of n layers whether its attention slides: by layer_types, or where that is absent by slides(i).
template <class Slides>
std::vector<bool> sliding_layers(Reader& config, Int n, Slides slides) {
  check_layer_number(n);
  if (auto given = sliding_layer_types(config, n)) return *std::move(given);
  std::vector<bool> made(static_cast<std::size_t>(n));
  for (Int i = 0; i < n; ++i) made[static_cast<std::size_t>(i)] = slides(i);
  return made;
}

}  // namespace lmsize
