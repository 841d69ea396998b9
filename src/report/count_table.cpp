#include "report/count_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "report/stored.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

using Align = TextTable::Align;
constexpr int kBarWidth = 30;  // of all parameters

std::string bar(Int part, Int whole) {
  if (whole == 0) return "";
  std::string text;
  const auto cells = std::lround(kBarWidth * static_cast<double>(part) / static_cast<double>(whole));
  for (long i = 0; i < cells; ++i) text += "█";
  return text;
}

// "32 layers", "6 encoder and 6 decoder layers"
std::string layers_in_words(const CountReport& report) {
  std::vector<std::string> parts;
  for (const Stack& stack : report.model.stacks)
    if (!stack.part.empty()) parts.push_back(format_text("{} {}", stack.n_layers(), stack.part));
  if (!parts.empty()) return format_text("  {} layers", fmt::join(parts, " and "));
  const std::optional<Int> n = report.model.sizes.num_hidden_layers;
  return n ? format_text("  {} layer{}", *n, *n == 1 ? "" : "s") : "";
}

std::string heads_in_words(const MainSizes& sizes) {
  if (!sizes.num_attention_heads) return "";
  std::string text = format_text("  heads {}", *sizes.num_attention_heads);
  if (sizes.num_key_value_heads && *sizes.num_key_value_heads != *sizes.num_attention_heads)
    text += format_text(" ({} KV)", *sizes.num_key_value_heads);
  if (sizes.head_dim) text += format_text(" x {}", *sizes.head_dim);
  return text;
}

std::string experts_in_words(const CountReport& report) {
  if (!report.count.mlp || !report.count.mlp->experts) return "";
  const ExpertsCount& experts = *report.count.mlp->experts;
  std::string text = format_text("  experts {}", experts.count);
  if (experts.d_ff != report.model.sizes.intermediate_size) text += format_text(" of d_ff {}", experts.d_ff);
  text += format_text(", {} a token", experts.per_token);
  return experts.shared > 0 ? text + format_text(", {} shared", experts.shared) : text;
}

// "llama-3-8b  llama  32 layers  d 4096  d_ff 14336  heads 32 (8 KV) x 128  vocab 128256"
std::string title(const CountReport& report, bool color) {
  const MainSizes& sizes = report.model.sizes;
  std::string text = styled(escaped(report.name), Style::bold, color);
  if (!report.model.model_type.empty()) text += "  " + escaped(report.model.model_type);
  text += layers_in_words(report);
  if (sizes.hidden_size) text += format_text("  d {}", *sizes.hidden_size);
  if (sizes.intermediate_size) text += format_text("  d_ff {}", *sizes.intermediate_size);
  text += heads_in_words(sizes) + experts_in_words(report);
  if (sizes.vocab_size) text += format_text("  vocab {}", *sizes.vocab_size);
  return text;
}

// The kind of the model's first norm.
std::string norm_kind(const Model& model) {
  const auto word = [](const Norm& norm) { return norm.kind == Norm::Kind::rms ? "RMS" : "LayerNorm"; };
  for (const Stack& stack : model.stacks)
    for (const Layer& layer : stack.kinds)
      for (const Branch& branch : layer.branches)
        for (const std::optional<Norm>* norm : {&branch.before, &branch.after, &branch.after_sum})
          if (*norm) return word(**norm);
  return "";
}

std::string head_kind(const Model& model) {
  for (const Placed& placed : model.heads)
    if (const Head* head = std::get_if<Head>(&placed.block)) return head->tied ? "tied" : "untied";
  return "";
}

// "vision tower, projector"
std::string towers_in_words(const Model& model) {
  std::vector<std::string_view> parts;
  for (const Stack& tower : model.towers)
    if (std::ranges::find(parts, tower.part) == parts.end()) parts.push_back(tower.part);
  return format_text("{}", fmt::join(parts, ", "));
}

std::string mlp_kind_words(const MlpCount& mlp) {
  if (mlp.kind == "swiglu") return "SwiGLU";
  if (mlp.kind == "geglu") return "GeGLU";
  if (mlp.kind == "reglu") return "ReGLU";
  return mlp.kind == "mlp" ? mlp.activation : mlp.kind + " " + mlp.activation;
}

std::string kind_of(const CountReport& report, Role role) {
  switch (role) {
    case Role::attention: {
      std::string kind = report.count.attention ? report.count.attention->kind : "";
      std::ranges::transform(kind, kind.begin(),
                             [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
      return kind;
    }
    case Role::mlp:
      return report.count.mlp ? mlp_kind_words(*report.count.mlp) : "";
    case Role::norm:
      return norm_kind(report.model);
    case Role::head:
      return head_kind(report.model);
    case Role::other:
      return towers_in_words(report.model);
    default:
      return "";
  }
}

// What one role has in a layer, and how many layers have as much.
struct Share {
  Int parameters = 0, layers = 0;
  std::string part;
};

std::vector<Share> shares_of(const Count& count, Role role) {
  std::vector<Share> shares;
  std::map<std::pair<Int, std::string_view>, std::size_t> places;
  for (const LayerCount& layer : count.layers) {
    const Int parameters = of(layer.roles, role);
    if (parameters == 0) continue;
    const auto [place, is_new] = places.try_emplace({parameters, layer.part}, shares.size());
    if (is_new) shares.push_back({parameters, 0, layer.part});
    shares[place->second].layers += layer.count;
  }
  return shares;
}

// The rows of one role: its total, and a row for each amount that its layers have, up to a few.
void add_role(const CountReport& report, Role role, Int outside, TextTable& table) {
  constexpr std::size_t most = 4;
  const Count& count = report.count;
  const Int total = of(count.roles, role);
  const std::string kind = kind_of(report, role);
  if (total == 0 && kind != "tied") return;
  const std::vector<Share> shares = shares_of(count, role);
  std::vector<std::string> row{std::string(role == Role::mlp ? "MLP" : name_of(role)),
                               kind,
                               "",
                               "",
                               grouped(total),
                               share(total, count.total),
                               bar(total, count.total)};
  if (shares.size() > most) {
    const auto [least, largest] = std::ranges::minmax(shares, {}, &Share::parameters);
    row[2] = grouped(least.parameters) + " - " + grouped(largest.parameters);
    row[3] = "varies";
    table.row(std::move(row));
    return;
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i > 0) row = {"", ""};
    row.resize(7);
    row[2] = grouped(shares[i].parameters);
    row[3] = format_text("x {}{}{}", shares[i].layers, shares[i].part.empty() ? "" : " ", shares[i].part);
    if (outside > 0 && i + 1 == shares.size()) row[3] += " + " + grouped(outside);
    table.row(std::move(row));
  }
  if (shares.empty()) table.row(std::move(row));
}

void write_parts(const CountReport& report, bool color, std::string& out) {
  const Count& count = report.count;
  TextTable table({{Align::left},
                   {Align::left},
                   {Align::right},
                   {Align::left},
                   {Align::right},
                   {Align::right},
                   {Align::left, Style::bar}});
  table.row({"part", "", "per layer", "layers", "total", "share"});
  const Roles outside = outside_layers(count);
  for (std::size_t r = 0; r < kRoles; ++r) add_role(report, static_cast<Role>(r), outside[r], table);
  const bool equal = count.layers.size() == 1;
  table.row({"total", "", equal ? grouped(count.layers.front().total) : "",
             equal ? format_text("x {}", count.layers.front().count) : "", grouped(count.total), "",
             rounded(static_cast<double>(count.total))},
            Style::bold);
  if (count.active != count.total)
    table.row({"active", "", equal ? grouped(count.layers.front().active) : "",
               equal ? format_text("x {}", count.layers.front().count) : "", grouped(count.active),
               share(count.active, count.total), rounded(static_cast<double>(count.active))},
              Style::bold);
  table.write(color, out);
}

void write_layers(const CountReport& report, bool color, std::string& out) {
  std::vector<Role> roles;
  for (const Role role : kLayerRoles)
    if (std::ranges::any_of(report.count.layers, [&](const LayerCount& l) { return of(l.roles, role) > 0; }))
      roles.push_back(role);
  std::vector<TextTable::Column> columns(roles.size() + 4, {Align::right});
  columns.front() = {Align::left};
  TextTable table(columns);
  std::vector<std::string> row{"layers", "count"};
  for (const Role role : roles) row.emplace_back(name_of(role));
  row.insert(row.end(), {"total", "active"});
  table.row(std::move(row));
  for (const LayerCount& layer : report.count.layers) {
    row = {format_text("{}{}{}", layer.part, layer.part.empty() ? "" : " ", layer.first), grouped(layer.count)};
    if (layer.last > layer.first) row.front() += format_text("-{}", layer.last);
    for (const Role role : roles) row.push_back(grouped(of(layer.roles, role)));
    row.insert(row.end(), {grouped(layer.total), grouped(layer.active)});
    table.row(std::move(row));
  }
  out += '\n';
  table.write(color, out);
}

void write_tensors(const CountReport& report, bool color, std::string& out) {
  TextTable table({{Align::left}, {Align::right}, {Align::right}, {Align::right}, {Align::left}, {Align::left}});
  table.row({"tensor", "shape", "count", "parameters", "role", "layers"});
  for (const TensorCount& tensor : *report.tensors)
    table.row({escaped(tensor.name), format_text("{}", fmt::join(tensor.shape, " x ")), grouped(tensor.count),
               grouped(tensor.parameters), std::string(name_of(tensor.role)), tensor.layers});
  out += '\n';
  table.write(color, out);
}

void write_notes(const CountReport& report, bool color, std::string& out) {
  std::vector<std::string> beside;
  if (report.count.mtp > 0) beside.push_back("beside the total: multi-token prediction, " + grouped(report.count.mtp));
  if (report.count.buffers > 0)
    beside.push_back("beside the total: buffers that checkpoints store, " + grouped(report.count.buffers));
  write_reported_notes(report, color, out, beside);
}

}  // namespace

void write_count_table(const CountReport& report, bool per_layer, bool color, std::string& out) {
  out += title(report, color) + "\n\n";
  write_parts(report, color, out);
  if (per_layer) write_layers(report, color, out);
  if (report.tensors) write_tensors(report, color, out);
  if (report.stored != nullptr) write_stored_text(*report.stored, *report.implied, color, out);
  write_notes(report, color, out);
}

}  // namespace lmsize
