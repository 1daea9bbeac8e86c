"""The exercises as data of their page (page.js): for each one a script with the task, hints, goals, and the arguments of its runs at several n.

The scripts contain no answers. Each has the exercise's sizes and drawn ones, of which the page picks two; the terminal draws both n and data at each check.
The draws depend only on the exercise's name, so that a page is built again byte by byte."""

import array
import base64
import gzip
import json
import random
import re

from drywarp.learn import exercise as exercises
from drywarp.learn.exercise import Array

DRAWN = 4  # sizes besides the exercise's own
WIDTHS = {1: "b", 2: "h", 4: "i"}  # bytes of a packed element, as in Python's array
FIELDS = ("name", "number", "chapter", "title", "kind", "task", "hints", "why", "lesson", "kernel", "block", "counts_at")


def packed(values):
    """Values as [bytes of an element, base64, units]: the elements are the values times `units`, a power of two that makes all of them whole."""
    units = max(value.as_integer_ratio()[1] for value in values)
    elements = [int(value * units) for value in values]
    width = next((width for width in WIDTHS if all(-1 << 8 * width - 1 <= element < 1 << 8 * width - 1 for element in elements)), None)
    assert width, f"values in units of 1/{units} exceed 32 bits, so the page cannot have them"
    return [width, base64.b64encode(array.array(WIDTHS[width], elements).tobytes()).decode(), units]


def argument(value):
    """An argument of a run: a number, or an array. `after`: true if it must not change."""
    if not isinstance(value, Array):
        return value
    made = {"type": value.type, "count": value.count}
    if value.before is not None:
        made["before"] = packed(value.before)
    if value.after is not None:
        made["after"] = True if value.after is value.before else packed(value.after)
    return made


def run(task, n):
    return {"n": n, "grid": task.grid(n), "arguments": {name: argument(value) for name, value in task.data(n).items()}}


def drawn_sizes(task):
    """Random n that are not among the exercise's own, but not above them unless the exercise has a range: the page contains their data."""
    low, high, step = task.random_sizes or (1, max(task.sizes), 1)
    unknown = sorted(set(range(low, high + 1, step)).difference(task.sizes))
    return sorted(random.sample(unknown, min(DRAWN, len(unknown))))


def count(counted):
    return {"words": counted.words, "counter": counted.counter, "per_block": counted.per_block}


def goal(task, goal):
    return count(goal) | {"limit": goal.limit} | ({"least": goal.least} if goal.least else {"most": goal.most})


def title_of(page):
    """The first heading of a page, without its marks."""
    text = (exercises.ROOT / page).read_text(encoding="utf-8")
    return re.search(r"^# (.*)", text, re.M)[1].replace("`", "")


def data_of(task):
    """What the page knows of an exercise."""
    random.seed(task.name)
    made = {name: getattr(task, name) for name in FIELDS}
    made |= {"goals": [goal(task, each) for each in task.goals], "questions": [count(each) for each in task.questions], "text": task.text("task.cu")}
    made["lesson_title"] = title_of(task.lesson)
    return made | {"sizes": task.sizes, "runs": [run(task, n) for n in dict.fromkeys([*task.sizes, task.counts_at, *drawn_sizes(task)])]}


def script_of(task):
    """The script that adds an exercise to the page: its data as compressed JSON."""
    data = gzip.compress(json.dumps(data_of(task), ensure_ascii=False, separators=(",", ":")).encode(), mtime=0)
    return f'(window.exerciseData = window.exerciseData || {{}})["{task.name}"] = "{base64.b64encode(data).decode()}";\n'


def write(folder):
    """Writes the scripts of all exercises into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for task in exercises.every():
        (folder / f"{task.name}.js").write_text(script_of(task), encoding="utf-8")
