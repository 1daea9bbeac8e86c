from itertools import accumulate

from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    scan = list(accumulate(sixteenths(n)))
    return {"scan": given(scan), "out": result([0.0, *scan[:-1]]), "n": n}


EXERCISE = dict(
    chapter="10. Scans", title="From inclusive to exclusive", kind="fix",
    task="The scan is shifted by one element, and both ends are wrong: fix the kernel.",
    hints=("There are two mistakes. Which element does the last thread write, and which element does no thread write?",
           "Thread i writes element i, for each i below n. What is the sum of the elements before element 0?",
           "if (i < n) out[i] = i > 0 ? scan[i - 1] : 0;"),
    why="A shift has two ends: one element has no source, and one has no destination. Element 0 of an exclusive scan is the neutral element.",
    lesson="docs/suites.md",
    kernel="make_exclusive", data=data, sizes=(1, 2, 31, 256, 257, 1000), random_sizes=(1, 3000, 1),
    goals=(Goal("load requests per block", "global_load_requests", True, 16),),
    wrong=(
        ("i < n", "i <= n"),
        ("i < n", "i + 1 < n"),
        ("i < n", "i > 0 && i < n"),
        ("i < n", "i < n && threadIdx.x > 0"),
        ("i > 0 ?", "i >= 0 ?"),
        ("i > 0 ?", "i > 1 ?"),
        ("i > 0 ?", "threadIdx.x > 0 ?"),
        ("scan[i - 1] : 0", "scan[i] : 0"),
        ("scan[i - 1] : 0", "scan[i - 1] : scan[0]"),
        ("scan[i - 1] : 0", "scan[0] : 0"),
    ),
)
