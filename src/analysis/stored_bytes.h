// The bytes of a model's weights in the formats that they are kept in.
#pragma once

#include "analysis/count.h"
#include "model/model.h"
#include "model/storage.h"

namespace lmsize {

struct StoredBytes {
  Roles bytes{}, parameters{};
  Int total_bytes() const;
  Int total_parameters() const;
};

// Every stored tensor once: quantised ones with their scales and zero points, the rest plain; towers as `other`. Throws
// Error "overflow".
StoredBytes stored_bytes(const Model& model, const Storage& storage);

}  // namespace lmsize
