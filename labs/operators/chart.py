"""GB/s of each operator and type, in each step of the lab."""

from plot import GREY, LINE_COLOURS, plt, short, sized

# What the simulator's chart shows: counter -> the panel's title
COUNTERS = {"shuffles": "shuffles", "global_load_sectors": "sectors loaded"}


def case(row):
    """The chart's label of an operator and its type."""
    return f"{row['operator']}\n{row['type']}"


def finding(speeds):
    """The title: how the operators and types of the newest step in which the GPU finishes compare with the sum of int."""
    reference = speeds.get("sum\nint")
    if not reference:
        return "GB/s of each operator and type"
    shares = {name.replace("\n", " of "): speed / reference for name, speed in speeds.items()}
    others = [name for name in shares if name != "sum of int"]
    level = [name for name in others if shares[name] >= 0.97]
    slowest = min(shares, key=shares.get)
    return (f"{len(level)} of {len(others)} other operators and types reach at least 97 % of the sum of int, {short(reference)} GB/s; "
            f"the {slowest} reaches {short(100 * shares[slowest])} %")


def draw(rows):
    """The figure: a group for each operator and type, in it a mark for each step (rows: the CSV's rows with status PASS, as dicts of strings)."""
    figure, axes = plt.subplots(figsize=(11, 5.2))
    steps, cases = sorted({row["step"] for row in rows}), list(dict.fromkeys(case(row) for row in rows))
    last, newest, colour = {}, "", "black"  # of each case in the newest step in which the GPU finishes
    for number, step in enumerate(steps):
        own = [row for row in rows if row["step"] == step]
        places = [cases.index(case(row)) + 0.12 * (number - (len(steps) - 1) / 2) for row in own]
        marker, shade = ("s", GREY) if step.endswith("_host") else ("o", LINE_COLOURS[number % len(LINE_COLOURS)])
        axes.plot(places, [float(row["gb_per_s"]) for row in own], marker, color=shade, label=step.removeprefix("step").replace("_", " ", 1))
        if not step.endswith("_host"):
            newest, colour = step[4:6], shade
            last = {case(row): float(row["gb_per_s"]) for row in own}
    for position, name in enumerate(cases):
        if name in last:
            top = max(float(row["gb_per_s"]) for row in rows if case(row) == name)
            axes.annotate(short(last[name]), (position, top), xytext=(0, sized(8)), textcoords="offset points", ha="center",
                          fontsize=sized(9.5), color=colour)
        axes.axvline(position + 0.5, color=GREY, linewidth=sized(0.5))
    axes.set_xticks(range(len(cases)), cases)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, len(cases) - 0.5)
    axes.set_ylim(0, 1.15 * max(float(row["gb_per_s"]) for row in rows))
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_ylabel("GB/s of input")
    axes.legend(title="step", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    elements = int(rows[0]["elements"])
    title = finding(last).replace("; ", "\n")
    axes.set_title(f"{title}\n{rows[0]['device']}, {elements:,} elements, including the copy of the result to the host; numbers: step {newest}", fontsize=sized(11))
    return figure
