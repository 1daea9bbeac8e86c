from drywarp.learn.exercise import given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result(values[::-1]), "n": n}


EXERCISE = dict(
    chapter="1. Threads", title="Back to front", kind="write",
    task="Fill out with the elements of in, from back to front.",
    hints=("A thread may read any element, not only the one with its own index.",
           "out[0] is in[n - 1], and out[n - 1] is in[0].",
           "out[i] = in[n - 1 - i];"),
    why="You choose which thread processes which element. Exactly one thread must write each element of out.",
    lesson="step01_divergent/README.md",
    kernel="mirror", data=data, sizes=(1, 2, 33, 256, 257, 1000, 4097),
    wrong=(
        ("n - 1 - i", "n - i"),
        ("n - 1 - i", "n - 2 - i"),
        ("n - 1 - i", "i"),
        ("n - 1 - i", "255 - i"),
        ("n - 1 - i", "blockDim.x - 1 - threadIdx.x"),
        ("n - 1 - i", "gridDim.x * blockDim.x - 1 - i"),
        ("n - 1 - i", "blockIdx.x * blockDim.x + 255 - threadIdx.x"),
    ),
)
