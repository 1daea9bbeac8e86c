import random

from drywarp.learn.exercise import Goal, blocks_for, given, result, sixteenths


def data(rows):
    columns = 100 if rows == 64 else random.randint(1, 300 if rows < 10 else 100)
    values = sixteenths(rows * columns)
    return {"in": given(values), "out": result([float(sum(values[k * columns:(k + 1) * columns])) for k in range(rows)]),
            "rows": rows, "columns": columns}


EXERCISE = dict(
    chapter="9. Beyond one sum", title="A warp for each row", kind="write",
    task="Let each warp add its row: its lanes traverse the row together, then add their partial sums.",
    hints=("Lane 0 takes elements 0, 32, 64, ... of the row, lane 1 takes 1, 33, 65, ..., so that a warp's loads are coalesced.",
           "The row begins at in[row * columns]. After the loop, add the lanes' values with shuffles.",
           "for (int k = lane; k < columns; k += 32) own += in[row * columns + k];  then for (int s = 16; s > 0; s /= 2) own += __shfl_down_sync(...);"),
    why="With one thread per row, neighbouring threads would read addresses a whole row apart. With one warp per row the loads are coalesced, and no block barrier is needed.",
    lesson="labs/rowscale/README.md",
    kernel="sum_rows", data=data, grid=lambda rows: blocks_for(rows, 8), sizes=(1, 7, 8, 9, 50, 64), random_sizes=(1, 80, 1),
    goals=(Goal("load sectors", "global_load_sectors", most=1100),),
    wrong=(
        ("k = lane;", "k = 0;"),
        ("k += 32", "k += 31"),
        ("k < columns", "k <= columns"),
        ("k < columns", "k < 100"),
        ("row * columns + k", "k * rows + row"),
        ("row * columns + k", "row * 100 + k"),
        ("    if (row >= rows)\n        return; // the whole warp\n", ""),
        ("s = 16", "s = 8"),
        ("blockIdx.x * 8", "blockIdx.x * 32"),
    ),
)
