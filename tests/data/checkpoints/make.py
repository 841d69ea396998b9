#!/usr/bin/env python3
"""Makes headers.jsonl and gguf.jsonl beside it, from the reference library (transformers) and ggml's name map (gguf):

    make.py headers [FOLDER...]   tiny models as save_pretrained() writes them, and the checkpoints in FOLDERs
    make.py gguf                  what their tensors are called and how they lie in GGUF files

A line a model: {"name", "config", "files": [{tensor: [dtype, shape]}]}, in gguf.jsonl {"name", "architecture",
"config", "tensors": {name: shape, outermost side first}}."""
import json, pathlib, struct, sys, tempfile

HERE = pathlib.Path(__file__).parent
D = dict(vocab_size=61, hidden_size=24, intermediate_size=40, num_hidden_layers=3, num_attention_heads=4,
         num_key_value_heads=2, max_position_embeddings=32)
MODELS = {
    "gemma": ("GemmaConfig", dict(D, head_dim=8)),
    "gemma3": ("Gemma3TextConfig", dict(D, head_dim=8)),
    "qwen2_moe": ("Qwen2MoeConfig", dict(D, num_experts=4, moe_intermediate_size=12, shared_expert_intermediate_size=20)),
    "qwen3_moe": ("Qwen3MoeConfig", dict(D, head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12)),
    "deepseek_v2": ("DeepseekV2Config", dict(D, num_key_value_heads=4, n_routed_experts=4, num_experts_per_tok=2,
                    moe_intermediate_size=12, n_shared_experts=2, q_lora_rank=10, kv_lora_rank=6, qk_nope_head_dim=5,
                    qk_rope_head_dim=4, v_head_dim=7, first_k_dense_replace=1)),
    "granite": ("GraniteConfig", D), "cohere": ("CohereConfig", D), "phi": ("PhiConfig", D),
    "olmo2": ("Olmo2Config", D), "stablelm": ("StableLmConfig", D), "starcoder2": ("Starcoder2Config", D),
    "t5": ("T5Config", dict(vocab_size=61, d_model=24, d_kv=6, d_ff=40, num_layers=2, num_heads=4)),
    "bert": ("BertConfig", dict(D, num_key_value_heads=None)),
}
HEADS = {"t5": "AutoModelForSeq2SeqLM", "bert": "AutoModelForMaskedLM"}
KEEP_OUT = ("_id", "_token", "dropout", "initializer", "transformers_version", "use_cache", "dtype", "pretraining", "id2label", "label2id")


def header(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return {k: [v["dtype"], v["shape"]] for k, v in sorted(json.loads(file.read(length)).items()) if k != "__metadata__"}


def line(name, folder):
    config = json.loads((folder / "config.json").read_text())
    config = {k: v for k, v in config.items() if not any(word in k for word in KEEP_OUT)}
    files = [header(p) for p in sorted(folder.glob("model*.safetensors"))]
    return json.dumps({"name": name, "config": config, "files": files}, separators=(",", ":"))


def headers(folders):
    import transformers
    lines = [line(pathlib.Path(f).name, pathlib.Path(f)) for f in folders]
    for name, (config, sizes) in MODELS.items():
        made = getattr(transformers, config)(**{k: v for k, v in sizes.items() if v is not None})
        model = getattr(transformers, HEADS.get(name, "AutoModelForCausalLM")).from_config(made)
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            lines.append(line(name, pathlib.Path(folder)))
    (HERE / "headers.jsonl").write_text("\n".join(lines) + "\n")


ARCHITECTURES = {"llama": "llama", "mistral": "llama", "mixtral": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "gemma": "gemma",
                 "gemma2": "gemma2", "gemma3": "gemma3", "phi3": "phi3", "gpt2": "gpt2", "falcon": "falcon", "falcon_mqa": "falcon",
                 "gpt_oss": "gpt-oss", "deepseek_v2": "deepseek2", "deepseek_v3": "deepseek2", "qwen2_moe": "qwen2moe",
                 "qwen3_moe": "qwen3moe", "bloom": "bloom", "gpt_neox": "gptneox", "granite": "granite", "cohere": "command-r",
                 "olmo2": "olmo2", "starcoder2": "starcoder2", "stablelm": "stablelm", "phi": "phi2"}


def gguf():
    import gguf, re
    lines = []
    for text in (HERE / "headers.jsonl").read_text().splitlines():
        model = json.loads(text)
        if model["name"] not in ARCHITECTURES:
            continue
        config, name = model["config"], model["name"]
        arch = next(k for k, v in gguf.MODEL_ARCH_NAMES.items() if v == ARCHITECTURES[name])
        n = config.get("num_hidden_layers") or config.get("n_layer")
        names = gguf.get_tensor_name_map(arch, n)
        tensors, banks = {}, {}
        for tensor, (_, shape) in {k: v for f in model["files"] for k, v in f.items()}.items():
            if tensor.endswith("e_score_correction_bias"):  # as the converter renames it
                tensor = tensor.replace("e_score_correction_bias", "e_score_correction.bias")
            if tensor.endswith("sinks"):
                tensor += ".weight"
            bank = re.sub(r"\.experts\.\d+\.", ".experts.", tensor)
            if name == "gpt_oss" and ".experts." in tensor:  # split, turned and with the suffix apart
                stem, bias = tensor.removesuffix("_bias"), tensor.endswith("_bias")
                turned = shape if bias else [shape[0], shape[2], shape[1]]
                parts = [stem] if "down" in stem else [stem.replace("gate_up_proj", "gate_proj"), stem.replace("gate_up_proj", "up_proj")]
                for part in parts:
                    half = [turned[0], turned[1] // len(parts), *turned[2:]]
                    ours = names.get_name(part + ".weight", try_suffixes=(".weight",))
                    tensors[ours.removesuffix(".weight") + (".bias" if bias else ".weight")] = half
                continue
            if bank != tensor:
                banks[bank] = banks.get(bank, 0) + 1
                tensor, shape = bank, [banks[bank], *shape]
            spelt = [names.get_name(t, try_suffixes=(".weight", ".bias")) for t in (tensor, tensor.removeprefix("transformer."))]
            ours = spelt[0] or spelt[1]
            if ours is None:
                raise SystemExit(f"{name}: {tensor} has no name")
            if name == "gpt2" and re.search(r"(c_attn|c_proj|c_fc)\.weight$", tensor):
                shape = shape[::-1]
            tensors[ours] = shape
        lines.append(json.dumps({"name": name, "architecture": ARCHITECTURES[name], "config": config, "tensors": tensors}, separators=(",", ":")))
    (HERE / "gguf.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    {"headers": headers, "gguf": lambda _: gguf()}[sys.argv[1]](sys.argv[2:])
