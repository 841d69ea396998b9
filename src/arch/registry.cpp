#include "arch/registry.h"

#include <algorithm>
#include <array>

#include "arch/common.h"
#include "arch/families.h"
#include "base/spelling.h"
#include "base/text.h"

namespace lmsize {
namespace {

// Sorted by model_type. `base` is the prefix under which a class with a head holds the base model.
constexpr std::array kArchitectures{
    Architecture{"afmoe", "afmoe", "AfmoeForCausalLM", "model", afmoe},
    Architecture{"apertus", "nemotron", "ApertusForCausalLM", "model", apertus},
    Architecture{"arcee", "nemotron", "ArceeForCausalLM", "model", arcee},
    Architecture{"aria_text", "aria", "AriaTextForCausalLM", "model", aria},
    Architecture{"axk1", "deepseek", "AXK1ForCausalLM", "model", axk1},
    Architecture{"axk2", "deepseek", "AXK2ForCausalLM", "model", axk2},
    Architecture{"bailing_hybrid", "kimi_linear", "BailingHybridForCausalLM", "model", bailing_hybrid},
    Architecture{"bamba", "bamba", "BambaForCausalLM", "model", bamba},
    Architecture{"bart", "bart", "BartForConditionalGeneration", "model", bart},
    Architecture{"bert", "bert", "BertLMHeadModel", "bert", bert},
    Architecture{"bert-generation", "bert", "BertGenerationDecoder", "bert", bert_generation},
    Architecture{"big_bird", "bert", "BigBirdForCausalLM", "bert", big_bird},
    Architecture{"bigbird_pegasus", "bart", "BigBirdPegasusForConditionalGeneration", "model", bigbird_pegasus},
    Architecture{"biogpt", "opt", "BioGptForCausalLM", "biogpt", biogpt},
    Architecture{"bitnet", "bitnet", "BitNetForCausalLM", "model", bitnet},
    Architecture{"blenderbot", "bart", "BlenderbotForConditionalGeneration", "model", blenderbot},
    Architecture{"blenderbot-small", "bart", "BlenderbotSmallForConditionalGeneration", "model", blenderbot_small},
    Architecture{"bloom", "bloom", "BloomForCausalLM", "transformer", bloom},
    Architecture{"camembert", "roberta", "CamembertForCausalLM", "roberta", camembert},
    Architecture{"codegen", "gptj", "CodeGenForCausalLM", "transformer", codegen},
    Architecture{"cohere", "cohere", "CohereForCausalLM", "model", cohere},
    Architecture{"cohere2", "cohere", "Cohere2ForCausalLM", "model", cohere2},
    Architecture{"cohere2_moe", "cohere_moe", "Cohere2MoeForCausalLM", "model", cohere2_moe},
    Architecture{"cpmant", "cpmant", "CpmAntForCausalLM", "cpmant", cpmant},
    Architecture{"ctrl", "ctrl", "CTRLLMHeadModel", "transformer", ctrl},
    Architecture{"cwm", "llama", "CwmForCausalLM", "model", cwm},
    Architecture{"data2vec-text", "roberta", "Data2VecTextForCausalLM", "data2vec_text", data2vec_text},
    Architecture{"dbrx", "dbrx", "DbrxForCausalLM", "transformer", dbrx},
    Architecture{"deepseek_v2", "deepseek", "DeepseekV2ForCausalLM", "model", deepseek_v2},
    Architecture{"deepseek_v3", "deepseek", "DeepseekV3ForCausalLM", "model", deepseek_v3},
    Architecture{"deepseek_v32", "deepseek", "DeepseekV32ForCausalLM", "model", deepseek_v32},
    Architecture{"diffllama", "bitnet", "DiffLlamaForCausalLM", "model", diffllama},
    Architecture{"distilbert", "distilbert", "DistilBertForMaskedLM", "distilbert", distilbert},
    Architecture{"doge", "doge", "DogeForCausalLM", "model", doge},
    Architecture{"dots1", "glm_moe", "Dots1ForCausalLM", "model", dots1},
    Architecture{"electra", "bert", "ElectraForCausalLM", "electra", electra},
    Architecture{"ernie", "bert", "ErnieForCausalLM", "ernie", ernie},
    Architecture{"ernie4_5", "llama", "Ernie4_5ForCausalLM", "model", ernie4_5},
    Architecture{"ernie4_5_moe", "ernie_moe", "Ernie4_5_MoeForCausalLM", "model", ernie4_5_moe},
    Architecture{"exaone", "exaone", "ExaoneForCausalLM", "transformer", exaone},
    Architecture{"exaone4", "exaone", "Exaone4ForCausalLM", "model", exaone4},
    Architecture{"exaone_moe", "glm_moe", "ExaoneMoeForCausalLM", "model", exaone_moe},
    Architecture{"falcon", "falcon", "FalconForCausalLM", "transformer", falcon},
    Architecture{"falcon_h1", "bamba", "FalconH1ForCausalLM", "model", falcon_h1},
    Architecture{"falcon_mamba", "mamba", "FalconMambaForCausalLM", "backbone", falcon_mamba},
    Architecture{"flex_olmo", "flex_olmo", "FlexOlmoForCausalLM", "model", flex_olmo},
    Architecture{"gemma", "gemma", "GemmaForCausalLM", "model", gemma},
    Architecture{"gemma2", "gemma", "Gemma2ForCausalLM", "model", gemma2},
    Architecture{"gemma3_text", "gemma", "Gemma3ForCausalLM", "model", gemma3_text},
    Architecture{"gemma3n_text", "gemma", "Gemma3nForCausalLM", "model", gemma3n_text},
    Architecture{"gemma4_text", "gemma", "Gemma4ForCausalLM", "model", gemma4_text},
    Architecture{"gemma4_unified_text", "gemma", "Gemma4UnifiedForCausalLM", "model", gemma4_unified_text},
    Architecture{"glm", "glm", "GlmForCausalLM", "model", glm},
    Architecture{"glm4", "glm", "Glm4ForCausalLM", "model", glm4},
    Architecture{"glm4_moe", "glm_moe", "Glm4MoeForCausalLM", "model", glm4_moe},
    Architecture{"glm4_moe_lite", "deepseek", "Glm4MoeLiteForCausalLM", "model", glm4_moe_lite},
    Architecture{"glm_moe_dsa", "deepseek", "GlmMoeDsaForCausalLM", "model", glm_moe_dsa},
    Architecture{"gpt-sw3", "gpt2", "GPT2LMHeadModel", "transformer", gpt2},
    Architecture{"gpt2", "gpt2", "GPT2LMHeadModel", "transformer", gpt2},
    Architecture{"gpt_bigcode", "gpt2", "GPTBigCodeForCausalLM", "transformer", gpt_bigcode},
    Architecture{"gpt_neo", "gpt_neo", "GPTNeoForCausalLM", "transformer", gpt_neo},
    Architecture{"gpt_neox", "gpt_neox", "GPTNeoXForCausalLM", "gpt_neox", gpt_neox},
    Architecture{"gpt_neox_japanese", "gpt_neox", "GPTNeoXJapaneseForCausalLM", "gpt_neox_japanese", gpt_neox_japanese},
    Architecture{"gpt_oss", "gpt_oss", "GptOssForCausalLM", "model", gpt_oss},
    Architecture{"gptj", "gptj", "GPTJForCausalLM", "transformer", gptj},
    Architecture{"granite", "granite", "GraniteForCausalLM", "model", granite},
    Architecture{"granite_swa", "granite", "GraniteSWAForCausalLM", "model", granite_swa},
    Architecture{"granitemoe", "granite_moe", "GraniteMoeForCausalLM", "model", granitemoe},
    Architecture{"granitemoe_swa", "granite_moe", "GraniteMoeSWAForCausalLM", "model", granitemoe_swa},
    Architecture{"granitemoehybrid", "granitemoehybrid", "GraniteMoeHybridForCausalLM", "model", granitemoehybrid},
    Architecture{"granitemoeshared", "granite_moe", "GraniteMoeSharedForCausalLM", "model", granitemoeshared},
    Architecture{"helium", "llama", "HeliumForCausalLM", "model", helium},
    Architecture{"hunyuan_v1_dense", "llama", "HunYuanDenseV1ForCausalLM", "model", hunyuan_v1_dense},
    Architecture{"hunyuan_v1_moe", "hunyuan_moe", "HunYuanMoEV1ForCausalLM", "model", hunyuan_v1_moe},
    Architecture{"hy_v3", "glm_moe", "HYV3ForCausalLM", "model", hy_v3},
    Architecture{"hyperclovax", "granite", "HyperCLOVAXForCausalLM", "model", hyperclovax},
    Architecture{"internlm3", "llama", "InternLM3ForCausalLM", "model", internlm3},
    Architecture{"iquestcoder", "llama", "IQuestCoderForCausalLM", "model", iquestcoder},
    Architecture{"jais2", "nemotron", "Jais2ForCausalLM", "model", jais2},
    Architecture{"jamba", "jamba", "JambaForCausalLM", "model", jamba},
    Architecture{"jetmoe", "jetmoe", "JetMoeForCausalLM", "model", jetmoe},
    Architecture{"kimi_linear", "kimi_linear", "KimiLinearForCausalLM", "model", kimi_linear},
    Architecture{"laguna", "laguna", "LagunaForCausalLM", "model", laguna},
    Architecture{"lara_mini", "qwen_next", "LaraMiniForCausalLM", "model", lara_mini},
    Architecture{"lfm2", "lfm2", "Lfm2ForCausalLM", "model", lfm2},
    Architecture{"lfm2_moe", "lfm2", "Lfm2MoeForCausalLM", "model", lfm2_moe},
    Architecture{"lfm3", "lfm2", "Lfm3ForCausalLM", "model", lfm3},
    Architecture{"llama", "llama", "LlamaForCausalLM", "model", llama},
    Architecture{"llama4_text", "llama4", "Llama4ForCausalLM", "model", llama4},
    Architecture{"longcat_flash", "longcat", "LongcatFlashForCausalLM", "model", longcat_flash},
    Architecture{"mamba", "mamba", "MambaForCausalLM", "backbone", mamba},
    Architecture{"mamba2", "mamba", "Mamba2ForCausalLM", "backbone", mamba2},
    Architecture{"marian", "bart", "MarianMTModel", "model", marian},
    Architecture{"mbart", "bart", "MBartForConditionalGeneration", "model", mbart},
    Architecture{"megatron-bert", "bert", "MegatronBertForCausalLM", "bert", megatron_bert},
    Architecture{"mellum", "laguna", "MellumForCausalLM", "model", mellum},
    Architecture{"mimo_v2_flash", "mimo", "MiMoV2FlashForCausalLM", "model", mimo_v2_flash},
    Architecture{"minicpm3", "deepseek", "MiniCPM3ForCausalLM", "model", minicpm3},
    Architecture{"minimax", "minimax", "MiniMaxForCausalLM", "model", minimax},
    Architecture{"minimax_m2", "minimax_m2", "MiniMaxM2ForCausalLM", "model", minimax_m2},
    Architecture{"minimax_m3_vl_text", "minimax_m2", "MiniMaxM3VLForCausalLM", "model", minimax_m3},
    Architecture{"ministral", "llama", "MinistralForCausalLM", "model", mistral},
    Architecture{"ministral3", "llama", "Ministral3ForCausalLM", "model", ministral3},
    Architecture{"mistral", "llama", "MistralForCausalLM", "model", mistral},
    Architecture{"mixtral", "mixtral", "MixtralForCausalLM", "model", mixtral},
    Architecture{"modernbert-decoder", "modernbert_decoder", "ModernBertDecoderForCausalLM", "model", modernbert_decoder},
    Architecture{"moshi", "moshi", "MoshiForCausalLM", "model", moshi},
    Architecture{"mpt", "mpt", "MptForCausalLM", "transformer", mpt},
    Architecture{"musicgen_decoder", "musicgen", "MusicgenForCausalLM", "model", musicgen_decoder},
    Architecture{"mvp", "bart", "MvpForConditionalGeneration", "model", mvp},
    Architecture{"nanochat", "nemotron", "NanoChatForCausalLM", "model", nanochat},
    Architecture{"nemotron", "nemotron", "NemotronForCausalLM", "model", nemotron},
    Architecture{"nemotron_h", "nemotron_h", "NemotronHForCausalLM", "backbone", nemotron_h},
    Architecture{"olmo", "olmo", "OlmoForCausalLM", "model", olmo},
    Architecture{"olmo2", "olmo", "Olmo2ForCausalLM", "model", olmo2},
    Architecture{"olmo3", "olmo", "Olmo3ForCausalLM", "model", olmo3},
    Architecture{"olmo_hybrid", "olmo_hybrid", "OlmoHybridForCausalLM", "model", olmo_hybrid},
    Architecture{"olmoe", "olmoe", "OlmoeForCausalLM", "model", olmoe},
    Architecture{"openai-gpt", "gpt2", "OpenAIGPTLMHeadModel", "transformer", openai_gpt},
    Architecture{"opt", "opt", "OPTForCausalLM", "model", opt},
    Architecture{"pegasus", "bart", "PegasusForConditionalGeneration", "model", pegasus},
    Architecture{"persimmon", "gpt_neox", "PersimmonForCausalLM", "model", persimmon},
    Architecture{"phi", "phi", "PhiForCausalLM", "model", phi},
    Architecture{"phi3", "phi", "Phi3ForCausalLM", "model", phi3},
    Architecture{"phimoe", "phimoe", "PhimoeForCausalLM", "model", phimoe},
    Architecture{"plbart", "bart", "PLBartForConditionalGeneration", "model", plbart},
    Architecture{"prophetnet", "prophetnet", "ProphetNetForConditionalGeneration", "prophetnet", prophetnet},
    Architecture{"qwen2", "llama", "Qwen2ForCausalLM", "model", qwen2},
    Architecture{"qwen2_moe", "qwen_moe", "Qwen2MoeForCausalLM", "model", qwen2_moe},
    Architecture{"qwen3", "llama", "Qwen3ForCausalLM", "model", qwen3},
    Architecture{"qwen3_5_moe_text", "qwen_next", "Qwen3_5MoeForCausalLM", "model", qwen3_5_moe},
    Architecture{"qwen3_5_text", "qwen_next", "Qwen3_5ForCausalLM", "model", qwen3_5},
    Architecture{"qwen3_moe", "qwen_moe", "Qwen3MoeForCausalLM", "model", qwen3_moe},
    Architecture{"qwen3_next", "qwen_next", "Qwen3NextForCausalLM", "model", qwen3_next},
    Architecture{"recurrent_gemma", "recurrent_gemma", "RecurrentGemmaForCausalLM", "model", recurrent_gemma},
    Architecture{"rembert", "bert", "RemBertForCausalLM", "rembert", rembert},
    Architecture{"roberta", "roberta", "RobertaForCausalLM", "roberta", roberta},
    Architecture{"roberta-prelayernorm", "roberta", "RobertaPreLayerNormForCausalLM", "roberta_prelayernorm", roberta_prelayernorm},
    Architecture{"roc_bert", "bert", "RoCBertForCausalLM", "roc_bert", roc_bert},
    Architecture{"roformer", "bert", "RoFormerForCausalLM", "roformer", roformer},
    Architecture{"rwkv", "rwkv", "RwkvForCausalLM", "rwkv", rwkv},
    Architecture{"sarvam_mla", "deepseek", "DeepseekV3ForCausalLM", "model", sarvam_mla},
    Architecture{"sarvam_moe", "glm_moe", "Glm4MoeForCausalLM", "model", sarvam_moe},
    Architecture{"seed_oss", "llama", "SeedOssForCausalLM", "model", seed_oss},
    Architecture{"smollm3", "llama", "SmolLM3ForCausalLM", "model", smollm3},
    Architecture{"solar_open", "glm_moe", "SolarOpenForCausalLM", "model", solar_open},
    Architecture{"stablelm", "stablelm", "StableLmForCausalLM", "model", stablelm},
    Architecture{"starcoder2", "llama", "Starcoder2ForCausalLM", "model", starcoder2},
    Architecture{"t5", "t5", "T5ForConditionalGeneration", "model", t5},
    Architecture{"trocr", "bart", "TrOCRForCausalLM", "model", trocr},
    Architecture{"vaultgemma", "gemma", "VaultGemmaForCausalLM", "model", vaultgemma},
    Architecture{"whisper", "whisper", "WhisperForConditionalGeneration", "model", whisper},
    Architecture{"xglm", "opt", "XGLMForCausalLM", "model", xglm},
    Architecture{"xlm-roberta", "roberta", "XLMRobertaForCausalLM", "roberta", camembert},
    Architecture{"xlm-roberta-xl", "roberta", "XLMRobertaXLForCausalLM", "roberta", xlm_roberta_xl},
    Architecture{"xlstm", "xlstm", "xLSTMForCausalLM", "backbone", xlstm},
    Architecture{"xmod", "roberta", "XmodForCausalLM", "roberta", xmod},
    Architecture{"youtu", "deepseek", "YoutuForCausalLM", "model", youtu},
    Architecture{"zamba", "zamba", "ZambaForCausalLM", "model", zamba},
    Architecture{"zamba2", "zamba", "Zamba2ForCausalLM", "model", zamba2},
};
static_assert(std::ranges::is_sorted(kArchitectures, {}, &Architecture::model_type));

const Architecture* find_type(std::string_view model_type) {
  const auto at = std::ranges::lower_bound(kArchitectures, model_type, {}, &Architecture::model_type);
  return at != kArchitectures.end() && at->model_type == model_type ? &*at : nullptr;
}

// What is left of a class's name without the part that names its head: "Llama".
struct ClassName {
  std::string_view stem;
  HeadKind head = HeadKind::unknown;
};

ClassName split_class(std::string_view name) {
  struct Suffix {
    std::string_view text;
    HeadKind head;
  };
  static constexpr std::array kSuffixes{
      Suffix{"ForCausalLM", HeadKind::language_model},
      Suffix{"LMHeadModel", HeadKind::language_model},
      Suffix{"ForConditionalGeneration", HeadKind::language_model},
      Suffix{"ForMaskedLM", HeadKind::masked_language_model},
      Suffix{"ForSequenceClassification", HeadKind::sequence_classification},
      Suffix{"ForTokenClassification", HeadKind::token_classification},
      Suffix{"ForQuestionAnswering", HeadKind::question_answering},
      Suffix{"ForPreTraining", HeadKind::pretraining},
      Suffix{"ForNextSentencePrediction", HeadKind::next_sentence_prediction},
      Suffix{"ForMultipleChoice", HeadKind::multiple_choice},
      Suffix{"MTModel", HeadKind::language_model},
      Suffix{"Decoder", HeadKind::language_model},
      Suffix{"DoubleHeadsModel", HeadKind::unknown},
      Suffix{"Model", HeadKind::none},
  };
  for (const Suffix& suffix : kSuffixes)
    if (name.ends_with(suffix.text)) return {name.substr(0, name.size() - suffix.text.size()), suffix.head};
  return {name, HeadKind::unknown};
}

const Architecture* find_class(std::string_view name) {
  const std::string_view stem = split_class(name).stem;
  const auto at = std::ranges::find_if(kArchitectures, [&](const Architecture& known) {
    return !name.empty() && split_class(known.language_class).stem == stem;
  });
  return at == kArchitectures.end() ? nullptr : &*at;
}

// The architecture of a config whose model_type is not known: by its class, else by its keys as a decoder.
const Architecture& nearest_architecture(Reader& config, const Model& model) {
  static constexpr Architecture kUnknown{"", "unknown", "", "model", unknown};
  std::vector<std::string_view> types;
  for (const Architecture& known : kArchitectures) types.push_back(known.model_type);
  const std::string name = "model_type \"" + escaped(model.model_type) + "\" is not known" +
                           did_you_mean(model.model_type, types);
  if (const Architecture* by_class = find_class(model.architecture)) {
    config.doubt("unknown-model-type", name + ": counted as " + std::string(by_class->model_type) + ", by its class",
                 "model_type");
    return *by_class;
  }
  for (const Keys* needed : {&key::d, &key::n_layers, &key::n_heads})
    if (!config.find(*needed))
      config.fail("unknown-model-type", "model_type",
                  name + ", and without " + std::string(needed->first()) + " it cannot be counted as a decoder either");
  config.doubt("unknown-model-type", name + ": counted as the nearest known layout", "model_type");
  return kUnknown;
}

// The architecture of a config without model_type.
const Architecture& described_architecture(Reader& config, const Model& model) {
  static constexpr Architecture kParams{"", "params.json", "", "model", meta_params};
  static constexpr Architecture kOlmo{"", "olmo", "", "transformer", olmo_native};
  static constexpr Architecture kPlain{"", "plain", "", "model", plain};
  if (const Architecture* by_class = find_class(model.architecture)) {
    config.assume("model-type-by-class", "model_type is not given: " + std::string(by_class->model_type) + ", by its class");
    return *by_class;
  }
  if (config.has("d_model") && (config.has("mlp_ratio") || config.has("mlp_hidden_size"))) return kOlmo;
  if (config.has("dim") && config.has("n_layers") && config.has("n_heads")) return kParams;
  if (config.find(key::d)) return kPlain;
  config.fail("no-model", "model_type", "this is no model: there is neither a model_type nor a hidden_size (d)");
}

// Where composite configs keep their language model.
constexpr std::array<std::string_view, 4> kLanguageKeys{"text_config", "llm_config", "language_config", "thinker_config"};

Model build_at(Reader& config, Model model) {
  const auto classes = config.texts("architectures");
  if (classes && !classes->empty()) model.architecture = classes->front();
  model.model_type = config.text("model_type", model.model_type);
  for (std::string_view nested : kLanguageKeys)
    if (config.has(nested)) {
      Reader inner = config.language_object(nested);
      if (model.whole)
        config.assume("language-model-only",
                      "\"" + std::string(nested) + "\" is counted; other parts of the model are not", Keys(nested));
      model.whole = false;
      return build_at(inner, std::move(model));
    }

  const Architecture* known = find_type(model.model_type);
  if (known == nullptr)
    known = model.model_type.empty() ? &described_architecture(config, model) : &nearest_architecture(config, model);
  if (model.architecture.empty()) model.architecture = known->language_class;
  if (!model.architecture.empty()) model.head_kind = split_class(model.architecture).head;
  if (model.head_kind != HeadKind::none) model.base = known->base;
  known->build(config, model);
  config.finish(model.model_type.empty() ? "this description" : escaped(model.model_type));
  return model;
}

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

Model build_model(Reader& config) { return build_at(config, {}); }

}  // namespace lmsize
