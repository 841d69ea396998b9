// What a config says of the formats of its weights.
#pragma once

#include "config/document.h"
#include "config/reader.h"
#include "model/storage.h"

namespace lmsize {

// From torch_dtype (or dtype) and quantization_config, at the top or in the nested config of the language model. What
// is missing or not known is an assumption in `log`: without a dtype, bfloat16. Sources: the reference library's
// quantization configs (GptqConfig, AwqConfig, BitsAndBytesConfig, FineGrainedFP8Config, Mxfp4Config,
// CompressedTensorsConfig).
Storage read_storage(Value root, ReadLog& log);

}  // namespace lmsize
