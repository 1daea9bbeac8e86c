from scripts.learn.exercise import Gate, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 32]) for k in range(0, n, 32)])}


EXERCISE = dict(
    chapter="5. Shuffles", title="From register to register", kind="write",
    task="Let each warp add up its 32 values with shuffles: __shfl_down_sync(0xffffffff, own, s) gives a lane the value of the lane s further on.",
    hints=("The tree is the one that you know: 16 further on, then 8, 4, 2, 1.",
           "All 32 lanes take part in each shuffle, so no if around it.",
           "for (int s = 16; s > 0; s /= 2) own += __shfl_down_sync(0xffffffff, own, s);"),
    why="A shuffle takes a value out of another lane's register: no shared memory, and no barrier, for the shuffle itself lets the lanes meet.",
    lesson="step08_shuffle/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
    gates=(Gate("shared loads a block", "shared_loads", True, 0), Gate("load requests a block", "global_load_requests", True, 8)),
    wrong=(
        ("s = 16", "s = 8"),
        ("s = 16", "s = 32"),
        ("s > 0", "s > 1"),
        ("own, s)", "own, 1)"),
        ("own +=", "own ="),
        ("__shfl_down_sync", "__shfl_up_sync"),
        ("0xffffffff", "0xffff"),
        ("        own += __shfl", "        if (i % 32 < s)\n            own += __shfl"),
        ("i % 32 == 0", "i % 32 == 31"),
    ),
)
