from itertools import accumulate

from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([float(value) for value in accumulate(values)]), "n": n}


EXERCISE = dict(
    chapter="9. Beyond one sum", title="A scan in one block", kind="write",
    task="Store the sum of in[0] to in[i] in out[i], in ten rounds: each thread adds the element 1, 2, 4, ... 512 before its own.",
    hints=("After the round with s = 1 sums[tid] holds the sum of two elements, after s = 2 of four: each round doubles it.",
           "In one round, one thread reads a value that another one writes. So all threads have to read before any thread writes.",
           "for (s = 1, 2, ... 512) { float before = tid >= s ? sums[tid - s] : 0; __syncthreads(); sums[tid] += before; __syncthreads(); }"),
    why="The scan takes ten rounds for a thousand sums: more additions than a single thread would need, but a hundredth of the iterations.",
    lesson="scan/step01_hillissteele/README.md",
    kernel="scan", data=data, block=1024, grid=lambda n: 1, sizes=(1, 2, 31, 33, 500, 1000), random_sizes=(1, 1000, 1),
    goals=(Goal("shared loads", "shared_loads", most=800), Goal("load requests", "global_load_requests", most=64)),
    equivalent={"bound5": "one more round, in which no thread has an element 1,024 before its own"},
    wrong=(
        ("        __syncthreads();\n        sums[tid] += before;", "        sums[tid] += before;"),
        ("        sums[tid] += before;\n        __syncthreads();", "        sums[tid] += before;"),
        ("s < 1024", "s < 512"),
        ("s = 1;", "s = 2;"),
        ("tid >= s", "tid > s"),
        ("tid >= s ? sums[tid - s] : 0", "sums[tid - s]"),
        ("s *= 2", "s += 1"),
        ("out[tid] = sums[tid]", "out[tid] = sums[tid] - in[tid]"),
        ("    if (tid < n)\n", ""),
    ),
)
