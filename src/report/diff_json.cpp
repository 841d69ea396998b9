#include "report/cost_steps.h"
#include "report/count_report.h"
#include "report/diff.h"
#include "report/json_writer.h"

namespace lmsize {
namespace {

void write_keys(std::string_view name, const std::vector<KeyDifference>& keys, JsonWriter& json) {
  json.key(name).begin_array();
  for (const KeyDifference& key : keys) {
    json.begin_object().member("key", key.key);
    json.key("a").raw(key.a ? std::string_view(*key.a) : "null");
    json.key("b").raw(key.b ? std::string_view(*key.b) : "null").end_object();
  }
  json.end_array();
}

void write_roles(std::string_view name, const Roles& roles, JsonWriter& json) {
  json.key(name).begin_object();
  for (std::size_t r = 0; r < kRoles; ++r) json.member(kRoleNames[r], roles[r]);
  json.end_object();
}

void write_side(std::string_view name, const std::optional<TensorDifference::Side>& side, JsonWriter& json) {
  json.key(name);
  if (!side) {
    json.null();
    return;
  }
  json.begin_object().key("shape").begin_array();
  for (const Int n : side->shape) json.value(n);
  json.end_array().member("count", side->count).end_object();
}

}  // namespace

void write_diff_json(const DiffReport& report, std::string& out) {
  const ModelDifference& difference = report.difference;
  JsonWriter json(out);
  json.begin_object().member("a", report.source_a).member("b", report.source_b);
  json.member("name_a", report.name_a).member("name_b", report.name_b);
  write_keys("keys", report.keys, json);
  write_keys("shape", report.shape, json);
  write_roles("parameters", difference.roles, json);
  json.member("total", difference.total).member("active", difference.active);
  json.member("total_a", report.count_a.total).member("total_b", report.count_b.total);
  write_roles("outside_layers", difference.outside, json);
  json.key("layers").begin_array();
  for (const LayerDifference& layer : difference.layers) {
    json.begin_object();
    if (!layer.part.empty()) json.member("part", layer.part);
    json.member("first", layer.first).member("last", layer.last);
    for (const Role role : kLayerRoles) json.member(name_of(role), of(layer.roles, role));
    json.member("total", layer.total).end_object();
  }
  json.end_array().key("tensors").begin_array();
  for (const TensorDifference& tensor : difference.tensors) {
    json.begin_object().member("name", tensor.name);
    write_side("a", tensor.a, json);
    write_side("b", tensor.b, json);
    json.end_object();
  }
  json.end_array();
  if (report.explain) write_steps_json(steps_of(difference), json);
  json.end_object();
}

}  // namespace lmsize
