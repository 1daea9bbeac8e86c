from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="4. The last warp", title="Seven warps wait for one", kind="optimise",
    task="In the last six rounds only one warp works, but seven others arrive at each barrier. Let them finish early.",
    hints=("From s = 32 on, all threads that add are in warp 0.",
           "End the loop with __syncthreads() before s = 32, and continue in warp 0 alone, with __syncwarp().",
           "for (... s > 32 ...) as it is; then if (tid < 32) for (int s = 32; s > 0; s /= 2) { if (tid < s) ...; __syncwarp(); }"),
    why="72 arrivals become 24. Work within one warp needs only that warp's barrier, and no other warp has to take part.",
    lesson="step05_unrollwarp/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("barrier arrivals per block", "block_barriers", True, 24), Goal("shared loads per block", "shared_loads", True, 200),
           Goal("load requests per block", "global_load_requests", True, 16)),
    equivalent={"bound2": "the other warps' threads are all above s and add nothing", "bound10": "two threads of a warp store the same sum at once"},
    wrong=(
        ("            __syncwarp();\n", ""),
        ("s > 32;", "s > 64;"),
        ("s > 32;", "s > 16;"),
        ("int s = 32;", "int s = 16;"),
        ("if (tid < 32)", "if (tid < 16)"),
        ("        __syncthreads();\n    }", "        __syncwarp();\n    }"),
        ("            __syncwarp();\n        }\n", "        }\n    __syncwarp();\n"),
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
