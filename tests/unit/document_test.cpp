#include "config/document.h"

#include "catch.h"
#include "config/reader.h"
#include "helpers.h"

using namespace lmsize;
using test::error_of;

namespace {

std::optional<Diagnostic> parse_error(const std::string& json) {
  return error_of([&] { Document::parse(json); });
}

}  // namespace

TEST_CASE("values have places in bytes from 1") {
  const Document d = Document::parse("{\n  \"a\": 12.50,\n  \"ü\": [true, \"x\"], \"o\": {\"deep\": null}\n}\n");
  const Value root = d.root();
  CHECK(root.position() == Position{1, 1});
  const Value a = root.member("a");
  CHECK(a.position() == Position{2, 8});
  CHECK(a.key_position() == Position{2, 3});
  CHECK(a.text() == "12.50");
  const Value list = root.member("ü");
  CHECK(list.position() == Position{3, 9});
  CHECK(list.first_child().truth());
  CHECK(list.first_child().next().text() == "x");
  CHECK_FALSE(list.first_child().next().next());
  CHECK(root.member("o").member("deep").is_null());
  CHECK(root.member("o").member("deep").position() == Position{3, 36});
  CHECK_FALSE(root.member("none"));
}

TEST_CASE("a document may begin in the middle of a stream") {
  const Document d = Document::parse("{\"a\": 1,\n\"b\": 2}", {7, 5});
  CHECK(d.root().member("a").position() == Position{7, 11});
  CHECK(d.root().member("b").position() == Position{8, 6});
}

TEST_CASE("a number keeps its own text") {
  const Document d = Document::parse("[20480e-1, 9007199254740993.0, -0, 18446744073709551616, 1E+2]");
  std::vector<std::string> texts;
  for (Value v = d.root().first_child(); v; v = v.next()) texts.emplace_back(v.text());
  CHECK(texts == std::vector<std::string>{"20480e-1", "9007199254740993.0", "-0", "18446744073709551616", "1E+2"});
}

TEST_CASE("a number beyond a double's range is a number all the same") {
  const Document d =
      Document::parse("{\"a\": 1e400, \"s\": \"1e400\", \"b\": [-1E+9999, 1e-400],\n \"c\": NaN, \"d\": 2}");
  CHECK(d.root().member("a").text() == "1e400");
  CHECK(d.root().member("s").text() == "1e400");
  CHECK(d.root().member("b").first_child().text() == "-1E+9999");
  CHECK(d.root().member("b").first_child().next().text() == "1e-400");
  CHECK(d.root().member("d").position() == Position{2, 17});
  CHECK(d.warnings().size() == 1);
}

TEST_CASE("duplicate keys: the last one wins, one warning a name") {
  const Document d = Document::parse("{\"a\": 1, \"b\": 0,\n \"a\": 2,\n \"a\": 3}");
  CHECK(d.root().member("a").text() == "3");
  REQUIRE(d.warnings().size() == 1);
  CHECK(d.warnings()[0].rule == "duplicate-key");
  CHECK(d.warnings()[0].key == "a");
  CHECK(d.warnings()[0].at == Position{3, 2});
}

TEST_CASE("literals that JSON does not have") {
  const Document d = Document::parse("{\"a\": NaN, \"b\": [1, -Infinity],\n \"c\": Infinity, \"d\": \"NaN\"}");
  CHECK(d.root().member("a").text() == "NaN");
  CHECK(d.root().member("b").first_child().next().text() == "-Infinity");
  CHECK(d.root().member("c").text() == "Infinity");
  CHECK(d.root().member("d").text() == "NaN");
  REQUIRE(d.warnings().size() == 3);
  CHECK(d.warnings()[2].rule == "non-finite-number");
  CHECK(d.warnings()[2].at == Position{2, 7});
  for (const char* bad :
       {"{\"a\": nan}", "{\"a\": NaNx}", "{\"a\": Infinit}", "{\"a\": +Infinity}", "{\"a\": -NaN}", "NaN NaN"})
    CHECK(parse_error(bad));
}

TEST_CASE("a byte order mark is skipped once") {
  CHECK(Document::parse("\xEF\xBB\xBF{\"a\": 1}").root().member("a").text() == "1");
  CHECK(parse_error("\xEF\xBB\xBF\xEF\xBB\xBF{}"));
  CHECK(parse_error("\xEF\xBB{}"));
}

TEST_CASE("malformed texts are refused at their place, with a reason") {
  struct Bad {
    const char* json;
    Position at;
    const char* message;
  };
  for (const Bad& bad : std::initializer_list<Bad>{
           {"{\n \"a\": 1,\n}", {3, 1}, "a comma before the closing bracket: JSON has no trailing commas"},
           {"[1, 2,]", {1, 7}, "a comma before the closing bracket: JSON has no trailing commas"},
           {"{\"a\": 1 // x\n}", {1, 9}, "JSON has no comments"},
           {"{# x\n}", {1, 2}, "JSON has no comments"},
           {"{'a': 1}", {1, 2}, "JSON strings stand in double quotes, not single ones"},
           {"{\"a\" 1}", {1, 6}, "unexpected '1'"},
           {"{\"a\": 1", {1, 8}, "the JSON text ends too early"},
           {"{\"a\": \"x\ny\"}", {1, 9}, "a line break or tab inside a string must be escaped"},
           {"{\"a\": 02}", {1, 8}, "unexpected '2'"},
           {"{} x", {1, 4}, "unexpected 'x'"},
           {"{\"a\": tru}", {1, 10}, "unexpected '}'"},
           {"{\"a\": tru", {1, 10}, "the JSON text ends too early"},
           {"{\"a\": \"x", {1, 9}, "the JSON text ends too early"},
           {"[1,, 2]", {1, 4}, "unexpected ','"},
           {"{\"a\": 1 \"b\": 2}", {1, 9}, "unexpected '\"'"},
           {"{\"a\": -}", {1, 8}, "unexpected '}'"},
           {R"({"a": "\ud800"})", {1, 14}, "half of a surrogate pair: \\uD83D is followed by \\uDE00, say"},
           {R"({"a": "\uDE00\uD83D"})", {1, 13}, "half of a surrogate pair: \\uD83D is followed by \\uDE00, say"},
           {"[\n", {2, 1}, "the JSON text ends too early"},
           {"nulll", {1, 5}, "unexpected 'l'"},
       }) {
    INFO(bad.json);
    const auto error = parse_error(bad.json);
    REQUIRE(error);
    CHECK(error->rule == "syntax");
    CHECK(error->message == bad.message);
    CHECK(error->at.line == bad.at.line);
    CHECK(error->at.column == bad.at.column);
  }
  CHECK(parse_error("")->rule == "empty");
  CHECK(parse_error(" \n\t")->rule == "empty");
  CHECK(parse_error("\"")->rule == "syntax");
  CHECK(parse_error("{\"a\": \"\xff\"}")->rule == "not-utf8");
  CHECK(parse_error("{\"a\": \"\xff\"}")->at == Position{1, 8});
  CHECK(parse_error("{\"a\": \"\\ud800\"}")->rule == "syntax");
  CHECK(parse_error("{\"a\": \"\\udc00\\ud800\"}")->rule == "syntax");
}

TEST_CASE("nesting ends at a thousand") {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  CHECK_FALSE(parse_error(nested(1000)));
  REQUIRE(parse_error(nested(1001)));
  CHECK(parse_error(nested(1001))->rule == "too-deep");
  CHECK(parse_error(nested(1001))->at == Position{1, 1001});
}

TEST_CASE("the length of the first document of a stream") {
  CHECK(Document::first_text_length("{\"a\": \"}\"} {\"b\"") == 10U);
  CHECK(Document::first_text_length(" \n[1, {}]x") == 9U);
  CHECK(Document::first_text_length("12 {}") == 2U);
  CHECK_FALSE(Document::first_text_length("{\"a\": "));
  CHECK_FALSE(Document::first_text_length("{\"a\": \"x"));
  CHECK_FALSE(Document::first_text_length("  "));
}

TEST_CASE("values can be set at a path") {
  Document d = Document::parse("{\"a\": 1, \"o\": {\"x\": 1}}");
  d.set("a", "{\"n\": [1, 2]}");
  d.set("o.x", "5");
  d.set("o.y.z", "\"text\"");
  d.set("b", "null");
  const Value root = d.root();
  CHECK(root.member("a").member("n").first_child().next().text() == "2");
  CHECK(root.member("o").member("x").text() == "5");
  CHECK(root.member("o").member("y").member("z").text() == "text");
  CHECK(root.member("b").is_null());
  CHECK(root.member("b").position() == Position{});
  CHECK(root.member("o").position() == Position{1, 15});
  for (const auto& [path, json] :
       {std::pair{"a", ""}, {"a", "{"}, {"a", "abc"}, {"", "1"}, {"o.x.y", "1"}, {"a..b", "1"}})
    CHECK_THROWS_AS(d.set(path, json), UsageError);
}

TEST_CASE("integers are read exactly, or refused with the reason") {
  for (const auto& [text, value] :
       std::initializer_list<std::pair<const char*, Int>>{{"4096", 4096},
                                                          {"4096.0", 4096},
                                                          {"20480e-1", 2048},
                                                          {"2.048e3", 2048},
                                                          {"0", 0},
                                                          {"-0", 0},
                                                          {"0e99999", 0},
                                                          {"9007199254740993.0", 9007199254740993},
                                                          {"9223372036854775807", 9223372036854775807},
                                                          {"1E+2", 100}}) {
    INFO(text);
    CHECK(integer_of(text).fault.empty());
    CHECK(integer_of(text).value == value);
  }
  for (const auto& [text, fault] :
       std::initializer_list<std::pair<const char*, const char*>>{{"4096.7", "is not an integer"},
                                                                  {"-1", "is negative"},
                                                                  {"1e-1", "is not an integer"},
                                                                  {"-0.5", "is negative"},
                                                                  {"9223372036854775808", "is beyond 2^63 - 1"},
                                                                  {"1e400", "is beyond 2^63 - 1"},
                                                                  {"1e19", "is beyond 2^63 - 1"},
                                                                  {"1e99999999999999999999", "is beyond 2^63 - 1"},
                                                                  {"1e-99999999999999999999", "is not an integer"},
                                                                  {"NaN", "is not an integer"},
                                                                  {"Infinity", "is not an integer"}}) {
    INFO(text);
    CHECK(integer_of(text).fault == fault);
  }
}
