// Models of which a language model is one part: what a wrapper says about its parts, and how they are put together.
#pragma once

#include <optional>
#include <string_view>

#include "arch/tower.h"

namespace lmsize {

// Which tie_word_embeddings ties the head: the wrapper's own, the language model's, or any of both.
enum class Tie : std::uint8_t { outer, inner, either, always, never };

// A wrapper's language model: that of its text_config, or of itself where older files keep the keys at the top.
struct LanguagePart {
  std::string_view type;   // of a text_config without model_type
  std::string_view key{};  // of its config, where that is none of the usual
  // The prefix of its names. With own_class the whole class stands there, base model and head: language_model.model.…,
  // language_model.lm_head; else the base model alone, and the head at the top.
  std::string_view name = "language_model";
  bool own_class = true;
  Tie tie = Tie::outer;
  bool tied = false;  // what an absent tie_word_embeddings of the wrapper is
};

// Builds it and leaves model.model_type as it is.
void add_language_model(Reader& config, Model& model, const LanguagePart& part);

// Whether a class has one type of tower, whatever the tower's config says (old files name the whole model there, or
// nothing), or takes what the config says.
enum class TowerChoice : bool { fixed, open };

// The tower of the config at `key`, under the prefix `name`; `own` is its type, or where the choice is open that of a
// config that says none. One that is not known is not counted: a warning says so, the scope becomes the language model,
// and there is nothing to project.
std::optional<Tower> add_known_tower(Reader& config, Model& model, std::string_view key, std::string_view name,
                                     std::string_view own = "", TowerChoice choice = TowerChoice::fixed);

// What a projector is made of.
struct Projection {
  Reader& config;  // the wrapper's
  Tower tower;
  Dim d;        // of the language model
  Outside out;  // without a prefix
};

// The commonest wrapper: a language model, the tower of vision_config, a projector.
struct Wrapper {
  LanguagePart language;
  std::string_view tower = "vision_tower";
  std::string_view vision{};  // its type; none: what vision_config says
  TowerChoice choice = TowerChoice::fixed;
  void (*project)(Projection& p) = nullptr;  // or none
};
void build_wrapper(Reader& config, Model& model, const Wrapper& wrapper);

// Projectors that several files have.
// Mistral 3's, under `name`: a norm, neighbouring patches merged, two maps.
void patch_merging_projector(Projection& p, std::string_view name);
// Muse's: an adapter of two maps, and one more.
void muse_projector(Projection& p);

}  // namespace lmsize
