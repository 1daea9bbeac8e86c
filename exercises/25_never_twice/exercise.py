from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n + 2)
    return {"in": given(values), "out": result([values[i] + values[i + 1] + values[i + 2] for i in range(n)])}


EXERCISE = dict(
    chapter="6. Memory", title="Load each element once", kind="optimise",
    task="Each element is loaded three times: let a block load each of its elements once, and the two that follow them.",
    hints=("Load the elements that several threads need into shared memory, once.",
           "A block needs 258 elements for 256 results: two threads load one more.",
           "tile[tid] = in[i];  if (tid < 2) tile[256 + tid] = in[i + 256];  __syncthreads();  then add from tile."),
    why="A block makes 9 requests instead of 24: shared memory holds the elements that several threads need.",
    lesson="labs/coalescing/README.md",
    kernel="sum_of_three", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("load requests per block", "global_load_requests", True, 9),),
    wrong=(
        ("    __syncthreads();\n", ""),
        ("    __syncthreads();\n", "    __syncwarp();\n"),
        ("    if (tid < 2)\n        tile[256 + tid] = in[i + 256];\n", ""),
        ("tid < 2", "tid < 1"),
        ("tid < 2", "tid < 256"),
        ("in[i + 256]", "in[i + 2]"),
        ("tile[tid] + tile[tid + 1]", "tile[tid] + in[i + 1]"),
        ("tile[258]", "tile[256]"),
        ("tid + 2]", "tid + 1]"),
    ),
)
