from drywarp.learn.exercise import Count, changed, given, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "total": changed([0.0], [float(sum(values))]), "n": n}


EXERCISE = dict(
    chapter="8. The last block", title="What do idle warps cost?", kind="predict",
    task="A kernel sums n = 900 elements by shuffles and atomic additions. Count its warp operations by hand. Write your numbers; the simulator checks them.",
    hints=("900 elements need 4 blocks of 8 warps. Some of these warps have no element; what do they do?",
           "A warp without elements loads nothing, but it executes every shuffle and adds its 0.",
           "Loads: 900 / 32, rounded up. Shuffles: 5 in each of 32 warps. Atomic operations: 32."),
    why="Three of 32 warps have no element, so there are 29 requests. They still execute all shuffles and the atomic addition: 160 shuffles and 32 atomic operations in all.",
    lesson="step11_singlepass/README.md",
    kernel="sum", data=data, sizes=(900,), random_sizes=(900, 900, 1),
    questions=(Count("load requests", "global_load_requests"), Count("shuffles", "shuffles"), Count("atomic operations", "atomics")),
    wrong=(("load requests", (28, 32, 900)), ("shuffles", (5, 20, 145, 4500, 5120)), ("atomic operations", (1, 4, 28, 29, 900))),
)
