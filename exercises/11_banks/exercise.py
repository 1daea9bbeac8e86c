from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="3. Idle lanes and bank conflicts", title="Several words of one bank", kind="optimise",
    task="Shared memory has 32 banks, and word k is in bank k % 32. Different words of one bank are served one after the other. Remove the tree's bank conflicts.",
    hints=("With s = 1 threads 0 and 16 access words 0 and 32, both in bank 0.",
           "A warp has no conflict if its threads access consecutive words.",
           "Begin with s = 128 and halve it: if (tid < s) sums[tid] += sums[tid + s];"),
    why="32 consecutive words are in 32 different banks. The number of loads is the same, but each takes one wavefront.",
    lesson="labs/bankconflicts/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("bank conflicts per block", "bank_conflicts", True, 0), Goal("shared loads per block", "shared_loads", True, 25),
           Goal("load requests per block", "global_load_requests", True, 16)),
    equivalent={"bound5": "two threads of a warp store the same sum at once"},
    wrong=(
        ("s = 128", "s = 64"),
        ("s > 0", "s > 1"),
        ("tid < s", "tid <= s"),
        ("tid < s", "tid < 128"),
        ("sums[tid + s]", "sums[tid + s - 1]"),
        ("        __syncthreads();\n    }", "    }"),
        ("        __syncthreads();\n    }", "        __syncwarp();\n    }"),
    ),
)
