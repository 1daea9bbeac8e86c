"""Bytes in flight: after step 07's Tries, the measured curve of Little's law with the Tries on it, and two sliders."""

import csv
import html
import json
import math
import re
from dataclasses import dataclass

from docutils import nodes

from book.contents import ROOT

PAGE = "step07_gridstride/README"
WORDS = ("Little's law: the bandwidth is the bytes in flight, divided by the latency of a load. The curve is the measured bandwidth "
         "of an H200 with this many bytes in flight on each SM (make loaded). The dots are this lesson and its Tries: whole reductions "
         "of 2^26 elements (make tries). They are below the curve, because they include the start and the trees.")
MIN_KIB, MAX_KIB, MAX_RATE, RATE_STEP = 0.5, 128, 5000, 1000  # the axes
LEFT, TOP, WIDTH, HEIGHT = 70, 30, 560, 290                       # their position
LOADS = (1, 2, 4, 8, 16)                                          # the slider's values
STEPS = 200                                                       # segments of the drawn curve


@dataclass(frozen=True)
class Measured:
    name: str
    loads: int      # in flight, of a thread
    threads: int    # of an SM
    bytes: int      # in flight on an SM
    rate: float     # GB/s of the whole reduction


def rows(name):
    with open(ROOT / "plots/h200" / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def curve():
    """(bytes in flight on an SM, GB/s), both increasing: each rate is the maximum up to it."""
    products = sorted((float(row["gb_per_s"]) * float(row["load_ns"]) / int(row["sm_count"]), float(row["gb_per_s"])) for row in rows("loaded.csv"))
    return [(product, max(rate for _, rate in products[:place + 1])) for place, (product, _) in enumerate(products)]


def rate_at(points, under_way):
    """GB/s with this many bytes in flight: interpolated linearly; after the last point, the peak."""
    for (left, low), (right, high) in zip(points, points[1:]):
        if under_way <= right:
            return low + (high - low) * (under_way - left) / (right - left)
    return points[-1][1]


def measured():
    """The lesson and those of its Tries whose loads the page counts: "Try 1: 2048 × 2 × 4 bytes = 16 KiB"."""
    text = (ROOT / f"{PAGE}.md").read_text(encoding="utf-8")
    counted = re.findall(r"(This step|Try \d|Here): (\d+)(?: threads)? × (\d+)(?: loads)? × (\d+) bytes = \d+ KiB", text)
    if [name for name, *_ in counted] != ["This step", "Here", "Try 1"]:
        raise ValueError(f"{PAGE}.md does not count the loads of this step and of Tries 1 and 2 as book/extensions/flight.py expects it")
    tries = {int(row["try"]): row for row in rows("tries.csv") if row["step"] == PAGE.split("/")[0]}
    found = []
    for name, threads, loads, width in counted:
        number = {"This step": 0, "Here": 2}.get(name) or int(name[-1] if name.startswith("Try") else 0)
        row = tries[number or 1]
        milliseconds = float(row["after_ms" if number else "before_ms"])
        found.append(Measured(f"Try {number}" if number else "as written", int(loads), int(threads), int(threads) * int(loads) * int(width),
                              int(row["elements"]) * int(width) / milliseconds / 1e6))
    return sorted(found, key=lambda one: (one.name != "as written", one.name))


# ---- The picture

def x_of(under_way):
    return LEFT + WIDTH * math.log2(max(under_way, 1) / (1024 * MIN_KIB)) / math.log2(MAX_KIB / MIN_KIB)


def y_of(rate):
    return TOP + HEIGHT * (1 - rate / MAX_RATE)


def text_at(x, y, words, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def axes():
    kib = [2 ** power for power in range(round(math.log2(MIN_KIB)), round(math.log2(MAX_KIB)) + 1)]
    across = "".join(f'<path class="grid" d="M{LEFT} {y_of(rate):.1f}h{WIDTH}"/>' + text_at(LEFT - 8, y_of(rate) + 4, f"{rate:,}", "end")
                     for rate in range(0, MAX_RATE + 1, RATE_STEP))
    below = "".join(text_at(x_of(1024 * each), TOP + HEIGHT + 20, f"{each:g}") for each in kib)
    return across + below + text_at(LEFT + WIDTH / 2, TOP + HEIGHT + 42, "bytes under way on each SM, KiB") + text_at(4, TOP - 15, "GB/s", "start")


def name_below(tries):
    """What dots at one place are called. The lesson's name begins at its dot: a phone's large letters would run into the one before."""
    x, y = x_of(tries[0].bytes), y_of(min(one.rate for one in tries)) + 24
    names = ", ".join(one.name for one in tries).replace(", Try", ",")
    return text_at(x - 6, y, names, "start") if tries[0].name == "as written" else text_at(x, y, names)


def drawn(points, tries):
    places = [1024 * MIN_KIB * (MAX_KIB / MIN_KIB) ** (step / STEPS) for step in range(STEPS + 1)]
    line = " ".join(f"{x_of(place):.1f},{y_of(rate_at(points, place)):.1f}" for place in places)
    loaded = "".join(f'<circle class="loaded" cx="{x_of(place):.1f}" cy="{y_of(rate):.1f}" r="2.5"/>' for place, rate in points[1:])
    dots = "".join(f'<circle class="try" cx="{x_of(one.bytes):.1f}" cy="{y_of(one.rate):.1f}" r="5"/>' for one in tries)
    names = "".join(name_below([one for one in tries if one.bytes == each]) for each in sorted({one.bytes for one in tries}))
    words = "Bandwidth against bytes under way: it rises with them up to about 20 KiB an SM, and is flat from there on. The table below has the Tries' numbers."
    return (f'<svg class="flight-chart" viewBox="0 0 {LEFT + WIDTH + 60} {TOP + HEIGHT + 50}" role="img" aria-label="{words}">{axes()}'
            f'<polyline class="curve" points="{line}"/>{loaded}{dots}{names}<circle class="mine" r="8" cx="0" cy="0" hidden=""/></svg>')


def slider(name, least, most, step, value):
    return (f'<label><span>{name}</span><input type="range" min="{least}" max="{most}" step="{step}" value="{value}"/><output></output></label>')


def sliders(threads, loads):
    """flight.js shows them, and says what they come to in the line below."""
    return (f'<div class="flight-choices" hidden>{slider("loads a thread has under way", 0, len(LOADS) - 1, 1, LOADS.index(loads))}'
            f'{slider("threads on an SM", 64, threads, 64, threads)}</div><p class="flight-says" role="status"></p>')


def table(points, tries):
    names = ("loads a thread", "threads an SM", "under way, KiB", "the curve, GB/s", "measured, GB/s")
    head = "".join(f'<th class="text-right">{name}</th>' for name in names)
    cells = [(one.name, (f"{one.loads}", f"{one.threads:,}", f"{one.bytes / 1024:g}", f"{rate_at(points, one.bytes):,.0f}", f"{one.rate:,.0f}")) for one in tries]
    lines = "".join(f"<tr><th>{name}</th>" + "".join(f'<td class="text-right">{value}</td>' for value in values) + "</tr>" for name, values in cells)
    return f'<div class="table-wrapper"><table class="docutils"><thead><tr><td></td>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def figure():
    points, tries, gpu = curve(), measured(), rows("limits.csv")[0]
    known = {"curve": points, "tries": [vars(one) for one in tries], "loads": LOADS, "bytes": tries[0].bytes // (tries[0].loads * tries[0].threads),
             "sms": int(gpu["sm_count"]), "axes": {"left": LEFT, "top": TOP, "width": WIDTH, "height": HEIGHT, "least": 1024 * MIN_KIB,
                                                   "most": 1024 * MAX_KIB, "rate": MAX_RATE}}
    return (f'<figure class="flight" data-known="{html.escape(json.dumps(known))}">{sliders(int(gpu["threads_per_sm"]), tries[0].loads)}{drawn(points, tries)}'
            f'</figure>\n{table(points, tries)}\n')


def place(app, doctree):
    if app.env.docname != PAGE:
        return
    for name in ("loaded.csv", "tries.csv", "limits.csv"):
        app.env.note_dependency(str(ROOT / "plots/h200" / name))
    for section in list(doctree.findall(nodes.section)):
        if "try" in section["ids"]:
            added = nodes.section("", nodes.title("", "How many bytes are in flight?"), nodes.paragraph("", WORDS),
                                   nodes.raw("", figure(), format="html"), ids=["bytes-in-flight"])
            section.parent.insert(section.parent.index(section) + 1, added)


def add_script(app, page, template, context, doctree):
    if page == PAGE:
        app.add_js_file("flight.js", loading_method="defer")


def setup(app):
    app.connect("doctree-read", place, priority=450)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
