from scripts.learn.exercise import Gate, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="5. Shuffles", title="Eight words are enough", kind="gate",
    task="Let each warp add up its own elements by shuffles, and only the 8 warps' sums go through shared memory.",
    hints=("The last exercise's loop gives lane 0 of each warp its sum. The block has 8 of them, each in another warp.",
           "Lane 0 of each warp writes to sums[tid / 32]; behind one barrier the first warp reads the eight.",
           "if (tid % 32 == 0) sums[tid / 32] = own;  __syncthreads();  then in warp 0 the same loop from s = 4, over tid < 8 ? sums[tid] : 0"),
    why="256 words of shared memory become 8, 72 arrivals at barriers 8, and 25 shared loads 1: registers are nearer than anything else.",
    lesson="step08_shuffle/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
    gates=(Gate("shared loads a block", "shared_loads", True, 8), Gate("barrier arrivals a block", "block_barriers", True, 8)),
    equivalent={"bound2": "the other warps add zeros, and write nothing",
                "bound6": "the other lanes of the second warp have ended, so the shuffle waits for none, and what it gives goes nowhere"},
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
