from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([2 * value for value in values]), "n": n}


EXERCISE = dict(
    chapter="6. Memory", title="Few threads for many elements", kind="write",
    task="There are 1,024 threads, and n may be larger: let each thread continue with further elements until none is left.",
    hints=("Replace the if by a loop. What must its stride be, so that no two threads process the same element?",
           "The grid processes 1,024 elements at a time: the next ones begin 1,024 further on.",
           "for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)"),
    why="A grid-stride loop works for any n and any grid. The grid can be as large as the GPU holds at once, and warps still load consecutive elements.",
    lesson="step07_gridstride/README.md",
    kernel="twice", data=data, grid=lambda n: 4, sizes=(1, 255, 1023, 1024, 1025, 3000, 10000),
    goals=(Goal("load sectors", "global_load_sectors", most=1500),),
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
