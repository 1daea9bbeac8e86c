"""The speed of each step relative to a copy of the same bytes, over the length of the rows."""

from plot import LINE_COLOURS, plt, sized

# What the simulator's chart shows.
COUNTERS = {"global_load_requests": "load requests", "global_load_sectors": "sectors loaded", "block_barriers": "barriers, per warp"}
MAIN = "128"  # columns of the case that the lab's page shows


def draw(rows):
    """A line for each step: its speed over the copy's, for each number of columns."""
    figure, axes = plt.subplots(figsize=(10, 5.4))
    steps = list(dict.fromkeys(row["step"] for row in rows))
    columns = sorted({int(row["columns"]) for row in rows})
    for step, colour in zip(steps, LINE_COLOURS):
        share = {int(row["columns"]): float(row["of_copy"]) for row in rows if row["step"] == step}
        axes.plot(range(len(columns)), [share.get(count) for count in columns], marker="o", color=colour, label=step[4:].replace("_", " ", 1))
    axes.axhline(1, color="black", linewidth=sized(1))
    axes.set_xticks(range(len(columns)), columns)
    axes.set_xlabel("columns per row")
    axes.set_ylabel("bandwidth relative to a copy")
    axes.set_ylim(0, 1.1)
    best = max((row for row in rows if row["columns"] == MAIN), key=lambda row: float(row["of_copy"]))
    axes.set_title(f"Rows of {MAIN}: {best['step'][4:].replace('_', ' ', 1)} reaches {100 * float(best['of_copy']):.0f} % of a copy's bandwidth\n"
                   f"{best['device']}, {float(best['gb_per_s']):,.0f} GB/s read and written")
    axes.legend(frameon=False, loc="lower right")
    return figure
