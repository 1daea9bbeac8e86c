"""Is a reduction faster without the bank conflicts of the strided index, and which of the two remedies is better?"""
from plot import REFERENCE_COLOUR, STEP_COLOUR, count, duration, named, plt, sized, write_above

# What the simulator's chart shows: counter (a column of SIM_COUNTERS) -> the panel's title
COUNTERS = {"bank_conflicts": "bank conflicts", "shared_loads": "shared loads", "warp_instructions": "warp instructions (PTX)"}
BLOCK, LANES, BANKS = 256, 32, 32


def accesses(step):
    """For each access of a warp of one block, in the rounds of the tree: the words of shared memory that its lanes access."""
    place = (lambda word: word + word // 32) if "padded" in step else (lambda word: word)
    for s in (1, 2, 4, 8, 16, 32, 64, 128):
        left = range(s) if "sequential" in step else range(0, BLOCK, 2 * s)
        for first in range(0, len(left), LANES):
            mine = left[first:first + LANES]
            yield from ([place(word) for word in mine], [place(word + s) for word in mine], [place(word) for word in mine])  # load, load, store


def bank_conflicts(step):
    """Of one block: an access takes as many wavefronts as it has words in one bank, and all but the first are conflicts."""
    banks = ([word % BANKS for word in words] for words in accesses(step))
    return sum(max(map(wanted.count, wanted)) - 1 for wanted in banks)


def finding(steps, times, conflicts):
    """The title: the speedup of the steps without conflicts over the one with the most."""
    most = conflicts.index(max(conflicts))
    gains = [f"{named(step)} {times[most] / ms:.2f}×" for step, ms, found in zip(steps, times, conflicts) if found == 0]
    if not gains or conflicts[most] == 0:
        return "The time of a reduction, and its bank conflicts"
    return f"Without bank conflicts: {', '.join(gains)} as fast as {named(steps[most])}"


def draw(rows):
    """The figure: the time of each step, and beside it the bank conflicts of a block, computed from the addresses."""
    steps = [row["step"] for row in rows]
    times = [float(row["median_ms"]) for row in rows]
    conflicts = [bank_conflicts(step) for step in steps]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5))
    for axes, colour, values, words, unit in ((left, STEP_COLOUR, times, map(duration, times), f"median time, n = {count(int(rows[0]['elements']))}"),
                                              (right, REFERENCE_COLOUR, conflicts, map(str, conflicts), "bank conflicts in a block of 256 threads")):
        axes.bar(range(len(rows)), values, width=0.7, color=colour)
        for x, (value, word) in enumerate(zip(values, words)):
            write_above(axes, x, value, word)
        axes.set_xticks(range(len(rows)), map(named, steps), fontsize=sized(9))
        axes.set_ylim(0, 1.15 * max(*values, 1e-9))
        axes.set_ylabel(unit)
    left.yaxis.set_major_formatter(lambda ms, _: duration(ms) if ms else "0")
    figure.suptitle(f"{finding(steps, times, conflicts)}\n{rows[0]['device']}, cold cache", x=0.01, ha="left", fontsize=sized(12))
    return figure
