from drywarp.learn.exercise import given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([value + 1 for value in values])}


EXERCISE = dict(
    chapter="1. Threads", title="One element per thread", kind="write",
    task="The kernel is launched with blocks of 256 threads, and one thread per element. Let each thread write out[i] = in[i] + 1 for its own i.",
    hints=("All threads execute the same code. They differ in threadIdx.x, the thread's index in its block, and blockIdx.x, the block's index.",
           "Before block 3 there are 3 blocks of blockDim.x threads each.",
           "int i = blockIdx.x * blockDim.x + threadIdx.x;"),
    why="A thread knows its index in the block and the index of its block. From both it computes the index of its element.",
    lesson="step01_divergent/README.md",
    kernel="add_one", data=data, sizes=(256, 512, 1024, 4096), random_sizes=(256, 8192, 256),
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
