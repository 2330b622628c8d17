#!/usr/bin/env python3
"""Compares vector search with its peers, one after the other, on the same vectors, queries and machine.

    python vectors.py [--sizes 10000,100000] [--queries N] [--peers "NAME;..."] [--work DIRECTORY]

Each peer builds its index in one process and searches it in another. Results are added to results/vectors.json, which keeps
those of other sizes and peers, so a long run can be split into parts.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import common
import peers

DIMENSIONS, LIMIT, WARMUP, BLOCK = 384, 10, 10, 10_000
OURS = {"Memoir, scan": "auto", "Memoir, graph": "ann"}


class Generator:
    """Generates unit vectors in a thousand clusters, the first ones larger. As with real embeddings, the variance falls from
    axis to axis. A random rotation hides the axes."""

    def __init__(self, seed=7):
        random = np.random.default_rng(seed)
        self.spread = (np.arange(1, DIMENSIONS + 1) ** -0.5).astype(np.float32)
        self.centers = random.standard_normal((1000, DIMENSIONS), np.float32) * self.spread
        share = 1 / np.arange(1, 1001) ** 0.5
        self.share = share / share.sum()
        self.rotation = np.linalg.qr(random.standard_normal((DIMENSIONS, DIMENSIONS)))[0].astype(np.float32)

    def block(self, seed, count):
        random = np.random.default_rng(seed)
        centers = self.centers[random.choice(1000, count, p=self.share)]
        vectors = (centers + 0.7 * random.standard_normal((count, DIMENSIONS), np.float32) * self.spread) @ self.rotation
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def read_blocks(path):
    vectors = np.memmap(path, np.float32, "r").reshape(-1, DIMENSIONS)
    for first in range(0, len(vectors), BLOCK):
        yield first, np.array(vectors[first:first + BLOCK])


def generate(work, size, queries):
    """Writes the vectors and the queries, and returns the true ten nearest of each query."""
    generator = Generator()
    query_vectors = generator.block(1, queries + WARMUP)
    query_vectors.tofile(work / "queries.f32")
    best_scores = np.full((len(query_vectors), LIMIT), -2, np.float32)
    best_ids = np.zeros((len(query_vectors), LIMIT), np.int64)
    with open(work / "vectors.f32", "wb") as file:
        for first in range(0, size, BLOCK):
            block = generator.block(1000 + first, min(BLOCK, size - first))
            block.tofile(file)
            scores = np.hstack([best_scores, query_vectors @ block.T])
            block_ids = np.broadcast_to(np.arange(first, first + len(block)), (len(query_vectors), len(block)))
            ids = np.hstack([best_ids, block_ids])
            order = np.argpartition(-scores, LIMIT, axis=1)[:, :LIMIT]
            best_scores, best_ids = np.take_along_axis(scores, order, 1), np.take_along_axis(ids, order, 1)
    return best_ids[WARMUP:]


def peak_megabytes():
    """Returns the peak memory of this process. `ru_maxrss` would include its parent's."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024


def run_step(name, action, work, directory):
    """Runs one half of a peer's benchmark, which has its own process, and returns the figures."""
    peer = peers.PEERS[name]()
    if action == "build":
        started = time.perf_counter()
        peer.build(read_blocks(work / "vectors.f32"), directory)
        return {"build_s": time.perf_counter() - started, "build_rss_mb": peak_megabytes()}
    queries = np.fromfile(work / "queries.f32", np.float32).reshape(-1, DIMENSIONS)
    before = peak_megabytes()
    started = time.perf_counter()
    peer.open(directory)
    peer.search(queries[0])
    first = time.perf_counter() - started
    for query in queries[1:WARMUP]:
        peer.search(query)
    times, matches, cpu_start = [], [], time.process_time()
    for query in queries[WARMUP:]:
        started = time.perf_counter()
        ids = peer.search(query)
        times.append(1000 * (time.perf_counter() - started))
        matches.append(ids)
    cpu = 1000 * (time.process_time() - cpu_start) / len(times)
    return {"first_ms": 1000 * first, "times_ms": times, "cpu_ms": cpu, "found": matches, "search_rss_mb": peak_megabytes(),
            "python_rss_mb": before}


def run_command(command, limit):
    """Runs a command and returns the JSON in its last line of output, or an error."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {limit} s"}
    if result.returncode:
        message = (result.stderr.strip() or result.stdout.strip() or f"exited with status {result.returncode}").splitlines()[-1]
        return {"error": message[:200]}
    return json.loads(result.stdout.strip().splitlines()[-1])


def disk_bytes(directory):
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def measure(name, work, truth, program, limit):
    directory = work / "peer"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    if name in OURS:
        build = [program, "build", work / "vectors.f32", directory / "memoir.db"]
        search = [program, "search", work / "queries.f32", directory / "memoir.db", OURS[name]]
    else:
        build, search = ([sys.executable, __file__, "--step", name, action, work, directory] for action in ("build", "search"))
    figures = run_command(build, limit)
    if "error" not in figures:
        figures |= run_command(search, limit)
    if "error" not in figures:
        figures.setdefault("disk_bytes", 0)
        figures["disk_bytes"] = disk_bytes(directory) - figures.pop("rows_bytes", 0)
        # The first search that needs the graph builds it.
        figures["build_s"] += figures.pop("graph_s", None) or 0
        times, matches = figures.pop("times_ms"), figures.pop("found")
        figures |= {"p50_ms": common.percentile(times, 0.5), "p99_ms": common.percentile(times, 0.99),
                    "recall": float(np.mean([len(set(a) & set(b)) / LIMIT for a, b in zip(matches, truth.tolist())])),
                    "queries": len(times)}
    shutil.rmtree(directory)
    return figures


def show(size, results):
    ours = results.get("Memoir, scan", {})
    print(f"\n{size:,} vectors{'p50 ms':>27}{'x ours':>9}{'p99 ms':>9}{'cpu ms':>9}{'recall':>8}{'build s':>9}{'x ours':>9}"
          f"{'RSS MB':>8}{'x ours':>9}{'disk MB':>9}{'x ours':>9}")
    for name, row in results.items():
        if "error" in row:
            print(f"{name:<32}  {row['error']}")
            continue
        ratios = [common.ratio(row[key], ours.get(key)) for key in ("p50_ms", "build_s", "search_rss_mb", "disk_bytes")]
        print(f"{name:<32}{row['p50_ms']:>8.2f}{ratios[0]:>9}{row['p99_ms']:>9.2f}{row['cpu_ms']:>9.2f}{row['recall']:>8.3f}{row['build_s']:>9.1f}"
              f"{ratios[1]:>9}{row['search_rss_mb']:>8.0f}{ratios[2]:>9}{row['disk_bytes'] / 1e6:>9.0f}{ratios[3]:>9}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--queries", type=int, help="number of queries; default: 200, or 100 for a million vectors")
    parser.add_argument("--peers", help="names from the table, separated by ';'; default: all")
    parser.add_argument("--work", help="directory for vectors and databases, which take up to 2 GB and 4 GB for a million vectors")
    parser.add_argument("--limit", type=int, default=1800, help="maximum seconds for building or searching")
    parser.add_argument("--step", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        name, action, work, directory = options.step
        print(json.dumps(run_step(name, action, pathlib.Path(work), pathlib.Path(directory))))
        return
    if "VECTORS" not in os.environ:
        common.cargo("build", "--release", "-p", "memoir-store-sqlite", "--example", "vectors", "--features", "fill")
    program = os.environ.get("VECTORS", common.target() / "release" / "examples" / "vectors")
    sizes = common.load("vectors").get("sizes", {})
    names = options.peers.split(";") if options.peers else [*OURS, *peers.PEERS]
    for size in map(int, options.sizes.split(",")):
        results = sizes.setdefault(str(size), {})
        with tempfile.TemporaryDirectory(dir=options.work) as work:
            work = pathlib.Path(work)
            print(f"{size:,}: generating vectors and their nearest neighbors", file=sys.stderr, flush=True)
            truth = generate(work, size, options.queries or (100 if size >= 1_000_000 else 200))
            for name in names:
                print(f"{size:,}: {name}", file=sys.stderr, flush=True)
                results[name] = measure(name, work, truth, program, options.limit)
                results[name]["version"] = None if name in OURS else peers.version(name)
                results[name]["load_average"] = round(os.getloadavg()[0], 1)
                common.save("vectors", {"sizes": sizes})
        show(size, results)


if __name__ == "__main__":
    main()
