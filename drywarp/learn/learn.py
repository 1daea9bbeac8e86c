#!/usr/bin/env python3
"""make learn: shows an exercise, waits until its file is saved, and reports what is wrong, or "done" and the next exercise.

docs/learn.md is for learners. Without a terminal it checks the current exercise once; exit status: 0 done; 1 not yet; 2 unusable argument."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Callable, NoReturn, Optional

from drywarp import files
from drywarp.judge.words import clean
from drywarp import execute
from drywarp.learn import exercise as exercises
from drywarp.learn import judge, page, progress, transfer
from drywarp.learn.exercise import Exercise

LOOK_EVERY_S = 0.2
GONE_LOOKS = 10  # looks without a file before that is reported: an editor that replaces it takes less
NUMBER = re.compile(r"\d{1,18}(\.\d{1,18})?", re.A)  # a prediction


def refuse(message: str) -> NoReturn:
    print(f"make learn: {message}", file=sys.stderr)
    sys.exit(2)


def find(tasks: list[Exercise], number: str, name: str) -> Exercise:
    """The exercise with a number as typed; exits if there is none."""
    for task in tasks:
        if number in (task.number, task.number.lstrip("0"), task.name):
            return task
    refuse(f"{name}='{clean(number)}' is not an exercise; choose {tasks[0].number} to {tasks[-1].number}, as in: make learn {name}={tasks[-1].number}")


class Learner:
    """A learner's folder: the copies of the tasks, and the progress."""

    def __init__(self, folder: Path, tasks: list[Exercise]) -> None:
        self.folder, self.tasks = folder, tasks

    @property
    def page(self) -> Path:
        return self.folder / page.NAME

    def file(self, task: Exercise) -> Path:
        return self.folder / f"{task.name}.cu"

    def at(self) -> Exercise | None:
        """The current exercise; None if all are done."""
        state = progress.load(self.folder)
        left = [task for task in self.tasks if task.name not in state["done"]]
        chosen = [task for task in self.tasks if task.name == state["at"]]
        return next(iter(chosen or left), None)

    def go(self, task: Exercise | None) -> None:
        with progress.changing(self.folder) as state:
            state["at"] = task.name if task else ""

    def is_done(self, task: Exercise) -> bool:
        return task.name in progress.load(self.folder)["done"]

    def leave_done(self) -> None:
        """Moves on from an exercise that is done and was chosen by GO in an earlier run."""
        with progress.changing(self.folder) as state:
            if state["at"] in state["done"]:
                state["at"] = ""

    def begin(self, task: Exercise) -> None:
        """Copies the task to the learner's folder, unless it is there."""
        if not self.file(task).exists():
            with files.whole(self.file(task)) as file:
                file.write(task.text("task.cu"))

    def reset(self, task: Exercise) -> None:
        """Restores the task; the learner's version is kept as .old.cu, also if RESET is typed twice."""
        if self.content(task) not in (None, task.text("task.cu").encode()):
            self.file(task).replace(self.file(task).with_suffix(".old.cu"))
        self.begin(task)
        with progress.changing(self.folder) as state:
            state["at"] = task.name
            state["done"] = [name for name in state["done"] if name != task.name]

    def content(self, task: Exercise) -> bytes | None:
        """The bytes of the learner's file; None while an editor replaces it."""
        try:
            return self.file(task).read_bytes()
        except OSError:
            return None

    def saw(self, task: Exercise, values: dict[str, list]) -> None:
        """Keeps the first and the last value of each count."""
        with progress.changing(self.folder) as state:
            seen = state["seen"].setdefault(task.name, {})
            for words, (first, last) in values.items():
                seen[words] = [seen.get(words, [first])[0], last]

    def finished(self, task: Exercise) -> None:
        """Marks the exercise as done and goes on to the next one."""
        with progress.changing(self.folder) as state:
            if task.name not in state["done"]:
                state["done"].append(task.name)
            index = self.tasks.index(task)
            left = [other for other in self.tasks[index:] + self.tasks[:index] if other.name not in state["done"]]
            if state["at"] in ("", task.name):  # else GO in another terminal chose a different one
                state["at"] = left[0].name if left else ""


# ---- Messages

def introduced(task: Exercise, learner: Learner) -> Iterator[str]:
    """The task in a few lines."""
    yield f"\n{task.number} {task.title}   (chapter {task.chapter})"
    yield f"    {task.task}"
    if task.goals:
        yield from goal_table(task, [f"at n = {task.counts_at:,}", "goal"], lambda goal: [goal.limit])
    yield f"    your file: {shown(learner.file(task))}; a hint: make learn HINT=1"


def shown(path: Path) -> Path:
    return path.relative_to(exercises.ROOT) if path.is_relative_to(exercises.ROOT) else path


def goal_table(task: Exercise, head: list[str], cells: Callable[[Any], list[str]]) -> Iterator[str]:
    return table([head, *([goal.words, *cells(goal)] for goal in task.goals)])


def table(rows: list[list[str]]) -> Iterator[str]:
    """The lines of a table: the first column aligned left, the others right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for words, *values in rows:
        yield "    " + words.ljust(widths[0]) + "".join(f"   {value:>{width}}" for value, width in zip(values, widths[1:]))


def about(task: Exercise, verdict: judge.Verdict) -> Iterator[str]:
    """What the judge found, in lines for the learner."""
    yield from (f"    {clean(line)}" for line in verdict.said)
    if verdict.unjudged:
        yield f"    {clean(verdict.unjudged)}"
    elif verdict.wrong:
        yield f"    {verdict.wrong}"
    for title, *lines in verdict.findings.values():
        yield f"    finding: {title}"
        yield from (f"        {line}" for line in lines)
    if verdict.printed:
        yield f"    your kernel printed (first {judge.MAX_PRINTED} lines):" if len(verdict.printed) == judge.MAX_PRINTED else "    your kernel printed:"
        yield from (f"        {clean(line)}" for line in verdict.printed)
    if verdict.missed:
        yield "    correct, but the goal is not reached yet:"
    if verdict.row and task.goals:
        yield from goal_table(task, [f"at n = {verdict.row_at:,}", "goal", "yours"], lambda goal: [goal.limit, f"{goal.of(verdict.row):,}"])


COMPARED = ("warp_instructions", "global_load_requests", "global_load_sectors", "shared_loads", "bank_conflicts", "block_barriers", "atomics")


def beside(task: Exercise, row: dict[str, str], tools: judge.Tools) -> Iterator[str]:
    """The learner's counters (the row) next to the answer's, where they differ by a tenth or more."""
    answers = judge.judged(task, "answer.cu", task.text("answer.cu").encode(), dataclasses.replace(tools, orders=judge.ORDERS[:1])).row
    apart = [counter for counter in COMPARED if answers and 10 * abs(int(answers[counter]) - int(row[counter])) >= max(int(answers[counter]), int(row[counter]), 1)]
    if apart:
        yield from table([[f"at n = {task.counts_at:,}", "yours", "the answer's"],
                          *([counter.replace("_", " "), f"{int(row[counter]):,}", f"{int(answers[counter]):,}"] for counter in apart)])


def solved(task: Exercise, row: dict[str, str], tools: judge.Tools) -> Iterator[str]:
    """The explanation of a solved exercise; the row has the counters of the learner's kernel."""
    yield f"    why: {task.why}"
    yield f"    read more: {task.lesson}"
    if (task.folder / "answer.cu").exists():
        yield "    one answer, to compare with yours:"
        yield from (f"        {line}" for line in task.text("answer.cu").splitlines())
        yield from beside(task, row, tools)


def sheet(task: Exercise, learner: Learner) -> str:
    """A chapter's counts, as Markdown: the first prediction or count, the last count, and why; "why" only of exercises that are done."""
    state = progress.load(learner.folder)
    lines = [f"# {task.chapter}", "", "| exercise | count | predicted, or first count | last count | why |", "| --- | --- | ---: | ---: | --- |"]
    for other in learner.tasks:
        if other.chapter == task.chapter:
            counted = state["seen"].get(other.name) or {"": ["", ""]}
            why = other.why if other.name in state["done"] else "not done yet"
            lines += [f"| {other.number} {other.title} | {words} | {first} | {last} | {why if words == next(iter(counted)) else ''} |"
                      for words, (first, last) in counted.items()]
    return "\n".join(lines) + "\n"


def overview(learner: Learner) -> Iterator[str]:
    """All exercises by chapter, and which are done."""
    done, at, chapter = progress.load(learner.folder)["done"], learner.at(), ""
    for task in learner.tasks:
        if task.chapter != chapter:
            chapter = task.chapter
            yield chapter
        mark = "done" if task.name in done else "here" if task == at else "    "
        yield f"    {mark}  {task.number} {task.title} ({task.kind})"
    yield f"{len(done)} of {len(learner.tasks)} done"


# ---- Checking

def predicted(text: str) -> dict[str, str]:
    """The word after the last equals sign of each comment, or "", by the words before the sign."""
    comments = [line[2:].rpartition("=") for line in text.splitlines() if line.startswith("//")]
    return {words.strip(): value.strip().replace(",", "").replace("_", "") for words, equals, value in comments if equals and len(value.split()) < 2}


def is_number(text: str) -> bool:
    """Whether a prediction is a number."""
    return bool(NUMBER.fullmatch(text))


def number_of(text: str) -> float:
    """A prediction as typed."""
    return float(text) if "." in text else int(text)


def is_right(number: str, counted: float) -> bool:
    """Whether a prediction, as typed, equals the count."""
    return number_of(number) == counted


@dataclasses.dataclass
class Outcome:
    """The result of checking a learner's file."""
    lines: list  # for the learner
    row: Optional[dict] = None  # the counters, if the exercise is done
    verdict: Optional[judge.Verdict] = None  # about a kernel whose run may be shown


def check_predictions(task: Exercise, content: bytes, learner: Learner, tools: judge.Tools) -> Outcome:
    """Compares the predictions with the counts of the task's kernel; its run is shown only if all are right."""
    numbers = predicted(content.decode(errors="replace"))
    for question in task.questions:
        if not is_number(numbers.get(question.words, "")):
            return Outcome([f"    no number yet: write only a number after '// {question.words} ='"])
    verdict = judge.judged(task, "task.cu", task.text("task.cu").encode(), tools)
    if not verdict.row:
        sys.exit("make learn: " + "; ".join([*about(task, verdict)] or ["the kernel could not be counted"]).strip())
    counted = {question.words: question.of(verdict.row) for question in task.questions}
    learner.saw(task, {words: [number_of(numbers[words]), value] for words, value in counted.items()})
    for words, value in counted.items():
        if not is_right(numbers[words], value):
            return Outcome([f"    {words}: you predicted {numbers[words]}; the simulator counts {'more' if value > number_of(numbers[words]) else 'fewer'}"])
    return Outcome([f"    {words}: {value:,}, as you predicted" for words, value in counted.items()], verdict.row, verdict)


def check_kernel(task: Exercise, content: bytes, learner: Learner, tools: judge.Tools) -> Outcome:
    """Judges the learner's kernel."""
    verdict = judge.judged(task, learner.file(task).name, content, tools)
    if verdict.row and task.goals:
        learner.saw(task, {goal.words: [goal.of(verdict.row)] * 2 for goal in task.goals})
    return Outcome([*about(task, verdict)], verdict.row if verdict.good else None, verdict)


def check_once(task: Exercise, content: bytes, learner: Learner, tools: judge.Tools) -> Outcome:
    """Checks the contents of the learner's file."""
    begin = time.monotonic()
    outcome = (check_predictions if task.kind == "predict" else check_kernel)(task, content, learner, tools)
    last = f"{task.number} {'done' if outcome.row else 'not yet'} ({time.monotonic() - begin:.1f} s, compiled by {tools.compiler})"
    outcome.lines.append(last + ("" if outcome.row else "; a hint: make learn HINT=1"))
    return outcome


def already_done(task: Exercise, learner: Learner) -> Iterator[str]:
    """How to go on from an exercise that was done before."""
    left = [other for other in learner.tasks if not learner.is_done(other)]
    yield f"{task.number} was already done, and stays the current exercise" + (f"; the next one: make learn GO={left[0].number}" if left else "")


def closed(task: Exercise, learner: Learner) -> Iterator[str]:
    """If the task is the last one of its chapter: writes the chapter's summary to a file, and yields it."""
    if task.name == [other for other in learner.tasks if other.chapter == task.chapter][-1].name:
        path = learner.folder / f"chapter{task.chapter.split('.')[0]}.md"
        with files.whole(path) as file:
            file.write(sheet(task, learner))
        yield f"\nA summary of this chapter, {shown(path)}:\n\n{sheet(task, learner)}"


# ---- The terminal and the page

class Screen:
    """The learner's output: the terminal, and the page, which shows the messages since the last save and the last kernel's run."""

    def __init__(self, learner: Learner, tools: judge.Tools, opens: bool = False) -> None:
        self.learner, self.tools, self.opens = learner, tools, opens
        self.said: list[str] = []
        self.is_shown, self.player = False, self.nothing

    @staticmethod
    def nothing() -> tuple[str, str]:
        """An empty player."""
        return "", ""

    def begin(self, task: Exercise) -> None:
        """Introduces a task on a new page. The messages and the run of an exercise that was just solved stay."""
        if self.is_shown:
            self.player = self.nothing
        self.say([])
        print(*introduced(task, self.learner), sep="\n", flush=True)

    def say(self, lines: Iterable[str]) -> None:
        self.said, self.is_shown = ([] if self.is_shown else self.said), False
        for line in lines:
            print(line, flush=True)
            self.said.append(line)

    def look(self, task: Exercise, content: bytes) -> bool:
        """Judges the learner's file and reports it; returns whether it is done. An exercise that was done before stays the current one."""
        outcome = check_once(task, content, self.learner, self.tools)
        self.say(outcome.lines)
        if outcome.row:
            was_done = self.learner.is_done(task)
            if not was_done:
                self.learner.finished(task)
            self.say(solved(task, outcome.row, self.tools))
            self.say(already_done(task, self.learner) if was_done else closed(task, self.learner))
        source = task.text("task.cu") if task.kind == "predict" else content.decode(errors="replace")
        verdict = outcome.verdict
        self.player = (lambda: page.player_of(task, source, verdict, self.tools)) if verdict else self.nothing
        return bool(outcome.row)

    def show(self, task: Exercise) -> None:
        """Writes the page if there are new messages: after the terminal's output, which does not wait for it."""
        if not self.is_shown:
            page.write(self.learner.folder, task, shown(self.learner.file(task)), self.said, self.player())
            self.is_shown = True
            if self.opens:
                open_in_browser(self.learner.page)
                self.opens = False


def open_in_browser(path: Path) -> None:
    """Opens a page if there is a display; the browser's own messages are discarded."""
    opener = shutil.which("xdg-open")
    if opener and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        subprocess.Popen([opener, path.absolute().as_uri()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def watch(learner: Learner, tools: judge.Tools) -> None:
    """Checks the current exercise each time its file is saved, until all are done or the learner presses Ctrl-C."""
    screen = Screen(learner, tools, opens=not learner.page.exists())
    print("Save your file in your editor: the verdict appears here. Ctrl-C quits; in another terminal, use make learn HINT=1 or LIST=1.")
    print(f"{learner.page.absolute().as_uri()} shows the verdict, too, and what your warps do; it reloads by itself.")
    while task := learner.at():
        learner.begin(task)
        learner.go(task)
        screen.begin(task)
        follow(task, screen)
    screen.show(learner.tasks[-1])
    print(f"all {len(learner.tasks)} exercises are done; continue with the ladder: make build, and step00_baseline/README.md")


def follow(task: Exercise, screen: Screen) -> None:
    """Checks each save of a task's file, until it is done, or another terminal chooses another one."""
    last = task.text("task.cu").encode() if task.kind in ("write", "predict") else None  # the others are checked at once
    gone = 0
    while screen.learner.at() is task:
        content = screen.learner.content(task)
        gone = gone + 1 if content is None else 0
        if gone == GONE_LOOKS:
            last = None  # check whatever comes back
            screen.say([f"{shown(screen.learner.file(task))} is missing or unreadable; make learn RESET={task.number} in another terminal restores the task"])
        if content not in (None, last):
            last = content
            screen.look(task, content)
            if screen.learner.at() is not task:
                return
        screen.show(task)
        time.sleep(LOOK_EVERY_S)


def look_once(learner: Learner, tools: judge.Tools) -> int:
    """Without a terminal: checks the current exercise once. Returns the exit status."""
    task = learner.at()
    if not task:
        print(f"all {len(learner.tasks)} exercises are done")
        return 0
    learner.begin(task)
    screen = Screen(learner, tools)
    screen.begin(task)
    content = learner.content(task)
    if content is None:
        refuse(f"{shown(learner.file(task))} cannot be read")
    is_done, following = screen.look(task, content), learner.at()
    screen.show(following or task)
    print(f"see it: {shown(learner.page)}")
    if is_done and following is not task:
        print(f"next: {following.number} {following.title}" if following else f"all {len(learner.tasks)} exercises are done")
    return 0 if is_done else 1


def hint(task: Exercise, text: str) -> None:
    """Prints one of the hints."""
    if text not in ("1", "2", "3"):
        refuse(f"HINT='{clean(text)}' is not a level; choose 1, 2 or 3, where 3 is almost the answer")
    print(f"{task.number} {task.title}, hint {text} of {exercises.HINTS}: {task.hints[int(text) - 1]}")


def carry(learner: Learner, path: str, is_import: bool) -> None:
    """Imports progress and kernels from a file, or exports them to it."""
    try:
        if not is_import:
            print(f"written: {path}, with {transfer.write(learner, Path(path))} solved exercises")
            return
        found = transfer.read(path, [task.name for task in learner.tasks])
    except transfer.Unusable as error:
        refuse(f"IMPORT='{clean(path)}': {error}")
    transfer.merge(learner, found)
    print(f"imported from {path}: {len(found['done'])} solved exercises, {len(found['code'])} kernels; make learn continues with them")


def arguments() -> argparse.Namespace:
    """The options that make passes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("go", "reset", "hint", "list", "import", "export"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--folder", type=Path, default=exercises.ROOT / "my/learn", help="the learner's")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "", help="empty: the simulator's kernel compiler")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    tasks = exercises.every()
    learner, tools = Learner(options.folder, tasks), judge.Tools(options.nvcc)
    progress.load(options.folder)
    if options.list:
        print(*overview(learner), sep="\n")
        return 0
    imported, exported = getattr(options, "import"), options.export
    if imported or exported:
        carry(learner, imported or exported, bool(imported))
        return 0
    if options.reset:
        learner.reset(find(tasks, options.reset, "RESET"))
    if options.go:
        learner.go(find(tasks, options.go, "GO"))
    if options.hint:
        hint(learner.at() or tasks[-1], options.hint)
        return 0
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        if not (options.go or options.reset):
            learner.leave_done()
        return look_once(learner, tools)
    if not progress.is_alone(options.folder):
        if not (options.go or options.reset):
            refuse("already running in another terminal; continue there, or quit it there with Ctrl-C")
        print(f"make learn in your other terminal is now at {(learner.at() or tasks[-1]).number}")
        return 0
    if not (options.go or options.reset):
        learner.leave_done()
    try:
        watch(learner, tools)
    except KeyboardInterrupt:  # the usual way to quit, not an error
        print("\nmake learn: your files and your progress are kept; make learn continues here")
    return 0


if __name__ == "__main__":
    execute.run_main(main)
