from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    pieces = [values[k:k + 256] for k in range(0, n, 256)]
    return {"in": given(values), "out": result([value for piece in pieces for value in reversed(piece)])}


EXERCISE = dict(
    chapter="2. Shared memory", title="Through shared memory", kind="write",
    task="Let each block write its 256 elements in reverse order: load each one into shared memory once, and store it from there.",
    hints=("The thread that reads tile[255] is not the one that writes it. When is the value there?",
           "__syncthreads() waits until all threads of the block have reached it.",
           "__syncthreads();  out[begin + threadIdx.x] = tile[255 - threadIdx.x];"),
    why="The warps of a block are not synchronised. A thread may read what another warp wrote only after a barrier.",
    lesson="labs/coalescing/README.md",
    kernel="reverse", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("shared loads per block", "shared_loads", True, least=8),),
    wrong=(
        ("__syncthreads();", "__syncwarp();"),
        ("__syncthreads();", ""),
        ("255 - threadIdx.x", "256 - threadIdx.x"),
        ("255 - threadIdx.x", "threadIdx.x"),
        ("begin + threadIdx.x", "threadIdx.x"),
        ("tile[255 - threadIdx.x]", "in[begin + 255 - threadIdx.x]"),
        ("    __syncthreads();", "    if (threadIdx.x < 128)\n        __syncthreads();"),
    ),
)
