// Models that hold a language model beside towers, and the language models that occur only inside of these.
#pragma once

#include <array>

#include "arch/registry.h"

namespace lmsize {

void apertus1p5_mm(Reader& config, Model& model);
void aria_vl(Reader& config, Model& model);
void aya_vision(Reader& config, Model& model);
void blip(Reader& config, Model& model);
void blip2(Reader& config, Model& model);
void chameleon(Reader& config, Model& model);
void cohere2_vision(Reader& config, Model& model);
void cohere_compass_vl(Reader& config, Model& model);
void cosmos3_edge(Reader& config, Model& model);
void deepseek_vl(Reader& config, Model& model);
void deepseek_vl_hybrid(Reader& config, Model& model);
void dots3_vl(Reader& config, Model& model);
void emu3(Reader& config, Model& model);
void ernie4_5_vl(Reader& config, Model& model);
void evolla(Reader& config, Model& model);
void exaone4_5(Reader& config, Model& model);
void florence2(Reader& config, Model& model);
void fuyu(Reader& config, Model& model);
void gemma3(Reader& config, Model& model);
void gemma4_assistant(Reader& config, Model& model);
void gemma4_vl(Reader& config, Model& model);
void glm46v(Reader& config, Model& model);
void glm4v(Reader& config, Model& model);
void glm4v_moe(Reader& config, Model& model);
void glm5_next(Reader& config, Model& model);
void glm_ocr(Reader& config, Model& model);
void got_ocr2(Reader& config, Model& model);
void granite_docling(Reader& config, Model& model);
void hunyuan_vl(Reader& config, Model& model);
void hy_v4_vl(Reader& config, Model& model);
void hyperclovax_vision(Reader& config, Model& model);
void idefics(Reader& config, Model& model);
void idefics2(Reader& config, Model& model);
void idefics3(Reader& config, Model& model);
void inkling2_loop_vl(Reader& config, Model& model);
void inkling2_vl(Reader& config, Model& model);
void inkling_mm(Reader& config, Model& model);
void instructblip(Reader& config, Model& model);
void internvl(Reader& config, Model& model);
void janus(Reader& config, Model& model);
void kimi_k25(Reader& config, Model& model);
void kosmos2(Reader& config, Model& model);
void kosmos2_5(Reader& config, Model& model);
void lfm2_vl(Reader& config, Model& model);
void lfm3_vl(Reader& config, Model& model);
void lighton_ocr(Reader& config, Model& model);
void llama4_vl(Reader& config, Model& model);
void llava(Reader& config, Model& model);
void llava_next(Reader& config, Model& model);
void llava_next_video(Reader& config, Model& model);
void llava_onevision(Reader& config, Model& model);
void minicpm_ocr(Reader& config, Model& model);
void minicpmv(Reader& config, Model& model);
void minimax_m3_vl(Reader& config, Model& model);
void mistral3(Reader& config, Model& model);
void mistral_large4(Reader& config, Model& model);
void mllama(Reader& config, Model& model);
void modernvbert(Reader& config, Model& model);
void molmo2(Reader& config, Model& model);
void moss_transcribe(Reader& config, Model& model);
void muse_glimmer(Reader& config, Model& model);
void muse_spark(Reader& config, Model& model);
void nemo_speechlm(Reader& config, Model& model);
void nemotron_h_omni(Reader& config, Model& model);
void neomme(Reader& config, Model& model);
void omniasr(Reader& config, Model& model);
void ovis2(Reader& config, Model& model);
void paddleocr_vl(Reader& config, Model& model);
void paligemma(Reader& config, Model& model);
void pi0(Reader& config, Model& model);
void pix2struct(Reader& config, Model& model);
void pp_formulanet(Reader& config, Model& model);
void qianfan_ocr(Reader& config, Model& model);
void qwen2_5_omni(Reader& config, Model& model);
void qwen2_5_omni_thinker(Reader& config, Model& model);
void qwen2_5_vl(Reader& config, Model& model);
void qwen2_vl(Reader& config, Model& model);
void qwen3_5_moe_vl(Reader& config, Model& model);
void qwen3_5_vl(Reader& config, Model& model);
void qwen3_omni_moe(Reader& config, Model& model);
void qwen3_omni_moe_thinker(Reader& config, Model& model);
void qwen3_vl(Reader& config, Model& model);
void qwen3_vl_moe(Reader& config, Model& model);
void qwen4_exp_vl(Reader& config, Model& model);
void shieldgemma2(Reader& config, Model& model);
void step3p7(Reader& config, Model& model);
void t5gemma2(Reader& config, Model& model);
void udop(Reader& config, Model& model);
void ultravbert(Reader& config, Model& model);
void unlimited_ocr(Reader& config, Model& model);
void vibevoice_asr(Reader& config, Model& model);
void video_llama_3(Reader& config, Model& model);
void video_llava(Reader& config, Model& model);
void vipllava(Reader& config, Model& model);
void vision_encoder_decoder(Reader& config, Model& model);

void cosmos3_edge_text(Reader& config, Model& model);
void emu3_text(Reader& config, Model& model);
void ernie4_5(Reader& config, Model& model);
void ernie4_5_vl_text(Reader& config, Model& model);
void glm4v_moe_text(Reader& config, Model& model);
void glm4v_text(Reader& config, Model& model);
void glm5_next_text(Reader& config, Model& model);
void glm_ocr_text(Reader& config, Model& model);
void granite_docling_text(Reader& config, Model& model);
void hunyuan_vl_text(Reader& config, Model& model);
void hy_v4_vl_text(Reader& config, Model& model);
void kosmos2_5_text(Reader& config, Model& model);
void kosmos2_text(Reader& config, Model& model);
void mistral_large4_text(Reader& config, Model& model);
void mllama_text(Reader& config, Model& model);
void molmo2_text(Reader& config, Model& model);
void muse_glimmer_text(Reader& config, Model& model);
void muse_spark_text(Reader& config, Model& model);
void qwen2_5_omni_text(Reader& config, Model& model);
void qwen2_vl_text(Reader& config, Model& model);
void qwen3(Reader& config, Model& model);
void qwen3_omni_moe_text(Reader& config, Model& model);
void qwen3_vl_moe_text(Reader& config, Model& model);
void step3p5(Reader& config, Model& model);
void unlimited_ocr_text(Reader& config, Model& model);

// Where `base` is empty, they place their parts themselves.
inline constexpr std::array kComposites{
    Architecture{"apertus1p5", "apertus1p5", "Apertus1p5ForConditionalGeneration", "", apertus1p5_mm},
    Architecture{"aria", "llava", "AriaForConditionalGeneration", "", aria_vl},
    Architecture{"aya_vision", "llava", "AyaVisionForConditionalGeneration", "", aya_vision},
    Architecture{"blip", "blip", "BlipForConditionalGeneration", "", blip},
    Architecture{"blip-2", "blip2", "Blip2ForConditionalGeneration", "", blip2},
    Architecture{"chameleon", "chameleon", "ChameleonForConditionalGeneration", "model", chameleon},
    Architecture{"cohere2_vision", "llava", "Cohere2VisionForConditionalGeneration", "", cohere2_vision},
    Architecture{"cohere_compass", "qwen_vl", "CohereCompassForConditionalGeneration", "", cohere_compass_vl},
    Architecture{"cosmos3_edge", "llava", "Cosmos3EdgeForConditionalGeneration", "", cosmos3_edge},
    Architecture{"cosmos3_omni", "qwen_vl", "Cosmos3OmniForConditionalGeneration", "", qwen3_vl},
    Architecture{"deepseek_vl", "llava", "DeepseekVLForConditionalGeneration", "", deepseek_vl},
    Architecture{"deepseek_vl_hybrid", "llava", "DeepseekVLHybridForConditionalGeneration", "", deepseek_vl_hybrid},
    Architecture{"dots3_note", "dots3", "Dots3NoteForConditionalGeneration", "", dots3_vl},
    Architecture{"emu3", "emu3", "Emu3ForConditionalGeneration", "", emu3},
    Architecture{"ernie4_5_vl_moe", "ernie_vl", "Ernie4_5_VLMoeForConditionalGeneration", "", ernie4_5_vl},
    Architecture{"evolla", "evolla", "EvollaForProteinText2Text", "model", evolla},
    Architecture{"exaone4_5", "qwen_vl", "Exaone4_5_ForConditionalGeneration", "", exaone4_5},
    Architecture{"florence2", "florence2", "Florence2ForConditionalGeneration", "", florence2},
    Architecture{"fuyu", "fuyu", "FuyuForCausalLM", "", fuyu},
    Architecture{"gemma3", "llava", "Gemma3ForConditionalGeneration", "", gemma3},
    Architecture{"gemma4", "gemma4_vl", "Gemma4ForConditionalGeneration", "", gemma4_vl},
    Architecture{"gemma4_assistant", "gemma4_vl", "Gemma4AssistantForCausalLM", "", gemma4_assistant},
    Architecture{"gemma4_unified", "gemma4_vl", "Gemma4UnifiedForConditionalGeneration", "", gemma4_vl},
    Architecture{"gemma4_unified_assistant", "gemma4_vl", "Gemma4UnifiedAssistantForCausalLM", "", gemma4_assistant},
    Architecture{"glm46v", "glm_vl", "Glm46VForConditionalGeneration", "", glm46v},
    Architecture{"glm4v", "glm_vl", "Glm4vForConditionalGeneration", "", glm4v},
    Architecture{"glm4v_moe", "glm_vl", "Glm4vMoeForConditionalGeneration", "", glm4v_moe},
    Architecture{"glm5_next", "glm_vl", "Glm5NextForConditionalGeneration", "", glm5_next},
    Architecture{"glm_ocr", "glm_vl", "GlmOcrForConditionalGeneration", "", glm_ocr},
    Architecture{"glmga", "glm_vl", "Glm46VForConditionalGeneration", "", glm46v},
    Architecture{"got_ocr2", "got_ocr", "GotOcr2ForConditionalGeneration", "", got_ocr2},
    Architecture{"granite_docling", "llava", "GraniteDoclingForConditionalGeneration", "", granite_docling},
    Architecture{"hunyuan_vl", "hunyuan_vl", "HunYuanVLForConditionalGeneration", "", hunyuan_vl},
    Architecture{"hy_v4_vl", "hunyuan_vl", "HYV4VLForConditionalGeneration", "", hy_v4_vl},
    Architecture{"hyperclovax_vision_v2", "qwen_vl", "HyperCLOVAXVisionV2ForConditionalGeneration", "",
                 hyperclovax_vision},
    Architecture{"idefics", "idefics", "IdeficsForVisionText2Text", "model", idefics},
    Architecture{"idefics2", "idefics", "Idefics2ForConditionalGeneration", "", idefics2},
    Architecture{"idefics3", "idefics", "Idefics3ForConditionalGeneration", "", idefics3},
    Architecture{"inkling2", "inkling", "Inkling2ForConditionalGeneration", "", inkling2_vl},
    Architecture{"inkling2_loop", "inkling", "Inkling2LoopForConditionalGeneration", "", inkling2_loop_vl},
    Architecture{"inkling_mm_model", "inkling", "InklingForConditionalGeneration", "", inkling_mm},
    Architecture{"instructblip", "blip2", "InstructBlipForConditionalGeneration", "", instructblip},
    Architecture{"instructblipvideo", "blip2", "InstructBlipVideoForConditionalGeneration", "", instructblip},
    Architecture{"internvl", "llava", "InternVLForConditionalGeneration", "", internvl},
    Architecture{"janus", "llava", "JanusForConditionalGeneration", "", janus},
    Architecture{"kimi_k25", "llava", "Kimi_K25ForConditionalGeneration", "", kimi_k25},
    Architecture{"kosmos-2", "kosmos", "Kosmos2ForConditionalGeneration", "", kosmos2},
    Architecture{"kosmos-2.5", "kosmos", "Kosmos2_5ForConditionalGeneration", "", kosmos2_5},
    Architecture{"lfm2_vl", "llava", "Lfm2VlForConditionalGeneration", "", lfm2_vl},
    Architecture{"lfm3_vl", "llava", "Lfm3VlForConditionalGeneration", "", lfm3_vl},
    Architecture{"lighton_ocr", "llava", "LightOnOcrForConditionalGeneration", "", lighton_ocr},
    Architecture{"llama4", "llama4", "Llama4ForConditionalGeneration", "", llama4_vl},
    Architecture{"llava", "llava", "LlavaForConditionalGeneration", "", llava},
    Architecture{"llava_next", "llava", "LlavaNextForConditionalGeneration", "", llava_next},
    Architecture{"llava_next_video", "llava", "LlavaNextVideoForConditionalGeneration", "", llava_next_video},
    Architecture{"llava_onevision", "llava", "LlavaOnevisionForConditionalGeneration", "", llava_onevision},
    Architecture{"minicpm_ocr", "minicpm_v", "MiniCPMOcrForConditionalGeneration", "", minicpm_ocr},
    Architecture{"minicpmv4_6", "minicpm_v", "MiniCPMV4_6ForConditionalGeneration", "", minicpmv},
    Architecture{"minicpmv4_7", "minicpm_v", "MiniCPMV4_7ForConditionalGeneration", "", minicpmv},
    Architecture{"minimax_m3_vl", "llava", "MiniMaxM3SparseForConditionalGeneration", "", minimax_m3_vl},
    Architecture{"mistral3", "llava", "Mistral3ForConditionalGeneration", "", mistral3},
    Architecture{"mistral_large4", "llava", "MistralLarge4ForConditionalGeneration", "", mistral_large4},
    Architecture{"mllama", "mllama", "MllamaForConditionalGeneration", "", mllama},
    Architecture{"modernvbert", "vbert", "ModernVBertForMaskedLM", "", modernvbert},
    Architecture{"molmo2", "llava", "Molmo2ForConditionalGeneration", "", molmo2},
    Architecture{"moss_transcribe_diarize", "qwen_omni", "MossTranscribeDiarizeForConditionalGeneration", "",
                 moss_transcribe},
    Architecture{"muse_glimmer", "llava", "MuseGlimmerForConditionalGeneration", "", muse_glimmer},
    Architecture{"muse_spark", "muse_spark", "MuseSparkForConditionalGeneration", "", muse_spark},
    Architecture{"nemo_speechlm", "speech", "Nemotron3_5TranscribeForConditionalGeneration", "", nemo_speechlm},
    Architecture{"nemotron_h_omni", "llava", "NemotronH_Omni_Reasoning_V3", "", nemotron_h_omni},
    Architecture{"neomme", "neomme", "NeoMMEForMaskedLM", "model", neomme},
    Architecture{"omniasr", "speech", "OmniASRForConditionalGeneration", "", omniasr},
    Architecture{"ovis2", "llava", "Ovis2ForConditionalGeneration", "", ovis2},
    Architecture{"paddleocr_vl", "llava", "PaddleOCRVLForConditionalGeneration", "", paddleocr_vl},
    Architecture{"paligemma", "llava", "PaliGemmaForConditionalGeneration", "", paligemma},
    Architecture{"pi0", "pi0", "PI0ForConditionalGeneration", "", pi0},
    Architecture{"pix2struct", "pix2struct", "Pix2StructForConditionalGeneration", "", pix2struct},
    Architecture{"pp_chart2table", "got_ocr", "GotOcr2ForConditionalGeneration", "", got_ocr2},
    Architecture{"pp_formulanet", "pp_formulanet", "PPFormulaNetForConditionalGeneration", "", pp_formulanet},
    Architecture{"qianfan_ocr", "llava", "QianfanOCRForConditionalGeneration", "", qianfan_ocr},
    Architecture{"qwen2_5_omni", "qwen_omni", "Qwen2_5OmniForConditionalGeneration", "", qwen2_5_omni},
    Architecture{"qwen2_5_omni_thinker", "qwen_omni", "Qwen2_5OmniThinkerForConditionalGeneration", "",
                 qwen2_5_omni_thinker},
    Architecture{"qwen2_5_vl", "qwen_vl", "Qwen2_5_VLForConditionalGeneration", "", qwen2_5_vl},
    Architecture{"qwen2_vl", "qwen_vl", "Qwen2VLForConditionalGeneration", "", qwen2_vl},
    Architecture{"qwen3_5", "qwen_vl", "Qwen3_5ForConditionalGeneration", "", qwen3_5_vl},
    Architecture{"qwen3_5_moe", "qwen_vl", "Qwen3_5MoeForConditionalGeneration", "", qwen3_5_moe_vl},
    Architecture{"qwen3_omni_moe", "qwen_omni", "Qwen3OmniMoeForConditionalGeneration", "", qwen3_omni_moe},
    Architecture{"qwen3_omni_moe_thinker", "qwen_omni", "Qwen3OmniMoeThinkerForConditionalGeneration", "",
                 qwen3_omni_moe_thinker},
    Architecture{"qwen3_vl", "qwen_vl", "Qwen3VLForConditionalGeneration", "", qwen3_vl},
    Architecture{"qwen3_vl_moe", "qwen_vl", "Qwen3VLMoeForConditionalGeneration", "", qwen3_vl_moe},
    Architecture{"qwen4_exp", "qwen_vl", "Qwen4ExpForConditionalGeneration", "", qwen4_exp_vl},
    Architecture{"shieldgemma2", "llava", "Gemma3ForConditionalGeneration", "", shieldgemma2},
    Architecture{"smolvlm", "idefics", "SmolVLMForConditionalGeneration", "", idefics3},
    Architecture{"step3p7", "llava", "Step3p7ForConditionalGeneration", "", step3p7},
    Architecture{"t5gemma2", "t5gemma", "T5Gemma2ForConditionalGeneration", "model", t5gemma2},
    Architecture{"udop", "t5", "UdopForConditionalGeneration", "model", udop},
    Architecture{"ultravbert", "vbert", "UltraVBertForMaskedLM", "", ultravbert},
    Architecture{"unlimited_ocr", "deepseek_ocr", "UnlimitedOcrForConditionalGeneration", "", unlimited_ocr},
    Architecture{"vibevoice_asr", "speech", "VibeVoiceAsrForConditionalGeneration", "", vibevoice_asr},
    Architecture{"video_llama_3", "llava", "VideoLlama3ForConditionalGeneration", "", video_llama_3},
    Architecture{"video_llava", "llava", "VideoLlavaForConditionalGeneration", "", video_llava},
    Architecture{"vipllava", "llava", "VipLlavaForConditionalGeneration", "", vipllava},
    Architecture{"vision-encoder-decoder", "vision_encoder_decoder", "VisionEncoderDecoderModel", "",
                 vision_encoder_decoder},
};

// Their classes are the base models alone, where no wrapper says what stands on these.
inline constexpr std::array kInnerLanguageModels{
    Architecture{"cosmos3_edge_text", "llama", "Cosmos3EdgeTextModel", "model", cosmos3_edge_text},
    Architecture{"emu3_text_model", "llama", "Emu3ForCausalLM", "model", emu3_text},
    Architecture{"ernie4_5_vl_moe_text", "ernie_moe", "Ernie4_5_VLMoeTextModel", "model", ernie4_5_vl_text},
    Architecture{"glm4v_moe_text", "glm_moe", "Glm4vMoeTextModel", "model", glm4v_moe_text},
    Architecture{"glm4v_text", "glm", "Glm4vTextModel", "model", glm4v_text},
    Architecture{"glm5_next_text", "kimi_linear", "Glm5NextTextModel", "model", glm5_next_text},
    Architecture{"glm_ocr_text", "glm", "GlmOcrTextModel", "model", glm_ocr_text},
    Architecture{"granite_docling_text", "granite", "GraniteDoclingTextModel", "model", granite_docling_text},
    Architecture{"hunyuan_vl_text", "llama", "HunYuanVLTextModel", "model", hunyuan_vl_text},
    Architecture{"hy_v4_vl_text", "hy_v4", "HYV4VLTextModel", "model", hy_v4_vl_text},
    Architecture{"kosmos_2_5_text_model", "kosmos", "Kosmos2_5TextForCausalLM", "model", kosmos2_5_text},
    Architecture{"kosmos_2_text_model", "kosmos", "Kosmos2TextForCausalLM", "model", kosmos2_text},
    Architecture{"mistral_large4_text", "deepseek", "MistralLarge4TextModel", "model", mistral_large4_text},
    Architecture{"mllama_text_model", "mllama", "MllamaForCausalLM", "model", mllama_text},
    Architecture{"molmo2_text", "llama", "Molmo2TextModel", "model", molmo2_text},
    Architecture{"muse_glimmer_text", "gemma", "MuseGlimmerTextModel", "model", muse_glimmer_text},
    Architecture{"muse_spark_text", "muse_spark", "MuseSparkTextModel", "model", muse_spark_text},
    Architecture{"paddleocr_vl_text", "llama", "PaddleOCRTextModel", "model", ernie4_5},
    Architecture{"qwen2_5_omni_text", "llama", "Qwen2_5OmniThinkerTextModel", "model", qwen2_5_omni_text},
    Architecture{"qwen2_5_vl_text", "llama", "Qwen2_5_VLTextModel", "model", qwen2_vl_text},
    Architecture{"qwen2_vl_text", "llama", "Qwen2VLTextModel", "model", qwen2_vl_text},
    Architecture{"qwen3_omni_moe_text", "qwen_moe", "Qwen3OmniMoeThinkerTextModel", "model", qwen3_omni_moe_text},
    Architecture{"qwen3_vl_moe_text", "qwen_moe", "Qwen3VLMoeTextModel", "model", qwen3_vl_moe_text},
    Architecture{"qwen3_vl_text", "llama", "Qwen3VLTextModel", "model", qwen3},
    Architecture{"step3p5", "step", "Step3p7ForCausalLM", "model", step3p5},
    Architecture{"unlimited_ocr_text", "deepseek", "UnlimitedOcrTextModel", "model", unlimited_ocr_text},
};

}  // namespace lmsize
