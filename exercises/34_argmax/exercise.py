from drywarp.learn.exercise import Goal, distinct, given, result


def data(n):
    values = distinct(n)
    return {"in": given(values), "where": result([max(range(k, k + 256), key=values.__getitem__) for k in range(0, n, 256)])}


EXERCISE = dict(
    chapter="9. Beyond one sum", title="Where is the largest?", kind="write",
    task="Let the tree find the index of the largest element, not its value.",
    hints=("The tree combines pairs: a value and its index. Which of two pairs does a thread keep?",
           "fmaxf does not show which of the two it returned; compare, and copy value and index together.",
           "if (tid < s && best[tid + s] > best[tid]) { best[tid] = best[tid + s]; index[tid] = index[tid + s]; }"),
    why="A tree works for any associative and commutative operation, also on pairs. Value and index have to be copied together.",
    lesson="labs/operators/README.md",
    kernel="largest", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("load requests per block", "global_load_requests", True, 32),),
    equivalent={"bound6": "no two elements are equal", "bound7": "two threads of a warp store the same index at once",
                "index1": "one more element than is used"},
    wrong=(
        ("> best[tid])", "< best[tid])"),
        ("            best[tid] = best[tid + s];\n", ""),
        ("            index[tid] = index[tid + s];\n", ""),
        ("index[tid] = index[tid + s]", "index[tid] = tid + s"),
        ("index[tid] = blockIdx.x * 256 + tid", "index[tid] = tid"),
        ("        __syncthreads();\n    }\n    if", "    }\n    if"),
        ("tid < s &&", ""),
        ("s = 128", "s = 64"),
        ("        where[blockIdx.x] = index[0];",
         "        for (int k = where[blockIdx.x] = blockIdx.x * 256; k < blockIdx.x * 256 + 256; k++)\n"
         "            where[blockIdx.x] = in[k] > in[where[blockIdx.x]] ? k : where[blockIdx.x];"),  # one thread does all the work
    ),
)
