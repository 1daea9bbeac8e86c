from drywarp.learn.exercise import Goal, changed, given, whole


def data(n):
    values = whole(n, 0, 15)
    return {"in": given(values), "count": changed([0] * 16, [values.count(number) for number in range(16)]), "n": n}


EXERCISE = dict(
    chapter="7. Atomics", title="Uninitialised counters", kind="fix",
    task="Each block counts in its own shared memory, which is faster, but the counts are wrong: fix the kernel.",
    hints=("The finding reports an uninitialised read. Which thread writes the first value of own[k]?",
           "Shared memory is uninitialised when a block starts. Let 16 threads set it to 0 before any thread adds to it.",
           "if (threadIdx.x < 16) own[threadIdx.x] = 0;  __syncthreads();  before the first atomicAdd."),
    why="Shared memory is uninitialised at the start of a block, and no thread may add before all counters are set. So the kernel needs the stores and a barrier.",
    lesson="docs/findings.md",
    kernel="histogram", data=data, sizes=(1, 31, 256, 257, 1000), random_sizes=(1, 3000, 1),
    goals=(Goal("load requests per block", "global_load_requests", True, 16),),
    equivalent={"atomic1": "own belongs to the block, so only threads of the block add to it", "index1": "one more element than is used"},
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
