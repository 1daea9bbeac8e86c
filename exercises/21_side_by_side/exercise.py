from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result(values)}


EXERCISE = dict(
    chapter="6. Memory", title="Coalesced accesses", kind="optimise",
    task="Memory is accessed in sectors of 32 bytes. Each of these loads needs 16 sectors for 32 elements: change it so that it needs 4.",
    hints=("In one iteration thread 0 loads element 0 and thread 1 element 4: 16 bytes apart. Each sector is loaded in four iterations.",
           "In each iteration the 32 threads of a warp should load 32 consecutive elements; those of the next iteration are further on.",
           "int i = blockIdx.x * 1024 + 256 * k + threadIdx.x;"),
    why="Coalescing depends on the elements that a warp reads at once, not on those that a thread reads next: 128 sectors per block instead of 512.",
    lesson="labs/coalescing/README.md",
    kernel="copy", data=data, grid=lambda n: n // 1024, sizes=(1024, 4096), random_sizes=(1024, 8192, 1024),
    goals=(Goal("load sectors per block", "global_load_sectors", True, 128), Goal("store sectors per block", "global_store_sectors", True, 128)),
    wrong=(
        ("256 * k + threadIdx.x", "4 * threadIdx.x + k"),
        ("256 * k + threadIdx.x", "2 * threadIdx.x + k % 2 + k / 2 * 512"),
        ("256 * k + threadIdx.x", "32 * k + threadIdx.x"),
        ("256 * k + threadIdx.x", "64 * k + threadIdx.x"),
        ("256 * k + threadIdx.x", "threadIdx.x"),
        ("blockIdx.x * 1024", "blockIdx.x * 256"),
        ("k < 4", "k < 3"),
        # the task's order, by atomic operations
        ("256 * k + threadIdx.x;\n        out[i] = in[i]", "4 * threadIdx.x + k;\n        atomicExch((int *)out + i, atomicOr((int *)in + i, 0))"),
    ),
)
