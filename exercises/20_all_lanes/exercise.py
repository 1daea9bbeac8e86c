from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result([float(sum(value for value in values[k:k + 32] if value > 0)) for k in range(0, n, 32)])}


EXERCISE = dict(
    chapter="5. Shuffles", title="A missing lane", kind="fix",
    task="The mask of the shuffle names all 32 lanes, but some do not execute it: fix the kernel.",
    hints=("Which lanes are in the branch, and which does 0xffffffff name?",
           "A lane whose element must not be added can take part with 0, which does not change the sum.",
           "float own = in[i] > 0 ? in[i] : 0;  and the loop without the if."),
    why="All lanes that the mask names must execute the shuffle. A lane without anything to add contributes 0.",
    lesson="docs/findings.md",
    kernel="positive_sum", data=data, grid=lambda n: n // 256, sizes=(256, 512, 2560), random_sizes=(256, 4096, 256),
    goals=(Goal("load requests per block", "global_load_requests", True, 16),),
    wrong=(
        ("in[i] > 0 ? in[i] : 0", "in[i]"),
        ("in[i] > 0 ? in[i] : 0", "in[i] > 0 ? in[i] : 1"),
        ("in[i] > 0 ? in[i] : 0", "in[i] < 0 ? in[i] : 0"),
        ("in[i] > 0 ? in[i] : 0", "fabsf(in[i])"),
        ("0xffffffff", "__activemask() & 0xffff"),
        ("    for (int s", "    if (own > 0)\n    for (int s"),
        ("0xffffffff, own, s", "1, own, s"),
        ("s = 16", "s = 8"),
    ),
)
