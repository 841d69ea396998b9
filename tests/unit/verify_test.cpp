// Configs held against checkpoints: the reference library's own, and these with one thing wrong.
#include <algorithm>

#include "analysis/count.h"
#include "catch.h"
#include "checkpoint/compare.h"
#include "checkpoint_bytes.h"
#include "helpers.h"
#include "temporary.h"

namespace lmsize {
namespace {

using namespace test;

// Tensors in one file, whatever files they came from.
std::vector<NamedTensor> joined(const StoredModel& model) {
  std::vector<NamedTensor> all;
  for (const auto& file : model.files) all.insert(all.end(), file.begin(), file.end());
  return all;
}

Verification verify(const std::string& config, const std::string& file) {
  const Checkpoint checkpoint(file);
  return compare(count_json(config).model, checkpoint, inventory_of(checkpoint));
}

Verification verify(const std::string& config, const std::vector<NamedTensor>& tensors) {
  const TemporaryFolder folder;
  return verify(config, folder.write("model.safetensors", safetensors_bytes(tensors)));
}

const DifferenceGroup* find(const Verification& verification, DifferenceKind kind) {
  const auto at = std::ranges::find(verification.groups, kind, &DifferenceGroup::kind);
  return at == verification.groups.end() ? nullptr : &*at;
}

StoredModel model_called(const std::string& name) {
  for (StoredModel& model : stored_models("headers.jsonl"))
    if (model.name == name) return std::move(model);
  throw std::runtime_error("no such model: " + name);
}

TEST_CASE("verify: what the reference library stores is what its config counts") {
  std::size_t matches = 0;
  const auto models = stored_models("headers.jsonl");
  for (const StoredModel& model : models) {
    const TemporaryFolder folder;
    for (std::size_t i = 0; i < model.files.size(); ++i)
      folder.write(model.files.size() == 1 ? "model.safetensors"
                                           : format_text("model-{:05}-of-{:05}.safetensors", i + 1, model.files.size()),
                   safetensors_bytes(model.files[i]));
    const Verification verification = verify(model.config, folder.path(""));
    INFO(model.name);
    CHECK(!verification.has_faults());
    CHECK(verification.config_total == count_json(model.config).count.total);
    matches += verification.status() == "match" ? 1 : 0;
  }
  CHECK(models.size() == 36);
  CHECK(matches == 33);  // the others have buffers, or a tied head's copy
}

TEST_CASE("verify: GGUF files by the names and shapes that ggml's converter gives") {
  const auto models = stored_models("gguf.jsonl");
  for (const StoredModel& model : models) {
    const TemporaryFolder folder;
    const Verification verification =
        verify(model.config, folder.write("model.gguf", gguf_bytes(model.architecture, model.tensors)));
    INFO(model.name);
    CHECK(verification.status() == "match");
    CHECK(verification.config_total == count_json(model.config).count.total);
  }
  CHECK(models.size() >= 20);
}

TEST_CASE("verify: one tensor changed, removed or added is said exactly, whichever it is") {
  for (const char* name : {"llama", "gpt2", "mixtral"}) {
    const StoredModel model = model_called(name);
    const std::vector<NamedTensor> tensors = joined(model);
    const Int total = count_json(model.config).count.total;
    for (std::size_t i = 0; i < tensors.size(); i += 5) {
      INFO(name << " " << tensors[i].name);
      const Int parameters = elements_of(tensors[i].shape);

      std::vector<NamedTensor> fewer = tensors;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const Verification without = verify(model.config, fewer);
      REQUIRE(without.groups.size() == 1);
      CHECK(without.status() == "different");
      CHECK(without.groups[0].kind == DifferenceKind::missing);
      REQUIRE(without.groups[0].tensors.size() == 1);
      CHECK(without.groups[0].tensors[0].name == tensors[i].name);
      CHECK(without.groups[0].tensors[0].expected == tensors[i].shape);
      CHECK(!without.groups[0].tensors[0].stored);
      CHECK(without.difference == -parameters);
      CHECK(without.stored_total == total - parameters);

      std::vector<NamedTensor> changed = tensors;
      changed[i].shape.front() += 1;
      const Verification reshaped = verify(model.config, changed);
      REQUIRE(reshaped.groups.size() == 1);
      CHECK(reshaped.groups[0].kind == DifferenceKind::shape);
      REQUIRE(reshaped.groups[0].tensors.size() == 1);
      CHECK(reshaped.groups[0].tensors[0].name == tensors[i].name);
      CHECK(reshaped.groups[0].tensors[0].expected == tensors[i].shape);
      CHECK(reshaped.groups[0].tensors[0].stored == changed[i].shape);
      CHECK(reshaped.difference == elements_of(changed[i].shape) - parameters);

      std::vector<NamedTensor> more = tensors;
      more.push_back({tensors[i].name + ".again", "F32", {3, 7}});
      const Verification with = verify(model.config, more);
      REQUIRE(with.groups.size() == 1);
      CHECK(with.groups[0].kind == DifferenceKind::unexpected);
      CHECK(with.groups[0].tensors[0].name == tensors[i].name + ".again");
      CHECK(with.difference == 21);
    }
  }
}

TEST_CASE("verify: what explains itself is no fault") {
  const StoredModel tied = model_called("llama_tied");
  std::vector<NamedTensor> tensors = joined(tied);
  const auto embedding = std::ranges::find(tensors, "model.embed_tokens.weight", &NamedTensor::name);
  REQUIRE(embedding != tensors.end());
  const std::vector<Int> shape = embedding->shape;

  SECTION("a tied head's copy") {
    tensors.push_back({"lm_head.weight", "F32", shape});
    const Verification verification = verify(tied.config, tensors);
    CHECK(verification.status() == "explained");
    CHECK(find(verification, DifferenceKind::tied_stored)->parameters == elements_of(shape));
    CHECK(verification.difference == elements_of(shape));
  }
  SECTION("one of another shape is no copy") {
    tensors.push_back({"lm_head.weight", "F32", {shape[0] + 1, shape[1]}});
    CHECK(verify(tied.config, tensors).status() == "different");
  }
  SECTION("a tied embedding under the head's name alone") {
    embedding->name = "lm_head.weight";
    const Verification verification = verify(tied.config, tensors);
    CHECK(verification.status() == "explained");
    CHECK(find(verification, DifferenceKind::tied_absent)->tensors[0].name == "model.embed_tokens.weight");
    CHECK(verification.difference == 0);
  }
  SECTION("rotary tables and masks") {
    tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {4}});
    tensors.push_back({"model.layers.0.self_attn.bias", "BOOL", {1, 1, 8, 8}});
    const Verification verification = verify(tied.config, tensors);
    CHECK(verification.status() == "explained");
    CHECK(find(verification, DifferenceKind::buffer)->tensors.size() == 2);
    CHECK(verification.difference == 0);
  }
  SECTION("names without the base model's prefix, or under a wrapper's") {
    for (const std::string prefix : {"", "language_model.model."}) {
      std::vector<NamedTensor> renamed = tensors;
      for (NamedTensor& tensor : renamed) tensor.name.replace(0, 6, prefix);
      CHECK(verify(tied.config, renamed).status() == "match");
    }
  }
}

TEST_CASE("verify: an untied head that is not there is missing") {
  const StoredModel model = model_called("llama");
  std::vector<NamedTensor> tensors = joined(model);
  std::erase_if(tensors, [](const NamedTensor& t) { return t.name == "lm_head.weight"; });
  const Verification verification = verify(model.config, tensors);
  CHECK(verification.status() == "different");
  CHECK(find(verification, DifferenceKind::missing)->tensors[0].name == "lm_head.weight");
}

TEST_CASE("verify: prediction modules beside the model") {
  const StoredModel model = model_called("deepseek_v3");
  std::vector<NamedTensor> tensors = joined(model);
  const Counted counted = count_json(model.config);
  const std::string last = format_text("model.layers.{}.", counted.model.stacks.front().n_layers());
  const Int d = *counted.model.sizes.hidden_size;
  for (const char* name : {"enorm.weight", "hnorm.weight", "shared_head.norm.weight", "input_layernorm.weight"})
    tensors.push_back({last + name, "BF16", {d}});
  tensors.push_back({last + "eh_proj.weight", "BF16", {d, 2 * d}});
  std::string config = model.config;
  config.insert(1, "\"num_nextn_predict_layers\":1,");
  const Verification verification = verify(config, tensors);
  CHECK(verification.status() == "explained");
  CHECK(find(verification, DifferenceKind::mtp)->tensors.size() == 5);
  CHECK(verification.difference == 4 * d + 2 * d * d);
}

TEST_CASE("verify: experts stacked as MLX stores them, packed") {
  const StoredModel model = model_called("mixtral");
  const Counted counted = count_json(model.config);
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& tensor : joined(model)) {
    const std::size_t at = tensor.name.find(".experts.");
    if (at == std::string::npos)
      tensors.push_back(tensor);
    else if (tensor.name.substr(at + 9, 2) == "0.") {
      const std::string map = tensor.name.substr(at + 11, 2);
      const std::string name = map == "w1" ? "gate_proj" : map == "w3" ? "up_proj" : "down_proj";
      tensors.push_back({tensor.name.substr(0, at) + ".switch_mlp." + name + ".weight",
                         "BF16",
                         {8, tensor.shape[0], tensor.shape[1]}});
    }
  }
  const Verification verification = verify(model.config, tensors);
  CHECK(verification.status() == "match");
  CHECK(verification.stored_total == counted.count.total);
}

TEST_CASE("verify: packed weights are compared in their logical shapes") {
  const StoredModel model = model_called("llama");
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& tensor : joined(model)) {
    if (!tensor.name.ends_with("q_proj.weight")) {
      tensors.push_back(tensor);
      continue;
    }
    const std::string stem = tensor.name.substr(0, tensor.name.size() - 7);
    const Int out = tensor.shape[0], in = tensor.shape[1];
    tensors.push_back({stem + ".qweight", "I32", {in / 8, out}});
    tensors.push_back({stem + ".qzeros", "I32", {1, out / 8}});
    tensors.push_back({stem + ".scales", "F16", {1, out}});
  }
  const Verification verification = verify(model.config, tensors);
  CHECK(verification.status() == "explained");
  CHECK(verification.difference == 0);
  REQUIRE(verification.groups.size() == 1);
  CHECK(verification.groups[0].kind == DifferenceKind::quantization);
}

TEST_CASE("verify: GGUF's own ways") {
  const auto models = stored_models("gguf.jsonl");
  const auto called = [&](const std::string& name) { return *std::ranges::find(models, name, &StoredModel::name); };
  const TemporaryFolder folder;
  const auto verified = [&](const StoredModel& model) {
    return verify(model.config, folder.write("m.gguf", gguf_bytes(model.architecture, model.tensors)));
  };
  SECTION("rope frequencies are a buffer") {
    StoredModel model = called("llama");
    model.tensors["rope_freqs.weight"] = {4};
    CHECK(verified(model).status() == "explained");
  }
  SECTION("latent attention's kv_b, split and turned") {
    StoredModel model = called("deepseek_v2");
    for (Int i = 0; i < 3; ++i) {
      const std::string layer = format_text("blk.{}.", i);
      model.tensors.erase(layer + "attn_kv_b.weight");
      model.tensors[layer + "attn_k_b.weight"] = {4, 6, 5};
      model.tensors[layer + "attn_v_b.weight"] = {4, 7, 6};
    }
    const Verification verification = verified(model);
    CHECK(verification.status() == "match");
    CHECK(verification.difference == 0);
  }
  SECTION("experts one by one, as early converters stored them") {
    StoredModel model = called("mixtral");
    for (const std::string part : {"gate", "up", "down"})
      for (Int layer = 0; model.tensors.contains(format_text("blk.{}.ffn_{}_exps.weight", layer, part)); ++layer) {
        const std::string stem = format_text("blk.{}.ffn_{}", layer, part);
        const std::vector<Int> bank = model.tensors.at(stem + "_exps.weight");
        for (Int expert = 0; expert < bank[0]; ++expert)
          model.tensors[format_text("{}.{}.weight", stem, expert)] = {bank[1], bank[2]};
        model.tensors.erase(stem + "_exps.weight");
      }
    CHECK(verified(model).status() == "match");
    model.tensors.erase("blk.1.ffn_up.2.weight");
    const Verification lacking = verified(model);
    REQUIRE(lacking.groups.size() == 1);
    CHECK(lacking.groups[0].kind == DifferenceKind::missing);
    CHECK(lacking.groups[0].tensors[0].name == "blk.1.ffn_up.2.weight");
  }
  SECTION("a tensor too few, a tied output too many") {
    StoredModel model = called("gemma2");
    model.tensors.erase("blk.0.ffn_up.weight");
    model.tensors["output.weight"] = model.tensors.at("token_embd.weight");
    const Verification verification = verified(model);
    CHECK(verification.status() == "different");
    CHECK(find(verification, DifferenceKind::missing)->tensors[0].name == "blk.0.ffn_up.weight");
    CHECK(find(verification, DifferenceKind::tied_stored)->tensors.size() == 1);
  }
}

}  // namespace
}  // namespace lmsize
