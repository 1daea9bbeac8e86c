"""What an exercise is: exercises/NN_name/exercise.py makes one. docs/learn.md says how to write another."""

import array
import math
import random
import runpy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from scripts import files

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "exercises"
KINDS = ("write", "mend", "gate", "predict")
HINTS = 3
UNIT = 16  # data are whole sixteenths, so that float additions are exact in any order (docs/check.md)


# ---- The arguments of a kernel

@dataclass(frozen=True)
class Array:
    """An array on the device, exactly as large as its values."""
    type: str  # as in Python's array: f, i, I
    after: list  # what must stand there after the kernel; None where anything may
    before: list = None  # what the kernel finds; None: nothing, nobody has written it
    count: int = 0  # of elements

    def packed(self):
        return array.array(self.type, self.before).tobytes() if self.before is not None else b""

    def wanted(self):
        return array.array(self.type, self.after).tobytes()


def type_of(values):
    return "f" if any(isinstance(value, float) for value in values) else "i"


def given(values, type=None):
    """An array that the kernel reads and leaves as it is."""
    return Array(type or type_of(values), values, values, len(values))


def result(values, type=None):
    """An array that the kernel has to fill with these values."""
    return Array(type or type_of(values), values, None, len(values))


def changed(before, after, type=None):
    """An array that holds one thing before, and has to hold another afterwards."""
    return Array(type or type_of(after), after, before, len(before))


def room(count, type="f"):
    """An array in which the kernel may keep what it likes."""
    return Array(type, None, None, count)


def sixteenths(count):
    """So many floats that nobody can know beforehand, none of them 0."""
    return [random.choice((-1, 1)) * random.randint(1, UNIT) / UNIT for _ in range(count)]


def distinct(count):
    """So many floats, no two of them equal."""
    return [value / UNIT for value in random.sample(range(-8 * count, 8 * count), count)]


def whole(count, low, high):
    """So many whole numbers from low to high."""
    return [random.randint(low, high) for _ in range(count)]


def blocks_for(n, each):
    """As many blocks as n elements need, if each has so many."""
    return max(1, math.ceil(n / each))


# ---- What is counted

@dataclass(frozen=True)
class Count:
    """A counter of the simulator (simulator/counters.md), of the whole launch or of a block on average."""
    words: str  # as the learner reads it
    counter: str  # a column of the counters, or threads, or blocks
    per_block: bool = False

    def of(self, row):
        """Its value in a row of counters."""
        blocks = int(row["grid"])
        value = {"threads": blocks * files.threads(row["block"]), "blocks": blocks}.get(self.counter)
        value = float(row[self.counter]) if value is None else value
        value = value / blocks if self.per_block else value
        return int(value) if value == int(value) else value


@dataclass(frozen=True)
class Gate(Count):
    """A count that has to be so low or, where `least` is given, so high."""
    most: int = 0
    least: int = 0

    @property
    def goal(self):
        return f"at least {self.least:,}" if self.least else f"at most {self.most:,}"

    def is_missed(self, row):
        return self.of(row) < self.least if self.least else self.of(row) > self.most


@dataclass(frozen=True)
class Exercise:
    chapter: str  # such as "1. Threads"
    title: str
    kind: str  # one of KINDS
    task: str  # one sentence
    hints: tuple  # three; the third is almost the answer
    why: str  # told after it is solved
    lesson: str  # the page where there is more about it
    kernel: str  # its name
    data: Callable  # n -> the kernel's arguments by name: arrays, or numbers (int)
    sizes: tuple  # n of the runs; two more are drawn
    grid: Callable = lambda n: blocks_for(n, 256)  # n -> blocks
    block: int = 256  # threads
    drawn: tuple = None  # the two more: from, to, step; None: from 1 to the largest of the sizes
    gates: tuple = ()
    questions: tuple = ()  # of kind predict: a Count each, whose words stand in the learner's file
    counted_at: int = 0  # n of gates and questions; 0: the last of the sizes
    wrong: tuple = ()  # planted mistakes: (what stands in the answer, what takes its place); of kind predict: (a question's words, numbers)
    equivalent: dict = field(default_factory=dict)  # mutants of the answer that pass: why
    name: str = ""  # the folder's

    @property
    def number(self):
        return self.name[:2]

    @property
    def folder(self):
        return FOLDER / self.name

    @property
    def counts_at(self):
        return self.counted_at or self.sizes[-1]

    def tries(self):
        """All n of a check: two more than those that everybody can read, where there are any."""
        low, high, step = self.drawn or (1, max(self.sizes), 1)
        unknown = sorted(set(range(low, high + 1, step)).difference(self.sizes))
        return [*self.sizes, *random.sample(unknown, min(2, len(unknown)))]

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")


def read(folder):
    """The exercise in a folder."""
    made = runpy.run_path(str(folder / "exercise.py"))["EXERCISE"]
    exercise = Exercise(**made | {"name": folder.name})
    assert exercise.kind in KINDS and len(exercise.hints) == HINTS, folder
    return exercise


def every():
    """All exercises, in order."""
    return [read(folder) for folder in sorted(FOLDER.glob("[0-9][0-9]_*/"))]
