#include "report/stored.h"

#include "base/format.h"
#include "base/text.h"
#include "forward/memory.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

std::string_view name_of(CheckpointFormat format) { return format == CheckpointFormat::gguf ? "gguf" : "safetensors"; }

void write_members(const Tally& tally, std::string_view elements, JsonWriter& json) {
  json.member("tensors", tally.tensors).member(elements, tally.elements).member("bytes", tally.bytes);
}

void write_dtypes(const std::vector<DtypeTally>& dtypes, JsonWriter& json) {
  json.key("dtypes").begin_array();
  for (const DtypeTally& dtype : dtypes) {
    json.begin_object().member("dtype", dtype.dtype).member("packing", dtype.packing);
    json.member("quantized", dtype.quantized);
    write_members(dtype.tally, "parameters", json);
    json.end_object();
  }
  json.end_array();
}

void write_tally(std::string_view key, const Tally& tally, JsonWriter& json) {
  json.key(key).begin_object();
  write_members(tally, "elements", json);
  json.end_object();
}

}  // namespace

void write_stored_text(const CheckpointSummary& stored, const Implication& implied, bool color, std::string& out) {
  append_text(out, "\n  stored: {}, {}, {}, {}\n", name_of(stored.format), counted(stored.files, "file"),
              counted(stored.tensors, "tensor"), memory_text(stored.bytes));
  TextTable table({{TextTable::Align::left},
                   {TextTable::Align::right},
                   {TextTable::Align::left},
                   {TextTable::Align::right},
                   {TextTable::Align::left}});
  const auto row = [&](std::string_view name, const Tally& tally, std::string_view note) {
    table.row({"  " + std::string(name), grouped(tally.elements), "in " + counted(tally.tensors, "tensor"),
               memory_text(tally.bytes), std::string(note)});
  };
  for (const DtypeTally& dtype : stored.dtypes) {
    const std::string packing = dtype.packing.empty() ? "" : format_text(", {}", dtype.packing);
    row(dtype.dtype, dtype.tally, dtype.quantized ? "quantised" + packing : "");
  }
  if (stored.scales.tensors > 0) row("scales", stored.scales, "and zero points, maps: no parameters");
  if (stored.buffers.tensors > 0) row("buffers", stored.buffers, "no parameters");
  table.write(color, out);
  if (!implied.config) return append_text(out, "  implied config: none: {}\n", implied.reason);
  append_text(out, "  implied config: {}\n", implied.config->json);
  if (!implied.config->guessed.empty())
    append_text(out, "  not in the shapes, guessed: {}\n", fmt::join(implied.config->guessed, ", "));
}

void write_stored_members(const CheckpointSummary& stored, const Implication& implied, JsonWriter& json) {
  json.key("checkpoint").begin_object().member("format", name_of(stored.format)).member("files", stored.files);
  json.member("tensors", stored.tensors).member("bytes", stored.bytes);
  write_dtypes(stored.dtypes, json);
  write_tally("scales", stored.scales, json);
  write_tally("buffers", stored.buffers, json);
  json.end_object().key("implied_config");
  if (!implied.config)
    json.null();
  else
    json.raw(implied.config->json);
  json.key("guessed").begin_array();
  if (implied.config)
    for (const std::string& key : implied.config->guessed) json.value(key);
  json.end_array();
  json.key("not_implied");
  if (implied.config)
    json.null();
  else
    json.value(implied.reason);
}

}  // namespace lmsize
