#!/usr/bin/env python3
"""Draws the charts of the prefix sum from a folder of results: bandwidth, sweep over n, bytes, and the simulator's counters."""

import argparse
import math
import sys
from pathlib import Path

import plot
from plot import LINE_COLOURS, REFERENCE, REFERENCE_COLOUR, STEP_COLOUR, STYLES, about, count, label_ends, named, plt, short, sized
from tables import newest_cub

ROOT = Path(__file__).resolve().parent.parent
UNIT = "GB/s read and written"
COUNTED = ["warp_instructions", "global_load_sectors", "global_store_sectors"]
BYTES = ["elements", "read_bytes_per_element", "written_bytes_per_element"]
AGAINST = ["elements", "scan_us", "cub_us", "copy_us"]
KERNEL_COPY = "kernel_copy_us"  # not in older files
WORD, SECTOR = 4, 32  # bytes
SHOWN = 5  # number of last steps with their own colour


def last_step():
    return max(path.name for path in ROOT.glob("scan/step[0-9][0-9]_*"))


def bars(axes, steps):
    """Names under the bars; the axis from 0, with room for labels above."""
    plot.name_bars(axes, steps)
    axes.set_ylim(0, 1.2 * max(axes.dataLim.ymax, 1e-9))
    axes.yaxis.set_major_formatter("{x:,.10g}")


def over_n(axes):
    """A logarithmic bandwidth axis, for a chart over n."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.yaxis.set_minor_formatter("")
    axes.set_ylabel(f"{UNIT}, logarithmic")


def draw_sweep(rows, path):
    points = plot.by_step(rows, "cold")
    first = next(iter(points.values()))[0]
    figure, axes = plt.subplots(figsize=plot.style.figure or (10, 6.4))
    lines = {step: [(row["elements"], row["gb_per_s"]) for row in line if row["gb_per_s"]] for step, line in points.items()}
    lines = {step: line for step, line in lines.items() if line}
    ends = plot.draw_lines(axes, lines, plot.coloured([step for step in lines if step != REFERENCE][-SHOWN:]))
    over_n(axes)
    if first["peak_gb_per_s"]:
        axes.axhline(first["peak_gb_per_s"], color="black", linewidth=sized(1))
        axes.annotate(f"theoretical peak: {first['peak_gb_per_s']:,.0f} GB/s", (min(n for line in lines.values() for n, _ in line), first["peak_gb_per_s"]),
                      xytext=(0, sized(3)), textcoords="offset points", va="bottom", fontsize=sized(9.5))
    winner, wins = plot.most_wins(points, sizes := sorted({row["elements"] for line in points.values() for row in line}))
    axes.set_title(f"{named(winner)} is the fastest at {wins} of {len(sizes)} sizes\n{first['device']}, L2 cache cold, {about(path, 'date')}")
    label_ends(axes, *ends)
    plot.save(figure, path.parent, "sweep")


def draw_against_cub(rows, path):
    figure, axes = plt.subplots(figsize=plot.style.figure or (10, 5.4))
    ends = []
    for name, words, colour in (("scan", named(last_step()), STEP_COLOUR), ("cub", "CUB", REFERENCE_COLOUR)):
        points = sorted((row["elements"], row[f"{name}_us"] / min(row["copy_us"], row.get(KERNEL_COPY, math.inf))) for row in rows)
        line = [(n, speed) for n, speed in points if math.log2(n).is_integer()]
        axes.plot(*zip(*line), marker=".", color=colour, linewidth=sized(2))
        axes.plot(*zip(*(set(points) - set(line) or [(math.nan, math.nan)])), "o", color=colour, markerfacecolor="none")
        ends.append((*line[-1], words, colour))
    axes.axhline(1, color="black", linestyle="--", linewidth=sized(1))
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("time divided by that of the faster copy")
    axes.set_xlabel("n, floats; rings: sizes that are not powers of two")
    axes.margins(x=0.01)
    faster = sum(row["scan_us"] < row["cub_us"] for row in rows)
    version = f" {rows[0]['cub_version']}" if rows[0].get("cub_version") else ""
    axes.set_title(f"{named(last_step())} is faster than CUB{version} at {faster} of {len(rows)} sizes")
    label_ends(axes, ends, [])
    plot.save(figure, path.parent, "over-n")


def draw_bytes(rows, path):
    """Memory traffic per element, with lines at 2, 3 and 4 floats."""
    figure, axes = plt.subplots(figsize=plot.style.figure or (12, 5.4))
    positions = range(len(rows))
    read, written = ([row[f"{what}_bytes_per_element"] for row in rows] for what in ("read", "written"))
    axes.bar(positions, read, width=0.7, color=STEP_COLOUR, label="read")
    axes.bar(positions, written, bottom=read, width=0.7, color=LINE_COLOURS[2], label="written")
    labels = [plot.write_above(axes, x, a + b, short(a + b)) for x, (a, b) in enumerate(zip(read, written))]
    bars(axes, [row["step"] for row in rows])
    axes.yaxis.set_major_locator(plt.MultipleLocator(WORD))
    for floats in (2, 3, 4):
        axes.axhline(floats * WORD, color="black", linewidth=sized(0.8), linestyle=":", zorder=0)
        axes.annotate(f"{floats}n floats", (1, floats * WORD), xycoords=("axes fraction", "data"), xytext=(sized(4), 0),
                      textcoords="offset points", va="center", fontsize=sized(9.5))
    for label in labels:  # readable on a line, too
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axes.set_ylabel("bytes per element")
    axes.set_title(f"Memory traffic: bytes per element, n = {count(rows[0]['elements'])}")
    axes.legend(frameon=False, ncols=2, loc="upper right")
    plot.keep_apart(labels)
    plot.save(figure, path.parent, "bytes")


def draw_simulated(rows, path):
    """Warp instructions and sectors per element, over all launches of the first scan."""
    elements = about(path, "elements")
    if not elements.isdigit():
        plot.fail(path.with_suffix(".txt"), "does not name the number of elements")
    sums = {}
    for row in plot.passed(rows):
        for name in COUNTED:
            sums.setdefault(row["step"], dict.fromkeys(COUNTED, 0))[name] += row[name] / int(elements)
    # A step that stores fewer sectors than the result has uses TMA, whose sectors are not counted.
    with_tma = [step for step, values in sums.items() if values["global_store_sectors"] < WORD / SECTOR]
    figure, grid = plt.subplots(2, 1, figsize=plot.style.figure or (12, 6), sharex=True)
    panels = {"warp instructions (PTX) per element, with those of spin loops": COUNTED[:1],
              "32-byte sectors loaded and stored per element": COUNTED[1:]}
    labels = []
    for axes, (panel, names) in zip(grid, panels.items()):
        for x, (step, values) in enumerate(sums.items()):
            counted = len(names) == 1 or step not in with_tma
            value = sum(values[name] for name in names) if counted else 0
            axes.bar(x, value, width=0.7, color=plot.colour(step))
            labels.append(plot.write_above(axes, x, value, short(value) if counted else "not\ncounted"))
        axes.set_title(panel, fontsize=sized(11))
        bars(axes, list(sums))
    note = f"\nNot counted: sectors of bulk asynchronous copies (TMA) in {', '.join(map(named, with_tma))}" if with_tma else ""
    figure.suptitle(f"The simulator's counters in one scan, n = {count(int(elements))} floats, {about(path, 'date')}{note}", x=0.01, ha="left", fontsize=sized(12))
    plot.save(figure, path.parent, "simulated")


def draw_bandwidth(rows, path):
    """GB/s of each step, with the times at a small n if those were measured."""
    few = path.with_name("2to16.csv")
    plot.draw_bandwidth(rows, path, UNIT, "reads and writes", small=plot.read_runs(few) if few.exists() else None)


# CSV -> (function that reads it, function that draws it).
CHARTS = {
    "run-all": (plot.read_runs, draw_bandwidth),
    "sweep": (plot.read_sweep, draw_sweep),
    "against-cub": (lambda path: plot.read_rows(path, AGAINST, [*AGAINST, KERNEL_COPY]), draw_against_cub),
    "bytes": (lambda path: plot.read_rows(path, ["step", *BYTES], BYTES), draw_bytes),
    "counters": (lambda path: plot.read_rows(path, ["step", *COUNTED], COUNTED), draw_simulated),
    "sweep-counters": (lambda path: plot.read_rows(path, ["step", *plot.COUNTED_NUMBERS], plot.COUNTED_NUMBERS),
                       lambda rows, path: plot.draw_counted_sweep(rows, path, "scan")),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, nargs="?", default=Path("results/scan"), help=f"folder with {', '.join(f'{name}.csv' for name in CHARTS)} or "
                        "some of them; the charts are written there, as PNG and SVG")
    parser.add_argument("--style", default="page", choices=STYLES, help="projector: larger, for slides")
    options = parser.parse_args()
    plot.choose(options.style)
    paths = {name: options.directory / f"{name}.csv" for name in CHARTS} | {"against-cub": newest_cub(options.directory.resolve())}
    # All files are read before any chart is drawn, so that a damaged file leaves the old charts intact.
    found = {name: CHARTS[name][0](path) for name, path in paths.items() if path.exists()}
    if not found:
        sys.exit(f"scan.py: {options.directory} has no results of the prefix sum; make run-all LADDER=scan writes them")
    for name, rows in found.items():
        CHARTS[name][1](rows, paths[name])


if __name__ == "__main__":
    main()
