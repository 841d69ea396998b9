// Built-in models and known architectures, in each output format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/count.h"
#include "model/model.h"
#include "report/rows.h"

namespace lmsize {

struct ListedModel {
  std::string_view name, family;
  Model model;
  Count count;
};
struct ListedArchitecture {
  std::string_view model_type, family, language_class;
  std::string attention{}, mlp{};  // kinds, as in a count; empty where there is none
};

struct Listing {
  std::vector<ListedModel> models;
  std::vector<ListedArchitecture> architectures;
};

// For people: a table of the models, then the architectures by family; without models a table of the architectures.
void write_list_table(const Listing& listing, bool color, std::string& out);

// One object in one line; `schema` puts the schema's name in front.
void write_list_json(const Listing& listing, bool schema, std::string& out);

// A header and a row for each model; where there are none, for each architecture.
void write_list_rows(const Listing& listing, RowFormat format, std::string& out);

}  // namespace lmsize
