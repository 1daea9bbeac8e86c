"""An exercise of make learn as a shape for make judge: make learn's judge gives the verdict, which becomes an answer."""

from __future__ import annotations

import argparse
from drywarp.judge import compiling, shapes
from drywarp.judge.verdicts import Answer
from drywarp.judge.words import NOT_TRIED
from drywarp.learn import exercise as exercises
from drywarp.learn import judge, learn
from collections.abc import Iterable
from pathlib import Path


def find(text: str) -> exercises.Exercise | None:
    """The exercise with a number or name as typed; None if there is none."""
    return next((task for task in exercises.every() if text in (task.number, task.number.lstrip("0"), task.name)), None)


class OfExercise(shapes.Shape):
    """The shape of an exercise; its sizes are known after the run, since some are random."""
    least_bytes = None  # an exercise has no lower bound

    def __init__(self, task: exercises.Exercise, sizes: Iterable[int] = (), counted_at: int = 0) -> None:
        super().__init__((task.kernel,), "", "docs/learn.md", sizes=tuple(sizes), counted_at=counted_at or task.counts_at, promise=f"is for exercise {task.number}, {task.title}")
        self.task = task


def judged(path: Path, folder: Path, options: argparse.Namespace, answer: Answer) -> None:
    """Judges the learner's kernel or, in an exercise of kind predict, the predictions."""
    task = options.shape.task
    with open(path, "rb") as file:
        text = file.read(judge.MAX_SOURCE + 1)
    tools = judge.Tools(options.nvcc, options.library, options.threads or 1)
    predicts = task.kind == "predict"
    verdict = judge.judged(task, compiling.name_to_compile(path), task.text("task.cu").encode() if predicts else text, tools)
    answer.step, answer.built, answer.said, answer.findings = task.name, not verdict.said, verdict.said, verdict.findings
    answer.unjudged = compiling.DISK_FULL if verdict.said and compiling.is_disk_full(folder) else verdict.unjudged
    answer.over = verdict.over
    answer.sizes = dict.fromkeys(task.sizes, NOT_TRIED) | {n: wrong and (verdict.over or wrong) for n, wrong in verdict.sizes.items()}
    answer.shape = OfExercise(task, answer.sizes, verdict.row_at)
    if verdict.row and predicts:
        answer.sizes[task.counts_at] = wrong_predictions(task, text.decode(errors="replace"), verdict.row)
    if verdict.row and not (predicts and answer.sizes[task.counts_at]):  # wrong predictions do not get the counters
        answer.counters = shapes.totals([verdict.row])
        where = "" if verdict.row_at == task.counts_at else f" at n = {verdict.row_at:,}"
        answer.missed = [f"{goal.of(verdict.row):,} {goal.words}{where}, {goal.limit}" for goal in verdict.missed]


def wrong_predictions(task: exercises.Exercise, text: str, row: dict[str, str]) -> str:
    """The wrong predictions, in words; "" if all are right."""
    numbers, wrong = learn.predicted(text), []
    for question in task.questions:
        number, counted = numbers.get(question.words, ""), question.of(row)
        if not learn.is_number(number):
            wrong.append(f"{question.words}: no number")
        elif not learn.is_right(number, counted):
            wrong.append(f"{question.words}: {number}, but the simulator counts {'more' if counted > learn.number_of(number) else 'fewer'}")
    return "; ".join(wrong)
