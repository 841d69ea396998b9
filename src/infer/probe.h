// Which known architectures a checkpoint's tensors may be those of, and what their shapes then say of its sizes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arch/registry.h"
#include "checkpoint/inventory.h"
#include "infer/shape_equations.h"
#include "model/model.h"

namespace lmsize {

// What no model exceeds: bounds the time that a strange checkpoint takes.
inline constexpr std::size_t kMostLayers = 512, kMostNames = 512;

// What a layer's names tell.
struct StoredLayer {
  bool experts = false, linear_attention = false;
};

// What is stored, by the names inside a layer. Points into checkpoint and inventory, which must outlive it.
struct StoredNames {
  const Checkpoint& checkpoint;
  const Inventory& inventory;
  bool gguf;
  std::map<std::string_view, const StoredWeight*> in_layers{};  // by rest of name; of several layers the first
  std::set<std::string_view> buffers_in_layers{};               // rests of names of what is a buffer by its name
  std::vector<const StoredWeight*> outside{};
  std::set<std::string, std::less<>> in_any_layer{};  // rests of names, with numbers in them written 0
  std::set<std::string_view> stacks{};                // what stands before layers' numbers
  Int n_layers = 0, n_prediction_layers = 0;
  std::vector<StoredLayer> layers{};  // the first kMostLayers
  std::set<Int> layer_numbers{};
  // Without prediction modules, parameters and what by its name is a buffer: some architectures learn such.
  Int parameters = 0, buffers = 0;

  StoredNames(const Checkpoint& checkpoint, const Inventory& inventory);
  // Of a GGUF checkpoint: general.architecture, or null; a size at that architecture's key ("block_count").
  const std::string* architecture() const;
  std::optional<Int> size(std::string_view key) const;
};

// A class's tensors with the names that a checkpoint of its format has: those of its layers by their names inside them,
// the others by their whole ones.
struct Probe {
  const Architecture* architecture = nullptr;
  std::string_view class_stem{}, class_suffix{};  // "Llama", "ForCausalLM"
  std::vector<Tensor> in_layers{}, outside{};
  double fit = 0;              // what share of those in layers is stored
  std::ptrdiff_t buffers = 0;  // how many that are buffers are

  // Adds a model's tensors. False where its blocks have no names in the checkpoint's format.
  bool add(Model model, const StoredNames& stored);
  // Equates the sides of its tensors with the stored ones.
  void equate(const StoredNames& stored, ShapeEquations& equations) const;
  // How far it is from what is stored: two for a name that one has and the other has not (numbers in it apart), one for
  // another shape of a tensor in layers.
  std::size_t apart(const StoredNames& stored) const;
  Probe without_tensors() const { return {architecture, class_stem, class_suffix}; }
};

// The architectures that may be it, as their classes are by default, the likeliest first: of equally good ones those
// that know more of the stored buffers, then those that ggml knows as well, then those that many others are like.
std::vector<Probe> probes_for(const StoredNames& stored);

// A config, built.
struct BuiltConfig {
  Model model;
  std::vector<std::string> unread;  // keys that the class does not have
  std::set<std::string> asked;      // keys that it has
};
// Nothing where it is no usable one.
std::optional<BuiltConfig> build_config(const std::string& json);

}  // namespace lmsize
