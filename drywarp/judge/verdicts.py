"""The answer about one program, which the judge fills in, and the verdict that follows from it."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Protocol

from drywarp.judge import shapes
from drywarp.judge.words import NOT_TRIED, clean, without_folders

PASSED, WRONG, UNUSABLE, UNBUILT, FINDINGS, OVER, UNJUDGED, MISSED = range(8)
VERDICTS = {PASSED: "passed", WRONG: "wrong", UNBUILT: "does not build", FINDINGS: "findings", OVER: "over the limits", UNJUDGED: "not judged",
            MISSED: "misses the goal"}


@dataclasses.dataclass
class Answer:
    """The result of judging one program."""
    name: str
    shape: shapes.Shape = shapes.REDUCE
    step: str = ""
    built: bool = False
    warnings: int = 0
    said: list = dataclasses.field(default_factory=list)  # the compiler's messages, or why it was not started
    sizes: dict = dataclasses.field(default_factory=dict)  # n: "" if right, else the error, in a line or two
    findings: dict = dataclasses.field(default_factory=dict)  # by kind and places: the title, and lines about it
    counters: dict = dataclasses.field(default_factory=dict)
    missed: list = dataclasses.field(default_factory=list)  # goals, in words
    over: str = ""  # the first limit that it exceeded; `sizes` repeats it for each n that was stopped
    unjudged: str = ""  # why the judge failed, or what the simulator does not support
    similar: tuple = (0, "")  # the share of tokens that are those of a step, and the step; 0 if it is small
    seconds: float = 0

    @property
    def right(self) -> int:
        return sum(not wrong for wrong in self.sizes.values())

    @property
    def status(self) -> int:
        if self.unjudged:
            return UNJUDGED
        if any(wrong not in ("", NOT_TRIED, self.over) for wrong in self.sizes.values()):
            return WRONG  # also if a later size exceeded a limit
        if self.over:
            return OVER
        if not self.built:
            return UNBUILT
        if self.right < len(self.shape.sizes):
            return WRONG
        return FINDINGS if self.findings else MISSED if self.missed else PASSED

    @property
    def verdict(self) -> str:
        return VERDICTS[self.status]


# ---- Findings

class HasFindings(Protocol):
    """An Answer, or a Verdict of make learn."""
    findings: dict


def place_line(place: dict[str, Any]) -> str:
    """One access of a finding, as drywarp check prints it: file and line, access, thread, block and kernel; then the source's text."""
    where = f"{place.get('file', '')}:{place['line']}: " if place.get("line") else ""
    text = place.get("text")
    return where + place.get("description", "") + (f":  {text.strip()}" if text else "")


def without_numbers(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+|\d+", "0", text)


def same_place(place: dict[str, Any]) -> tuple:
    """The part of an access that is the same at every size."""
    return without_folders(place.get("file", "")), place.get("line"), place.get("kernel"), without_numbers(place.get("access", ""))


def with_line(finding: dict[str, Any]) -> bool:
    return any(place.get("line") for place in finding.get("places", []))


def add_findings(found: list[dict[str, Any]], answer: HasFindings) -> None:
    """Adds findings to an answer, one for each kind and pair of lines: at another size only numbers and addresses differ."""
    for finding in found:
        lines = [without_folders(place_line(place)) for place in finding.get("places", [])]
        title = f"{finding.get('name', finding.get('kind', ''))}: {finding.get('title', '')}"
        key = (finding.get("kind", ""), *map(same_place, finding.get("places", [])[:2]), "" if with_line(finding) else without_numbers(title))
        answer.findings.setdefault(key, [clean(line) for line in [title, *lines, *advice(finding)] if line])


def advice(finding: dict[str, Any]) -> list[str]:
    """A finding's help and notes, a line each."""
    lines = finding.get("hint", "").splitlines()
    return [line if re.match("(help|note): ", line) else f"help: {line}" for line in lines if line]
