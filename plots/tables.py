#!/usr/bin/env python3
"""Writes the measured numbers of plots/h200 into the READMEs, between their markers."""

import argparse
import csv
import math
import os
import re
import sys
from pathlib import Path

from roof import LIMITS, growth, read, roof

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "plots" / "h200"
COUNTERS = {
    "time_us": "first pass, µs",
    "warp_instructions": "warp instructions",
    "shared_loads": "shared loads",
    "shared_stores": "shared stores",
    "shared_wavefronts": "shared wavefronts",
    "bank_conflicts": "bank conflicts",
    "global_load_requests": "global load requests",
    "global_load_sectors": "global load sectors",
    "barriers": "barriers, counted per warp",
    "lanes_on": "lanes on per instruction (of 32)",
    "dram_throughput_percent": "DRAM throughput, % of peak",
    "occupancy_percent": "occupancy, %",
    "divergent_branches": "divergent branches",
    "load_wait_cycles": "cycles a warp waits for loads, per instruction",
    "barrier_wait_cycles": "cycles a warp waits at barriers, per instruction",
}


def read_csv(path, elements):
    """The rows of a CSV, all of them measured with that many elements, as the tables say."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    if any(row["elements"] != str(elements) for row in rows):
        sys.exit(f"tables.py: {path.relative_to(ROOT)} holds rows of other sizes than {elements}")
    return rows


def by_step(path, elements):
    return {row["step"]: row for row in read_csv(path, elements)}


def first_passes():
    rows = read_csv(MEASURED / "profile.csv", 2**24)
    return {row["step"]: row for row in rows if row["pass"] == "1"}


def idea(step):
    """The idea in a few words: the first sentence of the program's first comment."""
    first_line = (ROOT / step / "reduce.cu").read_text().splitlines()[0]
    return re.match(r"// [^:]+: ([^.]+)\.", first_line)[1]


def milliseconds(row):
    return f"{float(row['median_ms']):,.4g}" if float(row["median_ms"]) < 1000 else f"{float(row['median_ms']):,.0f}"


def bandwidth(row):
    if not row:  # that size was not run: step 00 takes minutes
        return "–"
    value = float(row["gb_per_s"])
    return f"{value:.2f}" if value < 1 else f"{value:,.0f}"


def share(row):
    return f"{100 * float(row['gb_per_s']) / float(row['peak_gb_per_s']):.1f} %"


def gain(before, row):
    if not before:
        return "–"
    ratio = float(before["median_ms"]) / float(row["median_ms"])
    return f"{ratio:.2f}×" if ratio < 100 else f"{ratio:,.0f}×"


def ladder(rows, large):
    """The table of the whole ladder: n = 2^26, and the bandwidth at 2^30."""
    lines = ["| step | idea | ms | GB/s | share of peak | against the step before | GB/s at 2^30 |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    before = None
    for step, row in rows.items():
        # CUB is no step of the ladder: it is compared with the last one.
        lines.append(f"| [{step}]({step}/README.md) | {idea(step)} | {milliseconds(row)} | {bandwidth(row)} | "
                     f"{share(row)} | {gain(before, row)} | {bandwidth(large.get(step))} |")
        before = row
    return "\n".join(lines)


def report(row):
    """The line that a program prints for a person."""
    return ("```\n{step} on {device}: n {elements}, launches {launches}, ms {ms:.4f} (least {least:.4f}), "
            "GB/s {gb:.2f} of {peak:.0f}, PASS\n```").format(
                **row, ms=float(row["median_ms"]), least=float(row["min_ms"]), gb=float(row["gb_per_s"]),
                peak=float(row["peak_gb_per_s"]))


def counter(text):
    value = float(text)
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def numbers(step, rows, large, passes):
    """The table of one step: its numbers beside those of the step before."""
    names = list(rows)
    before = names[names.index(step) - 1] if step != names[0] else None
    shown = [name for name in (before, step) if name]
    lines = ["| | " + " | ".join(shown) + " |", "| --- |" + " ---: |" * len(shown)]

    def line(label, cells):
        lines.append(f"| {label} | " + " | ".join(cells) + " |")

    line("ms, n = 2^26", [milliseconds(rows[name]) for name in shown])
    line("GB/s, n = 2^26", [bandwidth(rows[name]) for name in shown])
    line("GB/s, n = 2^30", [bandwidth(large.get(name)) for name in shown])
    line("launches", [rows[name]["launches"] for name in shown])
    line("blocks, first pass, n = 2^24", [counter(passes[name]["blocks"]) for name in shown])
    for column, label in COUNTERS.items():
        line(label, [counter(passes[name][column]) for name in shown])
    if before:
        lines.append(f"\nGain at 2^26: **{gain(rows[before], rows[step])}**. ")
    return "\n".join(lines).strip()


def power(elements):
    """2^20 for 1048576, and what is no power of two as it is."""
    n = int(elements)
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n:,}"


def little(gpu):
    """How many bytes have to be in flight: Little's law, with what `make limits` measured."""
    load_ns, peak, sms = float(gpu["load_ns"]), float(gpu["peak_gb_per_s"]), int(gpu["sm_count"])
    in_flight = peak * load_ns  # 1 GB/s is a byte a nanosecond
    lines = ["| | |", "| --- | ---: |", f"| from asking for a value to having it, memory idle | {load_ns:.0f} ns |",
             f"| theoretical peak | {peak:,.0f} GB/s |", f"| their product: bytes in flight | {in_flight / 1e6:.2f} MB |",
             f"| of each of {sms} SMs | {in_flight / sms / 1e3:.1f} KB |",
             f"| of each of the {gpu['threads_per_sm']} threads that an SM can hold | "
             f"{in_flight / sms / int(gpu['threads_per_sm']):.1f} bytes |"]
    return "\n".join(lines)


def small(rows, steps=("step08_shuffle", "step10_vectorload", "step11_singlepass", "reference_cub")):
    """Microseconds where n is small, cold."""
    times = {(row["step"], row["elements"]): row for row in rows if row["cache"] == "cold" and row["status"] == "PASS"}
    sizes = sorted({int(row["elements"]) for row in rows if int(row["elements"]) <= 2**20})
    lines = ["| n | " + " | ".join(f"{step}, µs" for step in steps) + " |", "| --- |" + " ---: |" * len(steps)]
    for n in sizes:
        cells = [f"{1e3 * float(times[step, str(n)]['median_ms']):.2f}" for step in steps]
        lines.append(f"| {power(n)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def against(rows):
    """CUB's time over that of the last two steps, and the geometric means."""
    shown = [(step, cache) for step in ("step11", "step12") for cache in ("cold", "warm")]
    ratios = {(row["elements"], row["cache"], step): float(row["cub_ms"]) / float(row[f"{step}_ms"])
              for row in rows for step in ("step11", "step12")}
    sizes = sorted({row["elements"] for row in rows}, key=int)
    lines = ["| n | " + " | ".join(f"CUB / {step}, {cache}" for step, cache in shown) + " |", "| --- |" + " ---: |" * 4]
    for n in sizes:
        lines.append(f"| {power(n)} | " + " | ".join(f"{ratios[n, cache, step]:.3f}" for step, cache in shown) + " |")
    for what, some in (("of all", sizes), ("of the powers of four", [n for n in sizes if math.log2(int(n)) % 2 == 0])):
        means = [math.exp(sum(math.log(ratios[n, cache, step]) for n in some) / len(some)) for step, cache in shown]
        lines.append(f"| **geometric mean {what}** | " + " | ".join(f"**{mean:.3f}**" for mean in means) + " |")
    lines.append("| **least** | " + " | ".join(f"**{min(ratios[n, c, s] for n in sizes):.3f}**" for s, c in shown) + " |")
    return "\n".join(lines)


def peers(rows):
    """GB/s of input beside what others offer."""
    columns = sorted({(int(row["elements"]), row["cache"]) for row in rows})
    lines = ["| | " + " | ".join(f"{power(n)} {cache}" for n, cache in columns) + " |", "| --- |" + " ---: |" * len(columns)]
    names = dict.fromkeys(row["name"] for row in rows)
    cells = {(row["name"], int(row["elements"]), row["cache"]): row for row in rows}
    for name in names:
        lines.append(f"| {name} | " + " | ".join(bandwidth(cells[name, *column]) for column in columns) + " |")
    return "\n".join(lines)


def roof_table(rows):
    """Microseconds that each limit alone would allow, and which is the highest."""
    lines = ["| step | " + " | ".join(LIMITS.values()) + " | measured, µs | held by | measured / highest |",
             "| --- |" + " ---: |" * (len(LIMITS) + 1) + " --- | ---: |"]
    for row in rows:
        highest = row[row["held_by"]]
        lines.append(f"| {row['step']} | " + " | ".join(f"{row[limit]:.1f}" for limit in LIMITS) +
                     f" | {row['measured_us']:.1f} | {LIMITS[row['held_by']]} | {row['measured_us'] / highest:.2f} |")
    return "\n".join(lines)


def growth_table(rows, peak):
    """What grows with n in the time of the last steps, and what does not."""
    lines = ["| step | cache | GB/s from 2^28 to 2^30 | share of peak | does not grow, µs |", "| --- | --- | ---: | ---: | ---: |"]
    lines += [f"| {step} | {cache} | {speed:,.0f} | {speed / peak:.1%} | {fixed:.1f} |".replace("%", " %")
              for step, cache, speed, fixed in rows]
    return "\n".join(lines)


def errors(count, what):
    return f"{int(count):,} {what}" if int(count) else f"no {what}"


def outcome(row):
    """What `make tries` measured for one diff."""
    if row["status"] == "PASS":
        before, after = float(row["before_ms"]), float(row["after_ms"])
        what = f"{before:,.4g} ms before, {after:,.4g} ms after ({before / after:.2f}×), right sum"
    else:
        what = "**wrong sum**"
    size = "" if row["elements"] == str(2**26) else f" at n = {int(row['elements']):,}"
    return (f"Measured{size}: {what}; memcheck: {errors(row['memcheck_errors'], 'errors')}, "
            f"racecheck: {errors(row['racecheck_errors'], 'hazards')}.")


def filled(text, name, table):
    """text with the table between its markers."""
    begin, end = f"<!-- {name}: make tables writes this -->", f"<!-- end of {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"tables.py: a README needs exactly one '{begin}' and one '{end}'")
    return text[: text.index(begin) + len(begin)] + f"\n{table}\n" + text[text.index(end):]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a README is stale")
    options = parser.parse_args()
    rows = by_step(MEASURED / "run-all.csv", 2**26)
    large = by_step(MEASURED / "2to30" / "run-all.csv", 2**30)
    passes = first_passes()
    pages = {ROOT / "README.md": {"ladder": ladder(rows, large), "report": report(rows["step03_sequential"])}}
    pages[ROOT / "README.md"] |= {"against": against(read(MEASURED / "against-cub.csv")),
                                  "peers": peers(read(MEASURED / "peers.csv")), "roof": roof_table(roof(MEASURED))}
    last = [step for step in rows if step >= "step09" or step == "reference_cub"]
    peak = float(read(MEASURED / "limits.csv")[0]["peak_gb_per_s"])
    pages[ROOT / "README.md"]["growth"] = growth_table(growth(MEASURED, last), peak)
    pages |= {ROOT / step / "README.md": {"numbers": numbers(step, rows, large, passes)} for step in rows}
    pages[ROOT / "step09_inflight/README.md"]["little"] = little(read(MEASURED / "limits.csv")[0])
    pages[ROOT / "step11_singlepass/README.md"]["small"] = small(read(MEASURED / "sweep.csv"))
    simulated = MEASURED.parent / "simulator"
    pages[ROOT / "simulator/README.md"] = {
        name: f"```\n{(simulated / name).with_suffix('.txt').read_text().strip()}\n```" for name in ("speed", "numba")}
    for row in read(MEASURED / "tries.csv"):
        pages[ROOT / row["step"] / "README.md"][f"try {row['try']}"] = outcome(row)
    stale = False
    for path, tables in pages.items():
        new = text = path.read_text()
        for name, table in tables.items():
            new = filled(new, name, table)
        if new == text:
            continue
        stale = True
        if options.check:
            print(f"tables.py: {path.relative_to(ROOT)} is stale: run make tables", file=sys.stderr)
        else:
            unfinished = path.with_suffix(".tmp")
            unfinished.write_text(new)
            os.replace(unfinished, path)
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
