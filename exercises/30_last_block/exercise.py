from drywarp.learn.exercise import Goal, given, result, scratch, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "part": scratch(n // 32), "total": result([float(sum(values))])}


EXERCISE = dict(
    chapter="8. The last block", title="Which block is last?", kind="write",
    task="Let thread 0 of each block find out whether its block is the last to finish. This must also work when the kernel is launched again.",
    hints=("Let each block add 1 to blocks_done and look at the previous value.",
           "atomicAdd returns the previous value; the block that gets gridDim.x - 1 is the last. The next launch must find 0 again.",
           "is_last = atomicAdd(&blocks_done, 1) == gridDim.x - 1;  and at the end of the last block's work: blocks_done = 0;"),
    why="A block cannot wait for all others, but with an atomic counter it can detect that it is the last one. That block also has to reset the counter.",
    lesson="step11_singlepass/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560, 512), random_sizes=(256, 4096, 256),
    goals=(Goal("load requests per block", "global_load_requests", True, 24),),
    wrong=(
        ("        blocks_done = 0;\n", ""),
        ("== gridDim.x - 1", "== gridDim.x"),
        ("== gridDim.x - 1", "== 0"),
        ("atomicAdd(&blocks_done, 1) == gridDim.x - 1", "blockIdx.x == gridDim.x - 1"),
        ("atomicAdd(&blocks_done, 1) == gridDim.x - 1", "true"),
        ("atomicAdd(&blocks_done, 1) == gridDim.x - 1", "blocks_done++ == gridDim.x - 1"),
        ("atomicAdd(&blocks_done, 1)", "atomicAdd_block(&blocks_done, 1)"),
        ("        __threadfence();\n        is_last", "        is_last"),
        ("gridDim.x - 1;", "8 * gridDim.x - 1;"),
        ("float own = in[blockIdx.x * 256 + threadIdx.x];",
         "float own = 0;\n"
         "    for (int k = 0; blockIdx.x == 0 && threadIdx.x == 0 && k < 256 * gridDim.x; k++)\n"
         "        own += in[k];"),  # one thread does all the work
    ),
)
