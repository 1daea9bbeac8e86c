from drywarp.learn.exercise import Goal, given, result, distinct


def data(n):
    values = distinct(n)
    return {"in": given(values), "out": result([max(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="2. Shared memory", title="A barrier for half the block", kind="fix",
    task="Half of the threads wait at a barrier that the other half never reaches: fix the kernel.",
    hints=("The finding names the barrier. Which threads reach it?",
           "All threads of the block must execute __syncthreads(). The addition may be conditional, but the barrier must not be.",
           "Close the brace of the if before __syncthreads();"),
    why="A barrier waits for all threads of its block. If it is in a branch that some threads do not take, the behaviour is undefined; often the other threads wait forever.",
    lesson="docs/findings.md",
    kernel="largest", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("load requests per block", "global_load_requests", True, 16),),
    equivalent={"bound5": "two threads of a warp store the same value at once"},
    wrong=(
        ("        __syncthreads();\n    }", "    }"),
        ("        __syncthreads();\n    }", "        __syncwarp();\n    }"),
        ("        __syncthreads();\n    }", "        if (tid < s)\n            __syncthreads();\n    }"),
        ("        __syncthreads();\n    }", "        if (tid < 128)\n            __syncthreads();\n    }"),
        ("    __syncthreads();\n    for", "    for"),
        ("fmaxf", "fminf"),
        ("s > 0", "s > 1"),
    ),
)
