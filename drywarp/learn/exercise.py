"""The definition of an exercise, which exercises/NN_name/exercise.py fills in. docs/learn.md describes how to write one."""

from __future__ import annotations

import array
import math
import random
import runpy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional

from drywarp import files

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "exercises"
KINDS = ("write", "fix", "optimise", "predict")
HINTS = 3
UNIT = 16  # data are whole sixteenths, so that float additions are exact in any order (docs/check.md)
LARGE_ONES, LARGEST = 3, 1 << 13  # values of the judge's long arrays that have up to 13 bits, two more than half precision holds; most others are smaller
UNIFORM_SHARE = 0.3  # of the judge's runs
EXACT = 1 << 23  # units that the numbers of an array are together at most: a float holds all whole numbers up to twice as many


# ---- The arguments of a kernel

@dataclass(frozen=True)
class Array:
    """An array on the device, exactly as large as its values."""
    type: str  # as in Python's array: f, i, I
    after: Optional[list]  # the expected contents after the kernel; None: any
    before: Optional[list] = None  # the contents before the kernel; None: uninitialised
    count: int = 0  # of elements

    def packed(self) -> bytes:
        return array.array(self.type, self.before).tobytes() if self.before is not None else b""

    def expected(self) -> bytes:
        return array.array(self.type, self.after or ()).tobytes()


def type_of(values: list) -> str:
    return "f" if any(isinstance(value, float) for value in values) else "i"


def given(values: list, type: str | None = None) -> Array:
    """An array that the kernel reads and does not change."""
    return Array(type or type_of(values), values, values, len(values))


def result(values: list, type: str | None = None) -> Array:
    """An uninitialised array that the kernel must fill with these values."""
    return Array(type or type_of(values), values, None, len(values))


def changed(before: list, after: list, type: str | None = None) -> Array:
    """An array whose contents the kernel must change from `before` to `after`."""
    return Array(type or type_of(after), after, before, len(before))


def scratch(count: int, type: str = "f") -> Array:
    """An uninitialised array that the kernel may use freely."""
    return Array(type, None, None, count)


# Set by Exercise.drawn() for a run of the judge:
_large_unit = 0  # if it is not 0, sixteenths() draws large multiples of 1 / _large_unit, and distinct() multiples of it
_is_uniform = False  # whether numbers have the same sign, and those of whole() the same value


def sixteenths(count: int) -> list[float]:
    """`count` random floats, none of them 0: whole sixteenths from -1 to 1; for the judge sometimes as large, and as fine, as their sum can be exact."""
    most, unit = (max(UNIT, EXACT // max(count, 1)), _large_unit) if _large_unit else (UNIT, UNIT)
    signs = (random.choice((-1, 1)),) if _is_uniform else (-1, 1)
    values = [random.choice(signs) * random.randint(1, most) / unit for _ in range(count)]
    for k in random.sample(range(count), LARGE_ONES) if _large_unit and most < LARGEST else ():
        values[k] = random.choice(signs) * random.randint(1, LARGEST) / unit
    return values


def distinct(count: int) -> list[float]:
    """`count` random floats, all different; for the judge sometimes all negative."""
    return [value / (_large_unit or UNIT) for value in random.sample(range(-8 * count, 0 if _is_uniform else 8 * count), count)]


def whole(count: int, low: int, high: int) -> list[int]:
    """`count` random integers from low to high, both included; for the judge sometimes all equal."""
    return [random.randint(low, high)] * count if _is_uniform else [random.randint(low, high) for _ in range(count)]


def blocks_for(n: int, each: int) -> int:
    """The number of blocks that cover n elements, with `each` elements a block."""
    return max(1, math.ceil(n / each))


# ---- Counters and goals

@dataclass(frozen=True)
class Count:
    """A counter of the simulator (simulator/counters.md), for the whole launch or the average block."""
    words: str  # its name in messages
    counter: str  # a column of the counters, or "threads", or "blocks"
    per_block: bool = False

    def of(self, row: dict[str, str]) -> float:
        """Its value in a row of counters."""
        blocks = int(row["grid"])
        own = {"threads": blocks * files.threads(row["block"]), "blocks": blocks}.get(self.counter)
        value = float(row[self.counter]) if own is None else own
        value = value / blocks if self.per_block else value
        return int(value) if value == int(value) else value


@dataclass(frozen=True)
class Goal(Count):
    """A count that must be at most `most` or, if `least` is given, at least `least`."""
    most: int = 0
    least: int = 0

    @property
    def limit(self) -> str:
        return f"at least {self.least:,}" if self.least else f"at most {self.most:,}"

    def is_missed(self, row: dict[str, str]) -> bool:
        return self.of(row) < self.least if self.least else self.of(row) > self.most


@dataclass(frozen=True)
class Exercise:
    chapter: str  # such as "1. Threads"
    title: str
    kind: str  # one of KINDS
    task: str  # one sentence
    hints: tuple  # three; the third is almost the answer
    why: str  # the explanation, shown when it is solved
    lesson: str  # the page to read next
    kernel: str  # the kernel's name
    data: Callable  # n -> the kernel's arguments by name: arrays, or numbers (int)
    sizes: tuple  # n of the runs; two more are random
    grid: Callable = lambda n: blocks_for(n, 256)  # n -> blocks
    block: int = 256  # threads
    random_sizes: Optional[tuple] = None  # the range of the two random n: from, to, step; None: from 1 to twice the largest of the sizes
    goals: tuple = ()
    questions: tuple = ()  # kind predict: one Count a question; its words are in the learner's file
    counted_at: int = 0  # n at which goals and questions are counted; 0: the last of the sizes. Goals hold at other n, too: missed_at
    wrong: tuple = ()  # planted mistakes: (text of the answer, replacement); kind predict: (a question's words, wrong numbers)
    equivalent: dict = field(default_factory=dict)  # mutants of the answer that are correct, and why
    name: str = ""  # the folder's name

    @property
    def number(self) -> str:
        return self.name[:2]

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def counts_at(self) -> int:
        return self.counted_at or self.sizes[-1]

    def tries(self) -> list[int]:
        """All n of a check: `sizes`, and up to two random ones that are not in exercise.py, one of them above all sizes if the range reaches so far."""
        low, high, step = self.random_sizes or (1, 2 * max(self.sizes), 1)
        unknown = sorted(set(range(low, high + 1, step)).difference(self.sizes))
        above = [n for n in unknown if n > max(self.sizes)]
        first = random.sample(above or unknown, min(1, len(unknown)))
        rest = [n for n in unknown if n not in first]
        return [*self.sizes, *first, *random.sample(rest, min(1, len(rest)))]

    def drawn(self, n: int) -> dict[str, Any]:
        """Data for one run of the judge, sometimes with large and fine numbers, which lower precision does not hold, or with numbers that have the sign, or
        the value, in common."""
        global _large_unit, _is_uniform
        _large_unit, _is_uniform = random.choice((0, UNIT << random.randint(0, 8))), random.random() < UNIFORM_SHARE
        try:
            return self.data(n)
        finally:
            _large_unit, _is_uniform = 0, False

    def missed_at(self, n: int, row: dict[str, str]) -> list[Goal]:
        """The goals that a run at n misses. Those of the average block hold at any n, those of a whole launch up to `counts_at`, `least` only there."""
        return [goal for goal in self.goals if (goal.per_block or n == self.counts_at or n < self.counts_at and not goal.least) and goal.is_missed(row)]

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


def read(folder: Path) -> Exercise:
    """The exercise in a folder."""
    made = runpy.run_path(str(folder / "exercise.py"))["EXERCISE"]
    exercise = Exercise(**made | {"name": folder.name})
    assert exercise.kind in KINDS and len(exercise.hints) == HINTS, folder
    return exercise


def every() -> list[Exercise]:
    """All exercises, in order."""
    return [read(folder) for folder in sorted(FOLDER.glob("[0-9][0-9]_*/"))]
