#!/usr/bin/env python3
"""Draws docs/bench-*.svg from results/*.json: bars in panels, readable on light and on dark."""
import html
import math

import common

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 15px; }
  .note { font-size: 12px; fill: #59636e; }
  .bar { fill: #8c959f; }
  .ours { fill: #0969da; }
  line { stroke: #8c959f; stroke-opacity: 0.5; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .note { fill: #9198a1; }
    .bar { fill: #6e7681; }
    .ours { fill: #4493f8; }
  }"""
WIDTH, NAMES, ROW, BARS = 800, 220, 24, 380


class Picture:
    """Lines of SVG from the top down."""

    def __init__(self, title, note):
        self.parts, self.height = [], 24
        self.text(12, self.height, title, "title")
        self.height += 20
        self.text(12, self.height, note, "note")
        self.height += 16

    def text(self, x, y, words, kind="", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y}" class="{kind}" text-anchor="{anchor}">{html.escape(words)}</text>')

    def panel(self, title, rows, logarithmic=False):
        """A bar for each (name, value, label); the value of one that has no figure is None, and its label says why."""
        values = [value for _, value, _ in rows if value]
        if not values:
            return
        # A tenth of the least, so that the shortest bar can be seen.
        low = math.floor(math.log10(min(values))) if logarithmic else 0
        high = math.log10(max(values)) if logarithmic else max(values)
        self.height += 20
        self.text(12, self.height, title, "title")
        self.height += 8
        top = self.height
        for name, value, label in rows:
            middle = self.height + ROW - 8
            self.text(NAMES - 8, middle, name, anchor="end")
            length = 0
            if value:
                placed = math.log10(value) if logarithmic else value
                length = max(2, BARS * (placed - low) / ((high - low) or 1))
                kind = "bar ours" if name.startswith("Memoir") else "bar"
                self.parts.append(f'<rect x="{NAMES}" y="{self.height + 3}" width="{length:.1f}" height="{ROW - 7}" rx="2" class="{kind}"/>')
            self.text(NAMES + length + 6, middle, label, "" if value else "note")
            self.height += ROW
        self.parts.append(f'<line x1="{NAMES}" y1="{top}" x2="{NAMES}" y2="{self.height}"/>')
        self.height += 6

    def save(self, name):
        height = self.height + 8
        body = "\n".join(self.parts)
        (common.ROOT / "docs" / f"bench-{name}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">\n'
            f"<style>{STYLE}\n</style>\n{body}\n</svg>\n")


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def vectors():
    sizes = common.load("vectors").get("sizes")
    if not sizes:
        return
    search = Picture("Ten nearest of 384-dimensional vectors: median time", "A logarithmic scale; shorter is better. Recall@10 beside it.")
    memory = Picture("Memory of the process that searches", "The most that it held, in MB; shorter is better. A Python process that has done nothing yet: about 30 MB.")
    for size, peers in sorted(sizes.items(), key=lambda item: int(item[0])):
        def rows(key, unit, more):
            for name, row in sorted(peers.items(), key=lambda item: item[1].get(key, math.inf)):
                missing = "error" in row
                yield name, None if missing else row[key], "not run" if missing else f"{number(row[key])} {unit}{more(row)}"
        search.panel(f"{int(size):,} vectors", list(rows("p50_ms", "ms", lambda row: f", recall {row['recall']:.3f}")), logarithmic=True)
        memory.panel(f"{int(size):,} vectors", list(rows("search_rss_mb", "MB", lambda row: "")))
    search.save("vectors")
    memory.save("memory")


def quality():
    figures = common.load("quality").get("figures")
    if figures:
        picture = Picture("Evidence found on LoCoMo: R@10", "Percent of a question's evidence among the first ten turns; longer is better.")
        picture.panel("1,018 questions", [(name, row["R@10"], f"{row['R@10']:.1f}") for name, row in figures.items()])
        picture.save("quality")


def startup():
    figures = common.load("startup").get("figures")
    if not figures:
        return
    picture = Picture("Start-up and memory of terminal agents", "Medians; shorter is better.")
    for what, title in (("prompt", "from start to a prompt"), ("--version", "--version")):
        for key, unit, of in (("median_ms", "ms", "time"), ("memory_mb", "MB", "memory")):
            rows = []
            for name, row in figures.items():
                row = row if "error" in row else row[what]
                value = row.get(key)
                rows.append((name, value, f"{number(value)} {unit}" if value else "not measured"))
            picture.panel(f"{title}: {of}", rows)
    picture.save("startup")


def commits():
    figures = common.load("commits").get("figures")
    if figures:
        picture = Picture("Exchanges committed a second", "Each in a transaction of its own that is on disk when it returns; longer is better.")
        for held in ("0", "100000"):
            rows = [(name, row[held]["per_second"], f"{number(row[held]['per_second'])}") for name, row in figures.items()]
            picture.panel(f"{int(held):,} messages held before", rows)
        picture.save("commits")


if __name__ == "__main__":
    vectors()
    quality()
    startup()
    commits()
