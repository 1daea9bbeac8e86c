#!/usr/bin/env python3
"""Runs every program over many sizes, in rounds, into one CSV: time over n, with cold and warm caches.

A size is written when all its rounds are done; one that the CSV already holds is not run again."""

import argparse
import csv
import hashlib
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

from drywarp import execute, files, findings
from drywarp.errors import Parser, fail

COLUMNS = ["step", "cache", "device", "elements", "launches", "median_ms", "min_ms", "q1_ms", "q3_ms", "gb_per_s", "peak_gb_per_s", "status"]
ROOT = Path(__file__).resolve().parents[2]
FINE = ("PASS", "SKIP", "REFUSED")
STATUS = {1: "FAIL", 2: "REFUSED", 77: "SKIP", findings.STATUS: "FINDING"}
# Powers of four, and odd sizes between them.
SIZES = sorted([4**k for k in range(5, 16)] + [2**11 + 1, 2**15 - 1, 2**19 + 1, 2**23 - 1, 2**27 + 1])
MAX_BASELINE = 2**20  # one thread: seconds a run beyond that
TIME_LIMIT_S = 300
REPORTED = set()  # the findings that were shown
BYTES = {"scan": 8}  # read and written for each element; others read 4


def run(program, elements, options=(), environment=None):
    """The program's own CSV row as a list, or how it failed. A finding is shown only once, not for each size."""
    try:
        result = subprocess.run([program, "--csv", *options, str(elements)], capture_output=True, text=True,
                                timeout=TIME_LIMIT_S, env=(environment or os.environ) | findings.environment())
    except subprocess.TimeoutExpired:
        return "HANG"
    found = findings.fresh(findings.apart(result.stderr)[0], REPORTED)
    print(*[""] * bool(found), *found, sep="\n", end="\n" * bool(found))
    if result.returncode != 0:
        return STATUS.get(result.returncode, "CRASH")
    row = files.last_row(result.stdout)
    return row if len(row) == 11 and row[3].isdigit() else "GARBAGE"


def rounds(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of rounds, 1 or more")
    return int(text)


def name(program):
    return Path(program).parent.name


def is_run(step, elements):
    """Whether a step runs at this number of elements."""
    return elements <= MAX_BASELINE or not step.startswith("step00_")


def timed(programs, elements, turns):
    """The rows of one size. The programs alternate, so that clock drift affects all alike."""
    cases = [(program, cache) for program in programs for cache in ("cold", "warm")]
    runs = {case: [] for case in cases}
    for _ in range(turns):
        for program, cache in cases:
            if not any(isinstance(result, str) for result in runs[program, cache]):
                runs[program, cache].append(run(program, elements, ["--warm"] if cache == "warm" else []))
    for program, cache in cases:
        results = runs[program, cache]
        if isinstance(results[-1], str):
            yield [name(program), cache, "", elements, "", "", "", "", "", "", "", results[-1]]
            continue
        device, launches, peak = results[0][1], results[0][3], results[0][9]
        median, q1, q3 = (statistics.median(float(row[column]) for row in results) for column in (4, 6, 7))
        least = min(float(row[5]) for row in results)
        yield [name(program), cache, device, elements, launches, f"{median:.6f}", f"{least:.6f}", f"{q1:.6f}", f"{q3:.6f}",
               f"{elements * BYTES.get(Path(program).name, 4) / median / 1e6:.3f}", peak, "PASS"]


def counted(programs, elements):
    """Rows of one size on the simulator: its counters, summed over the launches of one reduction or scan."""
    with tempfile.TemporaryDirectory() as directory:
        for program in programs:
            counters = Path(directory) / name(program)
            result = run(program, elements, environment=os.environ | {"SIM_COUNTERS": str(counters)})
            if isinstance(result, str):
                yield {"step": name(program), "elements": elements, "status": result}
                continue
            with open(counters, newline="") as file:
                launches = files.first_run(csv.DictReader(file), lambda row: row["kernel"])
            totals = {key: sum(int(row[key]) for row in launches) for key in launches[0]
                      if key not in ("step", "kernel", "launch", "grid", "block", "active_lanes_mean") and launches[0][key].isdigit()}
            yield {"step": name(program), "elements": elements, "launches": len(launches), **totals, "status": "PASS"}


def read(path):
    """The rows of an unfinished sweep."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    if rows and not {"step", "elements", "status"} <= rows[0].keys():
        fail(f"{path} is not of a sweep; --again (make sweep AGAIN=1) starts anew")
    return rows


def digest(programs):
    """A hash of the measured programs: an unfinished sweep continues only with the same ones."""
    sources = [ROOT / (program.replace("build/sim/", "") + ".cu") for program in programs]  # for nvcc builds no program twice the same
    sources = [source if source.exists() else Path(program) for source, program in zip(sources, programs)]
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def digest_of(path):
    """The text that write() left next to the CSV, or '' if there is none."""
    about = path.with_suffix(".txt")
    found = re.search(r"^programs: (\w+)$", about.read_text(encoding="utf-8"), re.M) if about.exists() else None
    return found[1] if found else ""


def write(path, rows, programs):
    """Writes the whole CSV, so that an interrupt loses only the current size."""
    columns = max((list(row) for row in rows), key=len)
    with files.whole(path) as file, files.whole(path.with_suffix(".txt")) as about:
        about.write(f"{files.about()}programs: {programs}\n")
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def summary(rows):
    """A summary for the terminal: the best program and CUB, in GB/s."""
    cold = {row["step"]: float(row["gb_per_s"]) for row in rows if row["status"] == "PASS" and row.get("cache") == "cold"}
    failed = [row["step"] for row in rows if row["status"] not in FINE]
    if failed:
        return f"failed: {', '.join(dict.fromkeys(failed))}"
    if not cold:
        return f"{sum(row['status'] == 'PASS' for row in rows)} of {len(rows)} passed"
    best = max((step for step in cold if not step.startswith("reference")), key=cold.get, default=None)
    shown = [step for step in (best, "reference_cub") if step in cold]
    return ", ".join(f"{step} {cold[step]:,.1f} GB/s" for step in shown)


def main():
    parser = Parser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/sweep.csv"))
    parser.add_argument("--rounds", type=rounds, default=3)
    parser.add_argument("--simulated", action="store_true", help="the programs run on the simulator: counters, up to 2^20")
    parser.add_argument("--again", action="store_true", help="measure sizes anew that the CSV holds")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    rows = [] if options.again else read(options.output)
    programs_now = digest(options.programs)
    if rows and digest_of(options.output) not in ("", programs_now):
        fail(f"{options.output} was measured with other programs than these; --again (make sweep AGAIN=1) starts anew")
    done = {(row["elements"], row["step"]) for row in rows}
    sizes = [n for n in SIZES if n <= 2**20 or not options.simulated]
    for number, elements in enumerate(sizes, 1):
        print(f"[{number}/{len(sizes)}] n = {elements}: ", end="", flush=True)
        programs = [p for p in options.programs if is_run(name(p), elements)]
        if all((str(elements), name(program)) in done for program in programs):
            print("there already")
            continue
        new = (list(counted(programs, elements)) if options.simulated else
               [dict(zip(COLUMNS, row)) for row in timed(programs, elements, options.rounds)])
        if all(row["status"] == "SKIP" for row in new):
            fail("no CUDA device was found that can run the programs")
        rows = [row for row in rows if row["elements"] != str(elements)] + new
        devices = {row["device"] for row in rows if row.get("device")}
        if len(devices) > 1:
            fail(f"{options.output} would hold rows of {' and '.join(sorted(devices))}; --again starts anew")
        write(options.output, rows, programs_now)
        print(summary(new), flush=True)
    return 1 if any(row["status"] not in FINE for row in rows) else 0


if __name__ == "__main__":
    execute.run_main(main, "sweep.py: interrupted; finished sizes are kept, and the next sweep continues after them")
