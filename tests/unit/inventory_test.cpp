// Packed weights count as what they stand for.
#include "checkpoint/inventory.h"

#include <algorithm>

#include "catch.h"
#include "checkpoint/stored_model.h"
#include "checkpoint/summary.h"
#include "checkpoint_bytes.h"
#include "helpers.h"
#include "temporary.h"

namespace lmsize {
namespace {

using namespace test;

// A checkpoint, and what is made of it.
struct Opened {
  TemporaryFolder folder;
  Checkpoint checkpoint;
  Inventory inventory;
  Opened(const std::vector<NamedTensor>& tensors, const PackingHints& hints = {})
      : checkpoint(folder.write("model.safetensors", safetensors_bytes(tensors))),
        inventory(inventory_of(checkpoint, hints)) {}
};

// One linear map of 24 outputs and 256 inputs, packed in some way.
struct Packed {
  std::string what;
  std::vector<NamedTensor> tensors;
  std::string_view packing;
  std::vector<Int> shape{24, 256};
};

const std::vector<Packed>& packings() {
  static const std::vector<Packed> all{
      {"GPTQ, 4 bits",
       {{"l.qweight", "I32", {32, 24}},
        {"l.qzeros", "I32", {2, 3}},
        {"l.scales", "F16", {2, 24}},
        {"l.g_idx", "I32", {256}}},
       "GPTQ"},
      {"GPTQ, 8 bits, without g_idx",
       {{"l.qweight", "I32", {64, 24}}, {"l.qzeros", "I32", {2, 6}}, {"l.scales", "F16", {2, 24}}},
       "GPTQ"},
      {"GPTQ, 3 bits",
       {{"l.qweight", "I32", {24, 32}},
        {"l.qzeros", "I32", {2, 3}},
        {"l.scales", "F16", {2, 32}},
        {"l.g_idx", "I32", {256}}},
       "GPTQ",
       {32, 256}},
      {"AWQ", {{"l.qweight", "I32", {256, 3}}, {"l.qzeros", "I32", {2, 3}}, {"l.scales", "F16", {2, 24}}}, "AWQ"},
      {"bitsandbytes, 4 bits",
       {{"l.weight", "U8", {3072, 1}},
        {"l.weight.absmax", "U8", {96}},
        {"l.weight.quant_map", "F32", {16}},
        {"l.weight.nested_absmax", "F32", {1}},
        {"l.weight.nested_quant_map", "F32", {256}},
        {"l.weight.quant_state.bitsandbytes__nf4", "U8", {80}}},
       "bitsandbytes 4-bit",
       {6144}},
      {"bitsandbytes, 8 bits",
       {{"l.weight", "I8", {24, 256}}, {"l.SCB", "F32", {24}}, {"l.weight_format", "U8", {}}},
       "INT8"},
      {"MLX, 4 bits",
       {{"l.weight", "U32", {24, 32}}, {"l.scales", "F16", {24, 4}}, {"l.biases", "F16", {24, 4}}},
       "MLX"},
      {"MLX, MXFP4", {{"l.weight", "U32", {24, 32}}, {"l.scales", "U8", {24, 8}}}, "MLX"},
      {"MLX, NVFP4", {{"l.weight", "U32", {24, 32}}, {"l.scales", "U8", {24, 16}}}, "MLX"},
      {"FP8, blocks", {{"l.weight", "F8_E4M3", {24, 256}}, {"l.weight_scale_inv", "F32", {1, 2}}}, ""},
      {"FP8, whole",
       {{"l.weight", "F8_E4M3", {24, 256}}, {"l.weight_scale", "F32", {}}, {"l.input_scale", "F32", {}}},
       ""},
      {"NVFP4",
       {{"l.weight", "U8", {24, 128}}, {"l.weight_scale", "F8_E4M3", {24, 16}}, {"l.weight_scale_2", "F32", {}}},
       "NVFP4"},
      {"MXFP4, two to a byte", {{"l.weight", "U8", {24, 128}}, {"l.weight_scale", "U8", {24, 8}}}, "MXFP4"},
      {"MXFP4, two to a byte, scales of a dtype of their own",
       {{"l.weight", "I8", {24, 128}}, {"l.scale", "F8_E8M0", {24, 8}}},
       "MXFP4"},
      {"FP8, with a cache's scales",
       {{"l.weight", "F8_E4M3", {24, 256}},
        {"l.weight_scale", "F32", {}},
        {"l.k_scale", "F32", {1}},
        {"attn.kv_scale", "F32", {1}}},
       ""},
      {"compressed-tensors, 4 bits",
       {{"l.weight_packed", "I32", {24, 32}}, {"l.weight_scale", "BF16", {24, 2}}, {"l.weight_shape", "I64", {2}}},
       "compressed-tensors"},
      {"compressed-tensors, FP4",
       {{"l.weight_packed", "U8", {24, 128}},
        {"l.weight_scale", "F8_E4M3", {24, 16}},
        {"l.weight_global_scale", "F32", {1}}},
       "compressed-tensors"},
  };
  return all;
}

TEST_CASE("inventory: a packed weight has its logical shape, and all beside it is bookkeeping") {
  for (const Packed& packed : packings()) {
    std::vector<NamedTensor> tensors = packed.tensors;
    tensors.push_back({"l.bias", "F16", {24}});
    const Opened opened(tensors);
    INFO(packed.what);
    REQUIRE(opened.inventory.weights.size() == 2);
    CHECK(opened.inventory.weights[0].name == "l.bias");
    CHECK(!opened.inventory.weights[0].quantized);
    const StoredWeight& weight = opened.inventory.weights[1];
    CHECK(weight.name == "l.weight");
    CHECK(weight.shape == packed.shape);
    CHECK(weight.parameters == elements_of(packed.shape));
    CHECK(weight.packing == packed.packing);
    CHECK(weight.quantized);
    CHECK(opened.inventory.quantization.size() == packed.tensors.size() - 1);

    const CheckpointSummary summary = summary_of(opened.checkpoint, opened.inventory);
    CHECK(summary.scales.tensors == static_cast<Int>(packed.tensors.size()) - 1);
    CHECK(summary.buffers.tensors == 0);
    REQUIRE(summary.dtypes.size() == 2);
    CHECK(summary.dtypes[0].tally.elements == weight.parameters);
  }
}

TEST_CASE("inventory: MXFP4 blocks of experts") {
  const Opened opened({{"e.gate_up_proj_blocks", "U8", {2, 48, 3, 16}},
                       {"e.gate_up_proj_scales", "U8", {2, 48, 3}},
                       {"e.gate_up_proj_bias", "BF16", {2, 48}}});
  REQUIRE(opened.inventory.weights.size() == 2);
  CHECK(opened.inventory.weights[0].name == "e.gate_up_proj");
  CHECK(opened.inventory.weights[0].shape == std::vector<Int>{2, 48, 96});
  CHECK(opened.inventory.quantization.size() == 1);
}

TEST_CASE("inventory: what shapes leave open is the config's, or an assumption") {
  const std::vector<NamedTensor> packed{{"l.weight_packed", "I32", {24, 64}}, {"l.weight_scale", "BF16", {24, 1}}};
  CHECK(Opened(packed, {.bits = 8}).inventory.weights[0].shape == std::vector<Int>{24, 256});
  CHECK(Opened(packed, {.bits = 8}).inventory.assumptions.empty());
  CHECK(Opened(packed).inventory.weights[0].shape == std::vector<Int>{24, 512});
  CHECK(Opened(packed).inventory.assumptions.size() == 1);

  const std::vector<NamedTensor> mlx{
      {"l.weight", "U32", {24, 64}}, {"l.scales", "F16", {24, 8}}, {"l.biases", "F16", {24, 8}}};
  CHECK(Opened(mlx, {.group = 32}).inventory.weights[0].shape == std::vector<Int>{24, 256});
  CHECK(Opened(mlx).inventory.weights[0].shape == std::vector<Int>{24, 512});
  CHECK(Opened(mlx).inventory.assumptions.size() == 1);
  // A norm's width settles the group of an embedding, and with it of all.
  std::vector<NamedTensor> with_embedding = mlx;
  for (const char* part : {"weight", "scales", "biases"}) {
    NamedTensor tensor = mlx[part[0] == 'w' ? 0 : 1];
    tensor.name = std::string("model.embed_tokens.") + part;
    with_embedding.push_back(tensor);
  }
  with_embedding.push_back({"model.norm.weight", "F16", {256}});
  const Opened settled(with_embedding);
  CHECK(settled.inventory.assumptions.empty());
  for (const StoredWeight& weight : settled.inventory.weights)
    if (weight.shape.size() == 2) CHECK(weight.shape == std::vector<Int>{24, 256});
  // So does that of a matrix in a layer.
  std::vector<NamedTensor> in_layer;
  for (NamedTensor tensor : mlx) {
    tensor.name.replace(0, 1, "model.layers.0.mlp.up_proj");
    in_layer.push_back(tensor);
  }
  in_layer.push_back({"model.layers.0.input_layernorm.weight", "F16", {256}});
  const Opened by_layer(in_layer);
  CHECK(by_layer.inventory.assumptions.empty());
  CHECK(by_layer.inventory.weights[1].shape == std::vector<Int>{24, 256});
}

TEST_CASE("inventory: bytes of four ternary weights, by their single scale, as an assumption") {
  const Opened opened({{"l.weight", "U8", {6, 256}}, {"l.weight_scale", "BF16", {1}}});
  REQUIRE(opened.inventory.weights.size() == 1);
  CHECK(opened.inventory.weights[0].shape == std::vector<Int>{24, 256});
  CHECK(opened.inventory.weights[0].packing == "BitNet");
  CHECK(opened.inventory.assumptions.size() == 1);
}

TEST_CASE("inventory: whole numbers that nothing explains are counted, and said to be; tables of places are buffers") {
  const Opened opened({{"l.codes", "U8", {4, 24, 64}},
                       {"l.W_q", "U8", {24, 128}},
                       {"l.steps", "I32", {3}},
                       {"gate.tid2eid", "I64", {10, 2}},
                       {"mask", "BOOL", {4, 4}}});
  std::vector<std::string> weights;
  for (const StoredWeight& weight : opened.inventory.weights)
    if (!weight.buffer) weights.push_back(weight.name);
  CHECK(weights == std::vector<std::string>{"l.W_q", "l.codes"});
  REQUIRE(opened.inventory.assumptions.size() == 2);
  CHECK(opened.inventory.assumptions[0].rule == "unknown-packing");
  CHECK(opened.inventory.assumptions[0].message.find("\"l.W_q\" U8 (24, 128)") != std::string::npos);
}

TEST_CASE("inventory: buffers by name") {
  const auto buffer = [](const std::string& name, std::vector<Int> shape) {
    return Opened({{name, "BF16", std::move(shape)}}).inventory.weights[0].buffer;
  };
  CHECK(buffer("model.layers.0.mlp.gate.e_score_correction_bias", {8}));
  CHECK(!buffer("model.layers.0.mlp.gate.moe_statics.e_score_correction_bias", {1, 8}));
  CHECK(buffer("model.layers.0.feed_forward.expert_bias", {8}));
  CHECK(buffer("model.layers.0.layer_scalar", {1}));
  CHECK(buffer("model.layers.0.mlp.act_fn.beta", {}));
  CHECK(buffer("encoder.layers.0.conv.batch_norm.running_var", {8}));
  CHECK(buffer("model.layers.0.self_attn.slope_rate", {8, 1, 1}));
  CHECK(buffer("final_logits_bias", {1, 8}));
  CHECK(!buffer("model.layers.0.mlp.act_fn.alpha_p", {1}));
  CHECK(!buffer("model.layers.0.mlp.router.bias", {8}));
}

TEST_CASE("inventory: parts that contradict each other are an error that names them") {
  const auto message = [](const std::vector<NamedTensor>& tensors) {
    const auto error = error_of([&] { Opened opened(tensors); });
    return error ? error->message : "";
  };
  CHECK(message({{"l.qweight", "I32", {256, 5}}, {"l.scales", "F16", {2, 24}}}) ==
        "tensors \"l.qweight\" (256, 5) and \"l.scales\" (2, 24) do not fit each other");
  CHECK(message({{"l.weight", "U32", {24, 5}}, {"l.scales", "F16", {24, 3}}}) ==
        "tensors \"l.weight\" (24, 5) and \"l.scales\" (24, 3) do not fit each other");
  CHECK(message({{"l.qweight", "I32", {4, 0}}, {"l.scales", "F16", {2, 0}}}) ==
        "tensors \"l.qweight\" (4, 0) and \"l.scales\" (2, 0) do not fit each other");
}

TEST_CASE("inventory: a name alone makes no bookkeeping") {
  const Opened opened({{"l.scales", "F32", {4}}, {"l.weight", "F32", {4, 4}}, {"m.weight_scale", "F32", {1}}});
  CHECK(opened.inventory.weights.size() == 3);
  CHECK(opened.inventory.quantization.empty());
}

TEST_CASE("stored model: layers and roles by name, buffers and prediction modules apart") {
  const Opened opened({{"model.embed_tokens.weight", "F32", {10, 4}},
                       {"model.layers.0.mlp.up_proj.weight", "F32", {8, 4}},
                       {"model.layers.1.mlp.up_proj.weight", "F32", {8, 4}},
                       {"model.layers.1.mlp.gate.weight", "F32", {2, 4}},
                       {"model.layers.3.self_attn.q_proj.weight", "F32", {4, 4}},
                       {"model.layers.3.self_attn.rotary_emb.inv_freq", "F32", {2}},
                       {"model.layers.4.eh_proj.weight", "F32", {4, 8}},
                       {"model.layers.4.enorm.weight", "F32", {4}},
                       {"x", "F32", {1, 2, 3, 4, 5}},
                       {"steps", "I64", {}}});
  const Count made = count(stored_model(opened.inventory));
  CHECK(of(made.roles, Role::embedding) == 40);
  CHECK(of(made.roles, Role::mlp) == 64);
  CHECK(of(made.roles, Role::router) == 8);
  CHECK(of(made.roles, Role::attention) == 16);
  CHECK(of(made.roles, Role::other) == 120);
  CHECK(made.total == 248);
  CHECK(made.mtp == 36);
  CHECK(made.buffers == 3);
  REQUIRE(made.layers.size() == 4);
  CHECK(made.layers[1].total == 40);
  CHECK(made.layers[2].total == 0);
  CHECK(made.layers[3].first == 3);
}

TEST_CASE("stored model: layers that hold the same are of one kind, wherever they stand") {
  std::vector<NamedTensor> tensors;
  for (const auto& [layer, width] : {std::pair{0, 4}, {1, 8}, {2, 4}, {3, 4}, {4, 8}, {5, 6}})
    tensors.push_back({format_text("layers.{}.mlp.up_proj.weight", layer), "F32", {width, 4}});
  tensors.push_back({"layers.6.mlp.down_proj.weight", "F32", {4, 4}});
  const Model model = stored_model(Opened(tensors).inventory);
  REQUIRE(model.stacks.size() == 1);
  const Stack& stack = model.stacks.front();
  CHECK(stack.kinds.size() == 4);
  std::vector<std::array<Int, 3>> spans;
  for (const Span& span : stack.spans) spans.push_back({span.first, span.count, static_cast<Int>(span.kind)});
  CHECK(spans == std::vector<std::array<Int, 3>>{{0, 1, 0}, {1, 1, 1}, {2, 2, 0}, {4, 1, 1}, {5, 1, 2}, {6, 1, 3}});
}

}  // namespace
}  // namespace lmsize
