from scripts.learn.exercise import Count, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([value + 1 for value in values]), "n": n}


EXERCISE = dict(
    chapter="1. Threads", title="How many threads are too many?", kind="predict",
    task="Count by hand what a launch for n = 900 does, write your numbers into the file, and save: the run counts, too.",
    hints=("Blocks are whole; how many of 256 threads do 900 elements need?",
           "A warp has 32 threads, and a warp none of whose threads has an element loads nothing. A float has 4 bytes.",
           "4 * 256 threads; 900 / 32 warps and 900 * 4 / 32 pieces, both rounded up."),
    why="Threads come in blocks, loads in warps, memory in pieces of 32 bytes: 1,024 threads, of which 29 of 32 warps load, 113 pieces.",
    lesson="docs/words.md",
    kernel="add_one", data=data, sizes=(900,), drawn=(900, 900, 1),
    questions=(Count("threads launched", "threads"), Count("load requests", "global_load_requests"),
               Count("32-byte pieces of memory that are loaded", "global_load_sectors")),
    wrong=(("threads launched", (900, 768, 256, 4, 1023)), ("load requests", (28, 32, 900, 4)),
           ("32-byte pieces of memory that are loaded", (112, 900, 29, 128))),
)
