// Inkling with its senses: patches of films folded into channels step by step, and spectrograms as tokens.

#include <algorithm>
#include <cmath>

#include "arch/composites.h"
#include "arch/multimodal.h"

namespace lmsize {
namespace {

// A grid of t × side × side vectors of `channels` features that one vector was made of.
struct Scale {
  Int t = 1, side = 1, channels = 1;

  double log_size() const { return std::log(static_cast<double>(t)) + 2 * std::log(static_cast<double>(side)); }
};

// The prime factors of n, the largest first.
std::vector<Int> prime_factors(Int n) {
  std::vector<Int> factors;
  for (Int p = 2; p <= n / p; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.push_back(n);
  std::ranges::reverse(factors);
  return factors;
}

// All grids on the way from a pixel to a patch of so many frames: its sides grow first, prime by prime, then time.
std::vector<Scale> scales_of(Int patch, Int frames, Int n_channels) {
  std::vector<Scale> scales{{1, 1, n_channels}};
  Int side = 1, t = 1;
  for (Int prime : prime_factors(patch)) {
    side = multiply(side, prime);
    scales.push_back({1, side, multiply(64, divide_up(multiply(multiply(side, side), n_channels), 64))});
  }
  for (Int prime : prime_factors(frames)) {
    t = multiply(t, prime);
    scales.push_back({t, side, multiply(64, multiply(multiply(multiply(side, side), n_channels), t))});
  }
  return scales;
}

// Which of the scales stand between n layers: those whose logarithms are nearest to n + 1 that are spread evenly; with
// fewer layers than scales, no scale twice, and the smallest sum of distances. `certain` becomes false where others are
// as near.
std::vector<std::size_t> choose_scales(const std::vector<Scale>& scales, Int n, double log_total, bool& certain) {
  const std::size_t rows = static_cast<std::size_t>(n) + 1, columns = scales.size();
  constexpr double kNear = 1e-5;
  const auto cost = [&](std::size_t row, std::size_t column) {
    return std::abs(log_total * static_cast<double>(row) / static_cast<double>(n) - scales[column].log_size());
  };
  std::vector<std::size_t> chosen(rows);
  if (static_cast<std::size_t>(n) >= columns) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 1; j < columns; ++j)
        if (cost(i, j) < cost(i, chosen[i])) chosen[i] = j;
      for (std::size_t j = 0; j < columns; ++j)
        if (i > 0 && i + 1 < rows && j != chosen[i] && cost(i, j) - cost(i, chosen[i]) < kNear) certain = false;
    }
  } else {
    // Distances on a line: the best choice is in order. best[i][j]: of the rows up to i, where i has column j.
    std::vector<std::vector<double>> best(rows, std::vector<double>(columns, 1e300));
    std::vector<std::vector<std::size_t>> before(rows, std::vector<std::size_t>(columns));
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = i; j < columns; ++j) {
        if (i == 0) best[i][j] = cost(i, j);
        for (std::size_t k = 0; i > 0 && k < j; ++k)
          if (best[i - 1][k] + cost(i, j) < best[i][j]) {
            best[i][j] = best[i - 1][k] + cost(i, j);
            before[i][j] = k;
          }
      }
    std::size_t at = static_cast<std::size_t>(std::ranges::min_element(best.back()) - best.back().begin());
    for (std::size_t i = rows; i-- > 0; at = before[i][at]) chosen[i] = at;
    for (std::size_t i = 1; i + 1 < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j)
        if (std::ranges::find(chosen, j) == chosen.end() && std::abs(cost(i, j) - cost(i, chosen[i])) < kNear)
          certain = false;
      for (std::size_t k = i + 1; k + 1 < rows; ++k)
        if (std::abs(cost(i, chosen[k]) + cost(k, chosen[i]) - cost(i, chosen[i]) - cost(k, chosen[k])) < kNear)
          certain = false;
    }
  }
  chosen.front() = 0;
  chosen.back() = columns - 1;
  return chosen;
}

// InklingVisionModel: maps of ever larger squares, a norm behind each but the last.
void add_folding_tower(Reader& config, Model& model, const std::string& name, Dim d_out) {
  config.ignore({"model_type", "text_hidden_size", "hidden_size", "num_attention_heads"});
  const Int n = config.size({"n_layers", "num_hidden_layers"}, 24), n_channels = config.size("num_channels", 3);
  const Int patch = config.size("patch_size", 40), frames = config.size("temporal_patch_size", 2);
  if (n > 1000 || patch < 2 || patch > 1'000'000 || frames > 1'000'000)
    config.fail("out-of-range", "patch_size", "layers, patches and frames are no tower's");
  const std::vector<Scale> scales = scales_of(patch, frames, n_channels);
  const double total = std::log(static_cast<double>(multiply(multiply(patch, patch), multiply(frames, n_channels))));
  bool certain = true;
  const auto chosen = choose_scales(scales, n, total, certain);
  if (!certain)
    config.assume("layout-guess", "the widths between the layers are not certain: several are as near to the ideal",
                  "patch_size");
  Stack& stack = add_tower(model, "");
  Outside layers(stack.input, name + ".layers");
  for (Int i = 0; i < n; ++i) {
    const Scale from = scales[chosen[static_cast<std::size_t>(i)]],
                to = scales[chosen[static_cast<std::size_t>(i) + 1]];
    const Int side = to.side / from.side, folded = multiply(to.t / from.t, multiply(side, side));
    const Extent in(multiply(from.channels, folded)), out = i + 1 == n ? Extent(d_out) : Extent(to.channels);
    if (i + 1 < n) layers.rms_norm("norm_" + std::to_string(i), out);
    layers.linear("linear_" + std::to_string(i), out, in, false);
  }
  Outside(stack.output, name).rms_norm("final_norm", d_out);
}

}  // namespace

// InklingForConditionalGeneration: never tied.
void inkling_mm(Reader& config, Model& model) {
  add_language_model(config, model,
                     {.type = "inkling_text", .name = "model.llm", .own_class = false, .tie = Tie::never});
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  Reader audio = config.object("audio_config"), vision = config.object("vision_config");
  audio.ignore({"model_type", "text_hidden_size", "hidden_size"});
  const Int bins = audio.size({"n_mel_bins", "num_codebooks"}, 80);
  const Int values = audio.size({"mel_vocab_size", "codebook_size"}, 256);
  Outside ear(add_tower(model, "", "audio tower").input, "model.audio");
  ear.table("encoder", Dim(multiply(bins, values)), d);
  ear.rms_norm("final_norm", d);
  add_folding_tower(vision, model, "model.visual", d);
}

}  // namespace lmsize
