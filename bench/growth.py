#!/usr/bin/env python3
"""Measures how the cost of a turn's context, recall, startup and resume grows with the number of messages in memory.

    python growth.py [--sizes 1000,10000,100000,1000000]
    python growth.py --from-logs startup.log context.log scale.log

Runs the benchmarks `startup` of memoir-cli, `context` of memoir-agent and `scale` of memoir-recall, and parses their output, which
is saved as `growth-NAME.log` in the build directory, so nothing is lost if one of them fails.

`--from-logs` parses saved logs instead of running anything, so you can run one benchmark or one size at a time and append to the
same log. If a size was measured twice, the last figure counts. The date, machine and load in the results are those of the parsing.

    MEMOIR_BENCH_MESSAGES=1000,10000 cargo bench -p memoir-cli --bench startup >> startup.log
    cargo bench -p memoir-agent --bench context -- 1000 10000 >> context.log
    cargo bench -p memoir-recall --bench scale -- 1000 10000 >> scale.log

The databases are created in the temporary directory (TMPDIR). The vectors of a million messages alone take 1.2 GB.
"""
import argparse
import os
import pathlib
import re
import subprocess

import common

SIZES = "1000,10000,100000,1000000"
# Names in the output of `startup`.
TIMES = ("start to prompt", "/resume, list", "/resume, typing", "/resume ID, /history", "memoir search")
RESIDENT = "resident at the prompt, MB"
# Columns in the output of `context`.
CONTEXTS = ("context without recall", "context with recall", "context with recall and auto-RAG")
# Lines in the output of `scale`, as patterns.
RECALL = {r"  asking memory +([\d.]+) ms median": "asking memory, median",
          r"  asking memory .* ([\d.]+) ms at the 99th percentile": "asking memory, p99",
          r"  first question of a process +([\d.]+) ms": "first question of a process",
          r"  resident after that +([\d.]+) MB": "resident after asking, MB"}
# The order of the table: times, then memory.
NAMES = sorted([*CONTEXTS, *RECALL.values(), *TIMES, RESIDENT], key=lambda name: name.endswith(" MB"))


def parse_startup(output):
    """Yields the size, the name, and the median time or peak resident memory."""
    for size, name, figure in re.findall(r"^ *(\d+) messages  (\S.*?) +([\d.]+) (?:ms|MB)", output, re.M):
        if name in (*TIMES, "resident"):
            yield size, RESIDENT if name == "resident" else name, float(figure)


def parse_context(output):
    for size, *figures in re.findall(r"^ *(\d+)" + r" +([\d.]+) ms" * len(CONTEXTS) + "$", output, re.M):
        for name, figure in zip(CONTEXTS, figures):
            yield size, name, float(figure)


def parse_scale(output):
    """Yields the size, the name and the figure. The lines of a size follow its headline."""
    size = None
    for line in output.splitlines():
        if headline := re.match(r"(\d+) messages with vectors", line):
            size = headline[1]
        for pattern, name in RECALL.items():
            if match := re.match(pattern, line):
                yield size, name, float(match[1])


def run(sizes):
    """Runs the benchmarks and returns the paths of their logs."""
    variables = {**os.environ, "MEMOIR_BENCH_MESSAGES": ",".join(sizes)}
    logs = []
    for package, bench, arguments in (("memoir-cli", "startup", []), ("memoir-agent", "context", sizes),
                                      ("memoir-recall", "scale", sizes)):
        logs.append(common.target() / f"growth-{bench}.log")
        logs[-1].parent.mkdir(parents=True, exist_ok=True)
        with open(logs[-1], "w") as log:
            subprocess.run(["cargo", "bench", "-p", package, "--bench", bench, "--", *arguments], cwd=common.ROOT, env=variables,
                           check=True, stdout=log)
    return logs


def read(logs, sizes):
    """Returns the figures by name and size, smallest size first."""
    figures = {name: {} for name in NAMES}
    for parse, log in zip((parse_startup, parse_context, parse_scale), logs):
        rows = [row for row in parse(log.read_text()) if row[0] in sizes]
        if not rows:
            raise SystemExit(f"{log} has no figures for {', '.join(sizes)} messages.")
        for size, name, figure in rows:
            figures[name][size] = figure
    return {name: dict(sorted(row.items(), key=lambda item: int(item[0]))) for name, row in figures.items()}


def growth_ratio(row, smallest, largest):
    """Returns the figure at the largest size divided by that at the smallest."""
    return row[largest] / row[smallest] if row.get(smallest) and largest in row else None


def measured_sizes(figures):
    """Returns all sizes that have a figure, smallest first."""
    return sorted({size for row in figures.values() for size in row}, key=int)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--from-logs", nargs=3, type=pathlib.Path, metavar=("STARTUP", "CONTEXT", "SCALE"))
    options = parser.parse_args()
    sizes = [str(int(size)) for size in options.sizes.split(",")]
    figures = read(options.from_logs or run(sizes), sizes)
    common.save("growth", {"figures": figures})
    columns = measured_sizes(figures)
    print(f"{'messages':<34}{''.join(f'{int(size):>12,}' for size in columns)}{'x':>9}    ms")
    for name, row in figures.items():
        cells = "".join(f"{row[size]:>12.2f}" if size in row else f"{'-':>12}" for size in columns)
        ratio = growth_ratio(row, columns[0], columns[-1])
        print(f"{name:<34}{cells}{'-' if ratio is None else f'{ratio:.2f}':>9}")


if __name__ == "__main__":
    main()
