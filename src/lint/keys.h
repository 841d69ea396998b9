// Names of config keys that rules point at, beside those of arch/common.h.
#pragma once

#include "arch/common.h"

namespace lmsize::key {

inline constexpr Keys n_experts{"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts",
                                "num_moe_experts"};
inline constexpr Keys experts_per_token{
    "num_experts_per_tok",  "num_experts_per_token", "moe_k",    "moe_top_k",
    "num_selected_experts", "top_k_experts",         "moe_topk", "experts_per_token"};
inline constexpr Keys expert_groups{"n_group", "num_expert_group"};
inline constexpr Keys d_moe{"moe_intermediate_size", "expert_hidden_size", "intermediate_size", "ffn_dim"};
inline constexpr Keys d_shared{"shared_expert_intermediate_size", "shared_intermediate_size", "n_shared_experts",
                               "moe_intermediate_size"};
inline constexpr Keys d_inner{"mamba_intermediate_size", "intermediate_size", "d_inner", "expand", "mamba_expand"};
inline constexpr Keys mamba_heads{"mamba_num_heads", "mamba_n_heads", "n_mamba_heads", "num_heads"};
inline constexpr Keys linear_key_heads{"linear_num_key_heads", "num_heads", "num_attention_heads"};
inline constexpr Keys linear_value_heads{"linear_num_value_heads", "linear_num_key_heads", "num_heads",
                                         "num_attention_heads"};
inline constexpr Keys rotary{"rotary_dim", "partial_rotary_factor", "rotary_pct", "qk_rope_head_dim", "head_dim"};

}  // namespace lmsize::key
