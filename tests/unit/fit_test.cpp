#include "analysis/fit.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.h"
#include "cli/run.h"
#include "config/built_in.h"
#include "helpers.h"

using namespace lmsize;
using nlohmann::json;

namespace {

// Llama's count, untied, as a formula of its own.
Int llama_total(const FitShape& s, Int vocab) {
  const Int q = s.n_heads * s.head_dim, kv = s.n_kv_heads * s.head_dim;
  return 2 * vocab * s.d + s.d + s.n_layers * (2 * s.d + 2 * s.d * q + 2 * s.d * kv + 3 * s.d * s.d_ff);
}

FitStyle llama(Int vocab) {
  FitStyle style;
  style.name = "llama";
  style.usual = true;
  style.count = [vocab](const FitShape& s) { return FitStyle::Counted{s, llama_total(s, vocab)}; };
  return style;
}

// The best scores of every shape there is, one by one.
std::vector<double> brute_force(const FitStyle& style, const FitQuestion& asked, Int vocab) {
  std::vector<double> scores;
  for (Int d = 64; 2 * vocab * d <= 2 * asked.parameters; d += 64)
    for (Int heads = 1; heads * asked.head_dim <= std::max<Int>(2 * d, asked.head_dim * asked.kv_ratios.front());
         ++heads) {
      const Int ratio = asked.kv_ratios.front();
      if (heads % ratio != 0 || (heads * asked.head_dim * 2 < d)) continue;
      const double most = static_cast<double>(asked.parameters) * (1 + asked.tolerance);
      for (Int layers = 1; layers <= FitQuestion::kMostLayers; ++layers)
        for (Int d_ff = 64 * ((d / 2 + 63) / 64); d_ff <= 16 * d; d_ff += 64) {
          const FitShape shape{d, d_ff, layers, heads, heads / ratio, asked.head_dim};
          const Int total = llama_total(shape, vocab);
          if (static_cast<double>(total) > most) break;
          const double off =
              std::abs(static_cast<double>(total - asked.parameters) / static_cast<double>(asked.parameters));
          if (off > asked.tolerance) continue;
          scores.push_back(nearness_of(asked, total) + manners_of(style, asked, shape));
        }
    }
  std::ranges::sort(scores);
  scores.resize(std::min<std::size_t>(scores.size(), asked.most));
  return scores;
}

json fit_json(const std::vector<const char*>& words) {
  std::istringstream in;
  std::ostringstream out, err;
  CHECK(cli::run(words, in, out, err) == 0);
  return json::parse(out.str());
}

}  // namespace

TEST_CASE("brute force finds nothing better than the solver") {
  struct Grid {
    Int parameters, vocab, head_dim, ratio;
  };
  for (const Grid& grid : {Grid{3'000'000, 1000, 64, 1}, Grid{20'000'000, 8000, 64, 4}, Grid{6'738'944, 512, 32, 2}}) {
    FitQuestion asked;
    asked.parameters = grid.parameters;
    asked.tolerance = 0.002;
    asked.head_dim = grid.head_dim;
    asked.kv_ratios = {grid.ratio};
    const FitStyle style = llama(grid.vocab);
    const Fit found = fit({style}, asked);
    const std::vector<double> best = brute_force(style, asked, grid.vocab);
    REQUIRE(found.models.size() == best.size());
    CHECK(best.size() == 10);
    for (std::size_t i = 0; i < best.size(); ++i) CHECK(found.models[i].score == Approx(best[i]));
  }
}

TEST_CASE("shapes count what they say, and keep the conditions") {
  FitQuestion asked;
  asked.parameters = 7'000'000'000;
  asked.tensor_parallel = 8;
  asked.kv_ratios = {4};
  asked.aspect = {64, 128};
  asked.multiple_of = 256;
  const Fit found = fit({llama(128256)}, asked);
  CHECK(found.models.size() == 10);
  CHECK(found.points > 1e5);
  for (const FitModel& model : found.models) {
    const FitShape& s = model.shape;
    CHECK(llama_total(s, 128256) == model.total);
    CHECK(std::abs(static_cast<double>(model.total - asked.parameters)) <= 0.01 * 7e9);
    CHECK(s.n_heads % 8 == 0);
    CHECK(s.d_ff % (256 * 8) == 0);
    CHECK(s.n_heads == 4 * s.n_kv_heads);
    const double aspect = static_cast<double>(s.d) / static_cast<double>(s.n_layers);
    CHECK((aspect >= 64 && aspect <= 128));
  }
  asked.n_layers = 30;
  for (const FitModel& model : fit({llama(128256)}, asked).models) CHECK(model.shape.n_layers == 30);
  asked.accepts = [](std::size_t, const FitShape&) { return false; };
  CHECK(fit({llama(128256)}, asked).models.empty());
}

TEST_CASE("a style whose count is no polynomial is left out") {
  FitStyle odd = llama(1000);
  odd.count = [](const FitShape& s) { return FitStyle::Counted{s, llama_total(s, 1000) + (s.n_layers > 3 ? 1 : 0)}; };
  FitQuestion asked;
  asked.parameters = 100'000'000;
  CHECK(fit({odd}, asked).models.empty());
}

TEST_CASE("the built-in models' shapes are found from their totals") {
  for (const char* name :
       {"llama-3-8b", "gpt2", "qwen2.5-7b", "pythia-1b", "gemma-2-9b", "falcon-7b", "opt-1.3b", "gpt-neo-2.7b",
        "starcoderbase-1b", "bge-base-en-v1.5", "distilbert-base-uncased", "bart-base", "t5-small", "flan-t5-base"}) {
    INFO(name);
    const auto made = test::count_json(std::string(find_built_in(name)->json));
    const MainSizes& s = made.model.sizes;
    const std::string total = std::to_string(made.count.total), vocab = std::to_string(*s.vocab_size),
                      head_dim = std::to_string(*s.head_dim),
                      ratio = std::to_string(*s.num_attention_heads / *s.num_key_value_heads);
    const json found = fit_json({"fit", "--params", total.c_str(), "--vocab", vocab.c_str(), "--head-dim",
                                 head_dim.c_str(), "--kv-ratio", ratio.c_str(), "--jsonl"});
    bool own = false;
    for (const json& model : found.at("models")) {
      const json& shape = model.at("shape");
      own =
          own || (shape.at("hidden_size") == *s.hidden_size && shape.at("num_hidden_layers") == *s.num_hidden_layers &&
                  shape.at("num_attention_heads") == *s.num_attention_heads &&
                  shape.at("intermediate_size") == *s.intermediate_size);
      const auto again = test::count_json(model.at("config").dump());
      CHECK(again.count.total == model.at("parameters").at("total").get<Int>());
    }
    CHECK(own);
  }
}
