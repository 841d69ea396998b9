#include "checkpoint/safetensors_writer.h"

#include <cstdint>

#include "base/format.h"
#include "base/text.h"

namespace lmsize {

void write_safetensors(std::ostream& out, std::string_view name, const std::vector<Int>& shape,
                       std::span<const double> values) {
  std::string header = format_text("{{\"{}\":{{\"dtype\":\"F64\",\"shape\":[{}],\"data_offsets\":[0,{}]}}}}",
                                   escaped(name), fmt::join(shape, ","), values.size_bytes());
  header.resize((header.size() + 7) / 8 * 8, ' ');  // so that the numbers are aligned
  const std::uint64_t length = header.size();
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << header;
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

}  // namespace lmsize
