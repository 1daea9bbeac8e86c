from itertools import accumulate

from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([float(value) for k in range(0, n, 256) for value in accumulate(values[k:k + 256])])}


EXERCISE = dict(
    chapter="10. Scans", title="A race in a scan", kind="fix",
    task="In the tree one barrier per round was enough; in this scan it is not. Fix it with another barrier or a second array.",
    hints=("The finding names one line twice. Which thread reads sums[tid] while thread tid writes it?",
           "In the tree a round reads no element that it writes. In the scan every element is read and written.",
           "float before = tid >= s ? sums[tid - s] : 0;  __syncthreads();  sums[tid] += before;  __syncthreads();"),
    why="A round must not overwrite elements that are still to be read. Either all threads read before the first one writes, or the round writes to another array.",
    lesson="scan/step01_hillissteele/README.md",
    kernel="scan", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("load requests per block", "global_load_requests", True, 16),),
    equivalent={"bound2": "one more round, in which no thread has an element 256 before its own", "index1": "one more element than is used"},
    wrong=(
        ("sums[1 - from][tid] =", "sums[from][tid] ="),
        ("        from = 1 - from;\n", ""),
        ("        __syncthreads();\n    }", "    }"),
        ("        __syncthreads();\n    }", "        __syncwarp();\n    }"),
        ("s < 256", "s < 128"),
        ("tid >= s", "tid > s"),
        ("sums[from][tid - s]", "sums[1 - from][tid - s]"),
        ("out[i] = sums[from][tid]", "out[i] = sums[1 - from][tid]"),
    ),
)
