"""Builds, runs and compares a step with and without a Try, on a GPU or on the simulator."""

import csv
import math
import statistics
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

from drywarp import files
from drywarp import execute
from scripts.ladder import labs, tries

ROOT = tries.ROOT
NOT_COUNTED = ("step", "kernel", "launch", "grid", "block", "active_lanes_mean", "status")
# One program's runs. outcome: execute's. figures: {"ms": median} where all were right, or {}; on the simulator each counter's sum.
Side = namedtuple("Side", "outcome figures")


# ---- Run

def size_for(step, number, options):
    """The number of elements, '' for the program's default. A Try's size for a GPU may be too large for the simulator."""
    own, usual = tries.tries(step)[number - 1][1], options.usual
    if tries.is_of_a_lab(step):
        usual = labs.small_size(step.split("/")[1]) if options.simulated else ""
    if options.elements or not options.simulated:
        return options.elements or own or usual
    return min(own or usual, usual, key=int)


def built(step, number, options):
    """The commands that run the step without and with the change."""
    source = tries.source_of(step)
    program = labs.program(source, options.simulated) if tries.is_of_a_lab(step) else \
        Path("build/sim" if options.simulated else "") / source.relative_to(ROOT).with_suffix("")
    if subprocess.run([*options.build.split(), str(program)], cwd=ROOT).returncode != 0:
        sys.exit("make try: the step does not compile without the change")
    copy = tries.build(options.compiler, tries.changed(step, number), f"build/try/{step}-{number}", source.suffix, options.libraries)
    start = labs.command(source, options.simulated)[:-1] if tries.is_of_a_lab(step) else []
    return [*start, ROOT / program], [*start, ROOT / copy]


def sums(launches):
    """The counters, summed over all launches of a reduction, scan or lab."""
    return {name: sum(int(launch[name]) for launch in launches) for name in launches[0] if name not in NOT_COUNTED} if launches else {}


def counted(path, step):
    """The simulator's counters of a program's first run."""
    if tries.is_of_a_lab(step):
        header, rows = labs.counted_rows(path, tries.source_of(step))
        return sums([dict(zip(header, row)) for row in rows])
    with open(path, newline="", encoding="utf-8") as file:
        return sums(files.first_run(csv.DictReader(file), lambda launch: launch["kernel"]))


def run_once(words, step, size, columns, options, simulated):
    """A Side of one run; columns: of tries.columns()."""
    with tempfile.TemporaryDirectory() as folder:
        counters = Path(folder) / "counters"
        outcome = execute.run([*words, "--csv", *([size] if size else [])], options.time_limit, labs.MPI_ENVIRONMENT | {"SIM_COUNTERS": str(counters)})
        if outcome.status in ("SKIP", "REFUSED"):
            sys.exit(f"make try: {words[-1]} does not run here: {outcome.why}")
        if simulated:
            return Side(outcome, counted(counters, step) if counters.exists() else {})
    milliseconds = tries.milliseconds_of(outcome.printed, columns) if outcome.status == "PASS" else math.nan
    return Side(outcome, {} if math.isnan(milliseconds) else {"ms": milliseconds})


def measured(pair, step, size, columns, options, simulated):
    """The Sides before and after, timed alternately, so that clock drift affects both."""
    rounds = 1 if simulated or tries.is_of_a_lab(step) and tries.source_of(step).suffix == ".cu" else tries.ROUNDS
    sides = list(zip(*([run_once(words, step, size, columns, options, simulated) for words in pair] for _ in range(rounds))))
    return [median(runs) for runs in sides]


def median(runs):
    """One Side from several runs: the first one that was not right, if there is one."""
    wrong = [run for run in runs if run.outcome.status != "PASS"]
    if wrong or len(runs) == 1:
        return (wrong or runs)[0]
    return Side(runs[0].outcome, {name: statistics.median(run.figures[name] for run in runs) for name in runs[0].figures})


# ---- Output

def outcome_of(before, after):
    """The result, in the words of a prediction; only times give faster or slower, from a difference of 1 % on."""
    if after.outcome.status != "PASS":
        return "wrong"
    if "ms" not in before.figures or "ms" not in after.figures:
        return "right"
    return compared(before.figures["ms"], after.figures["ms"])


def compared(before_ms, after_ms):
    """faster, slower or same: differences below 1 % count as none."""
    ratio = before_ms / after_ms
    return "same" if f"{ratio:.2f}" == "1.00" else "faster" if ratio > 1 else "slower"


def shown(name, side):
    """A figure in the table."""
    if name not in side.figures:
        return "-"
    return f"{side.figures[name]:,.6g}" if name == "ms" else f"{side.figures[name]:,}"


def table(before, after):
    """Lines that compare both sides: times, or the counts that differ; the check's verdicts; complete findings."""
    names = [name for name in before.figures | after.figures if name == "ms" or before.figures.get(name) != after.figures.get(name)]
    rows = [("", "before", "after"), *((name.replace("_", " "), shown(name, before), shown(name, after)) for name in names)]
    if before.figures and not names:
        rows.append(("all counts", "equal", "equal"))
    rows.append(("check", before.outcome.status, after.outcome.status))
    lines = [f"{name:<24}{left:>16}{right:>16}" for name, left, right in rows]
    for title, side in (("before", before), ("after", after)):
        if side.outcome.status != "PASS":
            lines += [f"{title}: {side.outcome.why}", *side.outcome.found]
    return lines
