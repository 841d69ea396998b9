// What one device holds of a model that several share: a smaller model, of which everything is told by the same folds.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "model/model.h"

namespace lmsize {

// What tensor parallelism over `ranks` devices leaves on the one that holds most: of every attention its share of
// heads, of MLPs and experts of their width, of mixers of their channels, of the vocabulary of rows; norms, routers,
// latent projections, short convolutions, position tables and towers whole (Megatron-LM, arXiv 1909.08053). KV heads
// that are fewer than ranks are held by several. What does not divide evenly is rounded up and told in `warnings`, with
// what a server does then (as vLLM does). ranks is at least 1.
Model tensor_shard(const Model& model, Int ranks, std::vector<Diagnostic>& warnings);

// The pipeline's stages, at least one layer each: the layers of all stacks in order, evenly; where they do not divide,
// one more on the stages before the last (as vLLM does). The first has embeddings and towers, the last final norm and
// head; a tied head is a copy there. Throws UsageError where there are fewer layers than stages.
std::vector<Model> pipeline_stages(const Model& model, Int stages);

}  // namespace lmsize
