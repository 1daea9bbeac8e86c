"""The time of a call of Thrust and of CUB over the number of elements."""
from plot import LINE_COLOURS, REFERENCE_COLOUR, count, duration, named, plt, sized

# What the simulator's chart shows: counter (a column of SIM_COUNTERS) -> the panel's title
COUNTERS = {"global_load_requests": "load requests", "global_load_sectors": "sectors loaded", "global_store_sectors": "sectors stored"}


def lines_of(rows):
    """For each step its times by the number of elements."""
    lines = {}
    for row in rows:
        lines.setdefault(row["step"], {})[int(row["elements"])] = float(row["median_ms"])
    return lines


def finding(lines):
    """Thrust's and CUB's time of the same sum, at the smallest and at the largest size."""
    thrust, cub = (next((line for step, line in lines.items() if step.endswith(end)), {}) for end in ("_transform", "_cub"))
    sizes = sorted(thrust.keys() & cub.keys())
    if not sizes:
        return "What a call takes"
    words = (f"{duration(thrust[n])} with Thrust and {duration(cub[n])} with CUB at n = {count(n)}" for n in dict.fromkeys((sizes[0], sizes[-1])))
    return "The sum of the squares takes " + ",\n".join(words)


def draw(rows):
    """The figure: a line for each step, both axes logarithmic, names at the right ends."""
    lines = lines_of(rows)
    figure, axes = plt.subplots(figsize=(10, 5.4))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ends = []
    for step, colour in zip(lines, LINE_COLOURS):
        sizes = sorted(lines[step])
        colour = REFERENCE_COLOUR if step.endswith("_cub") else colour
        axes.plot(sizes, [lines[step][n] for n in sizes], marker="o", color=colour)
        ends.append((lines[step][sizes[-1]], sizes[-1], step, colour))
    height = 0
    for ms, n, step, colour in sorted(ends):  # from below, each name above the one before
        height = max(ms, 1.2 * height)
        axes.annotate(named(step), (n, ms), xytext=(1.02 * axes.get_xlim()[1], height), textcoords="data", va="center", color=colour,
                      fontsize=sized(10), annotation_clip=False)
    axes.yaxis.set_major_formatter(lambda ms, _: duration(ms))
    axes.yaxis.set_minor_formatter("")
    axes.set_xlabel("elements")
    axes.set_ylabel("median time of a call, logarithmic")
    axes.set_title(f"{finding(lines)}\n{rows[0]['device']}, cold cache", fontsize=sized(12))
    return figure
