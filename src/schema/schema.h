// The JSON Schemas (draft 2020-12) of plain descriptions and of the outputs: src/schema/*.json, embedded in the
// program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lmsize {

struct SchemaFile {
  std::string_view name;  // the file's stem: "count"
  std::string_view json;  // the file's bytes
};

// All files, sorted by name. They refer to each other by file: "common.json#/$defs/roles".
std::span<const SchemaFile> schema_files();

struct SchemaTitle {
  std::string_view name;
  std::string title;  // what it describes, in one line
};

// The schemas that describe something by themselves, sorted by name: all but `common`, which they share.
std::vector<SchemaTitle> schema_titles();

// The schema of that name, which must be one of schema_titles(), whole in itself: what it refers to in other files
// stands in its own "$defs". Indented, with a line break at the end.
std::string schema_text(std::string_view name);

}  // namespace lmsize
