"""How far is a sum of n floats from the exact one, in each order of the additions?"""

from plot import GREY, LINE_COLOURS, plt, sized

# The simulator rounds as a GPU does, so its chart is the lab's own and shows no counters.
COUNTERS = {}
PANELS = {"uniform": "Between −1 and 1", "mixed": "Mixed magnitudes, $2^{-16}$ to 1", "similar": "Between 0.1 and 0.102"}
STYLES = ["-", "-", "-", "--", ":", "-."]  # some lines coincide


def named(step):
    return step[4:].replace("_", " ")


def shown(error):
    if error >= 10:
        return f"{error:,.0f}"
    number, _, power = f"{error:.2g}".partition("e")
    return f"{number} × $10^{{{int(power)}}}$" if power else number


def errors(rows, step, data):
    """The largest error of a step at each size, in order."""
    found = [(int(row["elements"]), float(row["error"])) for row in rows if (row["step"], row["data"]) == (step, data)]
    return dict(sorted(found))


def finding(rows, steps, data):
    """The panel's title: the elements, and the errors of the first step and of the last at the largest size that both have."""
    first, last = (errors(rows, step, data) for step in (steps[0], steps[-1]))
    largest = max(first.keys() & last.keys(), default=None)
    if largest is None or len(steps) < 2:
        return PANELS[data]
    return (f"{PANELS[data]}; at n = {largest:,}\n{named(steps[0])} is off by {shown(first[largest])}, "
            f"{named(steps[-1])} by {shown(last[largest])}")


def draw(rows):
    """The figure: a panel for each data set, a line for each step (rows: the CSV's rows with status PASS, as dicts of strings)."""
    steps = sorted({row["step"] for row in rows})
    figure, panels = plt.subplots(1, len(PANELS), figsize=(14, 5), sharex=True, sharey=True)
    for axes, data in zip(panels, PANELS):
        for step, colour, style in zip(steps, LINE_COLOURS, STYLES):
            drawn = {n: error for n, error in errors(rows, step, data).items() if error > 0}  # a logarithmic axis has no 0
            axes.plot(drawn.keys(), drawn.values(), style, marker="o", markersize=sized(3), color=colour, label=named(step))
        axes.axhline(0.01, color=GREY, linewidth=sized(1), zorder=0)
        axes.annotate("0.01", (0, 0.01), xycoords=("axes fraction", "data"), xytext=(3, 3), textcoords="offset points",
                      color="#707070", fontsize=sized(9))
        axes.set_xscale("log", base=2)
        axes.set_xticks([4**power for power in range(2, 13, 2)])
        axes.set_yscale("log")
        axes.set_xlabel("elements")
        axes.set_title(finding(rows, steps, data), fontsize=sized(10))
    panels[0].set_ylabel("largest error of the sum in all runs")
    panels[0].legend(fontsize=sized(9), frameon=False, loc="upper left")
    return figure
