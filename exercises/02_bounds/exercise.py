from drywarp.learn.exercise import given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([value + 1 for value in values]), "n": n}


EXERCISE = dict(
    chapter="1. Threads", title="More threads than elements", kind="fix",
    task="Here n is not a multiple of 256, so the last block has too many threads: fix the kernel.",
    hints=("The finding names the line: which i do the last threads have, and how large is n?",
           "A thread whose i is not below n must do nothing.",
           "if (i < n)"),
    why="A grid consists of whole blocks, but n can be any number. n = 257 needs two blocks, and 255 threads of the second have no element.",
    lesson="docs/findings.md",
    kernel="add_one", data=data, sizes=(1, 31, 255, 256, 257, 1000, 4097),
    wrong=(
        ("i < n", "i <= n"),
        ("i < n", "i < n - 1"),
        ("i < n", "i != n"),
        ("i < n", "i > n"),
        ("i < n", "threadIdx.x < n"),
        ("i < n", "blockIdx.x < n"),
        ("i < n", "i < n / 256 * 256"),
        ("i < n", "i < 257"),
        ("i < n", "threadIdx.x < n % 256"),
    ),
)
