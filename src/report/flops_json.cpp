#include "analysis/flops_steps.h"
#include "report/cost_steps.h"
#include "report/flops.h"

namespace lmsize {
namespace {

void write_operations(const Operations& operations, JsonWriter& json) {
  json.member("matmul", operations.matmul()).member("attention", operations.attention);
  json.member("attention_causal", operations.causal).member("scan", operations.scan);
  json.member("total", operations.total());
}

}  // namespace

void write_flops_json(const FlopsReport& report, std::string& out) {
  const Flops& flops = report.flops;
  JsonWriter json(out);
  json.begin_object();
  write_reported_model(report.about, json);
  json.member("pass", report.pass()).member("seq", report.asked.seq).member("batch", report.asked.batch);
  json.key("flops").begin_object();
  write_operations(flops.all, json);
  json.member("per_token", flops.per_token).key("by_role").begin_object();
  for (std::size_t r = 0; r < kRoles; ++r) json.member(kRoleNames[r], flops.all.matrices[r]);
  json.end_object().end_object();
  json.key("rules").begin_object().member("2N", flops.rule_2n).member("6ND", flops.rule_6nd);
  json.member("2N_deviation", report.deviation_2n()).member("6ND_deviation", report.deviation_6nd()).end_object();
  json.key("layers").begin_array();
  for (const LayerOperations& layer : flops.layers) {
    json.begin_object();
    if (!layer.part.empty()) json.member("part", layer.part);
    json.member("first", layer.first).member("last", layer.last);
    write_operations(layer.each, json);
    json.end_object();
  }
  json.end_array();
  if (report.explain) write_steps_json(steps_of(flops, report.asked), json);
  json.end_object();
}

}  // namespace lmsize
