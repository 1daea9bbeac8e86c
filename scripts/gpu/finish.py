#!/usr/bin/env python3
"""Measures when the blocks of a launch end. Adds a clock to steps, and to their Tries marked with beside_cub, and writes one CSV:
microseconds from the first block's start until the first, a quarter, half, three quarters and the last of the blocks have ended."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from drywarp import files
from drywarp.errors import Parser
from scripts.ladder import tries

HEADER = "step,elements,blocks,first_us,quarter_us,half_us,three_quarters_us,last_us"
CLOCK = 'asm volatile("mov.u64 %0, %%globaltimer;" : "=l"({}[blockIdx.x]));'
REPORT = """
    static unsigned long long begin[MAX_BLOCKS], end[MAX_BLOCKS];
    CHECK(cudaMemcpyFromSymbol(begin, started, sizeof begin));
    CHECK(cudaMemcpyFromSymbol(end, ended, sizeof end));
    const long long blocks = std::find(begin, begin + MAX_BLOCKS, 0ull) - begin; // entries of blocks that did not start are 0
    const unsigned long long first = *std::min_element(begin, begin + blocks);
    std::sort(end, end + blocks);
    printf("%lld", blocks);
    for (int quarter = 0; quarter <= 4; quarter++)
        printf(",%.3f", (end[(blocks - 1) * quarter / 4] - first) / 1e3);
    printf("\\n");
    return 0;
"""
# (pattern of a line, the line with the text added before or after it)
ADDED = [
    (r"^__device__ Word partial_sums\[.*\n", r"\g<0>__device__ unsigned long long started[MAX_BLOCKS], ended[MAX_BLOCKS];\n"),
    (r"^    const long long count = .*\n", r"\g<0>    if (tid == 0)\n        " + CLOCK.format("started") + r"\n"),
    (r"^    return reduce_block<block_size>\(sum\);\n", r"    if (tid == 0)\n        " + CLOCK.format("ended") + r"\n\g<0>"),
    (r"^    const std::vector<float> ms = time_runs\(&d\);\n", lambda found: found[0] + REPORT),
]


def programs(step):
    """Names and sources of the measured programs: the step, and its first Try that is timed beside CUB."""
    return [(step, tries.source_of(step).read_text(encoding="utf-8")),
            *((name, tries.changed(step, number)) for name, number in tries.beside_cub(step)[:1])]


def with_clock(name, source):
    for pattern, text in ADDED:
        source, count = re.subn(pattern, text, source, flags=re.M)
        if count != 1:
            sys.exit(f"finish.py: {name}: expected one match of {pattern}, found {count}")
    return source


def main():
    parser = Parser(description=__doc__)
    parser.add_argument("--compiler", default="nvcc -O3 -arch=native")
    parser.add_argument("--output", type=Path, default=Path("results/finish.csv"))
    parser.add_argument("steps", nargs="+", type=tries.step_name)
    options = parser.parse_args()
    rows = [HEADER]
    with tempfile.TemporaryDirectory() as directory:
        for name, source in (program for step in options.steps for program in programs(step)):
            program = tries.build(options.compiler, with_clock(name, source), Path(directory) / name)
            for elements in (1 << 26, 1 << 30):
                run = subprocess.run([program, str(elements)], capture_output=True, text=True)
                if run.returncode != 0:
                    sys.exit(f"finish.py: {name}: exit status {run.returncode}: {run.stderr.strip()}")
                rows.append(f"{name},{elements},{run.stdout.strip()}")
    with files.whole(options.output) as file:
        file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
