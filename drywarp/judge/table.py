"""The CSV of make judge-all: a row for each program."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from drywarp.judge import classroom, shapes
from drywarp.judge.verdicts import Answer
from drywarp.judge.words import clean

COLUMNS = ["name", "step", "verdict", "built", "warnings", "sizes_passed", "sizes", "findings", *shapes.COUNTERS, "seconds", "similar_to", "similarity"]


def row_of(name: str, answer: Answer) -> list:
    return [classroom.cell(clean(name)), classroom.cell(clean(answer.step)), answer.verdict, "yes" if answer.built else "no", answer.warnings, answer.right,
            len(answer.shape.sizes), len(answer.findings), *(answer.counters.get(counter, "") for counter in shapes.COUNTERS), f"{answer.seconds:.1f}",
            answer.similar[1], f"{answer.similar[0]:.2f}" if answer.similar[1] else ""]


class Table:
    """The CSV of --all. Rows are written as they arrive, to a temporary file that becomes the table when it is complete.

    The folder is this program's alone until it ends: BlockingIOError where another make judge-all writes into it.
    If writing fails, it reports that once, and the answers continue without a table."""

    def __init__(self, path: Path) -> None:
        self.path, self.part, self.whole = path, path.with_name(f"{path.stem}.part{path.suffix}"), True
        path.parent.mkdir(parents=True, exist_ok=True)
        self.lock = os.open(path.parent, os.O_RDONLY)
        fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.part.write_text("")
        self.add([column.replace(" ", "_") for column in COLUMNS])

    def add(self, row: list) -> None:
        if self.whole:
            with self.watched(), open(self.part, "a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow(row)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.whole = False
            print(f"check.py: {clean(str(self.path))} cannot be written: {error.strerror}; the results are printed here only", file=sys.stderr)

    def finish(self) -> bool:
        """Renames the finished file to the table's name; returns whether that succeeded."""
        if self.whole:
            with self.watched():
                os.replace(self.part, self.path)
        return self.whole
