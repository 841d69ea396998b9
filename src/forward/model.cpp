#include <algorithm>
#include <utility>

#include "base/format.h"
#include "forward/layout.h"
#include "forward/part.h"
#include "forward/pass.h"

namespace lmsize {
namespace {

template <class T>
void record_model_step(Pass<T>& pass, const std::string& module, const Rows<T>& values) {
  pass.recorder.record(Depth::model, {.name = {}, .module = module, .width = Dim(static_cast<Int>(values.columns))},
                       values);
}

// Rows of a stored table, times its scale.
template <class T>
Rows<T> look_up(const Embedding& table, std::span<const float> stored, std::span<const Int> rows) {
  const Int before = table.rows.symbol == Symbol::vocab ? 0 : table.offset;
  const auto width = static_cast<std::size_t>(table.width.value);
  Rows<T> x(rows.size(), width);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const float* row = stored.data() + static_cast<std::size_t>(rows[t] + before) * width;
    for (std::size_t c = 0; c < width; ++c) x.row(t)[c] = static_cast<T>(row[c]) * static_cast<T>(table.scale);
  }
  return x;
}

// What stands before or behind the layers: a table of tokens begins the stream, one of positions is added to it, and
// norms and matrices map it.
template <class T>
struct Frame {
  Pass<T>& pass;
  std::span<const Int> ids;
  Rows<T> x;

  void operator()(const Placed& placed) {
    std::visit([&](const auto& block) { take(block, placed.prefix); }, placed.block);
  }
  void take(const Embedding& table, const std::string& path) {
    const std::string module = joined(path, table.name);
    const std::span<const float> stored = pass.weights.vector(joined(module, "weight"));
    if (table.rows.symbol == Symbol::vocab) {
      x = look_up<T>(table, stored, ids);
      return record_model_step(pass, module, x);
    }
    std::vector<Int> positions(ids.size());
    for (std::size_t t = 0; t < positions.size(); ++t) positions[t] = static_cast<Int>(t % pass.seq);
    const Rows<T> added = look_up<T>(table, stored, positions);
    record_model_step(pass, module, added);
    add_scaled(x, added, 1);
  }
  void take(const Norm& norm, const std::string& path) {
    x = run(norm, path, pass, x);
    record_model_step(pass, joined(path, norm.name), x);
  }
  void take(const Matrix& matrix, const std::string& path) {
    const std::string module = joined(path, matrix.name);
    x = pass.engine.linear(x, pass.weights.linear(module));
    record_model_step(pass, module, x);
  }
  void take(const auto&, const std::string&) { throw InternalError("a block that cannot be run"); }
};

template <class T>
Rows<T> run(const Head& head, const std::string& path, const TokenTable& table, Pass<T>& pass, const Rows<T>& x) {
  const std::string module = joined(path, head.name);
  LinearMap map;
  if (head.tied) {
    const auto rows = static_cast<std::size_t>(head.rows.value), d = static_cast<std::size_t>(head.d.value);
    map = {.out = rows, .in = d, .out_stride = d, .in_stride = 1, .weight = pass.weights.vector(table.name).data()};
    if (head.bias) map.bias = pass.weights.vector(joined(module, "bias")).data();
  } else {
    map = pass.weights.linear(module);
  }
  Rows<T> logits = pass.engine.linear(x, map);
  scale(logits, head.scale);
  if (head.softcap != 0) pass.engine.softcap(head.softcap, logits);
  record_model_step(pass, module, logits);
  return logits;
}

}  // namespace

template <class T>
Rows<T> run(const Model& model, Pass<T>& pass, std::span<const Int> ids) {
  const Stack& stack = model.stacks.front();
  Frame<T> frame{pass, ids, {}};
  std::ranges::for_each(stack.input, std::ref(frame));
  for (const Span& span : stack.spans) {
    for (Int i = span.first; i < span.first + span.count; ++i) {
      const std::string path = format_text("{}.{}", stack.prefix, i);
      frame.x = run(stack.kinds[span.kind], path + ".", pass, std::move(frame.x));
      record_model_step(pass, path, frame.x);
    }
  }
  std::ranges::for_each(stack.output, std::ref(frame));
  if (model.heads.empty()) return std::move(frame.x);
  const Placed& head = model.heads.front();
  return run(std::get<Head>(head.block), head.prefix, token_table(model), pass, frame.x);
}

template Rows<float> run(const Model&, Pass<float>&, std::span<const Int>);
template Rows<double> run(const Model&, Pass<double>&, std::span<const Int>);

}  // namespace lmsize
