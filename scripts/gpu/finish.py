#!/usr/bin/env python3
"""When do the blocks of a launch end? Adds a clock to programs of the single pass and writes one CSV: microseconds from
the first block's start until the first, a quarter, half, three quarters and the last of the blocks have ended."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts import files
from scripts.ladder import tries

HEADER = "step,elements,blocks,first_us,quarter_us,half_us,three_quarters_us,last_us"
CLOCK = 'asm volatile("mov.u64 %0, %%globaltimer;" : "=l"({}[blockIdx.x]));'
REPORT = """
    static unsigned long long begin[MAX_BLOCKS], end[MAX_BLOCKS];
    CHECK(cudaMemcpyFromSymbol(begin, started, sizeof begin));
    CHECK(cudaMemcpyFromSymbol(end, ended, sizeof end));
    const long long blocks = std::find(begin, begin + MAX_BLOCKS, 0ull) - begin; // those that started
    const unsigned long long first = *std::min_element(begin, begin + blocks);
    std::sort(end, end + blocks);
    printf("%lld", blocks);
    for (int quarter = 0; quarter <= 4; quarter++)
        printf(",%.3f", (end[(blocks - 1) * quarter / 4] - first) / 1e3);
    printf("\\n");
    return 0;
"""
# What is added, and the line before or after which it stands.
ADDED = [
    (r"^__device__ unsigned tickets;.*\n", r"\g<0>__device__ unsigned long long started[MAX_BLOCKS], ended[MAX_BLOCKS];\n"),
    (r"^    const float4 \*vectors = .*\n", r"\g<0>    if (tid == 0)\n        " + CLOCK.format("started") + r"\n"),
    (r"^    sum = reduce_block<block_size>\(sum\);\n    if \(gridDim", r"    if (tid == 0)\n        " + CLOCK.format("ended") + r"\n\g<0>"),
    (r"^    const std::vector<float> ms = time_runs\(&d\);\n", lambda found: found[0] + REPORT),
]


def with_clock(step):
    source = (tries.ROOT / step / "reduce.cu").read_text()
    for place, text in ADDED:
        source, count = re.subn(place, text, source, flags=re.M)
        if count != 1:
            sys.exit(f"finish.py: {step}: there is not one place for a clock like {place}")
    return source


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.error = lambda message: sys.exit(f"finish.py: {message}")  # one line, without the usage
    parser.add_argument("--compiler", default="nvcc -O3 -arch=native")
    parser.add_argument("--output", type=Path, default=Path("results/finish.csv"))
    parser.add_argument("steps", nargs="+", type=tries.step_name)
    options = parser.parse_args()
    rows = [HEADER]
    with tempfile.TemporaryDirectory() as directory:
        for step in options.steps:
            program = tries.build(options.compiler, with_clock(step), Path(directory) / step)
            for elements in (1 << 26, 1 << 30):
                run = subprocess.run([program, str(elements)], capture_output=True, text=True)
                if run.returncode != 0:
                    sys.exit(f"finish.py: {step}: exit status {run.returncode}: {run.stderr.strip()}")
                rows.append(f"{step},{elements},{run.stdout.strip()}")
    with files.whole(options.output) as file:
        file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
