from drywarp.learn.exercise import Goal, distinct, given, result, scratch


def data(n):
    values = distinct(n)
    return {"in": given(values), "part": scratch(n // 32), "best": result([max(values)])}


EXERCISE = dict(
    chapter="8. The last block", title="The missing fence", kind="fix",
    task="The counter is atomic, but it does not guarantee that a block's part is visible to the last block: fix the kernel.",
    hints=("The finding names the store to part and the load by another block. What orders the store before the load?",
           "__threadfence() orders a thread's accesses before it and after it, for all threads of the device. The writer and the reader both need one.",
           "__threadfence(); before the atomicInc, and again before the loop that reads part."),
    why="An atomic operation does not order other accesses. The writer's fence orders its store before the atomic operation, the reader's fence orders its loads after it.",
    lesson="step11_singlepass/README.md",
    kernel="largest", data=data, block=32, grid=lambda n: n // 32, sizes=(32, 64, 320, 1280), random_sizes=(32, 2560, 32),
    goals=(Goal("load requests per block", "global_load_requests", True, 16),),
    wrong=(
        ("        part[blockIdx.x] = own;\n        __threadfence();\n", "        part[blockIdx.x] = own;\n"),
        ("            __threadfence();\n", ""),
        ("        __threadfence();\n", "        __syncwarp(1);\n"),
        ("        __threadfence();\n", "        __threadfence_block();\n"),
        ("        part[blockIdx.x] = own;\n        __threadfence();\n", "        __threadfence();\n        part[blockIdx.x] = own;\n"),
        ("atomicInc(&blocks_done, gridDim.x - 1) ==", "blocks_done++ =="),
        ("atomicInc(&blocks_done, gridDim.x - 1)", "atomicAdd(&blocks_done, 1)"),
        ("s = 16", "s = 8"),
    ),
)
