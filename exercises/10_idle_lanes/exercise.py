from scripts.learn.exercise import Gate, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="3. Fewer turns", title="Who adds?", kind="gate",
    task="The sums are right, and in five of the eight rounds all 8 warps work, for fewer and fewer threads: let threads that lie side by side do the additions.",
    hints=("In the round with s = 1 threads 0, 2, 4, ... add: half of each warp. 128 threads in a row would be 4 warps.",
           "Let thread 0 add for place 0, thread 1 for place 2 * s, thread 2 for place 4 * s.",
           "int own = 2 * s * tid;  if (own < 256) sums[own] += sums[own + s];"),
    why="A warp takes its time also where one thread of it works: 47 warps had an addition, now 12 have, for the same 255 additions.",
    lesson="step03_sequential/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
    gates=(Gate("shared loads a block", "shared_loads", True, 25),),
    equivalent={"bound5": "two threads of a warp store the same sum at once"},
    wrong=(
        ("2 * s * tid", "s * tid"),
        ("2 * s * tid", "2 * tid"),
        ("own < 256", "own <= 256"),
        ("own < 256", "tid < 256"),
        ("own < 256", "own < 128"),
        ("own + s]", "own + 1]"),
        ("        __syncthreads();\n    }", "    }"),
    ),
)
