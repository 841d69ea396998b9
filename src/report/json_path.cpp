#include "report/json_path.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/spelling.h"
#include "base/text.h"

namespace lmsize {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the keys

const Json* child(const Json& parent, std::string_view key) {
  if (parent.is_object()) {
    const auto at = parent.find(std::string(key));
    return at == parent.end() ? nullptr : &*at;
  }
  std::size_t place = 0;
  const auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), place);
  if (!parent.is_array() || fault != std::errc{} || end != key.data() + key.size() || place >= parent.size())
    return nullptr;
  return &parent[place];
}

// All paths of `json`, of lists those of the first element.
void collect_paths(const Json& json, const std::string& prefix, std::vector<std::string>& paths) {
  if (json.is_array() && !json.empty()) collect_paths(json.front(), prefix + "0.", paths);
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    paths.push_back(prefix + key);
    collect_paths(value, prefix + key + ".", paths);
  }
}

std::string_view last_key(std::string_view path) { return path.substr(path.rfind('.') + 1); }

}  // namespace

std::optional<std::string> json_value(std::string_view json, std::string_view path) {
  const Json root = Json::parse(json);
  const Json* at = &root;
  while (at != nullptr && !path.empty()) {
    const std::size_t dot = path.find('.');
    at = child(*at, path.substr(0, dot));
    path.remove_prefix(dot == path.npos ? path.size() : dot + 1);
  }
  if (at == nullptr) return std::nullopt;
  if (!at->is_string()) return at->dump();
  const auto& text = at->get_ref<const std::string&>();
  return escaped(text, text.size() * 4 + 1);
}

std::string no_such_path(std::string_view json, std::string_view path) {
  std::vector<std::string> paths;
  collect_paths(Json::parse(json), "", paths);
  std::vector<std::string_view> whole(paths.begin(), paths.end()), last;
  for (std::string_view known : whole) last.push_back(last_key(known));
  std::string near = did_you_mean(path, whole);
  if (const std::string_view key = nearest(last_key(path), last); near.empty() && !key.empty())
    near = " (did you mean " + paths[static_cast<std::size_t>(std::ranges::find(last, key) - last.begin())] + "?)";
  return "there is no " + escaped(path) + near;
}

}  // namespace lmsize
