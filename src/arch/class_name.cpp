#include "arch/class_name.h"

#include <array>

namespace lmsize {

ClassName split_class(std::string_view name) {
  struct Suffix {
    std::string_view text;
    HeadKind head;
  };
  static constexpr std::array kSuffixes{
      Suffix{"ForCausalLM", HeadKind::language_model},
      Suffix{"WithLMHeadModel", HeadKind::language_model},
      Suffix{"ModelWithLMHead", HeadKind::language_model},
      Suffix{"LMHeadModel", HeadKind::language_model},
      Suffix{"ForConditionalGeneration", HeadKind::language_model},
      Suffix{"ForVisionText2Text", HeadKind::language_model},
      Suffix{"ForMaskedLM", HeadKind::masked_language_model},
      Suffix{"ForSequenceClassification", HeadKind::sequence_classification},
      Suffix{"ForTokenClassification", HeadKind::token_classification},
      Suffix{"ForQuestionAnswering", HeadKind::question_answering},
      Suffix{"ForPreTraining", HeadKind::pretraining},
      Suffix{"ForNextSentencePrediction", HeadKind::next_sentence_prediction},
      Suffix{"ForMultipleChoice", HeadKind::multiple_choice},
      Suffix{"MTModel", HeadKind::language_model},
      Suffix{"Decoder", HeadKind::language_model},
      Suffix{"Encoder", HeadKind::none},
      Suffix{"DoubleHeadsModel", HeadKind::unknown},
      Suffix{"Model", HeadKind::none},
  };
  for (const Suffix& suffix : kSuffixes)
    if (name.ends_with(suffix.text)) return {name.substr(0, name.size() - suffix.text.size()), suffix.head};
  return {name, HeadKind::unknown};
}

void place_class(const Architecture& known, Model& model) {
  if (model.architecture.empty()) model.architecture = known.language_class;
  if (!model.architecture.empty()) model.head_kind = split_class(model.architecture).head;
  if (model.head_kind != HeadKind::none) model.base = known.base;
}

}  // namespace lmsize
