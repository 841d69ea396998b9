#include "arch/deep_vision.h"

namespace lmsize {

Attention DeepVision::attention(bool qkv_bias, bool o_bias) const {
  Attention attention = s.attention(qkv_bias);
  attention.name = "attn";
  attention.fused = "qkv";
  attention.o = "proj";
  attention.o_bias = o_bias;
  attention.causal = false;
  return attention;
}

DeepVision read_deep_vision(Reader& config, const DeepVisionDefaults& defaults) {
  DeepVision made;
  Sizes& s = made.s;
  s.d = {config.main_size("hidden_size", defaults.d), Symbol::d};
  s.d_ff = {config.main_size("intermediate_size", defaults.d_ff), Symbol::d_ff};
  s.n_layers = {config.main_size("depth", defaults.n_layers), Symbol::n_layers};
  s.n_heads = s.n_kv_heads = {config.main_size("num_heads", defaults.n_heads), Symbol::n_heads};
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  s.activation = read_activation(config, key::activation, defaults.activation);
  s.norm = defaults.norm;
  s.norm.width = s.d;
  made.n_channels = Dim(config.size({"in_channels", "in_chans"}, 3));
  made.n_frames = Dim(config.size("temporal_patch_size", 2));
  made.patch = Dim(config.size("patch_size", defaults.patch));
  made.merge = Dim(config.size("spatial_merge_size", 2));
  config.ignore({"spatial_patch_size"});  // an older name beside patch_size
  made.d_out = Dim(config.size("out_hidden_size", defaults.d_out));
  return made;
}

}  // namespace lmsize
