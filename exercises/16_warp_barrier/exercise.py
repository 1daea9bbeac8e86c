from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="4. The last warp", title="A warp without order", kind="fix",
    task="The last rounds run in one warp, but its threads race: fix the kernel without another block barrier.",
    hints=("The finding names one line twice: a thread reads what another thread of the same warp writes in the round before.",
           "Since Volta (compute capability 7.0) the threads of a warp may diverge at any time. __syncwarp() synchronises them and makes their writes visible to each other.",
           "__syncwarp(); after each round of the last loop, for all 32 threads."),
    why="Threads of one warp need a barrier, too. Theirs is __syncwarp(), which waits for 32 threads, not for 256.",
    lesson="step05_unrollwarp/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("barrier arrivals per block", "block_barriers", True, 24), Goal("shared loads per block", "shared_loads", True, 200),
           Goal("load requests per block", "global_load_requests", True, 16)),
    equivalent={"bound2": "the other warps' threads are all above s and add nothing", "bound10": "two threads of a warp store the same sum at once"},
    wrong=(
        ("            __syncwarp();\n", "            __threadfence_block();\n"),
        ("            __syncwarp();\n", "            __syncthreads();\n"),
        ("int s = 32;", "int s = 16;"),
        ("s > 32; s /= 2", "s > 16; s /= 2"),
        ("if (tid < 32)", "if (tid < 16)"),
        ("    __syncthreads();\n"
         "    for (int s = 128; s > 32; s /= 2) {\n"
         "        if (tid < s)\n"
         "            sums[tid] += sums[tid + s];\n"
         "        __syncthreads();\n",
         "    __shared__ int arrived;\n"
         "    if (tid == 0)\n"
         "        arrived = 0;\n"
         "    __syncthreads();\n"
         "    for (int s = 128, all = 8; s > 32; s /= 2, all += 8) {\n"
         "        if (tid < s)\n"
         "            sums[tid] += sums[tid + s];\n"
         "        __syncwarp();\n"
         "        __threadfence_block();\n"
         "        for (int before = tid % 32 == 0 ? atomicAdd(&arrived, 1) : all; before < all;)\n"
         "            before = atomicAdd(&arrived, 0);\n"
         "        __threadfence_block();\n"
         "        __syncwarp();\n"),  # a barrier made of atomic operations
    ),
)
