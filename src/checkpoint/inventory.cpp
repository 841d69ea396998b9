#include "checkpoint/inventory.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/text.h"
#include "checkpoint/tensor_names.h"

namespace lmsize {
namespace {

constexpr Int kIntBits = 32;  // of the numbers that GPTQ, AWQ, MLX and compressed-tensors pack weights into

// What stands beside a quantised weight, by what it is called behind the weight's stem: a suffix, and what of the
// weight itself there must be for the tensor to be that. `.weight` stands for every name that a weight has.
constexpr std::array<std::string_view, 16> kBeside{".scales",
                                                   ".qzeros",
                                                   ".g_idx",
                                                   ".weight_scale",
                                                   ".weight_scale_inv",
                                                   ".weight_scale_2",
                                                   ".input_scale",
                                                   ".weight_zero_point",
                                                   ".weight_shape",
                                                   ".weight_g_idx",
                                                   ".weight_global_scale",
                                                   ".input_global_scale",
                                                   ".SCB",
                                                   ".weight_format",
                                                   ".scale",
                                                   ".activation_scale"};
// Behind a whole name.
constexpr std::array<std::string_view, 5> kBehind{"_scales", "_scale_inv", "_scale", ".absmax", ".quant_map"};
// What a quantised weight itself may be called behind its stem.
constexpr std::array<std::string_view, 4> kWeights{".weight", ".qweight", ".weight_packed", "_blocks"};

class Sorter {
 public:
  Sorter(const Checkpoint& checkpoint, const PackingHints& hints) : checkpoint_(checkpoint), hints_(hints) {}

  Inventory sort() {
    made_.weights.reserve(checkpoint_.tensors().size());
    for (const StoredTensor& tensor : checkpoint_.tensors()) {
      if (is_beside(tensor))
        made_.quantization.push_back(&tensor);
      else
        made_.weights.push_back(sorted_out(weight_of(tensor)));
    }
    if (!std::ranges::is_sorted(made_.weights, {}, &StoredWeight::name))  // where packed ones have lost a suffix
      std::ranges::sort(made_.weights, {}, &StoredWeight::name);
    return std::move(made_);
  }

 private:
  // Tells buffers from weights, and weights that are whole numbers from what they stand for: in some packing that is
  // not known here.
  StoredWeight sorted_out(StoredWeight weight) {
    const Dtype dtype = weight.stored->dtype;
    const bool plain_integers = weight.packing.empty() && is_integer(dtype);
    const bool packs =
        dtype != Dtype::BOOL && info_of(dtype).bytes <= 4;  // none packs weights into truth values or I64
    weight.buffer =
        is_buffer_name(weight.name, weight.shape.size()) || (plain_integers && (!packs || weight.shape.size() < 2));
    if (plain_integers && !weight.buffer)
      assume("unknown-packing", format_text("whole numbers that nothing explains, as \"{}\" {} {}, are counted as they "
                                            "are stored, each as a parameter",
                                            escaped(weight.name), name_of(dtype), shape_text(weight.shape)));
    return weight;
  }

  // A tensor called `stem` and `suffix`, or null.
  const StoredTensor* find(std::string_view stem, std::string_view suffix) const {
    return checkpoint_.find(std::string(stem) += suffix);
  }

  bool is_beside(const StoredTensor& tensor) const {
    const std::string_view name = tensor.name;
    for (const std::string_view suffix : {".k_scale", ".v_scale", ".q_scale", ".kv_scale"})  // of a cache
      if (name.ends_with(suffix)) return true;
    for (const std::string_view suffix : kBeside)
      if (name.ends_with(suffix) && has_quantized(name.substr(0, name.size() - suffix.size()))) return true;
    if (name.ends_with(".biases")) {
      const StoredTensor* weight = find(name.substr(0, name.size() - std::string_view(".biases").size()), ".weight");
      return weight != nullptr && weight->dtype == Dtype::U32;
    }
    for (const std::string_view suffix : kBehind) {
      if (!name.ends_with(suffix)) continue;
      const std::string_view stem = name.substr(0, name.size() - suffix.size());
      for (const std::string_view whole : {"", "_blocks"})
        if (const StoredTensor* weight = find(stem, whole); weight != nullptr && is_low(weight->dtype)) return true;
    }
    const std::size_t state = std::min(name.find(".quant_state."), name.find(".nested_"));
    return state != name.npos && checkpoint_.find(name.substr(0, state)) != nullptr;
  }

  // Whether a dtype is one that quantised weights come in.
  static bool is_low(Dtype dtype) { return is_integer(dtype) || is_quantized(dtype); }

  bool has_quantized(std::string_view stem) const {
    return std::ranges::any_of(kWeights, [&](std::string_view suffix) {
      const StoredTensor* weight = find(stem, suffix);
      return weight != nullptr && is_low(weight->dtype);
    });
  }

  StoredWeight weight_of(const StoredTensor& tensor) {
    const std::string_view name = tensor.name;
    const auto stem_before = [&](std::string_view suffix) -> std::optional<std::string_view> {
      if (!name.ends_with(suffix)) return std::nullopt;
      return name.substr(0, name.size() - suffix.size());
    };
    if (const auto stem = stem_before(".qweight"); stem && tensor.shape.size() == 2)
      if (const StoredTensor* scales = find(*stem, ".scales"); scales != nullptr && scales->shape.size() == 2)
        return group_packed(*stem, tensor, *scales);
    if (const auto stem = stem_before(".weight_packed"); stem && !tensor.shape.empty())
      return packed_rows(*stem, tensor);
    if (const auto stem = stem_before("_blocks"); stem && tensor.dtype == Dtype::U8 && tensor.shape.size() > 1)
      if (find(*stem, "_scales") != nullptr) return blocks(*stem, tensor);
    const auto stem = stem_before(".weight");
    if (stem && tensor.dtype == Dtype::U8 && find(name, ".absmax") != nullptr) return flat_halves(tensor);
    if (stem && (tensor.dtype == Dtype::U8 || tensor.dtype == Dtype::I8) && !tensor.shape.empty()) {
      for (const std::string_view suffix : {".weight_scale", ".scale"})
        if (const StoredTensor* scale = find(*stem, suffix))
          if (auto packed = scaled_bytes(tensor, *scale)) return *std::move(packed);
    } else if (stem && tensor.dtype == Dtype::U32 && !tensor.shape.empty()) {
      const StoredTensor* scales = find(*stem, ".scales");
      if (scales != nullptr && !scales->shape.empty()) return mlx(*stem, tensor, *scales);
    }
    return as_it_is(tensor);
  }

  // Bytes that hold several weights each, told from their scales: two to a byte where a row has as many scales as
  // groups of 16 or 32 such, of one byte each; BitNet's four rows to one, with a single scale. Nothing: a byte is a
  // weight.
  std::optional<StoredWeight> scaled_bytes(const StoredTensor& tensor, const StoredTensor& scale) {
    if (scale.dtype == Dtype::F8_E4M3) return widened(tensor.name, tensor, 2, "NVFP4");
    if (info_of(scale.dtype).bytes == 1 && scale.shape.size() == tensor.shape.size()) {
      const Int halves = multiply(tensor.shape.back(), 2), groups = scale.shape.back();
      if (halves == multiply(groups, 32)) return widened(tensor.name, tensor, 2, "MXFP4");
      if (halves == multiply(groups, 16)) return widened(tensor.name, tensor, 2, "NVFP4");
    }
    if (tensor.dtype != Dtype::U8 || scale.elements != 1 || tensor.shape.size() != 2) return std::nullopt;
    assume("packed-bits", "bytes with a single scale are taken to hold four ternary weights each, as BitNet's do");
    return made(tensor.name, {multiply(tensor.shape[0], 4), tensor.shape[1]}, "BitNet", tensor);
  }

  StoredWeight as_it_is(const StoredTensor& tensor) const {
    StoredWeight weight{tensor.name, tensor.shape, tensor.elements, {}, false, is_quantized(tensor.dtype),
                        false,       &tensor};
    constexpr std::string_view suffix = ".weight";
    if (tensor.dtype != Dtype::I8 || !tensor.name.ends_with(suffix)) return weight;
    const std::string_view stem = std::string_view(tensor.name).substr(0, tensor.name.size() - suffix.size());
    weight.quantized = find(stem, ".SCB") != nullptr || find(stem, ".weight_scale") != nullptr;
    if (weight.quantized) weight.packing = "INT8";
    return weight;
  }

  static StoredWeight made(std::string name, std::vector<Int> shape, std::string_view packing,
                           const StoredTensor& tensor) {
    StoredWeight weight{std::move(name), std::move(shape), 0, packing, false, true, false, &tensor};
    weight.parameters = elements_of(weight.shape);
    return weight;
  }

  // As many values as `times` in each element of the innermost side.
  static StoredWeight widened(std::string name, const StoredTensor& tensor, Int times, std::string_view packing) {
    std::vector<Int> shape = tensor.shape;
    shape.back() = multiply(shape.back(), times);
    return made(std::move(name), std::move(shape), packing, tensor);
  }

  // GPTQ packs the rows of (in, out), AWQ its columns; both have a row of scales a group of inputs, and zero points
  // packed along the columns, from which follow the bits.
  StoredWeight group_packed(std::string_view stem, const StoredTensor& tensor, const StoredTensor& scales) {
    const Int out = scales.shape[1];
    const std::string name = std::string(stem) + ".weight";
    if (out == 0) contradiction(tensor, scales);
    if (tensor.shape[1] != out) {
      const Int bits = multiply(kIntBits, tensor.shape[1]) / out;
      if (bits < 1 || bits > 8 || multiply(bits, out) != multiply(kIntBits, tensor.shape[1]))
        contradiction(tensor, scales);
      return made(name, {out, tensor.shape[0]}, "AWQ", tensor);
    }
    Int in = 0;
    if (const StoredTensor* index = find(stem, ".g_idx"); index != nullptr && index->shape.size() == 1) {
      in = index->shape[0];
    } else {
      const StoredTensor* zeros = find(stem, ".qzeros");
      Int bits = hints_.bits.value_or(4);
      if (zeros != nullptr && zeros->shape.size() == 2)
        bits = multiply(kIntBits, zeros->shape[1]) / out;
      else if (!hints_.bits)
        assume("packed-bits", "weights in .qweight are taken as 4 bits each");
      if (bits < 1 || bits > 8) contradiction(tensor, *zeros);
      in = multiply(kIntBits, tensor.shape[0]) / bits;
    }
    return made(name, {out, in}, "GPTQ", tensor);
  }

  // compressed-tensors: rows of (out, in) packed into I32, or two to a U8 (NVFP4, MXFP4).
  StoredWeight packed_rows(std::string_view stem, const StoredTensor& tensor) {
    std::string name = std::string(stem) + ".weight";
    if (tensor.dtype == Dtype::U8) return widened(std::move(name), tensor, 2, "compressed-tensors");
    if (const StoredTensor* stated = find(stem, ".weight_shape");
        stated != nullptr && (stated->dtype == Dtype::I64 || stated->dtype == Dtype::I32) &&
        stated->elements == static_cast<Int>(tensor.shape.size())) {
      std::vector<Int> shape = checkpoint_.read_integers(*stated);
      if (fits(shape, tensor)) return made(std::move(name), std::move(shape), "compressed-tensors", tensor);
    }
    if (!hints_.bits) assume("packed-bits", "weights in .weight_packed are taken as 4 bits each");
    const Int bits = std::clamp<Int>(hints_.bits.value_or(4), 1, kIntBits);
    return widened(std::move(name), tensor, kIntBits / bits, "compressed-tensors");
  }

  // Whether weights of this shape can lie in that tensor: the same rows, each in as few numbers as hold whole weights.
  static bool fits(const std::vector<Int>& shape, const StoredTensor& tensor) {
    if (shape.size() != tensor.shape.size() || shape.empty()) return false;
    if (!std::equal(shape.begin(), shape.end() - 1, tensor.shape.begin())) return false;
    for (const Int bits : {4, 8, 2, 3, 1, 5, 6, 7}) {
      const Int each = kIntBits / bits;
      if (shape.back() > 0 && (shape.back() - 1) / each + 1 == tensor.shape.back()) return true;
    }
    return false;
  }

  // MXFP4: (…, blocks, 16 bytes) of 32 values each.
  static StoredWeight blocks(std::string_view stem, const StoredTensor& tensor) {
    std::vector<Int> shape(tensor.shape.begin(), tensor.shape.end() - 2);
    shape.push_back(multiply(multiply(tensor.shape.end()[-2], tensor.shape.back()), 2));
    return made(std::string(stem), std::move(shape), "MXFP4", tensor);
  }

  // bitsandbytes: two values a byte, in one column.
  static StoredWeight flat_halves(const StoredTensor& tensor) {
    StoredWeight weight = made(tensor.name, {multiply(tensor.elements, 2)}, "bitsandbytes 4-bit", tensor);
    weight.flat = true;
    return weight;
  }

  // MLX: rows packed into U32, with a scale a group. Bits times group follow from the shapes; groups are of 32 for the
  // MX formats, whose scales are bytes, else as the config says, else as the width of the model says, else of 64.
  StoredWeight mlx(std::string_view stem, const StoredTensor& tensor, const StoredTensor& scales) {
    const Int groups = scales.shape.back();
    if (groups == 0) contradiction(tensor, scales);
    const Int packed_bits = multiply(kIntBits, tensor.shape.back());
    if (packed_bits % groups != 0) contradiction(tensor, scales);
    const Int bits_times_group = packed_bits / groups;
    Int group = 0;
    if (scales.dtype == Dtype::U8)
      group = bits_times_group == 64 ? 16 : 32;
    else
      group = mlx_group(bits_times_group);
    std::vector<Int> shape = tensor.shape;
    shape.back() = multiply(groups, group);
    return made(std::string(stem) + ".weight", std::move(shape), "MLX", tensor);
  }

  Int mlx_group(Int bits_times_group) {
    if (hints_.group && *hints_.group > 0) return *hints_.group;
    if (!mlx_group_) mlx_group_ = group_by_width();
    if (*mlx_group_ > 0) return *mlx_group_;
    assume("packed-group", "packed weights are taken to share a scale among 64");
    return bits_times_group % 64 == 0 ? 64 : 32;
  }

  // The group for which a packed matrix that reads or writes the model's width is as wide as a norm is, or 0.
  Int group_by_width() const {
    constexpr std::array<std::string_view, 4> wide{"embed_tokens.weight", "lm_head.weight", "q_proj.weight",
                                                   "up_proj.weight"};
    for (const StoredTensor& tensor : checkpoint_.tensors()) {
      const std::string_view name = tensor.name;
      if (tensor.dtype != Dtype::U32 ||
          std::ranges::none_of(wide, [&](std::string_view end) { return name.ends_with(end); }))
        continue;
      const StoredTensor* scales = find(name.substr(0, name.size() - 7), ".scales");
      if (scales == nullptr || scales->shape.empty() || scales->shape.back() == 0) continue;
      for (const StoredTensor& norm : checkpoint_.tensors())
        if (norm.shape.size() == 1 && (norm.name.ends_with("norm.weight") || norm.name.ends_with("layernorm.weight")))
          for (const Int group : {64, 32, 128})
            if (norm.shape[0] == scales->shape.back() * group) return group;
    }
    return 0;
  }

  void assume(std::string rule, std::string message) {
    const bool said = std::ranges::any_of(made_.assumptions, [&](const Diagnostic& d) { return d.message == message; });
    if (!said) made_.assumptions.push_back({std::move(rule), Severity::warning, std::move(message), {}, {}});
  }

  [[noreturn]] static void contradiction(const StoredTensor& a, const StoredTensor& b) {
    throw Error("packing", format_text("tensors \"{}\" {} and \"{}\" {} do not fit each other", escaped(a.name),
                                       shape_text(a.shape), escaped(b.name), shape_text(b.shape)));
  }

  const Checkpoint& checkpoint_;
  const PackingHints& hints_;
  Inventory made_;
  std::optional<Int> mlx_group_;
};

}  // namespace

Inventory inventory_of(const Checkpoint& checkpoint, const PackingHints& hints) {
  return Sorter(checkpoint, hints).sort();
}

}  // namespace lmsize
