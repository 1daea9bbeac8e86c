from scripts.learn.exercise import given, result, room, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "part": room(n // 32), "total": result([float(sum(values))])}


EXERCISE = dict(
    chapter="8. The last block", title="The last one turns off the light", kind="write",
    task="Let thread 0 of each block find out whether its block is the last one to get there, also when the kernel is launched again.",
    hints=("Blocks can count themselves: each adds 1 to blocks_done, and looks at what stood there.",
           "atomicAdd gives the value before; who finds gridDim.x - 1 is the last. The next launch has to find 0 again.",
           "is_last = atomicAdd(&blocks_done, 1) == gridDim.x - 1;  and at the end of the last block's work: blocks_done = 0;"),
    why="No block can wait for all others, but one of them is the last, and an atomic counter tells it so; nobody else is there to set it back.",
    lesson="step10_singlepass/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560, 512), drawn=(256, 4096, 256),
    equivalent={"fence2": "the checker takes the block's barrier behind the counter for the reader's fence (simulator/checker.md)"},
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
    ),
)
