import random

from drywarp.learn.exercise import Goal, given, result, whole


def data(rows):
    columns = 256 if rows == 16 else random.randint(1, 256)
    whole_rows = [[float(centre + value) for value in whole(columns, -6, 6)] for centre in (200 * (-1) ** (k + 1) for k in range(rows))]
    values = [value for row in whole_rows for value in row]
    return {"in": given(values), "largest": result(list(map(max, whole_rows))),
            "sums": result([sum(2 ** (value - max(row)) for value in row) for row in whole_rows]), "columns": columns}


EXERCISE = dict(
    chapter="11. Rows", title="Largest and sum in one pass", kind="optimise",
    task="The kernel reads each row twice: compute the largest number and the sum of the powers in one pass.",
    hints=("A lane keeps a pair: its largest number so far, and the sum of the powers relative to it. What happens to the sum when a larger number comes?",
           "A pair (m, s) becomes relative to a larger number M by s * exp2f(m - M). So two pairs can be merged: in a lane with the next number, whose pair is (x, 1), and then between lanes.",
           "float most = fmaxf(m, x);  s = s * exp2f(m - most) + exp2f(x - most);  m = most;  a shuffle merges the pairs of two lanes with s * exp2f(m - most) + t * exp2f(x - most)."),
    why="Merging pairs is associative, so the largest number and the sum need one reduction instead of two. This is online softmax, which fused attention kernels use as well.",
    lesson="labs/rows/step02_online/README.md",
    kernel="powers", data=data, block=32, grid=lambda rows: rows, sizes=(1, 3, 16), random_sizes=(1, 16, 1),
    goals=(Goal("load requests", "global_load_requests", most=128),),
    equivalent={"bound1": "all lanes have the same result", "bound4": "two lanes store the same result"},
    wrong=(
        ("sum * exp2f(most - larger) + ", "sum + "),
        ("sum * exp2f(most - larger) + exp2f(x - larger)", "sum * exp2f(most - larger) + 1"),
        ("own * exp2f(most - larger)", "own"),
        ("other * exp2f(x - larger)", "other"),
        ("        most = larger;\n    }\n    for", "    }\n    for"),
        ("-FLT_MAX", "0"),
        ("s = 16", "s = 8"),
        ("c += 32", "c += 64"),
        ("c < columns", "c + 1 < columns"),
        ("blockIdx.x * columns", "blockIdx.x * 256"),
    ),
)
