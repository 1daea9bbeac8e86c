from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([value - (values[k - 1] if k % 256 else 0) for k, value in enumerate(values)])}


EXERCISE = dict(
    chapter="2. Shared memory", title="Correct today, wrong tomorrow", kind="fix",
    task="Usually the results are correct, but the kernel has a race: fix it with one line.",
    hints=("The finding names two lines: one thread reads what another writes. What guarantees that the write comes first?",
           "Threads of different warps synchronise only at a barrier.",
           "Add __syncthreads(); after the store to tile."),
    why="With a data race the result may be correct a thousand times: warp 0 usually runs first, but CUDA does not guarantee it.",
    lesson="docs/findings.md",
    kernel="differences", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("load requests per block", "global_load_requests", True, 32),),
    wrong=(
        ("__syncthreads();", "__syncwarp();"),
        ("__syncthreads();", "__threadfence();"),
        ("    __syncthreads();", "    if (tid > 0)\n        __syncthreads();"),
        ("tid > 0 ?", "tid >= 0 ?"),
        ("    tile[tid] = in[i];\n    __syncthreads();", "    __syncthreads();\n    tile[tid] = in[i];"),
        ("tile[tid - 1]", "tile[tid + 1]"),
    ),
)
