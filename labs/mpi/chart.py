"""What it costs to combine the ranks' results, and what ranks gain, compared with T(n, p) = a n/p + b log2 p."""

import math

from plot import GREY, LINE_COLOURS, count, plt, sized

COUNTERS = {}  # nothing runs on the simulator: the programs have times without a GPU, too


def number(row, column):
    return float(row[column])


def fitted(rows):
    """The b, in ms, for which b log2 p fits best to overhead_ms; None with fewer than two ranks."""
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


def best_gain(rows):
    """The gain of the most ranks over the fastest run with one rank, for programs with the same loop; None if one of the two is missing."""
    most = max(int(row["ranks"]) for row in rows)
    ms = {p: [number(row, "median_ms") for row in rows if int(row["ranks"]) == p] for p in (1, most)}
    return min(ms[1]) / min(ms[most]) if all(ms.values()) and most > 1 else None


def draw(rows):
    """Left: only the messages; right: the cost of each step. A line for each step, the model of step 01 dashed."""
    figure, (overhead, cost) = plt.subplots(1, 2, figsize=(sized(12), sized(5.4)))
    steps = {}
    for row in rows:
        steps.setdefault(row["step"], []).append(row)
    ranks = sorted({int(row["ranks"]) for row in rows})
    for colour, (step, own) in zip(LINE_COLOURS, steps.items()):
        own.sort(key=lambda row: int(row["ranks"]))
        line = {"color": colour, "marker": "o", "label": step[4:].replace("_", " ")}
        several = [row for row in own if int(row["ranks"]) > 1]
        overhead.plot([int(row["ranks"]) for row in several], [1e3 * number(row, "overhead_ms") for row in several], **line)
        cost.plot([int(row["ranks"]) for row in own], [number(row, "cost_ms") for row in own], **line)
    reduce = next((own for step, own in steps.items() if step.endswith("_reduce")), rows)
    b_ms = fitted(reduce)
    found = "one rank: no messages"
    if b_ms is not None:
        one_ms = next((number(row, "median_ms") for row in reduce if row["ranks"] == "1"), None)
        overhead.plot(ranks[1:], [1e3 * b_ms * math.log2(p) for p in ranks[1:]], color="black", linestyle="--", linewidth=sized(1))
        if one_ms:
            cost.plot(ranks, [one_ms + p * b_ms * math.log2(p) for p in ranks], color="black", linestyle="--", linewidth=sized(1), label="model of step 01")
        found = f"only messages; dashed: b = {1e3 * b_ms:.2g} µs fits step 01 best"
        overhead.set_yscale("log")
        overhead.yaxis.set_major_formatter("{x:,.10g}")
    cores = int(rows[0]["cores"])
    for axes in (overhead, cost):
        if cores < ranks[-1]:
            axes.axvline(cores, color=GREY, linestyle=":")
    panel(overhead, found, "µs for one element per rank", ranks[1:] or ranks)
    panel(cost, f"n = {count(number(rows[0], 'elements'))}: cost, the time of all ranks together", "p · T in ms", ranks)
    cost.set_ylim(bottom=0)
    cost.legend(frameon=False, fontsize=sized(8), ncols=2, loc="lower left")
    adding = [row for row in rows if row["step"].endswith(("_send", "_reduce"))]
    gains = {"adding": best_gain(adding) if adding else None, "searching": best_gain([row for row in rows if row not in adding] or rows)}
    said = ", ".join(f"{gain:.1f} times as fast at {what}" for what, gain in gains.items() if gain)
    figure.suptitle(f"{ranks[-1]} ranks against one: {said or 'not measured'}\n"
                    f"{rows[0]['device']}, {cores} cores; dashed: T(n, p) = a n/p + b log2 p", x=0.01, ha="left", fontsize=sized(12))
    return figure
