#!/usr/bin/env python3
"""What Nsight Compute counts in a lab's kernels, beside what the simulator counts in them: one CSV for each lab.

profile_labs.py FOLDER LAB...   writes FOLDER/LAB-profile.csv: each kernel in each shape of its launch once, at the size
that the simulator runs, from the GPU's program and from the simulator's."""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts import files
from scripts.ladder import labs
from scripts.gpu.profile_steps import METRICS, blocks, number

# What both count.
COUNTED = ["shared_loads", "shared_stores", "bank_conflicts", "global_load_requests", "global_load_sectors", "global_store_requests",
           "global_store_sectors"]


def fail(message):
    sys.exit(f"profile_labs.py: {message}")


def kernels(source):
    """The names of the kernels of a lesson."""
    return re.findall(r"__global__ void (?:__launch_bounds__\(.*?\) )?(\w+)\(", source.read_text(encoding="utf-8").partition(labs.MARK)[0])


def counted_by_ncu(source, size):
    """kernel, grid, block and counts of the launches: those that are not alike in all of these."""
    names = kernels(source)
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--kernel-name",
               f"regex:^({'|'.join(names)})$", "--filter-mode", "per-launch-config", "--launch-count", "1", "--metrics",
               ",".join(METRICS[name] for name in COUNTED), labs.program(source, False), size]
    run = subprocess.run(command, capture_output=True, text=True, cwd=labs.ROOT)
    rows = [row for row in csv.DictReader(line for line in run.stdout.splitlines() if line.startswith('"')) if row["ID"]]
    if not rows:
        fail(f"ncu gave no counters for {source}: {(run.stdout + run.stderr).strip()[-300:]}")
    different = {}
    for row in rows:
        name = re.split(r"[<(]", row["Kernel Name"])[0].split()[-1].split("::")[-1]
        counts = (name, blocks(row["Grid Size"]), blocks(row["Block Size"]), *(int(number(row[METRICS[count]])) for count in COUNTED))
        different.setdefault(counts)
    return list(different)


def counted_by_simulator(source, size):
    """The same of the simulator."""
    with tempfile.TemporaryDirectory() as directory:
        counters = Path(directory) / "counters"
        run = subprocess.run([labs.program(source, True), size], cwd=labs.ROOT, capture_output=True, text=True, env=os.environ | {"SIM_COUNTERS": str(counters)})
        if run.returncode != 0:
            fail(f"{source} on the simulator: {run.stderr.strip()}")
        header, rows = labs.counted_rows(counters, source)
    different = {}
    for row in (dict(zip(header, row)) for row in rows):
        if row["kernel"] in kernels(source):
            different.setdefault((row["kernel"], int(row["grid"]), int(row["block"]), *(int(row[count]) for count in COUNTED)))
    return list(different)


def main():
    if len(sys.argv) < 3 or not set(sys.argv[2:]) <= set(labs.labs()):
        fail(f"name a folder and labs, of {', '.join(labs.labs())}")
    if not shutil.which("ncu"):
        fail("ncu was not found; Nsight Compute comes with the CUDA toolkit")
    for lab in sys.argv[2:]:
        size = labs.small_size(lab)
        with files.whole(Path(sys.argv[1]) / f"{lab}-profile.csv") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["step", "counted_by", "size", "kernel", "grid", "block", *COUNTED])
            for source in labs.sources(lab):
                for who, rows in (("ncu", counted_by_ncu(source, size)), ("simulator", counted_by_simulator(source, size))):
                    writer.writerows([source.parent.name, who, size, *row] for row in rows)


if __name__ == "__main__":
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    main()
