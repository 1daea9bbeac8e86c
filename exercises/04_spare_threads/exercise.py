from scripts.learn.exercise import Count, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([value + 1 for value in values]), "n": n}


EXERCISE = dict(
    chapter="1. Threads", title="How many threads are too many?", kind="predict",
    task="Count by hand what a launch for n = 900 does. Write your numbers into the file and save it: the simulator counts, too.",
    hints=("Blocks have 256 threads. How many blocks do 900 elements need?",
           "A warp has 32 threads. A warp without any element loads nothing. A float has 4 bytes.",
           "4 * 256 threads; 900 / 32 warps and 900 * 4 / 32 sectors, both rounded up."),
    why="Threads come in blocks, loads in warps, and memory in 32-byte sectors: 1,024 threads are launched, 29 of 32 warps load, and they load 113 sectors.",
    lesson="docs/words.md",
    kernel="add_one", data=data, sizes=(900,), random_sizes=(900, 900, 1),
    questions=(Count("threads launched", "threads"), Count("load requests", "global_load_requests"),
               Count("32-byte sectors loaded", "global_load_sectors")),
    wrong=(("threads launched", (900, 768, 256, 4, 1023)), ("load requests", (28, 32, 900, 4)),
           ("32-byte sectors loaded", (112, 900, 29, 128))),
)
