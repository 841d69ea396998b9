// The kinds of block that transformers are made of: plain structs of sizes, options and the names that their tensors
// have in a checkpoint. They know no config. tensors_of() is the only place where shapes are written down.
//
// Shapes are PyTorch's: a Linear is (out_features, in_features); GPT-2's Conv1D is (in, out).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/activation.h"
#include "model/tensor.h"

namespace lmsize {

// A table of `rows` learned vectors: tokens, positions, types.
struct Embedding {
  std::string name = "embed_tokens";
  Dim rows{};
  Dim width{};
  double scale = 1;         // what looked-up vectors are multiplied with (Gemma: √d)
  Int offset = 0;           // rows beside `rows`: before that of position 0 (OPT: 2), behind those of tokens (Moshi: 1)
  bool sinusoidal = false;  // a table of sines that is computed and not stored
  Role role = Role::embedding;
};

struct Norm {
  enum class Kind : std::uint8_t { rms, layer, l2 };  // l2: x/|x|
  // How a norm of queries or keys treats `heads` heads of `width` features each that it has weights for.
  enum class Heads : std::uint8_t {
    joint,   // one vector of heads·width features (OLMo 2)
    rows,    // each head by itself, weights (heads, width) (Cohere)
    listed,  // each head by itself, in a norm of its own: name.norms.0, … (StableLM)
  };
  std::string name{};
  Dim width{};
  Dim heads{1};
  Heads over = Heads::joint;
  Kind kind = Kind::rms;
  bool weight = true;
  bool bias = false;
  bool unit_offset = false;  // multiplies by 1 + weight (Gemma)
  double eps = 1e-6;
  bool gamma_beta = false;  // weight and bias have TensorFlow's names
  Dim gate_rank{};  // not 0: y = norm(x) is multiplied with σ(W_up·act(W_down·y)), matrices of this rank (A.X K2)
};

// How the weights of one linear map, or of several at once, lie in a checkpoint.
enum class Layout : std::uint8_t {
  linear,   // nn.Linear: (out_features, in_features)
  conv1d,   // GPT-2's Conv1D: (in_features, out_features)
  by_head,  // XLNet's einsum: (d, n_heads, head_dim) for each of q, k, v and o, under the map's own name
};

// Rotary position embedding of the first `width` dimensions of each head; invisible to counts. Pair i < width/2 turns
// by position·theta^(-2i/width), which `scaling` stretches to longer contexts.
struct Rope {
  enum class Scaling : std::uint8_t {
    none,
    linear,        // all frequencies / factor
    dynamic,       // theta grows with the sequence beyond `positions` (NTK)
    llama3,        // long wavelengths / factor, between low and high smoothly
    yarn,          // by a ramp between beta_fast and beta_slow turns in original_positions
    longrope,      // each pair / short_factor, beyond original_positions / long_factor
    proportional,  // theta^(-2i/head_dim) in place of …/width; the rest of the head turns with frequency 0
    unknown,       // none of these: it cannot be run
  };
  Int width = 0;
  double theta = 10000;
  bool interleaved = false;  // a pair is features (2i, 2i + 1) (GPT-J); else (i, i + width/2) (NeoX, Llama)
  bool backwards = false;    // pairs turn the other way (nanochat)
  Scaling scaling = Scaling::none;
  double factor = 1;
  double attention_factor = 1;  // what cosines and sines are multiplied with (yarn, longrope)
  Int positions = 0;            // max_position_embeddings; 0: not known
  Int original_positions = 0;   // of the training before stretching
  double low_frequency_factor = 1, high_frequency_factor = 4;  // llama3
  double beta_fast = 32, beta_slow = 1;                        // yarn
  bool truncate = true;                                        // yarn: the ramp begins and ends at whole dimensions
  double mscale_all_dim = 0;  // yarn, latent attention: scores are multiplied with (0.1·it·ln factor + 1)² as well
  std::vector<double> short_factor{}, long_factor{};  // longrope: one for each pair
};

// Scores fall linearly with distance: those of head i of 1 … n at the slope factor·2^(-exponent·i/n). Where n is no
// power of two: i runs over the next one's, the even ones first.
struct Alibi {
  double exponent = 8;
  double factor = 1;
  bool bfloat16 = false;  // slopes, and slopes times positions, are rounded to bfloat16 before the factor (Falcon)
};

// Queries grow with their position, so that attention stays as sharp over many tokens: they are multiplied by
// 1 + strength·ln(1 + ⌊(position + shift)/step⌋).
struct Temperature {
  double strength = 0;
  Int step = 1, shift = 0;
};

// How a fused q/k/v matrix orders its outputs.
enum class FusedOrder : std::uint8_t {
  joined,    // [q | k | v]
  by_group,  // for each KV head: its queries, its key, its value (NeoX, BLOOM, Falcon)
  codegen,   // four blocks of heads, each [q | v | k]
};

// T5's learned bias of the scores, a number for each head and each of n_buckets ranges of distance.
struct RelativeBias {
  Dim n_buckets{};
  Int max_distance = 128;
  bool stored = true;       // false: the table of the stack's first layer serves here too
  bool from_state = false;  // no table: a linear map of the token's state, in every layer (ProphetNet)
};

// What the output of attention is multiplied with before the output matrix, through a sigmoid.
enum class OutputGate : std::uint8_t {
  none,
  with_q,    // as many features beside the queries, from the same matrix (Qwen3-Next)
  full,      // as many features, from a matrix of their own
  per_head,  // one number a head, from a matrix of its own
};

// Query and output matrices as a bank of experts (JetMoE): a token has n_kv_heads query heads from each that it takes.
struct AttentionBank {
  Dim n_experts{};
  Int per_token = 1;
};

// An indexer: small heads that choose the top_k tokens which attention looks at; one key serves all its heads. Queries
// come from the latent vector of the queries (DeepSeek), or like the keys from the stream, both with a norm (MiniMax
// M3).
struct Indexer {
  Dim n_heads{}, head_dim{};
  Int top_k = 2048;
};

// Softmax attention, self or cross, with n_heads query heads and n_kv_heads key/value heads of head_dim each.
struct Attention {
  std::string name = "self_attn";
  Dim d{};  // width of the residual stream: input and output
  Dim n_heads{}, n_kv_heads{}, head_dim{};
  bool q_bias = false, k_bias = false, v_bias = false, o_bias = false;
  std::string q = "q_proj", k = "k_proj", v = "v_proj", o = "o_proj";
  std::string fused{};  // where not empty: the name of one matrix whose output is [q | k | v], in this order:
  FusedOrder fused_order = FusedOrder::joined;
  std::string fused_kv{};  // where not empty: the name of one whose output is [k | v]
  Layout layout = Layout::linear;
  std::optional<Norm> q_norm{}, k_norm{};  // names relative to the attention
  bool norm_after_rope = false;            // they see queries and keys that have turned (Hunyuan, nanochat)
  std::optional<Norm> v_norm{};            // of the values of one head; its name likewise (Gemma 4)
  std::optional<Norm> o_norm{};            // of what the output matrix reads (BitNet)
  std::string o_bias_name{};               // where not empty: the output matrix's bias stands alone under this name
  // Keys and values are those of the last layer before it that has its own and sees as far: no k, no v, no cache.
  bool takes_kv = false;
  bool v_is_k = false;  // there is no v: the values are the keys, before their norm and rope (Gemma 4)
  bool k_is_q = false;  // there is no k: the keys are the queries, scaled to length 1 (Reformer's hashed attention)
  // Not 0: of the tokens that it may see, each KV head sees only so many, those that a learned map of the values scores
  // highest (Doge).
  Int dynamic_mask = 0;
  // Differential attention (arXiv 2410.05258): the values' first and second half of heads are summed under the same
  // scores, the second times a number made of four learned vectors lambda_….
  bool differential = false;
  std::optional<AttentionBank> bank{};
  Dim d_v{};        // not 0: the width of a value head, where it is not head_dim
  Dim d_o{};        // not 0: what the output matrix reads is this wide, heads or not (Helium)
  Dim d_in{};       // not 0: what q, k and v read is this wide in place of d (Zamba: the embeddings beside the stream)
  Dim d_context{};  // not 0: the width of what k and v read in cross attention, where it is not d
  Dim d_values{};   // not 0: the width of what v alone reads, where it is not that of k (MobileBERT)
  std::optional<Indexer> indexer{};
  OutputGate gate = OutputGate::none;
  std::string gate_name = "gate_proj";
  bool gate_bias = false;      // a number a head that is added to the gate
  bool gate_softplus = false;  // the gate goes through softplus in place of the sigmoid (Laguna)
  std::string v_delayed =
      {};  // where not empty: a second v, for the later half of each value, of the token before (Zaya)
  // Invisible to counts; the cache and the forward pass read them.
  bool cross = false;  // keys and values come from an encoder's output
  bool causal = true;
  std::optional<Int> window{};  // a token sees itself and the window - 1 tokens before it
  std::optional<Int> chunk{};   // a token sees the tokens before it in its own chunk of so many (Llama 4)
  std::optional<Rope> rope{};
  std::optional<Alibi> alibi{};
  std::optional<double> scale{};  // of scores; none: 1/√head_dim
  double softcap = 0;             // scores become softcap·tanh(score/softcap); 0: they stay
  double clip = 0;                // q, k and v are clipped to [-clip, clip] (OLMo, MPT); 0: they are not
  bool sinks = false;             // a learned logit for each head that takes attention and gives nothing (GPT-OSS)
  std::string sinks_name = "sinks";
  double value_scale = 1;  // of the values (MiMo)
  std::optional<Temperature> temperature{};
  std::optional<RelativeBias> relative{};
};

// DeepSeek's multi-head latent attention: each token's keys and values are unpacked from one vector of kv_rank numbers,
// beside a rotary key of d_rope numbers that all heads share; the cache holds these two.
struct LatentAttention {
  std::string name = "self_attn";
  Dim d{}, n_heads{};
  std::optional<Dim> q_rank{};  // nothing: queries come from one full matrix
  Dim kv_rank{};
  Dim d_nope{}, d_rope{};  // width of a query and key head: the part without positions, and the rotary part
  Dim d_v{};               // width of a value head
  bool bias = false;       // on the projections from and to the residual stream
  double eps = 1e-6;       // of the norms of the latent vectors
  std::optional<Indexer> indexer{};
  bool gated = false;  // q_b_proj reads the latent vector before and after its norm, and gates the values too (A.X K2)
  OutputGate gate = OutputGate::none;  // full or per_head
  std::string gate_name = "g_proj", o = "o_proj";
  std::string rope_norm{};  // where not empty: the name of a norm of the keys' rotary part (dots3)
  std::string sinks{};      // where not empty: the name of a learned logit for each head, as in Attention
  // Invisible to counts.
  std::optional<Int> window{};
  Rope rope{};
  std::optional<double> scale{};  // of the scores, where it is not 1/√(d_nope + d_rope)
  std::optional<Temperature> temperature{};
};

// What attention sees beyond its window, one entry for `rate` tokens each: a mean of their projections, weighed by a
// softmax over a second projection and a learned position (DeepSeek V4).
struct Compressor {
  Dim rate{};
  bool overlapping = false;          // an entry is made of the tokens of two strides: projections are twice as wide
  std::optional<Indexer> indexer{};  // chooses entries, by compressed keys of its own; none: all are seen
};

// DeepSeek V4's attention: queries from a latent vector, one head that is key and value for all of them, an output
// through n_groups low-rank maps of so many heads each, sinks. The cache holds head_dim numbers for each token in the
// window and for each compressed entry.
struct CompressedAttention {
  std::string name = "attn";
  Dim d{}, n_heads{}, head_dim{};
  Dim q_rank{};
  Dim n_groups{}, o_rank{};
  double eps = 1e-6;
  std::optional<Compressor> compressor{};
  // Invisible to counts.
  std::optional<Int> window{};
  Rope rope{};
};

// GPT-OSS's gate, in place of act(gate) ⊙ up: g·σ(alpha·g) ⊙ (clamp(up, ±limit) + shift), where g = min(gate, limit).
struct ClampedGate {
  double alpha = 1.702, limit = 7, shift = 1;
};

// A feed-forward network: act(x·W_up)·W_down, or gated (act(x·W_gate) ⊙ x·W_up)·W_down.
struct Mlp {
  std::string name = "mlp";
  Dim d{}, d_ff{};
  bool gated = true;
  Activation activation = Activation::silu;
  bool up_bias = false, down_bias = false;  // the gate has the bias that up has
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj";
  std::string fused{};         // where not empty: the name of one matrix whose output is [gate | up]
  bool interleaved = false;    // its output is gate and up by turns
  std::optional<Norm> norm{};  // of what down reads; its name relative to the MLP (BitNet)
  Layout layout = Layout::linear;
  std::optional<ClampedGate> clamped{};

  // RWKV's channel mixing: reads a learned mixture with the last token's input, multiplies the output with a sigmoid.
  bool channel_mix = false;

  int matrices() const { return gated ? 3 : 2; }
};

// How a router's logits choose and weigh experts; invisible to counts.
struct Routing {
  enum class Score : std::uint8_t {
    softmax,
    sigmoid,
    chosen_softmax,  // a softmax over the chosen alone
    sparse_mixer,    // each choice's softmax over the experts whose logits are near its own (Phi-3.5-MoE)
  };
  enum class GroupScore : std::uint8_t { best, best_two };
  Score score = Score::softmax;
  bool normalized = false;    // the chosen scores are divided by their sum
  double order = 1;           // their sum is Σ|s|^order to the power 1/order (DBRX),
  double least_sum = 0;       // and this at least (Ernie)
  double scale = 1;           // and multiplied with this
  bool weighs_input = false;  // the score multiplies the expert's input, not its output (Llama 4)
  // Experts are chosen within the top_groups groups whose best expert, or best two together, score highest.
  Int n_groups = 1, top_groups = 1;
  GroupScore group_score = GroupScore::best;
};

// A number for each expert that is added to the scores where experts are chosen, not where they are weighed.
struct RouterCorrection {
  std::string name = "gate.e_score_correction_bias";
  bool buffer = true;   // stored, but no parameter
  bool as_row = false;  // (1, n_experts)
};

// Experts that work in a narrower space than the stream's, between two maps of their own (Nemotron 3).
struct LatentExperts {
  Dim d{};  // of the stream; the experts' own d is the narrow one
  std::string in = "fc1_latent_proj", out = "fc2_latent_proj";
  bool bias = false;
};

// How the matrices of a bank of experts lie in a checkpoint. Where together, a map's name is that of the tensor.
enum class ExpertStorage : std::uint8_t {
  separate,  // one by one: experts.7.up_proj.weight
  stacked,   // (n_experts, out, in), or in the (in, out) layout (n_experts, in, out); biases are named …_bias
  joined,    // (n_experts·d_ff, d), the down map's transposed (DBRX)
};

// A router that is an MLP of three layers on a narrow map of its input, to which it adds what the router of the layer
// before had there (Zaya).
struct RouterMlp {
  Dim width{};
  bool carries = false;  // the addition; not in the first layer
};

// A bank of experts, each an Mlp, of which the router picks per_token for each token, and shared ones beside it.
struct MixtureOfExperts {
  std::string name = "mlp";
  Dim n_experts{};
  Int per_token = 1;
  Mlp expert{};  // its name is that of the bank: "experts"
  std::string router = "gate";
  Dim n_zero{0};  // experts that return what they are given: rows of the router, nothing else (LongCat)
  bool router_bias = false;
  std::optional<RouterMlp> router_mlp{};
  std::optional<RouterCorrection> correction{};
  ExpertStorage storage = ExpertStorage::separate;
  bool numbered = false;        // separate experts are called expert_7, not 7: one tensor each (Switch Transformers)
  std::optional<Mlp> shared{};  // its d_ff is that of all shared experts together
  Dim n_shared{};
  // The shared experts are scored beside the others, by rows of their own of the router, and lie stacked: (n_shared,
  // out, in); the d_ff of `shared` is that of one (Inkling).
  bool scores_shared = false;
  std::string bias{};         // where not empty: the name of a vector that is added to the output (JetMoE)
  std::string shared_gate{};  // where not empty: a sigmoid of this one row weighs the shared experts' output
  std::optional<LatentExperts> latent{};
  // Invisible to counts.
  Routing routing{};
};

// Mamba's selective state space (arXiv 2312.00752): a causal convolution, then a scan whose state is d_state numbers
// for each of d_inner channels; the convolution's state is d_conv inputs of each.
struct Mamba {
  std::string name = "mixer";
  Dim d{}, d_inner{}, d_state{}, d_conv{}, dt_rank{};
  bool bias = false;  // of in_proj and out_proj
  bool conv_bias = true;
  std::optional<Norm> dt_norm{}, b_norm{}, c_norm{};  // names relative to the mixer
  Dim n_heads{};  // not 0: x_proj and dt_proj are a stack of one matrix a head (Zamba)
  Activation activation = Activation::silu;
};

// Mamba-2 (arXiv 2405.21060): heads of d_inner / n_heads channels with one decay each, B and C shared by groups of
// heads. Its state is d_inner × d_state; the convolution's, d_conv inputs of conv_width() channels.
struct Mamba2 {
  std::string name = "mamba";
  Dim d{}, d_inner{}, n_heads{}, n_groups{}, d_state{}, d_conv{};
  bool in_bias = false, out_bias = false, conv_bias = true;
  std::optional<Norm> norm{};  // gated, before out_proj; its name relative to the mixer
  std::string scalars{};       // where not empty: the module that holds A_log, D and dt_bias
  Activation activation = Activation::silu;

  Extent conv_width() const { return d_inner + 2 * (n_groups * d_state); }
};

// Gated delta rule (arXiv 2412.06464), or with a decay for each channel of the keys Kimi Delta Attention (2510.26692):
// linear attention over convolved q, k, v. Its state is d_key × d_value for each value head; the convolution's, d_conv
// inputs of conv_width() channels.
struct DeltaNet {
  enum class Storage : std::uint8_t {
    one,     // in_proj [q | k | v | z | b | a]
    pair,    // in_proj_qkvz, in_proj_ba
    joined,  // in_proj_qkv, in_proj_z, in_proj_b, in_proj_a
    split,   // q_proj, k_proj, v_proj, …, and a convolution each
  };
  std::string name = "linear_attn";
  Storage storage = Storage::joined;
  Dim d{}, n_key_heads{}, n_value_heads{}, d_key{}, d_value{}, d_conv{};
  bool channel_decay = false;  // f_proj in place of a_proj
  Dim rank{};                  // not 0: f and the output gate are products of two matrices of this rank
  bool a_log_4d = false;       // A_log is stored (1, 1, n_value_heads, 1)
  Norm norm{};                 // of each value head's output; its name relative to the mixer
  std::string out = "out_proj";
  Activation activation = Activation::silu;  // after the convolution
  Activation gate = Activation::silu;        // of the output, inside the norm

  Extent conv_width() const { return 2 * (n_key_heads * d_key) + n_value_heads * d_value; }
};

// Lightning attention (arXiv 2401.04658): linear attention whose heads forget at fixed rates. Its state is head_dim ×
// head_dim for each head.
struct LightningAttention {
  std::string name = "self_attn";
  Dim d{}, n_heads{}, head_dim{};
  Int block_size = 256;                      // of the decays' tables, which are stored as buffers
  Norm norm{};                               // of all heads' outputs together; its name relative to the attention
  Activation activation = Activation::silu;  // of q, k and v
};

// The matrix memory of xLSTM (arXiv 2405.04517): linear attention with exponential input and forget gates. Its state is
// d_key × d_value for each head, a normaliser of d_key and a maximum.
struct MatrixLstm {
  std::string name = "mlstm_layer";
  Dim d{}, n_heads{}, d_key{}, d_value{};  // widths of all heads together
  bool bias = false;
  bool fused = false;  // q, k, v and the output gate lie in one matrix, the other gates in another
  Norm norm{};         // of the heads' outputs; its name relative to the layer
  double gate_softcap = 0;
};

// RWKV-4's time mixing (arXiv 2305.13048): each channel's weighted mean of the past, decaying. Its state is three
// numbers for each of d_inner channels, and the last input.
struct TimeMix {
  std::string name = "attention";
  Dim d{}, d_inner{};
};

// The low-rank maps of RWKV-7: ranks of what makes a token's decay, its learning rate, its mixture with the first
// layer's values (absent in that layer) and its gate.
struct TimeMixRanks {
  Dim decay{}, rate{}, value{}, gate{};
  bool mixes_values = true;
};

// RWKV-5's time mixing (arXiv 2404.05892), with `ranks` RWKV-7's (2503.14456): its state is head_dim × head_dim for
// each of d_inner / head_dim heads, and the last input.
struct HeadedTimeMix {
  std::string name = "attention";
  Dim d{}, d_inner{}, head_dim{};
  std::optional<TimeMixRanks> ranks{};
};

// Griffin's recurrent block (arXiv 2402.19427): a convolution and a gated linear recurrent unit whose gates are
// block-diagonal, times a gate. Its state is a number for each of d_inner channels; the convolution's, d_conv inputs of
// each.
struct GatedRecurrence {
  std::string name = "temporal_block";
  Dim d{}, d_inner{}, n_heads{}, d_conv{};
  Activation activation = Activation::gelu_tanh;
};

// Zaya's mixing of queries and keys before their norm: a convolution of each channel, then one of each head's channels
// together. Its state is the last taps + head_taps - 2 inputs of the (n_heads + n_kv_heads)·head_dim channels.
struct HeadConvolution {
  std::string name{};
  Dim n_heads{}, n_kv_heads{}, head_dim{};
  Dim taps{}, head_taps{};
};

// A causal convolution of each channel, x + conv(x), in a stream or a projection (Inkling). Its state is d_conv inputs
// of d channels.
struct Convolution {
  std::string name{};
  Dim d{}, d_conv{};
};

// Hyper-connections (arXiv 2409.19606): the stream is n_streams vectors of d features; from all of them come the
// weights with which a block reads and writes them.
struct HyperConnection {
  std::string matrix{}, base{}, scale{};  // names
  Dim d{}, n_streams{};
  Int n_weights = 0, n_scales = 0;

  bool mixes() const { return n_weights > 2 * n_streams.value; }
};

// LFM2's mixer: in_proj [B | C | x], a causal convolution of B ⊙ x, and out_proj of C ⊙ that. Its state is d_conv
// inputs of d channels.
struct ShortConv {
  std::string name = "conv";
  Dim d{}, d_conv{};
  bool bias = false;
};

// The output head; tied, it stores nothing: its matrix is the token embedding's.
struct Head {
  std::string name = "lm_head";
  Dim rows{};  // vocabulary, or labels
  Dim d{};
  bool bias = false;
  bool tied = false;
  double scale = 1;     // of the logits (Cohere, Granite)
  double softcap = 0;   // logits become softcap·tanh(logit/softcap); 0: they stay
  bool pooled = false;  // reads one vector of each sequence, not each token's
};

// What a masked-language-model class puts on its base: norm(act(x·W + b)), then a row for each vocabulary entry. Its
// tensors all count as the head's, its norm too.
struct MaskedHead {
  std::string transform = "cls.predictions.transform.dense";  // where empty, there is neither transform nor norm
  std::string norm = "cls.predictions.transform.LayerNorm";
  std::string decoder = "cls.predictions.decoder";
  std::string bias = "cls.predictions.bias";  // may be empty; beside it, untied, the decoder has one of its own
  Dim d{}, width{}, vocab{};                  // width: of the transform's output
  Dim d_table{};  // not 0: the columns of `decoder`, where it is not as wide as the transform's output (MobileBERT)
  bool pooled = false;  // reads one vector of each sequence, not each token's
  bool transform_bias = true, norm_bias = true;
  bool decoder_bias = true;  // false: the decoder never has one of its own (ESM)
  bool tied = true;
  Activation activation = Activation::gelu;
  std::string act = "cls.predictions.transform.transform_act_fn";
  double eps = 1e-12;

  Dim columns() const { return d_table.value == 0 ? width : d_table; }
};

// Escape hatches for the truly singular.
struct Matrix {  // a lone linear map
  std::string name{};
  Extent out{}, in{};
  bool bias = false;
  Role role = Role::other;
  bool pooled = false;  // reads one vector of each sequence, not each token's
  Int times = 1;        // that a token uses it; 0: what passes through it is no token (patches, entities)
  Int applied = 0;      // multiply-adds of a product with its output, which is a matrix itself (AltUp)
};
struct Lone {  // a lone tensor
  std::string name{};
  Shape shape{};
  Role role = Role::other;
  bool buffer = false;
  Use use = Use::other;
  Int times = 1;  // that a token uses it
};

using Block =
    std::variant<Embedding, Norm, Attention, LatentAttention, CompressedAttention, Mlp, MixtureOfExperts, Mamba, Mamba2,
                 DeltaNet, LightningAttention, MatrixLstm, TimeMix, HeadedTimeMix, GatedRecurrence, HeadConvolution,
                 Convolution, HyperConnection, ShortConv, Head, MaskedHead, Matrix, Lone>;

// Whether tensors get their names: a sum needs none, and they are most of the work.
enum class Naming : bool { none, full };

// What a block stores, in the order in which its reference class declares it; the others append it.
std::vector<Tensor> tensors_of(const Block& block, Naming naming = Naming::full);
void tensors_of(const Block& block, std::vector<Tensor>& out, Naming naming);
void tensors_of(const Norm& norm, std::vector<Tensor>& out, Naming naming);

// The name that a block has within its layer; of one without, that of its main matrix.
const std::string& block_name(const Block& block);

// Whether it is a feed-forward network, by itself or as experts.
bool is_feed_forward(const Block& block);
// Whether it is softmax attention with keys and values of each token (CompressedAttention is not).
bool is_attention(const Block& block);

}  // namespace lmsize
