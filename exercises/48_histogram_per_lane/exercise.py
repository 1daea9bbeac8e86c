from drywarp.learn.exercise import Goal, changed, given, whole


def data(n):
    values = whole(n, 0, 15)
    return {"in": given(values), "count": changed([0] * 16, [values.count(number) for number in range(16)]), "n": n}


EXERCISE = dict(
    chapter="12. Sorting", title="A histogram for each lane", kind="fix",
    task="Two lanes may have the same number, so counts are lost: give each lane its own copy of the 16 counters in shared memory.",
    hints=("With a copy for each lane no two threads write to the same counter, so they need no atomic addition in shared memory.",
           "__shared__ int own[16][32]; and own[in[i]][lane]++: the bank is the lane, so there are no bank conflicts either.",
           "int sum = __reduce_add_sync(0xffffffff, own[number][lane]);  then lane 0 adds it to count[number], for each of the 16 numbers."),
    why="Private copies remove the race, the atomic additions in shared memory and the bank conflicts, whatever the data. The price is 32 times the shared memory.",
    lesson="labs/sort/step08_per_lane/README.md",
    kernel="histogram", data=data, block=32, grid=lambda n: 1 + n // 512, sizes=(1, 31, 257, 2000), random_sizes=(1, 3000, 1),
    goals=(Goal("load requests per block", "global_load_requests", True, 32),),
    equivalent={"index1": "one more row than is used", "index3": "one more column than is used"},
    wrong=(
        ("own[in[i]][lane]++", "own[in[i]][0]++"),
        ("own[in[i]][lane]++", "own[in[i]][lane / 2]++"),
        ("own[in[i]][lane]++", "own[in[i]][lane] = 1"),
        ("own[in[i]][lane]++", "own[in[i]][lane] += in[i]"),
        ("own[in[i]][lane]++", "own[i % 16][lane]++"),
        ("        own[number][lane] = 0;", "        own[0][lane] = 0;"),
        ("if (lane == 0)\n            atomicAdd(&count[number], sum)", "atomicAdd(&count[number], sum)"),
        ("atomicAdd(&count[number], sum)", "count[number] = sum"),
        ("i < n", "i <= n"),
        ("i < n", "i < n - 1"),
        ("i += gridDim.x * 32", "i += 32"),
    ),
)
