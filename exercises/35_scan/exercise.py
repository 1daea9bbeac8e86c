from itertools import accumulate

from scripts.learn.exercise import Gate, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([float(value) for value in accumulate(values)]), "n": n}


EXERCISE = dict(
    chapter="9. Beyond one sum", title="A scan in one block", kind="write",
    task="Let out[i] become the sum of all elements up to in[i], in ten rounds: each thread adds what stands 1, 2, 4, ... 512 places before it.",
    hints=("After the round with s = 1 sums[tid] holds two elements, after s = 2 four: each round doubles it.",
           "A thread's value is read by one thread and written by another in the same round, so all have to read before anybody writes.",
           "for (s = 1, 2, ... 512) { float before = tid >= s ? sums[tid - s] : 0; __syncthreads(); sums[tid] += before; __syncthreads(); }"),
    why="A thousand sums in ten rounds: more additions than one thread would need, and a hundredth of its turns.",
    lesson="scan/step01_hillissteele/README.md",
    kernel="scan", data=data, block=1024, grid=lambda n: 1, sizes=(1, 2, 31, 33, 500, 1000), drawn=(1, 1000, 1),
    gates=(Gate("shared loads", "shared_loads", most=800),),
    equivalent={"bound5": "one round more, in which no thread has anybody 1,024 places before it"},
    wrong=(
        ("        __syncthreads();\n        sums[tid] += before;", "        sums[tid] += before;"),
        ("        sums[tid] += before;\n        __syncthreads();", "        sums[tid] += before;"),
        ("s < 1024", "s < 512"),
        ("s = 1;", "s = 2;"),
        ("tid >= s", "tid > s"),
        ("tid >= s ? sums[tid - s] : 0", "sums[tid - s]"),
        ("s *= 2", "s += 1"),
        ("out[tid] = sums[tid]", "out[tid] = sums[tid] - in[tid]"),
        ("    if (tid < n)\n", ""),
    ),
)
