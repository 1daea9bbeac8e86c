from drywarp.learn.exercise import Count, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([value + 1 for value in values]), "n": n}


EXERCISE = dict(
    chapter="1. Threads", title="How many threads are too many?", kind="predict",
    task="Count by hand the threads, load requests and sectors of a launch for n = 900. Write your numbers; the simulator checks them.",
    hints=("Blocks have 256 threads. How many blocks do 900 elements need?",
           "A warp has 32 threads. A warp without any element loads nothing. A float has 4 bytes.",
           "4 * 256 threads; 900 / 32 warps and 900 * 4 / 32 sectors, both rounded up."),
    why="Threads are launched in whole blocks, a warp makes one load request, and memory is read in 32-byte sectors: 1,024 threads, 29 of 32 warps with a load, 113 sectors.",
    lesson="docs/words.md",
    kernel="add_one", data=data, sizes=(900,), random_sizes=(900, 900, 1),
    questions=(Count("threads launched", "threads"), Count("load requests", "global_load_requests"),
               Count("32-byte sectors loaded", "global_load_sectors")),
    wrong=(("threads launched", (900, 768, 256, 4, 1023)), ("load requests", (28, 32, 900, 4)),
           ("32-byte sectors loaded", (112, 900, 29, 128))),
)
