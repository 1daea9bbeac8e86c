from drywarp.learn.exercise import Goal, changed, given, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "total": changed([0.0], [float(sum(values))])}


EXERCISE = dict(
    chapter="7. Atomics", title="One atomic operation per block", kind="optimise",
    task="All threads add atomically to one variable. Let each block first add its own elements, and then make one atomic addition.",
    hints=("You already know two ways to add the elements of a block: with shuffles and in shared memory.",
           "Only the thread that holds the block's sum calls atomicAdd.",
           "The answer of exercise 19, with atomicAdd(total, own); instead of out[blockIdx.x] = own;"),
    why="Atomic additions to one address are executed one after the other. Now a block makes 1 of them instead of 256; the other additions form a tree.",
    lesson="step11_singlepass/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("atomic operations per block", "atomics", True, 1), Goal("load requests per block", "global_load_requests", True, 16)),
    wrong=(
        ("if (threadIdx.x == 0) {", "if (threadIdx.x < 8) {"),
        ("if (threadIdx.x == 0) {", "if (threadIdx.x % 32 == 0) {"),
        ("    __syncthreads();\n", ""),
        ("atomicAdd(total, own)", "*total += own"),
        ("atomicAdd(total, own)", "atomicAdd(total, sums[0])"),
        ("k < 8", "k < 7"),
        ("s = 16", "s = 8"),
    ),
)
