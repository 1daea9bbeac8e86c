#!/usr/bin/env python3
"""peers.py --output FILE.csv PEERS PROGRAM...: the programs beside what others offer, one table from one run, with a cold and with a warm L2 cache.

PEERS is the program built from peers.cu. torch.sum takes part where python3 has torch."""

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

from scripts import files

try:
    import torch
except ModuleNotFoundError:
    torch = None

SIZES = (1 << 20, 1 << 26, 1 << 30)
HEADER = "name,cache,elements,median_ms,gb_per_s"


def printed(words):
    """What a program prints."""
    run = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"peers.py: {words[0]}: exit status {run.returncode}")
    return run.stdout


def row_of_step(program, elements, cache):
    name, _, n, _, median_ms, _, _, _, gb_per_s, *_ = files.last_row(printed([program, "--csv", *(["--warm"] if cache == "warm" else []), elements]))
    return f"{name},{cache},{n},{median_ms},{gb_per_s}"


def torch_median_ms(data, flush):
    """Timed as the steps are."""
    times = []
    for _ in range(31):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        if flush is not None:
            flush.sum()  # read, so that no line is left to be written back
        torch.cuda._sleep(200_000)  # cycles, in which the host queues what comes
        start.record()
        data.sum()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times[1:])


def rows_of_torch(elements):
    data = torch.ones(elements, device="cuda")
    flush = torch.zeros(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.int8, device="cuda")
    for cache, buffer in (("cold", flush), ("warm", None)):
        ms = torch_median_ms(data, buffer)
        yield f"torch.sum,{cache},{elements},{ms:.6f},{elements * 4 / ms / 1e6:.3f}"


def table(options):
    for elements in SIZES:
        for cache in ("cold", "warm"):
            yield from (row_of_step(program, elements, cache) for program in options.programs)
        yield from printed([options.peers, elements]).splitlines()
        if torch:
            yield from rows_of_torch(elements)
            torch.cuda.empty_cache()  # the programs need the memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("peers")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    if torch is None:
        print("peers.py: python3 has no torch; torch.sum is left out", file=sys.stderr)
    with files.whole(options.output) as file:
        for line in [HEADER, *table(options)]:
            print(line, flush=True)
            file.write(line + "\n")


if __name__ == "__main__":
    main()
