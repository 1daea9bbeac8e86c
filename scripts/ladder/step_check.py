#!/usr/bin/env python3
"""Generates everything that belongs to one step, runs its tests, and lists what is still to be written: make step-check STEP=15, also LADDER=scan.

step_check.py [--to-write] LADDER STEP   STEP is a number, such as 03; --to-write: only lists what a person has to write first, and
writes line 4 of a complete program. It needs nvcc, but no GPU; make has built the step for the simulator.
The exit status is 0 if nothing is left, otherwise 1."""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from drywarp import files
from scripts.evidence.mutants import table as mutants
from scripts.ladder import step_pages

ROOT = Path(__file__).resolve().parents[2]
COUNTS = ROOT / "tests/counters/simulator"
CHART = ROOT / "plots/simulator/counters.csv"
CHART_ELEMENTS = "1048576"
SIZES = {"reduce": {"steps.csv": 65536, "ragged.csv": 100003}, "scan": {"scan.csv": 65536}}  # elements counted, by table
TESTS = ("course/test_docs.py", "course/test_steps.py", "course/test_scan.py", "course/test_picture.py", "simulator/test_simulator.py",
         "simulator/test_replay.py", "checker/test_mutants.py")


def folder_of(ladder, number):
    """The folder of a step, relative to the repository."""
    within = ROOT / "scan" if ladder == "scan" else ROOT
    found = sorted(within.glob(f"step{number}_*"))
    if len(found) != 1:
        sys.exit(f"step_check.py: STEP='{number}' is no step of {'scan/' if ladder == 'scan' else 'the sum'}; as in: make step-check STEP=03")
    return found[0].relative_to(ROOT)


def write_lesson_lines(source):
    """Writes into a program's first comment which lines are the lesson; a program of the prefix sum does not name them."""
    text = source.read_text(encoding="utf-8")
    lesson = text.partition("// ==== Harness")[0].rstrip().splitlines()
    first = next(number for number, line in enumerate(lesson, 1) if line.startswith("static void check(")) + 2
    written = re.sub(r"^(// The lesson: lines )\d+ to \d+;", rf"\g<1>{first} to {len(lesson)};", text, count=1, flags=re.M)
    if written != text:
        with files.whole(source) as file:
            file.write(written)


def replace_rows(table, step, rows):
    """Replaces the rows of a step in a CSV; the steps stay in order, and other programs follow them."""
    with open(table, newline="", encoding="utf-8") as file:
        header, *old = csv.reader(file)
    kept = [row for row in old if row[0] != step]
    at = next((number for number, row in enumerate(kept) if not row[0].startswith("step") or row[0] > step), len(kept))
    with files.whole(table) as file:
        csv.writer(file, lineterminator="\n").writerows([header, *kept[:at], *rows, *kept[at:]])


def counted(program, elements):
    """The counters of the kernels of a program's first run on the simulator."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        subprocess.run([program, "--csv", str(elements)], env=os.environ | {"SIM_COUNTERS": str(table)}, capture_output=True, check=True)
        with open(table, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
    return files.first_run(rows, lambda row: row[1])


def write_counts(ladder, folder):
    program = ROOT / "build/sim" / folder / ladder
    for table, elements in SIZES[ladder].items():
        replace_rows(COUNTS / table, folder.name, counted(program, elements))
    if ladder == "reduce":
        with tempfile.TemporaryDirectory() as made:
            run("-m", "scripts.ladder.run", "all", "--simulated", "--elements", CHART_ELEMENTS, "--output", f"{made}/rows.csv", program)
            with open(f"{made}/rows.csv", newline="", encoding="utf-8") as file:
                write_chart(folder.name, list(csv.reader(file))[1:])


def write_chart(step, rows):
    """Writes the chart's rows of a step, and draws the chart if they have changed."""
    before = CHART.read_bytes()
    replace_rows(CHART, step, rows)
    if CHART.read_bytes() != before:
        run("plots/plot.py", CHART.parent)


def run(*words):
    """Runs a Python command in the repository; ends the program with its last lines if it fails."""
    result = subprocess.run([sys.executable, *map(str, words)], cwd=ROOT, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit("\n".join([*(result.stdout + result.stderr).strip().splitlines()[-12:], f"step_check.py: {' '.join(map(str, words[:3]))} failed"]))


def write_mutants(short):
    """Runs a step's mutants and joins the results, from which the tables are made."""
    run("-m", "scripts.evidence.mutants", "sim", "build/mutants", "evidence/mutants/mutants.csv", short)
    subprocess.run([sys.executable, "-m", "scripts.evidence.mutants", "table"], cwd=ROOT, capture_output=True)  # missed mutants are listed at the end


def parts(ladder, folder):
    """The generated parts of a step: what is made, and the function that makes it."""
    number, short = folder.name[4:6], f"{'scan-' if ladder == 'scan' else ''}{folder.name[:6]}"
    return [("the simulator's counts, and their chart", lambda: write_counts(ladder, folder)),
            ("the program of its page", lambda: run("-m", "scripts.ladder.lesson_programs", folder)),
            ("the figure", lambda: run("plots/picture.py", number, "--ladder", ladder)),
            ("the mutants", lambda: write_mutants(short)),
            ("the tables in the pages", lambda: run("plots/tables.py"))]


def to_write(ladder, folder):
    """What only a person can write, a line each."""
    page, source = ROOT / folder / "README.md", ROOT / folder / f"{ladder}.cu"
    for path in (page, source):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "TODO" in line:
                yield f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
    try:
        step_pages.about(ROOT / folder)
    except ValueError:
        yield f"{folder}/README.md: complete the line below the title, as in: <!-- step: changed lines at most 28; figure tree of 256 elements -->"


def missed_mutants(short):
    """The mutants of a step that nothing detects and no table explains, a line each."""
    rows, equivalent, known = mutants.joined(), mutants.reasons("equivalent.csv"), mutants.reasons("missed.csv")
    explained = {(row["before"], row["after"]): row["mutant"] for row in rows if row["mutant"] in equivalent}
    for row in rows:
        if row["step"] == short and row["verdict"] == "missed" and row["mutant"] not in known:
            same = explained.get((row["before"], row["after"]))
            yield (f"{row['mutant']}: nothing detects it: line {row['line']}: {row['before']} -> {row['after']}: " +
                   (f"if the reason of {same} holds here, too, add the name to its row in evidence/mutants/equivalent.csv: {equivalent[same]}" if same else
                    "explain it in evidence/mutants/equivalent.csv, if it behaves like the step in every run, or in evidence/mutants/missed.csv"))
        if row["step"] == short and row["verdict"] == "false alarm":
            yield f"{row['mutant']}: the step itself fails or has findings: {row['own_check']}; {row['simulator']}"


def failed_tests(folder, without):
    """The tests of the step and of the pages around it that fail, each with the first line of its reason. without: a test that is not run, or none."""
    chosen = f"({folder.name} or every_lesson or all_changes or table or missed or chapter or chart or map){f' and not {without}' if without else ''}"
    result = subprocess.run([sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-k", chosen, *(f"tests/{name}" for name in TESTS)],
                            cwd=ROOT, capture_output=True, text=True)
    failed = re.findall(r"^_+ (test_\S+) _+$.*?^E +(.*?)$", result.stdout, re.M | re.S)
    return [f"{test}: {reason}" for test, reason in failed] or ([] if result.returncode == 0 else result.stdout.splitlines()[-3:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to-write", action="store_true")
    parser.add_argument("ladder", choices=SIZES)
    parser.add_argument("step", metavar="STEP")
    options = parser.parse_args()
    folder = folder_of(options.ladder, options.step)
    left = list(to_write(options.ladder, folder))
    if left:
        sys.exit("\n".join(["to be written first:", *left]))
    if options.to_write:  # make builds the program next
        write_lesson_lines(ROOT / folder / f"{options.ladder}.cu")
        return
    made = parts(options.ladder, folder)
    for number, (what, make) in enumerate(made, 1):
        start = time.monotonic()
        print(f"{number} of {len(made) + 1}: {what}", end="", flush=True)
        make()
        print(f" ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{len(made) + 1} of {len(made) + 1}: the tests of the step", flush=True)
    short = f"{'scan-' if options.ladder == 'scan' else ''}{folder.name[:6]}"
    missed = list(missed_mutants(short))
    left = [*missed, *failed_tests(folder, "test_no_detectable_mutant_is_missed" if missed else "")]
    print("\n".join(["left to do:", *left]) if left else f"{folder} is complete; what a GPU measures is in CONTRIBUTING.md")
    new = subprocess.run(["git", "ls-files", "--others", "--exclude-standard", "--directory"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    if new and not left:
        print(f"not in git yet: {' '.join(new)}")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
