from itertools import accumulate

from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([float(value) for k in range(0, n, 256) for value in accumulate(values[k:k + 256])])}


EXERCISE = dict(
    chapter="10. Scans", title="A scan by warps", kind="optimise",
    task="The scan has 17 barriers. Let each warp scan its own elements with shuffles; only the sums of the 8 warps go through shared memory.",
    hints=("__shfl_up_sync(0xffffffff, own, s) returns the value of the lane s positions lower. Lanes below s get their own value, and must not add it.",
           "The last lane of a warp then has the warp's sum. After one barrier each thread adds the sums of the warps before its own.",
           "if (lane == 31) sums[warp] = own;  __syncthreads();  for (int k = 0; k < warp; k++) own += sums[k];"),
    why="8 barrier arrivals replace 136. Within a warp the shuffles synchronise the lanes, and the warps exchange only eight words.",
    lesson="scan/step02_shuffle/README.md",
    kernel="scan", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("barrier arrivals per block", "block_barriers", True, 16), Goal("shared stores per block", "shared_stores", True, 9), Goal("shared loads per block", "shared_loads", True, 64),
           Goal("load requests per block", "global_load_requests", True, 16)),
    equivalent={"bound3": "one more round, in which no lane has another one 32 before it"},
    wrong=(
        ("lane >= s", "lane > s"),
        ("        if (lane >= s)\n", ""),
        ("__shfl_up_sync", "__shfl_down_sync"),
        ("s < 32", "s < 16"),
        ("lane == 31", "lane == 0"),
        ("k < warp", "k <= warp"),
        ("k = 0;", "k = 1;"),
        ("    __syncthreads();\n", ""),
        ("    __syncthreads();\n", "    __syncwarp();\n"),
        ("own += sums[k]", "own += sums[warp]"),
    ),
)
