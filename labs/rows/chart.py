"""The speed of each step relative to a copy of the same bytes, over the length of the rows: a panel for each operation and type."""

from plot import LINE_COLOURS, plt, sized

# What the simulator's chart shows.
COUNTERS = {"global_load_sectors": "sectors loaded", "shared_loads": "shared loads", "block_barriers": "barriers, per warp"}
TITLES = {"softmax": "Softmax", "layernorm": "LayerNorm", "rmsnorm": "RMSNorm"}


def panels_of(rows):
    """The rows of each operation and type of element, in order."""
    panels = {}
    for row in rows:
        panels.setdefault((row["operation"], row["element"]), []).append(row)
    return panels


def draw(rows):
    """A line for each step in the panel of what it computes."""
    panels = panels_of(rows)
    columns = sorted({int(row["columns"]) for row in rows})
    figure, axes = plt.subplots(1, max(len(panels), 1), figsize=(4.6 * max(len(panels), 1), 5), sharey=True, squeeze=False)
    for axis, ((operation, element), chosen) in zip(axes[0], panels.items()):
        for step, colour in zip(dict.fromkeys(row["step"] for row in chosen), LINE_COLOURS):
            share = {int(row["columns"]): float(row["of_copy"]) for row in chosen if row["step"] == step}
            axis.plot(range(len(columns)), [share.get(count) for count in columns], marker="o", color=colour, label=step[4:].replace("_", " ", 1))
        axis.axhline(1, color="black", linewidth=sized(1))
        axis.set_xticks(range(len(columns)), [f"{count:,}" for count in columns], rotation=60)
        axis.set_title(f"{TITLES[operation]}, {element}")
        axis.set_ylim(0, 1.1)
        axis.legend(frameon=False, loc="lower center")
    axes[0][0].set_ylabel("bandwidth relative to a copy")
    figure.supxlabel("numbers in a row")
    return figure
