#include "arch/composite.h"

#include <algorithm>
#include <iterator>

#include "arch/families.h"
#include "arch/registry.h"
#include "base/text.h"

namespace lmsize {

void add_part(Reader& config, Model& whole, const PartPlace& place) {
  Model part;
  part.model_type = config.text("model_type", place.type);
  const Architecture* known = find_architecture(part.model_type);
  if (known == nullptr)
    config.fail("unknown-model-type", "model_type",
                "a part's model_type \"" + escaped(part.model_type) + "\" is not known");
  const bool bare = place.head == HeadKind::none;
  if (!bare) part.architecture = known->language_class;
  part.base = bare ? place.under : join_names(place.under, known->base);
  part.head_kind = place.head;
  known->build(config, part);
  for (Stack& stack : part.stacks)
    if (stack.part.empty()) stack.part = place.part;
  for (Placed& head : part.heads) head.prefix = join_names(place.under, head.prefix);
  std::ranges::move(part.stacks, std::back_inserter(whole.stacks));
  std::ranges::move(part.heads, std::back_inserter(whole.heads));
  std::ranges::move(part.cost_notes, std::back_inserter(whole.cost_notes));
  whole.sizes = part.sizes;
}

void tie_head(Model& model, bool tied) {
  for (Placed& head : model.heads)
    if (Head* language = std::get_if<Head>(&head.block)) language->tied = tied;
  model.sizes.tie_word_embeddings = tied;
}

// EncoderDecoderModel: any encoder and any decoder, with a matrix between them where their widths differ.
void encoder_decoder(Reader& config, Model& model) {
  Reader encoder = config.object("encoder"), decoder = config.object("decoder");
  add_part(encoder, model, {.under = "encoder", .head = HeadKind::none, .part = "encoder", .type = "bert"});
  const Int d_encoder = model.sizes.hidden_size.value_or(0);
  const std::size_t encoder_end = model.stacks.size() - 1;
  add_part(decoder, model, {.under = "decoder", .part = "decoder", .type = "bert"});
  const Int d_decoder = model.sizes.hidden_size.value_or(0);
  const bool maps = !decoder.has("cross_attention_hidden_size") && d_encoder != d_decoder;
  decoder.ignore({"cross_attention_hidden_size"});
  if (maps)  // of the encoder's tokens
    model.stacks[encoder_end].output.push_back({"", Matrix{"enc_to_dec_proj", Dim(d_decoder), Dim(d_encoder), true}});
}

}  // namespace lmsize
