from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(rows):
    values = sixteenths(1024 * rows)
    whole_rows = [values[k:k + 1024] for k in range(0, 1024 * rows, 1024)]
    return {"in": given(values), "out": result([value - sum(row) / 1024 for row in whole_rows for value in row])}


EXERCISE = dict(
    chapter="11. Rows", title="A row in registers", kind="optimise",
    task="The kernel reads each row twice, for its mean and to subtract it: let each thread keep its four numbers in registers in between.",
    hints=("A thread subtracts the mean from the same four numbers that it added before.",
           "Load the numbers into an array of four floats. If the compiler unrolls all loops over it, it needs no memory: the indices are constants.",
           "float own[4];  for (int k = 0; k < 4; k++) sum += own[k] = row[k * 256 + threadIdx.x];  and at the end row_out[...] = own[k] - mean;"),
    why="The registers of a block hold 65,536 numbers or fewer, depending on the GPU. A row that fits is read once and written once, as by a copy.",
    lesson="labs/rows/step04_registers/README.md",
    kernel="centre", data=data, grid=lambda rows: rows, sizes=(1, 2, 5), random_sizes=(1, 8, 1),
    goals=(Goal("load requests per block", "global_load_requests", True, 32), Goal("load sectors per block", "global_load_sectors", True, 128)),
    equivalent={"bound1": "all lanes of a warp have the same sum", "bound6": "two lanes store the same sum",
                "index17": "these five distances combine to reach every lane, too"},
    wrong=(
        ("own[k] - mean", "row[k * 256 + threadIdx.x] - mean"),
        ("own[k] - mean", "own[0] - mean"),
        ("own[k] - mean", "own[k]"),
        ("own[k];", "own[0];"),
        ("    __syncthreads();\n", ""),
        ("w < 8", "w < 7"),
        ("s = 16", "s = 8"),
        ("/ 1024", "/ 256"),
        ("blockIdx.x * 1024", "blockIdx.x * 256"),
        ("k < 4; k++) {", "k < 3; k++) {"),
    ),
)
