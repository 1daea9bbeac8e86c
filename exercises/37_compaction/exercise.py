from scripts.learn.exercise import given, result, sixteenths


def data(n):
    values = sixteenths(n)
    values[n // 2] = abs(values[n // 2])  # so that out has an element
    return {"in": given(values), "out": result([value for value in values if value > 0]), "n": n}


EXERCISE = dict(
    chapter="10. Scans", title="Close the gaps", kind="write",
    task="Write the positive elements one behind the other to out, in their order: find each one's place.",
    hints=("An element's place is the number of positive elements before it: those in the warps before, and those of the lanes before in its own warp.",
           "positive has a bit for each lane of the warp; (1u << lane) - 1 has those of the lanes before; __popc counts bits.",
           "place = __popc(positive & ((1u << lane) - 1));  and for each warp k before this one: place += count[k];"),
    why="Compaction is a scan of zeros and ones; in a warp one ballot and one count of bits are that scan.",
    lesson="scan/step02_shuffle/README.md",
    kernel="keep_positive", data=data, grid=lambda n: 1, sizes=(1, 2, 31, 32, 33, 200, 256), drawn=(1, 256, 1),
    equivalent={"bound1": "all lanes of a warp store the same count at once", "bound8": "two lanes store the same count at once",
                "index1": "one element more than is used"},
    wrong=(
        ("(1u << lane) - 1", "(1u << lane)"),
        ("(1u << lane) - 1", "(2u << lane) - 1"),
        ("positive & ((1u << lane) - 1)", "positive"),
        ("k < warp", "k <= warp"),
        ("k < warp", "k < 8"),
        ("k = 0;", "k = 1;"),
        ("place += count[k]", "place = count[k]"),
        ("own > 0)\n        out", "true)\n        out"),
        ("    __syncthreads();\n", ""),
        ("int place = __popc(positive & ((1u << lane) - 1));", "int place = 0;"),
    ),
)
