from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 32]) for k in range(0, n, 32)])}


EXERCISE = dict(
    chapter="5. Shuffles", title="From register to register", kind="write",
    task="Let each warp add its 32 values with shuffles: __shfl_down_sync(0xffffffff, own, s) returns the value of the lane s positions higher.",
    hints=("The tree is the same as before: distance 16, then 8, 4, 2, 1.",
           "All 32 lanes take part in each shuffle, so do not put it into an if.",
           "for (int s = 16; s > 0; s /= 2) own += __shfl_down_sync(0xffffffff, own, s);"),
    why="A shuffle reads another lane's register. It needs neither shared memory nor a barrier: the shuffle itself synchronises the lanes.",
    lesson="step08_shuffle/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("shared loads per block", "shared_loads", True, 0), Goal("load requests per block", "global_load_requests", True, 8)),
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
