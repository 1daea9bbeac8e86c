"""Writes SVG figures: boxes, lines and text, in colours for light and dark pages."""

from html import escape

from traced import LANES

from drywarp import files

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 } .head { font-size: 13px } .step { font-size: 13px; font-weight: 600 }
.note { font-size: 11px; fill: #59636e } .code { font: 11px ui-monospace, monospace }
.end { text-anchor: end } .mid { text-anchor: middle } .on { fill: #ffffff }
.work { fill: #0072b2 } .other { fill: #d55e00 } .third { fill: #00805d } .ink { fill: #1f2328 }
.idle { fill: #c4ccd4 } .faint { fill: #e4e9ee } .line { stroke: #0072b2; stroke-width: 0.7 }
.stripe { stroke: #8c959f; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
text, .ink { fill: #e6edf3 } .note { fill: #9198a1 } .on { fill: #0d1117 }
.work { fill: #56b4e9 } .other { fill: #e69f00 } .third { fill: #2fbf94 }
.idle { fill: #4d555e } .faint { fill: #21262d } .line { stroke: #56b4e9 }
.stripe { stroke: #6e7681 } }
"""
WIDTH, LEFT, SPAN = 860, 66, 704  # pixels: width of the figure, left edge and width of panels
MARGIN = 12                       # pixels around the figure


def short(value):
    """A coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def count(number, what):
    """'1 block', '1,024 blocks', '2 launches'."""
    return f"{number:,} {what}{'' if number == 1 else 'es' if what.endswith('ch') else 's'}"


class Picture:
    """An SVG that grows downwards; y is its current height."""

    def __init__(self):
        self.parts, self.y, self.name = [], 0, ""

    def text(self, x, y, words, css=""):
        self.parts.append(f'<text x="{short(x)}" y="{short(y)}" class="{css}">{escape(words)}</text>')

    def boxes(self, css, boxes):
        """Rectangles (x, y, width, height) in one path; horizontally adjacent ones are merged."""
        merged = []
        for x, y, w, h in boxes:
            if merged and merged[-1][1::2] == [y, h] and abs(sum(merged[-1][::2]) - x) < 0.01:
                merged[-1][2] = x + w - merged[-1][0]
            else:
                merged.append([x, y, w, h])
        path = "".join(f"M{short(x)} {short(y)}h{short(w)}v{short(h)}h{short(-w)}z" for x, y, w, h in merged)
        self.parts.append(f'<path class="{css}" d="{path}"/>')

    def hatched(self, boxes):
        """Hatched boxes of the same height, for idle time or idle blocks."""
        self.boxes("faint", boxes)
        self.lines([(x + max(k, 0), y + h + min(k, 0), x + min(k + h, w), y + max(k + h - w, 0)) for x, y, w, h in boxes
                    for k in range(5 - h, int(w), 5)], "stripe")

    def lines(self, lines, css="line"):
        """Thin lines (x, y, x, y) in one path."""
        path = "".join(f"M{short(a)} {short(b)}L{short(c)} {short(d)}" for a, b, c, d in lines)
        self.parts.append(f'<path class="{css}" d="{path}"/>')

    def label(self, y, words):
        """A row's label, at its left."""
        self.text(LEFT - 8, y, words, "note end")

    def title(self, words):
        self.name = words
        self.y += 24
        self.text(0, self.y, words, "title")

    def head(self, one, words):
        """A panel's heading: the step, and what the panel shows."""
        self.y += 34
        self.text(0, self.y, f"step {one.number}, {one.name}", "step")
        self.text(170, self.y, words, "head")
        self.y += 14

    def chips(self, x, labels):
        """Labels (css, words) in boxes, one after the other."""
        start = x
        for css, words in labels:
            wide = 6.7 * len(words) + 8
            if x + wide > WIDTH:
                x, self.y = start, self.y + 20
            self.boxes(css, [(x, self.y - 12, wide, 17)])
            self.text(x + 4, self.y, words, "code" if css == "faint" else "code on")
            x += wide + 3

    def legend(self, one, *entries, blocks=None, sizes=None):
        """The legend, and the simulator run that the figure shows."""
        self.y += 26
        self.colours(*entries)
        blocks, sizes = blocks or f"block {one.block}", sizes or f"{one.elements:,}"
        self.source(f"Source: trace of {blocks} on the simulator, n = {sizes}.")

    def colours(self, *entries):
        """A legend entry for each (css, words); css may be "hatched"."""
        x = 0
        for css, words in entries:
            box = (x, self.y - 10, 11, 11)
            self.hatched([box]) if css == "hatched" else self.boxes(css, [box])
            self.text(x + 16, self.y, words)
            x += 40 + 6.6 * len(words)

    def source(self, words):
        """The note that names the figure's source."""
        self.text(0, self.y + 20, words, "note")
        self.y += 28

    def svg(self):
        wide, high = WIDTH + 2 * MARGIN, self.y + MARGIN
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{short(high)}" '
                f'viewBox="{-MARGIN} 0 {wide} {short(high)}" role="img"><title>{escape(self.name)}</title>'
                f'<style>{STYLE}</style>\n' + "\n".join(self.parts) + "\n</svg>\n")


def columns(one, threads, y, high):
    """A box for each of these threads: the block's threads side by side, with a gap between warps."""
    gap = 2.5
    wide = (SPAN - gap * (one.warps - 1)) / (one.warps * LANES)
    return [(LEFT + thread * wide + thread // LANES * gap, y, wide, high) for thread in sorted(threads)]


def middle(one, thread):
    """The x coordinate of the middle of a thread's column."""
    (x, _, wide, _), = columns(one, [thread], 0, 0)
    return x + wide / 2


def save(svg, output):
    """Writes a figure atomically."""
    with files.whole(output) as file:
        file.write(svg)
    print(f"drawn: {output}")
