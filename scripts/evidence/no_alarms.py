#!/usr/bin/env python3
"""Runs programs without a mistake under the simulator's checker, which may find nothing in them: evidence/alarms/alarms.csv.

These are all steps of both ladders, the labs' CUDA programs, the programs of tests/programs, the right ones of tests/labelled/idioms.cu,
values.cu, bits.cu and guesses.cu, and tests/alarms/cub.cu and thrust.cu. Each is compiled with all of FLAGS, and runs at all sizes of its group, the
idioms in all of ORDERS. What is found and right, or no mistake, has a reason in evidence/alarms/explained.csv.

no_alarms.py DIRECTORY [PROGRAM...]    the programs built into DIRECTORY, which keeps them; of a program, rows as they were stay where it is not named

A program may be named with a star: 'scan/*'. The environment: NVCC is the compiler, JOBS how many run at once."""

import argparse
import csv
import fnmatch
import json
import os
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from drywarp import files
from scripts.ladder import labs
from scripts.evidence import labelled
from scripts.evidence.mutants.run import read, run

ROOT = Path(__file__).resolve().parents[2]
ALARMS = ROOT / "evidence/alarms/alarms.csv"
EXPLAINED = ROOT / "evidence/alarms/explained.csv"
LIBRARY = ROOT / "build/sim/libsimulator.a"
NVCC = os.environ.get("NVCC", "nvcc")
JOBS = int(os.environ.get("JOBS", os.cpu_count()))
ALWAYS = "-std=c++17 -w -gencode arch=compute_90,code=compute_90 -cudart none --no-compress".split()
# nvcc's own -O0 to -O3 are for the host's code: the PTX is the same. Its compiler of device code, cicc, makes other PTX with -O0 and with -O1, and
# the same with -O2 as with -O3, which is what it does if nothing is said. -G is what debuggers want: nothing optimised, all variables in memory.
FLAGS = ("-O3 -lineinfo", "-G", "-O0 -Xcicc -O0 -lineinfo", "-O1 -Xcicc -O1 -lineinfo")
LADDER_SIZES = ("1", "31", "32", "33", "255", "256", "257", "511", "512", "513", "1023", "1025", "65535", "65537", "100003")
# As if one SM were there, so that blocks go on through the array; and two, with all blocks at once.
LADDER_RUNS = [(size, {}) for size in LADDER_SIZES] + [("100003", {"SIM_SMS": "1"}), ("100003", {"SIM_SMS": "2", "SIM_TOGETHER": "1"})]
LIBRARY_RUNS = [(size, {}) for size in ("1", "33", "257", "1025", "10007", "65537", "100003")]
# How blocks come.
ORDERS = ({}, {"SIM_BLOCK_ORDER": "1"}, {"SIM_BLOCK_ORDER": "7"}, {"SIM_TOGETHER": "1"})
# Programs that call CUDA wrongly, to see its errors, or whose lanes do things in an order that CUDA does not promise.
LEFT_OUT = {"api_edge", "device_heap", "divergence", "driver_api", "graphs", "host_threads", "runtime_calls"}
TIME_LIMIT_S = 600
FINDINGS_STATUS = 88
COLUMNS = ["program", "group", "flags", "runs", "findings", "kinds", "places", "explained", "note"]


def lab_runs(source):
    lab = source.parent.parent.name
    return [(size, {}) for size in ("1", "33", labs.small_size(lab))]


def labelled_runs(program, orders):
    right = [row for row in labelled.labels() if row["program"] == program and not row["finds"]]
    return [(row["case"], labelled.settings_of(row) | order) for row in right for order in orders]


def programs():
    """By source: its group, and how it runs."""
    found = {}
    for source in [*sorted(ROOT.glob("step[0-9][0-9]_*/reduce.cu")), ROOT / "reference_cub/reduce.cu"]:
        found[source] = "steps", LADDER_RUNS
    for source in [*sorted(ROOT.glob("scan/step[0-9][0-9]_*/scan.cu")), ROOT / "scan/reference_cub/scan.cu"]:
        found[source] = "scan", LADDER_RUNS
    for source in [source for lab in labs.labs() for source in labs.sources(lab) if source.suffix == ".cu" and not labs.obstacle(source, True, NVCC)]:
        found[source] = "labs", lab_runs(source)
    found[ROOT / "labs/rowscale/softmax/softmax.cu"] = "labs", [(rows, {}) for rows in ("1", "33", "64")]
    for source in sorted(ROOT.glob("tests/programs/*.cu")):
        if source.stem not in LEFT_OUT:
            found[source] = "programs", [("", {})]
    found[ROOT / "tests/labelled/idioms.cu"] = "idioms", labelled_runs("idioms", ORDERS)
    for name in ("values", "bits", "guesses"):
        found[ROOT / f"tests/labelled/{name}.cu"] = name, labelled_runs(name, ORDERS[:1])
    for library, name in (("cub", "CUB"), ("thrust", "Thrust")):
        found[ROOT / f"tests/alarms/{library}.cu"] = name, LIBRARY_RUNS
    return found


def name_of(source):
    return str(source.relative_to(ROOT).with_suffix(""))


def compiled(source, flags, directory):
    """The program, compiled and linked where it is older than its source or the simulator; None where it cannot be, which is said."""
    folder = directory / flags.replace(" ", "")
    program = folder / name_of(source).replace("/", "-")
    made = program.with_suffix(".o")
    folder.mkdir(parents=True, exist_ok=True)
    commands = []
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        commands.append([NVCC, *flags.split(), *ALWAYS, "-c", "-o", made, source])
    if commands or not program.exists() or program.stat().st_mtime < max(made.stat().st_mtime, LIBRARY.stat().st_mtime):
        commands.append([NVCC, *ALWAYS, "-o", program, made, LIBRARY, "-lpthread", "-lm"])
    for command in commands:
        status, printed = run(command, {}, TIME_LIMIT_S)
        if status != 0:
            print(f"{name_of(source)} {flags} cannot be built: {printed.strip()[:2000]}", flush=True)
            return None
    return program


def place_of(finding):
    """The files, without folders, and lines of a finding; if none is known, its title."""
    places = [f"{Path(place['file']).name}:{place['line']}" for place in finding["places"] if place.get("file")]
    return " ".join(places) or finding["title"]


def report_of(path):
    """The kinds and lines of the findings in a file."""
    if not path.exists():
        return set()
    report = json.loads(path.read_text(encoding="utf-8"))
    path.unlink()
    return {(finding["kind"], place_of(finding)) for finding in report["findings"]}


def row_of(source, flags, directory, reasons):
    """The row of a program as compiled with some flags; None where it cannot be compiled."""
    group, runs = programs()[source]
    program = compiled(source, flags, directory)
    if program is None:
        return None
    found, notes = set(), []
    report = program.with_suffix(".json")
    for size, settings in runs:
        status, printed = run([program, *([size] if size else [])], settings | {"SIM_CHECK": "1", "SIM_STRICT": "1", "SIM_FINDINGS": str(report)}, TIME_LIMIT_S)
        more = report_of(report)
        found |= more
        if status != (FINDINGS_STATUS if more else 0):
            last = (printed.strip().splitlines() or [""])[-1].replace(f"{ROOT}/", "")
            notes.append(f"{size}: " + ("no end" if status is None else f"status {status}: {last[:120]}"))
    name = name_of(source)
    explained = {one for one in found if (name, *one) in reasons}
    return {"program": name, "group": group, "flags": flags, "runs": len(runs), "findings": len(found),
            "kinds": " ".join(sorted({kind for kind, _ in found})), "places": "; ".join(sorted({place for _, place in found})),
            "explained": len(explained), "note": "; ".join(notes)}


def write(rows):
    """The rows in the order of the programs, then of the flags."""
    order = {(name_of(source), flags): place for place, (source, flags) in enumerate((source, flags) for source in programs() for flags in FLAGS)}
    with files.whole(ALARMS) as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(set(rows) & set(order), key=order.get))


def is_alarm(row):
    """Whether a finding is not explained, or the program went wrong without one that is."""
    return int(row["findings"]) > int(row["explained"]) or (row["note"] != "" and row["explained"] == "0")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    chosen = [source for source in programs() if not options.programs or any(fnmatch.fnmatch(name_of(source), name) for name in options.programs)]
    if not chosen:
        sys.exit("no_alarms.py: no program is called that")
    reasons = {(row["program"], row["kind"], row["place"]) for row in read(EXPLAINED)}
    rows = {(row["program"], row["flags"]): row for row in read(ALARMS)}
    longest = [source for source in chosen if programs()[source][0] in ("idioms", "CUB", "Thrust")]  # they begin first
    jobs = dict.fromkeys((source, flags) for sources in (longest, chosen) for flags in FLAGS for source in sources)  # each once
    alarms = Counter()
    with ThreadPoolExecutor(JOBS) as pool:
        started = {pool.submit(row_of, source, flags, options.directory, reasons): (source, flags) for source, flags in jobs}
        for ended in as_completed(started):
            (_, flags), row = started[ended], ended.result()
            if row is None:
                alarms["not built"] += 1
                continue
            rows[row["program"], flags] = row
            write(rows)
            if is_alarm(row):
                alarms["flagged"] += 1
                print(f"{row['program']} {flags}: {row['kinds']} at {row['places']} {row['note']}", flush=True)
    print(f"{len(jobs)} programs: {alarms['flagged']} with findings, {alarms['not built']} not built")
    sys.exit(bool(alarms))


if __name__ == "__main__":
    main()
