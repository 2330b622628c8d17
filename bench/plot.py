#!/usr/bin/env python3
"""Draws docs/bench-*.svg from results/*.json, with colors for light and dark backgrounds."""
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
# Layout of a chart: its edges, its height, and the position and spacing of the curve names.
LEFT, RIGHT, HEIGHT, LABELS, SPACING = 90, 520, 300, 544, 18


class Picture:
    """An SVG that is drawn from top to bottom."""

    def __init__(self, title, note):
        self.parts, self.height = [], 24
        self.text(12, self.height, title, "title")
        self.height += 20
        self.text(12, self.height, note, "note")
        self.height += 16

    def text(self, x, y, words, kind="", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y}" class="{kind}" text-anchor="{anchor}">{html.escape(words)}</text>')

    def panel(self, title, rows, logarithmic=False):
        """Draws a bar for each (name, value, label). Without a figure, the value is None and the label gives the reason."""
        values = [value for _, value, _ in rows if value]
        if not values:
            return
        # Start at a power of ten below the smallest value, so that its bar is visible.
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
                position = math.log10(value) if logarithmic else value
                length = max(2, BARS * (position - low) / ((high - low) or 1))
                kind = "bar ours" if name.startswith("Memoir") else "bar"
                self.parts.append(f'<rect x="{NAMES}" y="{self.height + 3}" width="{length:.1f}" height="{ROW - 7}" rx="2" class="{kind}"/>')
            self.text(NAMES + length + 6, middle, label, "" if value else "note")
            self.height += ROW
        self.parts.append(f'<line x1="{NAMES}" y1="{top}" x2="{NAMES}" y2="{self.height}"/>')
        self.height += 6

    def line(self, x1, y1, x2, y2, kind=""):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def chart(self, curves, across):
        """Draws a labeled curve in milliseconds for each (name, {x: y}), and a dashed line for linear growth, on logarithmic axes."""
        low_x, high_x = decades([x for _, points in curves for x in points])
        # Both axes span the same number of decades; otherwise a small rise would look steep.
        low_y, high_y = decades([y for _, points in curves for y in points.values()], high_x - low_x)
        top, bottom = self.height + 16, self.height + 16 + HEIGHT

        def place(x, y):
            """Returns the coordinates of a point given as powers of ten."""
            return LEFT + (RIGHT - LEFT) * (x - low_x) / (high_x - low_x), bottom - HEIGHT * (y - low_y) / (high_y - low_y)

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
        for hue, (name, points) in enumerate(curves):
            places = [place(math.log10(x), math.log10(y)) for x, y in sorted(points.items())]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            self.parts.append(f'<polyline points="{path}" class="hue{hue} curve"/>')
            self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="hue{hue}"/>' for x, y in places]
            ends.append((*places[-1], f"{name}: {format_number(points[max(points)])} ms", f"hue{hue}"))
        self.label_curves(ends, bottom)
        self.height = bottom + 44

    def label_curves(self, ends, bottom):
        """Writes the names of curves next to their ends (x, y, name, kind), spaced to be legible, with a line to each end."""
        ends = sorted(ends, key=lambda end: end[1])
        lowest = bottom - (len(ends) - 1) * SPACING
        label_y = -math.inf
        for index, (x, y, name, kind) in enumerate(ends):
            label_y = max(label_y + SPACING, min(y, lowest + index * SPACING))
            self.line(x + 5, y, LABELS - 4, label_y, kind)
            self.text(LABELS, round(label_y + 4), name)

    def save(self, name):
        height = self.height + 8
        body = "\n".join(self.parts)
        (common.ROOT / "docs" / f"bench-{name}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">\n'
            f"<style>{STYLE}\n</style>\n{body}\n</svg>\n")


def format_number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def decades(values, minimum=1):
    """Returns the exponents of the powers of ten around all values, widened on both sides to span at least `minimum` decades."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    missing = max(0, minimum - (high - low))
    return low - missing // 2, high + missing - missing // 2


def vectors():
    sizes = common.load("vectors").get("sizes")
    if not sizes:
        return
    search = Picture("Ten nearest of 384-dimensional vectors: median time", "Logarithmic scale; shorter is better. Recall@10 is next to the time.")
    memory = Picture("Memory of the searching process", "Peak in MB; shorter is better. An idle Python process takes about 30 MB.")
    for size, peers in sorted(sizes.items(), key=lambda item: int(item[0])):
        def rows(key, unit, format_suffix):
            for name, row in sorted(peers.items(), key=lambda item: item[1].get(key, math.inf)):
                missing = "error" in row
                yield name, None if missing else row[key], "not run" if missing else f"{format_number(row[key])} {unit}{format_suffix(row)}"
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
    picture = Picture("Startup and memory of terminal agents", "Medians; shorter is better.")
    for action, title in (("prompt", "from start to a prompt"), ("--version", "--version")):
        for key, unit, quantity in (("median_ms", "ms", "time"), ("memory_mb", "MB", "memory")):
            rows = []
            for name, row in figures.items():
                row = row if "error" in row else row[action]
                value = row.get(key)
                rows.append((name, value, f"{format_number(value)} {unit}" if value else "not measured"))
            picture.panel(f"{title}: {quantity}", rows)
    picture.save("startup")


def commits():
    figures = common.load("commits").get("figures")
    if figures:
        picture = Picture("Exchanges committed per second", "Each in its own transaction that is on disk when it returns; longer is better.")
        for stored in ("0", "100000"):
            rows = [(name, row[stored]["per_second"], format_number(row[stored]["per_second"])) for name, row in figures.items()]
            picture.panel(f"{int(stored):,} messages stored", rows)
        picture.save("commits")


def growth():
    figures = common.load("growth").get("figures")
    if not figures:
        return
    picture = Picture("Cost of a turn, recall, startup and resume as memory grows",
                      "Medians on logarithmic scales; lower and flatter is better. The figures on the right are for the most messages.")
    names = ("context with recall", "asking memory, median", "start to prompt", "/resume, list", "/resume ID, /history")
    # A time of zero cannot be drawn on a logarithmic scale.
    curves = [(name, {int(size): value for size, value in figures[name].items() if value}) for name in names]
    picture.chart([(name, points) for name, points in curves if points], "messages in memory")
    picture.save("growth")


if __name__ == "__main__":
    vectors()
    quality()
    startup()
    commits()
    growth()
