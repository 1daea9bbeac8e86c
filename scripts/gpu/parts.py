#!/usr/bin/env python3
"""Times steps as they are, without the tree, without the loads from memory, and without both, and writes one CSV.

It shows what a block spends its time on. Without a part the sums are wrong, so the check is removed too."""

import csv
import os
import re
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drywarp import files
from drywarp.errors import Parser
from scripts.ladder import tries

COLUMNS = ["step", "part", "elements", "median_ms"]
ROUNDS = 3
CHECK = "16.0 * sum != (double)expected"
KERNEL = re.compile(r"__global__ void reduce\(.*?^}\n", re.M | re.S)


def loads_alone(kernel):
    """The kernel without the tree: each thread loads, and stores its value in shared memory."""
    kernel = re.sub(r"^    for \(unsigned s = .*?^    }\n", "", kernel, flags=re.M | re.S)
    return re.sub(r"^    if \(tid < 32\)\n.*\n", "", kernel, flags=re.M)


def adding_alone(kernel):
    """The kernel with every block reading block 0's elements, which are in the caches; the tree is unchanged."""
    return kernel.replace("(long long)blockIdx.x *", "0ll *")


PARTS = {"whole": lambda kernel: kernel, "loads alone": loads_alone, "adding alone": adding_alone,
         "neither": lambda kernel: loads_alone(adding_alone(kernel))}


def part_of(step, change):
    """The step's program with a changed kernel; without the check, if the kernel changed."""
    source = (tries.ROOT / step / "reduce.cu").read_text()
    kernel = KERNEL.search(source)[0]
    changed = change(kernel)
    if changed == kernel:
        return source
    if source.count(CHECK) != 1:
        sys.exit(f"parts.py: {step}: the harness does not have exactly one line with \"{CHECK}\"")
    return source.replace(kernel, changed).replace(CHECK, "false")


def main():
    parser = Parser(description=__doc__)
    parser.add_argument("--elements", type=tries.elements, default=1 << 26)
    parser.add_argument("--compiler", default="nvcc -O3 -arch=native")
    parser.add_argument("--output", type=Path, default=Path("results/parts.csv"))
    parser.add_argument("steps", nargs="+", type=tries.step_name)
    options = parser.parse_args()
    cases = [(step, part) for step in options.steps for part in PARTS]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(os.cpu_count()) as workers:
        programs = list(workers.map(lambda case: tries.build(options.compiler, part_of(case[0], PARTS[case[1]]),
                                                             Path(directory) / "-".join(case)), cases))
        times = [[tries.milliseconds([program, "--csv", str(options.elements)]) for program in programs] for _ in range(ROUNDS)]
    with files.whole(options.output) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for case, ms in zip(cases, zip(*times)):
            writer.writerow([*case, options.elements, f"{statistics.median(ms):.6f}"])


if __name__ == "__main__":
    main()
