"""GB/s of each program over the mean length of the segments."""

from plot import LINE_COLOURS, REFERENCE_COLOUR, named, plt, sized

# What the simulator's chart shows: counter (a column of SIM_COUNTERS) -> the panel's title
COUNTERS = {"global_store_sectors": "sectors stored by threads", "shuffles": "shuffles", "shared_loads": "shared loads"}
APART = 0.055  # between the names at the right, as a share of the axis


def lines_of(rows):
    """For each step its rows in order: every step measures the same mean lengths."""
    lines = {}
    for row in rows:
        lines.setdefault(row["step"], []).append(row)
    return lines


def is_one_thread(step):
    return step.endswith("_onethread")


def speeds(line):
    return [float(row["gb_per_s"]) for row in line]


def length(row):
    return "all" if row["mean_length"] == row["elements"] else f"{int(row['mean_length']):,}"


def finding(lines):
    """The title: the speed over all lengths of each program that writes a result for every element."""
    words = []
    for step, line in lines.items():
        if not step.endswith("_sums"):
            words.append(f"{'CUB' if step.endswith('_cub') else named(step)} {min(speeds(line)):,.0f} to {max(speeds(line)):,.0f} GB/s")
    return "Whatever the length of the segments: " + ", ".join(words) if words else "The speed over the length of the segments"


def draw(rows):
    """The figure: a line for each step except the one-thread step, which is named below the axis; names at the right ends."""
    lines = lines_of(rows)
    slow = {step: lines.pop(step) for step in list(lines) if is_one_thread(step)}
    figure, axes = plt.subplots(figsize=(10, 5.4))
    ends = []
    for step, colour in zip(lines, LINE_COLOURS[2:]):
        colour = REFERENCE_COLOUR if step.endswith("_cub") else colour
        axes.plot(range(len(lines[step])), speeds(lines[step]), marker="o", color=colour)
        name = "CUB" if step.endswith("_cub") else named(step) + (" (8 bytes)" if step.endswith("_sums") else "")
        ends.append((speeds(lines[step])[-1], name, colour))
    top = 1.15 * max((max(speeds(line)) for line in lines.values()), default=1)
    axes.set_ylim(0, top)
    last = max(map(len, lines.values()), default=1) - 1
    height = -top
    for speed, name, colour in sorted(ends):  # from below, each name above the one before
        height = max(speed, height + APART * top)
        axes.annotate(name, (last, speed), xytext=(last + 0.12, height), textcoords="data", va="center", color=colour, fontsize=sized(10),
                      annotation_clip=False)
    longest = max(lines.values(), key=len, default=[])
    axes.set_xticks(range(len(longest)), [length(row) for row in longest])
    axes.set_xlabel("mean length of a segment, in elements" + "".join(
        f"\n(not drawn: {named(step)}, {max(speeds(line)):.2g} GB/s at {int(line[0]['elements']):,} elements)" for step, line in slow.items()))
    axes.set_ylabel("GB/s, 12 bytes per element (step 03: 8)")
    axes.set_title(f"{finding(lines)}\n{rows[0]['device']}, {int((longest or rows)[0]['elements']):,} elements, cold cache", fontsize=sized(12))
    return figure
