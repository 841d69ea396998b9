#include "checkpoint/index.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"
#include "base/text.h"
#include "config/document.h"
#include "config/reader.h"

namespace lmsize {

CheckpointIndex read_index(std::istream& in, Int file_bytes) {
  if (file_bytes > static_cast<Int>(Document::kMaximumBytes)) throw Error("too-large", "the index is too large");
  const Document document = Document::parse(std::string(std::istreambuf_iterator<char>(in), {}));
  if (document.root().kind() != JsonKind::object) throw Error("safetensors", "the index is no JSON object");
  const Value map = document.root().member("weight_map");
  if (!map || map.kind() != JsonKind::object) throw Error("safetensors", "the index has no object weight_map");
  CheckpointIndex index;
  for (Value entry = map.first_child(); entry; entry = entry.next()) {
    const std::string name = escaped(entry.key());
    if (entry.kind() != JsonKind::string)
      throw Error("safetensors", format_text("the index's entry \"{}\" names no file", name));
    const std::string shard(entry.text());
    if (shard.empty() || shard == "." || shard == ".." || shard.find('/') != std::string::npos ||
        shard.find('\0') != std::string::npos)
      throw Error("safetensors", format_text("the index's entry \"{}\" names \"{}\", which is no file beside it", name,
                                             escaped(shard)));
    index.entries.push_back({std::string(entry.key()), shard});
  }
  std::ranges::sort(index.entries, {}, &CheckpointIndex::Entry::tensor);
  const Value metadata = document.root().member("metadata");
  if (metadata && metadata.kind() == JsonKind::object) {
    const Value size = metadata.member("total_size");
    const bool number = size && size.kind() == JsonKind::number;
    if (const IntegerText read = number ? integer_of(size.text()) : IntegerText{0, "is no number"}; read.fault.empty())
      index.total_size = read.value;
  }
  return index;
}

}  // namespace lmsize
