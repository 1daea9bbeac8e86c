#!/usr/bin/env python3
"""Writes the verdicts about all right solutions, planted mistakes and tasks: make learn-verdicts. tests/book/test_exercises.py compares the page's with them.

Each row has the exercise, the variant, a hash of its text, the verdict in a word, and the kinds of its findings."""

import concurrent.futures
import csv
import hashlib
import os
import random
import sys
from pathlib import Path

from drywarp import files
from drywarp.errors import Parser
from drywarp.learn import exercise as exercises
from drywarp.learn import judge
from scripts.evidence import variants

FILE = exercises.ROOT / "tests/book/verdicts.csv"
COLUMNS = ("exercise", "variant", "text", "verdict", "findings")
SEED = "11"  # of each variant's data; some verdicts depend on the data, and with these they are as with the page's data


def texts_of(task):
    """The kernels of an exercise by name: right ones, wrong ones and the task."""
    own = {"task": task.text("task.cu")}
    return own if task.kind == "predict" else own | variants.right_ones(task) | variants.planted(task)


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def word(verdict):
    """The verdict in a word, as judge.js has it."""
    if verdict.good:
        return "solved"
    return "does not build" if verdict.said else "finding" if verdict.findings else "wrong" if verdict.wrong else "missed goal"


def row(task_name, name):
    """The row of a variant. It needs a process of its own, because the data are drawn from the seeded generator of the process."""
    task = exercises.read(exercises.FOLDER / task_name)
    text = texts_of(task)[name]
    random.seed(SEED)
    verdict = judge.judged(task, f"{task.name}.cu", text.encode(), judge.Tools(""))
    return task.name, name, hash_of(text), word(verdict), " ".join(sorted({key[0] for key in verdict.findings}))


def main():
    parser = Parser(description=__doc__.partition("\n")[0])
    parser.add_argument("path", nargs="?", type=Path, default=FILE)
    path = parser.parse_args().path
    wanted = [(task.name, name) for task in exercises.every() for name in texts_of(task)]
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(row, *zip(*wanted)))
    rejected = [f"{task}/{name}" for task, name, _, verdict, _ in rows if verdict != "solved" and name.startswith(("answer", "right"))]
    if rejected:
        sys.exit(f"right solutions are rejected, so nothing was written: {', '.join(rejected)}")
    with files.whole(path) as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    print(f"{path}: {len(rows)} verdicts")


if __name__ == "__main__":
    main()
