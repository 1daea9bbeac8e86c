"""What is found out about one program: the answer that the judge builds up, and the verdict that follows from it."""

import dataclasses
import re

from scripts.judge import shapes
from scripts.judge.words import NOT_TRIED, clean, without_folders

PASSED, WRONG, UNUSABLE, UNBUILT, FINDINGS, OVER, UNJUDGED, MISSED = range(8)
VERDICTS = {PASSED: "passed", WRONG: "wrong", UNBUILT: "does not build", FINDINGS: "findings", OVER: "over the limits", UNJUDGED: "not judged",
            MISSED: "misses the goal"}


@dataclasses.dataclass
class Answer:
    """What is found out about one program."""
    name: str
    shape: shapes.Shape = shapes.REDUCE
    step: str = ""
    built: bool = False
    warnings: int = 0
    said: list = dataclasses.field(default_factory=list)  # by the compiler, or in its place
    sizes: dict = dataclasses.field(default_factory=dict)  # n: "" where it is right, else what is wrong, in a line or two
    findings: dict = dataclasses.field(default_factory=dict)  # by what tells one from another: its title, and lines about it
    counters: dict = dataclasses.field(default_factory=dict)
    missed: list = dataclasses.field(default_factory=list)  # goals, in words
    over: str = ""  # which limit it has met first; of each size at which it met one, this stands in sizes
    unjudged: str = ""  # why the judge could not go on
    seconds: float = 0

    @property
    def right(self):
        return sum(not wrong for wrong in self.sizes.values())

    @property
    def status(self):
        if self.unjudged:
            return UNJUDGED
        if any(wrong not in ("", NOT_TRIED, self.over) for wrong in self.sizes.values()):
            return WRONG  # also where it is slow: that is no excuse for it
        if self.over:
            return OVER
        if not self.built:
            return UNBUILT
        if self.right < len(self.shape.sizes):
            return WRONG
        return FINDINGS if self.findings else MISSED if self.missed else PASSED

    @property
    def verdict(self):
        return VERDICTS[self.status]


# ---- Findings

def place_line(place):
    """One side of a finding: where, who did what, and the source's text."""
    where = f"{place.get('file', '')}:{place['line']}: " if place.get("line") else ""
    access, kernel, text = place.get("access", ""), place.get("kernel"), place.get("text")
    return where + (f"{access}, in {kernel}" if kernel else f"the host {access}") + (f":  {text.strip()}" if text else "")


def without_numbers(text):
    return re.sub(r"0x[0-9a-f]+|\d+", "0", text)


def same_place(place):
    """What one side of a finding has in common with that of the same mistake at another size."""
    return without_folders(place.get("file", "")), place.get("line"), place.get("kernel"), without_numbers(place.get("access", ""))


def with_line(finding):
    return any(place.get("line") for place in finding.get("places", []))


def add_findings(found, answer):
    """One for each place: another size makes other numbers and addresses of it, and no other finding."""
    for finding in found:
        lines = [without_folders(place_line(place)) for place in finding.get("places", [])]
        title = finding.get("title", finding.get("kind", ""))
        key = (finding.get("kind", ""), *map(same_place, finding.get("places", [])[:2]), "" if with_line(finding) else without_numbers(title))
        answer.findings.setdefault(key, [clean(line) for line in [title, *lines, finding.get("hint", "")] if line])
