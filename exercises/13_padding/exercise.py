from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([values[begin + 32 * row + column]
                                                for begin in range(0, n, 1024) for column in range(32) for row in range(32)])}


EXERCISE = dict(
    chapter="3. Idle lanes and bank conflicts", title="A column in one bank", kind="optimise",
    task="The tile is read by columns, and all 32 elements of a column are in one bank. Remove the bank conflicts without accessing more sectors of global memory.",
    hints=("tile[0][row], tile[1][row], ... are 32 words apart, so all are in bank row % 32.",
           "If rows were 33 words apart, the next row's element would be in the next bank.",
           "__shared__ float tile[32][33];"),
    why="One unused word per row shifts each row by one bank: 992 conflicts are gone, for 128 bytes of shared memory.",
    lesson="labs/bankconflicts/README.md",
    kernel="transpose", data=data, grid=lambda n: n // 1024, sizes=(1024, 3072), random_sizes=(1024, 8192, 1024),
    goals=(Goal("bank conflicts per block", "bank_conflicts", True, 0), Goal("load sectors per block", "global_load_sectors", True, 128),
           Goal("store sectors per block", "global_store_sectors", True, 128)),
    wrong=(
        ("[33]", "[34]"),
        ("[33]", "[31]"),
        ("[33]", "[48]"),
        ("[33]", "[64]"),
        ("tile[lane][row]", "tile[row][lane]"),
        ("    __syncthreads();\n", ""),
        ("    __syncthreads();\n", "    __syncwarp();\n"),
        ("row < 32", "row < 31"),
    ),
)
