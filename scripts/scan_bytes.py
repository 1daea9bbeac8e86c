#!/usr/bin/env python3
"""Asks Nsight Compute what each step of the prefix sum reads from and writes to the GPU's memory, for each element: one CSV.

All kernels of the first scan count. Of an array much larger than the L2 cache, what still lies there at the end of a kernel is little."""

import argparse
import csv
import io
import subprocess
import sys
from pathlib import Path

import files

COLUMNS = ["step", "elements", "read_bytes_per_element", "written_bytes_per_element"]
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
HARNESS = ("fill", "prepare", "compare")


def counted(program, elements):
    """(kernel, metric, value) of each launch up to the end of the first scan, in order."""
    command = ["ncu", "--csv", "--print-units", "base", "--metrics", f"{READ},{WRITTEN}", "--launch-count", "16", program, str(elements)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"scan_bytes.py: ncu failed on {program}: {(result.stdout + result.stderr).strip()[-300:]}")
    table = result.stdout[result.stdout.index('"ID"'):]
    rows = [(row["Kernel Name"].split("(")[0], row["Metric Name"], float(row["Metric Value"].replace(",", ""))) for row in csv.DictReader(io.StringIO(table))]
    kernels = [kernel for kernel, _, _ in rows]
    return rows[:kernels.index("compare")] if "compare" in kernels else rows


def row_of(program, elements):
    rows = counted(program, elements)
    sums = [sum(value for kernel, metric, value in rows if metric == wanted and kernel not in HARNESS) for wanted in (READ, WRITTEN)]
    return [Path(program).parent.name, elements, *(f"{total / elements:.2f}" for total in sums)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=1 << 28)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    rows = []
    for program in arguments.programs:
        rows.append(row_of(program, arguments.elements))
        print(*rows[-1], flush=True)
    with files.whole(arguments.output) as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
