// In what formats a model's weights are kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/number_format.h"
#include "model/tensor.h"

namespace lmsize {

// Modules by their dotted names, of which a config keeps some as they are: "lm_head", "model.layers.0.mlp.gate",
// "model.layers.*.self_attn". A name matches where its parts occur, one after another, in a module's.
struct ModuleName {
  explicit ModuleName(std::string_view pattern);  // regular expressions ("re:.*mlp.gate$") as far as they are plain
  std::vector<std::string> parts{};               // "*" stands for any number
  std::optional<Int> layer{};                     // where the pattern names one layer: its number, the part is "*" then
};

struct Storage {
  NumberFormat plain{};                     // of activations, and of all that is not quantised
  std::optional<NumberFormat> quantized{};  // what is in it, its scope says
  bool head_quantized = false;              // the head too, where the scope is `linear`
  bool towers_quantized = false;            // towers of images and sound too
  std::vector<ModuleName> kept{};           // modules that stay plain
  std::optional<NumberFormat> cache{};      // of keys and values, where the config says
  std::optional<NumberFormat> states{};     // of recurrent states, where the config says (mamba_ssm_dtype)

  // "bfloat16", "gptq, 4 bits in groups of 128"
  const std::string& name() const { return quantized ? quantized->name : plain.name; }
};

}  // namespace lmsize
