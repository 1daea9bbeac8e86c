"""Compiles every kernel of the repository with nvcc and with the compiler of this repository, runs both on the simulator, and writes a table:
make compare-nvcc.

python3 -m scripts.evidence.compare_nvcc --nvcc NVCC --options '...' --libraries '...' [--compiler COMMAND] [--only PATTERN] [--output TABLE.csv]

Each launch of a program is run with nvcc's PTX and with the other one, on the same memory: the bytes of all device memory after it, the counters that a
profiler has, and the findings of the checker are compared; the bytes also with other values in the arrays that the host writes. Progress is printed to
stderr. Recordings and results are kept in build/compare-nvcc, so that a run that was stopped goes on, and a second one runs only what has changed."""

import argparse
import csv
import fnmatch
import io
import math
import os
import shlex
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drywarp import files
from scripts.evidence.compare_nvcc import causes, compare, programs
from drywarp.learn import judge

TABLE = programs.ROOT / "evidence/compiler/compare.csv"
SUMMARY = programs.ROOT / "evidence/compiler/compare.md"
KINDS = ("steps", "scan", "labs", "mistakes", "labelled", "exercises")
TARGETS = {"compiles": 0.95, "same_bytes": 1.0, "same_counters": 0.99, "within": 0.95, "mean": 0.02}


def jobs(options):
    """Functions, each of which makes programs; in the order of the table."""
    compiler = programs.Compiler(options.nvcc, options.options, options.libraries)
    made = [(f"{kind}/{programs.name_of(kind, source)}", lambda kind=kind, source=source, calls=calls: [programs.whole_program(compiler, kind, source, calls)])
            for kind in KINDS[:-1] for source, calls in programs.sources_of(kind)]
    tools = judge.Tools(options.nvcc)
    made += [(f"exercises/{task.name}", lambda task=task: programs.exercise_programs(task, compiler, tools)) for task in programs.exercise_tasks()]
    return [job for job in made if not options.only or any(fnmatch.fnmatch(job[0], pattern) for pattern in options.only)]


def rows_of(job, command, replays):
    """The rows of a job, and lines about programs that are not compared."""
    name, make = job
    rows, left_out = [], []
    try:
        made = make()
    except (AssertionError, OSError, SyntaxError) as error:  # such as an exercise whose mistakes do not fit its answer
        return name, [], [(name, f"{type(error).__name__}: {error}")]
    for program in made:
        found = compare.compared(program, command, replays) if not program.obstacle else []
        rows += found
        if not found:
            left_out.append((f"{program.kind}/{program.name}", program.obstacle or "it has no kernels of its own"))
    return name, rows, left_out


# ---- The summary

def share(rows, column):
    """How many rows have yes in a column, of those that have anything there."""
    answered = [row for row in rows if getattr(row, column)]
    return sum(getattr(row, column) == "yes" for row in answered), len(answered)


def mean_ratio(rows):
    ratios = [float(row.ratio) for row in rows if row.ratio]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1.0


def within(rows):
    counted = [row for row in rows if row.ratio]
    return sum(map(compare.is_near, counted)), len(counted)


def summary_line(name, rows):
    cells = [share(rows, "compiles"), share(rows, "same_bytes"), share(rows, "same_counters"), share(rows, "same_findings"), within(rows)]
    return f"| {name} | {len(rows)} | " + " | ".join(f"{good} of {count}" if count else "" for good, count in cells) + f" | {mean_ratio(rows):.3f} |"


def difference_of(row):
    """How a kernel differs from nvcc's, in words; or ""."""
    found = [f"does not compile: {row.note}"] if row.compiles == "no" else []
    found += ["different bytes"] if row.same_bytes == "no" else []
    found += [f"different counters ({row.differences})"] if row.same_counters == "no" else []
    found += [f"different findings ({row.note.removeprefix('findings ')})"] if row.same_findings == "no" else []
    found += [f"{row.ratio} times the instructions"] if row.ratio and not compare.is_near(row) else []
    return "; ".join(found)


def differences(rows):
    """A line for each kernel that differs; kernels that differ in the same way from the same cause share one."""
    lines = {}
    for row in rows:
        if found := difference_of(row):
            cause = causes.cause_of(row)
            lines.setdefault((found, cause), []).append(f"{row.kind}/{row.program} `{row.kernel}`")
    return [f"- {', '.join(names)}: {found}." + (f" Cause: {cause}." if cause else "") for (found, cause), names in lines.items()]


def dependent(rows, column):
    """How often each was different, but depends on the order or the build."""
    counts = {what: sum(what in getattr(row, column).split() for row in rows) for what in ("bytes", "counters", "findings", "instructions")}
    return ", ".join(f"the {what} of {count} kernels" for what, count in counts.items() if count) or "nothing"


def summary(rows, left_out):
    """A page with the numbers."""
    out = io.StringIO()
    print("# The kernel compiler, compared with nvcc", file=out)
    print("\n`make compare-nvcc` compiles every kernel of the repository with `nvcc -O3` and with `simulator/compiler`, runs both on the simulator, and", file=out)
    print("writes this page and [compare.csv](compare.csv), which has a row for each kernel of each program.\n", file=out)
    print("| programs | kernels | compile | same bytes | same counters | same findings | instructions within 10 % | geometric mean |", file=out)
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", file=out)
    for kind in KINDS:
        if chosen := [row for row in rows if row.kind == kind]:
            print(summary_line(kind, chosen), file=out)
    print(summary_line("**all**", rows), file=out)
    print("\nBytes: all device memory after each launch, also with different input. Counters: those that Nsight Compute has, too"
          " ([counters.md](../../simulator/counters.md)).\nFindings: kinds and lines. Instructions: PTX instructions that warps executed,"
          " as a ratio to nvcc's.\nBytes, counters and findings count as equal if those of nvcc's own PTX change with the order of blocks, warps and lanes,"
          " as with a race or a polling loop, and the\ninstructions are then compared with the nearest count:"
          f" {dependent(rows, 'depends_on_order')} (column `depends_on_order`).\nBytes and findings also count as equal if those of nvcc's own PTX of another"
          f" optimisation level differ, as with a race or an uninitialised value:\n{dependent(rows, 'depends_on_build')} (column `depends_on_build`).\n", file=out)
    if lines := differences(rows):
        print("The differences, by the columns of the table. x/y: x with nvcc, y with simulator/compiler."
              " A cause is what both PTX texts suggest; not all were examined.\n", file=out)
        print("\n".join(lines) + "\n", file=out)
    if left_out:
        print("Not compared:\n", file=out)
        for name, why in left_out:
            print(f"- {name}: {why}", file=out)
    return out.getvalue()


def write(rows, left_out, options):
    with files.whole(options.output) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(compare.COLUMNS)
        table.writerows([getattr(row, name) for name in compare.COLUMNS] for row in rows)
    page = summary(rows, left_out)
    with files.whole(options.output.with_suffix(".md")) as file:
        file.write(page)
    print("\n".join(line for line in page.splitlines() if line.startswith("|")))


def main():
    parser = argparse.ArgumentParser(prog="compare_nvcc", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", default=shutil.which("nvcc"))
    parser.add_argument("--options", default="")
    parser.add_argument("--libraries", default="")
    parser.add_argument("--compiler", default=str(programs.ROOT / "build/sim/compile"))
    parser.add_argument("--library", type=Path, default=programs.ROOT / "build/sim/libcuda.so.1")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--output", type=Path, default=TABLE)
    options = parser.parse_args()
    if options.only and options.output == TABLE:
        options.output = programs.BUILT / "only.csv"
    command, replays = compare.Command(tuple(shlex.split(options.compiler))), compare.Replays(options.library)
    rows, left_out, todo = [], [], jobs(options)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (name, found, skipped) in enumerate(pool.map(lambda job: rows_of(job, command, replays), todo), 1):
            rows += found
            left_out += skipped
            bad = sum("no" in (row.compiles, row.same_bytes, row.same_findings) for row in found)
            print(f"{number}/{len(todo)} {name}: {len(found)} kernels" + (f", {bad} not the same" if bad else ""), file=sys.stderr, flush=True)
    write(rows, left_out, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
