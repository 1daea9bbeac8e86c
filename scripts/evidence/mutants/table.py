"""Joins what was found in the mutants: evidence/mutants/agreement.csv, of mutants.csv (the simulator), gpu.csv (compute-sanitizer) and equivalent.csv (by hand)."""

import csv
import sys
from collections import Counter, defaultdict

from drywarp import files
from scripts.evidence.mutants import make
from scripts.evidence.mutants.run import TOOLS, read

FOLDER = make.ROOT / "evidence/mutants"
SANITIZERS = [tool for tool in TOOLS if tool != "alone"]
COLUMNS = ["mutant", "step", "operator", "line", "before", "after", "own_check", "simulator", "verdict", "own_check_gpu", *SANITIZERS, "agreement"]


def verdict(row, equivalent):
    """Who finds a mutant."""
    fails, found = row["own_check"] != "passes", bool(row["findings"])
    if row["mutant"].endswith(".original"):
        return "false alarm" if fails or found else "clean"
    if fails or found:
        return "check and simulator" if fails and found else "check" if fails else "simulator"
    return "equivalent" if row["mutant"] in equivalent else "missed"


def sanitizer_columns(rows):
    """What compute-sanitizer's tools say of one mutant, and its own check on the GPU."""
    columns = {}
    for row in rows:
        column = "own_check_gpu" if row["tool"] == "alone" else row["tool"]
        said = row["ended"] if row["tool"] == "alone" else f"{row['errors']}: {row['message']}" if row["errors"] not in ("", "0") else row["errors"] or row["ended"]
        worse = column not in columns or columns[column] in ("0", "passes")
        columns[column] = said if worse else columns[column]
    return columns


def reports(said):
    """Whether a tool reported something about the kernel; that a call failed because of what it found is nothing more."""
    return ": " in said and said.split(":")[0].isdecimal()


def agreement(simulator, columns):
    """Who of both reports a mutant."""
    if not all(tool in columns for tool in SANITIZERS):
        return ""
    sanitizer = any(reports(columns[tool]) for tool in SANITIZERS)
    return ("neither", "compute-sanitizer alone", "simulator alone", "both")[sanitizer + 2 * bool(simulator)]


def reasons(name):
    """The reason that a table written by hand, equivalent.csv or missed.csv, gives for each mutant; a row may explain several mutants."""
    return {mutant: row["reason"] for row in read(FOLDER / name) for mutant in row["mutants"].split()}


def joined():
    equivalent = reasons("equivalent.csv")
    measured = defaultdict(list)
    for row in read(FOLDER / "gpu.csv"):
        measured[row["mutant"]].append(row)
    rows = []
    for row in read(FOLDER / "mutants.csv"):
        columns = sanitizer_columns(measured[row["mutant"]])
        rows.append({column: row.get(column, "") for column in COLUMNS} | columns | {
            "simulator": row["findings"], "verdict": verdict(row, equivalent), "agreement": agreement(row["findings"], columns)})
    return rows


def write():
    """Writes the joined table; returns 1, after printing it, for a missed mutant that missed.csv does not explain, or a false positive in a step."""
    rows, explained = joined(), reasons("missed.csv")
    with files.whole(FOLDER / "agreement.csv") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(", ".join(f"{count} {name}" for name, count in Counter(row["verdict"] for row in rows).items()))
    bad = [(row, row["verdict"]) for row in rows if row["verdict"] in ("missed", "false alarm") and row["mutant"] not in explained]
    bad += [(row, "compute-sanitizer alone finds it") for row in rows if row["agreement"] == "compute-sanitizer alone"]
    for row, why in bad:
        said = "; ".join(f"{tool} {row[tool]}" for tool in SANITIZERS if reports(row.get(tool, "")))
        print(f"{row['mutant']}: {why}: line {row['line']}: {row['before']} -> {row['after']} {said}", file=sys.stderr)
    return 1 if bad else 0

