#!/usr/bin/env python3
"""Fills the marked blocks of the pages with measured results and with the programs' output.

A marker is a line like <!-- numbers ms gb: make tables writes this -->. The function of that name in this file is called with the
page's step and the words after the name; its result replaces everything up to the line <!-- end -->. Results that the CSVs in
plots/h200 and scan/h200 lack appear as "not measured yet"; stderr lists the steps that a CSV lacks."""

import argparse
import csv
import functools
import inspect
import math
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from drywarp import files, findings
from scripts.evidence import courses as course_programs
from scripts.evidence import suite
from scripts.evidence.shown_messages import MESSAGES, MISTAKES, try_message, words_of_kinds
from scripts.ladder import tries
from scripts.ladder.pages import all_pages, lab_of

MEASURED = ROOT / "plots" / "h200"
SECOND = ROOT / "plots" / "h100"  # a second GPU: whether it agrees
SCANS = ROOT / "scan" / "h200"
MARKED = re.compile(r"^(<!-- (\w+)((?: [\w.,=×-]+)*): make tables writes this -->\n)(?:(?!<!--).*\n)*?(<!-- end -->)$", re.M)
NOT_MEASURED = "not measured yet"
OF_EVERY_STEP = ("run-all.csv", "2to30/run-all.csv", "profile.csv", "sweep.csv")  # but step 00 takes too long at 2^30
ROWS = {
    "ms": "ms, n = 2^26",
    "gb": "GB/s, n = 2^26",
    "gb_2to30": "GB/s, n = 2^30",
    "launches": "launches",
    "blocks": "blocks, first pass, n = 2^24",
    "time_us": "µs, first pass, n = 2^24",
    "warp_instructions": "warp instructions",
    "shared_loads": "shared loads",
    "shared_stores": "shared stores",
    "shared_wavefronts": "shared wavefronts",
    "bank_conflicts": "bank conflicts",
    "global_load_requests": "global load requests",
    "global_load_sectors": "global load sectors",
    "barriers": "barriers, counted per warp",
    "active_lanes": "active lanes per instruction (of 32)",
    "dram_throughput_percent": "DRAM throughput, % of peak",
    "issue_busy_percent": "issue slots busy, % of the time",
    "shared_busy_percent": "shared memory busy, % of the time",
    "occupancy_percent": "occupancy, %",
    "divergent_branches": "divergent branches",
    "load_wait_cycles": "Stall Long Scoreboard, cycles per issued instruction",
    "barrier_wait_cycles": "Stall Barrier, cycles per issued instruction",
}


class Unfillable(Exception):
    """A marker cannot be filled; the message is the reason."""


def read(name):
    """The rows of a CSV in plots/h200, or at an absolute path; [] if the file is missing."""
    path = MEASURED / name
    return rows_of(path, path.stat().st_mtime_ns) if path.exists() else []


@functools.cache
def rows_of(path, _changed):
    """The rows of a CSV that was changed at this time. Most tables read the same few; a caller must not change the rows."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def by_step(name):
    return {row["step"]: row for row in read(name) if row.get("status", "PASS") == "PASS" and row.get("pass", "1") == "1"}


def steps():
    """Every program of the ladder in order, CUB last."""
    return sorted(path.parent.name for path in ROOT.glob("step[0-9][0-9]_*/reduce.cu")) + ["reference_cub"]


def before(step):
    """The program before a step, or None; CUB is compared with the last step."""
    names = steps()
    return names[names.index(step) - 1] if step != names[0] else None


def known(step):
    """The step, if it exists."""
    if step not in steps():
        raise Unfillable(f"there is no program {step}")
    return step


def unmeasured(step):
    """The CSVs that lack a program but should contain it."""
    return [name for name in OF_EVERY_STEP if step not in by_step(name) and (step, name) != (steps()[0], "2to30/run-all.csv")]


def is_new(step):
    """Whether no CSV contains the program yet."""
    return step in steps() and not any(step in by_step(name) for name in OF_EVERY_STEP)


def pair(step):
    """The step before, if there is one, and the step."""
    return [name for name in (before(known(step)), step) if name]


def table(header, rows, words=1):
    """A Markdown table: the first `words` columns are text, the others numbers."""
    if not rows:
        return NOT_MEASURED
    lines = [header, [*["---"] * words, *["---:"] * (len(header) - words)], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def power(elements):
    """2^20 for 1048576; other numbers unchanged."""
    n = int(elements)
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n:,}"


def milliseconds(row):
    ms = float(row["median_ms"])
    return f"{ms:,.4g}" if ms < 1000 else f"{ms:,.0f}"


def bandwidth(row):
    value = float(row["gb_per_s"])
    return f"{value:.2f}" if value < 1 else f"{value:,.0f}"


def share(row):
    return f"{100 * float(row['gb_per_s']) / float(row['peak_gb_per_s']):.1f} %"


def times(old, new):
    """The speedup; "within the spread" if the interquartile ranges overlap."""
    ratio = float(old["median_ms"]) / float(new["median_ms"])
    if float(old["q1_ms"]) <= float(new["q3_ms"]) and float(new["q1_ms"]) <= float(old["q3_ms"]):
        return f"{ratio:.2f}× (within the spread)"
    return f"{ratio:.2f}×" if ratio < 100 else f"{ratio:,.0f}×"


def cell(row, show):
    return show(row) if row else NOT_MEASURED


# ---- One function for each kind of marker: its arguments are the page's step and the marker's words.

def lab_steps(lab):
    """The folders of a lab's steps, in order."""
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(f"labs/{lab}/step[0-9][0-9]_*"))


def is_scan(step):
    """Whether a page belongs to the prefix sum."""
    return bool(step) and step.split("/")[0] == "scan"


def source_of(step):
    """The program of a step of a ladder or of a lab."""
    if is_scan(step):
        return ROOT / "scan" / known_scan(step) / "scan.cu"
    if not lab_of(step):
        return ROOT / known(step) / "reduce.cu"
    found = [path for ending in ("cu", "c") for path in (ROOT / step).glob(f"{lab_of(step)}.{ending}")]
    if not found:
        raise Unfillable(f"{step} has no program {lab_of(step)}.cu")
    return found[0]


def idea(step):
    """The idea in a few words: the first sentence of the program's first comment."""
    found = re.match(r"// [^:\n]+: ([^.\n]+)\.", source_of(step).read_text(encoding="utf-8"))
    if not found:
        raise Unfillable(f"{source_of(step).relative_to(ROOT)} does not begin with a comment like '// Step 03: the idea in a few words.'")
    return found[1]


def cold(name, step):
    """A program's rows of a CSV with a cold cache, by the number of elements."""
    return {row["elements"]: row for row in read(name) if row["step"] == step and row.get("cache", "cold") == "cold" and row["status"] == "PASS"}


def gains_over_n(old, step, folder):
    """(gain, n, ms of the old step, ms of the step), cold, for each size at which a step is faster and the interquartile ranges do not overlap.
    If the sweep and a single-size file share an n, the single-size file counts, because the tables show its numbers."""
    pairs = {}
    for name in ("sweep.csv", "run-all.csv", "2to16.csv", "2to30.csv"):
        olds = cold(folder / name, old)
        pairs |= {n: (olds[n], row) for n, row in cold(folder / name, step).items() if n in olds}
    medians = {n: [float(row["median_ms"]) for row in pair] for n, pair in pairs.items() if float(pair[0]["q1_ms"]) > float(pair[1]["q3_ms"])}
    return [(before / after, n, before, after) for n, (before, after) in medians.items()]


def largest_gain(old, step, folder=MEASURED):
    """The largest gain of a step over an old one, and its size."""
    gains = gains_over_n(old, step, folder)
    if not gains:
        return "–"
    ratio, elements, *_ = max(gains)
    return f"{ratio:,.0f}× at {power(elements)}" if ratio >= 100 else f"{ratio:.2f}× at {power(elements)}"


def gain_line(largest, at_2to26):
    """The line below a lesson's numbers: the largest gain, and the gain at 2^26."""
    where = f"Largest gain: **{largest}**; at 2^26:" if "×" in largest and not largest.endswith("2^26") else "Gain at 2^26:"
    return f"\n\n{where} **{at_2to26}**."


def gain_elsewhere(old, step, folder=SECOND):
    """The gain at 2^26 on the second GPU, if it ran both programs."""
    rows = by_step(folder / "run-all.csv")
    return f" On an H100: **{times(rows[old], rows[step])}**." if old in rows and step in rows else ""


def ladder(_):
    """All programs, measured or not, and the largest gain over the previous step. (Bandwidths would answer the lessons' questions.)"""
    rows = by_step("run-all.csv")
    return table(["step", "idea", "largest gain"],
                 [[f"[{step}]({step}/README.md)", idea(step),
                   cell(rows.get(step), lambda _, step=step: largest_gain(before(step), step) if before(step) in rows else "–")] for step in steps()], words=2)


def gains(_):
    """All programs, measured or not: time, share of the peak and gains at 2^26, and GB/s at 2^30."""
    rows, large, lines = by_step("run-all.csv"), by_step("2to30/run-all.csv"), []
    first = rows.get(steps()[0])
    for step in steps():
        row, old = rows.get(step), rows.get(before(step))
        lines.append([step, cell(row, milliseconds), cell(row, share), times(old, row) if old and row else "–",
                      times(first, row) if first and row and row != first else "–", cell(large.get(step), bandwidth) if step != steps()[0] else "–"])
    return table(["n = 2^26", "ms", "of the peak", "gain", "total gain", "GB/s at 2^30"], lines)


def report(_, step):
    """A program's human-readable output line."""
    row = by_step("run-all.csv").get(known(step))
    if not row:
        return NOT_MEASURED
    ms = {name: float(row[f"{name}_ms"]) for name in ("median", "min", "q1", "q3")}
    return (f"```\n{step} on {row['device']}: n {row['elements']}, launches {row['launches']}, ms {ms['median']:.4f} (least {ms['min']:.4f}, "
            f"interquartile range {ms['q1']:.4f} to {ms['q3']:.4f}), GB/s {float(row['gb_per_s']):.2f} of {float(row['peak_gb_per_s']):.0f}, PASS\n```")


def code(step, *names):
    """Functions (all overloads), structs, types, constants and device variables of a step's lesson, each with the comment above it,
    and the lesson's line range."""
    lesson = source_of(step).read_text(encoding="utf-8").split("// ==== Harness")[0]
    found = []
    for name in names:
        functions = [function[0] for function in re.finditer(
            rf"^(?:(?://|template|const |__global__ void __launch_bounds__).*\n)*^[\w ].*\b{name}\(.*(?:\n .*){{0,2}}\n{{\n(?:.*\n)*?^}}\n|"
            rf"^(?:(?://|template).*\n)*^struct (?:alignas\(.*\) )?{name} {{(?: //.*)?\n(?:.*\n)*?^}};\n|"
            rf"^(?://.*\n)*^(?:static )?(?:const|typedef|__device__) [^({{\n]*\b{name}(?:\[\w+\])?(?:;| =).*\n|"
            rf"^enum {{[^}}]*\b{name}\b[^}}]*}};.*\n", lesson, re.M)]
        if not functions:
            raise Unfillable(f"{source_of(step).relative_to(ROOT)} has no function, struct, type, constant or variable {name}")
        found += functions
    source, first = source_of(step), re.search(r"^// The lesson: lines (\d+) to", lesson, re.M)
    return (f"```{'c' if source.suffix == '.c' else 'cuda'}\n" + "\n".join(found) + "```\n\n"
            f"The code of this step is lines {first[1] if first else 1} to {len(lesson.splitlines()) - 1} of [{source.name}]({source.name}); the rest is the harness.")


def counter(text):
    value = float(text)
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def numbers(step, *names):
    """Some numbers of a step and of the previous step, with the largest gain and the gain at 2^26."""
    runs, large, profile = by_step("run-all.csv"), by_step("2to30/run-all.csv"), by_step("profile.csv")
    shown = pair(step)
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        raise Unfillable(f"there is no row {unknown[0]}; there are {', '.join(ROWS)}")

    def value(row, name):
        if row == "gb_2to30":
            return cell(large.get(name), bandwidth) if name != steps()[0] else "–"
        if row in ("ms", "gb", "launches"):
            return cell(runs.get(name), {"ms": milliseconds, "gb": bandwidth, "launches": lambda found: found["launches"]}[row])
        return cell(profile.get(name), lambda found: counter(found[row]))

    lines = [[ROWS[row], *(value(row, name) for name in shown)] for row in names]
    gain = ""
    if len(shown) == 2 and all(name in runs for name in shown):
        gain = gain_line(largest_gain(*shown), times(runs[shown[0]], runs[step])) + gain_elsewhere(*shown)
    elif step in (second := by_step(SECOND / "run-all.csv")):  # the first step
        gain = f"\n\nOn an H100: **{milliseconds(second[step])} ms**."
    return table(["", *shown], lines) + gain


def parts(_):
    """Times of the steps as they are, without the tree, without the loads, and without both."""
    ms = {(row["step"], row["part"]): float(row["median_ms"]) for row in read("parts.csv")}
    names = ("whole", "loads alone", "adding alone", "neither")
    return table(["ms, n = 2^26", *names], [[name, *(cell(ms.get((name, part)), "{:.4f}".format) for part in names)] for name in dict.fromkeys(name for name, _ in ms)])


def starts(_):
    """The block launch rate, and the gap between two blocks in one block slot, for each block size."""
    return table(["threads a block", "block slots", "ns per block launch", "gap in a slot, µs"],
                 [[row["threads"], f"{int(row['slots']):,}", f"{float(row['ns_per_block']):.2f}", f"{float(row['turnover_us']):.2f}"] for row in read("starts.csv")])


def predicted(passes, start, gpu):
    """Microseconds of a step: the launch-rate limit and the block-slot limit of the first pass, and the predicted total.

    The larger limit determines the first pass. A further pass costs a launch and one block duration: all its blocks are resident at once."""
    first, *others = passes
    blocks, slots = int(first["blocks"]), int(first["slots"])
    launch_limit = blocks * float(start["ns_per_block"]) / 1e3
    slot_limit = max(1, blocks / slots) * (float(first["duration_us"]) + float(start["turnover_us"]))
    further = sum(float(gpu["next_launch_us"]) + float(row["duration_us"]) for row in others)
    return launch_limit, slot_limit, float(gpu["first_launch_us"]) + max(launch_limit, slot_limit) + further


def blockdurations(_):
    """The times of steps 01 to 07, predicted from the block launch rate and the block duration, and measured."""
    rows, gpu = read("block-duration.csv"), read("limits.csv")
    start = {row["slots"]: row for row in reversed(read("starts.csv"))}  # by block slots, which follow from the threads of a block
    lines = []
    for name in dict.fromkeys(row["step"] for row in rows) if start and gpu else ():
        passes = [row for row in rows if row["step"] == name]
        us, measured = predicted(passes, start[passes[0]["slots"]], gpu[0]), 1e3 * float(passes[0]["median_ms"])
        lines.append([name.replace(",", ", Try "), f"{int(passes[0]['blocks']):,}", f"{float(passes[0]['duration_us']):.2f}", *(f"{part:.1f}" for part in us),
                      f"{measured:.1f}", f"{100 * (us[-1] / measured - 1):+.1f} %"])
    return table(["n = 2^26", "blocks", "block duration, µs", "launch-rate limit, µs", "block-slot limit, µs", "predicted, µs", "measured, µs", "error"], lines)


def loaded(_):
    """The load latency while other blocks read, and the bytes that have to be in flight then."""
    lines = []
    for row in read("loaded.csv"):
        rate, ns = float(row["gb_per_s"]), float(row["load_ns"])
        lines.append([f"{rate:,.0f}", f"{ns:.0f}", f"{rate * ns / 1e6:.2f}", f"{rate * ns / 1e3 / int(row['sm_count']):.1f}"])
    return table(["other blocks read, GB/s", "load latency, ns", "product, MB", "product per SM, KB"], lines, words=0)


def busy(_):
    """The utilisation of each unit of the GPU in the first pass of every program."""
    columns = ("issue_busy_percent", "shared_busy_percent", "dram_throughput_percent", "load_wait_cycles", "barrier_wait_cycles")
    rows = by_step("profile.csv")
    return table(["step", *(ROWS[name] for name in columns)],
                 [[step, *(cell(rows.get(step), lambda row: f"{float(row[name]):.1f}") for name in columns)] for step in steps()])


def little(_):
    """The bytes that have to be in flight by Little's law, from the results of `make limits`."""
    if not read("limits.csv"):
        return NOT_MEASURED
    gpu = read("limits.csv")[0]
    load_ns, peak, sms = float(gpu["load_ns"]), float(gpu["peak_gb_per_s"]), int(gpu["sm_count"])
    in_flight = peak * load_ns  # 1 GB/s is a byte a nanosecond
    return table(["", ""], [["load latency, memory idle", f"{load_ns:.0f} ns"],
                            ["theoretical peak", f"{peak:,.0f} GB/s"],
                            ["product: bytes in flight", f"{in_flight / 1e6:.2f} MB"],
                            [f"per SM, of {sms}", f"{in_flight / sms / 1e3:.1f} KB"],
                            [f"per thread, of the {gpu['threads_per_sm']} that an SM can hold",
                             f"{in_flight / sms / int(gpu['threads_per_sm']):.1f} bytes"]])


def limits(_):
    """Launch overhead, load latency and event resolution, from `make limits`."""
    if not read("limits.csv"):
        return NOT_MEASURED
    gpu = read("limits.csv")[0]
    return table(["", ""], [["nothing, between two events", f"{float(gpu['events_us']):.2f} µs"],
                            ["an empty kernel, between two events", f"{float(gpu['first_launch_us']):.2f} µs"],
                            ["each further empty kernel", f"{float(gpu['next_launch_us']):.2f} µs"],
                            ["load latency, memory idle", f"{float(gpu['load_ns']):.0f} ns"],
                            ["resolution of the events' clock", f"{float(gpu['event_tick_ns']):.0f} ns"]])


def dependent(_):
    """How soon a kernel starts after the previous one, with and without programmatic dependent launch."""
    us = {(row["event_between"], row["attribute"]): f"{float(row['ready_ns']) / 1e3:.2f}" for row in read("dependent.csv")}
    return table(["between the kernels", "without the attribute, µs", "with the attribute, µs"],
                 [[words, us[between, "0"], us[between, "1"]] for between, words in (("0", "nothing"), ("1", "an event"))] if us else [])


LAUNCHES = {"kernel": "the next kernel of a stream", "dependent_kernel": "the next kernel, by programmatic dependent launch",
            "graph_kernel": "the next kernel of a CUDA graph", "graph_dependent_kernel": "the next kernel of a graph, by programmatic dependent launch",
            "grid_barrier": "`grid.sync()`, 128 blocks of 512 threads", "cluster_barrier": "`cluster.sync()`, 8 blocks of 512 threads"}


def launches(_):
    """The cost of one more empty kernel, and of one more barrier in a kernel, on both GPUs."""
    us = {gpu: {row["what"]: f"{float(row['us']):.2f}" for row in read(folder / "launches.csv")} for gpu, folder in (("H200", MEASURED), ("H100", SECOND))}
    us = {gpu: found for gpu, found in us.items() if found}
    return table(["one more", *(f"{gpu}, µs" for gpu in us)], [[words, *(found[what] for found in us.values())] for what, words in LAUNCHES.items()] if us else [])


def pdl(_):
    """Microseconds of CUB's scan without and with programmatic dependent launch, beside the CUB of CUDA 13.0."""
    names = ("against-cub", "no-pdl", "against-cub-cccl")
    found = {name: read(SCANS / f"{name}.csv") for name in names}
    if not all(found.values()):
        return NOT_MEASURED
    titles = [f"CUB {rows[0]['cub_version']}{', launches not dependent' if name == 'no-pdl' else ''}, µs" for name, rows in found.items()]
    us = {name: {int(row["elements"]): f"{float(row['cub_us']):.2f}" for row in rows} for name, rows in found.items()}
    return table(["n", *titles], [[power(2**exponent), *(us[name][2**exponent] for name in names)] for exponent in (10, 14, 18, 20, 22)])


def backtoback(_):
    """Microseconds of a scan that follows another one at once: of the last step and of CUB."""
    rows = [row for row in read(newest_cub(SCANS)) if row.get("cub_back_to_back_us") and int(row["elements"]) in (2**10, 2**14, 2**18, 2**20, 2**22)]
    return table(["n", f"{scans()[-2]}, µs", f"CUB {rows[0]['cub_version']}, µs", "CUB / step"] if rows else [],
                 [[power(row["elements"]), f"{float(row['scan_back_to_back_us']):.2f}", f"{float(row['cub_back_to_back_us']):.2f}",
                   f"{float(row['cub_back_to_back_us']) / float(row['scan_back_to_back_us']):.2f}"] for row in rows])


def sizes(_, *words):
    """Microseconds of some programs at small n, cold; at all small sizes, or at those given after the names."""
    us = {(row["step"], int(row["elements"])): 1e3 * float(row["median_ms"])
          for row in read("sweep.csv") if row["cache"] == "cold" and row["status"] == "PASS"}
    names, only = [known(word) for word in words if not word.isdecimal()], [int(word) for word in words if word.isdecimal()]
    small = only or sorted({n for _, n in us if n <= 2**22})
    return table(["n", *(f"{name}, µs" for name in names)],
                 [[power(n), *(f"{us[name, n]:.2f}" if (name, n) in us else NOT_MEASURED for name in names)] for n in small])


def lowerbounds(_):
    """Lower bounds for every kernel: the time to read its elements, and an empty launch between two events."""
    if not read("limits.csv"):
        return NOT_MEASURED
    gpu = read("limits.csv")[0]
    return table(["n", "bytes", "reading them at the peak, µs", "an empty kernel between two events, µs"],
                 [[power(n), f"{4 * n:,}", f"{4e-3 * n / float(gpu['peak_gb_per_s']):.3f}", f"{float(gpu['first_launch_us']):.2f}"] for n in (2**10, 2**14, 2**18, 2**20, 2**22, 2**26)])


def net(_):
    """CUB's time over the last step's at small n, as measured and without the two events."""
    path = newest_cub(MEASURED)
    rows = sorted((row for row in read(path) if row["cache"] == "cold" and int(row["elements"]) <= 2**20), key=lambda row: int(row["elements"]))
    if not rows or not read("limits.csv"):
        return NOT_MEASURED
    events, ours = float(read("limits.csv")[0]["events_us"]), [column for column in rows[0] if re.fullmatch(r"step\d\d_ms", column)][-1]
    lines = []
    for row in rows:
        us, cub_us = 1e3 * float(row[ours]), 1e3 * float(row["cub_ms"])
        lines.append([power(row["elements"]), f"{us:.2f}", f"{cub_us:.2f}", f"{cub_us / us:.2f}", f"{(cub_us - events) / (us - events):.2f}"])
    return table(["n", f"step {ours[4:6]}, µs", "CUB, µs", "CUB / step", "CUB / step without the two events"], lines) + cub_line(rows, "\n\n")


def restarts(_):
    """The spread between runs of one program at small n: the times before each of its Tries."""
    us = {}
    for row in read("tries.csv"):
        if row["before_ms"] and int(row["elements"]) <= 2**20:
            us.setdefault((row["step"], row["elements"]), []).append(1e3 * float(row["before_ms"]))
    if not us:
        return NOT_MEASURED
    (step, n), found = max(us.items(), key=lambda each: max(each[1]) / min(each[1]))
    return (f"Largest spread: {step} at {power(n)} took {max(found):.2f} µs before one of its Tries and {min(found):.2f} µs before another, "
            f"a difference of {100 * max(found) / min(found) - 100:.0f} per cent.")


def finish(_, *only):
    """When the blocks end in the programs of make finish, or in those that are named."""
    columns = ("first_us", "quarter_us", "half_us", "three_quarters_us", "last_us")
    return table(["", "blocks", "first", "a quarter", "half", "three quarters", "last, µs"],
                 [[f"{row['step']}, n = {power(row['elements'])}", row["blocks"], *(f"{float(row[name]):.1f}" for name in columns)]
                  for row in read("finish.csv") if not only or row["step"] in only])


def ratios(name):
    """(elements, cache, step) → CUB's time over the step's, of a CSV of against_cub."""
    return {(int(row["elements"]), row["cache"], column.removesuffix("_ms")): float(row["cub_ms"]) / float(row[column])
            for row in read(name) for column in row if column.startswith("step")}


def version_of(rows):
    """CUB's version in a CSV, as a tuple that can be compared."""
    return tuple(map(int, rows[0]["cub_version"].split("."))) if rows and rows[0].get("cub_version") else ()


def newest_cub(folder):
    """The CSV of make against-cub in a folder with the newest CUB."""
    return max(sorted(folder.glob("against-cub*.csv")), key=lambda path: version_of(read(path)), default=folder / "against-cub.csv")


def cub_line(rows, before=""):
    """A sentence that names CUB's version and the date; "" for older files, which lack both."""
    return f"{before}CUB {rows[0]['cub_version']}, measured on {rows[0]['date']}." if version_of(rows) else ""


def named_cub(rows):
    """CUB with its version and the date, for a cell."""
    return cub_line(rows).replace(", measured on", " on an H200,").removesuffix(".") or "CUB"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def mean_and_least(ratio):
    """A cell: the geometric mean of the ratios, and the least."""
    return f"{geometric_mean(ratio):.2f}× ({min(ratio):.3f}×)" if ratio else "–"


def cubs(_):
    """For each GPU and CUB: CUB's time over that of the last step, of the sum and of the prefix sum."""
    lines = []
    for gpu in sorted(path.name for path in MEASURED.parent.iterdir() if path.is_dir()):
        of_sum, of_scan = ({version_of(read(path)): read(path) for path in folder.glob("against-cub*.csv")} for folder in (MEASURED.parent / gpu, SCANS.parent / gpu))
        for version in sorted({*of_sum, *of_scan} - {()}):
            rows, scanned = of_sum.get(version, []), of_scan.get(version, [])
            last = max((column for row in rows for column in row if re.fullmatch(r"step\d\d_ms", column)), default="")
            cells = [mean_and_least([float(row["cub_ms"]) / float(row[last]) for row in rows if row["cache"] == cache]) for cache in ("cold", "warm")]
            cells.append(mean_and_least([float(row["cub_us"]) / float(row["scan_us"]) for row in scanned]))
            lines.append([gpu.upper(), ".".join(map(str, version)), (rows or scanned)[0]["date"], *cells])
    return table(["GPU", "CUB", "measured on", "sum, cold cache", "sum, warm cache", "prefix sum, cold cache"], lines)


def against(_):
    """CUB's time over that of the last steps at every size, with geometric mean and minimum."""
    path = newest_cub(MEASURED)
    ratio = ratios(path)
    last = sorted({step for _, _, step in ratio})[-2:]
    shown = [(step, cache) for cache in ("cold", "warm") for step in last]
    elements = sorted({n for n, _, _ in ratio})
    if not elements:
        return NOT_MEASURED
    lines = [[power(n), *(f"{ratio[n, cache, step]:.3f}" for step, cache in shown)] for n in elements]
    for what, fold in (("geometric mean", geometric_mean), ("minimum", min)):
        lines.append([f"**{what}**", *(f"**{fold([ratio[n, cache, step] for n in elements]):.3f}**" for step, cache in shown)])
    return table(["n", *(f"CUB / {step}, {cache}" for step, cache in shown)], lines) + cub_line(read(path), "\n\n")


def ends(step, *sizes):
    """Microseconds, from one process, of the step before, of the page's step, of its Tries timed beside CUB, and of CUB: cold at these sizes, and the
    geometric means over all sizes from 2^10 to 2^20."""
    rows = sorted((row for row in read("against-cub.csv") if int(row["elements"]) <= 2**22), key=lambda row: int(row["elements"]))
    names = {f"step{name[4:6]}": f"step {name[4:6]}" for name in pair(step)}
    names |= {column: f"with Try {number}" for column, number in tries.beside_cub(step)} | {"cub": "CUB"}
    columns = [column for column in names if rows and f"{column}_ms" in rows[0]]
    if not columns or f"step{step[4:6]}" not in columns:
        return NOT_MEASURED

    def mean(cache, column):
        us = [1e3 * float(row[f"{column}_ms"]) for row in rows if row["cache"] == cache and int(row["elements"]) <= 2**20]
        return f"**{math.prod(us) ** (1 / len(us)):.2f}**"

    lines = [[power(row["elements"]), *(f"{1e3 * float(row[f'{column}_ms']):.2f}" for column in columns)]
             for row in rows if row["cache"] == "cold" and row["elements"] in sizes]
    lines += [[f"**geometric mean up to 2^20, {cache}**", *(mean(cache, column) for column in columns)] for cache in ("cold", "warm")]
    return table(["n", *(f"{names[column]}, µs" for column in columns)], lines) + cub_line(rows, "\n\n")


def peers(_, name="peers.csv"):
    """GB/s of input, compared with other libraries. A wrong sum has no row."""
    rows = {(row["name"], int(row["elements"]), row["cache"]): row for row in read(name)}
    columns = sorted({(n, cache) for _, n, cache in rows})
    return table(["", *(f"{power(n)} {cache}" for n, cache in columns)],
                 [[" ".join(filter(None, (name, version))), *(bandwidth(rows[name, *column]) if (name, *column) in rows else "–" for column in columns)]
                  for name, version in {key[0]: row.get("version") for key, row in rows.items()}.items()])


METHODS = {"read": "this course: reads a buffer of twice the L2 cache's size, then the GPU waits for the host", "read_no_wait": "the same, without the wait",
           "nvbench": "as NVBench: writes a buffer of the L2 cache's size, then the GPU waits", "do_bench": "as Triton's `do_bench`: writes a buffer of 256 MiB",
           "back_to_back": "no flush: the mean of a hundred launches between two events"}


def methods(_):
    """Microseconds of one kernel, timed by several methods."""
    us = {(row["method"], int(row["elements"])): row["us"] for row in read("methods.csv")}
    columns = sorted({n for _, n in us})
    return table(["µs", *map(power, columns)], [[words, *(cell(us.get((name, n)), lab_cell) for n in columns)] for name, words in METHODS.items()] if us else [])


def in_units(count):
    """A byte count in the largest unit that divides it."""
    for unit, size in (("MiB", 2**20), ("KiB", 2**10)):
        if count and count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} bytes"


def begins(_):
    """The cost of an offset of the array's start: microseconds, and the ratio to offset 0."""
    us = {(row["step"], int(row["offset_bytes"])): float(row["us"]) for row in read("begins.csv")}
    names = list(dict.fromkeys(step for step, _ in us))
    return table(["offset of the start", *(f"{name}, µs" for name in names)],
                 [[in_units(offset), *(f"{us[name, offset]:.1f} ({us[name, offset] / us[name, 0]:.3f})" for name in names)] for offset in sorted({offset for _, offset in us})]) + cub_line(read("begins.csv"), "\n\n")


def slower_starts():
    """How many start addresses were measured, and at how many of them CUB is faster than the last step."""
    us = {(row["step"], row["offset_bytes"]): float(row["us"]) for row in read("begins.csv")}
    last = max((step for step, _ in us if step.startswith("step")), default="")
    offsets = [offset for step, offset in us if step == last]
    return len(offsets), sum(us["cub", offset] < us[last, offset] for offset in offsets)


def printed(path):
    """A command's output, unchanged."""
    return f"```\n{path.read_text(encoding='utf-8').strip()}\n```" if path.exists() else NOT_MEASURED


def compiled(_, *words):
    """The loop with the most loads in the machine code of some programs, from `make sass`: STEP is a step, STEP,2 its Try 2."""
    rows, lines, codes = read("sass/loops.csv"), [], {}
    archs = list(dict.fromkeys(row["arch"] for row in rows))
    for word in words:
        step, _, number = word.partition(",")
        cells = []
        for arch in archs:
            loops = [row for row in rows if (row["arch"], row["step"], row["try"]) == (arch, step, number or "0")]
            if not loops or number and loops[0]["diff"] != tries.digest(tries.tries(step)[int(number) - 1][0]):
                raise Unfillable(f"sass/loops.csv lacks {word} as it is now: run make sass RESULTS=plots/h200")
            loop = max(loops, key=lambda row: int(row["loads"]))
            twin = codes.setdefault((arch, loop["code"]), word)
            cells += [loop["instructions"] if twin == word else f"{loop['instructions']}, identical code", loop["loads"]]
        lines.append([f"step {step[4:6]}{number and f', Try {number}'}", *cells])
    named = rows[0]["compiler"] if rows else ""
    whole = [[f"loop in machine code, {named}", *(f"{arch}: {what}" for arch in archs for what in ("instructions", "loads from memory"))], *lines]
    kept = [column for column in range(len(whole[0])) if column % 2 or column == 0 or any(line[column] != "0" for line in lines)]
    header, *lines = [[line[column] for column in kept] for line in whole]
    return table(header, lines if rows else [])


def simulator(_, name):
    """The output of a command on the simulator."""
    return printed(MEASURED.parent / "simulator" / f"{name}.txt")


def settings(_):
    """The simulator's environment variables: the rows of its own table, with the comments above them."""
    row = re.compile(r"^    // (.+)\n    \{\"(\w+)\", \w+, [^;]*?\"([^\"]+)\"\},$", re.M)
    text = (ROOT / "simulator/base/settings.c").read_text()
    rows = row.findall(text)
    if len(rows) != text.count('{"SIM_'):
        raise Unfillable("a row of simulator/base/settings.c has no comment above it")
    return table(("variable", "sets", "accepted"), [(f"`{name}`", sets, accepted) for sets, name, accepted in rows], words=3)


def coverage(_):
    """The PTX instructions that the simulator supports, from `make coverage`."""
    rows = read(ROOT / "simulator/coverage.csv")
    lines = []
    for subject in dict.fromkeys(row["subject"] for row in rows if row["subject"] != "refused"):
        ways = {}  # (instruction, modifiers) -> the types of all their rows
        for row in rows:
            if row["subject"] == subject:
                ways.setdefault((row["instruction"], row["modifiers"]), []).extend(row["types"].split())
        lines += [["", f"**{subject}**", ""]]
        lines += [[f"`{name}`", f"`{modifiers}`" if modifiers else "", " ".join(dict.fromkeys(types))] for (name, modifiers), types in ways.items()]
    refused = ", ".join(f"`{row['instruction']}`" for row in rows if row["subject"] == "refused")
    return (f"<details>\n<summary>All instructions</summary>\n\n{table(['instruction', 'modifiers', 'types'], lines, words=3)}\n\n</details>\n\n"
            f"Rejected: {refused}, and every instruction that is not in the table.")


CALL_STATES = {"works": "supported", "refused": "return an error", "absent": "missing"}  # states of calls.csv, for readers


def calls(_):
    """The CUDA API functions that the simulator supports, from `make coverage`."""
    rows = read(ROOT / "simulator/calls.csv")
    lines, lists = [], []
    for interface in ("runtime", "driver"):
        names = {words: [row["call"] for row in rows if (row["interface"], row["state"]) == (interface, state)] for state, words in CALL_STATES.items()}
        lines.append([f"{interface} API", *(str(len(of_state)) for of_state in names.values())])
        lists += [f"**{interface.capitalize()} API, {words}:** " + ", ".join(f"`{name}`" for name in of_state) for words, of_state in names.items() if of_state]
    libraries = ", ".join(row["call"] for row in rows if row["interface"] == "library")
    return (table(["", *CALL_STATES.values()], lines) + "\n\n<details>\n<summary>All calls</summary>\n\n" + "\n\n".join(lists) +
            f"\n\n</details>\n\nOf NVIDIA's libraries, the simulator supports parts of [cuBLAS and of cuRAND's host API](#cublas-and-curand). It lacks {libraries}; if a program calls one of these, `make sim` names the function and an alternative.")


OPERATORS = {"barrier": "barrier, arrival or wait removed; block barrier weakened to a warp barrier", "fence": "fence removed; memory order or scope too weak",
             "atomic": "atomic access made plain, or its scope reduced to the block", "bound": "bounds check removed or off by one; one thread's work done by several",
             "index": "index off by one", "stride": "wrong stride or start", "initialisation": "store removed", "mask": "mask reduced to half of the warp"}
VERDICTS = {"check": "found by the program's own check only", "check and simulator": "by both", "simulator": "by the simulator only", "equivalent": "equivalent programs",
            "missed": "missed"}
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")


def mutants(_):
    """The mutants of the steps by how they are found, from `make mutants`."""
    rows = [row for row in read(ROOT / "evidence/mutants/agreement.csv") if row["operator"]]
    lines = []
    for operator, words in [*OPERATORS.items(), ("", "**all**")]:
        verdicts = [row["verdict"] for row in rows if operator in ("", row["operator"])]
        lines.append([words, *(str(count) for count in [len(verdicts), *(verdicts.count(verdict) for verdict in VERDICTS)])])
    return table(["change", "mutants", *VERDICTS.values()], lines if rows else [])


def sanitized(_):
    """The mutants that compute-sanitizer's tools find, compared with the simulator."""
    rows = [row for row in read(ROOT / "evidence/mutants/agreement.csv") if row["operator"] and row["agreement"]]
    lines = []
    for tool in [*SANITIZERS, "any of them"]:
        found = [row for row in rows if any(re.match(r"\d+: ", row[name]) for name in (SANITIZERS if tool == "any of them" else (tool,)))]
        both = sum(row["simulator"] != "" for row in found)
        lines.append([tool, *map(str, (len(rows), len(found), both, len(found) - both))])
    alone = Counter(row["simulator"] for row in rows if row["agreement"] == "simulator alone")
    return (table(["compute-sanitizer tool", "mutants", "found by the tool", "of these by the simulator", "of these not by the simulator"], lines if rows else []) +
            "\n\n" + table(["kinds found by the simulator only", "mutants"], [[kinds, str(count)] for kinds, count in alone.most_common()]))


def labelled(_):
    """The checker's results on programs labelled with their mistakes, from `make labelled`."""
    rows = read(ROOT / "evidence/labelled/results.csv")
    lines = []
    for program in [*sorted({row["program"] for row in rows}), ""]:
        those = [row for row in rows if program in ("", row["program"])]
        clean = [row for row in those if row["label"] == "clean"]
        wrong = [row for row in those if row["label"] != "clean"]
        lines.append([program or "**all**", *map(str, (len(wrong), sum(row["right"] == "yes" for row in wrong), len(clean),
                                                       sum(row["right"] != "yes" for row in clean)))])
    return table(["programs", "cases with a mistake", "of these reported", "clean cases", "false positives"], lines if rows else [])


def labelledgpu(_):
    """The results of two compute-sanitizer tools on the same programs on a GPU, from `make labelled-gpu`."""
    ours = {(row["program"], row["case"]): row for row in read(ROOT / "evidence/labelled/results.csv")}
    rows = [row | {"ours": ours[row["program"], row["case"]]} for row in read(ROOT / "evidence/labelled/gpu.csv")]
    lines = []
    for tool in dict.fromkeys(row["tool"] for row in rows):
        found = [row["ours"] for row in rows if row["tool"] == tool and int(row["errors"] or 0) > 0]
        mistakes = [row for row in found if row["label"] != "clean"]
        ran = sum(row["tool"] == tool for row in rows)
        lines.append([tool, *map(str, (f"{ran} of {len(ours)}", len(mistakes), sum(row["reported"] != "" for row in mistakes), len(found) - len(mistakes)))])
    return table(["compute-sanitizer tool", "cases run", "mistakes reported", "of these by the simulator", "false positives"], lines)


def sanitizers_on(kind):
    """How many mutants and labelled programs of a kind compute-sanitizer's tools report; empty if none were measured."""
    rows = [row for row in read(ROOT / "evidence/mutants/agreement.csv") if row["operator"] and row["agreement"] and kind in row["simulator"].split()]
    by_tool = [f"{tool} {sum(bool(re.match(r'[1-9][0-9]*: ', row[tool])) for row in rows)}" for tool in SANITIZERS]
    said = [f"of {count_of(len(rows), 'mutant')} with this finding, {', '.join(by_tool)}"] if rows else []
    cases = {(row["program"], row["case"]) for row in read(ROOT / "evidence/labelled/results.csv") if kind in row["finds"].split()}
    runs = [row for row in read(ROOT / "evidence/labelled/gpu.csv") if (row["program"], row["case"]) in cases]
    by_tool = [f"{tool} {sum(int(row['errors'] or 0) > 0 for row in runs if row['tool'] == tool)}" for tool in dict.fromkeys(row["tool"] for row in runs)]
    count = len({(row["program"], row["case"]) for row in runs})
    said += [f"of {count_of(count, 'labelled program')} with this mistake, {', '.join(by_tool)}"] if runs else []
    return f"Programs in which compute-sanitizer (H200) reports something: {'; '.join(said)}." if said else ""


def finding(_, kind, name):
    """A program with a mistake, the simulator's message, and compute-sanitizer's results for the kind."""
    path = MISTAKES / f"{name}.cu"
    if kind not in words_of_kinds() or not path.exists():
        raise Unfillable(f"there is no kind {kind}, or no program {path.relative_to(ROOT)}")
    lines = path.read_text(encoding="utf-8").splitlines()
    at = next((number for number, line in enumerate(lines) if line.endswith("// <- here")), len(lines) - 1)
    first = max(number for number in range(at) if re.match(r"\w.*\)$", lines[number]))
    code = "\n".join(line.removesuffix("// <- here").rstrip() for line in lines[first:lines.index("}", at) + 1])
    message = MESSAGES / f"{name}.txt"
    if not message.exists():
        return NOT_MEASURED
    messages = [text for text in findings.apart(message.read_text(encoding="utf-8"))[0] if text.startswith(f"error: {words_of_kinds()[kind]}:")]
    if not messages:
        raise Unfillable(f"{message.relative_to(ROOT)} has no finding of the kind {kind}: run make findings")
    shown = re.sub(r" *// <- here$", "", messages[0], flags=re.M)
    said = sanitizers_on(kind)
    return f"[{lines[0].removeprefix('// ')}](../{path.relative_to(ROOT)})\n\n```cuda\n{code}\n```\n\n```\n{shown}\n```" + (f"\n\n{said}" if said else "")


SUITES = {"indigo": "Indigo", "indigo3": "Indigo3", "scor": "ScoR's microbenchmarks", "scor-applications": "ScoR's applications", "barracuda": "Barracuda's tests",
          "gpuverify": "GPUVerify's CUDA tests"}
LABELS = {"race": "races", "memory": "memory errors", "divergence": "barriers that not all threads reach", "clean": "clean"}


def suites(_):
    """The checker's results on public suites, from `make suite`: by their labels, and by our corrected labels."""
    read_as, lines = read(ROOT / "evidence/suites/adjudicated.csv"), []
    for name, title in SUITES.items():
        tests = suite.tests(read(ROOT / f"evidence/suites/{name}.csv"))
        found = [(same[0]["label"], suite.reading(name, test, same[0]["label"], read_as), same) for test, same in tests.items()]
        for label, words in LABELS.items():
            those = [same for of_label, _, same in found if of_label == label]
            outcomes = Counter(suite.outcome(same, label) for same in those)
            ours = [outcome for outcome in (suite.outcome(same, label) for _, reading, same in found if reading == label) if outcome != "not built"]
            good = "silent" if label == "clean" else "reported"
            if those or ours:
                lines.append([title, words, str(len(those)), str(outcomes[good]), str(outcomes["not built"]), str(len(ours)), str(ours.count(good))])
    return table(["suite", "label", "tests", "result agrees with the label", "not built", "tests after correction", "result agrees with the corrected label"], lines, words=2)


def disputed(_):
    """The labels of the suites that we correct, and why."""
    rows = read(ROOT / "evidence/suites/adjudicated.csv")
    tests = {name: suite.tests(read(ROOT / f"evidence/suites/{name}.csv")) for name in {row["suite"] for row in rows}}
    counts = Counter(id(suite.adjudicated_by(name, test, same[0]["label"], rows)) for name in tests for test, same in tests[name].items())
    lines = [[SUITES[row["suite"]], f"`{row['program']}`", LABELS[row["label"]], LABELS.get(row["reading"], row["reading"]), row["reason"], str(counts[id(row)])]
             for row in rows if tests[row["suite"]]]
    return table(["suite", "tests", "label", "corrected label", "why", "number of tests"], lines, words=5)


def courses(_):
    """How many programs of public courses run, by repository and in total, from `make courses`."""
    counts = {}
    for row in read(ROOT / "evidence/suites/courses.csv"):
        counts.setdefault(row["repository"], Counter())[row["outcome"]] += 1
    lines = [[f"[{row['title']}](https://github.com/{row['source']}/tree/{row['commit']})", *counted(counts[row["repository"]])]
             for row in read(ROOT / "evidence/suites/course_repositories.csv") if row["repository"] in counts]
    if lines:
        lines.append(["all", *counted(sum(counts.values(), Counter()))])
    return table(["repository", "programs", "left out", *course_programs.OUTCOMES, "share that runs"], lines)


def counted(outcomes):
    """The cells of a row of that table; the last is the share of buildable programs that pass or end with a finding."""
    built = sum(outcomes[name] for name in course_programs.OUTCOMES)
    run = outcomes["pass"] + outcomes["finding"]
    return [str(number) for number in (outcomes.total(), outcomes[course_programs.LEFT_OUT], *(outcomes[name] for name in course_programs.OUTCOMES))] + [f"{100 * run / built:.1f} %" if built else "–"]


def coursesleft(_):
    """The course programs that build but do not run, and why."""
    titles = {row["repository"]: row["title"] for row in read(ROOT / "evidence/suites/course_repositories.csv")}
    rows = read(ROOT / "evidence/suites/courses.csv")
    left = [[titles[row["repository"]], f"`{row['program']}`", row["outcome"], row["detail"].replace("|", "\\|")] for row in rows if row["outcome"] in ("refused", "timeout", "failed")]
    return table(["repository", "program", "outcome", "reason"], left, words=4) if left or not rows else "None."


def mistakes_found(_):
    """Mistakes that the checker found in public code, confirmed by reading the code."""
    return table(["program", "location", "mistake", "kind", "reported upstream"],
                 [[row["program"], f"`{row['place']}`", row["what"], row["kind"], row["reported"]] for row in read(ROOT / "evidence/suites/found.csv")], words=5)


def students(_):
    """Mistakes in students' programs, each with a labelled case, and what detects it."""
    ours = {row["case"]: row for row in read(ROOT / "evidence/labelled/results.csv") if row["program"] == "students"}
    runs = read(ROOT / "evidence/labelled/gpu-students.csv")
    lines = []
    for row in read(ROOT / "evidence/suites/students.csv"):
        case = row["case"]
        tools = [run["tool"] for run in runs if run["case"] == case and int(run["errors"] or 0) > 0]
        lines.append([row["mistake"], f"`{case}`", ours[case]["reported"] if case in ours else NOT_MEASURED,
                      (", ".join(tools) or "nothing") if runs else NOT_MEASURED, row["trained_by"], row["programs"]])
    return table(["mistake", "labelled case", "the checker reports", "compute-sanitizer reports it", "trained by", "programs"], lines, words=5)


def attacks(_):
    """The attacks on the judge and its verdicts, as in tests/tools/test_attacks.py."""
    rows = read(ROOT / "tests/tools/attacks.csv")
    lines = []
    for kind in dict.fromkeys(row["class"] for row in rows):
        lines += [["", f"**{kind}**", ""]]
        lines += [[str(rows.index(row) + 1), row["attack"], row["verdict"]] for row in rows if row["class"] == kind]
    return table(["", "a file that", "verdict"], lines, words=3)


# Simulator counter -> column of Nsight Compute's results.
COMPARED = {name: name for name in ("shared_loads", "shared_stores", "bank_conflicts", "global_load_requests", "global_load_sectors", "global_store_requests",
                                    "global_store_sectors")} | {"block_barriers": "barriers"}


def counters_compared():
    """For each count that Nsight Compute read on an H200, whether the simulator's count is equal."""
    same = []
    for path in sorted((ROOT / "tests/counters/h200").glob("*.csv")):
        ours, theirs = read(ROOT / "tests/counters/simulator" / path.name), read(path)
        for step in dict.fromkeys(row["step"] for row in theirs):
            pairs = zip(*([row for row in rows if row["step"] == step] for rows in (ours, theirs)), strict=True)
            same += [float(mine[name]) == float(read_there[named]) for mine, read_there in pairs for name, named in COMPARED.items()]
    return same


def faster_than_cub(ratio):
    """The ratios of CUB's times to ours, summarised."""
    if not ratio:
        return NOT_MEASURED
    return f"faster at {sum(value > 1 for value in ratio)} of {len(ratio)} sizes; geometric mean {geometric_mean(ratio):.2f}×, minimum {min(ratio):.3f}×"


def figures(_):
    """The key figures of the first page, each computed from the files that the linked page shows."""
    indigo = Counter((same[0]["label"], suite.outcome(same, same[0]["label"])) for same in suite.tests(read(ROOT / "evidence/suites/indigo.csv")).values())
    programs = {label: sum(count for (of_label, _), count in indigo.items() if of_label == label) for label in LABELS}
    changes = [row for row in read(ROOT / "evidence/mutants/agreement.csv") if row["operator"]]
    verdicts = Counter(row["verdict"] for row in changes)
    sanitized_too = [row for row in changes if row["agreement"]]
    sanitizer = sum(any(re.match(r"\d+: ", row[tool]) for tool in SANITIZERS) for row in sanitized_too)
    same = counters_compared()
    of_sum, of_scan = newest_cub(MEASURED), newest_cub(SCANS)
    ours = ratios(of_sum)
    sums = [value for (_, cache, step), value in ours.items() if cache == "cold" and step == max((name for _, _, name in ours), default="")]
    scanned = [float(row["cub_us"]) / float(row["scan_us"]) for row in read(of_scan)]
    (starts, slower), of_starts = slower_starts(), named_cub(read("begins.csv")).split(" on ", maxsplit=1)[0]
    held = [row["verdict"] != "passed" for row in read(ROOT / "tests/tools/attacks.csv")]
    return table(["", "result", "details"], [
        ["races detected in Indigo, a public suite of graph programs", f"{indigo['race', 'reported']} of {programs['race']}; false positives: {programs['clean'] - indigo['clean', 'silent']} of {programs['clean']} clean programs",
         "[suites](docs/suites.md)"],
        ["small mistakes planted in our kernels (mutants), detected by their own check or the simulator", f"{len(changes) - verdicts['equivalent'] - verdicts['missed']} of {len(changes)}; {verdicts['equivalent']} are equivalent, {verdicts['missed']} missed; "
         f"compute-sanitizer detects {sanitizer} of the {len(sanitized_too)} that it ran on", "[mutants](docs/suites.md#mutants)"],
        ["simulated counters equal to Nsight Compute's on an H200", f"{sum(same)} of {len(same)}", "[why not all](simulator/counters.md)"],
        [f"the last step of the reduction against {named_cub(read(of_sum))}", f"{faster_than_cub(sums)}. At 2^30 elements {of_starts} is faster at {slower} of {starts} [start addresses](docs/measuring.md#where-an-array-begins)",
         "[sizes](docs/sizes.md)"],
        [f"the last step of the prefix sum against {named_cub(read(of_scan))}", faster_than_cub(scanned), "[the prefix sum](scan/README.md)"],
        ["attacks that the judge of student programs withstands", f"{sum(held)} of {len(held)}", "[the judge](docs/judge.md)"]], words=3)


def shown_by(name, row, devices):
    """A GPU's name, with the folder's if several folders have results of that GPU."""
    return f"[{row['device']}{f' ({name})' if devices.count(row['device']) > 1 else ''}](../plots/{name}/run-all.csv)"


def share_if_known(row):
    """The share of the peak; some drivers do not report the peak."""
    return share(row) if float(row["peak_gb_per_s"]) else "peak unknown"


def facts_of(name):
    """Driver and toolkit of results in plots/, from run-all.txt."""
    path = ROOT / "plots" / name / "run-all.txt"
    said = dict(line.split(": ", 1) for line in path.read_text(encoding="utf-8").splitlines()) if path.exists() else {}
    return f"{said.get('driver', 'unknown')}, {said.get('toolkit', 'unknown')}"


def gpus(_):
    """Each step's share of the GPU's own peak, for every GPU with results in plots/; some may be older than a step."""
    runs = {path.parent.name: by_step(path) for path in sorted((ROOT / "plots").glob("*/run-all.csv"))}
    if not runs:
        return NOT_MEASURED
    best = {name: max(rows.values(), key=lambda row: float(row["gb_per_s"])) for name, rows in runs.items()}
    devices = [row["device"] for row in best.values()]
    lines = [[step, *(share_if_known(rows[step]) if step in rows else "–" for rows in runs.values())] for step in steps()]
    lines.append(["**the fastest, GB/s**", *(f"{bandwidth(row)} ({row['step']})" for row in best.values())])
    lines.append(["**the peak, GB/s**", *(f"{float(row['peak_gb_per_s']):,.0f}" if float(row["peak_gb_per_s"]) else "unknown" for row in best.values())])
    lines.append(["**driver, toolkit**", *map(facts_of, runs)])
    return table(["share of the GPU's own peak, n = 2^26", *(shown_by(name, row, devices) for name, row in best.items())], lines)


def hardware(_):
    """What does not depend on the steps, for every GPU with limits.csv in plots/: launches, latencies, bandwidth."""
    columns = {}
    for folder in sorted(path.parent for path in MEASURED.parent.glob("*/limits.csv")):
        gpu, loaded = read(folder / "limits.csv")[0], read(folder / "loaded.csv")
        start = next(row for row in read(folder / "starts.csv") if row["threads"] == "256")
        most = max(float(row["gb_per_s"]) for row in loaded)
        full = next(row for row in loaded if float(row["gb_per_s"]) > 0.97 * most)
        columns[gpu["device"]] = {
            "an empty kernel, between two events, µs": f"{float(gpu['first_launch_us']):.2f}", "each further empty kernel, µs": f"{float(gpu['next_launch_us']):.2f}",
            "block launch, ns": f"{float(start['ns_per_block']):.2f}", "a slot is empty between two blocks, µs": f"{float(start['turnover_us']):.2f}",
            "load latency, memory idle, ns": f"{float(gpu['load_ns']):.0f}", "bandwidth of loads, GB/s, at most": f"{most:,.0f}",
            "load latency at 97 % of that, ns": f"{float(full['load_ns']):.0f}"}
    return table(["", *columns], [[words, *(column[words] for column in columns.values())] for words in next(iter(columns.values()))] if columns else [])


GROUPS = {"steps": "the steps, and CUB's reduction", "scan": "the steps of the prefix sum, and CUB's", "labs": "the labs", "programs": "tests/programs", "idioms": "synchronisation idioms",
          "CUB": "CUB: reduce, scan, sort, select, segmented reduce, histogram", "Thrust": "Thrust: reduce, scan, sort, stable sort by key, copy_if, unique"}


def alarms(_):
    """The checker's findings in correct programs, from `make no-alarms`."""
    rows = read(ROOT / "evidence/alarms/alarms.csv")
    lines = []
    for group, words in [*GROUPS.items(), ("", "**all**")]:
        those = [row for row in rows if group in ("", row["group"])]
        sums = [sum(int(row[column]) for row in those) for column in ("runs", "findings", "explained")]
        lines.append([words, str(len({row["program"] for row in those})), str(len(those)), *map(str, sums)])
    return table(["group", "programs", "builds", "runs", "findings", "of these explained"], lines if rows else [])


# Headings of lab columns; other columns show their name, with spaces.
HEADINGS = {"median_ms": "ms", "min_ms": "minimum, ms", "before_ms": "before, ms", "overhead_ms": "overhead, ms", "cost_ms": "cost, ms", "gb_per_s": "GB/s", "gelements_per_s": "10^9 elements/s",
            "peak_gb_per_s": "peak, GB/s", "copy_gb_per_s": "copy, GB/s", "read_gb_per_s": "read only, GB/s", "of_copy": "share of copy bandwidth",
            "of_ideal": "share of ideal", "ns_per_block": "ns per block", "to_device_ms": "to the GPU, ms", "kernel_ms": "kernel, ms", "to_host_ms": "to the host, ms",
            "sm_count": "SMs", "blocks_per_sm": "blocks per SM", "clock_mhz": "SM clock, MHz", "memory_mhz": "memory clock, MHz", "bus_bits": "bus, bits",
            "occupancy_percent": "occupancy, %", "per_thread": "elements per thread", "wanted_bytes": "useful bytes", "moved_bytes": "bytes moved"}


def lab_cell(text):
    """A value of a lab's CSV, numbers with four significant digits."""
    try:
        value = float(text)
    except ValueError:
        return text
    if not math.isfinite(value):
        return text
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def lab_rows(step, words):
    """The rows of a lab's CSV that the words of a marker choose, the names of the columns among the words, and the chosen values by column.

    A word like x.csv selects another file of plots/h200/labs with all its rows; column=value,value selects rows, in this order. Without a file, the rows are
    those of the step and the step before; on the lab's page those of all steps."""
    if not lab_of(step) and not words[0].endswith(".csv"):
        raise Unfillable("this page belongs to no lab")
    name = words[0] if words[0].endswith(".csv") else f"{lab_of(step)}.csv"
    rows = [row for row in read(f"labs/{name}") if row.get("status", "PASS") == "PASS"]
    columns = [word for word in words if "=" not in word and word != name]
    chosen = {column: values.split(",") for column, values in (word.split("=") for word in words if "=" in word)}
    missing = [column for column in [*columns, *chosen] if rows and column not in rows[0]]
    if missing:
        raise Unfillable(f"labs/{name} has no column {missing[0]}; it has {', '.join(rows[0])}")
    if name not in words:
        folders = lab_steps(lab_of(step))
        if step in folders:
            folders = folders[max(0, folders.index(step) - 1):folders.index(step) + 1]
        rows = [row for row in rows if row["step"] in [Path(folder).name for folder in folders]]
    return [row for row in rows if all(row[column] in values for column, values in chosen.items())], columns, chosen


def lab(step, *words):
    """Columns of a lab's CSV, a line for each of its rows."""
    rows, columns, chosen = lab_rows(step, words)
    first = next(iter(rows[0])) if rows else "step"
    groups = list(dict.fromkeys(row[first] for row in rows))
    rows.sort(key=lambda row: (groups.index(row[first]), *(values.index(row[column]) for column, values in chosen.items())))
    return table([first, *(HEADINGS.get(column, column.replace("_", " ")) for column in columns)],
                 [[row[first], *(lab_cell(row[column]) for column in columns)] for row in rows])


def labover(step, *words):
    """One column of a lab's CSV over the values of another: words as of lab(), first the column that is shown, then columns that also name a line, and
    first among the choices the one whose values are the table's columns."""
    rows, (shown, *names), chosen = lab_rows(step, words)
    over, values = next(iter(chosen.items()))
    names = [next(iter(rows[0])) if rows else "step", *names]
    lines = list(dict.fromkeys(tuple(row[name] for name in names) for row in rows))
    cells = {(*(row[name] for name in names), row[over]): row[shown] for row in rows}
    return table([*names, *map(power if over == "elements" else lab_cell, values)], [[*line, *(lab_cell(cells[*line, value]) if (*line, value) in cells else "–" for value in values)] for line in lines], words=len(names))


def labgains(step, *words):
    """The previous step's time divided by this step's, on both GPUs, for the values of the first word, column=value,value; other words select rows."""
    folders = lab_steps(lab_of(step))
    if folders.index(step) == 0:
        raise Unfillable("a lab's first step has no previous one")
    old, new = (Path(folder).name for folder in folders[folders.index(step) - 1:folders.index(step) + 1])
    (shown, values), *others = [(column, chosen.split(",")) for column, chosen in (word.split("=") for word in words)]
    lines = []
    for gpu, folder in {"H200": MEASURED, "H100": SECOND}.items():
        ms = {(row["step"], row[shown]): float(row["median_ms"]) for row in read(folder / f"labs/{lab_of(step)}.csv")
              if row["status"] == "PASS" and all(row[column] in chosen for column, chosen in others)}
        lines.append([gpu, *(f"{ms[old, value] / ms[new, value]:.2f}×" if {(old, value), (new, value)} <= ms.keys() else NOT_MEASURED for value in values)])
    return table([f"gain over step {old[4:6]}", *map(lab_cell, values)], lines)


# The last step of each task of two labs, and what it is compared with.
SORT_TASKS = {"selection": ("step03_long_tiles", "cub SELECT"), "histogram": ("step08_per_lane", "cub HISTOGRAM"),
              "keys": ("step14_onesweep", "cub SORT"), "pairs": ("step15_pairs", "cub SORT_PAIRS")}
ROW_OPERATIONS = {"softmax": "step06_cluster", "layernorm": "step08_welford", "rmsnorm": "step09_rms"}


def sortratios(_, gpu):
    """The elements per second of each task's last step, divided by those of CUB, for random data on a GPU of plots/."""
    rows = [row for name in ("sort-sizes.csv", "sort-cub.csv") for row in read(MEASURED.parent / gpu / "labs" / name) if row["data"] == "random"]
    speeds = {(row["step"], row["elements"]): float(row["gelements_per_s"]) for row in rows}
    sizes = [str(1 << log) for log in (20, 24, 26, 28)]
    return table(["task", "step", *map(power, sizes)],
                 [[task, step[4:6], *(f"{speeds[step, n] / speeds[cub, n]:.2f}" for n in sizes)] for task, (step, cub) in SORT_TASKS.items() if rows], words=2)


def rowratios(_, gpu):
    """The bandwidth of each operation's last step on rows of floats, divided by that of the fastest peer, which is named, on a GPU of plots/."""
    folder = MEASURED.parent / gpu / "labs"
    ours, peers = ([row for row in read(folder / name) if row["element"] == "float"] for name in ("rows.csv", "rows-pytorch.csv"))
    speeds = {(row["step"], row["columns"]): float(row["gb_per_s"]) for row in ours}
    lengths = ("1024", "16384", "65536", "262144")

    def ratio(operation, length):
        best = max((row for row in peers if (row["operation"], row["columns"]) == (operation, length)), key=lambda row: float(row["gb_per_s"]))
        return f"{speeds[ROW_OPERATIONS[operation], length] / float(best['gb_per_s']):.2f} ({best['name']})"

    return table(["operation", "step", *(f"{int(length):,} columns" for length in lengths)],
                 [[operation, step[4:6], *(ratio(operation, length) for length in lengths)] for operation, step in ROW_OPERATIONS.items() if peers], words=2)


def labsteps(step):
    """The steps of a lab and their ideas."""
    return table(["step", "idea"], [[f"[{Path(folder).name}]({Path(folder).name}/README.md)", idea(folder)] for folder in lab_steps(lab_of(step))], words=2)


# ---- The prefix sum

def scans():
    """Every program of the prefix sum in order, CUB last."""
    return sorted(path.parent.name for path in ROOT.glob("scan/step[0-9][0-9]_*/scan.cu")) + ["reference_cub"]


def known_scan(page):
    """The program of a page's folder."""
    name = page.removeprefix("scan/")
    if name not in scans():
        raise Unfillable(f"there is no program {page}")
    return name


def microseconds(row):
    return f"{1e3 * float(row['median_ms']):,.2f}"


def scannumbers(page):
    """Results of a step of the prefix sum and of the previous step, with the largest gain and the gain at 2^26."""
    index = scans().index(known_scan(page))
    shown = scans()[max(0, index - 1):index + 1]
    runs, large, small, through = (by_step(SCANS / f"{name}.csv") for name in ("run-all", "2to30", "2to16", "bytes"))
    for measured in (large, through):
        measured.setdefault(scans()[0], None)  # one thread takes too long for a large array
    rows = {"ms, n = 2^26": (runs, milliseconds), "GB/s, n = 2^26": (runs, bandwidth), "GB/s, n = 2^30": (large, bandwidth),
            "µs, n = 2^16": (small, microseconds),
            "bytes read per element": (through, lambda row: f"{float(row['read_bytes_per_element']):.2f}"),
            "bytes written per element": (through, lambda row: f"{float(row['written_bytes_per_element']):.2f}")}
    gain = ""
    if len(shown) == 2 and all(name in runs for name in shown):
        gain = gain_line(largest_gain(*shown, SCANS), times(runs[shown[0]], runs[shown[1]])) + gain_elsewhere(*shown, SCANS.parent / SECOND.name)
    lines = [[words, *(cell(measured.get(name), show) if measured.get(name, {}) is not None else "–" for name in shown)] for words, (measured, show) in rows.items()]
    if gain and (gains := gains_over_n(*shown, SCANS)):
        _, elements, *ms = max(gains)
        if int(elements) not in (2**16, 2**26, 2**30):  # these sizes already have rows
            lines.append([f"µs, n = {power(elements)}, in [the sweep](../h200/sweep.csv)", *(f"{1e3 * value:.2f}" for value in ms)])
    return table(["", *shown], lines) + gain


def scanladder(_):
    """All programs of the prefix sum, measured or not, and the largest gain over the previous step, as ladder()."""
    runs, lines = by_step(SCANS / "run-all.csv"), []
    for old, name in zip([None, *scans()], scans()):
        compared = old in runs and name in runs and name != scans()[-1]
        lines.append([f"[{name}]({name}/README.md)", idea(f"scan/{name}"), cell(runs.get(name), lambda _, pair=(old, name), known=compared: largest_gain(*pair, SCANS) if known else "–")])
    return table(["step", "idea", "largest gain"], lines, words=2)


def scangains(_):
    """All programs of the prefix sum, measured or not: GB/s and gain at 2^26, GB/s at 2^30, and microseconds at 2^16."""
    runs, large, small, lines = *(by_step(SCANS / f"{name}.csv") for name in ("run-all", "2to30", "2to16")), []
    slow = scans()[0]  # one thread takes too long for a large array
    for old, name in zip([None, *scans()], scans()):
        lines.append([name, cell(runs.get(name), bandwidth), times(runs[old], runs[name]) if old in runs and name in runs else "–",
                      "–" if name == slow and large else cell(large.get(name), bandwidth), cell(small.get(name), microseconds)])
    return table(["step", "GB/s at 2^26", "gain", "GB/s at 2^30", "µs at 2^16"], lines)


def scanover(_):
    """The last step of the prefix sum compared with CUB and with copies, at every size. Older files lack the copy kernel, older CUBs run_to_run."""
    rows = sorted(read(newest_cub(SCANS)), key=lambda row: int(row["elements"]))
    if not rows:
        return NOT_MEASURED
    ratios = {power(row["elements"]): float(row["cub_us"]) / float(row["scan_us"]) for row in rows}
    least = min(ratios, key=ratios.get)
    copies = {f"{name}_us": words for name, words in {"copy": "`cudaMemcpy`, µs", "kernel_copy": "copy kernel, µs"}.items() if f"{name}_us" in rows[0]}
    shown = {"scan_us": f"{scans()[-2]}, µs", "cub_us": "CUB, µs"} | ({"run_to_run_us": "CUB, `run_to_run`, µs"} if rows[0].get("run_to_run_us") else {}) | copies
    return table(["n", *shown.values(), "CUB / step", "share of the faster copy's bandwidth"],
                 [[n, *(lab_cell(row[name]) for name in shown), f"{ratio:.2f}",
                   f"{100 * min(float(row[name]) for name in copies) / float(row['scan_us']):.0f} %"] for row, (n, ratio) in zip(rows, ratios.items())]) + (
        f"\n\nCUB / step: geometric mean {math.prod(ratios.values()) ** (1 / len(ratios)):.2f}, minimum {ratios[least]:.2f} (n = {least})." + cub_line(rows, " "))


def count_of(count, what):
    """"3 errors", "1 error" or "no errors"."""
    return f"{int(count):,} {what}{'s' * (int(count) != 1)}" if int(count) else f"no {what}s"


def outcome(step, number):
    """The result of one Try, from `make tries`, and the second GPU's ratio; the second GPU's result if the first one did not run this change."""
    name = f"labs/{lab_of(step)}-tries.csv" if lab_of(step) else "tries.csv"
    first, second = (SCANS, SCANS.parent / SECOND.name) if is_scan(step) else (MEASURED, SECOND)
    change = (step, number, tries.digest(tries.tries(step)[int(number) - 1][0]))
    found = [(gpu, row) for gpu, folder in {"": first, " on an H100": second}.items() for row in read(folder / name)
             if (row["step"], row["try"], row["diff"]) == change]
    if not found:
        return f"{NOT_MEASURED.capitalize()}."
    ((size, row), *others), what = found, "result" if lab_of(step) or is_scan(step) else "sum"
    size += "" if row["elements"] in ("", "" if lab_of(step) else str(2**26)) else f" at n = {power(row['elements'])}"
    size += f", rows of {int(row['columns']):,} numbers" if row.get("columns") else ""
    said = f"Tried{size}: the {what} is correct."
    if row["status"] != "PASS":
        said = f"Measured{size}: the {what} is **wrong**."
    elif row["before_ms"]:
        old, new = float(row["before_ms"]), float(row["after_ms"])
        elsewhere = "".join(f"; H100: {float(other['before_ms']) / float(other['after_ms']):.2f}×" for _, other in others
                            if other["before_ms"] and other["elements"] == row["elements"])
        said = f"Measured{size}: {old:,.4g} ms before, {new:,.4g} ms after ({old / new:.2f}×{elsewhere}); the {what} is correct."
    if row["memcheck_errors"]:
        said += f" memcheck: {count_of(row['memcheck_errors'], 'error')}; racecheck: {count_of(row['racecheck_errors'], 'hazard')}."
    return said


def said(step, number):
    """The simulator's first finding in a step after that Try, or its first warning if it finds nothing else, and their number."""
    path = try_message(step, number)
    if not path.exists():
        return NOT_MEASURED
    first_line, message = path.read_text(encoding="utf-8").split("\n", 1)
    if not first_line.endswith(tries.digest(tries.tries(step)[int(number) - 1][0])):
        raise Unfillable(f"{path.relative_to(ROOT)} belongs to another diff than Try {number}: run make findings")
    found, others = findings.apart(message)
    shown = next((one for one in found if not one.startswith("warning")), found[0])
    return "\n".join(["```", shown, findings.how_many(others), "```"])


KINDS = {function.__name__: function for function in (dependent, launches, pdl, backtoback, ladder, gains, report, code, lab, labover, labgains, labsteps, sortratios, rowratios, numbers, parts, starts, blockdurations, loaded, busy, little, limits, lowerbounds, net, restarts, sizes, finish, ends,
                                                      against, cubs, peers, begins, methods, compiled, simulator, settings, coverage, calls, mutants, sanitized, labelled, labelledgpu, alarms, finding, said, suites, disputed, courses, coursesleft, students, attacks, figures, gpus, hardware, scannumbers, scanladder, scangains, scanover)} | {"try": outcome, "found": mistakes_found}


def made(kind, step, words):
    """The text between markers of a kind on a step's page."""
    if kind not in KINDS:
        raise Unfillable(f"there is no marker {kind}; there are {', '.join(KINDS)}")
    try:
        inspect.signature(KINDS[kind]).bind(step, *words)
    except TypeError as problem:  # too few words, or too many
        raise Unfillable(problem) from None
    return KINDS[kind](step, *words)


def filled(path):
    """The page's text with every marked block regenerated."""
    folder = path.parent.relative_to(ROOT).as_posix()
    step = folder if folder.startswith("labs/") or is_scan(folder) or (path.parent / "reduce.cu").exists() else None
    page, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")

    def fill(found):
        begin, kind, words, end = found.groups()
        try:
            return f"{begin}{made(kind, step, words.split())}\n{end}"
        except Unfillable as problem:
            sys.exit(f"tables.py: {page}: '{begin.strip()}' cannot be filled: {problem}")

    for line in MARKED.sub("", text).splitlines():
        if line.lstrip().startswith("<!--") and not line.startswith("<!-- step: "):  # which step_pages reads; a new step has TODO there
            sys.exit(f"tables.py: {page}: '{line}' is not a valid marker, or has no end: expected <!-- WORDS: make tables writes this --> ... <!-- end -->")
    text = MARKED.sub(fill, text)
    return tries.with_patches(step, text) if step else text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    options = parser.parse_args()
    pages = {path: filled(path) for path in all_pages()}
    stale = [path for path, text in pages.items() if text != path.read_text(encoding="utf-8")]
    for path in stale:
        if options.check:
            print(f"tables.py: {path.relative_to(ROOT)} is out of date: run make tables", file=sys.stderr)
        else:
            with files.whole(path) as file:
                file.write(pages[path])
    for step in steps():
        if unmeasured(step):
            print(f"tables.py: {step} is {NOT_MEASURED}: it is not in {', '.join(unmeasured(step))}", file=sys.stderr)
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
