#!/usr/bin/env python3
"""Generate the model in `tests/tiny`, in the layout of Sentence Transformers, and the embeddings expected of it.

    python3 -m venv venv && venv/bin/pip install numpy safetensors tokenizers
    venv/bin/python scripts/tiny_model.py

The weights are random. Unlike the built-in model, it has heads of 64 dimensions, a cased vocabulary in
`tokenizer.json`, 16-bit weights, the first token as embedding, and prompts. `expected.json` has the embeddings that
plain 32-bit arithmetic computes, after the tokenizer of the package `tokenizers`.
"""
import json
import pathlib

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "tiny"
HIDDEN, HEADS, LAYERS, WIDE, POSITIONS = 128, 2, 1, 128, 24
WORDS = "[PAD] [UNK] [CLS] [SEP] the The key Key is under pot flower ##s blue Where where ? , . not red ##ish house my " \
        "query : passage é ##é caf café".split()
SENTENCES = ["Where is the key?", "The key is under the blue flower pot.", "my flowers, reddish", "café", "nothing known",
             "the " * 40]
PROMPTS = {"query": "query: ", "passage": "passage: "}


def main():
    random = np.random.default_rng(7)
    tensors = {}

    def tensor(name, *shape, scale=0.3):
        tensors[name] = random.normal(0, scale, shape).astype(np.float16)

    def norm(name):
        tensors[name + ".weight"] = random.normal(1, 0.1, HIDDEN).astype(np.float16)
        tensors[name + ".bias"] = random.normal(0, 0.1, HIDDEN).astype(np.float16)

    tensor("bert.embeddings.word_embeddings.weight", len(WORDS), HIDDEN)
    tensor("bert.embeddings.position_embeddings.weight", POSITIONS, HIDDEN, scale=0.1)
    tensor("bert.embeddings.token_type_embeddings.weight", 2, HIDDEN, scale=0.1)
    norm("bert.embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"bert.encoder.layer.{layer}."
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            tensor(name + part + ".weight", HIDDEN, HIDDEN, scale=0.12)
            tensor(name + part + ".bias", HIDDEN, scale=0.05)
        tensor(name + "intermediate.dense.weight", WIDE, HIDDEN, scale=0.12)
        tensor(name + "intermediate.dense.bias", WIDE, scale=0.05)
        tensor(name + "output.dense.weight", HIDDEN, WIDE, scale=0.12)
        tensor(name + "output.dense.bias", HIDDEN, scale=0.05)
        norm(name + "attention.output.LayerNorm")
        norm(name + "output.LayerNorm")

    vocabulary = {word: index for index, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "1_Pooling").mkdir(exist_ok=True)
    tokenizer.save(str(OUT / "tokenizer.json"), pretty=False)
    save_file(tensors, OUT / "model.safetensors")
    write("config.json", {
        "model_type": "bert", "hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
        "intermediate_size": WIDE, "max_position_embeddings": POSITIONS, "hidden_act": "gelu", "layer_norm_eps": 1e-5})
    write("1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    write("sentence_bert_config.json", {"max_seq_length": 20})
    write("config_sentence_transformers.json", {"prompts": PROMPTS})
    tokenizer.enable_truncation(20)
    expected = []
    for sentence in SENTENCES:
        for prompt in (PROMPTS["query"], PROMPTS["passage"]):
            ids = tokenizer.encode(prompt + sentence).ids
            first = states({name: value.astype(np.float32) for name, value in tensors.items()}, ids)[0]
            expected.append([round(float(value), 5) for value in first / np.linalg.norm(first)])
    write("expected.json", {"sentences": SENTENCES, "embeddings": expected})


def states(tensors, ids):
    def norm(x, name):
        centered = x - x.mean(1, keepdims=True)
        return centered / np.sqrt(x.var(1, keepdims=True) + 1e-5) * tensors[name + ".weight"] + tensors[name + ".bias"]

    def linear(x, name):
        return x @ tensors[name + ".weight"].T + tensors[name + ".bias"]

    def erf(x):
        from math import erf as scalar
        return np.vectorize(scalar)(x)

    name = "bert.embeddings."
    x = tensors[name + "word_embeddings.weight"][ids] + tensors[name + "position_embeddings.weight"][:len(ids)]
    x = norm(x + tensors[name + "token_type_embeddings.weight"][0], name + "LayerNorm")
    for layer in range(LAYERS):
        name = f"bert.encoder.layer.{layer}."
        query, key, value = (linear(x, name + "attention.self." + part).reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
                             for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(HIDDEN // HEADS)
        scores = np.exp(scores - scores.max(2, keepdims=True))
        mixed = (scores / scores.sum(2, keepdims=True)) @ value
        x = norm(x + linear(mixed.transpose(1, 0, 2).reshape(len(ids), HIDDEN), name + "attention.output.dense"),
                 name + "attention.output.LayerNorm")
        wide = linear(x, name + "intermediate.dense")
        wide = wide * 0.5 * (1 + erf(wide / np.sqrt(2)))
        x = norm(x + linear(wide, name + "output.dense"), name + "output.LayerNorm")
    return x


def write(name, value):
    (OUT / name).write_text(json.dumps(value) + "\n")


main()
