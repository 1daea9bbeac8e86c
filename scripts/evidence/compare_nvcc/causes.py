"""Why a kernel differs from nvcc's, as read from both PTX texts and not proved by an experiment: patterns of "kind/program kernel", each with a cause."""

import fnmatch

CAUSES = (
    ("scan/step0[5-8]_* scan_tiles", "nvcc reads %tid.x and computes the shared-memory index again in each branch of load_vector;"
                                     " simulator/compiler computes them once"),
    ("labs/operators/step0[56]_* reduce*", "structures that a loop copies by index stay in local memory, because they are copied as words of 64 bits and read as"
                                           " words of 32"),
    ("labelled/barriers returned_before", "nvcc removes the sum, because every thread leaves the loop before its end"),
    ("exercises/07_tree/wrong10 sum", "nvcc removes stores that the same iteration overwrites, and keeps the loop's addresses in variables"),
)


def cause_of(row):
    """The cause, or ""."""
    name = f"{row.kind}/{row.program} {row.kernel}"
    return next((cause for pattern, cause in CAUSES if fnmatch.fnmatchcase(name, pattern)), "")
