#include "arch/multimodal.h"

#include "base/text.h"

namespace lmsize {

std::optional<Tower> add_known_tower(Reader& config, Model& model, std::string_view key, std::string_view name,
                                     std::string_view own, TowerChoice choice) {
  const Value tower = config.find(key);
  const Value stated = tower && tower.kind() == JsonKind::object ? tower.member("model_type") : Value();
  const bool states = stated && stated.kind() == JsonKind::string && (choice == TowerChoice::open || own.empty());
  const std::string type(states ? stated.text() : own);
  const BuildTower build = find_tower(type);
  if (build != nullptr) {
    Reader inner = config.object(key);
    // Keys of the classifier that the tower was trained as.
    inner.ignore({"model_type", "projection_dim", "vocab_size", "num_labels", "num_image_tokens"});
    return build(inner, model, std::string(name));
  }
  const std::string what =
      type.empty() ? "says of no known tower" : "is of the type \"" + escaped(type) + "\", which is not known";
  config.doubt("language-model-only",
               "\"" + std::string(key) + "\" " + what + ": the language model is counted; tower and projector are not",
               Keys(key));
  model.whole = false;
  return std::nullopt;
}

void build_wrapper(Reader& config, Model& model, const Wrapper& wrapper) {
  add_language_model(config, model, wrapper.language);
  const auto tower = add_known_tower(config, model, "vision_config", wrapper.tower, wrapper.vision, wrapper.choice);
  if (!tower || wrapper.project == nullptr) return;
  Stack& stack = add_tower(model, "", "projector");
  Projection projection{config, *tower, Dim(model.sizes.hidden_size.value(), Symbol::d), Outside(stack.output, "")};
  wrapper.project(projection);
}

}  // namespace lmsize
