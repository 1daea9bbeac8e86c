#!/usr/bin/env python3
"""Runs the labelled programs on the simulator and compares what its checker reports with their labels: one CSV, and one line.

tests/labelled/labels.csv says of each case what is to be found. `finds` are kinds of findings, of which one at least has to
be reported; those in `also` may be; no other may. A case without `finds` is clean, and nothing may be reported."""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts import files

ROOT = Path(__file__).resolve().parents[2]
LABELS = ROOT / "tests/labelled/labels.csv"
TIME_LIMIT = 60  # seconds of a case, which takes a fraction of one
FINDINGS_STATUS = 88


def labels():
    with open(LABELS, newline="") as file:
        return list(csv.DictReader(file))


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


def reported(folder, row):
    """The kinds of what was reported of a case, sorted; where it ended otherwise than it should, how it did."""
    settings = dict(word.split("=", 1) for word in row["environment"].split())
    with tempfile.TemporaryDirectory() as directory:
        findings = Path(directory) / "findings.json"
        try:
            run = subprocess.run([folder / row["program"], row["case"]], capture_output=True, text=True, timeout=TIME_LIMIT,
                                 env=os.environ | settings | {"SIM_FINDINGS": str(findings)})
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
    """One line: of cases with something to find, how many were reported as labelled; of clean ones, how many were let alone."""
    wrong, clean = ([row for row in rows if bool(row["finds"]) == has] for has in (True, False))
    right = [sum(row["right"] == "yes" for row in part) for part in (wrong, clean)]
    return f"{right[0]} of {len(wrong)} mistakes reported as labelled, {right[1]} of {len(clean)} clean cases not accused"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "tests/labelled/results.csv")
    parser.add_argument("folder", type=Path, help="where the built programs lie")
    options = parser.parse_args()
    rows = labels()
    check_that_all_are_labelled(options.folder, rows)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, kinds in zip(rows, pool.map(lambda row: reported(options.folder, row), rows)):
            row["reported"] = " ".join(kinds)
            row["right"] = "yes" if is_right(row, kinds) else "no"
            if row["right"] == "no":
                print(f"{row['program']} {row['case']}: labelled {row['finds'] or 'clean'}, reported {row['reported'] or 'nothing'}")
    columns = ["program", "case", "label", "finds", "reported", "right"]
    with files.whole(options.output) as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(summary(rows))
    sys.exit(any(row["right"] == "no" for row in rows))


if __name__ == "__main__":
    main()
