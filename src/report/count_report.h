// What `count` tells of one model: the one source of all its output formats.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/count.h"
#include "base/error.h"
#include "checkpoint/summary.h"
#include "infer/implied_config.h"
#include "model/model.h"

namespace lmsize {

inline std::string_view name_of(Role role) { return kRoleNames[static_cast<std::size_t>(role)]; }

// The roles that layers hold parameters of.
inline constexpr std::array kLayerRoles{Role::attention, Role::mixer, Role::mlp, Role::router, Role::norm, Role::other};

// Everything referred to must outlive it.
struct CountReport {
  std::string_view source, name;
  const Model& model;
  std::span<const Diagnostic> assumptions;
  Count count;
  std::optional<std::vector<TensorCount>> tensors{};  // where they were asked for
  // Of a checkpoint that was counted without a config.
  const CheckpointSummary* stored = nullptr;
  const ImpliedConfig* implied = nullptr;

  std::string_view status() const { return assumptions.empty() ? "exact" : "assumed"; }
  std::string_view scope() const { return model.whole ? "model" : "language_model"; }
};

}  // namespace lmsize
