"""Why a kernel differs from nvcc's, as read from both PTX texts and not proved by an experiment: patterns of "kind/program kernel", each with a cause."""

import fnmatch

CAUSES = (
    ("scan/step0[5-8]_* scan_tiles", "nvcc reads %tid.x and computes the index into shared memory again in each of the branches that loading a vector has;"
                                     " simulator/compiler computes them once"),
    ("labs/operators/step0[56]_* reduce*", "structures that a loop with an index copies stay in local memory: they are copied as words of 64 bits and read as"
                                           " words of 32"),
    ("labelled/barriers returned_before", "nvcc sees that no thread leaves the loop at its end, and that the sum is not needed"),
    ("exercises/07_tree/wrong10 sum", "nvcc drops stores that the same iteration overwrites, and addresses of the loop are variables of it"),
)


def cause_of(row):
    """The cause, or ""."""
    name = f"{row.kind}/{row.program} {row.kernel}"
    return next((cause for pattern, cause in CAUSES if fnmatch.fnmatchcase(name, pattern)), "")
