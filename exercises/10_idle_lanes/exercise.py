from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="3. Idle lanes and bank conflicts", title="Which threads add?", kind="optimise",
    task="The sums are correct, but in five of the eight rounds all 8 warps work, for fewer and fewer threads. Let consecutive threads do the additions.",
    hints=("In the round with s = 1 threads 0, 2, 4, ... add: half of each warp. 128 consecutive threads are only 4 warps.",
           "Let thread 0 add to element 0, thread 1 to element 2 * s, thread 2 to element 4 * s.",
           "int own = 2 * s * tid;  if (own < 256) sums[own] += sums[own + s];"),
    why="A warp instruction takes the same time if only one lane is active. The 255 additions took 47 warp additions; now they take 12.",
    lesson="step03_sequential/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("shared loads per block", "shared_loads", True, 25), Goal("load requests per block", "global_load_requests", True, 16)),
    equivalent={"bound5": "two threads of a warp store the same sum at once"},
    wrong=(
        ("2 * s * tid", "s * tid"),
        ("2 * s * tid", "2 * tid"),
        ("own < 256", "own <= 256"),
        ("own < 256", "tid < 256"),
        ("own < 256", "own < 128"),
        ("own + s]", "own + 1]"),
        ("        __syncthreads();\n    }", "    }"),
        # all threads load, by an atomic operation
        ("if (own < 256)\n            sums[own] += sums[own + s]",
         "int other = atomicOr((int *)sums + (tid + s) % 256, 0);\n        if (tid % (2 * s) == 0)\n            atomicAdd(sums + tid, __int_as_float(other))"),
        # consecutive threads only at the sizes above
        ("2 * s * tid", "gridDim.x < 3 || gridDim.x == 10 ? 2 * s * tid : tid % (2 * s) ? 256 : tid"),
    ),
)
