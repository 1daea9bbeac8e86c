from itertools import accumulate

from scripts.learn.exercise import Gate, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([float(value) for k in range(0, n, 256) for value in accumulate(values[k:k + 256])])}


EXERCISE = dict(
    chapter="10. Scans", title="A scan by warps", kind="gate",
    task="The scan has 17 barriers: let each warp scan its own elements by shuffles, and only the 8 warps' sums go through shared memory.",
    hints=("__shfl_up_sync(0xffffffff, own, s) gives the value of the lane s before; lanes below s get their own, and must not add it.",
           "The last lane of a warp then has the warp's sum. Behind one barrier each thread adds the sums of the warps before its own.",
           "if (lane == 31) sums[warp] = own;  __syncthreads();  for (int k = 0; k < warp; k++) own += sums[k];"),
    why="136 arrivals at barriers become 8: in a warp the shuffles order everything, and between warps only eight words have to go round.",
    lesson="scan/step02_shuffle/README.md",
    kernel="scan", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), drawn=(256, 4096, 256),
    gates=(Gate("barrier arrivals a block", "block_barriers", True, 16), Gate("shared stores a block", "shared_stores", True, 9)),
    equivalent={"bound3": "one round more, in which no lane has anybody 32 lanes before it"},
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
