from scripts.learn.exercise import given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([value - (values[k - 1] if k % 256 else 0) for k, value in enumerate(values)])}


EXERCISE = dict(
    chapter="2. A block shares", title="Right today, wrong tomorrow", kind="mend",
    task="The results are right on many a day and the kernel is wrong: mend it, with one line.",
    hints=("The finding names two lines: one thread writes what another reads. Who says that the first comes first?",
           "Threads of one warp and of another meet only at a barrier.",
           "__syncthreads(); belongs behind the store to tile."),
    why="A race may give the right result a thousand times: warp 0 usually comes first, and nothing promises it.",
    lesson="docs/findings.md",
    kernel="differences", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
    wrong=(
        ("__syncthreads();", "__syncwarp();"),
        ("__syncthreads();", "__threadfence();"),
        ("    __syncthreads();", "    if (tid > 0)\n        __syncthreads();"),
        ("tid > 0 ?", "tid >= 0 ?"),
        ("    tile[tid] = in[i];\n    __syncthreads();", "    __syncthreads();\n    tile[tid] = in[i];"),
        ("tile[tid - 1]", "tile[tid + 1]"),
    ),
)
