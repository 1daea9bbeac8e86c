#!/usr/bin/env python3
"""What Nsight Compute counts, as CSVs.

profile.py steps [--elements N] [--launches K] --output FILE PROGRAM...   every pass of the first reduction of each program, all counters
profile.py labs FOLDER LAB...                                            FOLDER/LAB-profile.csv: each kernel of a lab, in each shape of its launch
                                                                         once, at the size that the simulator runs, beside what the simulator counts
profile.py bytes [--elements N] --output FILE PROGRAM...                 what all kernels of the first scan of each program read from memory and
                                                                         write, for each element"""

import argparse
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
# What the simulator counts, too.
COUNTED = ["shared_loads", "shared_stores", "bank_conflicts", "global_load_requests", "global_load_sectors", "global_store_requests",
           "global_store_sectors"]
BYTES_COLUMNS = ["step", "elements", "read_bytes_per_element", "written_bytes_per_element"]
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"


def fail(message):
    sys.exit(f"profile.py: {message}")


# ---- Nsight Compute

def counted_by_ncu(words, metrics, *options):
    """The rows of ncu's raw page for a program, one for each kernel that it looked at, in order."""
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", *options, "--metrics", ",".join(metrics), *words]
    run = subprocess.run(command, capture_output=True, text=True, cwd=labs.ROOT)
    if "ERR_NVGPUCTRPERM" in run.stdout + run.stderr:
        fail("this user may not read the GPU's counters; an administrator can allow it by loading "
             "the driver with NVreg_RestrictProfilingToAdminUsers=0, or by running this as root")
    lines = [line for line in run.stdout.splitlines() if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row["ID"]]  # without the row of the units
    if not rows:
        fail(f"ncu gave no counters for {words[0]}: {(run.stdout + run.stderr).strip()[-300:]}")
    return rows


def kernel_name(row):
    """A kernel's own name, without its template's arguments and its parameters."""
    return re.split(r"[<(]", row["Kernel Name"])[0].split()[-1].split("::")[-1]


def number(text):
    return float(text.split(" (")[0].replace(",", ""))


def product(text):
    """How many blocks, or threads, "(1056, 1, 1)" are."""
    x, y, z = (int(part) for part in re.findall(r"\d+", text))
    return x * y * z


# ---- Steps

def launches(program, elements):
    """How many launches one whole reduction takes, from the program's own report."""
    run = subprocess.run([program, "--csv", str(elements)], capture_output=True, text=True)
    if run.returncode != 0:
        fail(f"{program} {elements}: exit status {run.returncode}: {run.stderr.strip()}")
    return int(files.last_row(run.stdout)[3])


def passes(program, elements, count):
    """What ncu says of the first whole reduction, one row a kernel, or of `count` launches."""
    most = count or launches(program, elements) + 2  # CUB starts two kernels for its one call; and the harness's own
    rows = counted_by_ncu([program, str(elements)], METRICS.values(), "--kill", "yes", "--print-metric-instances", "details",
                          "--launch-count", str(most))
    return rows if count else files.first_run(rows, lambda row: row["Kernel Name"])


def value(name, text):
    """A counter's value; of the counts per opcode, "9 (BAR: 2; LDS: 7)", that of the barriers."""
    if name == "barriers":
        barriers = re.search(r"\bBAR: ([\d,]+)", text)
        return number(barriers[1]) if barriers else 0.0
    return number(text)


def pass_rows(program, elements, count):
    for index, row in enumerate(passes(program, elements, count), 1):
        values = {name: value(name, row[metric]) for name, metric in METRICS.items()}
        values["time_us"] /= 1000  # ncu's base unit is the nanosecond
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
    return re.findall(r"__global__ void (?:__launch_bounds__\(.*?\) )?(\w+)\(", source.read_text(encoding="utf-8").partition(labs.MARK)[0])


def lab_on_gpu(source, size):
    """kernel, grid, block and counts of the launches: those that are not alike in all of these."""
    rows = counted_by_ncu([labs.program(source, False), size], [METRICS[name] for name in COUNTED], "--kernel-name",
                          f"regex:^({'|'.join(kernels(source))})$", "--filter-mode", "per-launch-config", "--launch-count", "1")
    return list(dict.fromkeys((kernel_name(row), product(row["Grid Size"]), product(row["Block Size"]),
                               *(int(number(row[METRICS[count]])) for count in COUNTED)) for row in rows))


def lab_on_simulator(source, size):
    """The same of the simulator."""
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
                for who, rows in (("ncu", lab_on_gpu(source, size)), ("simulator", lab_on_simulator(source, size))):
                    writer.writerows([source.parent.name, who, size, *row] for row in rows)


# ---- Bytes of a scan

def bytes_row(program, elements):
    """Of an array much larger than the L2 cache, what still lies there at the end of a kernel is little."""
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    steps, of_labs, of_bytes = (commands.add_parser(name) for name in ("steps", "labs", "bytes"))
    for command, elements, does in ((steps, 1 << 24, profile_steps), (of_bytes, 1 << 28, profile_bytes)):
        command.add_argument("--elements", type=int, default=elements)
        command.add_argument("--output", type=Path, required=True)
        command.add_argument("programs", nargs="+")
        command.set_defaults(does=does)
    steps.add_argument("--launches", type=int, help="the first so many, of programs that are no reductions")
    of_labs.add_argument("folder", type=Path)
    of_labs.add_argument("labs", nargs="+", choices=labs.labs())
    of_labs.set_defaults(does=profile_labs, elements=1)
    options = parser.parse_args()
    if options.elements < 1:
        parser.error("--elements: give a whole number, 1 or more")
    if not shutil.which("ncu"):
        fail("ncu was not found; Nsight Compute comes with the CUDA toolkit")
    options.does(options)


if __name__ == "__main__":
    main()
