from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([sum(values[k:k + 512]) for k in range(0, n, 512)])}


EXERCISE = dict(
    chapter="3. Idle lanes and bank conflicts", title="Add while loading", kind="write",
    task="Let the 256 threads of a block add 512 elements, with no more shared memory and no more rounds than for 256.",
    hints=("Each thread may load two elements and add them before it stores to shared memory.",
           "Both loads of a warp should access consecutive elements: the second element is 256 after the first.",
           "sums[tid] = in[first] + in[first + 256];"),
    why="In the first round only half of the threads added. Now the addition during the load replaces that round, and half as many blocks are needed.",
    lesson="step04_firstadd/README.md",
    kernel="sum", data=data, grid=lambda n: n // 512, sizes=(512, 1024, 5120), random_sizes=(512, 8192, 512),
    goals=(Goal("shared loads per block", "shared_loads", True, 25), Goal("load sectors per block", "global_load_sectors", True, 64)),
    equivalent={"bound5": "two threads of a warp store the same sum at once"},
    wrong=(
        ("in[first] + in[first + 256]", "in[first] + in[first + 1]"),
        ("in[first] + in[first + 256]", "in[first] + in[first + 128]"),
        ("in[first] + in[first + 256]", "2 * in[first]"),
        ("in[first] + in[first + 256]", "in[first] + in[first + 512]"),
        ("in[first] + in[first + 256]", "in[first + tid] + in[first + tid + 1]"),
        ("blockIdx.x * 512", "blockIdx.x * 256"),
        ("    __syncthreads();\n    for", "    for"),
    ),
)
