#include "cli/inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <istream>

#include "arch/common.h"
#include "base/format.h"
#include "base/spelling.h"
#include "base/text.h"
#include "checkpoint/locate.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "config/built_in.h"

namespace lmsize::cli {
namespace {

constexpr std::size_t kBlockItems = 64;
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

bool has_suffix(std::string_view path, std::initializer_list<std::string_view> suffixes) {
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) { return path.ends_with(suffix); });
}

std::string joined(std::string_view folder, std::string_view name) {
  return std::string(folder) + (folder.ends_with('/') ? "" : "/") + std::string(name);
}

// Whether a JSON text in a folder is meant as a config: an object with a model_type or a main size.
bool is_config(const Document& document) {
  const Value root = document.root();
  if (root.kind() != JsonKind::object) return false;
  if (root.member("model_type")) return true;
  for (const Keys* keys : {&key::d, &key::d_ff, &key::n_layers, &key::n_heads, &key::vocab})
    for (std::string_view name : *keys)
      if (root.member(name)) return true;
  return false;
}

// "org/model": two parts of letters, digits and - _ . and nothing that says path.
bool is_hub_name(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == word.npos || slash == 0 || slash + 1 == word.size() || word.front() == '.') return false;
  if (has_suffix(word, {".json", ".jsonl", ".ndjson", ".safetensors", ".gguf"})) return false;
  return std::ranges::all_of(word, [slashes = 0](unsigned char c) mutable {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || (c == '/' && ++slashes == 1);
  });
}

// "llama-3-8b, llama-3-70b, …" for llama3: the first few names that begin with the word, whatever its dashes.
std::string names_that_begin(std::string_view word, const std::vector<std::string_view>& names) {
  constexpr std::size_t most = 4;
  const std::string sought = folded(word);
  std::vector<std::string_view> found;
  for (const std::string_view name : names)
    if (sought.size() >= 3 && folded(name).starts_with(sought)) found.push_back(name);
  if (found.size() <= most) return format_text("{}", fmt::join(found, ", "));
  return format_text("{}, … ({} begin so)", fmt::join(std::span(found).first(most), ", "), found.size());
}

}  // namespace

bool is_checkpoint_name(std::string_view path) {
  return has_suffix(path, {".safetensors", ".gguf", ".safetensors.index.json", ".bin", ".pt", ".pth"});
}

std::string name_of_file(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string file = slash == path.npos ? path : path.substr(slash + 1);
  if (file == "config.json" || file == "params.json") {
    std::filesystem::path folder = slash == path.npos ? "." : path.substr(0, slash + 1);
    std::error_code fault;
    if (folder.filename().empty()) folder = folder.parent_path();
    if (folder.filename() == "." || folder.filename() == "..") folder = std::filesystem::canonical(folder, fault);
    if (!folder.filename().empty()) return folder.filename().string();
  }
  const std::size_t dot = file.rfind('.');
  return dot == file.npos || dot == 0 ? file : file.substr(0, dot);
}

Block Inputs::next_block() {
  Block block;
  std::size_t bytes = 0;
  while (!block.full) {
    if (!block.items.empty() && stream_ && stream_->texts.might_wait()) break;
    std::optional<Item> item = next();
    if (!item) break;
    if (const TextContent* text = std::get_if<TextContent>(&item->content)) bytes += text->bytes.size();
    const bool parsed = std::holds_alternative<Document>(item->content);  // may be large: one at a time
    block.items.push_back(std::move(*item));
    if (parsed) break;
    block.full = block.items.size() == kBlockItems || bytes >= kBlockBytes;
  }
  block.notes = std::exchange(notes_, {});
  return block;
}

std::optional<Item> Inputs::next() {
  const std::vector<std::string>& words = options_.words();
  while (true) {
    if (stream_) {
      if (auto item = next_of_stream()) return item;
      stream_.reset();
    } else if (walk_) {
      if (auto item = next_of_walk()) return item;
    } else if (words.empty() && !flags_given_) {
      flags_given_ = true;
      return Item{.source = {"flags", "flags"}, .name = "flags", .flags_alone = true, .content = options_.shape};
    } else if (words_opened_ < words.size()) {
      if (auto item = open(words[words_opened_++])) return item;
    } else {
      return std::nullopt;
    }
  }
}

// An item, or nothing where the word has become a stream or a walk.
std::optional<Item> Inputs::open(const std::string& word) {
  if (word == "-") {
    stream_.emplace(*in_.rdbuf());
    return std::nullopt;
  }
  Item item{.source = {word, word}, .content = FileContent{word}};
  struct stat about{};
  if (::stat(word.c_str(), &about) != 0) {
    const int number = errno;
    const BuiltIn* built_in = find_built_in(word);
    if (built_in == nullptr) return not_found(word, number);
    item.name = word;
    item.keeps_name = true;
    item.content = TextContent{std::string(built_in->json), {1, 1}};
    return item;
  }
  if (S_ISDIR(about.st_mode)) {
    walk_ = Walk{word, {{word, true}}};
    return std::nullopt;
  }
  if (has_suffix(word, {".jsonl", ".ndjson"})) {
    try {
      stream_.emplace(word);
      return std::nullopt;
    } catch (const Error& fault) {
      item.content = fault;
    }
  } else if (is_checkpoint_name(word)) {
    item.content = CheckpointContent{word};
  }
  item.name = name_of_file(word);
  return item;
}

std::optional<Item> Inputs::next_of_stream() {
  Stream& stream = *stream_;
  const bool standard = stream.bytes == nullptr;
  Item item{.source = {stream.file, stream.file}, .name = name_of_file(stream.file)};
  std::optional<StreamText> text;
  try {
    text = stream.texts.next();
    if (!text && stream.found > 0) return std::nullopt;
    if (!text) throw Error("empty", "there is no JSON text here");
  } catch (const Error& fault) {
    text = StreamText{stream.found + 1, fault.diagnostic.at, fault};
    stream.texts.stop();
  }
  if (!standard || stream.found > 0) item.source.label += format_text(":{}", text->number);
  if (standard) item.name = item.source.label;
  ++stream.found;
  if (std::string* bytes = std::get_if<std::string>(&text->content))
    item.content = TextContent{std::move(*bytes), text->first};
  else if (Document* document = std::get_if<Document>(&text->content))
    item.content = std::move(*document);
  else
    item.content = std::get<Error>(std::move(text->content));
  return item;
}

std::optional<Item> Inputs::next_of_walk() {
  while (!walk_->todo.empty()) {
    const FolderEntry entry = std::move(walk_->todo.back());
    walk_->todo.pop_back();
    try {
      if (entry.folder) {
        if (auto item = open_folder(entry.name)) return item;
        continue;
      }
      Document document = Document::parse(read_file(entry.name));
      if (is_config(document)) {
        ++walk_->found;
        return Item{
            .source = {entry.name, entry.name}, .name = name_of_file(entry.name), .content = std::move(document)};
      }
    } catch (const Error& fault) {
      if (entry.folder) {
        ++walk_->found;
        return Item{.source = {entry.name, entry.name}, .content = fault};
      }
      if (walk_->unparsed++ == 0) walk_->first_unparsed = entry.name;
    }
    ++walk_->skipped;
  }
  const Walk done = std::move(*walk_);
  walk_.reset();
  Item item{.source = {done.word, done.word}};
  if (done.found > 0) {
    if (done.skipped > 0 && !options_.quiet)
      append_note(item.source,
                  format_text("files that are no configs, skipped: {}{}", done.skipped,
                              done.unparsed == 0   ? ""
                              : done.unparsed == 1 ? format_text(" ({} cannot be parsed)", escaped(done.first_unparsed))
                                                   : format_text(" ({} and {} more cannot be parsed)",
                                                                 escaped(done.first_unparsed), done.unparsed - 1)),
                  notes_);
    return std::nullopt;
  }
  if (find_checkpoint(done.word)) {
    item.name = name_of_file(joined(done.word, "config.json"));
    item.content = CheckpointContent{done.word};
    return item;
  }
  item.content = Error("no-config", std::string("this folder holds no config.json, params.json or other config") +
                                        (options_.recursive ? "" : " (--recursive looks into its folders)"));
  return item;
}

// Its config.json or params.json as an item; else its other files, and with --recursive its folders, are to do next.
std::optional<Item> Inputs::open_folder(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) == 0 && !walk_->seen.emplace(about.st_dev, about.st_ino).second) return std::nullopt;
  const std::vector<FolderEntry> entries = entries_of(path);
  const auto has_file = [&](std::string_view name) {
    return std::ranges::any_of(entries, [&](const FolderEntry& e) { return !e.folder && e.name == name; });
  };
  const std::string_view main_file = has_file("config.json")   ? "config.json"
                                     : has_file("params.json") ? "params.json"
                                                               : "";
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {  // the last one is the next one
    if (entry->folder ? !options_.recursive : !main_file.empty()) continue;
    if (entry->folder || entry->name.ends_with(".json"))
      walk_->todo.push_back({joined(path, entry->name), entry->folder});
    else
      ++walk_->skipped;
  }
  if (main_file.empty()) return std::nullopt;
  ++walk_->found;
  const std::string file = joined(path, main_file);
  return Item{
      .source = {options_.recursive ? file : path, file}, .name = name_of_file(file), .content = FileContent{file}};
}

// A word that is nothing lmsize could read, with what it may have been meant to be.
Item Inputs::not_found(const std::string& word, int error_number) {
  Item item{.source = {word, word}};
  if (error_number != ENOENT && error_number != ENOTDIR) {
    item.content = Error("unreadable", std::string("cannot be read: ") + std::strerror(error_number));
    return item;
  }
  const std::size_t slash = word.rfind('/');
  const std::string base = slash == word.npos ? word : word.substr(slash + 1);
  std::vector<std::string_view> names;
  std::vector<std::string> near;
  const auto suggest = [&](std::string_view kind, std::string_view sought) {
    if (const std::string_view name = nearest(sought, names); !name.empty())
      near.push_back(format_text("{} {}", kind, name));
    names.clear();
  };
  if (slash == word.npos) {
    for (const Command& command : commands()) names.push_back(command.name);
    suggest("the command", word);
  }
  if (slash == word.npos || is_hub_name(word)) {
    for (const BuiltIn& model : built_in_models()) names.push_back(model.name);
    const std::string alike = names_that_begin(base, names);
    if (alike.empty())
      suggest("the built-in model", base);
    else
      near.push_back("the built-in models " + alike);
    names.clear();
  }
  std::vector<FolderEntry> entries;
  if (file_suggestions_ > 0 && !word.empty()) {
    --file_suggestions_;
    try {
      entries = entries_of(slash == word.npos ? "." : word.substr(0, slash + 1));
    } catch (const Error&) {  // there is no such folder to look for names in
    }
    for (const FolderEntry& entry : entries) names.push_back(entry.name);
    suggest("the file", base);
  }
  std::string message = "no such file or built-in model";
  if (word.empty())
    message = "an empty name";
  else if (is_hub_name(word))
    message = "no such file; lmsize downloads nothing: fetch the model's config.json yourself and give its path";
  if (!near.empty())
    message += format_text(" (did you mean {}?)", escaped(format_text("{}", fmt::join(near, " or "))));
  else if (word.find_first_of("/.") == word.npos && !word.empty())
    message += "; lmsize list shows the built-in models";
  item.content = Error("not-found", message);
  return item;
}

}  // namespace lmsize::cli
