#include <algorithm>

#include "analysis/memory_steps.h"
#include "base/format.h"
#include "base/text.h"
#include "report/cost_steps.h"
#include "report/memory.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

using enum TextTable::Align;

// "sliding"; "compressed 4:1" where an entry stands for several tokens.
std::string kind_of(const CacheLayers& layers) {
  const std::string_view kind = name_of(layers.kind);
  return layers.rate == 1 ? std::string(kind) : format_text("{} {}:1", kind, layers.rate);
}

class Writer {
 public:
  Writer(const MemoryReport& report, bool color, std::string& out)
      : report_(report),
        asked_(report.asked),
        whole_(report.memory.whole),
        device_(report.memory.device),
        color_(color),
        parallel_(asked_.tensor_parallel > 1 || asked_.pipeline_parallel > 1 ||
                  (asked_.training && asked_.training->data_parallel > 1)),
        out_(out) {}

  void write() {
    write_title();
    write_parts();
    if (!asked_.training) write_layers();
    if (report_.explain) write_steps(steps_of(report_.memory, asked_), color_, binary_size, out_);
    write_reported_notes(report_.about, color_, out_);
  }

 private:
  void write_title() {
    append_text(out_, "{}  {}", styled(escaped(report_.about.name), Style::bold, color_), asked_.dtype());
    append_text(out_, "  batch {}", asked_.batch);
    if (asked_.max_model_len) append_text(out_, "  {} tokens", grouped(*asked_.max_model_len));
    if (asked_.tensor_parallel > 1) append_text(out_, "  tensor parallel {}", asked_.tensor_parallel);
    if (asked_.pipeline_parallel > 1) append_text(out_, "  pipeline parallel {}", asked_.pipeline_parallel);
    if (asked_.training)
      append_text(out_, "  training, ZeRO {} on {}", asked_.training->zero, asked_.training->data_parallel);
    out_ += "\n\n";
  }

  void add(TextTable& table, std::string name, std::optional<Int> whole, std::optional<Int> device,
           std::string note = {}, Style style = Style::plain) const {
    const auto text = [](std::optional<Int> bytes) { return bytes ? binary_size(*bytes) : "-"; };
    table.row({std::move(name), text(whole), parallel_ ? text(device) : "", std::move(note)}, style);
  }

  void write_parts() {
    TextTable table({{left}, {right}, {right}, {left}});
    if (parallel_) table.row({"", "whole model", "a device, at most", ""});
    asked_.training ? add_training(table) : add_serving(table);
    add(table, "total", whole_.total, device_.total, asked_.max_model_len ? "" : "needs --max-model-len", Style::bold);
    table.write(color_, out_);
  }

  void add_serving(TextTable& table) const {
    add(table, "weights", whole_.weights, device_.weights, asked_.storage.name());
    for (std::size_t r = 0; r < kRoles; ++r)
      if (const Int bytes = report_.memory.weights_by_role[r]; bytes > 0)
        add(table, "  " + std::string(kRoleNames[r]), bytes, std::nullopt);
    if (whole_.cache_per_token + whole_.cache_per_encoder_token > 0)
      add(table, "KV cache", whole_.cache, device_.cache, cache_words());
    if (whole_.state > 0) add(table, "states", whole_.state, device_.state, "constant, " + asked_.state_format.name);
    add(table, "activations", whole_.activations, device_.activations, "estimate, the whole prompt in one step");
  }

  std::string cache_words() const {
    std::string words = format_text("{} a token", binary_size(whole_.cache_per_token));
    if (parallel_) words += format_text(" ({} a device)", binary_size(device_.cache_per_token));
    if (whole_.cache_per_encoder_token > 0)
      words += format_text(", {} a token of the encoder", binary_size(whole_.cache_per_encoder_token));
    return words + ", " + asked_.cache_format.name;
  }

  void add_training(TextTable& table) const {
    const TrainingUsage &whole = *whole_.training, &device = *device_.training;
    add(table, "weights", whole.weights, device.weights, asked_.storage.plain.name);
    add(table, "gradients", whole.gradients, device.gradients, asked_.storage.plain.name);
    add(table, "optimizer states", whole.optimizer, device.optimizer,
        asked_.training->optimizer == Optimizer::adamw ? "AdamW: two moments, float32" : "SGD: one momentum, float32");
    if (whole.master_weights > 0) add(table, "master weights", whole.master_weights, device.master_weights, "float32");
    add(table, "activations", whole.activations, device.activations, recompute_words());
  }

  std::string recompute_words() const {
    switch (asked_.training->recompute) {
      case Recompute::none:
        return "estimate, all are kept, scores of attention too (--recompute none)";
      case Recompute::selective:
        return "estimate, all are kept but scores of attention";
      case Recompute::full:
        break;
    }
    return "estimate, each layer's input and one layer's results";
  }

  // Layers that cache alike, wherever they stand, are one row.
  void write_layers() {
    struct Alike {
      const CacheLayers* layers;
      std::vector<Span> spans;
    };
    std::vector<Alike> found;
    for (const CacheLayers& layers : report_.memory.layers) {
      const Span span{layers.first, layers.last - layers.first + 1};
      const auto same = std::ranges::find_if(found, [&](const Alike& other) {
        return other.layers->part == layers.part && other.layers->kind == layers.kind &&
               other.layers->window == layers.window && other.layers->rate == layers.rate &&
               other.layers->bytes_per_token == layers.bytes_per_token;
      });
      if (same == found.end())
        found.push_back({&layers, {span}});
      else
        same->spans.push_back(span);
    }
    TextTable table({{right}, {left}, {right}, {right}, {left}});
    table.row({"layers", "cache", "window", "a token", "which"});
    for (Alike& alike : found) {
      const CacheLayers& layers = *alike.layers;
      Int n = 0;
      for (const Span& span : alike.spans) n += span.count;
      std::string which = layers.part.empty() ? "" : layers.part + " ";
      which += layer_ranges(std::move(alike.spans));
      table.row({grouped(n), kind_of(layers), layers.window ? grouped(*layers.window) : "",
                 binary_size(layers.bytes_per_token), std::move(which)});
    }
    out_ += '\n';
    table.write(color_, out_);
  }

  const MemoryReport& report_;
  const MemoryQuestion& asked_;
  const Usage &whole_, &device_;
  bool color_, parallel_;
  std::string& out_;
};

}  // namespace

void write_memory_table(const MemoryReport& report, bool color, std::string& out) {
  Writer(report, color, out).write();
}

}  // namespace lmsize
