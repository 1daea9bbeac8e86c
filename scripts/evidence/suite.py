#!/usr/bin/env python3
"""Runs a suite of correct and wrong programs on the simulator, and lists the findings of each: DIR is a folder with a table of them.

suite.py DIR   DIR/cases.csv lists the programs, and is written where DIR is a suite that suite_cases.py knows; into evidence/suites/NAME.csv, where
               NAME is the folder's name

A row of the table is one run: program (a name), source, options (nvcc's), label (race, memory, which is a wrong access, divergence, a barrier that not
all threads reach, or clean), input (a name) and arguments. Files are named from DIR. Each program is built with -O3 and runs three times with each input: as it is, with blocks that take turns,
with blocks in another order. If a mistake is not reported, the program is built for a debugger (-G), too: the compiler may have removed the mistake."""

import argparse
import concurrent.futures
import csv
import fnmatch
import os
import shlex
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from drywarp import files
from drywarp import program as build_program
from drywarp.errors import Parser, fail
from scripts.evidence import suite_cases
from scripts.evidence.one_run import run
from scripts.evidence.suite_cases import CASE_COLUMNS

ROOT = Path(__file__).resolve().parent.parent.parent
TABLES = ROOT / "evidence/suites"
ADJUDICATED = TABLES / "adjudicated.csv"
COLUMNS = ["program", "inputs", "label", "kinds", "kinds_debug", "status"]
LABELS = ("race", "memory", "divergence", "clean")
WAYS = ({}, {"SIM_TOGETHER": "1"}, {"SIM_BLOCK_ORDER": "7"})
TIME_LIMIT_S = 60


@dataclass
class Case:
    """One program of a suite: how it is built and run, and what its label says: one of LABELS."""
    name: str
    source: Path
    label: str
    options: list = field(default_factory=list)
    inputs: dict = field(default_factory=dict)  # the arguments, by a name


# ---- The table of a suite

def cases_of(folder):
    """The programs that a suite's table lists, each with all of its inputs."""
    try:
        with open(folder / "cases.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        fail(f"DIR={folder}: {error.strerror}: cases.csv, the table of its programs (docs/suites.md)")
    cases = {}
    for number, row in enumerate(rows, 2):
        if set(row) != set(CASE_COLUMNS) or None in row.values() or row["label"] not in LABELS:
            fail(f"{folder}/cases.csv, line {number}: wanted are {', '.join(CASE_COLUMNS)}, and a label of {', '.join(LABELS)}")
        case = cases.setdefault(row["program"], Case(row["program"], folder / row["source"], row["label"], shlex.split(row["options"])))
        case.inputs[row["input"]] = shlex.split(row["arguments"])
    return list(cases.values())


# ---- Building and running

def built(case, program, options, apart=()):
    """Whether nvcc makes the program; what it says is beside it. Kernels that launch kernels want to be compiled apart."""
    program.parent.mkdir(parents=True, exist_ok=True)
    libraries = [str(ROOT / word) if (ROOT / word).exists() else word for word in shlex.split(options.libraries)]
    command = [options.nvcc, *shlex.split(options.options), *case.options, *apart, "-o", str(program), str(case.source), *libraries]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=options.folder)
    program.with_name(f"{program.name}.log").write_text(result.stdout, encoding="utf-8")
    if result.returncode != 0 and not apart and build_program.needs_device_link(result.stdout):
        return built(case, program, options, ("-rdc=true", "-cudadevrt", "none"))
    return result.returncode == 0


def run_each_way(program, arguments, folder):
    """The kinds of findings, and the status, of each of the runs with one input."""
    return [run(program, arguments, way | {"SIM_THREADS": "1"}, folder, TIME_LIMIT_S) for way in WAYS]


def is_reported(label, kinds):
    """Whether the reported kinds include the labelled mistake."""
    return any(kind.startswith("race") for kind in kinds.split()) if label == "race" else kinds != ""


def results(number, case, folder, options):
    """The rows of one program, one for each input."""
    program = folder / f"{number}"
    if not built(case, program, options):
        return [row(case, name, set(), {"not built"}) for name in case.inputs]
    rows = []
    for name, arguments in case.inputs.items():
        runs = run_each_way(program, arguments, options.folder)
        rows.append(row(case, name, set().union(*(kinds for kinds, _ in runs)), {status for _, status in runs}))
    program.unlink()
    if case.label != "clean" and not any(is_reported(case.label, of_input["kinds"]) for of_input in rows):
        debug = argparse.Namespace(**vars(options) | {"options": options.options.replace("-O3", "-G").replace("-lineinfo", "")})
        if built(case, program, debug):
            for of_input in rows:
                of_input["kinds_debug"] = " ".join(sorted(set().union(*(kinds for kinds, _ in run_each_way(program, case.inputs[of_input["inputs"]], options.folder)))))
            program.unlink()
    return rows


def row(case, name, kinds, statuses):
    return {"program": case.name, "inputs": name, "label": case.label, "kinds": " ".join(sorted(kinds)), "kinds_debug": "",
            "status": " ".join(sorted(statuses))}


def together(rows):
    """The rows of one program's inputs that say the same, as one row."""
    merged = {}
    for each in rows:
        merged.setdefault(tuple(value for key, value in each.items() if key != "inputs"), []).append(each)
    alike = list(merged.values())
    return [same[0] | {"inputs": "all" if len(same) == len(rows) > 1 else ", ".join(each["inputs"] for each in same)} for same in alike]


# ---- What it comes to

def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def tests(rows):
    """The rows of each test of a suite, by name: those of a program with all its inputs."""
    by_name = {}
    for each in rows:
        by_name.setdefault(each["program"], []).append(each)
    return by_name


def outcome(same, label):
    """The outcome of a test with this label: reported, missed, flagged (a false positive), silent, or not built."""
    if same[0]["status"] == "not built":
        return "not built"
    if label == "clean":
        return "silent" if all(each["status"] == "0" for each in same) else "flagged"
    return "reported" if any(is_reported(label, each["kinds"]) for each in same) else "missed"


def adjudicated_by(suite, name, label, rows):
    """The row of evidence/suites/adjudicated.csv that speaks of a test, or None; the first one counts."""
    return next((row for row in rows if (row["suite"], row["label"]) == (suite, label) and fnmatch.fnmatchcase(name, row["program"])), None)


def reading(suite, name, label, rows):
    """How we read a test's label: one of LABELS, or why it cannot be read so."""
    row = adjudicated_by(suite, name, label, rows)
    return row["reading"] if row else label


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder with the suite's table, cases.csv")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--options", required=True, help="nvcc's options for the simulator")
    parser.add_argument("--libraries", required=True, help="what programs are linked with")
    parser.add_argument("--only", default="*", help="the programs whose names match, as in a shell; nothing is written then")
    options = parser.parse_args()
    if not options.folder.is_dir():
        fail(f"DIR='{options.folder}' is no folder; name one with the table of a suite, cases.csv (docs/suites.md)")
    options.folder = options.folder.resolve()
    if not (options.folder / "cases.csv").exists():
        suite_cases.write(options.folder)
    suite = options.folder.name
    cases = [case for case in cases_of(options.folder) if fnmatch.fnmatchcase(case.name, options.only)]
    folder, started, rows = ROOT / "build/suite" / suite, time.monotonic(), []
    print(f"{suite}: {len(cases)} programs, {os.cpu_count()} at once", flush=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = pool.map(lambda numbered: results(*numbered, folder, options), enumerate(cases))
        for number, of_case in enumerate(made, 1):
            rows += together(of_case)
            if number % 50 == 0:
                print(f"  {number} of {len(cases)}, {time.monotonic() - started:.0f} s", flush=True)
    summary(suite, rows)
    if options.only == "*":
        with files.whole(TABLES / f"{suite}.csv") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(f"written: evidence/suites/{suite}.csv; make tables puts it into docs/suites.md")


def summary(suite, rows):
    """Prints the outcomes by label, and the programs whose outcome differs from their label, or from our reading of it."""
    adjudicated = read(ADJUDICATED)
    counts, lines = Counter(), []
    for name, same in tests(rows).items():
        label = same[0]["label"]
        counts[label, outcome(same, label)] += 1
        read_as = reading(suite, name, label, adjudicated)
        came = outcome(same, read_as) if read_as in LABELS else ""
        if came in ("missed", "flagged", "not built"):
            lines.append(f"  {came}: {name} ({label}{f', read as {read_as}' * (read_as != label)}): {'; '.join(dict.fromkeys(each['kinds'] + ' status ' + each['status'] for each in same))}")
    for (label, came), count in sorted(counts.items()):
        print(f"{label}: {count} {came}")
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
