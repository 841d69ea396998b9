// A config whose main sizes can be replaced; lists with an entry for each layer go on as they began.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "model/model.h"

namespace lmsize {

struct NewSizes {
  Int d = 0, d_ff = 0, n_layers = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0, vocab = 0;
};

class ResizableConfig {
 public:
  // Finds out which sizes the config's architecture has a place for. Throws Error where it is no usable model.
  explicit ResizableConfig(Document base);

  bool has_d_ff() const { return has_d_ff_; }               // else its own rule says the width
  bool has_kv_heads() const { return has_kv_heads_; }       // else as many as heads, or as the config says elsewhere
  bool has_head_dim() const { return !head_dim_.empty(); }  // else d / n_heads

  // The config with these sizes, under the names that it has for them. What has no place is left out.
  Document with(const NewSizes& sizes) const;
  // Throws Error where such a model cannot be.
  Model model(const NewSizes& sizes) const;
  const Model& base_model() const { return base_model_; }

 private:
  bool reads(std::string_view key) const;
  bool follows_kv_heads() const;
  void resize_lists(Document& document, Int n_layers) const;

  Document base_;
  Model base_model_;
  std::vector<std::string> asked_;  // keys that the architecture asks for
  bool has_d_ff_ = true, has_kv_heads_ = true;
  std::string_view head_dim_{};  // the key's name
};

}  // namespace lmsize
