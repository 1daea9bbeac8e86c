from itertools import accumulate

from drywarp.learn.exercise import Goal, changed, given, sixteenths


def data(n):
    values = sixteenths(n)
    kept = [value for value in values if value > 0]
    before = [0, *accumulate(int(value > 0) for value in values)][:n]
    return {"v": changed(values, kept + values[len(kept):]), "index": given(before), "n": n}


EXERCISE = dict(
    chapter="10. Scans", title="Compaction in place", kind="fix",
    task="The elements move within one array, and some are overwritten before they are read: fix the kernel.",
    hints=("The finding names one line twice. Which thread still has to read the element that thread tid overwrites?",
           "Every thread must read its element before the first thread writes. A variable keeps the element in the meantime.",
           "float own = tid < n ? v[tid] : 0;  __syncthreads();  if (own > 0) v[index[tid]] = own;"),
    why="In one block a barrier separates all reads from all writes. Between blocks no barrier helps: there the elements must go to another array, or be moved by a second launch.",
    lesson="docs/suites.md",
    kernel="keep_positive", data=data, grid=lambda n: 1, sizes=(1, 2, 31, 32, 33, 200, 256), random_sizes=(1, 256, 1),
    goals=(Goal("load requests", "global_load_requests", most=32),),
    wrong=(
        ("    __syncthreads();", "    __syncwarp();"),
        ("    __syncthreads();", ""),
        ("own > 0", "own >= 0"),
        ("own > 0", "own < 0"),
        ("tid < n ? v[tid] : 0", "v[tid]"),
        ("index[tid]] = own", "tid] = own"),
        ("index[tid]] = own", "index[tid]] = v[tid]"),
        ("index[tid]] = own", "index[tid] + 1] = own"),
        ("tid < n ?", "tid <= n ?"),
        ("tid < n ?", "tid + 1 < n ?"),
    ),
)
