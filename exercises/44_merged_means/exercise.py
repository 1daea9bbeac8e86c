import random

from drywarp.learn.exercise import Goal, given, result, whole


def data(rows):
    centre = random.choice((-1, 1)) * random.randint(4096, 5000)
    values = [centre + value / 4 for value in whole(32 * rows, -16, 16)]
    whole_rows = [values[k:k + 32] for k in range(0, 32 * rows, 32)]
    means = [sum(row) / 32 for row in whole_rows]
    return {"in": given(values), "mean": result(means), "squares": result([sum((value - mean) ** 2 for value in row) for row, mean in zip(whole_rows, means)])}


EXERCISE = dict(
    chapter="11. Rows", title="Means that merge", kind="write",
    task="Squares of large numbers that are close together cancel, so this kernel's result is wrong: compute the squared distances from the mean in another way.",
    hints=("The sum of the squares is about 2^29, but a float keeps 24 bits. The difference of two such numbers has lost what you want to know.",
           "Add the squares of the distances from the mean, which are small: first find the mean. Or merge means, as Welford's algorithm does.",
           "mean += shuffled sums, divided by 32;  float distance = x - mean;  then add distance * distance over the lanes with shuffles."),
    why="Two large, nearly equal numbers cancel, and only their rounding errors remain. LayerNorm therefore adds squared distances: in a second pass over registers, or by merging means.",
    lesson="labs/rows/step08_welford/README.md",
    kernel="spread", data=data, block=32, grid=lambda rows: rows, sizes=(1, 2, 5, 16), random_sizes=(1, 40, 1),
    goals=(Goal("load requests per block", "global_load_requests", True, 4),),
    equivalent={"bound1": "all lanes have the same result", "bound3": "two lanes store the same result",
                "index8": "the lanes of a group have the same sum"},
    wrong=(
        ("distance * distance * count / 2", "distance * distance * count"),
        ("distance * distance * count / 2", "0"),
        ("distance * distance * count / 2", "distance * distance / 2"),
        ("distance / 2", "distance"),
        ("+ __shfl_xor_sync(0xffffffff, sum, count)", ""),
        ("count *= 2", "count *= 4"),
        ("count < 32", "count < 16"),
        ("count = 1", "count = 2"),
        ("- mean;\n        sum", "+ mean;\n        sum"),
        ("blockIdx.x * 32", "blockIdx.x * 31"),
        ("    if (threadIdx.x == 0) {\n",
         "    if (threadIdx.x == 0) {\n"
         "        mean = sum = 0;\n"
         "        for (int k = 0; k < 32; k++)\n"
         "            mean += in[blockIdx.x * 32 + k] / 32;\n"
         "        for (int k = 0; k < 32; k++)\n"
         "            sum += (in[blockIdx.x * 32 + k] - mean) * (in[blockIdx.x * 32 + k] - mean);\n"),  # one thread does all the work
    ),
)
