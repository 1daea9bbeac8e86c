from scripts.learn.exercise import changed, given, whole


def data(n):
    values = whole(n, 0, 15)
    return {"in": given(values), "count": changed([0] * 16, [values.count(number) for number in range(16)]), "n": n}


EXERCISE = dict(
    chapter="7. All add to one", title="What stood there before", kind="mend",
    task="Each block counts in shared memory of its own, which is nearer, and the counts are wrong: mend the kernel.",
    hints=("The finding says that something is read that nobody wrote. Who writes the first value of own[k]?",
           "Shared memory holds anything when a block begins. 16 threads can empty it, before all others add to it.",
           "if (threadIdx.x < 16) own[threadIdx.x] = 0;  __syncthreads();  before the first atomicAdd."),
    why="Shared memory is not zero at the start, and the others may add only when it has been set: two reasons for one more barrier.",
    lesson="docs/findings.md",
    kernel="histogram", data=data, sizes=(1, 31, 256, 257, 1000), drawn=(1, 3000, 1),
    equivalent={"atomic1": "own is the block's, so who else adds is in the block", "index1": "one element more than is used"},
    wrong=(
        ("        own[threadIdx.x] = 0;\n    __syncthreads();", "        own[threadIdx.x] = 0;"),
        ("        atomicAdd(&own[in[i]], 1);\n    __syncthreads();", "        atomicAdd(&own[in[i]], 1);"),
        ("    if (threadIdx.x < 16)\n        own", "    if (threadIdx.x < 15)\n        own"),
        ("    if (threadIdx.x < 16)\n        own[threadIdx.x] = 0;", "    own[threadIdx.x % 16] = threadIdx.x / 16;"),
        ("atomicAdd(&own[in[i]], 1)", "own[in[i]]++"),
        ("atomicAdd(&count[threadIdx.x], own[threadIdx.x])", "count[threadIdx.x] = own[threadIdx.x]"),
        ("        own[threadIdx.x] = 0;\n    __syncthreads();", "        own[threadIdx.x] = 0;\n    __syncwarp();"),
    ),
)
