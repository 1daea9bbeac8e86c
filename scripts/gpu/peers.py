#!/usr/bin/env python3
"""peers.py --output FILE.csv PEERS PROGRAM...: compares the programs with other libraries in one table, with a cold and with a warm L2 cache.

PEERS is the program built from peers.cu. torch.sum is included if python3 has torch, and a Triton kernel if it also has triton."""

import argparse
import datetime
import statistics
import subprocess
import sys
from pathlib import Path

from drywarp import files

try:
    import torch
except ModuleNotFoundError:
    torch = None
try:
    import triton
    import triton.language as tl
except ModuleNotFoundError:
    triton = None

SIZES = (1 << 20, 1 << 26, 1 << 30)
HEADER = "name,cache,elements,median_ms,gb_per_s,version,date"
TODAY = datetime.datetime.now(datetime.timezone.utc).date()


def run_of(words):
    """Runs a program and captures its output."""
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True)


def row_of_step(program, elements, cache, cub_version):
    run = run_of([program, "--csv", *(["--warm"] if cache == "warm" else []), elements])
    if run.returncode != 0:
        sys.exit(f"peers.py: {program}: exit status {run.returncode}")
    name, _, n, _, median_ms, _, _, _, gb_per_s, *_ = files.last_row(run.stdout)
    return f"{name},{cache},{n},{median_ms},{gb_per_s},{cub_version if name == 'reference_cub' else ''},{TODAY}"


def rows_of_peers(program, elements):
    """The rows of the libraries that work; PEERS reports those that fail."""
    run = run_of([program, elements])
    if run.returncode != 0:
        print(f"peers.py: {program} {elements}: exit status {run.returncode}; its remaining rows are skipped", file=sys.stderr)
    return run.stdout.splitlines()


def median_ms(run, flush):
    """Median milliseconds, timed as the steps are."""
    times = []
    for _ in range(31):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        if flush is not None:
            flush.sum()  # a read leaves no dirty lines
        torch.cuda._sleep(400_000)  # cycles, in which the host queues the launches
        start.record()
        run()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times[1:])


if triton:
    TILE, WARPS, PROGRAMS_PER_SM = 4096, 8, 8

    @triton.jit
    def sum_tiles(data, sums, n, TILE: tl.constexpr):
        """Each program adds up its tiles and stores one partial sum."""
        total = tl.zeros((TILE,), tl.float32)
        for start in range(tl.program_id(0) * TILE, n, tl.num_programs(0) * TILE):
            index = start + tl.arange(0, TILE)
            total += tl.load(data + index, mask=index < n, other=0.0)
        tl.store(sums + tl.program_id(0), tl.sum(total))


def triton_sum(data):
    """A typical Triton reduction: sums of tiles, then the sum of the partial sums."""
    sm_count = torch.cuda.get_device_properties(0).multi_processor_count
    programs = min(triton.cdiv(data.numel(), TILE), PROGRAMS_PER_SM * sm_count)
    sums, result = torch.empty(programs, device="cuda"), torch.empty(1, device="cuda")

    def run():
        sum_tiles[(programs,)](data, sums, data.numel(), TILE=TILE, num_warps=WARPS)
        sum_tiles[(1,)](sums, result, programs, TILE=TILE, num_warps=WARPS)
        return result
    return run


def rows_of_torch(elements):
    data = torch.ones(elements, device="cuda")
    flush = torch.zeros(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.int8, device="cuda")
    for name, run in {"torch.sum": data.sum, **({"Triton in two passes": triton_sum(data)} if triton else {})}.items():
        found = float(run())
        if abs(found / elements - 1) > 0.01:
            print(f"peers.py: {name} is skipped: its sum of {elements} ones is {found:.9g}", file=sys.stderr)
            continue
        for cache, buffer in (("cold", flush), ("warm", None)):
            ms = median_ms(run, buffer)
            version = (triton if "Triton" in name else torch).__version__
            yield f"{name},{cache},{elements},{ms:.6f},{elements * 4 / ms / 1e6:.3f},{version},{TODAY}"


def table(options):
    for elements in SIZES:
        of_peers = rows_of_peers(options.peers, elements)
        # CUB has the version of Thrust.
        cub_version = next((row.split(",")[5] for row in of_peers if row.startswith("thrust::reduce")), "")
        for cache in ("cold", "warm"):
            yield from (row_of_step(program, elements, cache, cub_version) for program in options.programs)
        yield from of_peers
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
        print("peers.py: python3 has no torch; torch.sum is skipped", file=sys.stderr)
    elif triton is None:
        print("peers.py: python3 has no triton; its kernel is skipped", file=sys.stderr)
    with files.whole(options.output) as file:
        for line in [HEADER, *table(options)]:
            print(line, flush=True)
            file.write(line + "\n")


if __name__ == "__main__":
    main()
