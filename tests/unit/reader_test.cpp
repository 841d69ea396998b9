#include "config/reader.h"

#include "catch.h"
#include "helpers.h"

using namespace lmsize;
using test::error_of;

TEST_CASE("a reader knows what it missed, and what is not as its absence would be") {
  const Document d = Document::parse(R"({"act": "gelu", "eps": 1e-6, "theta": 1e4, "inner": {}})");
  const Document flags = Document::parse(R"({"size": 3})");
  Reader r(d, {{"size", "--size", flags.root().member("size")}});
  CHECK(r.text("act", "silu") == "gelu");
  CHECK(r.text({"other", "act"}, "silu") == "gelu");  // counts once
  CHECK(r.number("eps", 1e-5) == 1e-6);
  CHECK(r.number("theta", 1e4) == 1e4);
  CHECK(r.number("none", 1) == 1);
  CHECK(r.size({"a", "b"}, 7) == 7);
  CHECK(r.object("inner").size("c", 7) == 7);  // not of the outermost object
  r.ignore({"unimportant"});
  CHECK(r.unusual() == 2);
  REQUIRE(r.missed().size() == 2);
  CHECK(r.missed()[0][0] == "none");
  CHECK(r.missed()[1].size() == 2);
  CHECK(r.missed()[1][1] == "b");
  Reader again = r.fresh();
  CHECK(again.missed().empty());
  CHECK(again.size("size", 1) == 3);
}

TEST_CASE("absent, null and value are three things") {
  const Document d = Document::parse(R"({"one": 1, "nothing": null, "zero": 0})");
  Reader r(d);
  CHECK(r.size("one", 5) == 1);
  CHECK(r.size("absent", 5) == 5);
  CHECK(r.size("nothing", 5, 7) == 7);
  CHECK(error_of([&] { r.size("nothing", 5); })->rule == "not-an-integer");
  CHECK(r.count("zero", 5) == 0);
  CHECK(error_of([&] { r.size("zero", 5); })->rule == "out-of-range");
  CHECK(r.optional_size("absent", 1536) == 1536);
  CHECK_FALSE(r.optional_size("nothing", 1536));
  CHECK(r.optional_size("nothing", 1536, 8) == 8);
  CHECK(r.log().assumptions.empty());
  CHECK(r.main_size("one", 9) == 1);
  CHECK(r.log().assumptions.empty());
  CHECK(r.main_size("absent", 9) == 9);
  CHECK(r.main_size("nothing", 9) == 9);
  REQUIRE(r.log().assumptions.size() == 2);
  CHECK(r.log().assumptions[0].message == "absent is not given: the class's default 9 counts");
  CHECK(r.log().assumptions[1].message == "nothing is null: the class's default 9 counts");
}

TEST_CASE("what is no size is an error that names key, value and place") {
  for (const auto& [json, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"d": 4096.7})", "d is 4096.7, which is not an integer"},
           {R"({"d": "4096"})", "d is \"4096\", which is not an integer"},
           {R"({"d": true})", "d is true, which is not an integer"},
           {R"({"d": -1})", "d is -1, which is negative"},
           {R"({"d": 0})", "d is 0, which is not at least 1"},
           {R"({"d": [1]})", "d is a list, which is not an integer"},
           {R"({"d": 1e400})", "d is 1e400, which is beyond 2^63 - 1"},
           {R"({"d": NaN})", "d is NaN, which is not an integer"}}) {
    const Document d = Document::parse(json);
    Reader r(d);
    const auto error = error_of([&] { r.size("d", 1); });
    REQUIRE(error);
    CHECK(error->message == message);
    CHECK(error->key == "d");
    CHECK(error->at == Position{1, 7});
  }
}

TEST_CASE("of several names the first in the list wins") {
  const Document d = Document::parse(R"({"n_embd": 1, "hidden_size": 2})");
  Reader r(d);
  CHECK(r.size({"hidden_size", "n_embd"}, 0) == 2);
  CHECK(r.size({"n_embd", "hidden_size"}, 0) == 1);
  CHECK(r.size({"d_model", "n_embd"}, 0) == 1);
}

TEST_CASE("two names of one key that say different things are an assumption") {
  const auto contradicts = [](const std::string& json) {
    const Document d = Document::parse(json);
    Reader r(d);
    r.find({"num_experts", "num_local_experts"});
    r.finish("this");
    return !r.log().assumptions.empty() && r.log().assumptions[0].rule == "contradicting-keys";
  };
  CHECK(contradicts(R"({"num_experts": 8, "num_local_experts": 16})"));
  CHECK(contradicts(R"({"num_experts": 1, "num_local_experts": 16})"));
  CHECK(contradicts(R"({"num_experts": 1, "num_local_experts": 0})"));
  CHECK_FALSE(contradicts(R"({"num_experts": 1e-5, "num_local_experts": 0.00001})"));
  CHECK(contradicts(R"({"num_experts": null, "num_local_experts": 16})"));
  CHECK(contradicts(R"({"num_experts": [4, 8], "num_local_experts": 8})"));
  CHECK(contradicts(R"({"num_experts": true, "num_local_experts": false})"));
  CHECK_FALSE(contradicts(R"({"num_experts": 8, "num_local_experts": 8})"));
  CHECK_FALSE(contradicts(R"({"num_experts": null, "num_local_experts": null})"));
}

TEST_CASE("other kinds of values") {
  const Document d = Document::parse(
      R"({"yes": true, "two": 2, "text": "x", "real": 1e-5, "inf": Infinity, "list": [1, 2], "names": ["a", "b"], "o": {"in": 3}, "layers": [{"in": 5}, {}]})");
  Reader r(d);
  CHECK(r.flag("yes", false));
  CHECK(r.flag("absent", true));
  CHECK(error_of([&] { r.flag("two", false); })->rule == "not-a-boolean");
  CHECK(r.text("text", "") == "x");
  CHECK(error_of([&] { r.text("two", ""); })->rule == "not-text");
  CHECK(r.number("real", 0) == 1e-5);
  CHECK(r.number("inf", 0) > 1e300);
  CHECK(r.sizes("list") == std::vector<Int>{1, 2});
  CHECK(error_of([&] { r.sizes("list", 3); })->message == "list has 2 entries for 3 layers");
  CHECK(r.texts("names", 2) == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(r.texts("absent"));
  CHECK(r.object("o").size("in", 0) == 3);
  CHECK(r.object("absent").size("in", 4) == 4);
  CHECK(error_of([&] { r.object("two"); })->rule == "not-an-object");
  std::vector<Reader> layers = r.object_list("layers", 2);
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].size("in", 4) == 5);
  CHECK(layers[1].size("in", 4) == 4);
  CHECK(r.object_list("absent", 2).empty());
  CHECK(error_of([&] { r.object_list("layers", 3); })->message == "layers has 2 entries for 3 layers");
  CHECK(error_of([&] { r.object_list("names", 2); })->rule == "not-an-object");
}

TEST_CASE("flags stand over the config, under all names of a key") {
  const Document d = Document::parse(R"({"n_embd": 1, "inner": {"n_embd": 2}})");
  const Document given = Document::parse(R"({"hidden_size": 8, "gated": false})");
  const Value hidden = given.root().member("hidden_size"), gated = given.root().member("gated");
  Reader r(d, {{"hidden_size", "--d", hidden}, {"gated", "--no-gated", gated}});
  CHECK(r.size({"n_embd", "hidden_size"}, 0) == 8);
  CHECK(r.object("inner").size({"n_embd", "hidden_size"}, 0) == 2);  // a tower's sizes are not the language model's
  CHECK(r.language_object("inner").size({"n_embd", "hidden_size"}, 0) == 8);
  CHECK_THROWS_AS(r.finish("gpt2"), UsageError);  // nothing has asked for "gated"
  CHECK(r.flag_truth("gated") == false);
  CHECK_NOTHROW(r.finish("gpt2"));
}

TEST_CASE("keys that look like sizes and were not asked for are found") {
  const Document d = Document::parse(R"({"hidden_size": 8, "moe_extra_width": 512, "hiden_size": 4, "eos_token_id": 7,
    "n_flags": 1, "num_things": true, "layer_list": [1, 4], "layer_names": ["a"], "_old_size": 5, "text": 9,
    "num_beams": 4, "inner": {"extra_dim": 3}, "unopened": {"extra_dim": 3}})");
  Reader r(d);
  r.size("hidden_size", 0);
  r.object("inner");
  r.finish("this");
  std::vector<std::string> keys;
  for (const Diagnostic& warning : r.log().warnings) {
    CHECK(warning.rule == "unread-size-key");
    keys.push_back(warning.key);
  }
  CHECK(keys == std::vector<std::string>{"moe_extra_width", "hiden_size", "layer_list", "extra_dim"});
  CHECK(r.log().assumptions.size() == 4);
  CHECK(r.log().warnings[1].message.find("did you mean hidden_size?") != std::string::npos);
}
