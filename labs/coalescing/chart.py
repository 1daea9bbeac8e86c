"""How many bytes does a warp move for each useful byte, and what bandwidth does that leave?"""
from plot import GREY, LINE_COLOURS, REFERENCE_COLOUR, STEP_COLOUR, plt, sized  # plots/plot.py is on the path

# What the simulator's chart shows: counter (a column of SIM_COUNTERS) -> the panel's title
COUNTERS = {
    "global_load_sectors": "sectors loaded",
    "global_store_sectors": "sectors stored",
    "bank_conflicts": "bank conflicts",
}

COLOURS = dict(zip(["step00", "step01", "step02", "step03", "step04"],
                   [STEP_COLOUR, REFERENCE_COLOUR, *LINE_COLOURS[:3]]))
# The steps' names in the title, line by line.
NAMES = [[("rows", "Rows"), ("columns", "columns")], [("transpose", "Transpose"), ("padded", "with a padded tile")]]


def colour(row):
    return COLOURS.get(row["step"].partition("_")[0], GREY)


def draw_bytes(axes, rows):
    """For each case a wide bar for the bytes of its sectors, and a thin one in front for the useful bytes."""
    moved = [float(row["moved_bytes"]) for row in rows]
    useful = [float(row["wanted_bytes"]) for row in rows]
    positions = range(len(rows))
    axes.barh(positions, moved, color=[colour(row) for row in rows], alpha=0.45)
    axes.barh(positions, useful, height=0.4, color=[colour(row) for row in rows])
    for y, (used, fetched) in enumerate(zip(useful, moved)):
        axes.annotate(f"{used:.0f} of {fetched:.0f}", (fetched, y), xytext=(3, 0),
                      textcoords="offset points", va="center", fontsize=sized(8.5))
    axes.set_xlim(0, 1.2 * max(moved))
    axes.set_xlabel("bytes per element: thin bar useful, wide bar moved")
    most = max(m / u for m, u in zip(moved, useful))
    axes.set_title(f"A warp's sectors hold up to {most:.0f} times its useful bytes")


def draw_rates(axes, rows):
    """The bandwidth, counted in useful bytes."""
    rates = [float(row["gb_per_s"]) for row in rows]
    axes.barh(range(len(rows)), rates, color=[colour(row) for row in rows])
    for y, rate in enumerate(rates):
        axes.annotate(f"{rate:,.0f}", (rate, y), xytext=(3, 0), textcoords="offset points", va="center",
                      fontsize=sized(8.5))
    axes.set_xlim(0, 1.15 * max(rates))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("GB/s of useful bytes")
    axes.set_title(finding(rows))


def finding(rows):
    """The title: the best bandwidth of each step."""
    best = {}
    for row in rows:
        word = row["step"].partition("_")[2]
        best[word] = max(best.get(word, 0), float(row["gb_per_s"]))
    lines = [[f"{name} {best[word]:,.0f}" for word, name in names if word in best] for names in NAMES]
    return "\n".join(", ".join(line) + " GB/s at best" for line in lines if line)


def draw(rows):
    """The figure: useful bytes and bytes moved, and beside them the bandwidth, for each step and block."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 1.6 + 0.27 * len(rows)), sharey=True)
    draw_bytes(left, rows)
    draw_rates(right, rows)
    names = [f"{row['step'][4:].replace('_', ' ', 1)}, {row['block'].replace('x', ' × ')}" for row in rows]
    left.set_yticks(range(len(rows)), names, fontsize=sized(9))
    left.set_ylim(len(rows) - 0.4, -0.6)
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
    edge = int(rows[0]["rows"])
    figure.suptitle(f"{rows[0]['device']}, {edge:,} × {edge:,} floats, by step and block", x=0.01, ha="left",
                    fontsize=sized(12))
    return figure
