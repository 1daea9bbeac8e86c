from scripts.learn.exercise import given, result, distinct


def data(n):
    values = distinct(n)
    return {"in": given(values), "out": result([max(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="2. A block shares", title="Not all come to the barrier", kind="mend",
    task="Half of the threads wait at a barrier for the other half, which never comes: mend the kernel.",
    hints=("The finding names the barrier; which threads come to it?",
           "__syncthreads() is for all threads of the block; a condition may stand before it, not around it.",
           "Close the brace of the if before __syncthreads();"),
    why="A barrier counts all threads of its block: one in a branch that some do not take leaves the others waiting, or worse.",
    lesson="docs/findings.md",
    kernel="largest", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
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
