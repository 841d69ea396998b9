// What reading a config finds by itself: that it is no JSON, no model, or one with sizes that have to be guessed.
#include <array>

#include "lint/rules.h"

namespace lmsize {
namespace {

constexpr Severity kError = Severity::error, kWarning = Severity::warning, kAdvice = Severity::advice;
constexpr Example kNone{};
constexpr Example kLlama{R"({"model_type": "llama", "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
 "num_hidden_layers": 32, "num_attention_heads": 32})"};
// A description from which nothing is missing.
constexpr Example kPlain{R"({"d": 4096, "d_ff": 11008, "activation": "swiglu", "norm": "rms", "layers": 32, "heads": 32,
 "kv_heads": 8, "vocab": 32000, "tie_word_embeddings": false})"};

constexpr std::array kRules{
    // Files and JSON.
    Rule{"not-found", kError, "There is no such file, and nothing is downloaded."},
    Rule{"no-config", kError, "The folder holds no config of a model."},
    Rule{"unreadable", kError, "The file cannot be read."},
    Rule{"too-large", kError, "A file of more than 64 MiB is no config."},
    Rule{"too-deep", kError, "JSON that is nested more than 1,000 deep is no config."},
    Rule{"empty", kError, "There is no JSON text to read.", {" "}, kPlain},
    Rule{"not-utf8", kError, "JSON is UTF-8: other bytes, and halves of surrogate pairs, are no text.", kNone, kPlain},
    Rule{"syntax", kError, "JSON has no trailing commas, no comments and no single quotes.",
         {R"({"d": 4096,})"}, {R"({"d": 4096})"}},
    Rule{"duplicate-key", kWarning, "Of two equal keys the last wins, and the first may be the one that was meant.",
         {R"({"d": 4096, "layers": 24, "layers": 32})"}, {R"({"d": 4096, "layers": 32})"}},
    Rule{"non-finite-number", kWarning, "NaN and Infinity are no JSON: strict readers refuse the file.",
         {R"({"d": 4096, "time_step_limit": [0.0, Infinity]})"}, {R"({"d": 4096, "time_step_limit": [0.0, 1e30]})"}},

    // Values.
    Rule{"not-an-object", kError, "A config, and a part of one such as text_config, is a JSON object.",
         {R"([{"d": 4096}])"}, {R"({"d": 4096})"}},
    Rule{"not-an-integer", kError, "A size is an integer of no more than 2^63 - 1: no text, fraction or boolean.",
         {R"({"d": "4096"})"}, {R"({"d": 4096})"}},
    Rule{"out-of-range", kError, "A size is at least 1, a number of optional things at least 0, a factor what its key says.",
         {R"({"d": 0})"}, {R"({"d": 1})"}},
    Rule{"not-a-boolean", kError, "A switch is true or false.",
         {R"({"d": 4096, "vocab": 100, "tie_word_embeddings": 1})"},
         {R"({"d": 4096, "vocab": 100, "tie_word_embeddings": true})"}},
    Rule{"not-a-number", kError, "A factor is a number.",
         {R"({"model_type": "llama", "rms_norm_eps": "1e-6"})"}, {R"({"model_type": "llama", "rms_norm_eps": 1e-6})"}},
    Rule{"not-text", kError, "A name is text.",
         {R"({"d": 4096, "activation": 1})"}, {R"({"d": 4096, "activation": "gelu"})"}},
    Rule{"not-a-list", kError, "What has several values holds them in a list.",
         {R"({"model_type": "llama", "architectures": "LlamaForCausalLM"})"},
         {R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"]})"}},
    Rule{"list-missing", kError, "The kinds of layers must be listed where the class's own list is of another length.",
         {R"({"model_type": "zamba2", "num_hidden_layers": 12})"},
         {R"({"model_type": "zamba2", "num_hidden_layers": 2, "layers_block_type": ["mamba", "hybrid"]})"}},
    Rule{"malformed", kError, "A key with a structure of its own has another one.",
         {R"({"model_type": "gpt_neo", "num_layers": 2, "attention_types": [["global", 2]]})"},
         {R"({"model_type": "gpt_neo", "num_layers": 2, "attention_types": [[["global"], 2]]})"}},
    Rule{"overflow", kError, "A count beyond 2^63 - 1 comes of sizes that cannot be meant.",
         {R"({"d": 4096000000000, "d_ff": 16384000000000, "activation": "gelu"})"},
         {R"({"d": 4096, "d_ff": 16384, "activation": "gelu"})"}},
    Rule{"too-many-layers", kError, "Layers that may differ from each other are at most a million.",
         {R"({"model_type": "qwen2", "num_hidden_layers": 1000000000, "use_sliding_window": true})"},
         {R"({"model_type": "qwen2", "num_hidden_layers": 64, "use_sliding_window": true})"}},
    Rule{"unread-size-key", kWarning,
         "The architecture does not read a key that looks like a size: the model may be another than the one counted.",
         {R"({"model_type": "llama", "moe_extra_width": 512})"}, {R"({"model_type": "llama", "_note_width": 512})"}},

    // Models.
    Rule{"no-model", kError, "Without a model_type or a width there is nothing to count.",
         {R"({"vocab_size": 32000})"}, kPlain},
    Rule{"unknown-model-type", kWarning,
         "The architecture is not known: with a decoder's keys the nearest known layout is counted, without it is an error.",
         {R"({"model_type": "lama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32})"}, kLlama},
    Rule{"model-type-by-class", kAdvice, "Without a model_type the class names the architecture.",
         {R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 4096})"}, kLlama},
    Rule{"layout-guess", kAdvice, "What an unknown architecture does not say is taken from the nearest known layout.",
         {R"({"model_type": "lama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32})"}, kLlama},
    Rule{"language-model-only", kAdvice, "Of a model with several parts the language model is counted.",
         {R"({"model_type": "some_vlm", "text_config": {"model_type": "llama", "hidden_size": 4096}})"}, kLlama},
    Rule{"unknown-head", kAdvice, "The class has a head that is not known: the body alone is counted.",
         {R"({"model_type": "llama", "architectures": ["LlamaForTimeSeries"]})"},
         {R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"]})"}},
    Rule{"default-size", kAdvice, "A main size that is not given, or null: the class's default counts.",
         {R"({"model_type": "llama", "hidden_size": 4096})"}, kLlama},
    Rule{"unknown-activation", kAdvice, "An activation that is not known is taken as one without parameters.",
         {R"({"model_type": "llama", "hidden_act": "sillu"})"}, {R"({"model_type": "llama", "hidden_act": "silu"})"}},
    Rule{"gated-activation", kAdvice, "The activation's name means a gate, and the architecture's MLP has none.",
         {R"({"model_type": "gpt2", "activation_function": "swiglu"})"},
         {R"({"model_type": "gpt2", "activation_function": "gelu_new"})"}},
    Rule{"attention-types-default", kAdvice, "Without attention_types every second layer is local.",
         {R"({"model_type": "gpt_neo", "num_layers": 2})"},
         {R"({"model_type": "gpt_neo", "num_layers": 2, "attention_types": [[["global"], 2]]})"}},
    Rule{"heads-do-not-divide", kError, "Heads whose width is not given need a number that divides the whole width.",
         {R"({"model_type": "llama", "hidden_size": 1024, "num_attention_heads": 12})"},
         {R"({"model_type": "llama", "hidden_size": 1024, "num_attention_heads": 16})"}},
    Rule{"kv-heads-do-not-divide", kWarning, "Every KV head serves as many heads as the others.",
         {R"({"model_type": "llama", "num_attention_heads": 32, "num_key_value_heads": 6})"},
         {R"({"model_type": "llama", "num_attention_heads": 32, "num_key_value_heads": 8})"}},
    Rule{"odd-width", kError, "A width that holds gate and up together is even.",
         {R"({"d_model": 4096, "mlp_hidden_size": 22017, "n_layers": 32, "n_heads": 32, "activation_type": "swiglu"})"},
         {R"({"d_model": 4096, "mlp_hidden_size": 22016, "n_layers": 32, "n_heads": 32, "activation_type": "swiglu"})"}},
    Rule{"olmo-default", kAdvice, "OLMo's own configs say whether there are biases and which norm.",
         {R"({"d_model": 4096, "mlp_hidden_size": 22016, "n_layers": 32, "n_heads": 32})"},
         {R"({"d_model": 4096, "mlp_hidden_size": 22016, "n_layers": 32, "n_heads": 32, "include_bias": false,
 "layer_norm_type": "default"})"}},
    Rule{"unknown-layer-type", kError, "A kind of layer that the architecture does not have.",
         {R"({"model_type": "zamba2", "num_hidden_layers": 2, "layers_block_type": ["mambo", "hybrid"]})"},
         {R"({"model_type": "zamba2", "num_hidden_layers": 2, "layers_block_type": ["mamba", "hybrid"]})"}},
    Rule{"unsupported", kError, "Two keys ask for what the reference class cannot be.",
         {R"({"model_type": "gpt_bigcode", "multi_query": true, "add_cross_attention": true})"},
         {R"({"model_type": "gpt_bigcode", "multi_query": true})"}},

    // Descriptions without a model_type.
    Rule{"d-missing", kError, "A description needs a width: hidden_size, or d.", kNone, kPlain},
    Rule{"heads-missing", kError, "KV heads and head_dim mean nothing without heads.",
         {R"({"d": 4096, "kv_heads": 8})"}, kPlain},
    Rule{"experts-missing", kError, "Experts per token, and their width, mean nothing without a number of experts.",
         {R"({"d": 4096, "num_experts_per_tok": 2})"}, {R"({"d": 4096, "num_experts": 8, "num_experts_per_tok": 2})"}},
    Rule{"unknown-norm", kError, "A norm is rms, layer or none.", {R"({"d": 4096, "norm": "batch"})"}, kPlain},
    Rule{"activation-default", kAdvice, "Without an activation it is gelu, in a plain MLP.", {R"({"d": 4096})"}, kPlain},
    Rule{"silu-is-swiglu", kAdvice, "silu alone may mean SwiGLU or a plain MLP: SwiGLU is counted.",
         {R"({"d": 4096, "activation": "silu"})"}, {R"({"d": 4096, "activation": "swiglu"})"}},
    Rule{"width-default", kAdvice, "Without d_ff it is 4 d, or 8/3 d rounded up to 256 with a gate.",
         {R"({"d": 4096})"}, kPlain},
    Rule{"heads-default", kAdvice, "Without heads attention counts 4 d^2.", {R"({"d": 4096})"}, kPlain},
    Rule{"kv-heads-default", kAdvice, "Without KV heads there are as many as heads.",
         {R"({"d": 4096, "heads": 32})"}, kPlain},
    Rule{"layers-default", kAdvice, "Without a number of layers there is one.", {R"({"d": 4096})"}, kPlain},
    Rule{"norm-default", kAdvice, "Without a norm it is RMSNorm with a gate, else LayerNorm with bias.",
         {R"({"d": 4096})"}, kPlain},
    Rule{"no-vocabulary", kAdvice, "Without a vocabulary there is no embedding and no head.", {R"({"d": 4096})"}, kPlain},
    Rule{"tied-default", kAdvice, "Without tie_word_embeddings the head has a matrix of its own.",
         {R"({"d": 4096, "vocab": 32000})"}, kPlain},
    Rule{"experts-per-token-default", kAdvice, "Without a number of experts for each token it is 2.",
         {R"({"d": 4096, "num_experts": 8})"}, {R"({"d": 4096, "num_experts": 8, "num_experts_per_tok": 2})"}},
};

}  // namespace

std::span<const Rule> reading_rules() { return kRules; }

}  // namespace lmsize
