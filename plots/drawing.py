"""An SVG by hand: boxes, lines and words in the colours of a light or a dark page, whichever the reader has."""

import os
from html import escape

from traced import LANES

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
WIDTH, LEFT, SPAN = 860, 66, 704  # of the picture; where panels begin, and how wide they are
MARGIN = 12                       # around it


def short(value):
    """A coordinate, without digits that nobody sees."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def count(number, what):
    """'1 block', '1,024 blocks', '2 launches'."""
    return f"{number:,} {what}{'' if number == 1 else 'es' if what.endswith('ch') else 's'}"


class Picture:
    """An SVG that grows downwards: y is how far it has come."""

    def __init__(self):
        self.parts, self.y, self.name = [], 0, ""

    def text(self, x, y, words, css=""):
        self.parts.append(f'<text x="{short(x)}" y="{short(y)}" class="{css}">{escape(words)}</text>')

    def boxes(self, css, boxes):
        """Rectangles (x, y, width, height), in one path; those that touch side by side become one."""
        merged = []
        for x, y, w, h in boxes:
            if merged and merged[-1][1::2] == [y, h] and abs(sum(merged[-1][::2]) - x) < 0.01:
                merged[-1][2] = x + w - merged[-1][0]
            else:
                merged.append([x, y, w, h])
        path = "".join(f"M{short(x)} {short(y)}h{short(w)}v{short(h)}h{short(-w)}z" for x, y, w, h in merged)
        self.parts.append(f'<path class="{css}" d="{path}"/>')

    def hatched(self, boxes):
        """Boxes of the same height, for what is there and does nothing."""
        self.boxes("faint", boxes)
        self.lines([(x + max(k, 0), y + h + min(k, 0), x + min(k + h, w), y + max(k + h - w, 0)) for x, y, w, h in boxes
                    for k in range(5 - h, int(w), 5)], "stripe")

    def lines(self, lines, css="line"):
        """Thin lines from (x, y) to (x, y), in one path."""
        path = "".join(f"M{short(a)} {short(b)}L{short(c)} {short(d)}" for a, b, c, d in lines)
        self.parts.append(f'<path class="{css}" d="{path}"/>')

    def label(self, y, words):
        """What a row shows, at its left."""
        self.text(LEFT - 8, y, words, "note end")

    def title(self, words):
        self.name = words
        self.y += 24
        self.text(0, self.y, words, "title")

    def head(self, one, words):
        """Which step a panel shows, and what of it."""
        self.y += 34
        self.text(0, self.y, f"step {one.number}, {one.name}", "step")
        self.text(170, self.y, words, "head")
        self.y += 14

    def chips(self, x, labels):
        """Labels (css, words) in boxes, one behind the other."""
        start = x
        for css, words in labels:
            wide = 6.7 * len(words) + 8
            if x + wide > WIDTH:
                x, self.y = start, self.y + 20
            self.boxes(css, [(x, self.y - 12, wide, 17)])
            self.text(x + 4, self.y, words, "code" if css == "faint" else "code on")
            x += wide + 3

    def legend(self, one, *entries, blocks=None, sizes=None):
        """What the colours mean, and what was run on the simulator."""
        self.y += 26
        self.colours(*entries)
        blocks, sizes = blocks or f"block {one.block}", sizes or f"{one.elements:,}"
        self.source(f"Drawn from what {blocks} did on the simulator, n = {sizes}.")

    def colours(self, *entries):
        """What the colours (css, words) mean; "hatched" is one of them."""
        x = 0
        for css, words in entries:
            box = (x, self.y - 10, 11, 11)
            self.hatched([box]) if css == "hatched" else self.boxes(css, [box])
            self.text(x + 16, self.y, words)
            x += 40 + 6.6 * len(words)

    def source(self, words):
        """What a picture was drawn from."""
        self.text(0, self.y + 20, words, "note")
        self.y += 28

    def svg(self):
        wide, high = WIDTH + 2 * MARGIN, self.y + MARGIN
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{short(high)}" '
                f'viewBox="{-MARGIN} 0 {wide} {short(high)}" role="img"><title>{escape(self.name)}</title>'
                f'<style>{STYLE}</style>\n' + "\n".join(self.parts) + "\n</svg>\n")


def columns(one, threads, y, high):
    """A box for each of these threads: all of the block side by side, a gap between warps."""
    gap = 2.5
    wide = (SPAN - gap * (one.warps - 1)) / (one.warps * LANES)
    return [(LEFT + thread * wide + thread // LANES * gap, y, wide, high) for thread in sorted(threads)]


def middle(one, thread):
    """Where the middle of a thread's column is."""
    (x, _, wide, _), = columns(one, [thread], 0, 0)
    return x + wide / 2


def save(svg, output):
    """Writes a picture whole, or not at all."""
    unfinished = output.with_name(f".{output.name}.{os.getpid()}")
    unfinished.write_text(svg)
    os.replace(unfinished, output)
    print(f"drawn: {output}")
