// What `count` tells of one model: the one source of all its output formats.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/count.h"
#include "checkpoint/summary.h"
#include "infer/implied_config.h"
#include "report/reported_model.h"

namespace lmsize {

inline std::string_view name_of(Role role) { return kRoleNames[static_cast<std::size_t>(role)]; }

// The roles that layers hold parameters of.
inline constexpr std::array kLayerRoles{Role::attention, Role::mixer, Role::mlp, Role::router, Role::norm, Role::other};

// Everything referred to must outlive it.
struct CountReport : ReportedModel {
  Count count;
  std::optional<std::vector<TensorCount>> tensors{};  // where they were asked for
  // Of a checkpoint that was counted without a config.
  const CheckpointSummary* stored = nullptr;
  const Implication* implied = nullptr;
};

}  // namespace lmsize
