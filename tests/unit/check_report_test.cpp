#include <nlohmann/json.hpp>

#include "catch.h"
#include "lint/rules.h"
#include "report/check.h"
#include "report/check_rules.h"

using namespace lmsize;
using nlohmann::json;

namespace {

CheckReport example() {
  CheckReport report{"a, b%.jsonl:3", "a, b%.jsonl", {}};
  report.findings = {{"duplicate-key", Severity::warning, "d is given twice", "d", {3, 7}},
                     {"wrong-count", Severity::error, "10% more:\nso it is", "", {}},
                     {"width-multiple", Severity::advice, "d is odd", "d", {3, 9}}};
  report.total = 100;
  return report;
}

}  // namespace

TEST_CASE("check's JSON: the finding's fields, null for what is not there") {
  std::string text;
  write_check_json(example(), text);
  const json object = json::parse(text);
  CHECK(object["source"] == "a, b%.jsonl:3");
  CHECK(object["ok"] == false);
  CHECK(object["total"] == 100);
  CHECK(object["expected"].is_null());
  REQUIRE(object["findings"].size() == 3);
  const json first = {{"rule", "duplicate-key"},
                      {"severity", "warning"},
                      {"message", "d is given twice"},
                      {"key", "d"},
                      {"line", 3},
                      {"column", 7}};
  CHECK(object["findings"][0] == first);
  CHECK(object["findings"][1]["key"].is_null());
  CHECK(object["findings"][1]["line"].is_null());
  CHECK(object["findings"][2]["severity"] == "advice");
}

TEST_CASE("warnings and advice leave an input ok") {
  CheckReport report = example();
  CHECK(!report.ok());
  report.findings.erase(report.findings.begin() + 1);
  CHECK(report.ok());
}

TEST_CASE("GitHub's workflow commands: levels, places, escapes") {
  std::string text;
  write_check_github(example(), text);
  CHECK(text ==
        "::warning file=a%2C b%25.jsonl,line=3,col=7,title=duplicate-key::d is given twice\n"
        "::error file=a%2C b%25.jsonl,title=wrong-count::10%25 more:%0Aso it is\n"
        "::notice file=a%2C b%25.jsonl,line=3,col=9,title=width-multiple::d is odd\n");
}

TEST_CASE("SARIF: a whole log of one run") {
  std::string text;
  write_sarif_start("1.2.3", text);
  write_check_sarif(example(), text);
  write_sarif_end(text);
  const json log = json::parse(text);
  CHECK(log["version"] == "2.1.0");
  REQUIRE(log["runs"].size() == 1);
  const json& driver = log["runs"][0]["tool"]["driver"];
  CHECK(driver["name"] == "lmsize");
  CHECK(driver["rules"].size() == rules().size());
  const json& results = log["runs"][0]["results"];
  REQUIRE(results.size() == 3);
  CHECK(results[0]["ruleId"] == "duplicate-key");
  CHECK(results[0]["level"] == "warning");
  CHECK(results[1]["level"] == "error");
  CHECK(results[2]["level"] == "note");
  const json& place = results[0]["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"]["uri"] == "a%2C%20b%25.jsonl");
  CHECK(place["region"]["startLine"] == 3);
  CHECK(place["region"]["startColumn"] == 7);
  CHECK(!results[1]["locations"][0]["physicalLocation"].contains("region"));
}

TEST_CASE("SARIF: URIs of absolute paths and of other bytes") {
  CheckReport report = example();
  report.file = "/models/\xC3\xA9.json";
  std::string text;
  write_check_sarif(report, text);
  CHECK(text.find(R"("uri":"file:///models/%C3%A9.json")") != std::string::npos);
}

TEST_CASE("rows: one for each finding, one for an input without any") {
  std::string text;
  write_check_header(RowFormat::csv, text);
  write_check_rows(example(), RowFormat::csv, text);
  CheckReport clean{"b.json", "b.json", {}};
  clean.total = clean.expected = 7;
  write_check_rows(clean, RowFormat::csv, text);
  CHECK(text ==
        "source,ok,total,expected,rule,severity,message,key,line,column\n"
        "\"a, b%.jsonl:3\",false,100,,duplicate-key,warning,d is given twice,d,3,7\n"
        "\"a, b%.jsonl:3\",false,100,,wrong-count,error,\"10% more:\nso it is\",,,\n"
        "\"a, b%.jsonl:3\",false,100,,width-multiple,advice,d is odd,d,3,9\n"
        "b.json,true,7,7,,,,,,\n");
}

TEST_CASE("the summary knows one from many") {
  std::string text;
  write_check_summary(1, 1, 0, text);
  write_check_summary(2, 0, 1, text);
  CHECK(text == "1 config, 1 error, 0 warnings\n2 configs, 0 errors, 1 warning\n");
}

TEST_CASE("every rule is listed, with its examples in JSON") {
  std::string list, text;
  write_rule_list(rules(), false, list);
  write_rules_json(rules(), text);
  const json told = json::parse(text);
  REQUIRE(told["rules"].size() == rules().size());
  for (std::size_t i = 0; i < rules().size(); ++i) {
    CHECK(list.find(rules()[i]->name) != std::string::npos);
    CHECK(told["rules"][i]["rule"] == rules()[i]->name);
    if (!rules()[i]->bad.config.empty()) CHECK(told["rules"][i]["bad"]["config"] == rules()[i]->bad.config);
  }
}
