#!/usr/bin/env python3
"""Does what the lessons suggest: applies each diff of a step's README, runs it, writes one CSV."""

import argparse
import csv
import hashlib
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import files

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = ["step", "try", "diff", "elements", "before_ms", "after_ms", "status", "memcheck_errors", "racecheck_errors"]
ROUNDS = 3  # before and after in turns, so that a drift of the clocks meets both
SANITIZED_ELEMENTS = "100003"  # several blocks in every step, and no round number
TIME_LIMIT_S = 60


def fail(message):
    sys.exit(f"tries.py: {message}")


def elements(text):
    """A number of elements, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of elements, 1 or more")
    return int(text)


def step_name(text):
    """The name of a step that exists, for argparse."""
    if not (ROOT / text / "reduce.cu").exists():
        raise argparse.ArgumentTypeError(f"there is no step '{text}'")
    return text


def tries(step):
    """The diffs of a step's README in order, each with its own number of elements or ''."""
    found = re.findall(r"^```diff(?: N=(\d+))?\n(.*?)^```", (ROOT / step / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    return [(diff, size) for size, diff in found]


def digest(diff):
    """Ties a measurement to the diff that it was made of."""
    return hashlib.sha256(diff.encode()).hexdigest()[:8]


def applied(step, diff):
    """The step's program with the diff applied: each run of - lines becomes the + lines below it."""
    source = (ROOT / step / "reduce.cu").read_text(encoding="utf-8")
    changes = re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", diff, re.M)
    if not changes or "".join(old + new for old, new in changes) != diff:
        fail(f"{step}/README.md: a diff is not made of - lines, each run followed by its + lines")
    for old, new in changes:
        old, new = (re.sub(r"^[-+]", "", lines, flags=re.M) for lines in (old, new))
        if source.count(old) != 1:
            fail(f"{step}/README.md: the program does not have exactly one: {old.strip()}")
        source = source.replace(old, new)
    return source


def changed(step, number):
    """The step's program with the Try of that number made."""
    diffs = tries(step)
    if not 1 <= number <= len(diffs):
        fail(f"{step} has no Try {number}, but 1 to {len(diffs)}")
    return applied(step, diffs[number - 1][0])


def build(compiler, source, directory):
    """The program built from source by a command like "nvcc -O3"."""
    program = Path(directory) / "reduce"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.with_suffix(".cu").write_text(source, encoding="utf-8")
    built = subprocess.run([*shlex.split(compiler), "-o", program, program.with_suffix(".cu")],
                           capture_output=True, text=True)
    if built.returncode != 0:
        fail(f"a try does not compile: {(built.stdout + built.stderr).strip()}")
    return program


def milliseconds(program, elements):
    """The median, or None where the program ends without a right sum."""
    try:
        run = subprocess.run([program, "--csv", str(elements)], capture_output=True, text=True, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        fail(f"{program}: no end after {TIME_LIMIT_S} s")
    if run.returncode == 1:  # a wrong sum, or an access that the GPU refused
        return None
    if run.returncode != 0:
        fail(f"{program}: exit status {run.returncode}: {run.stderr.strip()}")
    return float(files.last_row(run.stdout)[4])


def sanitizer_errors(tool, program):
    run = subprocess.run(["compute-sanitizer", "--tool", tool, program, SANITIZED_ELEMENTS],
                         capture_output=True, text=True)
    summary = re.findall(r"SUMMARY: (\d+) (?:errors?|hazards?)", run.stdout)
    if not summary:
        fail(f"compute-sanitizer gave no summary: {(run.stdout + run.stderr).strip()[-200:]}")
    return int(summary[-1])


def measure(step, number, diff, elements, after, errors):
    """One row: medians before and after, beside what compute-sanitizer found in the program after."""
    before = ROOT / step / "reduce"
    times = [(milliseconds(before, elements), milliseconds(after, elements)) for _ in range(ROUNDS)]
    if None in [time for time, _ in times]:
        fail(f"{before}: wrong sum before any change")
    right = all(None not in pair for pair in times)
    medians = [f"{statistics.median(column):.6f}" for column in zip(*times)] if right else ["", ""]
    return [step, number, digest(diff), elements, *medians, "PASS" if right else "FAIL", *errors]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.error = fail  # one line, without the usage
    parser.add_argument("--elements", type=elements, default=1 << 26)
    parser.add_argument("--compiler", default="nvcc -O3 -arch=native")
    parser.add_argument("--output", type=Path, default=Path("results/tries.csv"))
    parser.add_argument("--print", type=int, metavar="TRY", help="only print the program of one step with that Try made")
    parser.add_argument("steps", nargs="+", type=step_name)
    options = parser.parse_args()
    if options.print is not None:
        print(changed(options.steps[0], options.print), end="")
        return
    if not shutil.which("compute-sanitizer"):
        fail("compute-sanitizer was not found; it comes with the CUDA toolkit")
    cases = [(step, number, diff, int(size or options.elements))
             for step in options.steps for number, (diff, size) in enumerate(tries(step), 1)]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(os.cpu_count()) as workers:
        # Compilers and sanitizers work side by side; what is timed runs alone.
        programs = list(workers.map(lambda case: build(options.compiler, applied(case[0], case[2]),
                                                       Path(directory) / f"{case[0]}-{case[1]}"), cases))
        errors = [list(found) for found in zip(*(workers.map(sanitizer_errors, [tool] * len(cases), programs)
                                                 for tool in ("memcheck", "racecheck")))]
        with files.whole(options.output) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for case, program, found in zip(cases, programs, errors):
                row = measure(*case, program, found)
                print(*row, flush=True)
                writer.writerow(row)


if __name__ == "__main__":
    main()
