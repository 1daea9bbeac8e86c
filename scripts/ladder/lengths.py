#!/usr/bin/env python3
"""Prints how long the lessons of both ladders are: words of prose (without code, tables and comments), all words of the page, Tries, and
lines of the program changed since the previous step."""

import re
import subprocess
import tempfile
from pathlib import Path

from drywarp.errors import Parser
from scripts.ladder import tries

ROOT = tries.ROOT
FOLDERS = {"reduce": ROOT, "scan": ROOT / "scan"}
MARK = "// ==== Harness"
HEADER = ("step", "prose", "all words", "Tries", "changed lines")


def prose(page):
    """A page without its code, tables and comments."""
    text = re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S)
    return re.sub(r"<!--.*?-->|^\|.*", "", text, flags=re.M)


def try_count(page):
    """The number of Tries: paragraphs that begin with a number in bold, also those without a diff."""
    return len(re.findall(r"^\*\*\d+\. ", page.partition("\n## Try\n")[2], re.M))


def lesson(step):
    """The program above its harness, without what differs in every step: the first comment and the name."""
    source = tries.source_of(step).read_text(encoding="utf-8").split(MARK)[0]
    return re.sub(r"\A(//.*\n)+|^static const char STEP\[\] = .*\n", "", source, flags=re.M)


def changed_lines(before, after):
    """The number of lines that two programs do not share, as diff counts them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, side) for side in ("before", "after")]
        for path, step in zip(paths, (before, after)):
            path.write_text(lesson(step), encoding="utf-8")
        shown = subprocess.run(["diff", *paths], capture_output=True, text=True).stdout
    return sum(line[0] in "<>" for line in shown.splitlines())


def rows(ladder):
    """The numbers of each step of a ladder, as in HEADER, and their sums."""
    steps = sorted(path.relative_to(ROOT).as_posix() for path in FOLDERS[ladder].glob("step[0-9][0-9]_*"))
    found = []
    for before, step in zip([None, *steps], steps):
        page = (ROOT / step / "README.md").read_text(encoding="utf-8")
        found.append((step, len(prose(page).split()), len(page.split()), try_count(page), changed_lines(before, step) if before else 0))
    return [*found, ("all", *(sum(column) for column in list(zip(*found))[1:]))]


def main():
    Parser(description=__doc__).parse_args()
    for ladder in FOLDERS:
        lines = [HEADER, *rows(ladder)]
        width = max(len(line[0]) for line in lines)
        for name, *numbers in lines:
            print(name.ljust(width), *(f"{number:>{len(title) + 2}}" for number, title in zip(numbers, HEADER[1:])))
        print()


if __name__ == "__main__":
    main()
