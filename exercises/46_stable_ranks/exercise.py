from drywarp.learn.exercise import Goal, given, result, whole


def data(n):
    values = whole(n, 0, 7)
    return {"in": given(values), "rank": result([values[i // 32 * 32:i].count(values[i]) for i in range(n)])}


EXERCISE = dict(
    chapter="12. Sorting", title="Stable ranks in a warp", kind="write",
    task="Find the lanes whose element is equal, with one ballot for each of its three bits.",
    hints=("A ballot gives the lanes that have a bit set. Its complement gives those that have not.",
           "Start with all lanes. For each bit keep only the lanes that agree with your own element in it.",
           "set = __ballot_sync(0xffffffff, (digit & bit) != 0);  same &= (digit & bit) != 0 ? set : ~set;"),
    why="Equal elements get ranks in the order of their lanes, so a sort that places them by rank is stable. The number of ballots does not depend on the data.",
    lesson="labs/sort/step12_ballots/README.md",
    kernel="ranks", data=data, block=32, grid=lambda n: n // 32, sizes=(32, 64, 320), random_sizes=(32, 640, 32),
    goals=(Goal("load requests per block", "global_load_requests", True, 4),),
    equivalent={"bound2": "a fourth bit, which no element has"},
    wrong=(
        ("bit < 8", "bit < 4"),
        ("int bit = 1", "int bit = 2"),
        ("bit *= 2", "bit += 2"),
        ("set : ~set", "~set : set"),
        ("set : ~set", "set : 0xffffffff"),
        ("same &=", "same |="),
        ("same &=", "same ="),
        ("(1u << lane) - 1", "(2u << lane) - 1"),
        ("same & ((1u << lane) - 1)", "same"),
        ("same & ((1u << lane) - 1)", "same & ~((1u << lane) - 1)"),
        ("same = 0xffffffff", "same = 0"),
        ("    rank[i] = __popc(same & ((1u << lane) - 1));",
         "    for (int k = i; lane == 0 && k < i + 32; k++)\n"
         "        for (int j = rank[k] = 0; j < k - i; j++)\n"
         "            rank[k] += in[i + j] == in[k];"),  # one thread does all the work
    ),
)
