// The blocks of one kind in a model, for rules.
#pragma once

#include "model/model.h"

namespace lmsize {

// Calls visit(block) for every block of the kind B in the layers, each distinct layer once.
template <class B, class Visit>
void for_each_block(const Model& model, Visit visit) {
  for (const Stack& stack : model.stacks)
    for (const Layer& layer : stack.kinds)
      for (const Branch& branch : layer.branches)
        if (const B* block = std::get_if<B>(&branch.block)) visit(*block);
}

// Calls visit(mlp) for every dense feed-forward network, shared experts among them, and for every routed expert.
template <class Visit>
void for_each_mlp(const Model& model, Visit visit) {
  for_each_block<Mlp>(model, visit);
  for_each_block<MixtureOfExperts>(model, [&](const MixtureOfExperts& moe) {
    visit(moe.expert);
    if (moe.shared) visit(*moe.shared);
  });
}

}  // namespace lmsize
