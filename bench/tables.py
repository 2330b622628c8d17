#!/usr/bin/env python3
"""Rewrites the tables of docs/benchmarks.md, between `<!-- NAME -->` and `<!-- end -->`, from results/*.json."""
import re

import common
import peers
from growth import growth_ratio, measured_sizes
from plot import format_number
from vectors import OURS

SIZES = ("10000", "100000", "1000000")


def table(head, rows):
    ruler = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ruler, *rows])


def compare(value, ours, spec):
    """Formats a figure, followed by its ratio to Memoir's in parentheses."""
    return f"{value:{spec}} ({value / ours:.2f})" if value is not None and ours else "-" if value is None else f"{value:{spec}}"


def vectors():
    sizes, parts = common.load("vectors").get("sizes", {}), []
    head = ["", "p50 ms", "p99 ms", "CPU ms per query", "recall@10", "first query ms", "build s", "memory MB", "disk MB", "load"]
    for size in SIZES:
        results = sizes.get(size, {})
        ours = {} if "error" in results.get("Memoir, scan", {"error": ""}) else results["Memoir, scan"]
        rows = []
        for name in [*OURS, *peers.PEERS]:
            row = results.get(name, {"error": "not run"})
            title = f"{name} {row.get('version') or ''}".strip()
            if "error" in row:
                rows.append([title, row["error"].replace("|", "/")] + [""] * (len(head) - 2))
                continue
            rows.append([title, compare(row["p50_ms"], ours.get("p50_ms"), ".2f"), f"{row['p99_ms']:.1f}",
                         compare(row["cpu_ms"], ours.get("cpu_ms"), ".2f"), f"{row['recall']:.3f}",
                         f"{row['first_ms']:.0f}", compare(row["build_s"], ours.get("build_s"), ".1f"),
                         compare(row["search_rss_mb"], ours.get("search_rss_mb"), ".0f"),
                         compare(row["disk_bytes"] / 1e6, ours.get("disk_bytes", 0) / 1e6, ".0f"), f"{row['load_average']:.0f}"])
        body = table(head, rows) if results else "not run"
        parts.append(f"### {int(size):,} vectors\n\n{body}")
    return "\n\n".join(parts)


def quality():
    figures = common.load("quality").get("figures")
    if not figures:
        return "not run"
    ours = figures["Memoir, hybrid"]
    keys = list(ours)
    rows = [[name, *(f"{row[key]:.1f}" for key in keys), f"{row['R@10'] / ours['R@10']:.2f}"] for name, row in figures.items()]
    return table(["", *keys, "R@10 relative to Memoir"], rows)


def startup():
    figures = common.load("startup").get("figures")
    if not figures:
        return "not run"
    ours, rows = figures["Memoir"], []
    for action in ("prompt", "--version", "--help"):
        for name, row in figures.items():
            title = f"{action}: {name}"
            row = row if "error" in row else row[action]
            if "error" in row:
                rows.append([title, row["error"], "", "", ""])
                continue
            cells = (compare(row[key], ours[action].get(key), ".0f") for key in ("median_ms", "cpu_ms", "memory_mb"))
            rows.append([title, *cells, f"{row['worst_ms']:.0f}"])
    return table(["", "median ms", "CPU ms", "memory MB", "worst ms"], rows)


def commits():
    results = common.load("commits")
    if not results:
        return "not run"
    figures, rows = results["figures"], []
    for name, row in figures.items():
        cells = []
        for stored in ("0", "100000"):
            ours = figures["Memoir"][stored]
            cells += [compare(row[stored]["per_second"], ours["per_second"], ".0f"),
                      compare(row[stored]["fastest_ms"], ours["fastest_ms"], ".2f")]
        rows.append([name, *cells])
    sync = results["sync_of_the_disk"]
    rows.append(["a write of 4 KiB and its sync", f"{sync['per_second']:.0f}", f"{sync['fastest_ms']:.2f}", "", ""])
    return table(["", "commits per second, empty", "fastest ms, empty", "commits per second, 100,000 messages", "fastest ms, 100,000 messages"], rows)


def growth():
    figures = common.load("growth").get("figures")
    if not figures:
        return "not run"
    sizes, rows = measured_sizes(figures), []
    smallest, largest = sizes[0], sizes[-1]
    for name, row in figures.items():
        cells = ("-" if size not in row else f"{row[size]:.0f}" if name.endswith(" MB") else format_number(row[size]) for size in sizes)
        ratio = growth_ratio(row, smallest, largest)
        rows.append([name, *cells, "-" if ratio is None else format_number(ratio)])
    return table(["ms", *(f"{int(size):,} messages" for size in sizes), "growth"], rows)


def main():
    path = common.ROOT / "docs" / "benchmarks.md"
    text = path.read_text()
    for make_table in (vectors, quality, startup, commits, growth):
        text = re.sub(rf"(<!-- {make_table.__name__} -->\n).*?(<!-- end -->)",
                      lambda match: f"{match[1]}\n{make_table()}\n\n{match[2]}", text, flags=re.S)
    path.write_text(text)


if __name__ == "__main__":
    main()
