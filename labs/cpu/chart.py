"""What threads gain on a CPU, step by step, compared with T(n, p) = a n/p + b log2 p and with the memory's limit."""

import math

from plot import GREY, LINE_COLOURS, count, plt, sized

COUNTERS = {}  # nothing runs on the simulator: the programs have times without a GPU, too


def number(row, column):
    return float(row[column])


def model(rows):
    """T as a function of the threads: the time of one thread divided among them, and the b that best fits the overhead of the threads."""
    one_ms = next((number(row, "median_ms") for row in rows if row["threads"] == "1"), None)
    logs = [(math.log2(number(row, "threads")), number(row, "overhead_ms")) for row in rows]
    squares = sum(log * log for log, _ in logs)
    if one_ms is None or not squares:
        return None
    b_ms = sum(log * ms for log, ms in logs) / squares
    return lambda threads: one_ms / threads + b_ms * math.log2(threads)


def panel(axes, title, label, threads):
    axes.set_title(title, fontsize=sized(11))
    axes.set_ylabel(label)
    axes.set_xlabel("threads")
    axes.set_xscale("log", base=2)
    axes.set_xticks(threads, threads)
    axes.minorticks_off()


def draw(rows):
    """Time, speed-up, efficiency and cost against the threads: a line for each step, the model of two of them dashed."""
    figure, panels = plt.subplots(2, 2, figsize=(sized(11), sized(9)))
    time, speedup, efficiency, cost = panels.flat
    steps = {}
    for row in rows:
        steps.setdefault(row["step"], []).append(row)
    threads = sorted({int(row["threads"]) for row in rows})
    # The baseline: one core, if it was measured.
    base = min(rows, key=lambda row: (row["step"], int(row["threads"])))
    base_ms = number(base, "median_ms")
    dashed = [step for step in steps if step.endswith(("_openmp", "_simd"))]
    for colour, (step, own) in zip(LINE_COLOURS, steps.items()):
        own.sort(key=lambda row: int(row["threads"]))
        p = [int(row["threads"]) for row in own]
        ms = [number(row, "median_ms") for row in own]
        line = {"color": colour, "marker": "o", "label": step[4:].replace("_", " ")}
        lines = [(time, ms), (speedup, [base_ms / t for t in ms]), (efficiency, [base_ms / t / q for t, q in zip(ms, p)]),
                 (cost, [t * q for t, q in zip(ms, p)])]
        for axes, values in lines:
            axes.plot(p, values, **line)
        ideal = model(own) if step in dashed else None
        if ideal:
            ideals = [ideal(q) for q in p]
            for axes, values in [(time, ideals), (speedup, [base_ms / t for t in ideals]), (efficiency, [base_ms / t / q for t, q in zip(ideals, p)]),
                                 (cost, [t * q for t, q in zip(ideals, p)])]:
                axes.plot(p, values, color=colour, linestyle="--", linewidth=sized(1), label="its model" if axes is time else None)
    # The memory's limit: a band, because every program measured it. A few bytes on a busy machine are rounded to 0.000.
    limits = {q: [max(number(row, "read_gb_per_s"), 0.0005) for row in rows if int(row["threads"]) == q] for q in threads}
    read_ms = {q: [4 * number(base, "elements") / limit / 1e6 for limit in limits[q]] for q in threads}
    time.fill_between(threads, [min(read_ms[q]) for q in threads], [max(read_ms[q]) for q in threads], color=GREY, alpha=0.6, linewidth=sized(1),
                      label="read-only loop")
    speedup.plot(threads, threads, color=GREY, linewidth=sized(1))
    speedup.annotate("p", (threads[-1], threads[-1]), xytext=(4, -2), textcoords="offset points", color="black", fontsize=sized(9))
    efficiency.axhline(1, color=GREY, linewidth=sized(1))
    cost.axhline(base_ms, color=GREY, linewidth=sized(1))
    cores = int(base["cores"])
    for axes in panels.flat:
        if cores < threads[-1]:
            axes.axvline(cores, color=GREY, linestyle=":")
    best = min(rows, key=lambda row: number(row, "median_ms"))
    limit = limits[int(best["threads"])]
    panel(time, "time, and the time of a read-only loop", "ms", threads)
    panel(speedup, f"speed-up: {base_ms / number(best, 'median_ms'):.1f} at most", f"T of {base['step'][4:].replace('_', ' ')} / T", threads)
    panel(efficiency, "efficiency: speed-up per thread", "speed-up / p", threads)
    panel(cost, "cost: the time of all threads together", "p · T in ms", threads)
    cost.set_ylim(bottom=0)
    efficiency.set_ylim(bottom=0)
    for axes in (time, speedup):
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter("{x:,.10g}")
    time.legend(frameon=False, fontsize=sized(8))
    figure.suptitle(f"n = {count(number(best, 'elements'))}: {best['step'][4:].replace('_', ' ')} reads at {number(best, 'gb_per_s'):,.0f} GB/s with "
                    f"{best['threads']} threads, a read-only loop at {min(limit):,.0f} to {max(limit):,.0f}\n{best['device']}, {cores} cores; "
                    "dashed: T(n, p) = a n/p + b log2 p", x=0.01, ha="left", fontsize=sized(12))
    return figure
