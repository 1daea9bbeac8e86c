from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values)]), "n": n}


EXERCISE = dict(
    chapter="10. Scans", title="Unset padding", kind="fix",
    task="The tree adds 256 elements, but only n of them are set: fix the kernel.",
    hints=("The finding reports an uninitialised read. What is in sums[n] to sums[255]?",
           "The tree adds these elements, too, so they need a value that does not change the sum.",
           "sums[tid] = tid < n ? in[tid] : 0;"),
    why="A tree or a scan over a power of two adds the padding after the last element. It must hold the operator's neutral element: 0 for a sum, and -infinity for a maximum.",
    lesson="docs/suites.md",
    kernel="sum", data=data, grid=lambda n: 1, sizes=(1, 2, 31, 33, 100, 255, 256), random_sizes=(1, 256, 1),
    goals=(Goal("load requests", "global_load_requests", most=16),),
    equivalent={"bound7": "two threads write the same sum"},
    wrong=(
        ("in[tid] : 0", "in[tid] : 1"),
        ("tid < n ?", "tid <= n ?"),
        ("tid < n ?", "tid + 1 < n ?"),
        ("tid < n ? in[tid] : 0", "in[tid]"),
        ("s = 128", "s = 64"),
        ("s > 0", "s > 1"),
        ("0;\n    __syncthreads();", "0;"),
        ("s];\n        __syncthreads();", "s];"),
        ("= sums[0]", "= sums[1]"),
        ("if (tid < s)", "if (tid <= s)"),
    ),
)
