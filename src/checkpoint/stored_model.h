// A checkpoint as a model, without a config.
#pragma once

#include "checkpoint/inventory.h"
#include "model/model.h"

namespace lmsize {

// Each stored weight as a block of its own: its layer and role are what its name says. What numbers of experts a token
// passes through no checkpoint says: all are active.
Model stored_model(const Inventory& inventory);

}  // namespace lmsize
