from drywarp.learn.exercise import Count, given, result, sixteenths


def data(n):
    values = sixteenths(512)
    return {"in": given(values), "out": result([values[2 * i] + values[i + 1] for i in range(256)])}


EXERCISE = dict(
    chapter="6. Memory", title="Stride and offset", kind="predict",
    task="A block of 8 warps reads every second element, and 256 elements at an offset of one. Count its requests and sectors by hand. Write your numbers; the simulator checks them.",
    hints=("Each warp loads twice. A sector holds 8 floats.",
           "in[2 * i] of 32 threads spans 64 floats. in[i + 1] is 32 floats that begin one element after the start of a sector.",
           "For each warp: 8 sectors for in[2 * i], 5 for in[i + 1], 4 for out; and there are 8 warps."),
    why="Memory moves whole sectors. With a stride of two, twice the useful bytes are loaded; an offset of one element costs one more sector per warp. So the 16 load requests need 104 sectors, and the stores need 32.",
    lesson="labs/coalescing/README.md",
    kernel="pick", data=data, grid=lambda n: 1, sizes=(256,), random_sizes=(256, 256, 1),
    questions=(Count("load requests", "global_load_requests"), Count("load sectors", "global_load_sectors"), Count("store sectors", "global_store_sectors")),
    wrong=(("load requests", (2, 8, 512)), ("load sectors", (64, 96, 72, 13, 128, 97)), ("store sectors", (8, 4, 64))),
)
