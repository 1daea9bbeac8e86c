from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 256]) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="4. The last warp", title="Half of the barriers", kind="optimise",
    task="Each round has two barriers: keep only one, without a race.",
    hints=("In a round, which elements are read by a thread that does not own them, and which are written? If no element is both, no barrier is needed in between.",
           "Only threads below s have to write, and the second operand of each is at index s or above.",
           "if (tid < s) sums[tid] += sums[tid + s];  followed by one __syncthreads();"),
    why="In a round, other threads' elements are read only at s and above, and elements are written only below s, so the threads do not conflict. The barrier between read and write was not needed.",
    lesson="step03_sequential/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("barrier arrivals per block", "block_barriers", True, 72), Goal("shared loads per block", "shared_loads", True, 200),
           Goal("load requests per block", "global_load_requests", True, 16)),
    equivalent={"bound5": "two threads of a warp store the same sum at once"},
    wrong=(
        ("        if (tid < s)\n", ""),
        ("tid < s", "tid <= s"),
        ("        __syncthreads();\n    }", "    }"),
        ("    __syncthreads();\n    for", "    for"),
        ("            sums[tid] += sums[tid + s];\n        __syncthreads();", "            sums[tid] += sums[tid + s];\n        __syncwarp();"),
        ("            sums[tid] += sums[tid + s];", "            sums[tid] += sums[tid + s], __syncthreads();"),
        ("tid < s", "tid < 2 * s"),
        ("    __syncthreads();\n"
         "    for (int s = 128; s > 0; s /= 2) {\n"
         "        if (tid < s)\n"
         "            sums[tid] += sums[tid + s];\n"
         "        __syncthreads();\n",
         "    __shared__ int arrived;\n"
         "    if (tid == 0)\n"
         "        arrived = 0;\n"
         "    __syncthreads();\n"
         "    for (int s = 128, all = 8; s > 0; s /= 2, all += 8) {\n"
         "        if (tid < s)\n"
         "            sums[tid] += sums[tid + s];\n"
         "        if (s <= 32) {\n"
         "            __syncthreads();\n"
         "            continue;\n"
         "        }\n"
         "        __syncwarp();\n"
         "        __threadfence_block();\n"
         "        for (int before = tid % 32 == 0 ? atomicAdd(&arrived, 1) : all; before < all;)\n"
         "            before = atomicAdd(&arrived, 0);\n"
         "        __threadfence_block();\n"
         "        __syncwarp();\n"),  # a barrier made of atomic operations
    ),
)
