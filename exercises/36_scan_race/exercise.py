from itertools import accumulate

from scripts.learn.exercise import given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([float(value) for k in range(0, n, 256) for value in accumulate(values[k:k + 256])])}


EXERCISE = dict(
    chapter="10. Scans", title="Read before it is written", kind="mend",
    task="In a sum's tree one barrier a round was enough, and in this scan it is not: mend it, by a barrier more or by a second array.",
    hints=("The finding names one line twice. Which thread reads sums[tid], while thread tid writes it?",
           "In a tree nobody reads the lower half in the round in which it is written; here all is read and all is written.",
           "float before = tid >= s ? sums[tid - s] : 0;  __syncthreads();  sums[tid] += before;  __syncthreads();"),
    why="What a round reads it must not overwrite: either all read before the first writes, or it writes to another array.",
    lesson="scan/step01_hillissteele/README.md",
    kernel="scan", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
    equivalent={"bound2": "one round more, in which no thread has anybody 256 places before it", "index1": "one element more than is used"},
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
