#!/usr/bin/env python3
"""Vector search beside its peers: the same vectors, the same questions, the same machine, one after the other.

    python vectors.py [--sizes 10000,100000] [--queries N] [--peers "NAME;..."] [--work FOLDER]

Every peer builds in one process and searches in another. Results go to results/vectors.json, beside what is there of
other sizes and peers, so that a long run can be done in parts.
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

DIMENSIONS, LIMIT, WARMING, BLOCK = 384, 10, 10, 10_000
OURS = {"Memoir, scan": "auto", "Memoir, graph": "ann"}


class Maker:
    """Made-up vectors of length one: a thousand clusters, the first ones larger, whose spread falls from axis to axis as
    that of real embeddings does, and all of it turned about at random, so that no axis means anything."""

    def __init__(self, seed=7):
        random = np.random.default_rng(seed)
        self.spread = (np.arange(1, DIMENSIONS + 1) ** -0.5).astype(np.float32)
        self.centres = random.standard_normal((1000, DIMENSIONS), np.float32) * self.spread
        share = 1 / np.arange(1, 1001) ** 0.5
        self.share = share / share.sum()
        self.turn = np.linalg.qr(random.standard_normal((DIMENSIONS, DIMENSIONS)))[0].astype(np.float32)

    def block(self, seed, count):
        random = np.random.default_rng(seed)
        centres = self.centres[random.choice(1000, count, p=self.share)]
        vectors = (centres + 0.7 * random.standard_normal((count, DIMENSIONS), np.float32) * self.spread) @ self.turn
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def blocks(path):
    vectors = np.memmap(path, np.float32, "r").reshape(-1, DIMENSIONS)
    for first in range(0, len(vectors), BLOCK):
        yield first, np.array(vectors[first:first + BLOCK])


def make(work, size, queries):
    """Writes the vectors and the questions, and gives the true ten nearest of each."""
    maker = Maker()
    asked = maker.block(1, queries + WARMING)
    asked.tofile(work / "queries.f32")
    best_scores = np.full((len(asked), LIMIT), -2, np.float32)
    best_ids = np.zeros((len(asked), LIMIT), np.int64)
    with open(work / "vectors.f32", "wb") as file:
        for first in range(0, size, BLOCK):
            block = maker.block(1000 + first, min(BLOCK, size - first))
            block.tofile(file)
            scores = np.hstack([best_scores, asked @ block.T])
            ids = np.hstack([best_ids, np.broadcast_to(np.arange(first, first + len(block)), (len(asked), len(block)))])
            order = np.argpartition(-scores, LIMIT, axis=1)[:, :LIMIT]
            best_scores, best_ids = np.take_along_axis(scores, order, 1), np.take_along_axis(ids, order, 1)
    return best_ids[WARMING:]


def peak():
    """The most that this process has held, in megabytes. `ru_maxrss` would count what started it too."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024


def step(name, what, work, folder):
    """One half of a peer's run, in a process of its own; prints JSON."""
    peer = peers.PEERS[name]()
    if what == "build":
        started = time.perf_counter()
        peer.build(blocks(work / "vectors.f32"), folder)
        return {"build_s": time.perf_counter() - started, "build_rss_mb": peak()}
    queries = np.fromfile(work / "queries.f32", np.float32).reshape(-1, DIMENSIONS)
    before = peak()
    started = time.perf_counter()
    peer.open(folder)
    peer.search(queries[0])
    first = time.perf_counter() - started
    for query in queries[1:WARMING]:
        peer.search(query)
    times, found, used = [], [], time.process_time()
    for query in queries[WARMING:]:
        started = time.perf_counter()
        ids = peer.search(query)
        times.append(1000 * (time.perf_counter() - started))
        found.append(ids)
    used = 1000 * (time.process_time() - used) / len(times)
    return {"first_ms": 1000 * first, "times_ms": times, "cpu_ms": used, "found": found, "search_rss_mb": peak(),
            "python_rss_mb": before}


def call(command, limit):
    """Runs a command and gives what its last line says."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {limit} s"}
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"ended with {done.returncode}").splitlines()[-1]
        return {"error": said[:200]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(name, work, truth, program, limit):
    folder = work / "peer"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if name in OURS:
        build = [program, "build", work / "vectors.f32", folder / "memoir.db"]
        search = [program, "search", work / "queries.f32", folder / "memoir.db", OURS[name]]
    else:
        build, search = ([sys.executable, __file__, "--step", name, what, work, folder] for what in ("build", "search"))
    figures = call(build, limit)
    if "error" not in figures:
        figures |= call(search, limit)
    if "error" not in figures:
        figures.setdefault("disk_bytes", 0)
        figures["disk_bytes"] = size_of(folder) - figures.pop("rows_bytes", 0)
        # The graph is made by the first search that wants it.
        figures["build_s"] += figures.pop("graph_s", None) or 0
        times, found = figures.pop("times_ms"), figures.pop("found")
        figures |= {"p50_ms": common.percentile(times, 0.5), "p99_ms": common.percentile(times, 0.99),
                    "recall": float(np.mean([len(set(a) & set(b)) / LIMIT for a, b in zip(found, truth.tolist())])),
                    "queries": len(times)}
    shutil.rmtree(folder)
    return figures


def show(size, results):
    ours = results.get("Memoir, scan", {})
    print(f"\n{size:,} vectors{'p50 ms':>27}{'x ours':>9}{'p99 ms':>9}{'cpu ms':>9}{'recall':>8}{'build s':>9}{'x ours':>9}"
          f"{'RSS MB':>8}{'x ours':>9}{'disk MB':>9}{'x ours':>9}")
    for name, row in results.items():
        if "error" in row:
            print(f"{name:<32}  {row['error']}")
            continue
        times = [common.ratio(row[key], ours.get(key)) for key in ("p50_ms", "build_s", "search_rss_mb", "disk_bytes")]
        print(f"{name:<32}{row['p50_ms']:>8.2f}{times[0]:>9}{row['p99_ms']:>9.2f}{row['cpu_ms']:>9.2f}{row['recall']:>8.3f}{row['build_s']:>9.1f}"
              f"{times[1]:>9}{row['search_rss_mb']:>8.0f}{times[2]:>9}{row['disk_bytes'] / 1e6:>9.0f}{times[3]:>9}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--queries", type=int, help="how many; 200 unless told, and 100 of a million vectors")
    parser.add_argument("--peers", help="names as in the table, separated by ';'; all by default")
    parser.add_argument("--work", help="a folder for vectors and databases: up to 2 GB and 4 GB at a million")
    parser.add_argument("--limit", type=int, default=1800, help="seconds that one half of a run may take")
    parser.add_argument("--step", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        name, what, work, folder = options.step
        print(json.dumps(step(name, what, pathlib.Path(work), pathlib.Path(folder))))
        return
    if "VECTORS" not in os.environ:
        common.cargo("build", "--release", "-p", "memoir-store-sqlite", "--example", "vectors", "--features", "fill")
    program = os.environ.get("VECTORS", common.target() / "release" / "examples" / "vectors")
    kept = common.load("vectors").get("sizes", {})
    names = options.peers.split(";") if options.peers else [*OURS, *peers.PEERS]
    for size in map(int, options.sizes.split(",")):
        results = kept.setdefault(str(size), {})
        with tempfile.TemporaryDirectory(dir=options.work) as work:
            work = pathlib.Path(work)
            print(f"{size:,}: making vectors and their true neighbours", file=sys.stderr, flush=True)
            truth = make(work, size, options.queries or (100 if size >= 1_000_000 else 200))
            for name in names:
                print(f"{size:,}: {name}", file=sys.stderr, flush=True)
                results[name] = measure(name, work, truth, program, options.limit)
                results[name]["version"] = None if name in OURS else peers.version(name)
                results[name]["load_average"] = round(os.getloadavg()[0], 1)
                common.save("vectors", {"sizes": kept})
        show(size, results)


if __name__ == "__main__":
    main()
