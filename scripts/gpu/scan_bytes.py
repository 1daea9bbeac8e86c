#!/usr/bin/env python3
"""Asks Nsight Compute what each step of the prefix sum reads from and writes to the GPU's memory, for each element: one CSV.

All kernels of the first scan count. Of an array much larger than the L2 cache, what still lies there at the end of a kernel is little."""

import argparse
import csv
import io
import subprocess
import sys
from pathlib import Path

from scripts import files

COLUMNS = ["step", "elements", "read_bytes_per_element", "written_bytes_per_element"]
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"


def kernels_of(program, elements):
    """What ncu says of each kernel of the first scan."""
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--metrics", f"{READ},{WRITTEN}", "--launch-count", "16", program, str(elements)]
    result = subprocess.run(command, capture_output=True, text=True)
    if '"ID"' not in result.stdout:
        sys.exit(f"scan_bytes.py: ncu failed on {program}: {(result.stdout + result.stderr).strip()[-300:]}")
    rows = csv.DictReader(io.StringIO(result.stdout[result.stdout.index('"ID"'):]))
    kernels = [row for row in rows if row["ID"]]  # the line of the units has none
    return files.first_run(kernels, lambda row: row["Kernel Name"])


def row_of(program, elements):
    kernels = kernels_of(program, elements)
    totals = [sum(float(kernel[metric].replace(",", "")) for kernel in kernels) for metric in (READ, WRITTEN)]
    return [Path(program).parent.name, elements, *(f"{total / elements:.2f}" for total in totals)]


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
