from drywarp.learn.exercise import Count, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="2. Shared memory", title="What a tree costs", kind="predict",
    task="Count by hand the loads and barrier arrivals of one block. Write your numbers; the simulator checks them.",
    hints=("A block of 256 threads has 8 warps. The loop has 8 rounds: s is 128, 64, 32, 16, 8, 4, 2, 1.",
           "In the round with s = 128 four warps have a thread below s, and each of them loads twice: sums[tid] and sums[tid + s].",
           "Loads: 2 * (4 + 2 + 1 + 1 + 1 + 1 + 1 + 1), and one for out. Arrivals: 8 warps, at 1 + 8 barriers."),
    why="Count warps, not threads. Of the 25 loads, 10 belong to the last warp, in rounds in which it is not full. All 8 warps arrive at all 9 barriers: 72 arrivals.",
    lesson="step03_sequential/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(2560,), random_sizes=(2560, 2560, 1),
    questions=(Count("shared loads per block", "shared_loads", True), Count("barrier arrivals per block", "block_barriers", True)),
    wrong=(("shared loads per block", (24, 12, 13, 255, 256, 510, 511)), ("barrier arrivals per block", (8, 9, 64, 256, 2304))),
)
