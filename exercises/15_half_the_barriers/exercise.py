from scripts.learn.exercise import Gate, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="4. The last warp", title="Half of the barriers", kind="gate",
    task="There are two barriers in each round: do with one, without a race.",
    hints=("Which places are read in a round by another thread than their own, and which are written? If none is both, nobody needs to wait in between.",
           "Only threads below s have to write; they read from s on.",
           "if (tid < s) sums[tid] += sums[tid + s];  and behind it one __syncthreads();"),
    why="Places from s on are read, places below s are written: no thread is in another's way within a round, so the barrier between them kept nothing apart.",
    lesson="step03_sequential/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
    gates=(Gate("barrier arrivals a block", "block_barriers", True, 72),),
    equivalent={"bound5": "two threads of a warp store the same sum at once"},
    wrong=(
        ("        if (tid < s)\n", ""),
        ("tid < s", "tid <= s"),
        ("        __syncthreads();\n    }", "    }"),
        ("    __syncthreads();\n    for", "    for"),
        ("            sums[tid] += sums[tid + s];\n        __syncthreads();", "            sums[tid] += sums[tid + s];\n        __syncwarp();"),
        ("            sums[tid] += sums[tid + s];", "            sums[tid] += sums[tid + s], __syncthreads();"),
        ("tid < s", "tid < 2 * s"),
    ),
)
