#!/usr/bin/env python3
"""Writes the files for a class: bundle.py [--ladder scan | --contract FILE | --lab rowscale | --exercise 07] FOLDER makes three folders in it.

students/ is the course without answers, teacher/ the whole course, autograder/ the contents of Gradescope's zip. docs/judge.md lists what is removed."""

import argparse
import ast
import os
import re
import shutil
import subprocess
from pathlib import Path

from drywarp.errors import Parser, fail
from drywarp.judge import check, contract, exercise, shapes

ROOT = Path(__file__).resolve().parents[2]
SIMULATOR = "book/player/simulator.js"  # of make page and make learn; built, so that a class needs no compiler for WebAssembly
MARK = "bundle.txt"  # marks a folder that this program made and may replace
ABOUT = "make bundle wrote this folder, and replaces it.\n"
NOT_FOR_STUDENTS = re.compile(r"exercises/[^/]*/(answer|right)\.cu|docs/teaching\.md|plots/[^/]+/|scan/(?!step|reference)[^/]+/|tests/(?!counters/simulator/|__init__|support|mistakes/)|"
                              r"book/(?!player/\w+\.(js|css)$)|\.github/|\.ci/|CONTRIBUTING\.md")
NOT_FOR_THE_AUTOGRADER = re.compile(r"book/|exercises/[^/]*/(?!exercise\.py|task\.cu)|plots/|elsewhere/|tests/(?!counters/simulator/)|.*\.(md|svg|png)|\.github/|\.ci/")
ANSWER = re.compile(r"(<details>\s*<summary>(?:<b>)?(?:Answer|The numbers, and why)[^\n]*</summary>).*?(</details>)", re.S)
REPLACEMENT = r"\1\n\nYour teacher has it.\n\n\2"
LINK = re.compile(r"!?\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
IMAGE = re.compile(r'<img [^>]*\bsrc="([^"]+)"[^>]*>')
UNAVAILABLE = ("mk/develop.mk",)  # commands that need removed files
REFUSAL = "\t@echo 'make $@: your teacher has the tests and the book; make learn and make judge judge your programs' >&2; exit 2\n"
REFUSING_RULES = "# These need the tests and the book.\n.PHONY: {targets}\n{targets}:\n" + REFUSAL
TEST = re.compile(r"^(test[a-z-]*):.*\n(?:\t.*\n)+", re.M)  # a rule of a test in another file
ANSWERING = {"wrong": "()", "equivalent": "{}", "why": '"your teacher knows"'}  # fields of an exercise, and their replacements
SETUP = """#!/usr/bin/env bash
# Gradescope runs this once, as root: the compiler, and the judge.
set -eu
apt-get update
apt-get install -y --no-install-recommends bubblewrap gcc g++ git libseccomp2 make python3 python3-venv
cd /autograder/source/course
make toolkit
make judge-parts
"""
RUN = """#!/usr/bin/env bash
# Gradescope runs this for each submission, in /autograder, as root. The judge runs without root's rights. If it fails, it leaves no results.json, and Gradescope says so.
cd source/course
work=$(mktemp -d)
cp -r ../../submission "$work/submission"
unprivileged=
if [ "$(id -u)" = 0 ]; then
    chown -R 65534 "$work"
    unprivileged='setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all'
fi
HOME=$work $unprivileged make judge-all DIR="$work/submission" RESULTS="$work/judge" GRADESCOPE="$work/results.json"{arguments}
[ -s "$work/results.json" ] && cp "$work/results.json" ../../results/results.json
"""


def tracked():
    """The names of the course's files, and of the page's simulator."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    return [*names, SIMULATOR] if names else fail("git ls-files names no files: make bundle requires a git clone of the course")


def without_answers(name, text):
    """A file's text for students."""
    if name in UNAVAILABLE:
        return REFUSING_RULES.format(targets=re.search(r"^\.PHONY: (.*)", text, re.M)[1])
    if name.endswith(".mk"):
        return TEST.sub(lambda rule: f"{rule[1]}:\n{REFUSAL}", text)
    if name.endswith(".md"):
        return ANSWER.sub(REPLACEMENT, text)
    return without_fields(text) if re.fullmatch(r"exercises/[^/]*/exercise\.py", name) else text


def without_fields(text):
    """An exercise without the fields that contain the answer."""
    lines = text.encode().splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    data = text.encode()
    found = [word for word in ast.walk(ast.parse(text)) if isinstance(word, ast.keyword) and word.arg in ANSWERING]
    for word in sorted(found, key=lambda word: -word.value.lineno * 1000 - word.value.col_offset):
        begin, end = (begins[line - 1] + column for line, column in ((word.value.lineno, word.value.col_offset), (word.value.end_lineno, word.value.end_col_offset)))
        data = data[:begin] + ANSWERING[word.arg].encode() + data[end:]
    return data.decode()


def copy(names, folder, changed=lambda name, text: text):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, path)
        if path.suffix in (".md", ".py", ".mk"):
            text = path.read_text(encoding="utf-8")
            if changed(name, text) != text:
                path.write_text(changed(name, text), encoding="utf-8")


def without_dead_links(page):
    """A page's text without links and images whose file is not there; a link's words remain."""
    text = page.read_text(encoding="utf-8")

    def is_dead(target):
        return not re.match(r"[a-z]+:", target) and not (page.parent / target).exists()

    text = LINK.sub(lambda link: "" if is_dead(link[2]) and link[0][0] == "!" else link[1] if is_dead(link[2]) else link[0], text)
    return IMAGE.sub(lambda image: "" if is_dead(image[1]) else image[0], text)


def write_students(folder, names):
    copy([name for name in names if not NOT_FOR_STUDENTS.match(name)], folder, without_answers)
    for page in folder.rglob("*.md"):
        text = without_dead_links(page)
        page.write_text(text, encoding="utf-8")


def write_autograder(folder, names, options):
    """Writes the contents of Gradescope's zip: setup.sh, run_autograder, and the judge. options: of the command line, the task."""
    copy([name for name in names if not NOT_FOR_THE_AUTOGRADER.match(name)], folder / "course", without_answers)
    arguments = f" LADDER={options.ladder}" if options.ladder != "reduce" else ""
    if options.contract:
        shutil.copy2(options.contract, folder / "course/asked.contract")
        arguments += " CONTRACT=asked.contract"
    arguments += "".join(f" {name}={value}" for name, value in (("LAB", options.lab), ("EXERCISE", options.exercise)) if value)
    for name, text in (("setup.sh", SETUP), ("run_autograder", RUN.replace("{arguments}", arguments))):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


def replaced(folder, write):
    """Replaces the folder by a new one that write() fills."""
    if folder.exists() and not (folder / MARK).exists():
        fail(f"{folder} exists, and make bundle did not write it; name another folder, as in: make bundle RESULTS=class")
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        unfinished.mkdir(parents=True)
        (unfinished / MARK).write_text(ABOUT)
        write(unfinished)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(unfinished, folder)
    except OSError as error:
        fail(f"{folder} cannot be written: {error.strerror}")
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ladder", choices=shapes.LADDERS, default="reduce", help="that the autograder judges")
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--contract", type=Path, help="that the autograder judges by")
    task.add_argument("--lab", help="the lab whose task the autograder judges")
    task.add_argument("--exercise", help="the exercise that the autograder judges")
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    try:
        if options.contract:
            contract.read(options.contract)
    except contract.Unusable as error:
        fail(f"{options.contract}: {error}")
    if options.lab is not None:
        check.contract_of_lab(options.lab)
    if options.exercise is not None and not exercise.find(options.exercise):
        fail(f"EXERCISE='{options.exercise}' is not an exercise; make learn LIST=1 lists them, as in: EXERCISE=07")
    names = tracked()

    def write(folder):
        write_students(folder / "students", names)
        copy(names, folder / "teacher")
        write_autograder(folder / "autograder", names, options)

    replaced(options.folder, write)
    print(f"for students: {options.folder}/students; for you: {options.folder}/teacher; for Gradescope: zip the contents of {options.folder}/autograder")


if __name__ == "__main__":
    main()
