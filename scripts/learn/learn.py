#!/usr/bin/env python3
"""make learn: exercises, one after the other. Shows a task, waits until its file is saved, and says what is wrong, or "done" and the next one.

docs/learn.md is for learners. Without a terminal it looks once at the exercise that the learner is at; exit status: 0 done; 1 not yet; 2 unusable argument."""

import argparse
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from scripts import files
from scripts.judge.words import clean
from scripts.ladder import execute
from scripts.learn import exercise as exercises
from scripts.learn import judge, page, progress

LOOK_EVERY_S = 0.2
GONE_LOOKS = 10  # without a file, until that is said: an editor that replaces it takes less
NUMBER = re.compile(r"\d{1,18}(\.\d{1,18})?", re.A)  # a prediction


def refuse(message):
    print(f"make learn: {message}", file=sys.stderr)
    sys.exit(2)


def find(tasks, number, name):
    """The exercise with a number as typed; ends the program where there is none."""
    for task in tasks:
        if number in (task.number, task.number.lstrip("0"), task.name):
            return task
    refuse(f"{name}='{clean(number)}' is no exercise; there are {tasks[0].number} to {tasks[-1].number}, as in: make learn {name}={tasks[-1].number}")


class Learner:
    """A learner's folder: the copies of the tasks, and the progress."""

    def __init__(self, folder, tasks):
        self.folder, self.tasks = folder, tasks

    @property
    def page(self):
        return self.folder / page.NAME

    def file(self, task):
        return self.folder / f"{task.name}.cu"

    def at(self):
        """The exercise that the learner is at; None when all are done."""
        state = progress.load(self.folder)
        left = [task for task in self.tasks if task.name not in state["done"]]
        chosen = [task for task in self.tasks if task.name == state["at"]]
        return (chosen or left or [None])[0]

    def go(self, task):
        with progress.changing(self.folder) as state:
            state["at"] = task.name if task else ""

    def begin(self, task):
        """Puts the task into the learner's folder, where it is not there yet."""
        if not self.file(task).exists():
            with files.whole(self.file(task)) as file:
                file.write(task.text("task.cu"))

    def reset(self, task):
        """The task as it was; what the learner has written stays beside it, also where RESET is typed twice."""
        if self.content(task) not in (None, task.text("task.cu").encode()):
            self.file(task).replace(self.file(task).with_suffix(".old.cu"))
        self.begin(task)
        with progress.changing(self.folder) as state:
            state["at"] = task.name
            state["done"] = [name for name in state["done"] if name != task.name]

    def content(self, task):
        """The bytes of the learner's file; None in the moment in which an editor replaces it."""
        try:
            return self.file(task).read_bytes()
        except OSError:
            return None

    def saw(self, task, values):
        """Keeps values by what they count; the first one stays."""
        with progress.changing(self.folder) as state:
            seen = state["seen"].setdefault(task.name, {})
            for words, (first, last) in values.items():
                seen[words] = [seen.get(words, [first])[0], last]

    def finished(self, task):
        """Notes that it is done, and goes on to the next one."""
        with progress.changing(self.folder) as state:
            if task.name not in state["done"]:
                state["done"].append(task.name)
            place = self.tasks.index(task)
            left = [other for other in self.tasks[place:] + self.tasks[:place] if other.name not in state["done"]]
            if state["at"] in ("", task.name):  # else another terminal has gone elsewhere
                state["at"] = left[0].name if left else ""


# ---- Saying it

def introduced(task, learner):
    """The task in a few lines."""
    yield f"\n{task.number} {task.title}   (chapter {task.chapter})"
    yield f"    {task.task}"
    if task.gates:
        yield from goals(task, [f"at n = {task.counts_at:,}", "goal"], lambda gate: [gate.goal])
    yield f"    your file: {shown(learner.file(task))}; a hint: make learn HINT=1"


def shown(path):
    return path.relative_to(exercises.ROOT) if path.is_relative_to(exercises.ROOT) else path


def goals(task, head, cells):
    """A table of the gates."""
    return table([head, *([gate.words, *cells(gate)] for gate in task.gates)])


def table(rows):
    """Its lines, with columns below each other: the first one's words to the left, the others' to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for words, *values in rows:
        yield "    " + words.ljust(widths[0]) + "".join(f"   {value:>{width}}" for value, width in zip(values, widths[1:]))


def about(task, verdict):
    """What the judge found, for the learner."""
    yield from (f"    {clean(line)}" for line in verdict.said)
    if verdict.wrong:
        yield f"    {verdict.wrong}"
    for title, *lines in verdict.findings.values():
        yield f"    finding: {title}"
        yield from (f"        {line}" for line in lines)
    if verdict.printed:
        yield "    your kernel printed, among other things:" if len(verdict.printed) == judge.MOST_PRINTED else "    your kernel printed:"
        yield from (f"        {clean(line)}" for line in verdict.printed)
    if verdict.missed:
        yield "    right, and not yet at the goal:"
    if verdict.row and task.gates:
        yield from goals(task, [f"at n = {task.counts_at:,}", "goal", "yours"], lambda gate: [gate.goal, f"{gate.of(verdict.row):,}"])


COMPARED = ("warp_instructions", "global_load_requests", "global_load_sectors", "shared_loads", "bank_conflicts", "block_barriers", "atomics")


def beside(task, row, tools):
    """What the learner's kernel counted, in the row, beside what the answer counts, where one of them needs a tenth less."""
    answers = judge.judged(task, "answer.cu", task.text("answer.cu").encode(), dataclasses.replace(tools, orders=judge.ORDERS[:1])).row
    apart = [counter for counter in COMPARED if answers and 10 * abs(int(answers[counter]) - int(row[counter])) >= max(int(answers[counter]), int(row[counter]), 1)]
    if apart:
        yield from table([[f"at n = {task.counts_at:,}", "yours", "the answer's"],
                          *([counter.replace("_", " "), f"{int(row[counter]):,}", f"{int(answers[counter]):,}"] for counter in apart)])


def solved(task, row, tools):
    """What is told behind a solved exercise; the row has the counters of the learner's kernel."""
    yield f"    why: {task.why}"
    yield f"    more about it: {task.lesson}"
    if (task.folder / "answer.cu").exists():
        yield "    one answer, to compare with yours:"
        yield from (f"        {line}" for line in task.text("answer.cu").splitlines())
        yield from beside(task, row, tools)


def sheet(task, learner):
    """A chapter's counts, as Markdown: what was predicted or where it began, what is counted, and why."""
    seen = progress.load(learner.folder)["seen"]
    lines = [f"# {task.chapter}", "", "| exercise | what | predicted, or at first | counted | why |", "| --- | --- | ---: | ---: | --- |"]
    for other in learner.tasks:
        if other.chapter == task.chapter:
            counted = seen.get(other.name) or {"": ["", ""]}
            lines += [f"| {other.number} {other.title} | {words} | {first} | {last} | {other.why if words == next(iter(counted)) else ''} |"
                      for words, (first, last) in counted.items()]
    return "\n".join(lines) + "\n"


def overview(learner):
    """All exercises by chapters, and which are done."""
    done, at, chapter = progress.load(learner.folder)["done"], learner.at(), ""
    for task in learner.tasks:
        if task.chapter != chapter:
            chapter = task.chapter
            yield chapter
        mark = "done" if task.name in done else "here" if task == at else "    "
        yield f"    {mark}  {task.number} {task.title} ({task.kind})"
    yield f"{len(done)} of {len(learner.tasks)} done"


# ---- Checking

def predicted(text):
    """What stands behind the last equals sign of each comment of a file, one word or none: by the words before it."""
    comments = [line[2:].rpartition("=") for line in text.splitlines() if line.startswith("//")]
    return {words.strip(): value.strip().replace(",", "").replace("_", "") for words, equals, value in comments if equals and len(value.split()) < 2}


def is_number(text):
    """Whether a prediction is one."""
    return bool(NUMBER.fullmatch(text))


def number_of(text):
    """A prediction as typed."""
    return float(text) if "." in text else int(text)


def is_right(number, counted):
    """Whether a prediction, as typed, is what is counted."""
    return number_of(number) == counted


@dataclasses.dataclass
class Outcome:
    """What came of a look at a learner's file."""
    lines: list  # for the learner
    row: dict = None  # the counters, where the exercise is done
    verdict: judge.Verdict = None  # about a kernel whose run may be shown


def check_predictions(task, content, learner, tools):
    """Whether all predictions are what the task's kernel counts; its run is shown to who knows it."""
    numbers = predicted(content.decode(errors="replace"))
    for question in task.questions:
        if not is_number(numbers.get(question.words, "")):
            return Outcome([f"    no number yet: write one, and nothing else, behind '// {question.words} ='"])
    verdict = judge.judged(task, "task.cu", task.text("task.cu").encode(), tools)
    if not verdict.row:
        sys.exit("make learn: " + "; ".join([*about(task, verdict)] or ["the kernel could not be counted"]).strip())
    counted = {question.words: question.of(verdict.row) for question in task.questions}
    learner.saw(task, {words: [number_of(numbers[words]), value] for words, value in counted.items()})
    for words, value in counted.items():
        if not is_right(numbers[words], value):
            return Outcome([f"    {words}: you say {numbers[words]}; the run counts {'more' if value > number_of(numbers[words]) else 'fewer'}"])
    return Outcome([f"    {words}: {value:,}, as you say" for words, value in counted.items()], verdict.row, verdict)


def check_kernel(task, content, learner, tools):
    """Whether the learner's kernel does what is asked."""
    verdict = judge.judged(task, learner.file(task).name, content, tools)
    if verdict.row and task.gates:
        learner.saw(task, {gate.words: [gate.of(verdict.row)] * 2 for gate in task.gates})
    return Outcome([*about(task, verdict)], verdict.row if verdict.good else None, verdict)


def check_once(task, content, learner, tools):
    """Looks at what stands in the learner's file."""
    begin = time.monotonic()
    outcome = (check_predictions if task.kind == "predict" else check_kernel)(task, content, learner, tools)
    last = f"{task.number} {'done' if outcome.row else 'not yet'} ({time.monotonic() - begin:.1f} s)"
    outcome.lines.append(last + ("" if outcome.row else "; a hint: make learn HINT=1"))
    return outcome


def closed(task, learner):
    """The sheet of a chapter, whose last exercise the task is: into a file, and as lines."""
    if task.name == [other for other in learner.tasks if other.chapter == task.chapter][-1].name:
        path = learner.folder / f"chapter{task.chapter.split('.')[0]}.md"
        with files.whole(path) as file:
            file.write(sheet(task, learner))
        yield f"\nThe sheet of this chapter, {shown(path)}:\n\n{sheet(task, learner)}"


# ---- The terminal and the page

class Screen:
    """What the learner looks at: the terminal, and the page, which has what was said since the last save, and the last kernel's run."""

    def __init__(self, learner, tools, opens=False):
        self.learner, self.tools, self.opens = learner, tools, opens
        self.said, self.is_shown, self.player = [], False, self.nothing

    @staticmethod
    def nothing():
        """An empty player."""
        return "", ""

    def begin(self, task):
        """Introduces a task, on a new page. What was said just before, of one that is solved, stays, and its run."""
        if self.is_shown:
            self.player = self.nothing
        self.say([])
        print(*introduced(task, self.learner), sep="\n", flush=True)

    def say(self, lines):
        self.said, self.is_shown = ([] if self.is_shown else self.said), False
        for line in lines:
            print(line, flush=True)
            self.said.append(line)

    def look(self, task, content):
        """Judges what stands in the learner's file, says it, and whether it is done."""
        outcome = check_once(task, content, self.learner, self.tools)
        self.say(outcome.lines)
        if outcome.row:
            self.learner.finished(task)
            self.say(solved(task, outcome.row, self.tools))
            self.say(closed(task, self.learner))
        source = task.text("task.cu") if task.kind == "predict" else content.decode(errors="replace")
        self.player = (lambda: page.player_of(task, source, outcome.verdict, self.tools)) if outcome.verdict else self.nothing
        return bool(outcome.row)

    def show(self, task):
        """Writes the page, where something new was said: behind the terminal, which does not wait for it."""
        if not self.is_shown:
            page.write(self.learner.folder, task, shown(self.learner.file(task)), self.said, self.player())
            self.is_shown = True
            if self.opens:
                open_in_browser(self.learner.page)
                self.opens = False


def open_in_browser(path):
    """Where there is a display. What a browser says of itself does not come between."""
    opener = shutil.which("xdg-open")
    if opener and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        subprocess.Popen([opener, path.absolute().as_uri()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def watch(learner, tools):
    """Goes on from exercise to exercise, each time a file is saved, until all are done or the learner ends it."""
    screen = Screen(learner, tools, opens=not learner.page.exists())
    print("Save your file in your editor: the answer comes here. Ctrl-C ends this; another terminal takes make learn HINT=1, LIST=1 and the like.")
    print(f"{learner.page.absolute().as_uri()} is a page that shows it, too, and what your warps do; it reloads by itself.")
    while task := learner.at():
        learner.begin(task)
        learner.go(task)
        screen.begin(task)
        follow(task, screen)
    screen.show(learner.tasks[-1])
    print(f"all {len(learner.tasks)} exercises are done; the ladder goes on from here: make build, and step00_baseline/README.md")


def follow(task, screen):
    """Looks at each save of a task's file, until it is done, or another terminal goes to another one."""
    last = task.text("task.cu").encode() if task.kind in ("write", "predict") else None  # of the others it tells at once where they stand
    gone = 0
    while screen.learner.at() is task:
        content = screen.learner.content(task)
        gone = gone + 1 if content is None else 0
        if gone == GONE_LOOKS:
            last = None  # what comes back is looked at, whatever it is
            screen.say([f"{shown(screen.learner.file(task))} is gone, or cannot be read; make learn RESET={task.number} in another terminal brings the task back"])
        if content not in (None, last):
            last = content
            if screen.look(task, content):
                return
        screen.show(task)
        time.sleep(LOOK_EVERY_S)


def look_once(learner, tools):
    """Without a terminal: the exercise that the learner is at, once. Returns the exit status."""
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
    if is_done:
        print(f"next: {following.number} {following.title}" if following else f"all {len(learner.tasks)} exercises are done")
    return 0 if is_done else 1


def hint(task, text):
    """One of the hints."""
    if text not in ("1", "2", "3"):
        refuse(f"HINT='{clean(text)}' is no level; there are 1, 2 and 3, the third is almost the answer")
    print(f"{task.number} {task.title}, hint {text} of {exercises.HINTS}: {task.hints[int(text) - 1]}")


def arguments():
    """What make passes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("go", "reset", "hint", "list"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--folder", type=Path, default=exercises.ROOT / "my/learn", help="the learner's")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "nvcc")
    return parser.parse_args()


def main():
    options = arguments()
    tasks = exercises.every()
    learner, tools = Learner(options.folder, tasks), judge.Tools(options.nvcc)
    progress.load(options.folder)
    if options.list:
        print(*overview(learner), sep="\n")
        return 0
    if options.reset:
        learner.reset(find(tasks, options.reset, "RESET"))
    if options.go:
        learner.go(find(tasks, options.go, "GO"))
    if options.hint:
        hint(learner.at() or tasks[-1], options.hint)
        return 0
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return look_once(learner, tools)
    if not progress.is_alone(options.folder):
        if not (options.go or options.reset):
            refuse("it runs in another terminal already; go on there, or end it there with Ctrl-C")
        print(f"the make learn in your other terminal is at {learner.at().number} now")
        return 0
    try:
        watch(learner, tools)
    except KeyboardInterrupt:  # how one ends it, and no error
        print("\nmake learn: your files and your progress are kept; make learn goes on here")
    return 0


if __name__ == "__main__":
    execute.interrupt_alike()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
