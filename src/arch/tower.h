// Towers: what stands beside a language model and turns images or sound into vectors, and the projectors that bring
// these to the language model's width. All they store counts as `other`.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "arch/common.h"

namespace lmsize {

// What a projector needs to know of the tower before it.
struct Tower {
  Dim d{};            // width of the vectors that it gives
  Int n_patches = 0;  // of an image
  Int merged = 1;     // patches that the projector takes together
  Int frames = 1;     // the same of frames
  Dim d_inner{};      // of its layers, where a neck makes them narrower (SAM)
};

// A new stack of model.towers; `part` is what the table calls it. Its layers' names begin with `layers`.
Stack& add_tower(Model& model, std::string layers, std::string_view part = "vision tower");

// Places what a tower or a projector holds outside its layers, under one prefix.
class Outside {
 public:
  Outside(std::vector<Placed>& place, std::string prefix) : place_(&place), prefix_(std::move(prefix)) {}

  void add(Block block) { place_->push_back({prefix_, std::move(block)}); }
  void tensor(std::string name, const Shape& shape) { add(Lone{std::move(name), shape}); }
  void table(std::string name, Dim rows, Dim width) { add(Embedding{std::move(name), rows, width}); }
  void linear(std::string name, Extent out, Extent in, bool bias = true) {
    add(Matrix{std::move(name), out, in, bias});
  }
  // Weights of the shape (out, in, sides …), and a bias of out.
  void convolution(const std::string& name, const Shape& shape, bool bias = true);
  void rms_norm(std::string name, Extent width) { norm(std::move(name), width, false); }
  void layer_norm(std::string name, Extent width) { norm(std::move(name), width, true); }
  // The same place under a prefix that goes on.
  Outside in(std::string_view name) const { return {*place_, join_names(prefix_, name)}; }

 private:
  void norm(std::string name, Extent width, bool layer);
  std::vector<Placed>* place_;
  std::string prefix_;
};

// The layer's branch of a lone tensor, scales and gates that have no block of their own.
Branch lone_branch(std::string name, const Shape& shape);

// An MLP's width as a multiple of d, rounded down: int(d · ratio), where ratio stands at `key`.
Int scaled_width(Reader& config, const Keys& key, double absent, Int d);

// The tower of a config by its model_type; null where that is not known. `name` is the prefix of its names.
using BuildTower = Tower (*)(Reader& config, Model& model, const std::string& name);
BuildTower find_tower(std::string_view model_type);

}  // namespace lmsize
