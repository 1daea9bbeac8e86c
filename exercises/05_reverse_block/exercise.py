from scripts.learn.exercise import Gate, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    pieces = [values[k:k + 256] for k in range(0, n, 256)]
    return {"in": given(values), "out": result([value for piece in pieces for value in reversed(piece)])}


EXERCISE = dict(
    chapter="2. A block shares", title="Through shared memory", kind="write",
    task="Let each block write its 256 elements in reverse order, each loaded into shared memory once and stored from there.",
    hints=("tile[255] is written by another thread than the one that reads it: when does it stand there?",
           "__syncthreads() waits until all threads of the block have come to it.",
           "__syncthreads();  out[begin + threadIdx.x] = tile[255 - threadIdx.x];"),
    why="Warps of a block run at their own pace; what one writes another may read only behind a barrier.",
    lesson="labs/coalescing/README.md",
    kernel="reverse", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
    gates=(Gate("shared loads a block", "shared_loads", True, least=8),),
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
