from scripts.learn.exercise import changed, given, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "total": changed([0.0], [float(sum(values))]), "n": n}


EXERCISE = dict(
    chapter="7. All add to one", title="Read, add, write", kind="mend",
    task="Thousands of threads add to one number, and almost all of it is lost: mend the line that adds.",
    hints=("*total += x reads, adds and writes; what do two threads do that read at the same time?",
           "An atomic operation reads, adds and writes with nobody in between.",
           "atomicAdd(total, in[i]);"),
    why="What many threads add to, they add to atomically; each addition then happens, in some order.",
    lesson="step10_singlepass/README.md",
    kernel="sum", data=data, sizes=(1, 32, 255, 256, 257, 1000), drawn=(1, 3000, 1),
    wrong=(
        ("atomicAdd(total, in[i])", "atomicExch(total, *total + in[i])"),
        ("atomicAdd(total, in[i])", "atomicExch(total, in[i])"),
        ("atomicAdd(total, in[i])", "atomicAdd_block(total, in[i])"),
        ("atomicAdd(total, in[i])", "*(volatile float *)total += in[i]"),
        ("atomicAdd(total, in[i])", "atomicMax((int *)total, (int)in[i])"),
        ("atomicAdd(total, in[i])", "atomicAdd(total, 1)"),
        ("i < n", "i <= n"),
        ("i < n", "threadIdx.x < n"),
        ("i < n", "i < n - 1"),
        ("i < n", "threadIdx.x == 0"),
    ),
)
