#!/usr/bin/env python3
"""How the cost of a turn's context, of recall, of start-up and of resume grows with the messages in memory.

    python growth.py [--sizes 1000,10000,100000,1000000]
    python growth.py --from-logs startup.log context.log scale.log

Runs three benches of ours, `startup` of memoir-cli, `context` of memoir-agent and `scale` of memoir-recall, and reads what they
print. That is kept in the build folder as `growth-NAME.log` while they run, so that nothing is lost if one of them fails.

`--from-logs` reads such outputs instead of running anything, for a run in parts: of one bench at a time, or of one size at a time,
added to the end of the same file. Of a size that was measured twice, the last counts. The date, the machine and its load in the
results are those of the reading.

    MEMOIR_BENCH_MESSAGES=1000,10000 cargo bench -p memoir-cli --bench startup >> startup.log
    cargo bench -p memoir-agent --bench context -- 1000 10000 >> context.log
    cargo bench -p memoir-recall --bench scale -- 1000 10000 >> scale.log

Their databases are made in the system's temporary folder (TMPDIR); the vectors of a million messages alone are 1.2 GB.
"""
import argparse
import os
import pathlib
import re
import subprocess

import common

SIZES = "1000,10000,100000,1000000"
# As `startup` calls them.
WAITED_FOR = ("start to prompt", "/resume, list", "/resume, typing", "/resume ID, /history", "memoir search")
RESIDENT = "resident at the prompt, MB"
# The columns of `context`.
CONTEXTS = ("context without recall", "context with recall", "context with recall and auto-RAG")
# By how `scale` tells them.
ASKED = {r"  asking memory +([\d.]+) ms median": "asking memory, median",
         r"  asking memory .* ([\d.]+) ms at the 99th percentile": "asking memory, p99",
         r"  first question of a process +([\d.]+) ms": "first question of a process",
         r"  resident after that +([\d.]+) MB": "resident after asking, MB"}
# In the order of the table: times, then memory.
NAMES = sorted([*CONTEXTS, *ASKED.values(), *WAITED_FOR, RESIDENT], key=lambda name: name.endswith(" MB"))


def startup(said):
    """Medians, and the most that was resident, by size and name."""
    for size, what, figure in re.findall(r"^ *(\d+) messages  (\S.*?) +([\d.]+) (?:ms|MB)", said, re.M):
        if what in (*WAITED_FOR, "resident"):
            yield size, RESIDENT if what == "resident" else what, float(figure)


def context(said):
    for size, *figures in re.findall(r"^ *(\d+)" + r" +([\d.]+) ms" * len(CONTEXTS) + "$", said, re.M):
        for name, figure in zip(CONTEXTS, figures):
            yield size, name, float(figure)


def scale(said):
    """What follows the headline of a size belongs to it."""
    size = None
    for line in said.splitlines():
        if headline := re.match(r"(\d+) messages with vectors", line):
            size = headline[1]
        for pattern, name in ASKED.items():
            if found := re.match(pattern, line):
                yield size, name, float(found[1])


def run(sizes):
    """Runs the benches, and gives where what they said is kept."""
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
    """Figures by name and size, the smallest first."""
    figures = {name: {} for name in NAMES}
    for reader, log in zip((startup, context, scale), logs):
        told = [row for row in reader(log.read_text()) if row[0] in sizes]
        if not told:
            raise SystemExit(f"{log}: no figures of {', '.join(sizes)} messages by {reader.__name__}")
        for size, name, figure in told:
            figures[name][size] = figure
    return {name: dict(sorted(row.items(), key=lambda item: int(item[0]))) for name, row in figures.items()}


def grown(row, least, most):
    """How many times the figure of the fewest messages that of the most is."""
    return row[most] / row[least] if row.get(least) and most in row else None


def measured(figures):
    """All sizes that there is a figure of, the smallest first."""
    return sorted({size for row in figures.values() for size in row}, key=int)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--from-logs", nargs=3, type=pathlib.Path, metavar=("STARTUP", "CONTEXT", "SCALE"))
    asked = parser.parse_args()
    sizes = [str(int(size)) for size in asked.sizes.split(",")]
    figures = read(asked.from_logs or run(sizes), sizes)
    common.save("growth", {"figures": figures})
    columns = measured(figures)
    print(f"{'messages':<34}{''.join(f'{int(size):>12,}' for size in columns)}{'x':>9}    ms")
    for name, row in figures.items():
        cells = "".join(f"{row[size]:>12.2f}" if size in row else f"{'-':>12}" for size in columns)
        ratio = grown(row, columns[0], columns[-1])
        print(f"{name:<34}{cells}{'-' if ratio is None else f'{ratio:.2f}':>9}")


if __name__ == "__main__":
    main()
