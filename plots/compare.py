#!/usr/bin/env python3
"""Draws the results of several GPUs in one chart: GB/s and the share of each GPU's peak, for every step and, if there are sweeps,
over n."""

import argparse
from pathlib import Path
from typing import NamedTuple

import plot
from plot import LINE_COLOURS, REFERENCE, STEP_COLOUR, about, by_step, count, interquartile_range, named, passed, plt, short

from drywarp.errors import fail

COLOURS = STEP_COLOUR, *(LINE_COLOURS[k] for k in (1, 0, 3, 2, 5))  # one per GPU; the first two differ in greyscale, too


class Results(NamedTuple):
    path: Path
    device: str
    elements: int
    facts: list  # driver, toolkit and date, in words
    rows: dict  # by step
    sweep: dict  # by step, or None


def the_only(column, rows, path):
    """The value of a column that all passed rows have in common."""
    values = {row[column] for row in passed(rows)}
    if len(values) > 1:
        fail(f"{path}: the rows differ in {column}, so they are not of one GPU and one n")
    return values.pop()


def read_facts(path):
    """The facts from the .txt of run-all; a missing line is unknown."""
    try:
        facts = {"driver ": about(path, "driver"), "toolkit ": about(path, "toolkit"), "": about(path, "date")}
    except (OSError, UnicodeDecodeError):
        fail(f"{path.with_suffix('.txt')} cannot be read as text")
    return [fact if fact.endswith(" unknown") else f"{before}{fact}" for before, fact in facts.items()]


def read_results(folder):
    path, sweep_path, sweep = folder / "run-all.csv", folder / "sweep.csv", None
    if not path.exists() and (folder / "counters.csv").exists():
        fail(f"{folder} has counters of the simulator, which has no times to compare; measure them with make run-all on a GPU")
    rows = plot.read_runs(path)
    device, elements = (the_only(column, rows, path) for column in ("device", "elements"))
    if sweep_path.exists():
        sweep_rows = plot.read_sweep(sweep_path)
        if the_only("device", sweep_rows, sweep_path) != device:
            fail(f"{sweep_path} is not of the same GPU as {path.name}, {device}")
        sweep = by_step(sweep_rows, "cold")
    return Results(path, device, int(elements), read_facts(path), {row["step"]: row for row in rows}, sweep)


def check_sizes(first, second):
    """Rejects different n, because the share of the peak depends on n."""
    if first.elements != second.elements:
        fail(f"n is {first.elements} in {first.path} and {second.elements} in {second.path}; GPUs are compared at the same n: "
             f"measure the second again with make run-all N={first.elements}, or the first with N={second.elements}")


def unscaled(row):
    return 1


def of_the_peak(row):
    """The factor from GB/s to per cent of the peak; None if the peak is unknown."""
    return 100 / row["peak_gb_per_s"] if row["peak_gb_per_s"] else None


MEASURES = {"GB/s of input": unscaled, "share of the GPU's own peak, %": of_the_peak}


def described(results):
    """A GPU's legend entry."""
    best = max(passed(results.rows.values()), key=lambda row: row["gb_per_s"])
    peak = best["peak_gb_per_s"]
    share = f"{best['gb_per_s'] * of_the_peak(best):.1f} % of the peak of {peak:,.0f}" if peak else "peak unknown"
    return (f"{results.device}: {named(best['step'])} reads fastest, {short(best['gb_per_s'])} GB/s, {share}\n"
            f"{', '.join(results.facts)}, n = {count(results.elements)}, folder {results.path.parent.resolve().name}")


def draw_bar(axes, y, height, row, colour, measure):
    """A bar with its value and a stroke for the interquartile range; without a bar, the reason."""
    end, words = 0, "not run" if row is None else row["status"]
    if words == "PASS":
        factor, words = measure(row), "peak unknown"
        if factor:
            value, spread = row["gb_per_s"] * factor, [gb_per_s * factor for gb_per_s in interquartile_range(row)]
            axes.barh(y, value, height=height, color=colour)
            if spread:
                axes.hlines(y, *spread, color="black", linewidth=1)
            end, words = max([value, *spread]), short(value) if measure is unscaled else f"{value:.1f}"
    axes.annotate(words, (end, y), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8.5)


def draw_steps(axes, gpus, steps, measure):
    for k, (results, colour) in enumerate(zip(gpus, COLOURS)):
        for y, step in enumerate(steps):
            draw_bar(axes, y + 0.8 * ((k + 0.5) / len(gpus) - 0.5), 0.76 / len(gpus), results.rows.get(step), colour, measure)
    axes.set_yticks(range(len(steps)), map(named, steps), fontsize=9.5)
    axes.set_ylim(len(steps) - 0.4, -0.6)
    axes.set_xlim(0, 1.12 * max(axes.dataLim.xmax, 1))
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.tick_params(axis="y", length=0)


def draw_over_n(axes, gpus, measure):
    """The fastest step at each n, and CUB as a dashed line."""
    for results, colour in zip(gpus, COLOURS):
        if not results.sweep:
            continue
        rows = [row for step, line in results.sweep.items() if step != REFERENCE for row in line]
        best = {row["elements"]: row for row in sorted(rows, key=lambda row: row["gb_per_s"])}
        for line, style in ((best.values(), ".-"), (results.sweep.get(REFERENCE, []), "--")):
            points = sorted((row["elements"], row["gb_per_s"] * measure(row)) for row in line if measure(row))
            axes.plot([n for n, _ in points], [value for _, value in points], style, color=colour)
    axes.set_xscale("log", base=2)
    axes.set_ylim(0, 1.08 * max(axes.dataLim.ymax, 1))
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_xlabel("n, floats")


def draw(gpus):
    steps = sorted({step for results in gpus for step in results.rows}, key=lambda step: (step == REFERENCE, step))
    heights = [0.5 + 0.18 * max(2, len(gpus)) * len(steps), *([3.4] if any(results.sweep for results in gpus) else [])]
    figure, grid = plt.subplots(len(heights), 2, figsize=(12, 0.5 + 0.36 * len(gpus) + sum(heights)), height_ratios=heights, squeeze=False,
                                layout="constrained")
    for column, (heading, measure) in zip(grid.T, MEASURES.items()):
        column[0].set_title(heading)
        draw_steps(column[0], gpus, steps, measure)
        for axes in column[1:]:
            axes.set_title("The fastest step at each n; dashed: CUB", fontsize=11)
            axes.set_ylabel(heading)
            draw_over_n(axes, gpus, measure)
    grid[0, 1].set_yticklabels([])
    figure.legend([plt.Rectangle((0, 0), 1, 1, color=colour) for colour in COLOURS], map(described, gpus), frameon=False,
                  loc="outside upper left", alignment="left", fontsize=10, title_fontsize=12,
                  title="L2 cache cold; error bars: interquartile range")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="folder with the run-all.csv of a GPU, and optionally its sweep.csv")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.svg", help="the chart")
    options = parser.parse_args()
    if not options.folders or not all(options.folders):
        fail("folders are needed, as in: make compare A=plots/h200 B=results, or GPUS='plots/h200 plots/rtx4090 results'")
    if len(options.folders) > len(COLOURS):
        fail(f"{len(options.folders)} folders are too many for one chart: the maximum is {len(COLOURS)}")
    gpus = [read_results(Path(folder)) for folder in options.folders]
    for results in gpus[1:]:
        check_sizes(gpus[0], results)
    plot.save(draw(gpus), options.output.parent, options.output.stem)


if __name__ == "__main__":
    main()
