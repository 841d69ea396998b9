#include "analysis/width.h"

#include "catch.h"
#include "helpers.h"
#include "report/width.h"

using namespace lmsize;
using test::error_of;

TEST_CASE("LLaMA's recipe gives the published widths") {
  const auto d_ff = [](Int d, std::optional<double> multiplier = {}, Int multiple_of = 256) {
    return feed_forward_width({.d = d, .multiple_of = multiple_of, .multiplier = multiplier}).recommended.d_ff;
  };
  CHECK(d_ff(4096) == 11008);              // LLaMA 7B
  CHECK(d_ff(5120) == 13824);              // 13B
  CHECK(d_ff(6656) == 17920);              // 30B
  CHECK(d_ff(8192) == 22016);              // 65B
  CHECK(d_ff(8192, 1.3, 4096) == 28672);   // Llama 2 70B
  CHECK(d_ff(4096, 1.3, 1024) == 14336);   // Llama 3 8B
  CHECK(d_ff(16384, 1.2, 4096) == 53248);  // Llama 3.1 405B
  CHECK(d_ff(2048, 1.5, 256) == 8192);     // Llama 3.2 1B
  CHECK(d_ff(4096, {}, 64) == 10944);
  CHECK(d_ff(768, {}, 64) == 2048);
}

TEST_CASE("int(multiplier x) is the double product, cut off") {
  const auto scaled = [](Int d, double multiplier) {
    return feed_forward_width({.d = d, .multiplier = multiplier}).scaled;
  };
  CHECK(scaled(8192, 1.3) == 28398);
  CHECK(feed_forward_width({.d = 25, .matrices = 2, .multiplier = 1.15}).scaled == 114);  // 114.99999999999999
  CHECK(error_of([&] { scaled(4096, 1e300); })->rule == "overflow");
  CHECK(error_of([&] { scaled(4096, 1e-9); })->rule == "no-width");
}

TEST_CASE("the answer holds the exact rule, the cost and the deviation") {
  const WidthAnswer answer = feed_forward_width({.d = 4096});
  CHECK(answer.numerator == 32768);
  CHECK(answer.denominator == 3);
  CHECK(answer.exact() == Approx(10922.6667));
  CHECK(answer.base == 10922);
  CHECK(answer.target_parameters == 134217728);
  CHECK(answer.recommended.parameters == 135266304);
  CHECK(answer.recommended.deviation == Approx(0.0078125));
  const WidthAnswer whole = feed_forward_width({.d = 768});
  CHECK(whole.numerator == 2048);
  CHECK(whole.denominator == 1);
  CHECK(whole.recommended.deviation == 0);
}

TEST_CASE("with two matrices the rule is 4 d") {
  const WidthAnswer answer = feed_forward_width({.d = 4096, .matrices = 2});
  CHECK(answer.numerator == 16384);
  CHECK(answer.denominator == 1);
  CHECK(answer.recommended.d_ff == 16384);
  CHECK(answer.recommended.parameters == answer.target_parameters);
}

TEST_CASE("candidates ascend, hold the asked multiple, and none is wider than the rule") {
  const auto multiples = [](const WidthQuestion& asked) {
    std::vector<Int> found;
    for (const WidthCandidate& candidate : feed_forward_width(asked).candidates) found.push_back(candidate.multiple_of);
    return found;
  };
  CHECK(multiples({.d = 4096}) == std::vector<Int>{1, 64, 128, 256, 512, 1024, 2048, 4096});
  CHECK(multiples({.d = 4096, .multiple_of = 96}) == std::vector<Int>{1, 64, 96, 128, 256, 512, 1024, 2048, 4096});
  CHECK(multiples({.d = 48, .multiple_of = 256}) == std::vector<Int>{1, 64, 128, 256});
  for (const WidthCandidate& candidate : feed_forward_width({.d = 4096, .tensor_parallel = 3}).candidates) {
    CHECK(candidate.width.d_ff % (3 * candidate.multiple_of) == 0);
    CHECK(candidate.width.d_ff >= 10922);
  }
}

TEST_CASE("tensor-parallel ranks: the width is divisible by ranks x multiple") {
  const WidthAnswer answer = feed_forward_width({.d = 4096, .tensor_parallel = 3});
  CHECK(answer.granularity == 768);
  CHECK(answer.recommended.d_ff == 11520);
  CHECK(answer.asked.multiple_of == 256);
}

TEST_CASE("the inverse finds every recipe, by multiplier, then by multiple") {
  const WidthAnswer answer = feed_forward_width({.d = 4096, .d_ff = 14336});
  REQUIRE(answer.given);
  CHECK(answer.width().parameters == 176160768);
  CHECK(answer.width().deviation == 0.3125);
  CHECK(answer.recommended.d_ff == 11008);
  std::vector<std::pair<double, Int>> found;
  for (const WidthRecipe& recipe : answer.recipes) found.emplace_back(recipe.multiplier, recipe.multiple_of);
  CHECK(found == std::vector<std::pair<double, Int>>{{1.2, 2048}, {1.3, 256}, {1.3, 512}, {1.3, 1024}, {1.3, 2048}});
  CHECK(feed_forward_width({.d = 4096, .d_ff = 14337}).recipes.empty());
  CHECK(feed_forward_width({.d = 4096, .d_ff = 16384}).recipes.back().multiplier == 1.5);
}

TEST_CASE("sizes beyond 2^63 - 1 are an error") {
  CHECK(error_of([] { feed_forward_width({.d = 9223372036854775807}); })->rule == "overflow");
  CHECK(error_of([] { feed_forward_width({.d = 4096, .tensor_parallel = Int{1} << 60}); })->rule == "overflow");
  CHECK(error_of([] { feed_forward_width({.d = 4096, .d_ff = 9223372036854775807}); })->rule == "overflow");
}

TEST_CASE("widths as JSON") {
  std::string out;
  write_width_json(feed_forward_width({.d = 3, .multiple_of = 4, .d_ff = 64}), true, out);
  CHECK(
      out ==
      R"({"schema":"lmsize/1","d":3,"matrices":3,"rule":"8/3","exact":[8,1],"d_ff":64,"multiple_of":4,"granularity":4,)"
      R"("multiplier":1.0,"parameters":576,"target_parameters":72,"deviation":7.0,)"
      R"("candidates":[{"multiple_of":1,"d_ff":8,"parameters":72,"deviation":0.0},)"
      R"({"multiple_of":4,"d_ff":8,"parameters":72,"deviation":0.0}],)"
      R"("recipes":[{"multiplier":1.0,"multiple_of":64},{"multiplier":1.1,"multiple_of":64},)"
      R"({"multiplier":1.2,"multiple_of":64},{"multiplier":1.3,"multiple_of":64},{"multiplier":1.4,"multiple_of":64},)"
      R"({"multiplier":1.5,"multiple_of":64},{"multiplier":1.6,"multiple_of":64},{"multiplier":1.7,"multiple_of":64},)"
      R"({"multiplier":1.8,"multiple_of":64},{"multiplier":1.9,"multiple_of":64},{"multiplier":2.0,"multiple_of":64}],)"
      R"("recommended":8})");
}

TEST_CASE("widths as rows: the candidates, of the inverse the recipes") {
  std::string out;
  write_width_rows(feed_forward_width({.d = 12, .matrices = 2, .multiple_of = 16, .multiplier = 1.5}), RowFormat::csv,
                   out);
  CHECK(out ==
        "d,matrices,multiplier,multiple_of,granularity,d_ff,parameters,target_parameters,deviation\n"
        "12,2,1.5,1,1,72,1728,1152,0.5\n"
        "12,2,1.5,16,16,80,1920,1152,0.6666666666666666\n");
  out.clear();
  write_width_rows(feed_forward_width({.d = 4096, .d_ff = 11008}), RowFormat::tsv, out);
  CHECK(out.find("4096\t3\t1.0\t256\t256\t11008\t135266304\t134217728\t0.0078125\n") != std::string::npos);
}

TEST_CASE("widths for people name the rule, the steps and the recipes") {
  std::string out;
  write_width_table(feed_forward_width({.d = 4096, .multiple_of = 1024, .multiplier = 1.3, .d_ff = 14336}), out);
  for (const char* text : {"3 d d_ff = 8 d^2  =>  d_ff = 8/3 d = 10922.67", "int(2 x 4 x 4096 / 3) = 10922",
                           "int(1.3 x 10922) = 14198", "up to a multiple of 1024: 14336",
                           "3 x 4096 x 14336 = 176,160,768 parameters, +31.25 % against 8 d^2 = 134,217,728",
                           "multiplier 1.3, up to a multiple of 1024", "d_ff = 14336 is 3.5 d"})
    CHECK(out.find(text) != std::string::npos);
}
