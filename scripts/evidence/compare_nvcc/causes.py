"""Why a kernel differs from nvcc's, as read from both PTX texts and not proved by an experiment: patterns of "kind/program kernel", each with a cause."""

import fnmatch

CAUSES = (
    ("scan/step0[4-6]_* scan_tiles", "nvcc reads %tid.x and computes the shared-memory index again in each branch of load_vector;"
                                     " simulator/compiler computes them once"),
    ("labs/sort/step11_* scatter", "nvcc computes the addresses of a warp's counters again in each branch that uses one, which needs fewer registers;"
                                   " simulator/compiler computes them once"),
    ("labs/rowscale/step0[45]_* scale_rows<float, 128, 64>", "nvcc reads %tid.x and computes the column again in each branch that uses it, which needs fewer"
                                                             " registers; simulator/compiler computes them once"),
    ("labelled/barriers returned_before", "nvcc removes the sum, because every thread leaves the loop before its end"),
)


def cause_of(row):
    """The cause, or ""."""
    name = f"{row.kind}/{row.program} {row.kernel}"
    return next((cause for pattern, cause in CAUSES if fnmatch.fnmatchcase(name, pattern)), "")
