#!/usr/bin/env python3
"""Does what the lessons suggest: applies each diff of a step's README, runs it, writes one CSV.

A step is a folder: step08_shuffle, scan/step06_lookback, or of a lab labs/rowscale/step01_vector. What is timed of a lab is the last row of its CSV, or the
last with the number of columns that the page names."""

import argparse
import csv
import hashlib
import itertools
import math
import os
import re
import shlex
import shutil
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drywarp import files
from drywarp.errors import Parser, fail
from scripts.ladder import labs

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ["step", "try", "diff", "elements", "columns", "before_ms", "after_ms", "status", "memcheck_errors", "racecheck_errors"]
ROUNDS = 3  # before and after in turns, so that a drift of the clocks meets both; a lab's CUDA programs take longer, and run once
SANITIZED_ELEMENTS = "100003"  # several blocks in every step, and no round number
TIME_LIMIT_S = 60
# In a page: its own number of elements; of the lab rows, the number of columns of the rows that are timed; the column of against-cub.csv in which it is
# timed beside CUB; and whether it fails only later.
PATCH = re.compile(r"^```diff(?: N=(?P<elements>\d+))?(?: columns=(?P<columns>\d+))?(?: beside_cub=(?P<beside_cub>[a-z_]+))?(?P<later> later)?\n(?P<diff>.*?)^```",
                   re.M | re.S)


def elements(text):
    """A number of elements, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of elements, 1 or more")
    return int(text)


def is_of_a_lab(step):
    return step.startswith("labs/")


def source_of(step):
    """The program of a step."""
    if not is_of_a_lab(step):
        return ROOT / step / ("scan.cu" if step.startswith("scan/") else "reduce.cu")
    return next((path for path in labs.sources(step.split("/")[1]) if path.parent == ROOT / step), ROOT / step / "program")


def step_name(text):
    """The folder of a step that exists, for argparse."""
    text = text.rstrip("/")
    if not source_of(text).exists():
        raise argparse.ArgumentTypeError(f"there is no step '{text}'")
    return text


def patches(step):
    """The matches of PATCH in a step's README, in order."""
    return PATCH.finditer((ROOT / step / "README.md").read_text(encoding="utf-8"))


def tries(step):
    """The changes of a step's README in order, each with its own number of elements or ''."""
    return [(bare(found["diff"]), found["elements"] or "") for found in patches(step)]


def columns(step):
    """For each change of a step's README the number of columns of the rows that are timed, or ''."""
    return [found["columns"] or "" for found in patches(step)]


def beside_cub(step):
    """(column, Try) of each change of a step's README that is timed beside CUB."""
    return [(found["beside_cub"], number) for number, found in enumerate(patches(step), 1) if found["beside_cub"]]


def later(step):
    """The numbers of the changes that fail only in a later run than the first, or with more elements than the book's player runs."""
    return {number for number, found in enumerate(patches(step), 1) if found["later"]}


def bare(patch):
    """A change as its - and + lines alone, which stay the same wherever they stand in the program."""
    return "".join(line for line in patch.splitlines(True) if line[0] in "-+" and not re.match(r"--- a/|\+\+\+ b/", line))


def digest(diff):
    """Ties a measurement to the change that it was made of."""
    return hashlib.sha256(diff.encode()).hexdigest()[:8]


def without_signs(lines):
    return re.sub(r"^[-+]", "", lines, flags=re.M)


def changes(step, diff):
    """Each run of - lines, and the + lines below it that take its place."""
    found = re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", diff, re.M)
    if not found or "".join(old + new for old, new in found) != diff:
        fail(f"{step}/README.md: a diff is not made of - lines, each run followed by its + lines")
    return found


def applied(step, diff):
    """The step's program with the change made."""
    source = source_of(step).read_text(encoding="utf-8")
    for old, new in changes(step, diff):
        old, new = without_signs(old), without_signs(new)
        if source.count(old) != 1:
            fail(f"{step}/README.md: the program does not have exactly one: {old.strip()}")
        source = source.replace(old, new)
    return source


# ---- The page's diffs: patches that git apply takes, with as little around them as it needs

def as_patch(step, diff):
    """The change as a patch of the step's program, which has its lines, with a line of context on either side."""
    name, source = source_of(step).relative_to(ROOT), source_of(step).read_text(encoding="utf-8")
    lines, hunks = source.splitlines(), []
    for old, new in changes(step, diff):
        first = source.count("\n", 0, source.index("\n" + without_signs(old)) + 1)
        if hunks and first <= hunks[-1][-1][1] + 1:  # its context would meet that of the change before
            hunks[-1].append((first, first + old.count("\n"), old + new))
        else:
            hunks.append([(first, first + old.count("\n"), old + new)])
    moved, text = 0, f"--- a/{name}\n+++ b/{name}\n"
    for hunk in hunks:
        part, moved = hunk_text(lines, hunk, moved)
        text += part
    return text


def hunk_text(lines, hunk, moved):
    """Changes that lie together, with what stands around and between them; and by how many lines everything below has moved."""
    begin, end = max(hunk[0][0] - 1, 0), min(hunk[-1][1] + 1, len(lines))
    body, at = "", begin
    for first, last, change in hunk:
        body += "".join(f" {line}\n" if line else "\n" for line in lines[at:first]) + change
        at = last
    body += "".join(f" {line}\n" if line else "\n" for line in lines[at:end])
    added = body.count("\n+") - body.count("\n-") + body.startswith("+") - body.startswith("-")
    return f"@@ -{begin + 1},{end - begin} +{begin + 1 + moved},{end - begin + added} @@\n{body}", moved + added


def is_of(step, diff):
    """Whether the program has what a change takes away: that of a page which is not written yet has not."""
    source = source_of(step).read_text(encoding="utf-8")
    return all(source.count("\n" + without_signs(old)) == 1 for old, _ in changes(step, diff))


def with_patches(step, page):
    """A step's page with each of its diffs as a patch, but those of another program."""
    def patched(found):
        fence, diff = found[0].partition("\n")[0], bare(found["diff"])
        return f"{fence}\n{as_patch(step, diff)}```" if is_of(step, diff) else found[0]

    return PATCH.sub(patched, page)


def changed(step, number):
    """The step's program with the Try of that number made."""
    diffs = tries(step)
    if not 1 <= number <= len(diffs):
        fail(f"{step} has no Try {number}, but 1 to {len(diffs)}")
    return applied(step, diffs[number - 1][0])


def build(compiler, source, directory, suffix=".cu", libraries=""):
    """The program built from source by a command like "nvcc -O3", with the options that its first comment names, and CUDA programs with libraries."""
    program = Path(directory) / "reduce"
    program.parent.mkdir(parents=True, exist_ok=True)
    path = program.with_suffix(suffix)
    path.write_text(source, encoding="utf-8")
    before, after = re.search(r"^// Build and run: \w+(?: -O3 -arch=native)?(.*?) -o \w+ \w+\.cu?(.*?) && ", source, re.M).groups()
    if suffix == ".c":
        compiler, libraries = labs.build_line_of(source).split()[0], ""
    built = subprocess.run([*shlex.split(compiler), *before.split(), "-o", program, path, *after.split(), *shlex.split(libraries)], capture_output=True, text=True)
    if built.returncode != 0:
        fail(f"a try does not compile: {(built.stdout + built.stderr).strip()}")
    return program


def milliseconds_of(printed, columns=""):
    """The median of the last row that a program printed, or of the last with that number of columns; NaN where it has no times."""
    lines = itertools.dropwhile(lambda line: not line.startswith("step,"), printed.splitlines())
    rows = [row for row in csv.DictReader(lines) if not columns or row["columns"] == columns]
    if columns and not rows:
        fail(f"the program timed no rows of {columns} numbers")
    if not rows:
        return float(files.last_row(printed)[4])  # a step of the ladder prints no header
    return float(rows[-1].get("median_ms", "nan"))


def milliseconds(words, columns=""):
    """milliseconds_of what a program prints, or None where it ends without a right result."""
    try:
        run = subprocess.run(words, capture_output=True, text=True, timeout=TIME_LIMIT_S, env=os.environ | labs.MPI_ENVIRONMENT)
    except subprocess.TimeoutExpired:
        fail(f"{words[0]}: no end after {TIME_LIMIT_S} s")
    if run.returncode == 1:  # a wrong result, or an access that the GPU refused
        return None
    if run.returncode != 0:
        fail(f"{words[0]}: exit status {run.returncode}: {run.stderr.strip()}")
    return milliseconds_of(run.stdout, columns)


def sanitizer_errors(tool, program, size):
    run = subprocess.run(["compute-sanitizer", "--tool", tool, program, size],
                         capture_output=True, text=True)
    summary = re.findall(r"SUMMARY: (\d+) (?:errors?|hazards?)", run.stdout)
    if not summary:
        fail(f"compute-sanitizer gave no summary: {(run.stdout + run.stderr).strip()[-200:]}")
    return int(summary[-1])


def sanitized(step, program):
    """What memcheck and racecheck find in a program; nothing where they cannot look."""
    if source_of(step).suffix == ".c" or "-lnccl" in labs.build_line(source_of(step)):
        return ["", ""]
    size = labs.small_size(step.split("/")[1]) if is_of_a_lab(step) else SANITIZED_ELEMENTS
    return [sanitizer_errors(tool, program, size) for tool in ("memcheck", "racecheck")]


def measure(step, number, diff, elements, columns, after, errors):
    """One row: medians before and after, beside what compute-sanitizer found in the program after."""
    before = source_of(step).with_suffix("")
    start = []
    if is_of_a_lab(step):
        *start, before = labs.command(source_of(step), simulated=False)
        before = ROOT / before
    arguments = ["--csv", *([str(elements)] if elements else [])]
    times = [tuple(milliseconds([*start, program, *arguments], columns) for program in (before, after)) for _ in range(1 if is_of_a_lab(step) and source_of(step).suffix == ".cu" else ROUNDS)]
    if None in [time for time, _ in times]:
        fail(f"{before}: wrong result before any change")
    right = all(None not in pair for pair in times)
    timed = right and not math.isnan(times[0][0])
    medians = [f"{statistics.median(column):.6f}" for column in zip(*times)] if timed else ["", ""]
    return [step, number, digest(diff), elements, columns, *medians, "PASS" if right else "FAIL", *errors]


def main():
    parser = Parser(description=__doc__)
    parser.add_argument("--elements", type=elements, help="where the Try names no number; the program's default if not given")
    parser.add_argument("--compiler", default="nvcc -O3 -arch=native")
    parser.add_argument("--output", type=Path, default=Path("results/tries.csv"))
    parser.add_argument("--print", type=int, metavar="TRY", help="only print the program of one step with that Try made")
    parser.add_argument("--beside-cub", action="store_true", help="only print NAME:build/STEP-tryNUMBER.cu of each Try that is timed beside CUB")
    parser.add_argument("steps", nargs="+", type=step_name)
    options = parser.parse_args()
    if options.beside_cub:
        print(*[f"{name}:build/{step}-try{number}.cu" for step in options.steps for name, number in beside_cub(step)])
        return
    if options.print is not None:
        print(changed(options.steps[0], options.print), end="")
        return
    if not shutil.which("compute-sanitizer"):
        fail("compute-sanitizer was not found; it comes with the CUDA toolkit")
    cases = [(step, number, diff, size or options.elements or "", timed)
             for step in options.steps for number, ((diff, size), timed) in enumerate(zip(tries(step), columns(step)), 1)]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(os.cpu_count()) as workers:
        # Compilers and sanitizers work side by side; what is timed runs alone.
        programs = list(workers.map(lambda case: build(options.compiler, applied(case[0], case[2]), Path(directory) / f"{case[0]}-{case[1]}",
                                                       source_of(case[0]).suffix), cases))
        errors = list(workers.map(sanitized, [case[0] for case in cases], programs))
        with files.whole(options.output) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for case, program, found in zip(cases, programs, errors):
                row = measure(*case, program, found)
                print(*row, flush=True)
                writer.writerow(row)


if __name__ == "__main__":
    main()
