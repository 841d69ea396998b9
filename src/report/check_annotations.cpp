// The findings of `check` for machines that annotate code with them: GitHub's workflow commands and SARIF.

#include <iterator>

#include "base/format.h"
#include "base/text.h"
#include "lint/rules.h"
#include "report/check.h"
#include "report/json_writer.h"

namespace lmsize {
namespace {

// GitHub's escapes: of the message, and of what stands between commas and colons.
std::string github_escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text)
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
      out += format_text("%{:02X}", c);
    else
      out += c;
  return out;
}

// A path as a URI reference (RFC 3986): all but unreserved characters and slashes percent-encoded.
std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain)
      uri += c;
    else
      uri += format_text("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

std::string_view sarif_level(Severity severity) {
  return severity == Severity::advice ? std::string_view("note") : name_of(severity);
}

void write_text_object(JsonWriter& json, std::string_view key, std::string_view text) {
  json.key(key).begin_object().member("text", text).end_object();
}

void write_result(const CheckReport& report, const Diagnostic& finding, std::string& out) {
  JsonWriter json(out);
  json.begin_object().member("ruleId", finding.rule).member("level", sarif_level(finding.severity));
  write_text_object(json, "message", finding.message);
  json.key("locations").begin_array().begin_object().key("physicalLocation").begin_object();
  json.key("artifactLocation").begin_object().member("uri", uri_of(report.file)).end_object();
  if (finding.at.line > 0) {
    json.key("region").begin_object().member("startLine", finding.at.line);
    json.member("startColumn", finding.at.column).end_object();
  }
  json.end_object().end_object().end_array().end_object();
}

}  // namespace

void write_check_github(const CheckReport& report, std::string& out) {
  for (const Diagnostic& finding : report.findings) {
    out += format_text("::{} file={}", finding.severity == Severity::advice ? "notice" : name_of(finding.severity),
                       github_escaped(report.file, true));
    if (finding.at.line > 0) out += format_text(",line={},col={}", finding.at.line, finding.at.column);
    out += format_text(",title={}::{}\n", finding.rule, github_escaped(finding.message, false));
  }
}

void write_check_sarif(const CheckReport& report, std::string& out) {
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    if (i > 0) out += ",\n";
    write_result(report, report.findings[i], out);
  }
}

void write_sarif_start(std::string_view version, std::string& out) {
  out += R"({"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":)";
  JsonWriter json(out);
  json.begin_object().member("name", "lmsize").member("version", version).key("rules").begin_array();
  for (const Rule* rule : rules()) {
    json.begin_object().member("id", rule->name);
    write_text_object(json, "shortDescription", rule->why);
    json.key("defaultConfiguration").begin_object().member("level", sarif_level(rule->severity)).end_object();
    json.end_object();
  }
  json.end_array().end_object();
  out += "},\"results\":[\n";
}

void write_sarif_end(std::string& out) { out += "\n]}]}\n"; }

}  // namespace lmsize
