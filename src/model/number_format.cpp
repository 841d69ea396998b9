#include "model/number_format.h"

#include <algorithm>
#include <array>

namespace lmsize {
namespace {

using Scope = NumberFormat::Scope;

struct Named {
  std::string_view names;  // the first is the one that is shown
  Int bits;
  Int scale_bits = 0, group_in = 0;
  Scope scope = Scope::all;
  bool flat = false;
  Int outer_bits = 0;
  Int input_bits = 0;
};

constexpr std::array kFormats{
    Named{"float32,fp32,f32,float", 32},
    Named{"float16,fp16,f16,half", 16},
    Named{"bfloat16,bf16", 16},
    Named{"float64,fp64,f64,double", 64},
    Named{"float8_e4m3fn,float8_e4m3,fp8_e4m3,fp8,float8,f8_e4m3", 8},
    Named{"float8_e5m2,fp8_e5m2,f8_e5m2", 8},
    Named{"int8,i8", 8},
    Named{"int4,i4", 4},
    Named{"fp4,float4", 4},
    Named{"nf4", 4, 32, 64, Scope::linear, true},
    Named{"nf4_double,nf4_dq", 4, 8, 64, Scope::linear, true, 32},
    Named{"gptq", 4, 20, 128, Scope::linear, false, 0, 32},
    Named{"awq", 4, 20, 128, Scope::linear},
    Named{"mxfp4", 4, 8, 32, Scope::linear},
    Named{"mxfp8", 8, 8, 32, Scope::linear},
    Named{"nvfp4", 4, 8, 16, Scope::linear},
    Named{"Q4_0", 4, 16, 32, Scope::tables},
    Named{"Q4_1", 4, 32, 32, Scope::tables},
    Named{"Q5_0", 5, 16, 32, Scope::tables},
    Named{"Q5_1", 5, 32, 32, Scope::tables},
    Named{"Q8_0", 8, 16, 32, Scope::tables},
    Named{"Q2_K", 2, 160, 256, Scope::tables},
    Named{"Q3_K", 3, 112, 256, Scope::tables},
    Named{"Q4_K", 4, 128, 256, Scope::tables},
    Named{"Q5_K", 5, 128, 256, Scope::tables},
    Named{"Q6_K", 6, 144, 256, Scope::tables},
    Named{"Q8_K", 8, 288, 256, Scope::tables},
    Named{"IQ1_S", 1, 144, 256, Scope::tables},
    Named{"IQ1_M", 1, 192, 256, Scope::tables},
    Named{"IQ2_XXS", 2, 16, 256, Scope::tables},
    Named{"IQ2_XS", 2, 80, 256, Scope::tables},
    Named{"IQ2_S", 2, 144, 256, Scope::tables},
    Named{"IQ3_XXS", 3, 16, 256, Scope::tables},
    Named{"IQ3_S", 3, 112, 256, Scope::tables},
    Named{"IQ4_NL", 4, 16, 32, Scope::tables},
    Named{"IQ4_XS", 4, 64, 256, Scope::tables},
    Named{"TQ1_0", 1, 176, 256, Scope::tables},
    Named{"TQ2_0", 2, 16, 256, Scope::tables},
};

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Calls take(name) for each of the names between commas until it returns true.
template <class Take>
bool any_name(std::string_view names, Take take) {
  while (true) {
    const std::size_t comma = names.find(',');
    if (take(names.substr(0, comma))) return true;
    if (comma == names.npos) return false;
    names.remove_prefix(comma + 1);
  }
}

Int bytes_of_bits(Int bits) { return divide_up(bits, 8); }

}  // namespace

Int NumberFormat::bytes(Int outputs, Int inputs) const {
  const Int n = multiply(outputs, inputs);
  Int total = bytes_of_bits(multiply(n, bits));
  if (scale_bits != 0) {
    const auto groups_along = [](Int side, Int group) { return group == kWhole ? 1 : divide_up(side, group); };
    const Int groups =
        flat ? groups_along(n, group_in) : multiply(groups_along(outputs, group_out), groups_along(inputs, group_in));
    total = add(total, bytes_of_bits(multiply(groups, scale_bits)));
    if (outer_bits != 0) total = add(total, bytes_of_bits(multiply(divide_up(groups, 256), outer_bits)));
  }
  return add(total, bytes_of_bits(multiply(inputs, input_bits)));
}

double NumberFormat::bits_each() const {
  double each = static_cast<double>(bits);
  if (scale_bits != 0 && group_in != kWhole && group_out != kWhole)
    each += (static_cast<double>(scale_bits) + static_cast<double>(outer_bits) / 256) /
            static_cast<double>(multiply(group_in, group_out));
  return each;
}

std::optional<NumberFormat> find_number_format(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const Named& known : kFormats) {
    if (!any_name(known.names, [&](std::string_view one) { return same_letters(one, name); })) continue;
    NumberFormat format;
    format.name = known.names.substr(0, known.names.find(','));
    format.bits = known.bits;
    format.scale_bits = known.scale_bits;
    format.group_in = known.group_in;
    format.scope = known.scope;
    format.flat = known.flat;
    format.outer_bits = known.outer_bits;
    format.input_bits = known.input_bits;
    return format;
  }
  return std::nullopt;
}

std::vector<std::string_view> number_format_names() {
  std::vector<std::string_view> names;
  for (const Named& known : kFormats)
    any_name(known.names, [&](std::string_view one) {
      names.push_back(one);
      return false;
    });
  return names;
}

}  // namespace lmsize
