"""The elements per second of each step, for each kind of data: a panel for selections, histograms and sorts."""

from plot import LINE_COLOURS, plt

# What the simulator's chart shows.
COUNTERS = {"bank_conflicts": "bank conflicts", "global_load_sectors": "sectors loaded", "global_store_sectors": "sectors stored"}
# Title of a panel -> its first step.
PANELS = {"Selection": 0, "Histogram": 4, "Radix sort": 9}
KINDS = ("random", "skewed", "ones")


def panel_of(row):
    """The panel of a row's step."""
    return [title for title, first in PANELS.items() if first <= int(row["step"][4:6])][-1]


def draw(rows):
    """A mark for each step and kind of data. The histogram's scale is logarithmic: its first step is hundreds of times slower than the others."""
    figure, axes = plt.subplots(1, len(PANELS), figsize=(13, 5.2))
    for axis, title in zip(axes, PANELS):
        chosen = [row for row in rows if panel_of(row) == title]
        steps = list(dict.fromkeys(row["step"] for row in chosen))
        for kind, colour in zip(KINDS, LINE_COLOURS):
            own = [row for row in chosen if row["data"] == kind]
            axis.plot([steps.index(row["step"]) for row in own], [float(row["gelements_per_s"]) for row in own], "o", color=colour, label=kind)
        axis.set_xticks(range(len(steps)), [step[4:].replace("_", " ") for step in steps], rotation=60, ha="right")
        if title == "Histogram":
            axis.set_yscale("log")
        else:
            axis.set_ylim(bottom=0)
        axis.yaxis.set_major_formatter("{x:,.10g}")
        axis.set_title(title)
    axes[0].set_ylabel("10^9 elements per second")
    axes[0].legend(title="data", frameon=False)
    figure.suptitle(f"{rows[0]['device']}, {int(rows[0]['elements']):,} elements, cold cache")
    return figure
