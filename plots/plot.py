#!/usr/bin/env python3
"""Draws the charts of a directory of results: bandwidth, time, time over n, and counters."""

import argparse
import csv
import io
import math
import re
import sys
from collections import namedtuple
from itertools import combinations
from pathlib import Path

try:
    import matplotlib
except ModuleNotFoundError:
    sys.exit("plot.py: this python3 has no matplotlib; make plots uses one with it")
matplotlib.use("Agg")
# White on dark pages, too, so that the black text stays readable.
matplotlib.rcParams.update({"svg.hashsalt": "reduction", "axes.spines.top": False, "figure.dpi": 120,
                            "axes.spines.right": False, "axes.titlelocation": "left",
                            "figure.facecolor": "white", "savefig.facecolor": "white", "figure.autolayout": True})
import matplotlib.pyplot as plt  # noqa: E402  (the backend has to be chosen first)

sys.path.append(str(Path(__file__).resolve().parents[1]))
import svg  # noqa: E402
from drywarp import errors, files  # noqa: E402

RUN_COLUMNS = "step,device,elements,launches,median_ms,min_ms,gb_per_s,peak_gb_per_s,status".split(",")
RUN_NUMBERS = ["elements", "launches", "median_ms", "min_ms", "gb_per_s", "peak_gb_per_s"]
QUARTILES = ["q1_ms", "q3_ms"]  # missing in older results
PROFILE_NUMBERS = ["elements", "warp_instructions", "shared_loads", "shared_stores", "active_lanes", "global_load_requests"]
SIMULATOR_NUMBERS = ["warp_instructions", "active_lanes_mean", "shared_loads", "shared_stores", "bank_conflicts",
                     "global_load_requests", "block_barriers"]
LOADED_NUMBERS = ["sm_count", "gb_per_s", "load_ns"]
TRY_NUMBERS = ["elements", "before_ms", "after_ms"]
COUNTED_NUMBERS = ["elements", "warp_instructions", "global_load_requests"]
SWEEP_COLUMNS = ["step", "cache", "device", "elements", "median_ms", "gb_per_s", "peak_gb_per_s", "status"]
SWEEP_NUMBERS = ["elements", "median_ms", "gb_per_s", "peak_gb_per_s"]
REFERENCE = "reference_cub"
MINE = "mine"  # the name that make mine gives a reader's own kernel
HARNESS_KERNEL = "prepare"  # launched by the harness, not by the reduction
# Okabe and Ito's colour-blind safe palette, without its yellow.
STEP_COLOUR, REFERENCE_COLOUR, MINE_COLOUR, GREY = "#0072b2", "#d55e00", "#009e73", "#b0b0b0"
LINE_COLOURS = ["#cc79a7", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#000000"]
# The last step with a plain tree, the last with an unrolled tree, and the last of the classic series.
TURNING_POINTS = ("step03_", "step06_", "step08_")
SPLIT = 2**20  # n: below, time is shown (launches, latency); above, GB/s
SMALL = 2**16  # elements in the panel below the bandwidths
# Sizes in points, for a page. A slide has larger sizes and one panel per figure.
SIZES = {"font.size": 11, "axes.titlesize": 12, "axes.linewidth": 0.8, "patch.linewidth": 1, "lines.markersize": 6,
         "xtick.major.size": 3.5, "ytick.major.size": 3.5, "xtick.major.width": 0.8, "ytick.major.width": 0.8}
Style = namedtuple("Style", "ending larger figure space formats")  # space: between a number and its unit
# Not all slide programs show SVG.
STYLES = {"page": Style("", 1, None, " ", ["svg"]), "projector": Style("-projector", 2, (16, 9), "\n", ["svg", "png"])}


def choose(name):
    """Sets the style of all charts drawn afterwards."""
    global style
    style = STYLES[name]
    matplotlib.rcParams.update({size: sized(on_page) for size, on_page in SIZES.items()})


def sized(on_page):
    """A size in points, scaled by the style."""
    return on_page * style.larger


choose("page")


def fail(path, what, line=None):
    errors.fail(f"{path}, line {line}: {what}" if line else f"{path}: {what}", status=1)


def read_rows(path, needed, numbers):
    """The rows of a CSV with at least the columns `needed`; those in `numbers`, and the quartiles, are floats."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        fail(path, f"cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}; make run-all writes it (on the simulator: counters.csv)")
    if len(lines) < 2:
        fail(path, "no rows under the header", len(lines) or 1)
    header = lines[0].split(",")
    missing = [name for name in needed if name not in header]
    if missing:
        fail(path, f"the header has no column {missing[0]}", 1)
    rows = []
    for line, fields in enumerate(csv.reader(lines[1:]), 2):
        if len(fields) != len(header):
            fail(path, f"{len(fields)} fields, the header has {len(header)}", line)
        row = dict(zip(header, fields))
        if row.get("status", "PASS") == "PASS":
            for name in [*numbers, *QUARTILES]:
                if name in row:
                    row[name] = positive(path, line, name, row[name])
            check_times(path, line, row)
        rows.append(row)
    return rows


def positive(path, line, name, text):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        fail(path, f"{name} is '{text}', expected a number from 0 on", line)
    return value


def check_times(path, line, row):
    """Rejects times of 0, which are divisors, and medians outside the interquartile range."""
    rising = [name for name in ("q1_ms", "median_ms", "q3_ms") if name in row]
    for name in rising:
        if row[name] == 0:
            fail(path, f"{name} is 0", line)
    for lower, upper in zip(rising, rising[1:]):
        if row[lower] > row[upper]:
            fail(path, f"{lower} is more than {upper}", line)


def read_runs(path):
    rows = read_rows(path, RUN_COLUMNS, RUN_NUMBERS)
    names = [row["step"] for row in rows]
    for line, name in enumerate(names, 2):
        if name in names[: line - 2]:
            fail(path, f"{name} appears twice", line)
    if not passed(rows):
        fail(path, "no step passed, so there is nothing to draw")
    return rows


def read_sweep(path):
    rows = read_rows(path, SWEEP_COLUMNS, SWEEP_NUMBERS)
    if not by_step(rows, "cold"):
        fail(path, "no step passed with a cold cache, so there is nothing to draw")
    return rows


def passed(rows):
    return [row for row in rows if row.get("status", "PASS") == "PASS"]  # older counter files have no status


def about(path, what):
    """A fact from the .txt that run-all writes with its CSV, such as date or elements."""
    text = path.with_suffix(".txt").read_text() if path.with_suffix(".txt").exists() else ""
    return text.partition(f"{what}: ")[2].partition("\n")[0] or f"{what} unknown"


def count(elements):
    exponent = int(elements).bit_length() - 1
    return f"$2^{{{exponent}}}$" if elements == 2**exponent else f"{int(elements):,}"


def named(step):
    """A step's name in text: 03 sequential."""
    return "CUB" if step == REFERENCE else step.removeprefix("step").replace("_", " ", 1)


def colour(step):
    return {REFERENCE: REFERENCE_COLOUR, MINE: MINE_COLOUR}.get(step, STEP_COLOUR)


def times(ratio):
    return f"{ratio:.2f}×" if ratio < 100 else f"{ratio:,.0f}×"


def duration(ms):
    """A time with a suitable unit: 2.46 s, 656 µs."""
    unit, value = next(((unit, ms * of) for unit, of in (("s", 1e-3), ("ms", 1)) if ms * of >= 1), ("µs", ms * 1e3))
    return f"{value:.3g} {unit}" if value < 99.95 else f"{value:,.0f} {unit}"


def short(value):
    """A number with two or three significant digits, or all digits before the point."""
    return f"{value:.2g}" if value < 10 else f"{value:.3g}" if value < 99.95 else f"{value:,.0f}"


def save(figure, directory, name):
    """Writes the formats of the style atomically."""
    for ending in style.formats:
        drawn = io.BytesIO()
        figure.savefig(drawn, format=ending, metadata={"Date": None} if ending == "svg" else None)
        with files.whole(Path(directory) / f"{name}{style.ending}.{ending}", "wb") as file:
            file.write(svg.stable(drawn.getvalue().decode()).encode() if ending == "svg" else drawn.getvalue())
    plt.close(figure)


def lay_out(panels, size, stacked=False, **shared):
    """The axes by panel, and the figures by the suffix of their file name. A page has one figure with all panels, a slide one per panel."""
    groups = {"": list(panels)}
    if style.figure:
        groups = {"-" + "-".join(re.match("[a-z ]+", panel)[0].split()): [panel] for panel in panels}
    grids, figures = {}, {}
    for addition, group in groups.items():
        shape = (len(group), 1) if stacked else (1, len(group))
        figures[addition], grid = plt.subplots(*shape, figsize=style.figure or size, squeeze=False, **shared)
        grids.update(zip(group, grid.flat))
    return grids, figures


def points_high(axes):
    """The height of the axes in points, after the layout."""
    axes.figure.draw_without_rendering()
    return axes.get_window_extent().height * 72 / axes.figure.dpi


def name_bars(axes, steps):
    """Writes the steps' names under their bars: horizontal if they fit, otherwise rotated."""
    axes.set_xlim(-0.6, len(steps) - 0.4)
    axes.tick_params(axis="x", length=0)
    for size in (9, 8):
        ticks = axes.set_xticks(range(len(steps)), ["\n".join(named(step).partition(" ")[::2]) for step in steps], fontsize=sized(size))
        axes.figure.draw_without_rendering()
        boxes = [tick.label1.get_window_extent() for tick in ticks]
        if all(left.x1 + 4 < right.x0 for left, right in zip(boxes, boxes[1:])):
            return
    axes.set_xticks(range(len(steps)), map(named, steps), fontsize=sized(9), rotation=30, ha="right", rotation_mode="anchor")


def draw_bars(axes, rows, column):
    """A bar for each step, CUB's in its own colour; a failed step has its status instead."""
    for x, row in enumerate(rows):
        if row["status"] == "PASS":
            axes.bar(x, row[column], width=0.7, color=colour(row["step"]))
        else:
            axes.text(x, 0.02, row["status"], ha="center", va="bottom", rotation=90, transform=axes.get_xaxis_transform())
    name_bars(axes, [row["step"] for row in rows])


def write_above(axes, x, top, words):
    return axes.annotate(words, (x, top), xytext=(0, sized(3)), textcoords="offset points", ha="center", va="bottom",
                         fontsize=sized(9.5))


def keep_apart(labels):
    """Shrinks the labels until none overlap. The bars' names must already be placed."""
    for size in (9.5, 9, 8.5, 8):
        for label in labels:
            label.set_fontsize(sized(size))
        boxes = [label.get_window_extent().padded(sized(1.5)) for label in labels]
        if not any(box.overlaps(other) for box, other in combinations(boxes, 2)):
            return


def write_title(axes, words):
    """Sets the title, with line breaks if it is wider than the figure."""
    title = axes.set_title(words)
    axes.figure.draw_without_rendering()
    while "; " in words and title.get_window_extent().x1 > axes.figure.bbox.x1:
        words = "\n".join(words.rsplit("; ", 1))
        title.set_text(words)


def gain(before, row):
    """A label line with the gain over the previous step; empty for CUB."""
    if before is None or before["status"] != "PASS" or row["step"] == REFERENCE:
        return ""
    return f"\n{times(before['median_ms'] / row['median_ms'])}"


def interquartile_range(row):
    """The interquartile range in GB/s; empty if the file has no quartiles."""
    return [row["gb_per_s"] * row["median_ms"] / row[name] for name in ("q3_ms", "q1_ms") if name in row]


def setting(row, path):
    return f"{row['device']}, n = {count(row['elements'])} floats, {about(path, 'date')}; ×: gain over the previous step"


def at_small(sweep):
    """The rows of a sweep at SMALL elements with a cold cache."""
    return [row for row in sweep or [] if row["elements"] == SMALL and row["cache"] == "cold"]


def draw_microseconds(axes, rows, empty_kernel_us):
    """The steps at a small n, where launches and latency dominate, without steps over 8 times slower than the fastest.

    empty_kernel_us: time of an empty kernel, or None."""
    good = passed(rows)
    best = min(good, key=lambda row: row["median_ms"])
    near = [row for row in good if row["median_ms"] < 8 * best["median_ms"]]
    absent = "".join(f"; {named(row['step'])}, not drawn: {1e3 * row['median_ms']:,.0f} µs" for row in good if row not in near)
    axes.set_ylabel("µs")
    axes.set_title(f"n = {count(SMALL)}: {named(best['step'])} is fastest, {1e3 * best['median_ms']:.2f} µs{absent}", fontsize=sized(11))
    axes.set_ylim(0, 1.25 * max(1e3 * row["median_ms"] for row in near))
    for x, (before, row) in enumerate(zip([None, *rows], rows)):
        if row in near:
            axes.bar(x, 1e3 * row["median_ms"], width=0.7, color=colour(row["step"]))
            write_above(axes, x, 1e3 * row["median_ms"], f"{1e3 * row['median_ms']:.2f}{gain(before if before in near else None, row)}")
    if empty_kernel_us:
        axes.axhline(empty_kernel_us, color="black", linewidth=sized(1))
        axes.annotate(f"an empty\nkernel\n{empty_kernel_us:.2f}", (1, empty_kernel_us), xycoords=("axes fraction", "data"), xytext=(sized(4), 0), textcoords="offset points",
                      va="center", fontsize=sized(9.5))
    axes.set_xlim(-0.6, len(rows) - 0.4)
    axes.set_xticks(range(len(rows)), [named(row["step"]).partition(" ")[0] for row in rows], fontsize=sized(9))
    axes.tick_params(axis="x", length=0)


def draw_bandwidth(rows, path, unit="GB/s of input", does="reads", small=None, empty_kernel_us=None):
    """GB/s of each step; on a page also the times at a small n, if those rows are given."""
    good = passed(rows)
    best, peak = max(good, key=lambda row: row["gb_per_s"]), good[0]["peak_gb_per_s"]
    if small and not style.figure:
        figure, (axes, below) = plt.subplots(2, figsize=(12, 8.4), height_ratios=(5, 3))
        draw_microseconds(below, small, empty_kernel_us)
    else:
        figure, axes = plt.subplots(figsize=style.figure or (12, 5.4))
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_ylabel(unit)
    of_peak = f", {100 * best['gb_per_s'] / peak:.0f} % of the theoretical peak" if peak else ""
    error_bars = "; error bars: interquartile range" if interquartile_range(best) else ""
    write_title(axes, f"{named(best['step'])} {does} fastest: {short(best['gb_per_s'])} GB/s{of_peak}\n"
                      f"{setting(best, path)}{error_bars}")
    axes.set_ylim(0, 1.16 * max(peak, best["gb_per_s"]))
    if peak:
        axes.axhline(peak, color="black", linewidth=sized(1))
        axes.annotate(f"peak\n{peak:,.0f}", (1, peak), xycoords=("axes fraction", "data"), xytext=(sized(4), 0),
                      textcoords="offset points", va="center", fontsize=sized(9.5))
    draw_bars(axes, rows, "gb_per_s")
    line_height = sized(16) * axes.get_ylim()[1] / points_high(axes)
    above = []
    for x, (before, row) in enumerate(zip([None, *rows], rows)):
        if row["status"] != "PASS":
            continue
        spread = interquartile_range(row)
        if spread:
            axes.vlines(x, *spread, color="black", linewidth=sized(1))
        above.append((x, max([row["gb_per_s"], *spread]), short(row["gb_per_s"]) + gain(before, row)))
    if any(top < peak < top + line_height * len(words.splitlines()) for _, top, words in above):  # a label would cross the peak's line:
        above = [(x, max(top, peak) if top > 0.75 * peak else top, words) for x, top, words in above]  # put it and its neighbours above the line
    keep_apart([write_above(axes, *each) for each in above])
    save(figure, path.parent, "bandwidth")


def draw_time(rows, path):
    fastest, *_, slowest = sorted(passed(rows), key=lambda row: row["median_ms"]) * 2
    figure, axes = plt.subplots(figsize=style.figure or (12, 5.4))
    axes.set_yscale("log")
    bottom = 10 ** math.floor(math.log10(fastest["median_ms"] / 2))
    axes.set_ylim(bottom, slowest["median_ms"] * (slowest["median_ms"] / bottom) ** 0.16)
    draw_bars(axes, rows, "median_ms")
    labels = [write_above(axes, x, row["median_ms"], duration(row["median_ms"]).replace(" ", style.space) + gain(before, row))
              for x, (before, row) in enumerate(zip([None, *rows], rows)) if row["status"] == "PASS"]
    keep_apart(labels)
    axes.yaxis.set_major_formatter(lambda ms, _: duration(ms))
    axes.yaxis.set_minor_formatter(lambda ms, _: "")
    axes.set_ylabel("median time, logarithmic")
    write_title(axes, f"One sum takes from {duration(slowest['median_ms'])} ({named(slowest['step'])}) down to "
                      f"{duration(fastest['median_ms'])} ({named(fastest['step'])})\n{setting(fastest, path)}")
    save(figure, path.parent, "time")


def first_passes(rows):
    """Each step's first row of the reduction itself."""
    first = {}
    for row in passed(rows):
        if row["kernel"] != HARNESS_KERNEL:
            first.setdefault(row["step"], row)
    return list(first.values())


def small_multiples(first, panels, heading, path, name):
    """Stacked panels, one for each counter with a nonzero value."""
    panels = {panel: values for panel, values in panels.items() if any(values)}
    if not panels:
        fail(path, "all counters are 0, so there is nothing to draw")
    grid, figures = lay_out(panels, (12, 1.2 + 1.8 * len(panels)), stacked=True, sharex=True)
    labels = {}
    for panel, values in panels.items():
        axes = grid[panel]
        axes.bar(range(len(first)), values, color=[colour(row["step"]) for row in first], width=0.7)
        labels[axes] = [write_above(axes, x, value, short(value)) for x, value in enumerate(values)]
        axes.set_ylim(0, 1.25 * max(values))
        axes.set_title(panel, fontsize=sized(11))
        axes.tick_params(axis="x", length=0)
        axes.yaxis.set_major_formatter("{x:,.10g}")
    for addition, figure in figures.items():
        name_bars(figure.axes[-1], [row["step"] for row in first])
        figure.suptitle(heading, x=0.01, ha="left", fontsize=sized(12))
        for axes in figure.axes:
            keep_apart(labels[axes])
        save(figure, path.parent, name + addition)


def draw_profile(rows, path, device):
    first = first_passes(rows)
    panels = {
        "warp instructions, millions": [row["warp_instructions"] / 1e6 for row in first],
        "shared loads and stores, thousands": [(row["shared_loads"] + row["shared_stores"]) / 1e3 for row in first],
        "active lanes per instruction, of 32": [row["active_lanes"] for row in first],
        "global load requests, thousands": [row["global_load_requests"] / 1e3 for row in first],
    }
    heading = "Nsight Compute's counters in the first pass of each step"
    small_multiples(first, panels, f"{heading}\n{device}, n = {count(rows[0]['elements'])} floats, {about(path, 'date')}",
                    path, "counters")


def draw_simulated(rows, path):
    first = first_passes(rows)
    panels = {
        "warp instructions (PTX), thousands": [row["warp_instructions"] / 1e3 for row in first],
        "active lanes per instruction, of 32": [row["active_lanes_mean"] for row in first],
        "shared loads and stores, thousands": [(row["shared_loads"] + row["shared_stores"]) / 1e3 for row in first],
        "bank conflicts, thousands": [row["bank_conflicts"] / 1e3 for row in first],
        "global load requests, thousands": [row["global_load_requests"] / 1e3 for row in first],
        "barriers, counted per warp, thousands": [row["block_barriers"] / 1e3 for row in first],
    }
    elements = about(path, "elements")
    n = f"n = {count(int(elements))} floats" if elements.isdigit() else "n unknown"
    small_multiples(first, panels, f"The simulator's counters in the first pass of each step\n{n}, {about(path, 'date')}",
                    path, "simulated")


def by_step(rows, cache):
    """The rows of each step over n, for one state of the cache, in the order of the steps."""
    points = {}
    for row in sorted(passed(rows), key=lambda row: (row["step"] == REFERENCE, row["step"], row["elements"])):
        if row["cache"] == cache:
            points.setdefault(row["step"], []).append(row)
    return points


def spread_out(levels, gap):
    """Moves ascending levels minimally, so that neighbours are at least `gap` apart. Overlapping levels are grouped around their mean."""
    groups = []  # [middle, number of levels]
    for level in levels:
        groups.append([level, 1])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < gap * (groups[-1][1] + groups[-2][1]) / 2:
            middle, number = groups.pop()
            below, others = groups[-1]
            groups[-1] = [(middle * number + below * others) / (number + others), number + others]
    return [middle + gap * (k - (number - 1) / 2) for middle, number in groups for k in range(number)]


def label_ends(axes, ends, numbers):
    """Names lines at the right of the axes, with a leader from each last point; numbers the grey ones if there is room.

    ends: (n, value, words, colour); numbers: (n, value, words)."""
    gap = sized(12.5) / points_high(axes)
    to_axes = axes.transData + axes.transAxes.inverted()
    placed = sorted((to_axes.transform(end[:2])[1], *end) for end in ends)
    levels = spread_out([level for level, *_ in placed], gap)
    for level, (_, n, value, words, line_colour) in zip(levels, placed):
        axes.annotate(words, (n, value), xytext=(1.08, level), textcoords="axes fraction", va="center", fontsize=sized(9.5),
                      arrowprops={"arrowstyle": "-", "color": line_colour, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)})
    for n, value, words in numbers:
        level = to_axes.transform((n, value))[1]
        if all(abs(level - other) >= gap for other in levels):
            levels.append(level)
            axes.annotate(words, (1, level), xycoords="axes fraction", xytext=(sized(4), 0), textcoords="offset points",
                          va="center", fontsize=sized(9), color="#606060")


def draw_lines(axes, lines, colours):
    """Lines of (n, value) over n: coloured ones are named at their ends, the others are grey and numbered."""
    last = max(n for line in lines.values() for n, _ in line)
    ends, numbers = [], []
    for step, line in lines.items():
        if step in colours:
            axes.plot(*zip(*line), marker=".", color=colours[step], linewidth=sized(2), zorder=3)
            ends.append((*line[-1], named(step), colours[step]))
        else:
            axes.plot(*zip(*line), color=GREY, linewidth=sized(0.9))
            if line[-1][0] == last:
                numbers.append((*line[-1], named(step).partition(" ")[0]))
    axes.set_xscale("log", base=2)
    axes.tick_params(axis="x", labelsize=sized(12))
    axes.set_xlabel("n, floats")
    axes.margins(x=0.01)
    return ends, numbers


def worth_a_colour(points, fastest):
    """The fastest steps at small and at large n, the last three and the turning points, up to the number of colours."""
    steps = [step for step in points if step != REFERENCE]
    turning = [step for step in steps if step.startswith(TURNING_POINTS)]
    return [step for step in dict.fromkeys([*fastest, *steps[-3:], *turning]) if step in steps][:len(LINE_COLOURS)]


def coloured(steps):
    """A colour for each step and for CUB. Colours are assigned from the last step on, so that it has the same one in every chart."""
    return dict(zip(sorted(set(steps) - {MINE}, reverse=True), reversed(LINE_COLOURS))) | {
        step: colour(step) for step in (REFERENCE, MINE) if step in (REFERENCE, *steps)}


def most_wins(points, sizes):
    """The step (or CUB) that is the fastest at the most sizes, and the number of these sizes."""
    winners = [min((row["median_ms"], row["step"]) for line in points.values() for row in line if row["elements"] == n)[1]
               for n in sizes]
    winner = max(winners, key=winners.count)
    return winner, winners.count(winner)


def draw_small(axes, points, sizes, colours):
    """Microseconds over small n, without the steps over 8 times slower than the fastest."""
    lines = {step: [(row["elements"], 1e3 * row["median_ms"]) for row in line if row["elements"] in sizes]
             for step, line in points.items()}
    least = {n: min(us for line in lines.values() for size, us in line if size == n) for n in sizes}
    near = {step: line for step, line in lines.items() if line and line[-1][1] < 8 * least[line[-1][0]]}
    ends = draw_lines(axes, near, colours)
    axes.set_ylim(0, 1.05 * max(us for line in near.values() for _, us in line))
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_ylabel("µs")
    winner, wins = most_wins(points, sizes)
    axes.set_title(f"Small arrays: {named(winner)} is the fastest\nat {wins} of {len(sizes)} sizes up to n = {count(sizes[-1])}")
    absent = ", ".join(named(step).partition(" ")[0] for step in lines if lines[step] and step not in near)
    if absent:
        axes.set_xlabel(f"n, floats ({absent} not drawn: over 8 times slower)")
    label_ends(axes, *ends)


def draw_large(axes, points, sizes, colours, peak):
    """GB/s over large n, and the theoretical peak."""
    lines = {step: [(row["elements"], row["gb_per_s"]) for row in line if row["elements"] in sizes]
             for step, line in points.items()}
    lines = {step: line for step, line in lines.items() if line and line[-1][0] > SPLIT}
    ends = draw_lines(axes, lines, colours)
    best, leader = max((gb, step) for step, line in lines.items() for n, gb in line if n == sizes[-1])
    axes.set_ylim(0, 1.12 * max(peak, best))
    if peak:
        axes.axhline(peak, color="black", linewidth=sized(1))
        axes.annotate(f"theoretical peak: {peak:,.0f} GB/s", (sizes[0], peak), xytext=(0, sized(3)), textcoords="offset points",
                      va="bottom", fontsize=sized(9.5))
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_ylabel("GB/s of input")
    axes.set_title(f"Large arrays: {named(leader)} is the fastest\nat n = {count(sizes[-1])}, with {short(best)} GB/s")
    label_ends(axes, *ends)


def draw_sweep(rows, path):
    """Cold cache: time at small n, bandwidth at large n."""
    points = by_step(rows, "cold")
    sizes = sorted({row["elements"] for line in points.values() for row in line})
    small = [n for n in sizes if n <= SPLIT]
    large = [n for n in sizes if n >= SPLIT] if sizes[-1] > SPLIT else []
    colours = coloured(worth_a_colour(points, [most_wins(points, some)[0] for some in (small, large[-1:]) if some]))
    grid, figures = lay_out([name for name, some in (("small", small), ("large", large)) if some], (12, 6))
    first = next(iter(points.values()))[0]
    for figure in figures.values():
        figure.suptitle(f"{first['device']}, L2 cache cold, {about(path, 'date')}", x=0.01, ha="left", fontsize=sized(11))
    if small:
        draw_small(grid["small"], points, small, colours)
    if large:
        draw_large(grid["large"], points, large, colours, first["peak_gb_per_s"])
    for addition, figure in figures.items():
        save(figure, path.parent, "sweep" + addition)


def over_reference(rows, cache):
    """(n, time divided by CUB's) for each step; for CUB the ratio is 1."""
    points = by_step(rows, cache)
    reference = {row["elements"]: row["median_ms"] for row in points.get(REFERENCE, [])}
    lines = {step: [(row["elements"], row["median_ms"] / reference[row["elements"]]) for row in line
                    if row["elements"] in reference] for step, line in points.items()}
    return {step: line for step, line in lines.items() if line}


def last_near(panels):
    """The last four steps that take less than twice CUB's time at most sizes."""
    ratios = {}
    for lines in panels.values():
        for step in lines.keys() - {REFERENCE}:
            ratios.setdefault(step, []).extend(ratio for _, ratio in lines[step])
    return [step for step in sorted(ratios) if sum(ratio < 2 for ratio in ratios[step]) > len(ratios[step]) / 2][-4:]


def faster_at(line):
    """The number of sizes at which a step takes less time than CUB."""
    return sum(ratio < 1 for _, ratio in line)


def draw_against_reference(panels, steps, device, path):
    """Time divided by CUB's at each n, with a panel for each state of the cache."""
    grid, figures = lay_out(panels, (12, 5.4), sharey=True)
    for figure in figures.values():
        figure.suptitle(f"{device}, {about(path, 'date')}; time divided by CUB's: below 1 is faster than CUB", x=0.01, ha="left",
                        fontsize=sized(11))
        figure.axes[0].set_ylabel("time divided by CUB's")
    colours = coloured(steps)
    ends = {}
    for cache, lines in panels.items():
        axes = grid[cache]
        ends[cache] = draw_lines(axes, {step: lines[step] for step in colours if step in lines}, colours)
        best = max((step for step in steps if step in lines),
                   key=lambda step: (faster_at(lines[step]), -math.prod(dict(lines[step]).values())))
        axes.set_title(f"L2 cache {cache}: {named(best)} is faster\n"
                       f"than CUB at {faster_at(lines[best])} of {len(lines[best])} sizes")
    for cache, end in ends.items():
        label_ends(grid[cache], *end)
    for addition, figure in figures.items():
        save(figure, path.parent, "sweep-against-cub" + addition)


def draw_sweep_charts(rows, path):
    draw_sweep(rows, path)
    panels = {cache: over_reference(rows, cache) for cache in ("cold", "warm")}
    steps = last_near(panels)
    panels = {cache: lines for cache, lines in panels.items() if lines.keys() & set(steps)}
    if panels:
        draw_against_reference(panels, steps, passed(rows)[0]["device"], path)


def draw_counted_sweep(rows, path, run="reduction"):
    """The simulator's counters of each step over n, per 32 elements."""
    points = {}
    for row in sorted(passed(rows), key=lambda row: (row["step"] == REFERENCE, row["step"], row["elements"])):
        points.setdefault(row["step"], []).append(row)
    if not points:
        fail(path, "no step passed, so there is nothing to draw")
    panels = {"warp instructions (PTX), per 32 elements": "warp_instructions", "load requests, per 32 elements": "global_load_requests"}
    colours = coloured(worth_a_colour(points, [step for step in (MINE,) if step in points]))
    grid, figures = lay_out(panels, (12, 6))
    for panel, counter in panels.items():
        lines = {step: [(row["elements"], 32 * row[counter] / row["elements"]) for row in line] for step, line in points.items()}
        ends = draw_lines(grid[panel], lines, colours)
        grid[panel].set_yscale("log")
        grid[panel].yaxis.set_major_formatter("{x:,.4g}")
        grid[panel].yaxis.set_minor_formatter("")
        grid[panel].set_title(panel)
        label_ends(grid[panel], *ends)
    for addition, figure in figures.items():
        figure.suptitle(f"The simulator's counters in one {run}, {about(path, 'date')}", x=0.01, ha="left", fontsize=sized(11))
        save(figure, path.parent, "sweep-counters" + addition)


# Step 07 and its Tries that change the bytes in flight: 4-byte loads in flight per thread, for 2048 threads on an SM.
LOADS_IN_FLIGHT = {None: 8, "1": 2, "2": 4}


def draw_in_flight(loaded, tries, path):
    """Bandwidth over bytes in flight (Little's law), with step 07 and the bytes that its threads can have in flight."""
    figure, axes = plt.subplots(figsize=style.figure or (9, 5))
    idle, *busy = loaded
    line = [(row["gb_per_s"] * row["load_ns"] / row["sm_count"] / 1e3, row["gb_per_s"]) for row in busy]
    axes.plot(*zip(*line), "o-", color=STEP_COLOUR, markersize=sized(4), linewidth=sized(1.5))
    axes.annotate("load latency × bandwidth of the other blocks", line[0], xytext=(sized(9), 0), textcoords="offset points", va="center", fontsize=sized(9.5),
                  color=STEP_COLOUR)
    of_07 = {row["try"]: row for row in tries if row["step"].startswith("step07_")}
    points = {}
    for number, loads in LOADS_IN_FLIGHT.items():
        row = of_07[number or "1"]
        kb = loads * 4 * 2048 / 1e3
        points.setdefault(kb, []).append((row["elements"] * 4 / row["after_ms" if number else "before_ms"] / 1e6, f"Try {number}" if number else "step 07"))
    for kb, found in points.items():
        axes.plot([kb] * len(found), [gb for gb, _ in found], "s", color=colour(REFERENCE), markersize=sized(5))
        axes.annotate(", ".join(words for _, words in found), (kb, min(found)[0]), xytext=(0, sized(-7)), textcoords="offset points", ha="center", va="top",
                      fontsize=sized(9.5), color=colour(REFERENCE))
    axes.set_xlim(0, 1.1 * max(points))
    axes.set_ylim(0, 1.1 * max(gb for _, gb in line))
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_xlabel("KB in flight on each SM (step 07: at most)")
    axes.set_ylabel("GB/s")
    write_title(axes, f"Bandwidth over bytes in flight\n{idle['device']}; squares: step 07 and its Tries, n = {count(of_07['1']['elements'])}")
    save(figure, path.parent, "in-flight")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="folder with run-all.csv, profile.csv, sweep.csv or the simulator's "
                        "counters.csv; the charts are written there, as PNG and SVG")
    parser.add_argument("--style", default="page", metavar="{%s}" % ",".join(STYLES), help="projector: larger, for slides, "
                        "in separate files that end in -projector; default: page")
    arguments = parser.parse_args()
    if arguments.style not in STYLES:
        print(f"plot.py: --style '{arguments.style}': accepted are {' and '.join(STYLES)}", file=sys.stderr)
        sys.exit(2)
    choose(arguments.style)
    directory = arguments.directory
    run_path, profile_path, simulated_path, sweep_path = (
        directory / f"{name}.csv" for name in ("run-all", "profile", "counters", "sweep"))
    counted_path, loaded_path, tries_path = (directory / f"{name}.csv" for name in ("sweep-counters", "loaded", "tries"))
    limits_path = directory / "limits.csv"
    runs = profile = simulated = sweep = counted = loaded = limits = None
    # All files are read before any chart is drawn, so that a damaged file leaves the old charts intact.
    if simulated_path.exists():
        simulated = read_rows(simulated_path, ["step", "kernel", *SIMULATOR_NUMBERS], SIMULATOR_NUMBERS)
    if sweep_path.exists():
        sweep = read_sweep(sweep_path)
    if counted_path.exists():
        counted = read_rows(counted_path, ["step", *COUNTED_NUMBERS], COUNTED_NUMBERS)
    if limits_path.exists():
        limits = read_rows(limits_path, ["first_launch_us"], ["first_launch_us"])
    if loaded_path.exists() and tries_path.exists():
        loaded, tries = read_rows(loaded_path, LOADED_NUMBERS, LOADED_NUMBERS), read_rows(tries_path, ["step", "try", *TRY_NUMBERS], TRY_NUMBERS)
    if run_path.exists() or not (simulated or sweep or counted):
        runs = read_runs(run_path)
    if runs and profile_path.exists():
        profile = read_rows(profile_path, ["step", "kernel", *PROFILE_NUMBERS], PROFILE_NUMBERS)
    if runs:
        draw_bandwidth(runs, run_path, small=at_small(sweep), empty_kernel_us=limits and limits[0]["first_launch_us"])
        draw_time(runs, run_path)
    if profile:
        draw_profile(profile, profile_path, passed(runs)[0]["device"])
    if simulated:
        draw_simulated(simulated, simulated_path)
    if sweep:
        draw_sweep_charts(sweep, sweep_path)
    if counted:
        draw_counted_sweep(counted, counted_path)
    if loaded:
        draw_in_flight(loaded, tries, loaded_path)


if __name__ == "__main__":
    main()
