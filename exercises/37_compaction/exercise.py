import random

from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    values[random.randrange(n)] = 0.0  # not positive
    values[n // 2] = abs(values[n // 2]) or 1.0  # so that out is not empty
    return {"in": given(values), "out": result([value for value in values if value > 0]), "n": n}


EXERCISE = dict(
    chapter="10. Scans", title="Stream compaction", kind="write",
    task="Write the positive elements to out without gaps, in their order: find the index of each one.",
    hints=("An element's index is the number of positive elements before it: those in earlier warps, and those of lower lanes in its own warp.",
           "positive has a bit for each lane of the warp; (1u << lane) - 1 selects the lower lanes; __popc counts bits.",
           "index = __popc(positive & ((1u << lane) - 1));  and for each warp k before this one: index += count[k];"),
    why="Compaction is a scan of zeros and ones. In a warp one ballot and one bit count are that scan.",
    lesson="scan/step02_shuffle/README.md",
    kernel="keep_positive", data=data, grid=lambda n: 1, sizes=(1, 2, 31, 32, 33, 200, 256), random_sizes=(1, 256, 1),
    goals=(Goal("load requests per block", "global_load_requests", True, 16),),
    equivalent={"bound1": "all lanes of a warp store the same count at once", "bound8": "two lanes store the same count at once",
                "index1": "one more element than is used"},
    wrong=(
        ("(1u << lane) - 1", "(1u << lane)"),
        ("(1u << lane) - 1", "(2u << lane) - 1"),
        ("positive & ((1u << lane) - 1)", "positive"),
        ("k < warp", "k <= warp"),
        ("k < warp", "k < 8"),
        ("k = 0;", "k = 1;"),
        ("index += count[k]", "index = count[k]"),
        ("own > 0)\n        out", "true)\n        out"),
        ("    __syncthreads();\n", ""),
        ("int index = __popc(positive & ((1u << lane) - 1));", "int index = 0;"),
        ("    if (own > 0)\n"
         "        out[index] = own;",
         "    for (int k = 0, next = 0; tid == 0 && k < n; k++)\n"
         "        if (in[k] > 0)\n"
         "            out[next++] = in[k];"),  # one thread does all the work
    ),
)
