"""Why a kernel differs from nvcc's, as read from both PTX texts and not proved by an experiment: patterns of "kind/program kernel", each with a cause."""

import fnmatch

CAUSES = (
    ("scan/step0[4-6]_* scan_tiles", "nvcc reads %tid.x and computes the shared-memory index again in each branch of load_vector;"
                                     " simulator/compiler computes them once"),
    ("labelled/barriers returned_before", "nvcc removes the sum, because every thread leaves the loop before its end"),
)


def cause_of(row):
    """The cause, or ""."""
    name = f"{row.kind}/{row.program} {row.kernel}"
    return next((cause for pattern, cause in CAUSES if fnmatch.fnmatchcase(name, pattern)), "")
