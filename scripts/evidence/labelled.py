#!/usr/bin/env python3
"""Runs the labelled programs and compares the findings with their labels: tests/labelled/labels.csv. Warnings count as errors.

labelled.py sim [--output FILE] FOLDER   on the simulator, whose programs lie in FOLDER: what its checker reports, a CSV and one line
labelled.py gpu --output FILE            on a GPU, under compute-sanitizer's tools: each case's exit status (99: errors were
                                         found, 124: stopped after 25 s) and how many errors

`finds` of a label lists kinds of findings, at least one of which must be reported; those in `also` may be reported, others must not. A case without `finds` is
clean: nothing may be reported."""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drywarp import files

ROOT = Path(__file__).resolve().parents[2]
LABELS = ROOT / "tests/labelled/labels.csv"
TIME_LIMIT = 60  # seconds of a case, which takes a fraction of one
FINDINGS_STATUS = 88
# Of compute-sanitizer: it ends with this status where it found errors, and is stopped after so many seconds.
ERRORS_STATUS, STOPPED_STATUS, GPU_TIME_LIMIT = 99, 124, 25


def labels():
    with open(LABELS, newline="") as file:
        return list(csv.DictReader(file))


def how_compiled(program):
    """nvcc's options for this program: kernels that launch kernels are compiled apart."""
    return ["-rdc=true"] if program == "children" else []


def cases_of(program):
    listed = subprocess.run([program], capture_output=True, text=True)
    if listed.returncode != 0:
        sys.exit(f"labelled.py: {program} does not list its cases")
    return set(listed.stdout.split())


def check_that_all_are_labelled(folder, rows):
    for program in sorted({row["program"] for row in rows}):
        labelled = {row["case"] for row in rows if row["program"] == program}
        for case in labelled ^ cases_of(folder / program):
            sys.exit(f"labelled.py: {program} {case}: the label and the program do not belong together")


def settings_of(row):
    return dict(word.split("=", 1) for word in row["environment"].split())


def reported(folder, row):
    """The kinds of what was reported of a case, sorted; where it ended otherwise than it should, how it did."""
    with tempfile.TemporaryDirectory() as directory:
        findings = Path(directory) / "findings.json"
        try:
            run = subprocess.run([folder / row["program"], row["case"]], capture_output=True, text=True, timeout=TIME_LIMIT,
                                 env=os.environ | settings_of(row) | {"SIM_FINDINGS": str(findings), "SIM_STRICT": "1"})
        except subprocess.TimeoutExpired:
            return ["no-end"]
        kinds = {found["kind"] for found in json.loads(findings.read_text())["findings"]} if findings.exists() else set()
    if run.returncode != (FINDINGS_STATUS if kinds else 0):
        kinds.add(f"status-{run.returncode}")
    return sorted(kinds)


def is_right(row, kinds):
    finds = set(row["finds"].split())
    if not finds:
        return not kinds
    return bool(finds & set(kinds)) and set(kinds) <= finds | set(row["also"].split())


def summary(rows):
    """One line: how many of the cases with mistakes were reported as labelled, and how many of the clean ones have no findings."""
    wrong, clean = ([row for row in rows if bool(row["finds"]) == has] for has in (True, False))
    right = [sum(row["right"] == "yes" for row in part) for part in (wrong, clean)]
    return f"{right[0]} of {len(wrong)} mistakes reported as labelled, {right[1]} of {len(clean)} clean cases without findings"


def on_simulator(options):
    rows = labels()
    check_that_all_are_labelled(options.folder, rows)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, kinds in zip(rows, pool.map(lambda row: reported(options.folder, row), rows)):
            row["reported"] = " ".join(kinds)
            row["right"] = "yes" if is_right(row, kinds) else "no"
            if row["right"] == "no":
                print(f"{row['program']} {row['case']}: labelled {row['finds'] or 'clean'}, reported {row['reported'] or 'nothing'}")
    write(options.output, ["program", "case", "label", "finds", "reported", "right"], rows)
    print(summary(rows))
    return any(row["right"] == "no" for row in rows)


def write(path, columns, rows):
    with files.whole(path) as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


# ---- On a GPU

def build_for_gpu(folder, program):
    source = ROOT / f"tests/labelled/{program}.cu"
    subprocess.run([os.environ.get("NVCC", "nvcc"), "-O3", "-std=c++17", "-arch=native", "-lineinfo", *how_compiled(program), "-o", folder / program, source], check=True)


def sanitized(folder, program, case, tool):
    """What a tool of compute-sanitizer says of a case."""
    words = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(ERRORS_STATUS), folder / program, case]
    try:
        run = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=GPU_TIME_LIMIT)
        status, said = run.returncode, run.stdout
    except subprocess.TimeoutExpired:
        status, said = STOPPED_STATUS, ""
    errors = re.findall(r"SUMMARY: (\d+)", said)
    return {"program": program, "case": case, "tool": tool, "status": status, "errors": errors[-1] if errors else ""}


def on_gpu(options):
    rows = [row for row in labels() if options.only in (None, row["program"])]
    jobs = [(row, tool) for row in sorted(rows, key=lambda row: (row["program"], row["case"])) for tool in options.tools]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda program: build_for_gpu(Path(directory), program), sorted({row["program"] for row in rows})))
        found = list(pool.map(lambda job: sanitized(Path(directory), job[0]["program"], job[0]["case"], job[1]), jobs))
    write(options.output, ["program", "case", "tool", "status", "errors"], found)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    sim, gpu = commands.add_parser("sim"), commands.add_parser("gpu")
    sim.add_argument("--output", type=Path, default=ROOT / "evidence/labelled/results.csv")
    sim.add_argument("folder", type=Path, help="where the built programs lie")
    sim.set_defaults(does=on_simulator)
    gpu.add_argument("--output", type=Path, required=True)
    gpu.add_argument("--only", metavar="PROGRAM", help="one of tests/labelled/*.cu, without its ending")
    gpu.add_argument("--tools", nargs="+", default=["racecheck", "synccheck"], help="those for races by default")
    gpu.set_defaults(does=on_gpu)
    options = parser.parse_args()
    sys.exit(options.does(options))


if __name__ == "__main__":
    main()
