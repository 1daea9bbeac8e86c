"""How fast is a vector addition, by block size and occupancy, and what do the copies from and to the host add?"""

from plot import GREY, LINE_COLOURS, STEP_COLOUR, plt, short, sized

# What the simulator's chart shows.
COUNTERS = {"warp_instructions": "warp instructions (PTX)", "global_load_requests": "load requests", "global_load_sectors": "sectors loaded"}
PARTS = {"to_device_ms": ("to the GPU", LINE_COLOURS[2]), "kernel_ms": ("kernel", STEP_COLOUR), "to_host_ms": ("to the host", LINE_COLOURS[1])}


def named(step):
    """A step's name in text: 00 block."""
    return step.removeprefix("step").replace("_", " ", 1)


def by_step(rows):
    """For each step its rows by block size."""
    steps = {}
    for row in rows:
        steps.setdefault(row["step"], {})[int(row["block"])] = row
    return steps


def copies(line):
    """Whether a step's arrays come from the host."""
    return any(float(row["to_device_ms"]) > 0 for row in line.values())


def spread_title(lines):
    """The title: the slowest and the fastest step at the smallest block size with the best occupancy."""
    most = max(float(row["occupancy_percent"]) for line in lines.values() for row in line.values())
    full = [block for block in sorted(set.intersection(*(set(line) for line in lines.values())))
            if all(float(line[block]["occupancy_percent"]) == most for line in lines.values())]
    if not full:
        return "GB/s and occupancy"
    speeds = {step: float(line[full[0]]["gb_per_s"]) for step, line in lines.items()}
    low, high = min(speeds, key=speeds.get), max(speeds, key=speeds.get)
    if low == high:
        return f"Blocks of {full[0]}: {short(speeds[low])} GB/s at {most:.0f} % occupancy"
    return f"Blocks of {full[0]}, occupancy {most:.0f} %: {short(speeds[low])} GB/s in {named(low)},\n{short(speeds[high])} GB/s in {named(high)}"


def draw_kernels(axes, lines):
    """GB/s against the block size, a line for each step; in the background bars for the occupancy."""
    blocks = sorted({block for line in lines.values() for block in line})
    position = {block: number for number, block in enumerate(blocks)}
    bars = axes.twinx()
    bars.spines["right"].set_visible(True)
    first = next(iter(lines.values()))
    bars.bar([position[block] for block in first], [float(row["occupancy_percent"]) for row in first.values()], color=GREY, alpha=0.45, width=0.8)
    bars.set_ylim(0, 118)
    bars.set_yticks(range(0, 101, 25))
    bars.set_ylabel("bars: occupancy, % of an SM's warps")
    axes.set_zorder(bars.get_zorder() + 1)
    axes.patch.set_visible(False)
    for (step, line), colour in zip(lines.items(), (LINE_COLOURS[0], LINE_COLOURS[3], STEP_COLOUR, *LINE_COLOURS)):
        axes.plot([position[block] for block in sorted(line)], [float(line[block]["gb_per_s"]) for block in sorted(line)],
                  color=colour, marker="o", linewidth=sized(2), label=named(step))
    peak = max(float(row["peak_gb_per_s"]) for line in lines.values() for row in line.values())
    best = max(float(row["gb_per_s"]) for line in lines.values() for row in line.values())
    if peak:
        axes.axhline(peak, color="black", linewidth=sized(1))
        axes.annotate(f"theoretical peak: {peak:,.0f} GB/s", (0, peak), xytext=(0, sized(3)), textcoords="offset points", fontsize=sized(9.5))
    axes.set_ylim(0, 1.18 * max(peak, best))
    axes.set_xticks(range(len(blocks)), blocks)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_xlabel("threads in a block")
    axes.set_ylabel("lines: GB/s, 12 bytes per element")
    axes.set_title(spread_title(lines))
    axes.legend(frameon=False, loc="lower right", fontsize=sized(9.5))


def draw_copies(axes, steps, block):
    """Where the time goes, a bar for each step."""
    names = list(steps)
    left = [0.0] * len(names)
    for part, (label, colour) in PARTS.items():
        widths = [float(steps[name][block][part]) for name in names]
        axes.barh(range(len(names)), widths, left=left, color=colour, label=label)
        left = [start + width for start, width in zip(left, widths)]
    for number, total in enumerate(left):
        axes.annotate(f"{total:.3g} ms", (total, number), xytext=(sized(4), 0), textcoords="offset points", va="center", fontsize=sized(9.5))
    axes.set_yticks(range(len(names)), [named(name) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.25 * max(left))
    axes.set_xlabel(f"ms, blocks of {block}")
    kernels = [float(steps[name][block]["kernel_ms"]) for name in names]
    ratios = [f"{short((total - kernel) / kernel)}× the kernel's time in {named(name)}"
              for name, total, kernel in zip(names, left, kernels) if copies(steps[name])]
    axes.set_title("The copies take " + ",\n".join(ratios))
    axes.legend(frameon=False, loc="lower right", fontsize=sized(9.5))


def draw(rows):
    """The figure: GB/s of the kernels by block size, and beside it the copies, if they were measured."""
    steps = by_step(rows)
    kernels = {step: line for step, line in steps.items() if not copies(line)}
    copied = {step: line for step, line in steps.items() if copies(line)}
    shared = set.intersection(*(set(line) for line in steps.values()))
    panels = bool(kernels) + bool(copied and shared)
    figure, axes = plt.subplots(1, panels, figsize=(6.8 * panels, 5.2), squeeze=False, width_ratios=[1.25, 1][:panels])
    if kernels:
        draw_kernels(axes[0][0], kernels)
    if copied and shared:
        last = dict(list(kernels.items())[-1:])
        draw_copies(axes[0][-1], {**last, **copied}, 256 if 256 in shared else max(shared))
    figure.suptitle(f"{rows[0]['device']}, {int(rows[0]['elements']):,} additions", x=0.01, ha="left", fontsize=sized(11))
    return figure
