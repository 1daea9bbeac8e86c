#!/usr/bin/env python3
"""Measures the block duration of steps 01 to 07: adds a clock to each step and writes one CSV, a row per pass of each step.

step06_fullunroll,1 is step 06 with its Try 1. A row has the mean block duration in microseconds, and the time of the whole step without the clock and with it."""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drywarp import files
from drywarp.errors import Parser
from scripts.ladder import tries

COLUMNS = ["step", "elements", "pass", "blocks", "slots", "duration_us", "median_ms", "clocked_ms"]
MAX_BLOCKS = 1 << 18  # step 01's first pass over 2^26 elements
# A pass of B blocks writes their durations from index B on. Passes do not overlap there: each is at most half the size of the one before.
CLOCK = f"""
__device__ unsigned durations_ns[{2 * MAX_BLOCKS}];

__device__ unsigned long long nanoseconds()
{{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}}
"""
REPORT = f"""
    static unsigned ns[{2 * MAX_BLOCKS}];
    CHECK(cudaMemcpyFromSymbol(ns, durations_ns, sizeof ns));
    const int slots = device.multiProcessorCount * (device.maxThreadsPerMultiProcessor / BLOCK_SIZE);
    printf("%.6f\\n", (ms[(ms.size() - 1) / 2] + ms[ms.size() / 2]) / 2);
    for (long long n = d.n; n > 1; n = partial_count(n)) {{
        const long long blocks = partial_count(n);
        double sum = 0;
        for (long long block = 0; block < blocks; block++)
            sum += ns[blocks + block] / 1e3;
        printf("%lld,%d,%.4f\\n", blocks, slots, sum / blocks);
    }}
    return 0;
"""
# (pattern of a line, text added after it)
ADDED = [
    (r"^static const char STEP\[\].*\n", CLOCK),
    (r"^__global__ void reduce\(.*\n(?:.*\n)*?    const unsigned tid = threadIdx.x;\n", "    const unsigned long long begun = tid == 0 ? nanoseconds() : 0;\n"),
    (r"^    if \(tid == 0\)\n        out\[blockIdx.x\] = sums\[0\];\n", "    if (tid == 0)\n        durations_ns[gridDim.x + blockIdx.x] = nanoseconds() - begun;\n"),
    (r"^    const std::vector<float> ms = time_runs\(&d\);\n", REPORT),
]


def program_of(word):
    """The program of a step, such as step06_fullunroll, or of one of its Tries, such as step06_fullunroll,1."""
    step, _, number = word.partition(",")
    return tries.changed(step, int(number)) if number else tries.source_of(step).read_text(encoding="utf-8")


def with_clock(step):
    """The program with a clock: it prints its median time and, for each pass, blocks, slots and mean block duration."""
    source = program_of(step)
    for pattern, text in ADDED:
        source, count = re.subn(pattern, lambda found, added=text: found[0] + added, source, flags=re.M)
        if count != 1:
            sys.exit(f"block_duration.py: {step}: expected one match of {pattern}, found {count}")
    return source


def passes(step, program, elements):
    """The output of the program with a clock: its milliseconds, and (blocks, slots, duration) of each pass."""
    run = subprocess.run([program, str(elements)], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"block_duration.py: {step}: exit status {run.returncode}: {run.stderr.strip()}")
    clocked_ms, *rows = run.stdout.split()
    return clocked_ms, [row.split(",") for row in rows]


def step_or_try(text):
    """A step, or STEP,TRY, for argparse."""
    step, comma, number = text.partition(",")
    if comma and not number.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is neither a step nor a step and a Try, as in step06_fullunroll,1")
    return tries.step_name(step) + comma + number


def main():
    parser = Parser(description=__doc__)
    parser.add_argument("--elements", type=tries.elements, default=1 << 26)
    parser.add_argument("--compiler", default="nvcc -O3 -arch=native")
    parser.add_argument("--output", type=Path, default=Path("results/block-duration.csv"))
    parser.add_argument("steps", nargs="+", type=step_or_try)
    options = parser.parse_args()
    if options.elements > 256 * MAX_BLOCKS:
        parser.error(f"{options.elements} elements are too many: the maximum is {256 * MAX_BLOCKS}")
    sources = [(step, name, source) for step in options.steps
               for name, source in (("plain", program_of(step)), ("clocked", with_clock(step)))]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(os.cpu_count()) as workers:
        built = list(workers.map(lambda case: tries.build(options.compiler, case[2], Path(directory) / case[0] / case[1]), sources))
        rows = []
        for step, plain, clocked in zip(options.steps, built[::2], built[1::2]):
            ms = tries.milliseconds([plain, "--csv", str(options.elements)])
            clocked_ms, durations = passes(step, clocked, options.elements)
            rows += [[step, options.elements, number, *duration, f"{ms:.6f}", clocked_ms] for number, duration in enumerate(durations, 1)]
    with files.whole(options.output) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
