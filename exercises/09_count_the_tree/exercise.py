from scripts.learn.exercise import Count, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="2. A block shares", title="What a tree costs", kind="predict",
    task="Count by hand what one block does, write your numbers into the file, and save: the run counts, too.",
    hints=("A block of 256 threads has 8 warps; the loop has 8 rounds: s is 128, 64, 32, 16, 8, 4, 2, 1.",
           "In the round with s = 128 four warps have a thread below s, and each loads twice: sums[tid] and sums[tid + s].",
           "Loads: 2 * (4 + 2 + 1 + 1 + 1 + 1 + 1 + 1), and one for out. Arrivals: 8 warps, at 1 + 8 barriers."),
    why="Warps count, not threads: 10 of the 25 loads are of the one warp that is left, in rounds in which it is not full; and all 8 warps come to all 9 barriers: 72 arrivals.",
    lesson="step03_sequential/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(2560,), drawn=(2560, 2560, 1),
    questions=(Count("shared loads a block", "shared_loads", True), Count("barrier arrivals a block", "block_barriers", True)),
    wrong=(("shared loads a block", (24, 12, 13, 255, 256, 510, 511)), ("barrier arrivals a block", (8, 9, 64, 256, 2304))),
)
