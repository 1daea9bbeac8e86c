from drywarp.learn.exercise import Goal, changed, given, whole


def data(n):
    values = whole(n, 0, 15)
    return {"in": given(values), "count": changed([0] * 16, [values.count(number) for number in range(16)]), "n": n}


EXERCISE = dict(
    chapter="7. Atomics", title="A histogram", kind="write",
    task="Count how often each of the numbers 0 to 15 occurs in the array in.",
    hints=("The element selects the counter: its index is in[i].",
           "Two threads may have the same number, so they add to the same counter at once.",
           "atomicAdd(&count[in[i]], 1);"),
    why="The data determine the address, so any threads may add to the same counter. An atomic addition is correct for all data.",
    lesson="labs/accuracy/README.md",
    kernel="histogram", data=data, sizes=(1, 31, 256, 257, 1000), random_sizes=(1, 3000, 1),
    goals=(Goal("load requests", "global_load_requests", most=64),),
    wrong=(
        ("atomicAdd(&count[in[i]], 1)", "count[in[i]]++"),
        ("atomicAdd(&count[in[i]], 1)", "count[in[i]] += 1"),
        ("atomicAdd(&count[in[i]], 1)", "atomicAdd(&count[i % 16], in[i])"),
        ("atomicAdd(&count[in[i]], 1)", "atomicAdd(&count[in[i]], in[i])"),
        ("atomicAdd(&count[in[i]], 1)", "atomicAdd_block(&count[in[i]], 1)"),
        ("atomicAdd(&count[in[i]], 1)", "atomicExch(&count[in[i]], count[in[i]] + 1)"),
        ("atomicAdd(&count[in[i]], 1)", "atomicAdd(&count[in[threadIdx.x]], 1)"),
        ("i < n", "i <= n"),
        ("i < n", "i < n - 1"),
        ("i < n", "true"),
        ("    if (i < n)\n"
         "        atomicAdd(&count[in[i]], 1);",
         "    for (int k = 0; i == 0 && k < n; k++)\n"
         "        count[in[k]]++;"),  # one thread does all the work
    ),
)
