#!/usr/bin/env python3
"""The labs: which programs can be built here, and how to run them: a table on the terminal, one CSV for each lab.

labs.py names NAME...      the labs of these names, or one line on stderr and status 2; all labs where none is named
labs.py programs NAME...   the programs that can be built here
labs.py size NAME...       the sizes at which labs are run without a GPU, and looked at by compute-sanitizer
labs.py run NAME...        runs them; those that cannot be built are skipped, with the reason"""

import argparse
import csv
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from drywarp import files
from drywarp import execute

ROOT = Path(__file__).resolve().parents[2]
MARK = "// ==== Harness"
# Without a GPU: sizes at which a lab takes seconds on the simulator or on two cores, and each loop has iterations.
SMALL_SIZES = {"accuracy": "300007", "coalescing": "512", "cpu": "4194304", "launch": "300007", "mpi": "1048576", "operators": "20011",
               "rows": "512", "rowscale": "64", "segmented": "30011", "sort": "20011", "thrust": "65536"}
# The counters in the table on the terminal; the CSV has all.
COUNTED = ("kernel", "grid", "block", "warp_instructions", "shared_loads", "bank_conflicts", "global_load_requests", "global_load_sectors",
           "global_store_sectors", "shuffles", "block_barriers")
USUAL_SIZE = "4096"
# Open MPI: start as root (in a container) and with more ranks than cores, which yield while they wait; count hyper-threads as cores;
# print no message when a program fails.
MIN_RANKS = 4
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "OMPI_MCA_hwloc_base_use_hwthreads_as_cpus": "1", "OMPI_MCA_orte_execute_quiet": "1",
                   "OMPI_MCA_mpi_yield_when_idle": str(int((os.cpu_count() or 1) < MIN_RANKS)),
                   "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def refuse(message):
    print(f"labs.py: {message}", file=sys.stderr)
    sys.exit(2)


def labs():
    return sorted(path.parent.name for path in ROOT.glob("labs/*/README.md"))


def small_size(lab):
    return SMALL_SIZES.get(lab, USUAL_SIZE)


def sources(lab):
    """The programs of a lab, in order."""
    return sorted([*(ROOT / "labs" / lab).glob(f"step[0-9][0-9]_*/{lab}.cu"), *(ROOT / "labs" / lab).glob(f"step[0-9][0-9]_*/{lab}.c")])


def build_line_of(text):
    """How the first comment says that the program is built and run."""
    return re.search(r"^// Build and run: (.*)$", text, re.M)[1]


def build_line(source):
    return build_line_of(source.read_text(encoding="utf-8"))


def is_started_by_mpi(source):
    return "&& mpirun " in build_line(source)


def runs_simulated(source, simulated):
    """Whether the program runs on the simulator; C programs need none."""
    return simulated and source.suffix == ".cu"


def program(source, simulated):
    """Where make puts the program, from the repository's root."""
    folder = "build/sim" if runs_simulated(source, simulated) else "build"
    return Path(folder) / source.relative_to(ROOT).with_suffix("")


@functools.cache
def nccl_is_there(nvcc):
    """Whether a program can be built with NCCL."""
    if not shutil.which(nvcc):
        return False
    with tempfile.TemporaryDirectory() as directory:
        command = [nvcc, "-x", "cu", "-o", f"{directory}/try", "-", "-lnccl"]
        built = subprocess.run(command, input="#include <nccl.h>\nint main() {}\n", text=True, capture_output=True)
    return built.returncode == 0


def obstacle(source, simulated, nvcc):
    """Why a program cannot be built here, or None."""
    line = build_line(source)
    if "-lnccl" in line and simulated:
        return "NCCL works on GPUs only, not on the simulator"
    mpi = re.search(r"\bmpi(cc|cxx)\b", line)
    if mpi and not (shutil.which(mpi[0]) and shutil.which("mpirun")):
        return f"{mpi[0]} or mpirun was not found: install Open MPI, as in: apt-get install openmpi-bin libopenmpi-dev"
    if "-lnccl" in line and not nccl_is_there(nvcc):
        return "NCCL was not found: NVIDIA's packages libnccl2 and libnccl-dev hold it"
    return None


def ranks(source):
    """The number of MPI processes: one for each GPU; for a C program one for each core, at least MIN_RANKS."""
    if source.suffix == ".cu":
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.count("GPU ") or 1
    return max(os.cpu_count() or 1, MIN_RANKS)


def command(source, simulated):
    """The command that runs a program."""
    start = ["mpirun", "-n", str(ranks(source))] if is_started_by_mpi(source) else []
    return [*start, str(ROOT / program(source, simulated))]


def program_rows(printed, step):
    """Header and rows of the CSV that a program printed; both empty if it printed none."""
    lines = [line for line in csv.reader(printed.splitlines()) if line and line[0] in ("step", step)]
    if len(lines) < 2 or lines[0][0] != "step" or lines[0][-1] != "status" or any(len(line) != len(lines[0]) for line in lines):
        return [], []
    return lines[0], lines[1:]


def counted_rows(path, source):
    """Header and rows of the simulator's counters: each different launch once, without the harness's own kernels."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    harness = source.read_text(encoding="utf-8").partition(MARK)[2]
    own = re.findall(r"__global__ void (\w+)\(", harness)
    launch = header.index("launch")
    different = {}
    for row in rows:
        if row[1] not in own:
            different.setdefault(tuple(row[:launch] + row[launch + 1:]), [source.parent.name, *row[1:], "PASS"])
    return [*header, "status"], list(different.values())


def print_rows(header, rows):
    """A table for the terminal, without constant columns, times on the simulator, and counters that are 0."""
    counted = "warp_instructions" in header
    shown = [column for column, name in enumerate(header)
             if (name in COUNTED if counted else name not in ("step", "device", "status")) and (name == "bank_conflicts" or {row[column] for row in rows} - {"0", "0.0", "nan"})]
    lines = [[cell[:24] for cell in (row[column].removeprefix("global_") for column in shown)] for row in [header, *rows]]
    widths = [max(map(len, cells)) for cells in zip(*lines)]
    for line in lines:
        print("    " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths)))


def run_step(source, options, directory, said):
    """Runs one program: its status, and header and rows for the CSV of its lab. said: the notes printed so far."""
    step = source.parent.name
    counters = Path(directory) / "counters"
    counters.unlink(missing_ok=True)
    lab = source.parent.parent.name
    size = options.size or (small_size(lab) if options.simulated else None)
    header = rows = found = []
    why = obstacle(source, options.simulated, options.nvcc)
    status = "SKIP"
    if not why:
        status, printed, why, found = execute.run([*command(source, options.simulated), "--csv", *([size] if size else [])], options.time_limit,
                                                  MPI_ENVIRONMENT | {"SIM_COUNTERS": str(counters)})
        if status == "PASS":
            header, rows = program_rows(printed, step)
            status, why = ("PASS", why) if rows else ("GARBAGE", f"no CSV, but: {printed[:60]!r}")
    if status == "PASS":
        print_rows(header, rows)
    # The simulator has no times: counters replace them.
    if rows and any(name.endswith("_ms") for name in header) and counters.exists():
        header, rows = counted_rows(counters, source)
        print_rows(header, rows)
    if status == "PASS":
        if why and why not in said:
            print(f"    {why}")
            said.add(why)
    else:
        print(f"    {status}  {why}")
        print(*found, sep="\n", end="\n" if found else "")
    return status, header, rows


def run_lab(lab, options, directory, said):
    """Runs a lab's programs, writes its CSV, and returns their statuses."""
    results = []
    for number, source in enumerate(sources(lab), 1):
        print(f"[{lab} {number}/{len(sources(lab))}] {source.parent.name}", flush=True)
        results.append((source.parent.name, *run_step(source, options, directory, said)))
    statuses = [status for _, status, _, _ in results]
    if "PASS" not in statuses:  # keep the earlier tables
        return statuses
    header = next(header for _, _, header, _ in results if header)
    counted = "warp_instructions" in header
    with files.whole(Path(options.output) / f"{lab}{'-counters' if counted else ''}.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for step, status, _, rows in results:
            writer.writerows(rows or [[step, *[""] * (len(header) - 2), status]])
    return statuses


def run(names, options):
    statuses, said = [], set()
    with tempfile.TemporaryDirectory() as directory:
        for lab in names:
            statuses += run_lab(lab, options, directory, said)
    passed, skipped = statuses.count("PASS"), statuses.count("SKIP")
    drawn = not options.charts or not passed or subprocess.run([*options.charts.split(), options.output, *names], cwd=ROOT).returncode == 0
    print(f"tables and charts are in {options.output}/")
    print(f"{passed} passed, {len(statuses) - passed - skipped} failed, {skipped} skipped")
    return 0 if passed + skipped == len(statuses) and drawn else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["names", "programs", "size", "run"])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a lab; all where none is named")
    parser.add_argument("--simulated", action="store_true", help="CUDA programs run on the simulator, at small sizes")
    parser.add_argument("--size", help="the size that every program gets; its own default where not given")
    parser.add_argument("--time-limit", default="300", help="seconds until a program counts as hung")
    parser.add_argument("--output", default="results/labs", help="the folder for the CSVs")
    parser.add_argument("--charts", help="a command that draws the charts of a folder and labs")
    parser.add_argument("--nvcc", default="nvcc")
    options = parser.parse_args()
    for name in options.names:
        if name not in labs():
            refuse(f"there is no lab '{name}'; there are {', '.join(labs())}, as in: make lab NAME=rowscale")
    for value, what in ((options.size, "N"), (options.time_limit, "TIME_LIMIT")):
        if value is not None and not re.fullmatch("[1-9][0-9]{0,17}", value):
            refuse(f"{what}='{value}' is no whole number of 1 or more, in digits")
    options.time_limit = int(options.time_limit)
    names = options.names or labs()
    if options.command == "names":
        print(*names)
    elif options.command == "size":
        print(*(small_size(name) for name in names))
    elif options.command == "programs":
        print(*(program(source, options.simulated) for lab in names for source in sources(lab)
                if not obstacle(source, options.simulated, options.nvcc)))
    else:
        execute.run_main(lambda: run(names, options), "labs.py: interrupted; the CSV of the lab that ran is as it was")


if __name__ == "__main__":
    main()
