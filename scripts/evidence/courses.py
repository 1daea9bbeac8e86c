#!/usr/bin/env python3
"""Counts how many programs of public courses run on the simulator: builds each as make run does, and runs it once, as it is.

courses.py DIR   DIR holds the repositories of evidence/suites/course_repositories.csv; evidence/suites/course_programs.csv lists their programs

A row of the table is one program: sources, options (nvcc's), arguments, the folder to run in, libraries that it needs and that are not here, what a shell
does before (with $NVCC), and settings of the environment. Files are named from the repository, other than in the shell, which is in the folder.
A program's result is written when it is known; one that the results hold already is not run again, so that a run may be stopped at any moment.
The result says how many threads the simulator had, $SIM_THREADS, or one for each processor."""

import argparse
import concurrent.futures
import csv
import fnmatch
import os
import re
import shlex
import string
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from drywarp import files, missing_calls
from drywarp import program as build_program
from drywarp.errors import Parser, fail
from scripts.evidence.one_run import NO_END, run

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "evidence/suites/course_programs.csv"
LOGS = ROOT / "build/courses"
COLUMNS = ["repository", "program", "outcome", "detail", "seconds", "threads"]
OUTCOMES = ("pass", "finding", "refused", "timeout", "failed")  # of a program that can be built; any other is left out
LEFT_OUT = "left out"
TIME_LIMIT_S = 60
# What the simulator says where it lacks something, as a program is linked or runs.
LACKS = re.compile(r"the simulator has no (?P<call>cu\w+)|simulator: .*?(?P<said>(?:it has no |the simulator has no |the simulator does not know ).*|\S.* (?:(?:is|are) not supported|cannot be shared with other processes).*)")
OTHER_LIBRARY = re.compile(rf"the simulator has no ({'|'.join(re.escape(name) for name, _ in missing_calls.LIBRARIES.values())}) ")
OWN_FAILURE = re.compile(r"^.*(?:\bFAILED\b|Test failed|do(?:es)? not match|Mismatch at|mismatch!).*$", re.M)  # of programs that end with status 0 all the same


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def key(row):
    return row["repository"], row["program"]


# ---- One program

def logs_of(row):
    folder = LOGS / row["repository"] / row["program"]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def build(row, repository, options):
    """The program that nvcc made for the simulator, or None; and what was said."""
    sources = shlex.split(row["sources"])
    command = [sys.executable, "-m", "drywarp.program", "build", "--nvcc", options.nvcc, f"--options={options.options}", f"--libraries={options.libraries}",
               "--folder", str(logs_of(row))]
    built = subprocess.run(command, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                           env=os.environ | {"PYTHONPATH": str(ROOT), "FILE": shlex.join(sources), "FLAGS": row["options"]})
    (logs_of(row) / "build.log").write_text(built.stdout, encoding="utf-8")
    program = build_program.program_of(repository / sources[0], logs_of(row))
    return program if built.returncode == 0 else None, built.stdout


def why_not_built(said):
    """The outcome of a program that was not built, and why: what the simulator lacks counts; what the program lacks does not."""
    library, lack = OTHER_LIBRARY.search(said), LACKS.search(said)
    header = re.search(r"fatal error: (\S+): No such file", said)
    if library or header:
        return LEFT_OUT, f"needs {library[1] if library else header[1]}"
    if lack or "the simulator has the usual calls" in said:
        return "refused", lack["call"] if lack else re.search(r"not all \((.*?)[,)]", said)[1]
    error = re.search(r"^.*\berror\b.*$|^undefined: .*$", said, re.M)
    return LEFT_OUT, f"does not compile: {shortened(error[0] if error else said)}"


def outcome(kinds, status, said):
    """How a run counts, and a word about it."""
    lack, failure = LACKS.search(said), OWN_FAILURE.search(said)
    if status == NO_END:
        return "timeout", ""
    if kinds:
        return "finding", " ".join(sorted(kinds))
    if status == "0" and not failure:
        return "pass", ""
    if lack:
        return "refused", shortened(lack["call"] or lack["said"])
    return "failed", shortened(f"status {status}: {failure[0] if failure else (said.strip().splitlines() or [''])[-1]}")


def shortened(text):
    return " ".join(text.split())[:120]


def result(row, options):
    """The result of one program: it is built, and run once."""
    if row["needs"]:
        return LEFT_OUT, f"needs {row['needs']}", 0
    repository = options.folder / row["repository"]
    program, said = build(row, repository, options)
    if program is None:
        return *why_not_built(said.replace(f"{options.folder}/", "")), 0
    where = repository / row["folder"]
    subprocess.run(row["before"], shell=True, cwd=where, env=os.environ | {"NVCC": options.nvcc})
    given = string.Template(row["settings"]).substitute(SIMULATOR=ROOT / "build/sim")
    path, begun = logs_of(row) / "said.txt", time.monotonic()
    with open(path, "wb") as file:
        kinds, status = run(program, shlex.split(row["arguments"]), dict(word.split("=", 1) for word in shlex.split(given)), where, TIME_LIMIT_S, file)
    seconds = time.monotonic() - begun
    program.unlink()
    said = path.read_text(encoding="utf-8", errors="replace").replace(f"{options.folder}/", "")
    return *outcome(kinds, status, said), seconds


# ---- All of them

def done_in(path):
    """The results that a table holds, by program, without a last one that was not written to its end."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return {key(row): row for row in csv.DictReader(line for line in lines if line.endswith("\n"))}


def written(path, rows):
    with files.whole(path) as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def run_all(rows, done, options):
    """Runs the programs that are not done, several at once, and adds each result to the table and to done as soon as it is known."""
    left, begun, lock = [row for row in rows if key(row) not in done], time.monotonic(), threading.Lock()
    threads = os.environ.get("SIM_THREADS", os.cpu_count())
    print(f"{len(rows)} programs, {len(left)} to run, {options.jobs} at once", flush=True)
    written(options.output, done.values())
    with open(options.output, "a", newline="", encoding="utf-8") as file, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def one(row):
            came, detail, seconds = result(row, options)
            with lock:
                done[key(row)] = dict(zip(COLUMNS, (*key(row), came, detail, f"{seconds:.1f}", "" if came == LEFT_OUT else threads), strict=True))
                csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(done[key(row)])
                file.flush()
                print(f"{time.monotonic() - begun:4.0f} s  {came:8}  {row['repository']}/{row['program']}  {detail}", flush=True)
        list(pool.map(one, left))


def summary(rows):
    """How many programs that can be built run, and what the others come to."""
    counts = Counter(row["outcome"] for row in rows)
    built = sum(counts[name] for name in OUTCOMES)
    runs = counts["pass"] + counts["finding"]
    print(f"{len(rows)} programs, of which {counts[LEFT_OUT]} are left out; {runs} of {built} run: " + ", ".join(f"{counts[name]} {name}" for name in OUTCOMES))


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder with the repositories")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--options", required=True, help="nvcc's options for the simulator")
    parser.add_argument("--libraries", required=True, help="what programs are linked with")
    parser.add_argument("--output", type=Path, required=True, help="the table of results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many programs at once")
    parser.add_argument("--again", choices=("1", *OUTCOMES), help="run those, too, that the table of results holds: all (1), or of one outcome")
    parser.add_argument("--only", default="*", help="the programs, REPOSITORY/PROGRAM, that match, as in a shell")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    options.libraries = shlex.join(str(ROOT / word) if (ROOT / word).exists() else word for word in shlex.split(options.libraries))
    rows = read(PROGRAMS)
    for name in sorted({row["repository"] for row in rows}):
        if not (options.folder / name).is_dir():
            fail(f"DIR={options.folder}: {name} is missing; evidence/suites/course_repositories.csv says from where (docs/suites.md)")
    rows = [row for row in rows if fnmatch.fnmatchcase("/".join(key(row)), options.only)]
    done = done_in(options.output)
    chosen = {key(row) for row in rows}
    done = {name: row for name, row in done.items() if name not in chosen or options.again not in ("1", row["outcome"])}
    run_all(rows, done, options)
    order = {key(row): number for number, row in enumerate(read(PROGRAMS))}
    written(options.output, sorted((row for row in done.values() if key(row) in order), key=lambda row: order[key(row)]))
    summary([done[key(row)] for row in rows])
    print(f"written: {options.output}; what each program said is in build/courses")


if __name__ == "__main__":
    main()
