"""Weak and strong scaling over the number of GPUs, and the cost of the exchange."""

from plot import LINE_COLOURS, plt, sized

# What the simulator's chart shows: counter -> the panel's title
COUNTERS = {"global_load_requests": "load requests", "global_load_sectors": "sectors loaded"}


def points(rows, step, scaling, column):
    """Numbers of GPUs, and the column's values at them."""
    found = sorted((int(row["gpus"]), float(row[column])) for row in rows if (row["step"], row["scaling"]) == (step, scaling))
    return [gpus for gpus, _ in found], [value for _, value in found]


def best(rows, scaling):
    """The row of the fastest step on all GPUs; None if there is only one GPU."""
    most = max((int(row["gpus"]) for row in rows), default=1)
    found = [row for row in rows if row["scaling"] == scaling and int(row["gpus"]) == most > 1]
    return min(found, key=lambda row: float(row["median_ms"]), default=None)


def draw_lines(axes, rows, scaling, column, factor):
    """A line for each step, with smaller points than the one before, so that coinciding lines stay visible."""
    steps = sorted({row["step"] for row in rows})
    for number, step in enumerate(steps):
        gpus, values = points(rows, step, scaling, column)
        later = len(steps) - 1 - number
        axes.plot(gpus, [factor * value for value in values], "o-", label=step, color=LINE_COLOURS[number % len(LINE_COLOURS)],
                  linewidth=1.5 + later, markersize=5 + 3 * later)
    axes.set_xticks(sorted({int(row["gpus"]) for row in rows}))
    axes.set_xlabel("GPUs")


def draw_scaling(axes, rows, scaling, what):
    """The bandwidth, and a straight line through that of one GPU."""
    draw_lines(axes, rows, scaling, "gb_per_s", 1)
    row = best(rows, scaling)
    alone = [float(one["gb_per_s"]) for one in rows if one["scaling"] == scaling and one["gpus"] == "1"]
    if row and alone:
        most = int(row["gpus"])
        axes.plot([1, most], [max(alone), most * max(alone)], "--", color="black", linewidth=1, label="ideal")
        what += f":\n{most} GPUs reach {100 * float(row['of_ideal']):.1f} % of {most} times one"
    axes.set_title(what)
    axes.set_ylabel("GB/s")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(bottom=0)


def draw_least(axes, rows):
    """The time of the smallest sum, one element on each GPU."""
    draw_lines(axes, rows, "least", "median_ms", 1000)
    row = best(rows, "least")
    axes.set_title("latency: one element per GPU" + (f":\n{1000 * float(row['median_ms']):.1f} µs on {row['gpus']} GPUs" if row else ""))
    axes.set_ylabel("µs")
    axes.set_ylim(bottom=0)


def draw(rows):
    """The figure: GB/s over the number of GPUs, weak and strong, each with the ideal; and the time of the smallest sum."""
    figure, panels = plt.subplots(1, 3, figsize=(13.5, 4.6))
    draw_scaling(panels[0], rows, "weak", "weak scaling: fixed n per GPU")
    draw_scaling(panels[1], rows, "strong", "strong scaling: fixed total n")
    draw_least(panels[2], rows)
    if rows:
        panels[0].legend(fontsize=sized(9), frameon=False)
    return figure
