from scripts.learn.exercise import distinct, given, result, room


def data(n):
    values = distinct(n)
    return {"in": given(values), "part": room(n // 32), "best": result([max(values)])}


EXERCISE = dict(
    chapter="8. The last block", title="The missing fence", kind="mend",
    task="The counter is atomic, and still nothing says that a part arrives before the count does: mend the kernel.",
    hints=("The finding names the store to part, and the load by another block. What tells the second block that the first has stored?",
           "__threadfence() lets nothing that stands before it come after what stands behind it, for all threads of the device. Both sides need one.",
           "__threadfence(); before the atomicInc, and again before the loop that reads part."),
    why="An atomic operation orders nothing but itself; the writer's fence sends the part before the count, the reader's takes it after.",
    lesson="step10_singlepass/README.md",
    kernel="largest", data=data, block=32, grid=lambda n: n // 32, sizes=(32, 64, 320, 1280), drawn=(32, 2560, 32),
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
