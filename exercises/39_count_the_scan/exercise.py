from itertools import accumulate

from drywarp.learn.exercise import Count, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([float(value) for k in range(0, n, 256) for value in accumulate(values[k:k + 256])])}


EXERCISE = dict(
    chapter="10. Scans", title="What a scan costs", kind="predict",
    task="Count by hand the accesses and barrier arrivals of one block of a scan, and compare them with the tree of exercise 09. Write your numbers; the simulator checks them.",
    hints=("8 warps, and rounds with s = 1, 2, 4, ... 128: eight of them.",
           "All warps store in each round. In the rounds up to s = 16 each warp has a thread from s on; with s = 32 the first warp has none.",
           "Stores: 8 * 8. Loads: 5 * 8 + 7 + 6 + 4. Arrivals: 8 warps, at 2 barriers in each of 8 rounds."),
    why="64 stores, 57 loads (the tree has 25) and 128 arrivals (the tree has 72). In a tree fewer and fewer warps have work; in a scan almost all warps have work in every round.",
    lesson="scan/step02_shuffle/README.md",
    kernel="scan", data=data, grid=lambda n: n // 256, sizes=(2560,), random_sizes=(2560, 2560, 1),
    questions=(Count("shared stores per block", "shared_stores", True), Count("shared loads per block", "shared_loads", True),
               Count("barrier arrivals per block", "block_barriers", True)),
    wrong=(("shared stores per block", (8, 9, 256, 2048)), ("shared loads per block", (64, 56, 25, 47, 65)),
           ("barrier arrivals per block", (16, 72, 64, 256))),
)
