#!/usr/bin/env python3
"""Draws docs/bench-*.svg from results/*.json: bars in panels, and curves, readable on light and on dark."""
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
  .grid { stroke-opacity: 0.2; }
  .linear { stroke-opacity: 1; stroke-dasharray: 5 4; }
  .hue0 { stroke: #0969da; fill: #0969da; }
  .hue1 { stroke: #1a7f37; fill: #1a7f37; }
  .hue2 { stroke: #bc4c00; fill: #bc4c00; }
  .hue3 { stroke: #8250df; fill: #8250df; }
  .hue4 { stroke: #bf3989; fill: #bf3989; }
  polyline.curve { fill: none; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .note { fill: #9198a1; }
    .bar { fill: #6e7681; }
    .ours { fill: #4493f8; }
    .hue0 { stroke: #4493f8; fill: #4493f8; }
    .hue1 { stroke: #3fb950; fill: #3fb950; }
    .hue2 { stroke: #f0883e; fill: #f0883e; }
    .hue3 { stroke: #ab7df8; fill: #ab7df8; }
    .hue4 { stroke: #db61a2; fill: #db61a2; }
  }"""
WIDTH, NAMES, ROW, BARS = 800, 220, 24, 380
# Of a chart: its edges, its height, where the names of curves begin and how far apart they are.
LEFT, RIGHT, TALL, ENDS, LINE = 90, 520, 300, 544, 18


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

    def line(self, x1, y1, x2, y2, kind=""):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def chart(self, curves, across):
        """A curve in milliseconds for each (name, {x: y}), named at its end, and a dashed one for what is linear. Both axes are logarithmic."""
        low_x, high_x = decades([x for _, points in curves for x in points])
        # As many decades up as across, or a small rise would look steep.
        low_y, high_y = decades([y for _, points in curves for y in points.values()], high_x - low_x)
        top, bottom = self.height + 16, self.height + 16 + TALL

        def place(x, y):
            """Where decades are."""
            return LEFT + (RIGHT - LEFT) * (x - low_x) / (high_x - low_x), bottom - TALL * (y - low_y) / (high_y - low_y)

        for decade in range(low_x, high_x + 1):
            x, _ = place(decade, low_y)
            self.line(x, top, x, bottom, "grid")
            self.text(x, bottom + 18, f"{10**decade:,}", "note", "middle")
        for decade in range(low_y, high_y + 1):
            _, y = place(low_x, decade)
            self.line(LEFT, y, RIGHT, y, "grid")
            self.text(LEFT - 8, y + 4, f"{10**decade:,} ms" if decade >= 0 else f"{10**decade:g} ms", "note", "end")
        self.text((LEFT + RIGHT) / 2, bottom + 38, across, "note", "middle")
        x, y = place(high_x, low_y + high_x - low_x)
        self.line(LEFT, bottom, x, y, "linear")
        ends = [(x, y, "linear growth", "linear")]
        for nth, (name, points) in enumerate(curves):
            places = [place(math.log10(x), math.log10(y)) for x, y in sorted(points.items())]
            drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            self.parts.append(f'<polyline points="{drawn}" class="hue{nth} curve"/>')
            self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="hue{nth}"/>' for x, y in places]
            ends.append((*places[-1], f"{name}: {number(points[max(points)])} ms", f"hue{nth}"))
        self.names(ends, bottom)
        self.height = bottom + 44

    def names(self, ends, bottom):
        """Names beside the ends (x, y, name, kind) of curves, far enough apart to be read, each with a line to its own."""
        ends = sorted(ends, key=lambda end: end[1])
        lowest = bottom - (len(ends) - 1) * LINE
        above = -math.inf
        for nth, (x, y, name, kind) in enumerate(ends):
            above = max(above + LINE, min(y, lowest + nth * LINE))
            self.line(x + 5, y, ENDS - 4, above, kind)
            self.text(ENDS, round(above + 4), name)

    def save(self, name):
        height = self.height + 8
        body = "\n".join(self.parts)
        (common.ROOT / "docs" / f"bench-{name}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">\n'
            f"<style>{STYLE}\n</style>\n{body}\n</svg>\n")


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def decades(values, least=1):
    """The powers of ten that all values are between, and more on both sides until they are `least` apart."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    missing = max(0, least - (high - low))
    return low - missing // 2, high + missing - missing // 2


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


def growth():
    figures = common.load("growth").get("figures")
    if not figures:
        return
    picture = Picture("What a turn, recall, start-up and resume cost as memory grows",
                      "Medians; both scales are logarithmic; lower and flatter is better. At the right, the figure of the most messages.")
    names = ("context with recall", "asking memory, median", "start to prompt", "/resume, list", "/resume ID, /history")
    # Nothing that took no time can be placed on a logarithmic scale.
    curves = [(name, {int(size): value for size, value in figures[name].items() if value}) for name in names]
    picture.chart([(name, points) for name, points in curves if points], "messages in memory")
    picture.save("growth")


if __name__ == "__main__":
    vectors()
    quality()
    startup()
    commits()
    growth()
