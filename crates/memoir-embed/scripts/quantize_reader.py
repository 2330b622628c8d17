#!/usr/bin/env python3
"""Generate the built-in reader: trained weights with 8 bits.

    python3 -m venv venv && venv/bin/pip install numpy safetensors tokenizers
    venv/bin/python scripts/quantize_reader.py READER.safetensors...

Reads the 16-bit weights that `training/reader.py` writes, in any number of files. Writes them to `assets/` like those of
the encoder (`quantize.py`), with the checksums of all assets, and the scores that the reader computes in 32 bits for the
texts in `tests/reader.json` to that file.
"""
import json
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file, save_file
from tokenizers import BertWordPieceTokenizer

from quantize import ASSETS, HERE, pack, quantize, reference_states, write_checksums

CLS, SEP = 101, 102
TEXTS = HERE / "tests" / "reader.json"


def embeddings():
    """Return the embeddings of the built-in encoder in 32 bits."""
    encoder = load_file(ASSETS / "model.safetensors")
    words = "embeddings.word_embeddings.weight"
    scaled = encoder[words].astype(np.float32) * encoder[words + ".scale"][:, None]
    names = ("embeddings.positions", "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias")
    return {words: scaled} | {name: encoder[name] for name in names}


def reference_scores(tensors, tokenizer, text):
    """Compute the scores of the sentences of a text that fits into one window."""
    def ids_of(text):
        return tokenizer.encode(text, add_special_tokens=False).ids

    ids = [CLS] + ids_of(text["question"]) + [SEP]
    if text["earlier"]:
        ids += ids_of("earlier: " + text["earlier"]) + [SEP]
    ids += ids_of(" / ".join(part for part in (text["title"], text["before"]) if part)) + [SEP]
    spans = []
    for sentence in text["sentences"]:
        start = len(ids)
        ids += ids_of(sentence)
        spans.append((start, len(ids)))
        ids.append(SEP)
    states = reference_states(tensors, ids)
    head, bias = tensors["head.weight"], tensors["head.bias"][0]
    return [round(float(states[start:end].mean(0) @ head + bias), 3) for start, end in spans]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tensors = {}
    for path in sys.argv[1:]:
        tensors |= {name: tensor.astype(np.float32) for name, tensor in load_file(pathlib.Path(path)).items()}
    out = {}
    for name, tensor in tensors.items():
        out[name] = tensor
        if tensor.ndim == 2:
            quantized, out[name + ".scale"] = quantize(tensor)
            out[name + ".sum"] = quantized.astype(np.float32).sum(axis=1)
            out[name] = pack(quantized)
    save_file(out, ASSETS / "reader.safetensors")
    write_checksums()

    tokenizer = BertWordPieceTokenizer(str(ASSETS / "vocab.txt"), lowercase=True)
    texts = json.loads(TEXTS.read_text(encoding="utf-8"))
    for text in texts:
        text["scores"] = reference_scores(tensors | embeddings(), tokenizer, text)
    TEXTS.write_text(json.dumps(texts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
