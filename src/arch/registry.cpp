#include "arch/registry.h"

#include <algorithm>
#include <array>
#include <string>

#include "arch/class_name.h"
#include "arch/common.h"
#include "arch/composite.h"
#include "arch/composites.h"
#include "arch/families.h"
#include "arch/multimodal.h"
#include "arch/nearest.h"
#include "base/text.h"

namespace lmsize {
namespace {

// Sorted by model_type. `base` is the prefix under which a class with a head holds the base model.
constexpr std::array kLanguageModels{
    Architecture{"afmoe", "afmoe", "AfmoeForCausalLM", "model", afmoe},
    Architecture{"albert", "albert", "AlbertForMaskedLM", "albert", albert},
    Architecture{"apertus", "nemotron", "ApertusForCausalLM", "model", apertus, "apertus"},
    Architecture{"apertus1p5_text", "nemotron", "Apertus1p5TextForCausalLM", "model", apertus1p5},
    Architecture{"aquila", "llama", "AquilaForCausalLM", "model", llama},
    Architecture{"arcee", "nemotron", "ArceeForCausalLM", "model", arcee, "arcee"},
    Architecture{"aria_text", "aria", "AriaTextForCausalLM", "model", aria},
    Architecture{"audioflamingo3", "speech", "AudioFlamingo3ForConditionalGeneration", "model", audioflamingo3, "",
                 true},
    Architecture{"axk1", "deepseek", "AXK1ForCausalLM", "model", axk1},
    Architecture{"axk2", "deepseek", "AXK2ForCausalLM", "model", axk2},
    Architecture{"baichuan", "llama", "BaichuanForCausalLM", "model", baichuan},
    Architecture{"bailing_hybrid", "kimi_linear", "BailingHybridForCausalLM", "model", bailing_hybrid},
    Architecture{"bamba", "bamba", "BambaForCausalLM", "model", bamba},
    Architecture{"bart", "bart", "BartForConditionalGeneration", "model", bart},
    Architecture{"beam", "beam", "BeamForCausalLM", "model", beam},
    Architecture{"bert", "bert", "BertLMHeadModel", "bert", bert, "bert"},
    Architecture{"bert-generation", "bert", "BertGenerationDecoder", "bert", bert_generation},
    Architecture{"big_bird", "bert", "BigBirdForCausalLM", "bert", big_bird},
    Architecture{"bigbird_pegasus", "bart", "BigBirdPegasusForConditionalGeneration", "model", bigbird_pegasus},
    Architecture{"biogpt", "opt", "BioGptForCausalLM", "biogpt", biogpt},
    Architecture{"bitnet", "bitnet", "BitNetForCausalLM", "model", bitnet},
    Architecture{"blenderbot", "bart", "BlenderbotForConditionalGeneration", "model", blenderbot},
    Architecture{"blenderbot-small", "bart", "BlenderbotSmallForConditionalGeneration", "model", blenderbot_small},
    Architecture{"bloom", "bloom", "BloomForCausalLM", "transformer", bloom, "bloom"},
    Architecture{"blt", "blt", "BltForCausalLM", "model", blt},
    Architecture{"camembert", "roberta", "CamembertForCausalLM", "roberta", camembert},
    Architecture{"chatglm", "chatglm", "ChatGLMForConditionalGeneration", "transformer", chatglm},
    Architecture{"codegen", "gptj", "CodeGenForCausalLM", "transformer", codegen},
    Architecture{"cohere", "cohere", "CohereForCausalLM", "model", cohere, "command-r"},
    Architecture{"cohere2", "cohere", "Cohere2ForCausalLM", "model", cohere2, "cohere2"},
    Architecture{"cohere2_moe", "cohere_moe", "Cohere2MoeForCausalLM", "model", cohere2_moe},
    Architecture{"cohere_compass_text", "cohere", "CohereCompassForCausalLM", "model", cohere_compass},
    Architecture{"convbert", "convbert", "ConvBertForMaskedLM", "convbert", convbert},
    Architecture{"cpmant", "cpmant", "CpmAntForCausalLM", "cpmant", cpmant},
    Architecture{"ctrl", "ctrl", "CTRLLMHeadModel", "transformer", ctrl},
    Architecture{"cwm", "llama", "CwmForCausalLM", "model", cwm},
    Architecture{"data2vec-text", "roberta", "Data2VecTextForCausalLM", "data2vec_text", data2vec_text},
    Architecture{"dbrx", "dbrx", "DbrxForCausalLM", "transformer", dbrx},
    Architecture{"deberta", "deberta", "DebertaForMaskedLM", "deberta", deberta},
    Architecture{"deberta-v2", "deberta", "DebertaV2ForMaskedLM", "deberta", deberta_v2},
    Architecture{"deepseek", "deepseek", "DeepseekForCausalLM", "model", deepseek},
    Architecture{"deepseek_v2", "deepseek", "DeepseekV2ForCausalLM", "model", deepseek_v2, "deepseek2"},
    Architecture{"deepseek_v3", "deepseek", "DeepseekV3ForCausalLM", "model", deepseek_v3, "deepseek2"},
    Architecture{"deepseek_v32", "deepseek", "DeepseekV32ForCausalLM", "model", deepseek_v32},
    Architecture{"deepseek_v4", "deepseek_v4", "DeepseekV4ForCausalLM", "model", deepseek_v4},
    Architecture{"diffllama", "bitnet", "DiffLlamaForCausalLM", "model", diffllama},
    Architecture{"distilbert", "distilbert", "DistilBertForMaskedLM", "distilbert", distilbert},
    Architecture{"doge", "doge", "DogeForCausalLM", "model", doge},
    Architecture{"dory", "dory", "DoryForCausalLM", "backbone", dory},
    Architecture{"dots1", "glm_moe", "Dots1ForCausalLM", "model", dots1, "dots1"},
    Architecture{"dots3_note_text", "dots3", "Dots3NoteForCausalLM", "model", dots3_note},
    Architecture{"electra", "bert", "ElectraForCausalLM", "electra", electra},
    Architecture{"encoder-decoder", "encoder_decoder", "EncoderDecoderModel", "", encoder_decoder},
    Architecture{"ernie", "bert", "ErnieForCausalLM", "ernie", ernie},
    Architecture{"ernie4_5", "llama", "Ernie4_5ForCausalLM", "model", ernie4_5, "ernie4_5"},
    Architecture{"ernie4_5_moe", "ernie_moe", "Ernie4_5_MoeForCausalLM", "model", ernie4_5_moe},
    Architecture{"esm", "esm", "EsmForMaskedLM", "esm", esm},
    Architecture{"esmc", "eurobert", "EsmcForMaskedLM", "esmc", esmc},
    Architecture{"eurobert", "eurobert", "EuroBertForMaskedLM", "model", eurobert},
    Architecture{"exaone", "exaone", "ExaoneForCausalLM", "transformer", exaone, "exaone"},
    Architecture{"exaone4", "exaone", "Exaone4ForCausalLM", "model", exaone4},
    Architecture{"exaone_moe", "glm_moe", "ExaoneMoeForCausalLM", "model", exaone_moe},
    Architecture{"falcon", "falcon", "FalconForCausalLM", "transformer", falcon, "falcon"},
    Architecture{"falcon_h1", "bamba", "FalconH1ForCausalLM", "model", falcon_h1},
    Architecture{"falcon_mamba", "mamba", "FalconMambaForCausalLM", "backbone", falcon_mamba},
    Architecture{"flaubert", "xlm", "FlaubertWithLMHeadModel", "transformer", xlm},
    Architecture{"flex_olmo", "flex_olmo", "FlexOlmoForCausalLM", "model", flex_olmo},
    Architecture{"flint", "qwen_moe", "FlintForCausalLM", "model", flint},
    Architecture{"fnet", "bert", "FNetForMaskedLM", "fnet", fnet},
    Architecture{"fsmt", "bart", "FSMTForConditionalGeneration", "model", fsmt},
    Architecture{"funnel", "funnel", "FunnelForMaskedLM", "funnel", funnel},
    Architecture{"gemma", "gemma", "GemmaForCausalLM", "model", gemma, "gemma"},
    Architecture{"gemma2", "gemma", "Gemma2ForCausalLM", "model", gemma2, "gemma2"},
    Architecture{"gemma3_text", "gemma", "Gemma3ForCausalLM", "model", gemma3_text, "gemma3"},
    Architecture{"gemma3n_text", "gemma", "Gemma3nForCausalLM", "model", gemma3n_text},
    Architecture{"gemma4_text", "gemma", "Gemma4ForCausalLM", "model", gemma4_text},
    Architecture{"gemma4_unified_text", "gemma", "Gemma4UnifiedForCausalLM", "model", gemma4_unified_text},
    Architecture{"git", "git", "GitForCausalLM", "git", git},
    Architecture{"glm", "glm", "GlmForCausalLM", "model", glm},
    Architecture{"glm4", "glm", "Glm4ForCausalLM", "model", glm4},
    Architecture{"glm4_moe", "glm_moe", "Glm4MoeForCausalLM", "model", glm4_moe, "glm4moe"},
    Architecture{"glm4_moe_lite", "deepseek", "Glm4MoeLiteForCausalLM", "model", glm4_moe_lite},
    Architecture{"glm_moe_dsa", "deepseek", "GlmMoeDsaForCausalLM", "model", glm_moe_dsa},
    Architecture{"glmasr", "speech", "GlmAsrForConditionalGeneration", "model", glmasr, "", true},
    Architecture{"gpt-sw3", "gpt2", "GPT2LMHeadModel", "transformer", gpt2},
    Architecture{"gpt2", "gpt2", "GPT2LMHeadModel", "transformer", gpt2, "gpt2"},
    Architecture{"gpt_bigcode", "gpt2", "GPTBigCodeForCausalLM", "transformer", gpt_bigcode, "starcoder"},
    Architecture{"gpt_neo", "gpt_neo", "GPTNeoForCausalLM", "transformer", gpt_neo},
    Architecture{"gpt_neox", "gpt_neox", "GPTNeoXForCausalLM", "gpt_neox", gpt_neox, "gptneox"},
    Architecture{"gpt_neox_japanese", "gpt_neox", "GPTNeoXJapaneseForCausalLM", "gpt_neox_japanese", gpt_neox_japanese},
    Architecture{"gpt_oss", "gpt_oss", "GptOssForCausalLM", "model", gpt_oss, "gpt-oss"},
    Architecture{"gptj", "gptj", "GPTJForCausalLM", "transformer", gptj, "gptj"},
    Architecture{"granite", "granite", "GraniteForCausalLM", "model", granite, "granite"},
    Architecture{"granite_speech", "speech", "GraniteSpeechForConditionalGeneration", "model", granite_speech, "",
                 true},
    Architecture{"granite_speech_plus", "speech", "GraniteSpeechPlusForConditionalGeneration", "model", granite_speech,
                 "", true},
    Architecture{"granite_swa", "granite", "GraniteSWAForCausalLM", "model", granite_swa},
    Architecture{"granitemoe", "granite_moe", "GraniteMoeForCausalLM", "model", granitemoe},
    Architecture{"granitemoe_swa", "granite_moe", "GraniteMoeSWAForCausalLM", "model", granitemoe_swa},
    Architecture{"granitemoehybrid", "granitemoehybrid", "GraniteMoeHybridForCausalLM", "model", granitemoehybrid},
    Architecture{"granitemoeshared", "granite_moe", "GraniteMoeSharedForCausalLM", "model", granitemoeshared},
    Architecture{"grok-1", "grok", "Grok1ModelForCausalLM", "model", grok1},
    Architecture{"gte", "rotary_bert", "GteForMaskedLM", "gte", gte},
    Architecture{"helium", "llama", "HeliumForCausalLM", "model", helium},
    Architecture{"hrm_text", "hrm_text", "HrmTextForCausalLM", "model", hrm_text},
    Architecture{"hunyuan_v1_dense", "llama", "HunYuanDenseV1ForCausalLM", "model", hunyuan_v1_dense, "hunyuan-dense"},
    Architecture{"hunyuan_v1_moe", "hunyuan_moe", "HunYuanMoEV1ForCausalLM", "model", hunyuan_v1_moe, "hunyuan-moe"},
    Architecture{"hy_v3", "glm_moe", "HYV3ForCausalLM", "model", hy_v3},
    Architecture{"hy_v4", "hy_v4", "HYV4ForCausalLM", "model", hy_v4},
    Architecture{"hyperclovax", "granite", "HyperCLOVAXForCausalLM", "model", hyperclovax},
    Architecture{"ibert", "roberta", "IBertForMaskedLM", "ibert", ibert},
    Architecture{"inkling2_loop_text", "inkling", "Inkling2LoopForCausalLM", "model", inkling2_loop},
    Architecture{"inkling2_text", "inkling", "Inkling2ForCausalLM", "model", inkling2},
    Architecture{"inkling_text", "inkling", "InklingForCausalLM", "model", inkling},
    Architecture{"internlm", "llama", "InternLMForCausalLM", "model", internlm},
    Architecture{"internlm2", "llama", "InternLM2ForCausalLM", "model", internlm2},
    Architecture{"internlm3", "llama", "InternLM3ForCausalLM", "model", internlm3, "llama"},
    Architecture{"iquestcoder", "llama", "IQuestCoderForCausalLM", "model", iquestcoder},
    Architecture{"jais2", "nemotron", "Jais2ForCausalLM", "model", jais2},
    Architecture{"jamba", "jamba", "JambaForCausalLM", "model", jamba},
    Architecture{"jetmoe", "jetmoe", "JetMoeForCausalLM", "model", jetmoe},
    Architecture{"jina_embeddings_v3", "rotary_bert", "JinaEmbeddingsV3ForMaskedLM", "roberta", jina_embeddings_v3},
    Architecture{"kimi_k2", "deepseek", "DeepseekV3ForCausalLM", "model", deepseek_v3, "deepseek2"},
    Architecture{"kimi_linear", "kimi_linear", "KimiLinearForCausalLM", "model", kimi_linear},
    Architecture{"kolibri1", "beam", "Kolibri1ForCausalLM", "model", kolibri1},
    Architecture{"laguna", "laguna", "LagunaForCausalLM", "model", laguna},
    Architecture{"lara_mini", "qwen_next", "LaraMiniForCausalLM", "model", lara_mini},
    Architecture{"layoutlm", "bert", "LayoutLMForMaskedLM", "layoutlm", layoutlm},
    Architecture{"led", "bart", "LEDForConditionalGeneration", "led", led},
    Architecture{"lfm2", "lfm2", "Lfm2ForCausalLM", "model", lfm2},
    Architecture{"lfm2_moe", "lfm2", "Lfm2MoeForCausalLM", "model", lfm2_moe},
    Architecture{"lfm3", "lfm2", "Lfm3ForCausalLM", "model", lfm3},
    Architecture{"llama", "llama", "LlamaForCausalLM", "model", llama, "llama"},
    Architecture{"llama4_text", "llama4", "Llama4ForCausalLM", "model", llama4},
    Architecture{"longcat_flash", "longcat", "LongcatFlashForCausalLM", "model", longcat_flash},
    Architecture{"longformer", "roberta", "LongformerForMaskedLM", "longformer", longformer},
    Architecture{"longt5", "t5", "LongT5ForConditionalGeneration", "model", longt5},
    Architecture{"luke", "bert", "LukeForMaskedLM", "luke", luke},
    Architecture{"m2m_100", "bart", "M2M100ForConditionalGeneration", "model", m2m_100},
    Architecture{"mamba", "mamba", "MambaForCausalLM", "backbone", mamba},
    Architecture{"mamba2", "mamba", "Mamba2ForCausalLM", "backbone", mamba2},
    Architecture{"marian", "bart", "MarianMTModel", "model", marian},
    Architecture{"mbart", "bart", "MBartForConditionalGeneration", "model", mbart},
    Architecture{"megatron-bert", "bert", "MegatronBertForCausalLM", "bert", megatron_bert},
    Architecture{"mellum", "laguna", "MellumForCausalLM", "model", mellum},
    Architecture{"mimo", "llama", "MiMoForCausalLM", "model", mimo},
    Architecture{"mimo_v2_flash", "mimo", "MiMoV2FlashForCausalLM", "model", mimo_v2_flash},
    Architecture{"minicpm", "llama", "MiniCPMForCausalLM", "model", minicpm},
    Architecture{"minicpm3", "deepseek", "MiniCPM3ForCausalLM", "model", minicpm3},
    Architecture{"minimax", "minimax", "MiniMaxForCausalLM", "model", minimax},
    Architecture{"minimax_m1", "minimax", "MiniMaxM1ForCausalLM", "model", minimax},
    Architecture{"minimax_m2", "minimax_m2", "MiniMaxM2ForCausalLM", "model", minimax_m2},
    Architecture{"minimax_m3_vl_text", "minimax_m2", "MiniMaxM3VLForCausalLM", "model", minimax_m3},
    Architecture{"minimax_text_01", "minimax", "MiniMaxText01ForCausalLM", "model", minimax},
    Architecture{"ministral", "llama", "MinistralForCausalLM", "model", mistral},
    Architecture{"ministral3", "llama", "Ministral3ForCausalLM", "model", ministral3, "mistral3"},
    Architecture{"mistral", "llama", "MistralForCausalLM", "model", mistral, "llama"},
    Architecture{"mistral4", "deepseek", "Mistral4ForCausalLM", "model", mistral4},
    Architecture{"mixtral", "mixtral", "MixtralForCausalLM", "model", mixtral, "llama"},
    Architecture{"mobilebert", "mobilebert", "MobileBertForMaskedLM", "mobilebert", mobilebert},
    Architecture{"modernbert", "modernbert_decoder", "ModernBertForMaskedLM", "model", modernbert},
    Architecture{"modernbert-decoder", "modernbert_decoder", "ModernBertDecoderForCausalLM", "model",
                 modernbert_decoder},
    Architecture{"moshi", "moshi", "MoshiForCausalLM", "model", moshi},
    Architecture{"mpnet", "bert", "MPNetForMaskedLM", "mpnet", mpnet},
    Architecture{"mpt", "mpt", "MptForCausalLM", "transformer", mpt, "mpt"},
    Architecture{"mra", "bert", "MraForMaskedLM", "mra", mra},
    Architecture{"mt5", "t5", "MT5ForConditionalGeneration", "model", mt5},
    Architecture{"musicflamingo", "speech", "MusicFlamingoForConditionalGeneration", "model", musicflamingo, "", true},
    Architecture{"musicgen_decoder", "musicgen", "MusicgenForCausalLM", "model", musicgen_decoder},
    Architecture{"musicgen_melody_decoder", "musicgen", "MusicgenMelodyForCausalLM", "model", musicgen_melody_decoder},
    Architecture{"mvp", "bart", "MvpForConditionalGeneration", "model", mvp},
    Architecture{"nanochat", "nemotron", "NanoChatForCausalLM", "model", nanochat},
    Architecture{"nemotron", "nemotron", "NemotronForCausalLM", "model", nemotron, "nemotron"},
    Architecture{"nemotron-nas", "decilm", "DeciLMForCausalLM", "model", decilm},
    Architecture{"nemotron_h", "nemotron_h", "NemotronHForCausalLM", "backbone", nemotron_h},
    Architecture{"nllb-moe", "bart", "NllbMoeForConditionalGeneration", "model", nllb_moe},
    Architecture{"nomic_bert", "rotary_bert", "NomicBertForMaskedLM", "nomic_bert", nomic_bert},
    Architecture{"nystromformer", "bert", "NystromformerForMaskedLM", "nystromformer", nystromformer},
    Architecture{"olmo", "olmo", "OlmoForCausalLM", "model", olmo, "olmo"},
    Architecture{"olmo2", "olmo", "Olmo2ForCausalLM", "model", olmo2, "olmo2"},
    Architecture{"olmo3", "olmo", "Olmo3ForCausalLM", "model", olmo3},
    Architecture{"olmo_hybrid", "olmo_hybrid", "OlmoHybridForCausalLM", "model", olmo_hybrid},
    Architecture{"olmoe", "olmoe", "OlmoeForCausalLM", "model", olmoe, "olmoe"},
    Architecture{"openai-gpt", "gpt2", "OpenAIGPTLMHeadModel", "transformer", openai_gpt},
    Architecture{"openelm", "openelm", "OpenELMForCausalLM", "transformer", openelm},
    Architecture{"opt", "opt", "OPTForCausalLM", "model", opt},
    Architecture{"orion", "llama", "OrionForCausalLM", "model", orion},
    Architecture{"pegasus", "bart", "PegasusForConditionalGeneration", "model", pegasus},
    Architecture{"pegasus_x", "bart", "PegasusXForConditionalGeneration", "model", pegasus_x},
    Architecture{"perceiver", "perceiver", "PerceiverForMaskedLM", "perceiver", perceiver},
    Architecture{"persimmon", "gpt_neox", "PersimmonForCausalLM", "model", persimmon},
    Architecture{"phi", "phi", "PhiForCausalLM", "model", phi, "phi2"},
    Architecture{"phi-msft", "phi", "PhiForCausalLM", "transformer", phi_msft},
    Architecture{"phi3", "phi", "Phi3ForCausalLM", "model", phi3, "phi3"},
    Architecture{"phi3_v", "phi", "Phi3VForCausalLM", "model", phi3_v},
    Architecture{"phi4_multimodal", "phi4_multimodal", "Phi4MultimodalForCausalLM", "model", phi4_multimodal},
    Architecture{"phimoe", "phimoe", "PhimoeForCausalLM", "model", phimoe, "phimoe"},
    Architecture{"plbart", "bart", "PLBartForConditionalGeneration", "model", plbart},
    Architecture{"prophetnet", "prophetnet", "ProphetNetForConditionalGeneration", "prophetnet", prophetnet},
    Architecture{"qwen", "qwen", "QWenLMHeadModel", "transformer", qwen},
    Architecture{"qwen2", "llama", "Qwen2ForCausalLM", "model", qwen2, "qwen2"},
    Architecture{"qwen2_audio", "speech", "Qwen2AudioForConditionalGeneration", "model", qwen2_audio, "", true},
    Architecture{"qwen2_moe", "qwen_moe", "Qwen2MoeForCausalLM", "model", qwen2_moe, "qwen2moe"},
    Architecture{"qwen3", "llama", "Qwen3ForCausalLM", "model", qwen3, "qwen3"},
    Architecture{"qwen3_5_moe_text", "qwen_next", "Qwen3_5MoeForCausalLM", "model", qwen3_5_moe},
    Architecture{"qwen3_5_text", "qwen_next", "Qwen3_5ForCausalLM", "model", qwen3_5},
    Architecture{"qwen3_asr", "speech", "Qwen3ASRForConditionalGeneration", "model", qwen3_asr, "", true},
    Architecture{"qwen3_moe", "qwen_moe", "Qwen3MoeForCausalLM", "model", qwen3_moe, "qwen3moe"},
    Architecture{"qwen3_next", "qwen_next", "Qwen3NextForCausalLM", "model", qwen3_next},
    Architecture{"qwen4_exp_text", "qwen4_exp", "Qwen4ExpForCausalLM", "model", qwen4_exp},
    Architecture{"recurrent_gemma", "recurrent_gemma", "RecurrentGemmaForCausalLM", "model", recurrent_gemma},
    Architecture{"reformer", "reformer", "ReformerModelWithLMHead", "reformer", reformer},
    Architecture{"rembert", "bert", "RemBertForCausalLM", "rembert", rembert},
    Architecture{"roberta", "roberta", "RobertaForCausalLM", "roberta", roberta},
    Architecture{"roberta-prelayernorm", "roberta", "RobertaPreLayerNormForCausalLM", "roberta_prelayernorm",
                 roberta_prelayernorm},
    Architecture{"roc_bert", "bert", "RoCBertForCausalLM", "roc_bert", roc_bert},
    Architecture{"roformer", "bert", "RoFormerForCausalLM", "roformer", roformer},
    Architecture{"rwkv", "rwkv", "RwkvForCausalLM", "rwkv", rwkv},
    Architecture{"rwkv5", "rwkv", "Rwkv5ForCausalLM", "rwkv", rwkv5},
    Architecture{"rwkv7", "rwkv", "RWKV7ForCausalLM", "model", rwkv7},
    Architecture{"sarvam_mla", "deepseek", "DeepseekV3ForCausalLM", "model", sarvam_mla},
    Architecture{"sarvam_moe", "glm_moe", "Glm4MoeForCausalLM", "model", sarvam_moe},
    Architecture{"seamless_m4t", "seamless_m4t", "SeamlessM4TForTextToText", "", seamless_m4t},
    Architecture{"seamless_m4t_v2", "seamless_m4t", "SeamlessM4Tv2ForTextToText", "", seamless_m4t},
    Architecture{"seed_oss", "llama", "SeedOssForCausalLM", "model", seed_oss, "seed_oss"},
    Architecture{"skywork", "llama", "SkyworkForCausalLM", "model", llama},
    Architecture{"smollm3", "llama", "SmolLM3ForCausalLM", "model", smollm3, "smollm3"},
    Architecture{"solar_open", "glm_moe", "SolarOpenForCausalLM", "model", solar_open},
    Architecture{"squeezebert", "convbert", "SqueezeBertForMaskedLM", "transformer", squeezebert},
    Architecture{"stablelm", "stablelm", "StableLmForCausalLM", "model", stablelm, "stablelm"},
    Architecture{"stablelm_epoch", "stablelm", "StableLMEpochForCausalLM", "model", stablelm},
    Architecture{"starcoder2", "llama", "Starcoder2ForCausalLM", "model", starcoder2, "starcoder2"},
    Architecture{"switch_transformers", "t5", "SwitchTransformersForConditionalGeneration", "model",
                 switch_transformers},
    Architecture{"t5", "t5", "T5ForConditionalGeneration", "model", t5},
    Architecture{"t5gemma", "t5gemma", "T5GemmaForConditionalGeneration", "model", t5gemma},
    Architecture{"tapas", "bert", "TapasForMaskedLM", "tapas", tapas},
    Architecture{"trocr", "bart", "TrOCRForCausalLM", "model", trocr},
    Architecture{"ultrabert", "eurobert", "UltrabertForMaskedLM", "ultrabert", ultrabert},
    Architecture{"umt5", "t5", "UMT5ForConditionalGeneration", "model", umt5},
    Architecture{"vaultgemma", "gemma", "VaultGemmaForCausalLM", "model", vaultgemma},
    Architecture{"voxtral", "speech", "VoxtralForConditionalGeneration", "model", voxtral, "", true},
    Architecture{"voxtral_realtime", "speech", "VoxtralRealtimeForConditionalGeneration", "model", voxtral_realtime, "",
                 true},
    Architecture{"whisper", "whisper", "WhisperForConditionalGeneration", "model", whisper},
    Architecture{"xglm", "opt", "XGLMForCausalLM", "model", xglm},
    Architecture{"xlm", "xlm", "XLMWithLMHeadModel", "transformer", xlm},
    Architecture{"xlm-roberta", "roberta", "XLMRobertaForCausalLM", "roberta", camembert},
    Architecture{"xlm-roberta-xl", "roberta", "XLMRobertaXLForCausalLM", "roberta", xlm_roberta_xl},
    Architecture{"xlnet", "xlnet", "XLNetLMHeadModel", "transformer", xlnet},
    Architecture{"xlstm", "xlstm", "xLSTMForCausalLM", "backbone", xlstm},
    Architecture{"xmod", "roberta", "XmodForCausalLM", "roberta", xmod},
    Architecture{"xverse", "llama", "XverseForCausalLM", "model", llama},
    Architecture{"yoso", "bert", "YosoForMaskedLM", "yoso", yoso},
    Architecture{"youtu", "deepseek", "YoutuForCausalLM", "model", youtu},
    Architecture{"zamba", "zamba", "ZambaForCausalLM", "model", zamba},
    Architecture{"zamba2", "zamba", "Zamba2ForCausalLM", "model", zamba2},
    Architecture{"zaya", "zaya", "ZayaForCausalLM", "model", zaya},
};
static_assert(std::ranges::is_sorted(kLanguageModels, {}, &Architecture::model_type));

constexpr auto kArchitectures = [] {
  std::array<Architecture, kLanguageModels.size() + kInnerLanguageModels.size() + kComposites.size()> all{};
  auto at = std::ranges::copy(kLanguageModels, all.begin()).out;
  at = std::ranges::copy(kInnerLanguageModels, at).out;
  std::ranges::transform(kComposites, at, [](Architecture wrapper) {
    wrapper.composite = true;
    return wrapper;
  });
  std::ranges::sort(all, {}, &Architecture::model_type);
  return all;
}();
static_assert(std::ranges::adjacent_find(kArchitectures, {}, &Architecture::model_type) == kArchitectures.end());

const Architecture* find_class(std::string_view name) {
  const std::string_view stem = split_class(name).stem;
  const auto at = std::ranges::find_if(kLanguageModels, [&](const Architecture& known) {
    return !name.empty() && split_class(known.language_class).stem == stem;
  });
  return at == kLanguageModels.end() ? nullptr : &*at;
}

// The architecture of a config without model_type.
const Architecture& described_architecture(Reader& config, const Model& model) {
  static constexpr Architecture kParams{"", "params.json", "", "model", meta_params};
  static constexpr Architecture kOlmo{"", "olmo", "", "transformer", olmo_native};
  static constexpr Architecture kMamba{"", "mamba", "MambaLMHeadModel", "backbone", mamba_native};
  static constexpr Architecture kBert{"", "bert", "BertModel", "bert", bert};
  static constexpr Architecture kRoberta{"", "roberta", "RobertaModel", "roberta", roberta};
  static constexpr Architecture kPlain{"", "plain", "", "model", plain};
  if (const Architecture* by_class = find_class(model.architecture)) {
    config.assume("model-type-by-class",
                  "model_type is not given: " + std::string(by_class->model_type) + ", by its class");
    return *by_class;
  }
  if (config.has("ssm_cfg")) return kMamba;
  if (config.has("type_vocab_size") && config.has("num_attention_heads")) {
    const bool one_type = config.count("type_vocab_size", 2) == 1;
    config.assume("model-type-by-keys",
                  std::string("model_type is not given: the bare encoder of ") + (one_type ? "roberta" : "bert") +
                      ", by its token types",
                  "type_vocab_size");
    return one_type ? kRoberta : kBert;
  }
  if (config.has("d_model") && (config.has("mlp_ratio") || config.has("mlp_hidden_size"))) return kOlmo;
  if (config.has("dim") && config.has("n_layers") && config.has("n_heads")) return kParams;
  if (config.find(key::d)) return kPlain;
  config.fail("no-model", "model_type", "this is no model: there is neither a model_type nor a hidden_size (d)");
}

// Whether a model_type is that of a language model beside towers.
bool is_composite(std::string_view model_type) {
  const Architecture* known = find_architecture(model_type);
  return known != nullptr && known->composite;
}

// Where composite configs keep their language model.
constexpr std::array<std::string_view, 4> kLanguageKeys{"text_config", "llm_config", "language_config",
                                                        "thinker_config"};

// The key of a composite config's language model; "" where there is none.
std::string_view language_key(const Reader& config) {
  const auto at = std::ranges::find_if(kLanguageKeys, [&](std::string_view key) { return config.has(key); });
  return at == kLanguageKeys.end() ? std::string_view() : *at;
}

// The architecture of what `model` says of its type and class.
const Architecture& architecture_of(Reader& config, const Model& model) {
  if (const Architecture* known = find_architecture(model.model_type)) return *known;
  if (model.model_type.empty()) return described_architecture(config, model);
  if (const Architecture* by_class = find_class(model.architecture)) {
    config.doubt("unknown-model-type",
                 unknown_type(model) + ": counted as " + std::string(by_class->model_type) + ", by its class",
                 "model_type");
    return *by_class;
  }
  return nearest_architecture(config, model);
}

// A token passes through as many different experts as it is said to: there must be as many.
void check_choice_of_experts(Reader& config, const Model& model) {
  const Keys stated{"num_experts_per_tok", "moe_top_k", "moe_topk", "num_selected_experts"};
  if (!config.has(stated)) return;
  for (const Stack& stack : model.stacks)
    for (const Layer& layer : stack.kinds)
      for (const Branch& branch : layer.branches)
        if (const auto* moe = std::get_if<MixtureOfExperts>(&branch.block);
            moe != nullptr && moe->per_token > moe->n_experts.value)
          return config.warn("too-many-experts-chosen",
                             std::to_string(moe->per_token) + " experts a token, and there are " +
                                 std::to_string(moe->n_experts.value) + ": all count as active",
                             stated);
}

// Activations that nothing counts, those of projectors and poolers.
void check_unread_activations(Reader& config) {
  for (const Value value : config.unread())
    if (value.kind() == JsonKind::string)
      if (const auto named = find_activation(value.text())) check_learned(config, named->function, value.key());
}

// Whether a class is a part of the architecture's or has a head of its own that nothing here knows. Of models with
// towers the classes that answer in words are known; of others all but the parts.
bool is_other_class(const Architecture& known, const Model& model) {
  const std::string_view name = model.architecture;
  if (name == known.language_class) return false;
  const ClassName parts = split_class(name);
  const auto is_part = [&](std::string_view part) {
    return parts.stem.ends_with(part) && !split_class(known.language_class).stem.ends_with(part);
  };
  return (known.composite && parts.head != HeadKind::language_model) || is_part("Vision") || is_part("Audio") ||
         name.ends_with("Encoder") || name.ends_with("Decoder");
}

Model build_at(Reader& config, Model model) {
  const auto classes = config.texts("architectures");
  if (classes && !classes->empty()) model.architecture = classes->front();
  model.model_type = config.text("model_type", model.model_type);
  if (const std::string_view nested = language_key(config); !nested.empty()) {
    Reader inner = config.language_object(nested);
    const Architecture* language = find_architecture(inner.text("model_type", ""));
    const bool alone = language != nullptr && language->language_class == model.architecture;
    if (alone || !is_composite(model.model_type)) {
      if (model.whole && !alone)
        config.assume("language-model-only",
                      "\"" + std::string(nested) + "\" is counted; other parts of the model are not", Keys(nested));
      model.whole = model.whole && alone;
      return build_at(inner, std::move(model));
    }
  }
  const Architecture& known = architecture_of(config, model);
  place_class(known, model);
  known.build(config, model);
  check_choice_of_experts(config, model);
  check_unread_activations(config);
  if (is_other_class(known, model))
    config.assume("unknown-head", escaped(model.architecture) + " is counted as " + std::string(known.language_class),
                  "architectures");
  config.finish(model.model_type.empty() ? "this description" : escaped(model.model_type));
  return model;
}

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }
std::span<const Architecture> language_models() { return kLanguageModels; }

const Architecture* find_architecture(std::string_view model_type) {
  const auto at = std::ranges::lower_bound(kArchitectures, model_type, {}, &Architecture::model_type);
  return at != kArchitectures.end() && at->model_type == model_type ? at : nullptr;
}

namespace {

// Whether the wrapper ties the head of the language model in `model`.
bool is_tied(Reader& config, const Model& model, const LanguagePart& part) {
  switch (part.tie) {
    case Tie::outer:
      return config.flag(key::tied, part.tied);
    case Tie::either:
      return config.flag(key::tied, part.tied) || model.sizes.tie_word_embeddings.value_or(false);
    default:
      return part.tie == Tie::always;
  }
}

}  // namespace

void add_language_model(Reader& config, Model& model, const LanguagePart& part) {
  const std::string_view nested = part.key.empty() ? language_key(config) : part.key;
  Reader inner = nested.empty() ? config : config.language_object(nested);
  std::string type(part.type);
  if (!nested.empty()) type = inner.text("model_type", type);
  if (is_composite(type)) type = part.type;  // files that call the language model what the whole is called
  const std::string outer_type = std::exchange(model.model_type, type);
  const Architecture& known = architecture_of(inner, model);
  std::string name(part.name);
  model.base = part.own_class ? name + "." + std::string(known.base) : name;
  known.build(inner, model);
  model.model_type = outer_type;
  model.base.clear();

  if (part.own_class)
    for (Placed& placed : model.heads) placed.prefix = join_names(name, placed.prefix);
  if (part.tie != Tie::inner) tie_head(model, is_tied(config, model, part));
}

Model build_model(Reader& config) { return build_at(config, {}); }

}  // namespace lmsize
