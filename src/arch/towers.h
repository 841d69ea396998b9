// One function a kind of tower, by file.
#pragma once

#include "arch/tower.h"
#include "arch/vision.h"

namespace lmsize {

// vit.cpp: transformers over patches of one size.
// CLIP's tower of other sizes.
Tower clip_tower(Reader& config, Model& model, const VisionDefaults& defaults, const std::string& name);
Tower clip_layers(Reader& config, Model& model, const std::string& name);
Tower clip_vision(Reader& config, Model& model, const std::string& name);
Tower cosmos_vision(Reader& config, Model& model, const std::string& name);
Tower siglip_vision(Reader& config, Model& model, const std::string& name);
Tower siglip2_vision(Reader& config, Model& model, const std::string& name);
Tower idefics_vision(Reader& config, Model& model, const std::string& name);
Tower idefics1_vision(Reader& config, Model& model, const std::string& name);
Tower idefics3_vision(Reader& config, Model& model, const std::string& name);
Tower internvl_vision(Reader& config, Model& model, const std::string& name);
Tower qianfan_vision(Reader& config, Model& model, const std::string& name);
Tower janus_vision(Reader& config, Model& model, const std::string& name);
Tower kimi_vision(Reader& config, Model& model, const std::string& name);
Tower kosmos2_vision(Reader& config, Model& model, const std::string& name);
Tower ovis2_vision(Reader& config, Model& model, const std::string& name);
Tower paddleocr_vision(Reader& config, Model& model, const std::string& name);
Tower pixtral_vision(Reader& config, Model& model, const std::string& name);
Tower video_llama_vision(Reader& config, Model& model, const std::string& name);

// qwen_vision.cpp, glm_vision.cpp: patches of several frames, neighbours merged behind the layers.
Tower glm4v_vision(Reader& config, Model& model, const std::string& name);
Tower glm_ocr_vision(Reader& config, Model& model, const std::string& name);
Tower qwen2_vision(Reader& config, Model& model, const std::string& name);
Tower qwen2_5_omni_vision(Reader& config, Model& model, const std::string& name);
Tower exaone4_5_vision(Reader& config, Model& model, const std::string& name);
Tower qwen2_5_vision(Reader& config, Model& model, const std::string& name);
Tower qwen3_vision(Reader& config, Model& model, const std::string& name);
Tower qwen3_5_vision(Reader& config, Model& model, const std::string& name);
Tower qwen3_omni_vision(Reader& config, Model& model, const std::string& name);

// llama_vision.cpp
Tower llama4_vision(Reader& config, Model& model, const std::string& name);
Tower mllama_vision(Reader& config, Model& model, const std::string& name);

// sam.cpp, blip.cpp
Tower sam_vision(Reader& config, Model& model, const std::string& name);
// The same for images of `image` pixels a side where the config does not say.
Tower sam_tower(Reader& config, Model& model, const std::string& name, Int image);
Tower blip2_vision(Reader& config, Model& model, const std::string& name);
Tower blip_vision(Reader& config, Model& model, const std::string& name);

// merging_vit.cpp, flat_vit.cpp, gemma_vision.cpp
Tower gemma4_vision(Reader& config, Model& model, const std::string& name);
Tower granite_docling_vision(Reader& config, Model& model, const std::string& name);
Tower hunyuan_vision(Reader& config, Model& model, const std::string& name);
Tower hy_v4_vision(Reader& config, Model& model, const std::string& name);
Tower minicpm_vision(Reader& config, Model& model, const std::string& name);
Tower minimax_vision(Reader& config, Model& model, const std::string& name);
Tower molmo2_vision(Reader& config, Model& model, const std::string& name);
Tower muse_vision(Reader& config, Model& model, const std::string& name);
Tower step_vision(Reader& config, Model& model, const std::string& name);

// pix2struct.cpp
Tower kosmos2_5_vision(Reader& config, Model& model, const std::string& name);
Tower pix2struct_vision(Reader& config, Model& model, const std::string& name);

// florence.cpp
Tower davit_vision(Reader& config, Model& model, const std::string& name);

// ernie_vl.cpp, captioners.cpp, merging_vit.cpp
Tower ernie_vision(Reader& config, Model& model, const std::string& name);
Tower lfm3_vision(Reader& config, Model& model, const std::string& name);
Tower vit_vision(Reader& config, Model& model, const std::string& name);

Tower inkling2_vision(Reader& config, Model& model, const std::string& name);
Tower radio_vision(Reader& config, Model& model, const std::string& name);

// dots3_vl.cpp
Tower dots3_audio(Reader& config, Model& model, const std::string& name);
Tower dots3_vision(Reader& config, Model& model, const std::string& name);

// audio.cpp
Tower qwen2_5_omni_audio(Reader& config, Model& model, const std::string& name);
Tower qwen3_omni_audio(Reader& config, Model& model, const std::string& name);
Tower whisper_audio(Reader& config, Model& model, const std::string& name);

}  // namespace lmsize
