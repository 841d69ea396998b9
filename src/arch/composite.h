// Models made of others: a part is built by its own type's architecture and set into the whole.
#pragma once

#include <string>
#include <string_view>

#include "config/reader.h"
#include "model/model.h"

namespace lmsize {

// How a part stands in the whole: under the name that holds its class.
struct PartPlace {
  std::string under;                         // "language_model"
  HeadKind head = HeadKind::language_model;  // none: the bare class
  std::string_view part{};                   // "encoder", "decoder"; of its stacks
  std::string_view type{};                   // what an absent model_type is
};

// Builds the model that `config` (an object inside the whole's) describes, and adds its stacks and heads to `whole`,
// whose sizes become those of the part. Throws Error "unknown-model-type" for a type that is not known.
void add_part(Reader& config, Model& whole, const PartPlace& place);

// Whether the language model's head is tied, whatever the part's own config says.
void tie_head(Model& model, bool tied);

}  // namespace lmsize
