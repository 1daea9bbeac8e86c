"""How similar a program is to the steps of this course, which every student has."""

from __future__ import annotations

import difflib
import functools
import re
from pathlib import Path

from drywarp import mine

TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\S")
KEPT = set("if else for while do return break continue switch case const unsigned int long float double void bool static struct template typename "
           "__global__ __device__ __shared__ __syncthreads __syncwarp __shfl_down_sync atomicAdd threadIdx blockIdx blockDim gridDim".split())
REPORTED = 0.9  # similarity from which a report names the step


def tokens(text: str) -> tuple[str, ...]:
    """The tokens of the part above the harness without comments; other names than KEPT are all the same, so that renaming does not hide a copy."""
    lesson, _ = mine.split(text)
    found = TOKEN.findall(mine.without_comments(lesson))
    return tuple("name" if token[0].isidentifier() and token not in KEPT else token for token in found)


@functools.lru_cache(maxsize=4)
def tokens_of_steps(folder: Path) -> dict[str, tuple[str, ...]]:
    """The tokens of the steps in a ladder's folder, by name."""
    return {path.parent.name: tokens(mine.read(path)) for path in sorted(folder.glob("step*/*.cu"))}


def most_similar(text: str, folder: Path) -> tuple[float, str]:
    """The share of equal tokens (0 to 1), and the name of the step that has the most; (0, "") if none is similar."""
    own = tokens(text)
    best: tuple[float, str] = (0, "")
    for name, theirs in tokens_of_steps(folder).items():
        matcher = difflib.SequenceMatcher(None, own, theirs, autojunk=False)
        if min(matcher.real_quick_ratio(), matcher.quick_ratio()) > max(best[0], REPORTED - 0.001):
            best = max(best, (matcher.ratio(), name))
    return best if best[0] >= REPORTED else (0, "")
