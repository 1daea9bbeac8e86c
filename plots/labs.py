#!/usr/bin/env python3
"""Draws the charts of labs from a folder of their CSVs: each lab's own chart, or its counters on the simulator."""

import argparse
import csv
import importlib.util
import sys
from pathlib import Path

import plot
from plot import STEP_COLOUR, plt, short, sized

ROOT = Path(__file__).resolve().parent.parent


def read(path):
    """The rows of programs that passed; [] if the file is missing."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["status"] == "PASS"]


def chart_of(lab):
    """The module labs/LAB/chart.py."""
    path = ROOT / "labs" / lab / "chart.py"
    if not path.exists():
        sys.exit(f"labs.py: there is no {path.relative_to(ROOT)}")
    spec = importlib.util.spec_from_file_location(f"{lab}_chart", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw_counters(lab, rows, counters):
    """A panel for each counter, a bar for each kernel and launch configuration; identical launches have one bar."""
    rows = list({(row["step"], row["kernel"], row["grid"], row["block"], *(row[counter] for counter in counters)): row for row in rows}.values())
    names = [f"{row['step'][4:].replace('_', ' ', 1)}: {row['kernel'][:24]}, {row['grid']} × {row['block']}" for row in rows]
    figure, panels = plt.subplots(1, len(counters), figsize=(4 + 4 * len(counters), 1.4 + 0.26 * len(rows)), sharey=True, squeeze=False)
    for axes, (counter, title) in zip(panels[0], counters.items()):
        values = [float(row[counter]) for row in rows]
        axes.barh(range(len(rows)), values, color=STEP_COLOUR)
        for y, value in enumerate(values):
            axes.annotate(short(value), (value, y), xytext=(3, 0), textcoords="offset points", va="center", fontsize=sized(8))
        axes.set_title(title, fontsize=sized(11))
        axes.set_xlim(0, 1.2 * max(*values, 1))
        axes.xaxis.set_major_formatter("{x:,.10g}")
        axes.xaxis.set_major_locator(plt.MaxNLocator(3))
    panels[0][0].set_yticks(range(len(rows)), names, fontsize=sized(8))
    panels[0][0].set_ylim(len(rows) - 0.4, -0.6)
    figure.suptitle(f"The simulator's counters in the lab {lab}: kernel, blocks × threads\n", x=0.01, ha="left", fontsize=sized(12))
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="folder with NAME.csv, or the simulator's NAME-counters.csv; the charts are written there")
    parser.add_argument("labs", nargs="+")
    options = parser.parse_args()
    for lab in options.labs:
        chart = chart_of(lab)
        rows, counted = read(options.directory / f"{lab}.csv"), read(options.directory / f"{lab}-counters.csv")
        if rows:
            plot.save(chart.draw(rows), options.directory, lab)
        if counted:
            plot.save(draw_counters(lab, counted, chart.COUNTERS), options.directory, f"{lab}-counters")


if __name__ == "__main__":
    main()
