#!/usr/bin/env python3
"""Draws the charts of a directory of results: bandwidth, time and, from the profiler, why."""

import argparse
import csv
import os
import sys
from pathlib import Path

try:
    import matplotlib
except ModuleNotFoundError:
    sys.exit("plot.py: this python3 has no matplotlib; make plots uses one that has")
matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "reduction", "font.size": 11, "axes.spines.top": False,
                            "axes.spines.right": False, "figure.dpi": 120})
import matplotlib.pyplot as plt  # noqa: E402  (the backend has to be chosen first)
from roof import LIMITS, roof  # noqa: E402

RUN_COLUMNS = "step,device,elements,launches,median_ms,min_ms,gb_per_s,peak_gb_per_s,status".split(",")
RUN_NUMBERS = ["elements", "launches", "median_ms", "min_ms", "gb_per_s", "peak_gb_per_s"]
PROFILE_NUMBERS = ["pass", "warp_instructions", "shared_loads", "shared_stores", "lanes_on",
                   "global_load_requests"]
SIMULATOR_NUMBERS = ["launch", "warp_instructions", "lanes_on_mean", "shared_loads", "shared_stores", "bank_conflicts",
                     "global_load_requests", "global_load_sectors", "block_barriers"]
SWEEP_COLUMNS = ["step", "cache", "elements", "median_ms", "gb_per_s", "peak_gb_per_s", "status"]
SWEEP_NUMBERS = ["elements", "median_ms", "gb_per_s", "peak_gb_per_s"]
REFERENCE = "reference_cub"
# Blue and vermilion of Okabe and Ito's palette: apart for every eye, and in grey.
STEP_COLOUR, REFERENCE_COLOUR = "#0072b2", "#d55e00"


def fail(path, what, line=None):
    where = f"{path}, line {line}" if line else str(path)
    sys.exit(f"plot.py: {where}: {what}")


def read_rows(path, needed, numbers):
    """The rows of a CSV with at least the columns needed; those named in numbers as floats."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        fail(path, f"cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8 text'}; make run-all writes it (on the simulator: counters.csv)")
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
            for name in numbers:
                row[name] = positive(path, line, name, row[name])
        rows.append(row)
    return rows


def positive(path, line, name, text):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        fail(path, f"{name} is '{text}', no number of 0 or more", line)
    return value


def read_runs(path):
    rows = read_rows(path, RUN_COLUMNS, RUN_NUMBERS)
    names = [row["step"] for row in rows]
    for line, name in enumerate(names, 2):
        if name in names[: line - 2]:
            fail(path, f"{name} stands twice", line)
    for line, row in enumerate(rows, 2):
        if row["status"] == "PASS" and row["median_ms"] == 0:
            fail(path, "median_ms is 0", line)
    if not any(row["status"] == "PASS" for row in rows):
        fail(path, "no step passed, so there is nothing to draw")
    return rows


def about(path, what):
    """What the .txt that run-all writes beside its CSV says: date or elements."""
    text = path.with_suffix(".txt").read_text() if path.with_suffix(".txt").exists() else ""
    return text.partition(f"{what}: ")[2].partition("\n")[0] or f"{what} unknown"


def count(elements):
    exponent = int(elements).bit_length() - 1
    return f"$2^{{{exponent}}}$" if elements == 2**exponent else f"{int(elements):,}"


def title(device, elements, path):
    return f"{device}, n = {count(elements)} floats, {about(path, 'date')}"


def label(step):
    number, _, name = step.removeprefix("step").partition("_")
    return "CUB" if step == REFERENCE else f"{number}\n{name}"


def save(figure, directory, name):
    """Writes both formats, each whole or not at all."""
    figure.tight_layout()
    for ending in ("png", "svg"):
        unfinished = directory / f".{name}.{ending}"
        figure.savefig(unfinished, format=ending, metadata={"Date": None} if ending == "svg" else None)
        os.replace(unfinished, directory / f"{name}.{ending}")
    plt.close(figure)


def passed(rows):
    return [row for row in rows if row["status"] == "PASS"]


def times(ratio):
    return f"{ratio:.2f}×" if ratio < 100 else f"{ratio:,.0f}×"


def draw_bandwidth(rows, path):
    steps = [row for row in rows if row["step"] != REFERENCE]
    peak = passed(rows)[0]["peak_gb_per_s"]
    figure, axes = plt.subplots(figsize=(12, 5.4))
    before = None
    for x, row in enumerate(steps):
        if row["status"] != "PASS":
            axes.text(x, 0, row["status"], ha="center", va="bottom", rotation=90)
            before = None
            continue
        value = row["gb_per_s"]
        axes.bar(x, value, color=STEP_COLOUR, width=0.7)
        gain = f"\n{times(before / row['median_ms'])}" if before else ""
        axes.text(x, value, f"{value:,.3g}{gain}" if value < 1 else f"{value:,.0f}{gain}",
                  ha="center", va="bottom", fontsize=10)
        before = row["median_ms"]
    for row in passed(rows):
        if row["step"] == REFERENCE:
            axes.axhline(row["gb_per_s"], color=REFERENCE_COLOUR, linestyle="--")
            axes.text(-0.5, row["gb_per_s"], f"CUB: {row['gb_per_s']:,.0f} GB/s", va="bottom")
    if peak > 0:
        axes.axhline(peak, color="black", linewidth=1)
        axes.text(-0.5, peak, f"theoretical peak: {peak:,.0f} GB/s", va="bottom")
        axes.set_ylim(0, peak * 1.07)
    axes.set_xticks(range(len(steps)), [label(row["step"]) for row in steps], fontsize=9)
    axes.set_ylabel("GB/s of input (× against the step before)")
    axes.set_title(title(passed(rows)[0]["device"], passed(rows)[0]["elements"], path))
    save(figure, path.parent, "bandwidth")


def draw_time(rows, path):
    figure, axes = plt.subplots(figsize=(12, 5))
    for x, row in enumerate(rows):
        if row["status"] != "PASS":
            axes.text(x, 0.02, row["status"], ha="center", rotation=90,
                      transform=axes.get_xaxis_transform())
            continue
        axes.bar(x, row["median_ms"], width=0.7,
                 color=REFERENCE_COLOUR if row["step"] == REFERENCE else STEP_COLOUR)
        axes.text(x, row["median_ms"], f"{row['median_ms']:,.3g}" if row["median_ms"] < 1000 else
                  f"{row['median_ms']:,.0f}", ha="center", va="bottom", fontsize=10)
    axes.set_yscale("log")
    axes.margins(y=0.08)
    axes.set_xticks(range(len(rows)), [label(row["step"]) for row in rows], fontsize=9)
    axes.set_ylabel("median ms, logarithmic")
    axes.set_title(title(passed(rows)[0]["device"], passed(rows)[0]["elements"], path))
    save(figure, path.parent, "time")


def small_multiples(first, panels, heading, path, name):
    """A panel for each counter of the first pass: why a step is as fast as it is."""
    figure, grid = plt.subplots(len(panels) // 2, 2, figsize=(12, 3.5 * (len(panels) // 2)))
    for axes, (panel, values) in zip(grid.flat, panels.items()):
        colours = [REFERENCE_COLOUR if row["step"] == REFERENCE else STEP_COLOUR for row in first]
        axes.bar(range(len(first)), values, color=colours, width=0.7)
        for x, value in enumerate(values):
            axes.text(x, value, f"{value:.2g}" if 0 < value < 10 else f"{value:,.0f}", ha="center",
                      va="bottom", fontsize=9)
        axes.set_xticks(range(len(first)), [label(row["step"]).split("\n")[0] for row in first])
        axes.set_title(panel, fontsize=11)
        axes.set_ylim(0, 1.12 * max(values) or 1)
    figure.suptitle(heading + ", first pass")
    save(figure, path.parent, name)


def draw_profile(rows, path, device):
    first = [row for row in rows if row["pass"] == 1]
    panels = {
        "warp instructions, millions": [row["warp_instructions"] / 1e6 for row in first],
        "shared loads and stores, thousands": [(row["shared_loads"] + row["shared_stores"]) / 1e3
                                               for row in first],
        "lanes on per instruction, of 32": [row["lanes_on"] for row in first],
        "global load requests, millions": [row["global_load_requests"] / 1e6 for row in first],
    }
    small_multiples(first, panels, title(device, float(first[0]["elements"]), path), path, "counters")


def draw_simulated(rows, path):
    first = [row for row in rows if row["launch"] == 0]
    panels = {
        "warp instructions (PTX), millions": [row["warp_instructions"] / 1e6 for row in first],
        "lanes on per instruction, of 32": [row["lanes_on_mean"] for row in first],
        "shared loads and stores, thousands": [(row["shared_loads"] + row["shared_stores"]) / 1e3 for row in first],
        "bank conflicts, thousands": [row["bank_conflicts"] / 1e3 for row in first],
        "global load requests, thousands": [row["global_load_requests"] / 1e3 for row in first],
        "barriers, counted per warp, thousands": [row["block_barriers"] / 1e3 for row in first],
    }
    elements = about(path, "elements")
    heading = title("SIMT simulator", int(elements) if elements.isdigit() else 0, path)
    small_multiples(first, panels, heading, path, "simulated")


def by_step(rows, cache):
    """The points of each step over n, of one state of the cache."""
    points = {}
    for row in sorted(passed(rows), key=lambda row: row["elements"]):
        if row["cache"] == cache:
            points.setdefault(row["step"], []).append(row)
    return points


def best_step(points):
    """The step with the highest bandwidth that any n shows."""
    return max((step for step in points if step != REFERENCE), key=lambda step: max(r["gb_per_s"] for r in points[step]))


def line_style(step, best, index):
    if step in (REFERENCE, best):
        return {"color": REFERENCE_COLOUR if step == REFERENCE else STEP_COLOUR, "linewidth": 2.5, "zorder": 3,
                "label": "CUB" if step == REFERENCE else f"{step}, the fastest"}
    return {"color": plt.cm.Greys(0.3 + 0.05 * index), "linewidth": 1.1}


def label_ends(axes, ends):
    """Writes the steps' numbers behind their lines' last points (n, value), those that lie together in one word."""
    groups = []
    for value, n, number in sorted((value, n, number) for number, (n, value) in ends.items()):
        if groups and n == groups[-1][0] and value < 1.2 * groups[-1][1]:
            groups[-1][2].append(number)
        else:
            groups.append((n, value, [number]))
    for n, value, numbers in groups:
        axes.annotate(" ".join(sorted(numbers)), (n, value), xytext=(5, 0), textcoords="offset points", fontsize=8, va="center")


def draw_sweep(rows, path):
    """Bandwidth over n, cold, both axes logarithmic: latency at the left, the memory's limit at the right."""
    points = by_step(rows, "cold")
    best = best_step(points)
    figure, axes = plt.subplots(figsize=(10, 6))
    ends = {}
    for index, (step, line) in enumerate(points.items()):
        n, value = [row["elements"] for row in line], [row["gb_per_s"] for row in line]
        axes.plot(n, value, marker=".", **line_style(step, best, index))
        if step != REFERENCE:
            ends[step[4:6]] = (n[-1], value[-1])
    label_ends(axes, ends)
    peak = passed(rows)[0]["peak_gb_per_s"]
    axes.axhline(peak, color="black", linewidth=1)
    axes.text(1000, peak * 1.05, f"theoretical peak: {peak:,.0f} GB/s")
    limits = path.with_name("limits.csv")
    if limits.exists():
        l2_bytes = read_rows(limits, ["l2_bytes"], ["l2_bytes"])[0]["l2_bytes"]
        axes.axvline(l2_bytes / 4, color="black", linestyle=":", linewidth=1)
        axes.text(l2_bytes / 4, 0.3, f" the L2's {l2_bytes / 1e6:.0f} MB", fontsize=9, transform=axes.get_xaxis_transform())
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("n, floats")
    axes.set_ylabel("GB/s of input")
    axes.legend(loc="lower right", frameon=False)
    axes.set_title(f"{passed(rows)[0]['device']}, L2 cache cold, {about(path, 'date')}")
    save(figure, path.parent, "sweep")


def draw_against_reference(rows, path):
    """Time over CUB's at each n: below 1 is faster."""
    figure, grid = plt.subplots(1, 2, figsize=(12, 5.4), sharey=True)
    for axes, cache in zip(grid, ("cold", "warm")):
        points = by_step(rows, cache)
        best = best_step(points)
        ends = {}
        reference = {row["elements"]: row["median_ms"] for row in points.get(REFERENCE, [])}
        for index, (step, line) in enumerate(points.items()):
            line = [row for row in line if row["elements"] in reference]
            ratio = [row["median_ms"] / reference[row["elements"]] for row in line]
            if not line or step.startswith("step00"):
                continue
            style = line_style(step, best, index)
            if step.startswith("step11") and step != best:
                style |= {"color": STEP_COLOUR, "linestyle": "--", "linewidth": 2, "label": step}
            axes.plot([row["elements"] for row in line], ratio, marker=".", **style)
            if step != REFERENCE:
                ends[step[4:6]] = (line[-1]["elements"], ratio[-1])
        label_ends(axes, ends)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_yticks([0.7, 0.8, 0.9, 1, 1.5, 2, 5, 10], ["0.7", "0.8", "0.9", "1", "1.5", "2", "5", "10"])
        axes.minorticks_off()
        axes.set_xlabel("n, floats")
        axes.set_title(f"L2 cache {cache}")
    grid[0].set_ylabel("time over CUB's (below 1: faster)")
    grid[0].legend(frameon=False, loc="upper left")
    figure.suptitle(f"{passed(rows)[0]['device']}, {about(path, 'date')}")
    save(figure, path.parent, "sweep-against-cub")


def draw_roof(path):
    """For each step the time that each limit alone would allow, and the measured one."""
    rows = roof(path.parent)
    figure, axes = plt.subplots(figsize=(10, 5.6))
    positions = range(len(rows))
    axes.bar(positions, [row["measured_us"] for row in rows], color="#d0d0d0", width=0.8, label="measured")
    colours = {"issue": "#0072b2", "shared": "#009e73", "dram": "#d55e00", "flight": "#cc79a7", "launch": "#000000"}
    markers = {"issue": "o", "shared": "s", "dram": "D", "flight": "^", "launch": "_"}
    for limit, what in LIMITS.items():
        axes.scatter(positions, [row[limit] for row in rows], color=colours[limit], marker=markers[limit], s=60,
                     label=what, zorder=3)
    axes.set_yscale("log")
    axes.set_xticks(positions, [label(row["step"]) for row in rows], fontsize=8)
    axes.set_ylabel("µs, logarithmic")
    axes.legend(frameon=False, ncols=2)
    axes.set_title("What each limit alone would allow, n = $2^{28}$: the highest mark holds the step")
    save(figure, path.parent, "roof")


def draw_sweep_charts(path):
    rows = read_rows(path, SWEEP_COLUMNS, SWEEP_NUMBERS)
    if not passed(rows):
        fail(path, "no step passed, so there is nothing to draw")
    draw_sweep(rows, path)
    if any(row["step"] == REFERENCE for row in passed(rows)):
        draw_against_reference(rows, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="holds run-all.csv, profile.csv, sweep.csv, limits.csv or the "
                        "simulator's counters.csv; the charts are written there, as PNG and SVG")
    directory = parser.parse_args().directory
    run_path, profile_path, simulated_path, sweep_path, limits_path = (
        directory / f"{name}.csv" for name in ("run-all", "profile", "counters", "sweep", "limits"))
    runs = profile = simulated = None
    if simulated_path.exists():
        simulated = read_rows(simulated_path, ["step", *SIMULATOR_NUMBERS], SIMULATOR_NUMBERS)
    if run_path.exists() or not (simulated or sweep_path.exists() or (directory / "sweep-counters.csv").exists()):
        runs = read_runs(run_path)
    if runs and profile_path.exists():
        profile = read_rows(profile_path, ["step", "elements", *PROFILE_NUMBERS], PROFILE_NUMBERS)
    if runs:
        draw_bandwidth(runs, run_path)
        draw_time(runs, run_path)
    if profile:
        draw_profile(profile, profile_path, passed(runs)[0]["device"])
    if simulated:
        draw_simulated(simulated, simulated_path)
    if sweep_path.exists():
        draw_sweep_charts(sweep_path)
    if sweep_path.exists() and profile_path.exists() and limits_path.exists():
        draw_roof(sweep_path)


if __name__ == "__main__":
    main()
