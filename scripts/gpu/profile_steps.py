#!/usr/bin/env python3
"""Reads Nsight Compute's counters for every pass of every program into one CSV."""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from scripts import files

# Our column name, and the metric of Nsight Compute that it comes from.
METRICS = {
    "time_us": "gpu__time_duration.sum",
    "warp_instructions": "smsp__inst_executed.sum",
    "shared_loads": "smsp__sass_inst_executed_op_shared_ld.sum",
    "shared_stores": "smsp__sass_inst_executed_op_shared_st.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "barriers": "sass__inst_executed_per_opcode",  # of these the opcode BAR: one a warp and barrier
    "lanes_on": "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_throughput_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "issue_busy_percent": "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
    "shared_busy_percent": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "divergent_branches": "smsp__sass_branch_targets_threads_divergent.sum",
    # Cycles that a warp spends waiting for a load from memory, and at a barrier, per instruction.
    "load_wait_cycles": "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "barrier_wait_cycles": "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
}
COLUMNS = ["step", "elements", "pass", "kernel", "blocks", "threads", *METRICS]


def fail(message):
    sys.exit(f"profile_steps.py: {message}")


def launches(program, elements):
    """How many launches one whole reduction takes, from the program's own report."""
    run = subprocess.run([program, "--csv", str(elements)], capture_output=True, text=True)
    if run.returncode != 0:
        fail(f"{program} {elements}: exit status {run.returncode}: {run.stderr.strip()}")
    return int(files.last_row(run.stdout)[3])


def profile(program, elements, count):
    """The rows of ncu's raw page for the first whole reduction, one a kernel, or for count launches."""
    reduction = count is None
    if reduction:  # one launch more than it reports: CUB starts two kernels for its one call; and the harness's own
        count = launches(program, elements) + 2
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
               "--kill", "yes", "--print-metric-instances", "details", "--launch-count", str(count), "--metrics",
               ",".join(METRICS.values()), program, str(elements)]
    run = subprocess.run(command, capture_output=True, text=True)
    if "ERR_NVGPUCTRPERM" in run.stdout + run.stderr:
        fail("this user may not read the GPU's counters; an administrator can allow it by loading "
             "the driver with NVreg_RestrictProfilingToAdminUsers=0, or by running this as root")
    lines = [line for line in run.stdout.splitlines() if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row["ID"]]  # without the row of the units
    if not rows:
        fail(f"ncu gave no counters for {program}: {(run.stdout + run.stderr).strip()[-300:]}")
    if not reduction:
        return rows
    return files.first_run(rows, lambda row: row["Kernel Name"])


def number(text):
    return float(text.split(" (")[0].replace(",", ""))


def value(name, text):
    """A counter's value; of the counts per opcode, "9 (BAR: 2; LDS: 7)", that of the barriers."""
    if name == "barriers":
        barriers = re.search(r"\bBAR: ([\d,]+)", text)
        return number(barriers[1]) if barriers else 0.0
    return number(text)


def blocks(text):
    """How many blocks, or threads, "(1056, 1, 1)" are."""
    x, y, z = (int(part) for part in re.findall(r"\d+", text))
    return x * y * z


def table_rows(program, elements, count):
    step = Path(program).parent.name
    for index, row in enumerate(profile(program, elements, count), 1):
        values = {name: value(name, row[metric]) for name, metric in METRICS.items()}
        values["time_us"] /= 1000  # ncu's base unit is the nanosecond
        kernel = re.split(r"[<(]", row["Kernel Name"])[0].split()[-1].split("::")[-1]
        yield [step, elements, index, kernel, blocks(row["Grid Size"]), blocks(row["Block Size"])] + [
            f"{count:.3f}".rstrip("0").rstrip(".") for count in values.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--launches", type=int, help="the first so many, of programs that are no reductions")
    parser.add_argument("--output", type=Path, default=Path("results/profile.csv"))
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    if options.elements < 1:
        parser.error("--elements: give a whole number, 1 or more")
    if not shutil.which("ncu"):
        fail("ncu was not found; Nsight Compute comes with the CUDA toolkit")

    with files.whole(options.output) as file, files.whole(options.output.with_suffix(".txt")) as about:
        about.write(files.about())
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for program in options.programs:
            print(program, flush=True)
            writer.writerows(table_rows(program, options.elements, options.launches))


if __name__ == "__main__":
    main()
