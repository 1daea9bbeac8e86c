from drywarp.learn.exercise import Goal, changed, given, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "total": changed([0.0], [float(sum(values))]), "n": n}


EXERCISE = dict(
    chapter="7. Atomics", title="Read, add, write", kind="fix",
    task="Thousands of threads add to one variable, and almost all additions are lost: fix the line that adds.",
    hints=("*total += x reads, adds and writes. What happens if two threads read at the same time?",
           "An atomic operation reads, adds and writes without interruption by another thread.",
           "atomicAdd(total, in[i]);"),
    why="If many threads add to one variable, they must add atomically. Then no addition is lost, but their order is undefined.",
    lesson="step11_singlepass/README.md",
    kernel="sum", data=data, sizes=(1, 32, 255, 256, 257, 1000), random_sizes=(1, 3000, 1),
    goals=(Goal("active lanes, on average", "active_lanes_mean", least=8),),
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
