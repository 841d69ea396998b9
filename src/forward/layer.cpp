#include <algorithm>
#include <utility>
#include <vector>

#include "base/format.h"
#include "forward/layout.h"
#include "forward/pass.h"

namespace lmsize {
namespace {

template <class T>
void record_layer_step(Pass<T>& pass, const std::string& module, const Rows<T>& values) {
  pass.recorder.record(Depth::layer, {.name = {}, .module = module, .width = Dim(static_cast<Int>(values.columns))},
                       values);
}

}  // namespace

std::string joined(std::string_view path, std::string_view name) {
  std::string both(path);
  if (!both.empty() && !both.ends_with('.') && !name.empty()) both += '.';
  return both += name;
}

template <class T>
Rows<T> run(const Norm& norm, const std::string& path, Pass<T>& pass, const Rows<T>& x) {
  const std::string name = joined(path, norm.name);
  const auto width = static_cast<std::size_t>(norm.width.value), heads = static_cast<std::size_t>(norm.heads.value);
  NormShape shape{.kind = norm.kind, .width = width, .eps = norm.eps, .unit_offset = norm.unit_offset};
  if (norm.over == Norm::Heads::joint) shape.width = heads * width;
  std::vector<float> weights, biases;  // of norms that are listed one by one
  const auto take = [&](bool has, const char* kind, std::vector<float>& listed) -> std::span<const float> {
    if (!has) return {};
    if (norm.over != Norm::Heads::listed) return pass.weights.vector(joined(name, kind));
    for (std::size_t h = 0; h < heads; ++h) {
      const std::span<const float> one = pass.weights.vector(format_text("{}.norms.{}.{}", name, h, kind));
      listed.insert(listed.end(), one.begin(), one.end());
    }
    return listed;
  };
  shape.weight = take(norm.weight, "weight", weights);
  shape.bias = take(norm.bias, "bias", biases);
  Rows<T> y = pass.engine.norm(shape, x);
  record_layer_step(pass, name, y);
  return y;
}

template <class T>
Rows<T> run(const Block& block, const std::string& path, Pass<T>& pass, const Rows<T>& x) {
  return std::visit(
      [&](const auto& b) -> Rows<T> {
        if constexpr (requires { run(b, path, pass, x); })
          return run(b, path, pass, x);
        else
          throw InternalError("a block that cannot be run");
      },
      block);
}

// A branch that is parallel reads what the branch before it reads, through its own norm or that branch's.
template <class T>
Rows<T> run(const Layer& layer, const std::string& path, Pass<T>& pass, Rows<T> x) {
  const bool has_parallel = std::ranges::any_of(layer.branches, &Branch::parallel);
  Rows<T> group_input, normed;
  for (const Branch& branch : layer.branches) {
    if (has_parallel && !branch.parallel) group_input = x;
    const Rows<T>& in = branch.parallel ? group_input : x;
    if (branch.before)
      normed = run(*branch.before, path, pass, in);
    else if (!branch.parallel)
      normed = Rows<T>{};
    Rows<T> y = run(branch.block, path, pass, normed.rows > 0 ? normed : in);
    record_layer_step(pass, joined(path, block_name(branch.block)), y);
    if (branch.after) y = run(*branch.after, path, pass, y);
    if (branch.from_norm) x = normed;
    scale(x, branch.stream_scale);
    add_scaled(x, y, branch.scale);
    if (branch.after_sum) x = run(*branch.after_sum, path, pass, x);
  }
  return x;
}

template Rows<float> run(const Norm&, const std::string&, Pass<float>&, const Rows<float>&);
template Rows<double> run(const Norm&, const std::string&, Pass<double>&, const Rows<double>&);
template Rows<float> run(const Block&, const std::string&, Pass<float>&, const Rows<float>&);
template Rows<double> run(const Block&, const std::string&, Pass<double>&, const Rows<double>&);
template Rows<float> run(const Layer&, const std::string&, Pass<float>&, Rows<float>);
template Rows<double> run(const Layer&, const std::string&, Pass<double>&, Rows<double>);

}  // namespace lmsize
