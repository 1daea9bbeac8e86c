from scripts.learn.exercise import Gate, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="3. Fewer turns", title="One bank for many", kind="gate",
    task="Shared memory has 32 banks, word k in bank k % 32, and gives each bank's word one after the other: rid the tree of its bank conflicts.",
    hints=("With s = 1 threads 0 and 16 want words 0 and 32, both of bank 0.",
           "A warp has no conflict where its threads read words that lie side by side.",
           "Begin with s = 128 and halve it: if (tid < s) sums[tid] += sums[tid + s];"),
    why="Side by side in memory is 32 banks at once: the loads are as many as before, and each takes one turn.",
    lesson="labs/bankconflicts/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
    gates=(Gate("bank conflicts a block", "bank_conflicts", True, 0), Gate("shared loads a block", "shared_loads", True, 25)),
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
