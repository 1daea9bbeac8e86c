from scripts.learn.exercise import Gate, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([2 * value for value in values]), "n": n}


EXERCISE = dict(
    chapter="6. Memory", title="Few threads for many elements", kind="write",
    task="There are 1,024 threads, and n may be larger: let each thread go on with further elements until none is left.",
    hints=("Make the if a loop. How far is it to the thread's next element, so that nobody else takes it?",
           "The grid takes 1,024 elements at a time: the next ones begin 1,024 further on.",
           "for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)"),
    why="A loop over the grid fits any n to any grid, so a grid can be as large as the GPU, and warps still load side by side.",
    lesson="step07_gridstride/README.md",
    kernel="twice", data=data, grid=lambda n: 4, sizes=(1, 255, 1023, 1024, 1025, 3000, 10000),
    gates=(Gate("load sectors", "global_load_sectors", most=1500),),
    wrong=(
        ("gridDim.x * 256", "256"),
        ("gridDim.x * 256", "gridDim.x"),
        ("gridDim.x * 256", "blockDim.x"),
        ("gridDim.x * 256", "1"),
        ("gridDim.x * 256", "2048"),
        ("i < n", "i <= n"),
        ("blockIdx.x * 256 + threadIdx.x", "threadIdx.x"),
        ("blockIdx.x * 256 + threadIdx.x", "threadIdx.x * 4 + blockIdx.x"),
    ),
)
