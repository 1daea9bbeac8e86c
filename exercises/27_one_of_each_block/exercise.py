from scripts.learn.exercise import Gate, changed, given, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "total": changed([0.0], [float(sum(values))])}


EXERCISE = dict(
    chapter="7. All add to one", title="One word from each block", kind="gate",
    task="All threads queue for one number: let each block add up its own elements first, and go there once.",
    hints=("You have written what adds up a block, with shuffles or in shared memory.",
           "Only the thread that has the block's sum calls atomicAdd; the others are done.",
           "The answer of exercise 19, with atomicAdd(total, own); in the place of out[blockIdx.x] = own;"),
    why="Atomic additions to one place happen one after the other: 256 of a block become 1, and the others are a tree.",
    lesson="step10_singlepass/README.md",
    kernel="sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
    gates=(Gate("atomic operations a block", "atomics", True, 1),),
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
