from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="5. Shuffles", title="Eight words are enough", kind="optimise",
    task="Let each warp add its own elements with shuffles. Only the sums of the 8 warps go through shared memory.",
    hints=("The loop of exercise 18 leaves each warp's sum in its lane 0. The block has 8 such sums, each in a different warp.",
           "Lane 0 of each warp writes to sums[tid / 32]; after one barrier the first warp reads the eight sums.",
           "if (tid % 32 == 0) sums[tid / 32] = own;  __syncthreads();  then in warp 0 the same loop from s = 4, over tid < 8 ? sums[tid] : 0"),
    why="8 words of shared memory replace 256, 8 barrier arrivals replace 72, and 1 shared load replaces 25: registers need neither loads nor barriers.",
    lesson="step08_shuffle/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("shared loads per block", "shared_loads", True, 8), Goal("barrier arrivals per block", "block_barriers", True, 8),
           Goal("load requests per block", "global_load_requests", True, 16)),
    equivalent={"bound2": "the other warps add zeros, and write nothing",
                "bound6": "the other lanes of the second warp have exited, so the shuffle waits for none, and its result is not used"},
    wrong=(
        ("    __syncthreads();\n", ""),
        ("    __syncthreads();\n", "    __syncwarp();\n"),
        ("s = 4;", "s = 2;"),
        ("s = 16;", "s = 8;"),
        ("tid / 32", "tid % 32"),
        ("tid < 8 ? sums[tid] : 0", "sums[tid]"),
        ("if (tid == 0)\n", "if (tid == 8)\n"),
        ("tid % 32 == 0", "tid % 64 == 0"),
    ),
)
