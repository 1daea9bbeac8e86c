"""What it costs to bring the ranks' results together, and what ranks gain, beside T(n, p) = a n/p + b log2 p."""

import math

from plot import GREY, LINE_COLOURS, count, plt, sized

COUNTERS = {}  # nothing runs on the simulator: without a GPU, too, there are times


def number(row, column):
    return float(row[column])


def fitted(rows):
    """The b, in ms, for which b log2 p fits best to overhead_ms; None where there are no two ranks."""
    logs = [(math.log2(number(row, "ranks")), number(row, "overhead_ms")) for row in rows]
    squares = sum(log * log for log, _ in logs)
    return sum(log * ms for log, ms in logs) / squares if squares else None


def panel(axes, title, label, ranks):
    axes.set_title(title, fontsize=sized(11))
    axes.set_ylabel(label)
    axes.set_xlabel("ranks")
    axes.set_xscale("log", base=2)
    axes.set_xticks(ranks, ranks)
    axes.minorticks_off()


def draw(rows):
    """Left the messages alone, right the speed-up of each step over itself: a line for each step, the model dashed."""
    figure, (overhead, speedup) = plt.subplots(1, 2, figsize=(sized(12), sized(5.4)))
    steps = {}
    for row in rows:
        steps.setdefault(row["step"], []).append(row)
    ranks = sorted({int(row["ranks"]) for row in rows})
    for colour, (step, own) in zip(LINE_COLOURS, steps.items()):
        own.sort(key=lambda row: int(row["ranks"]))
        line = {"color": colour, "marker": "o", "label": step[4:].replace("_", " ")}
        several = [row for row in own if int(row["ranks"]) > 1]
        overhead.plot([int(row["ranks"]) for row in several], [1e3 * number(row, "overhead_ms") for row in several], **line)
        speedup.plot([int(row["ranks"]) for row in own], [number(row, "speedup") for row in own], **line)
    reduce = next((own for step, own in steps.items() if step.endswith("_reduce")), rows)
    b_ms = fitted(reduce)
    found = "one rank: no messages"
    if b_ms is not None:
        one_ms = next((number(row, "median_ms") for row in reduce if row["ranks"] == "1"), None)
        overhead.plot(ranks[1:], [1e3 * b_ms * math.log2(p) for p in ranks[1:]], color="black", linestyle="--", linewidth=sized(1), label="b log2 p")
        if one_ms:
            speedup.plot(ranks, [one_ms / (one_ms / p + b_ms * math.log2(p)) for p in ranks], color="black", linestyle="--", linewidth=sized(1),
                         label="model of step 01")
        found = f"messages alone: b = {1e3 * b_ms:.2g} µs fits step 01 best"
        overhead.set_yscale("log")
        overhead.yaxis.set_major_formatter("{x:,.10g}")
    speedup.plot(ranks, ranks, color=GREY, linewidth=sized(1), label="p")
    cores = int(rows[0]["cores"])
    for axes in (overhead, speedup):
        if cores < ranks[-1]:
            axes.axvline(cores, color=GREY, linestyle=":")
    panel(overhead, found, "µs for an element a rank", ranks)
    panel(speedup, f"speed-up at n = {count(number(rows[0], 'elements'))}", "T(1) / T(p) of the same step", ranks)
    speedup.set_yscale("log", base=2)
    speedup.yaxis.set_major_formatter("{x:,.10g}")
    speedup.legend(frameon=False, fontsize=sized(8))
    best = max(rows, key=lambda row: number(row, "speedup"))
    figure.suptitle(f"{best['step'][4:].replace('_', ' ')} becomes {number(best, 'speedup'):.1f} times as fast with {best['ranks']} ranks\n"
                    f"{best['device']}, {cores} cores; dashed: T(n, p) = a n/p + b log2 p", x=0.01, ha="left", fontsize=sized(12))
    return figure
