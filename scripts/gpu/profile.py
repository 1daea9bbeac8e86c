#!/usr/bin/env python3
"""Writes Nsight Compute's counters as CSVs.

profile.py steps [--elements N] [--launches K] --output FILE PROGRAM...   all counters of every pass of the first reduction of each program
profile.py labs FOLDER LAB...                                            FOLDER/LAB-profile.csv: each kernel and launch configuration of a lab once, at the
                                                                         simulator's size, with Nsight Compute's and the simulator's counts
profile.py bytes [--elements N] --output FILE PROGRAM...                 bytes per element that the first scan of each program reads from and
                                                                         writes to memory"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from drywarp import files
from drywarp.errors import Parser, fail
from scripts.ladder import labs

# Column -> metric of Nsight Compute.
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
    "barriers": "sass__inst_executed_per_opcode",  # opcode BAR: once per warp and barrier
    "active_lanes": "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_throughput_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "issue_busy_percent": "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
    "shared_busy_percent": "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "divergent_branches": "smsp__sass_branch_targets_threads_divergent.sum",
    # Cycles per instruction that a warp waits for a load from memory, and at a barrier.
    "load_wait_cycles": "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "barrier_wait_cycles": "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
}
COLUMNS = ["step", "elements", "pass", "kernel", "blocks", "threads", *METRICS]
# Counters that the simulator has, too.
COUNTED = ["shared_loads", "shared_stores", "bank_conflicts", "global_load_requests", "global_load_sectors", "global_store_requests",
           "global_store_sectors"]
BYTES_COLUMNS = ["step", "elements", "read_bytes_per_element", "written_bytes_per_element"]
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"


# ---- Nsight Compute

def counted_by_ncu(words, metrics, *options):
    """The rows of ncu's raw page for a program, one for each profiled kernel, in launch order."""
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", *options, "--metrics", ",".join(metrics), *words]
    run = subprocess.run(command, capture_output=True, text=True, cwd=labs.ROOT)
    if "ERR_NVGPUCTRPERM" in run.stdout + run.stderr:
        fail("no permission to read the GPU's performance counters; run as root, or have an administrator load "
             "the driver with NVreg_RestrictProfilingToAdminUsers=0")
    lines = [line for line in run.stdout.splitlines() if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row["ID"]]  # skips the row of units
    if not rows:
        fail(f"ncu gave no counters for {words[0]}: {(run.stdout + run.stderr).strip()[-300:]}")
    return rows


def kernel_name(row):
    """A kernel's name without template arguments, parameters and namespaces."""
    return re.split(r"[<(]", row["Kernel Name"])[0].split()[-1].split("::")[-1]


def number(text):
    return float(text.split(" (")[0].replace(",", ""))


def product(text):
    """The number of blocks or threads in "(1056, 1, 1)"."""
    x, y, z = (int(part) for part in re.findall(r"\d+", text))
    return x * y * z


# ---- Steps

def launches(program, elements):
    """The number of launches of one reduction, as the program reports it."""
    run = subprocess.run([program, "--csv", str(elements)], capture_output=True, text=True)
    if run.returncode != 0:
        fail(f"{program} {elements}: exit status {run.returncode}: {run.stderr.strip()}")
    return int(files.last_row(run.stdout)[3])


def passes(program, elements, count):
    """ncu's rows for the first reduction, one per kernel, or for the first `count` launches."""
    most = count or launches(program, elements) + 2  # CUB launches two kernels in one call; the harness adds another
    rows = counted_by_ncu([program, str(elements)], METRICS.values(), "--kill", "yes", "--print-metric-instances", "details",
                          "--launch-count", str(most))
    return rows if count else files.first_run(rows, lambda row: row["Kernel Name"])


def value(name, text):
    """A counter's value; for "barriers", the BAR count in "9 (BAR: 2; LDS: 7)"."""
    if name == "barriers":
        barriers = re.search(r"\bBAR: ([\d,]+)", text)
        return number(barriers[1]) if barriers else 0.0
    return number(text)


def pass_rows(program, elements, count):
    for index, row in enumerate(passes(program, elements, count), 1):
        values = {name: value(name, row[metric]) for name, metric in METRICS.items()}
        values["time_us"] /= 1000  # ncu reports nanoseconds
        yield [Path(program).parent.name, elements, index, kernel_name(row), product(row["Grid Size"]), product(row["Block Size"])] + [
            f"{each:.3f}".rstrip("0").rstrip(".") for each in values.values()]


def profile_steps(options):
    with files.whole(options.output) as file, files.whole(options.output.with_suffix(".txt")) as about:
        about.write(files.about())
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for program in options.programs:
            print(program, flush=True)
            writer.writerows(pass_rows(program, options.elements, options.launches))


# ---- Labs

def kernels(source):
    """The names of the kernels of a lesson."""
    return re.findall(r"__global__ void (?:__launch_bounds__\(.*?\)\s+)?(\w+)\(", source.read_text(encoding="utf-8").partition(labs.MARK)[0])


def lab_on_gpu(source, size):
    """Distinct (kernel, grid, block, counts) of the launches."""
    rows = counted_by_ncu([labs.program(source, False), size], [METRICS[name] for name in COUNTED], "--kernel-name",
                          f"regex:^({'|'.join(kernels(source))})$", "--filter-mode", "per-launch-config", "--launch-count", "1")
    return list(dict.fromkeys((kernel_name(row), product(row["Grid Size"]), product(row["Block Size"]),
                               *(int(number(row[METRICS[count]])) for count in COUNTED)) for row in rows))


def lab_on_simulator(source, size):
    """The same from the simulator."""
    with tempfile.TemporaryDirectory() as directory:
        counters = Path(directory) / "counters"
        run = subprocess.run([labs.program(source, True), size], cwd=labs.ROOT, capture_output=True, text=True, env=os.environ | {"SIM_COUNTERS": str(counters)})
        if run.returncode != 0:
            fail(f"{source} on the simulator: {run.stderr.strip()}")
        header, rows = labs.counted_rows(counters, source)
    rows = [row for row in (dict(zip(header, row)) for row in rows) if row["kernel"] in kernels(source)]
    return list(dict.fromkeys((row["kernel"], int(row["grid"]), files.threads(row["block"]), *(int(row[count]) for count in COUNTED)) for row in rows))


def profile_labs(options):
    for lab in options.labs:
        size = labs.small_size(lab)
        with files.whole(options.folder / f"{lab}-profile.csv") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["step", "counted_by", "size", "kernel", "grid", "block", *COUNTED])
            for source in labs.sources(lab):
                for counted_by, rows in (("ncu", lab_on_gpu(source, size)), ("simulator", lab_on_simulator(source, size))):
                    writer.writerows([source.parent.name, counted_by, size, *row] for row in rows)


# ---- Bytes of a scan

def bytes_row(program, elements):
    """A row of bytes.csv. The array is much larger than the L2 cache, so data left in the cache hardly affects the counts."""
    rows = counted_by_ncu([program, str(elements)], [READ, WRITTEN], "--launch-count", "16")
    kernels_of_scan = files.first_run(rows, lambda row: row["Kernel Name"])
    totals = [sum(number(row[metric]) for row in kernels_of_scan) for metric in (READ, WRITTEN)]
    return [Path(program).parent.name, elements, *(f"{total / elements:.2f}" for total in totals)]


def profile_bytes(options):
    with files.whole(options.output) as file:
        writer = csv.writer(file)
        writer.writerow(BYTES_COLUMNS)
        for program in options.programs:
            row = bytes_row(program, options.elements)
            print(*row, flush=True)
            writer.writerow(row)


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    steps, of_labs, of_bytes = (commands.add_parser(name) for name in ("steps", "labs", "bytes"))
    for command, elements, does in ((steps, 1 << 24, profile_steps), (of_bytes, 1 << 28, profile_bytes)):
        command.add_argument("--elements", type=int, default=elements)
        command.add_argument("--output", type=Path, required=True)
        command.add_argument("programs", nargs="+")
        command.set_defaults(does=does)
    steps.add_argument("--launches", type=int, help="number of launches to profile, for programs that are not reductions")
    of_labs.add_argument("folder", type=Path)
    of_labs.add_argument("labs", nargs="+", choices=labs.labs())
    of_labs.set_defaults(does=profile_labs, elements=1)
    options = parser.parse_args()
    if options.elements < 1:
        parser.error("--elements: give a whole number from 1 on")
    if not shutil.which("ncu"):
        fail("ncu not found; Nsight Compute is part of the CUDA toolkit")
    options.does(options)


if __name__ == "__main__":
    main()
