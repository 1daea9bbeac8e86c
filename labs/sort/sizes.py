"""sizes.py SIZES CUB: every program of the lab and CUB at several sizes, written to two CSVs.

The programs must be there: make sort-sizes builds them. A program that fails is reported, and its row is left out."""

import csv
import subprocess
import sys
from pathlib import Path

from drywarp import files

ROOT = Path(__file__).resolve().parents[2]
SIZES = [1 << power for power in (16, 20, 24, 26, 28)]


def rows_of(program):
    """The rows of a program at each size; the header first."""
    rows = []
    for size in SIZES:
        result = subprocess.run([program, "--csv", str(size)], capture_output=True, text=True)
        if result.returncode != 0:
            print(f"sizes.py: {program} failed at {size} elements: {result.stderr.strip()}", file=sys.stderr)
            continue
        header, *new = csv.reader(result.stdout.splitlines())
        rows += new if rows else [header, *new]
    return rows


def write(output, programs):
    """The rows of all programs, with one header."""
    found = [rows for rows in map(rows_of, programs) if rows]
    if not found:
        sys.exit(f"sizes.py: no program ran, so {output} is not written")
    with files.whole(output) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(found[0][0])
        for rows in found:
            writer.writerows(rows[1:])


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {__doc__.splitlines()[0]}")
    write(sys.argv[1], sorted(ROOT.glob("build/labs/sort/step*/sort")))
    write(sys.argv[2], sorted(ROOT.glob("build/labs/sort/cub/*")))


if __name__ == "__main__":
    main()
