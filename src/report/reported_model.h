// What every object about one model begins with.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/model.h"
#include "report/json_writer.h"

namespace lmsize {

// Everything referred to must outlive it.
struct ReportedModel {
  std::string_view source, name;
  const Model& model;
  std::span<const Diagnostic> assumptions;

  std::string_view status() const { return assumptions.empty() ? "exact" : "assumed"; }
  std::string_view scope() const { return model.whole ? "model" : "language_model"; }
};

// "source", "name", "model_type", "architecture", "status", "scope", "assumptions".
void write_reported_model(const ReportedModel& reported, JsonWriter& json);

// For tables: what was left out of scope, `more`, and what was assumed, a line each.
void write_reported_notes(const ReportedModel& reported, bool color, std::string& out,
                          std::span<const std::string> more = {});

}  // namespace lmsize
