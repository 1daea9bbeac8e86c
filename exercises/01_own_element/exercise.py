from scripts.learn.exercise import given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([value + 1 for value in values])}


EXERCISE = dict(
    chapter="1. Threads", title="Every thread its own element", kind="write",
    task="Blocks of 256 threads are launched, as many threads as there are elements: let each thread write out[i] = in[i] + 1 for an i of its own.",
    hints=("All threads run the same lines; what differs is threadIdx.x, the thread's number in its block, and blockIdx.x, the block's number.",
           "Before block 3 come 3 blocks of blockDim.x threads each.",
           "int i = blockIdx.x * blockDim.x + threadIdx.x;"),
    why="A thread knows its number in the block, and its block's number; from both it works out which element is its own.",
    lesson="step01_divergent/README.md",
    kernel="add_one", data=data, sizes=(256, 512, 1024, 4096), drawn=(256, 8192, 256),
    wrong=(
        ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x"),
        ("blockIdx.x * blockDim.x + threadIdx.x", "blockIdx.x"),
        ("blockIdx.x * blockDim.x + threadIdx.x", "blockIdx.x + threadIdx.x"),
        ("blockIdx.x * blockDim.x + threadIdx.x", "blockIdx.x * gridDim.x + threadIdx.x"),
        ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x * blockDim.x + blockIdx.x"),
        ("in[i] + 1", "in[i]"),
        ("in[i] + 1", "i + 1"),
    ),
)
