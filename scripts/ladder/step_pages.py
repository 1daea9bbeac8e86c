"""What a step's page says about its step, in a comment below the title:

<!-- step: changed lines at most 28; figure tree of 256 elements -->

Changed lines are those added and removed since the previous step; the first step has none. The figure is a function in plots/picture.py, or
plots/picture_scan.py; without elements it needs no run of the simulator, or chooses the sizes itself."""

import re
from pathlib import Path
from typing import NamedTuple, Optional

LINE = re.compile(r"^<!-- step: (?:changed lines at most (\d+); )?figure (\w+)(?: of (\d+) elements)? -->$", re.M)


class StepPage(NamedTuple):
    changed_lines: Optional[int]
    figure: str
    elements: Optional[int]


def about(folder: Path) -> StepPage:
    """The entries of a step's page; ValueError with one line if it has none."""
    page = folder / "README.md"
    found = LINE.search(page.read_text(encoding="utf-8"))
    if not found:
        raise ValueError(f"{page} has no line such as <!-- step: changed lines at most 28; figure tree of 256 elements -->")
    changed, figure, elements = found.groups()
    return StepPage(changed and int(changed), figure, elements and int(elements))
