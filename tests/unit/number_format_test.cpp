#include "model/number_format.h"

#include "catch.h"
#include "model/storage.h"

using namespace lmsize;

TEST_CASE("formats are found under all their names") {
  for (const char* name : {"bfloat16", "BF16", "torch.bfloat16"}) CHECK(find_number_format(name)->name == "bfloat16");
  CHECK(find_number_format("half")->bits == 16);
  CHECK(find_number_format("fp8")->bits == 8);
  CHECK(!find_number_format("bfloat17"));
  for (const std::string_view name : number_format_names()) CHECK(find_number_format(name));
}

TEST_CASE("blocks of GGUF have the bytes of ggml's structs") {
  // sizeof(block_…) for 32 or 256 weights.
  const auto bytes = [](const char* name, Int n) { return find_number_format(name)->bytes(n); };
  CHECK(bytes("Q4_0", 32) == 18);
  CHECK(bytes("Q4_1", 32) == 20);
  CHECK(bytes("Q5_0", 32) == 22);
  CHECK(bytes("Q5_1", 32) == 24);
  CHECK(bytes("Q8_0", 32) == 34);
  CHECK(bytes("Q2_K", 256) == 84);
  CHECK(bytes("Q3_K", 256) == 110);
  CHECK(bytes("Q4_K", 256) == 144);
  CHECK(bytes("Q5_K", 256) == 176);
  CHECK(bytes("Q6_K", 256) == 210);
  CHECK(bytes("IQ2_XXS", 256) == 66);
  CHECK(bytes("IQ2_XS", 256) == 74);
  CHECK(bytes("IQ3_XXS", 256) == 98);
  CHECK(bytes("IQ3_S", 256) == 110);
  CHECK(bytes("IQ4_NL", 32) == 18);
  CHECK(bytes("IQ4_XS", 256) == 136);
  CHECK(bytes("IQ1_S", 256) == 50);
  CHECK(bytes("IQ1_M", 256) == 56);
  CHECK(bytes("TQ1_0", 256) == 54);
  CHECK(bytes("TQ2_0", 256) == 66);
}

TEST_CASE("groups are rounded up at the end of a row, flat ones at the end of the matrix") {
  const NumberFormat rows{.bits = 4, .scale_bits = 16, .group_in = 32};
  CHECK(rows.bytes(10, 33) == 165 + 10 * 2 * 2);
  const NumberFormat flat{.bits = 4, .scale_bits = 32, .group_in = 64, .flat = true};
  CHECK(flat.bytes(10, 33) == 165 + 6 * 4);
  const NumberFormat whole{.bits = 8, .scale_bits = 32, .group_out = NumberFormat::kWhole};
  CHECK(whole.bytes(10, 33) == 330 + 4);
  CHECK(find_number_format("nf4")->bits_each() == 4.5);
  CHECK(find_number_format("mxfp4")->bits_each() == 4.25);
}

TEST_CASE("names of modules that stay as they are") {
  const ModuleName layer("model.layers.12.mlp.gate");
  CHECK(layer.parts == std::vector<std::string>{"model", "layers", "*", "mlp", "gate"});
  CHECK(layer.layer == 12);
  CHECK(ModuleName("re:.*lm_head$").parts == std::vector<std::string>{"lm_head"});
  CHECK(ModuleName("re:.*self_attn.*").parts == std::vector<std::string>{"self_attn"});
}
