from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="2. Shared memory", title="A tree in one block", kind="write",
    task="Let each block add its 256 elements in shared memory, with half as many threads in each round, and write the sum to out[blockIdx.x].",
    hints=("Eight rounds: in the first, thread 0 adds sums[128] to sums[0], thread 1 adds sums[129] to sums[1], and so on.",
           "After each round all threads need a barrier, including those that had nothing to add.",
           "for (int s = 128; s > 0; s /= 2) { if (tid < s) sums[tid] += sums[tid + s]; __syncthreads(); }"),
    why="A tree takes 8 rounds instead of 255 successive additions. The barrier after each round makes its sums visible to the next one.",
    lesson="step01_divergent/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("shared loads per block", "shared_loads", True, 100), Goal("load requests per block", "global_load_requests", True, 16)),
    equivalent={"bound5": "two threads of a warp store the same sum at once"},
    wrong=(
        ("        __syncthreads();\n    }", "    }"),
        ("    __syncthreads();\n    for", "    for"),
        ("s = 128", "s = 64"),
        ("s > 0", "s > 1"),
        ("tid < s", "tid <= s"),
        ("            sums[tid] += sums[tid + s];\n        __syncthreads();", "        {\n            sums[tid] += sums[tid + s];\n            __syncthreads();\n        }"),
        ("sums[tid + s];", "sums[tid + 1];"),
        ("out[blockIdx.x] = sums[0]", "out[blockIdx.x] = sums[1]"),
        ("out[blockIdx.x]", "out[0]"),
        ("    for (int s = 128; s > 0; s /= 2) {\n        if (tid < s)\n            sums[tid] += sums[tid + s];\n        __syncthreads();\n    }\n",
         "    if (tid == 0)\n        for (int k = 1; k < 256; k++)\n            sums[0] += sums[k];\n"),
    ),
)
