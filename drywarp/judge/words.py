"""The judge's report about an answer, in lines for a learner."""

from __future__ import annotations

import csv
import itertools
import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from drywarp import counters_table
from drywarp.judge import shapes
from drywarp import mine

if TYPE_CHECKING:  # verdicts.py imports this module
    from drywarp.judge.verdicts import Answer

ROOT = shapes.ROOT
MAX_COLUMNS = 240
NOT_TRIED = "not tried"
PREFIX = "cuda-check-"  # of the judge's temporary folders
# A Try of a lesson that makes a mistake of this kind; docs/findings.md has a section for each kind.
TRIES = {"race-shared": ("step01_divergent", 2), "race-global": ("step11_singlepass", 1), "out-of-bounds": ("step03_sequential", 2),
         "misaligned": ("step09_vectorload", 1), "lanes": ("step08_shuffle", 1)}


def clean(text: str) -> str:
    """Untrusted text without characters that control a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text.replace("\t", "    "))[:MAX_COLUMNS]


def without_folders(text: str) -> str:
    """Text with file names relative to the learner's folder."""
    return re.sub(rf"{re.escape(tempfile.gettempdir())}/{PREFIX}[^/ ]*/program/", "", text)


def dotted(head: str, words: str) -> str:
    return f"{head} ".ljust(22, ".") + f" {words}"


def step_counters(shape: shapes.Shape) -> dict[str, dict[str, int]]:
    """The total counters of each step of the ladder, by name, in order."""
    with open(ROOT / "tests/counters/simulator" / shape.counters, newline="") as file:
        rows = [row for row in csv.DictReader(file) if re.match(r"step\d\d_", row["step"])]
    return {step: shapes.totals(list(group)) for step, group in itertools.groupby(rows, lambda row: row["step"]) if (shape.steps / step).exists()}


def counter_lines(answer: Answer) -> Iterator[str]:
    """The program's counters next to those of its own step, of the last step, of its contract's limits, and the lower bound."""
    shape, steps = answer.shape, step_counters(answer.shape) if answer.shape.steps else {}
    beside = [step for step in dict.fromkeys((answer.step, *list(steps)[-1:])) if step in steps]
    limit = {"launches": 1, "load sectors": math.ceil(shape.least_bytes / mine.SECTOR_BYTES)} if shape.least_bytes else {}
    columns = {"yours": answer.counters} | {step: steps[step] for step in beside} | {name: column for name, column in (("at most", shape.limits), ("lower bound", limit)) if column}
    table: list[Sequence[str]] = [[shapes.label(shape.counted_at), *columns]]
    table += [[name, *(f"{column[name]:,}" if name in column else "" for column in columns.values())] for name in shapes.COUNTERS]
    yield "counters:"
    yield from (f"    {line}" for line in counters_table.aligned(table))
    yield from (f"    goal missed: {goal}" for goal in answer.missed)
    if steps:
        yield from distances(answer.counters, list(steps)[-1], steps[list(steps)[-1]], shape.timed_by)
    if limit:
        sectors = answer.counters["load sectors"] / limit["load sectors"]
        yield f"load sectors: {sectors:.2f} times the lower bound" + (": bulk copies are not counted as loads, or part of the array was not read" if sectors < 1 else "")


def distances(ours: dict[str, int], last: str, theirs: dict[str, int], timed_by: str) -> Iterator[str]:
    """Compares a program with the last step. Fewer instructions need not take less time: few threads do not hide the memory latency."""
    yield (f"relative to {last}: {ours['warp instructions'] / theirs['warp instructions']:.2f} times the warp instructions, "
           f"{ours['load requests'] / theirs['load requests']:.2f} times the load requests")
    if ours["warp instructions"] < theirs["warp instructions"]:
        yield (f"    fewer warp instructions do not mean less time: {threads(ours)} here, {threads(theirs)} in {last}"
               + (f"; {timed_by} measures" if timed_by else ""))


def line_of(key: tuple) -> str:
    """The source line of a finding, in words."""
    file, line = next((place[:2] for place in key[1:-1] if place[1]), (None, None))
    return clean(f"{file}:{line}") if line else "host code"


def lesson_about(kind: str) -> str:
    """Where to read about a kind of finding, and the Try that makes the same mistake."""
    step, number = TRIES.get(kind, (None, None))
    return f"explanation: docs/findings.md#{kind}" + (f"; example: make try STEP={step[4:6]} TRY={number}, and {step}/README.md#try" if step else "")


def finding_lines(findings: dict[tuple, list[str]]) -> Iterator[str]:
    """The findings, grouped by line; after the last one of a kind, where to read about it."""
    by_line: dict[str, list[tuple[str, list[str]]]] = {}
    for key, said in findings.items():
        by_line.setdefault(line_of(key), []).append((key[0], said))
    last = {kind: line for line, found in by_line.items() for kind, _ in found}
    for line, found in by_line.items():
        yield f"    {line}" + (f": {len(found)} findings" if found[1:] else "")
        for kind, (title, *lines) in found:
            yield f"        {title}"
            yield from (f"            {each}" for each in lines)
        yield from (f"        {lesson_about(kind)}" for kind in dict.fromkeys(kind for kind, _ in found) if kind and last[kind] == line)


def threads(counters: dict[str, int]) -> str:
    return " in ".join(f"{counters[what]:,} {what if counters[what] != 1 else what[:-1]}" for what in ("threads", "blocks"))


def size_lines(answer: Answer) -> Iterator[str]:
    """A line for each size; those that differ from an earlier line only in numbers are counted there."""
    alike: dict[object, list] = {}
    for size, wrong in answer.sizes.items():
        is_wrong = wrong not in ("", NOT_TRIED, answer.over)
        alike.setdefault((re.sub(r"-?[\d.,]*\d", "0", wrong) if is_wrong else (size,)), []).append(size)
    for sizes in alike.values():
        wrong = answer.sizes[sizes[0]]
        first, *more = wrong.splitlines() or ["correct"]
        yield dotted(shapes.label(sizes[0]), first if wrong in ("", NOT_TRIED, answer.over) else f"wrong: {clean(first)}")
        yield from (f"    {clean(line)}" for line in more)
        if len(sizes) > 1:
            yield f"    the same with other numbers at {len(sizes) - 1} more size{'s' * (len(sizes) > 2)}, up to {shapes.label(sizes[-1])}"


def lines_about(answer: Answer, shown: str) -> Iterator[str]:
    """The report of an answer, in short lines."""
    says = f"has STEP {clean(answer.step)}" if answer.step else "has no STEP"
    yield f"{clean(shown)}, which {clean(answer.shape.promise) or says}"
    count = f" ({answer.warnings} warning{'s' * (answer.warnings > 1)})" if answer.warnings else ""
    yield dotted("builds", ("yes" if answer.built else "no") + count)
    yield from (f"    {clean(line)}" for line in [*answer.said, "" if answer.built else answer.over, answer.unjudged] if line)
    if not answer.built:
        return
    yield from size_lines(answer)
    if answer.similar[1]:
        yield dotted("similar", f"{100 * answer.similar[0]:.0f} % of the tokens are those of {answer.similar[1]}")
    yield dotted("findings", str(len(answer.findings) or "none"))
    yield from finding_lines(answer.findings)
    if answer.counters:
        yield from counter_lines(answer)


def counts_of(answer: Answer) -> str:
    return f"correct at {answer.right} of {len(answer.shape.sizes)} sizes, findings {len(answer.findings)}, {answer.seconds:.0f} s"
