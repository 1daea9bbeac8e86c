"""The speed of each step relative to a copy of the same bytes, over the length of the rows: a panel for each operation and type."""

from itertools import product

from plot import LINE_COLOURS, plt, sized

# What the simulator's chart shows.
COUNTERS = {"global_load_sectors": "sectors loaded", "shared_loads": "shared loads", "block_barriers": "barriers, per warp"}
TITLES = {"softmax": "Softmax", "layernorm": "LayerNorm", "rmsnorm": "RMSNorm"}


def draw(rows):
    """A line for each step in the panel of what it computes: a column for each operation, a row of panels for each type of element."""
    operations, elements, steps = (list(dict.fromkeys(row[key] for row in rows)) for key in ("operation", "element", "step"))
    columns = sorted({int(row["columns"]) for row in rows})
    styles = dict(zip(steps, product(("-", "--"), LINE_COLOURS)))
    size = {"figsize": (4.4 * len(operations), 4.2 * len(elements) + 0.6)}
    figure, axes = plt.subplots(len(elements), len(operations), sharex=True, sharey=True, squeeze=False, **size)
    for (element, operation), axis in zip(product(elements, operations), axes.flat):
        chosen = [row for row in rows if (row["element"], row["operation"]) == (element, operation)]
        for step in dict.fromkeys(row["step"] for row in chosen):
            share = {int(row["columns"]): float(row["of_copy"]) for row in chosen if row["step"] == step}
            style, colour = styles[step]
            label = step[4:].replace("_", " ", 1)
            axis.plot(range(len(columns)), [share.get(count) for count in columns], style, marker="o", color=colour, label=label)
        axis.axhline(1, color="black", linewidth=sized(1))
        axis.set_xticks(range(len(columns)), [f"{count:,}" for count in columns], rotation=60)
        axis.set_title(f"{TITLES[operation]}, {element}")
        axis.set_ylim(0, 1.1)
        if chosen:
            axis.legend(frameon=False, loc="lower center", ncols=2)
    figure.supylabel("bandwidth relative to a copy")
    figure.supxlabel("numbers in a row")
    return figure
