// A text as a config: read, built, counted. Any Error is a right answer, UsageError (which flags alone cause) and
// InternalError are findings.
#include "analysis/count.h"
#include "arch/registry.h"
#include "config/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lmsize;
  try {
    const Document document = Document::parse(std::string(reinterpret_cast<const char*>(data), size));
    Reader reader(document);
    const Model model = build_model(reader);
    count(model);
    tensor_counts(model);
  } catch (const Error&) {
  }
  return 0;
}
