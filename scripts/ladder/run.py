#!/usr/bin/env python3
"""Runs programs of a ladder on the same input.

run.py all [OPTION...] PROGRAM...          one after the other: a table as it goes, a CSV at the end; 0 if every program passed or cannot run on this device
run.py one [--OPTION...] PROGRAM ELEMENTS  one on the GPU, with these options of its own, and shows what it prints"""

import argparse
import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from drywarp import files
from drywarp import execute

HEADER = ["step", "device", "elements", "launches", "median_ms", "min_ms", "q1_ms", "q3_ms", "gb_per_s", "peak_gb_per_s", "status"]
NUMBER = r"(?:\d+(?:\.\d+)?|nan)"
NO_GPU = "is NVIDIA's driver installed? DEVICE=sim runs on the simulator"


def refuse(message):
    print(f"run.py: {message}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        refuse(f"{message}; run.py --help says more")


# ---- The table

class Times:
    """A row of the table and of the CSV for a program on a GPU."""

    header = HEADER

    def __init__(self, elements):
        self.first_ms = self.before_ms = None
        print(f"{f'{elements} elements':<29} {'ms':>12} {'GB/s':>9} {'peak':>7} {'vs before':>11} {'vs first':>11}")

    def show(self, is_first, row):
        ms, gb_per_s, peak = (float(row[HEADER.index(name)]) for name in ("median_ms", "gb_per_s", "peak_gb_per_s"))
        share = 100 * gb_per_s / peak if peak > 0 else 0
        if is_first:
            self.first_ms = ms
        gains = ((f"{old / ms:.2f}x" if old and ms > 0 else "-") for old in (self.before_ms if not is_first else None, self.first_ms if not is_first else None))
        print("{:12.4f} {:9.2f} {:6.1f}% {:>11} {:>11}".format(ms, gb_per_s, share, *gains))
        self.before_ms = ms
        return [row]

    def failed(self):
        self.before_ms = None


class Counts:
    """Rows of the CSV for a program on the simulator, without times: one for each launch of the first reduction or scan; the table shows their sums."""

    SUMS = {"shared ld+st": ("shared_loads", "shared_stores"), "conflicts": ("bank_conflicts",), "load requests": ("global_load_requests",),
            "sectors": ("global_load_sectors",), "barriers": ("block_barriers",)}

    def __init__(self, elements, counters):
        self.header, self.counters = ["step", "status"], counters  # until the first program has run
        titles = ["instructions", "active lanes", *self.SUMS]
        print(f"{f'{elements} elements, simulated':<29} " + " ".join(f"{title:>{max(10, len(title))}}" for title in titles))

    def show(self, _, row):
        with open(self.counters, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            launches = files.first_run(reader, lambda launch: launch["kernel"])
            self.header = [*reader.fieldnames, "status"]
        instructions = sum(int(launch.get("warp_instructions", 0)) for launch in launches)
        lanes = sum(int(launch.get("warp_instructions", 0)) * float(launch.get("active_lanes_mean", 0)) for launch in launches)
        sums = [sum(int(launch.get(name, 0)) for launch in launches for name in names) for names in self.SUMS.values()]
        print(f"{instructions:12} {lanes / instructions if instructions else 0:12.1f} " + " ".join(f"{value:{max(10, len(title))}}" for title, value in zip(self.SUMS, sums)))
        return [[*launch.values(), "PASS"] for launch in launches]

    def failed(self):
        pass


# ---- Programs

def parted(printed, step):
    """The kernels' output, and the program's own CSV row: the last line, or its end if the kernels' output ends without a newline."""
    *before, last = printed.splitlines() or [""]
    at = last.rfind(f"{step},")
    return [*before, last[:at]] if at > 0 else before, last[max(at, 0):]


def is_row(row, elements):
    return re.fullmatch(rf"[^,]+,[^,]+,{elements},\d+,{NUMBER},{NUMBER},{NUMBER},{NUMBER},{NUMBER},[0-9.]+,PASS", row) is not None


def run_all(options, work):
    """Runs the programs: the columns and rows of the CSV, the device, and each program's status."""
    counters = Path(work) / "counters"
    table = Counts(options.elements, counters) if options.simulated else Times(options.elements)
    own = [f"--{name}" for name in ("warm", "exclusive") if getattr(options, name)]
    rows, device, statuses = [], None, []
    for index, program in enumerate(options.programs, 1):
        step = Path(program).parent.name
        print(f"{f'[{index}/{len(options.programs)}] {step} …':<29} ", end="", flush=True)
        counters.unlink(missing_ok=True)
        outcome = execute.run([Path(program).absolute(), "--csv", *own, options.elements], options.time_limit,
                              {"SIM_COUNTERS": str(counters)} if options.simulated else {})
        before, row = parted(outcome.printed, step)
        status, why = outcome.status, outcome.why
        if status == "PASS" and not is_row(row, options.elements):
            status, why = "GARBAGE", f"no CSV row, but: {row[:60]}"
        if status == "PASS" and options.simulated and not counters.exists():
            status, why = "GARBAGE", "no counters: is it built for the simulator?"
        if status == "SKIP" and index == 1:  # the first step needs only a CUDA device, and without one no other step can run
            print()
            print(f"no CUDA device was found that can run the programs ({why.rsplit(': ', 1)[-1]}): {NO_GPU}", file=sys.stderr)
            sys.exit(1)
        if status == "PASS":
            device = row.split(",")[1]
            rows += table.show(index == 1, [step, *row.split(",")[1:]])
        else:
            print(f"{status:>12}  {why}")
            table.failed()
            rows.append((step, status))
        print(*outcome.found, sep="\n", end="\n" * bool(outcome.found))
        if status != "GARBAGE":
            shown = before if status == "PASS" else outcome.printed.splitlines()
            print(*shown, sep="\n", end="\n" * bool(shown), flush=True)
        statuses.append(status)
    return table.header, rows, device, statuses


def write(options, header, rows, device):
    """Writes the CSV, in which a failed step gets as many columns as the others, and a description of the run beside it."""
    with files.whole(options.output) as file, files.whole(options.output.with_suffix(".txt")) as about:
        about.write(f"{files.about()}elements: {options.elements}\n" + (f"device: {device}\n" if device else ""))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([row[0], *[""] * (len(header) - 2), row[1]] if isinstance(row, tuple) else row for row in rows)


def all_of_them(options):
    if not re.fullmatch("[1-9][0-9]{0,17}", options.elements):
        refuse(f"N='{options.elements}' is no number of elements, 1 or more, in digits, as in: make step03 N=4096")
    if not re.fullmatch("[1-9][0-9]{0,8}", options.time_limit):
        refuse(f"TIME_LIMIT='{options.time_limit}' is no number of seconds, 1 or more, in digits, as in: TIME_LIMIT=60")
    options.time_limit = int(options.time_limit)
    try:
        with tempfile.TemporaryDirectory() as work:
            header, rows, device, statuses = run_all(options, work)
        write(options, header, rows, device)
    except KeyboardInterrupt:
        print(f"\nrun.py: interrupted; {options.output} is as it was", file=sys.stderr)
        return 130
    passed, skipped = statuses.count("PASS"), statuses.count("SKIP")
    drawn = not (options.charts and passed) or subprocess.run(["bash", "-c", options.charts]).returncode == 0
    print(f"{passed} passed, {len(statuses) - passed - skipped} failed, {skipped} skipped")
    return 0 if drawn and passed + skipped == len(statuses) else 1


def one_of_them(arguments):
    if len([word for word in arguments if not word.startswith("--")]) != 2:
        refuse("usage: run.py one [--OPTION...] PROGRAM ELEMENTS")
    *own, program, elements = arguments
    status = subprocess.run([Path(program).absolute(), *own, elements]).returncode
    if status == 77:
        print(f"the GPU cannot be used: {NO_GPU}", file=sys.stderr)
    return status if status >= 0 else 128 - status


def main():
    if sys.argv[1:2] == ["one"]:
        return one_of_them(sys.argv[2:])
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command = parser.add_subparsers(dest="command", required=True).add_parser("all")
    command.add_argument("--elements", default="67108864")
    command.add_argument("--time-limit", default="300", help="a program that runs longer, in seconds, counts as hung")
    command.add_argument("--output", type=Path, default=Path("results/run-all.csv"))
    command.add_argument("--charts", help="a command that draws the charts, once the CSV is there")
    command.add_argument("--simulated", action="store_true", help="the programs run on the simulator: table and CSV hold its counters, for it has no times")
    command.add_argument("--warm", action="store_true", help="the cache stays warm between runs")
    command.add_argument("--exclusive", action="store_true", help="scans are exclusive")
    command.add_argument("programs", nargs="+", metavar="PROGRAM")
    return all_of_them(parser.parse_args())


if __name__ == "__main__":
    execute.run_main(main)
