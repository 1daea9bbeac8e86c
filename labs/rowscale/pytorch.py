#!/usr/bin/env python3
"""pytorch.py FILE.csv PROGRAM: step 05 compared with PyTorch, eager and compiled, on rows of 128 numbers.

PROGRAM is step 05's. Times are taken as in its harness: L2 cache cold, median."""

import csv
import statistics
import subprocess
import sys

from drywarp import files

ROWS, COLUMNS = 442368, 128
RUNS = 51


def scaled(rows):
    """Each row divided by its largest absolute value; a row of zeros does not change. (NaN makes the whole row NaN here.)"""
    largest = rows.abs().amax(dim=1, keepdim=True)
    return rows / torch.where(largest == 0, 1.0, largest)


def median_ms(work, flush):
    times = []
    for _ in range(RUNS + 3):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flush.sum()  # evicts the cache, and leaves no modified line to write back
        torch.cuda._sleep(400_000)  # cycles, in which the host queues the timed work
        start.record()
        work()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times[3:])  # the first ones compile and allocate


def measured_by_torch():
    """(name, milliseconds), for each variant of PyTorch."""
    rows = torch.rand(ROWS, COLUMNS, device="cuda") * 2 - 1
    flush = torch.zeros(2 * torch.cuda.get_device_properties(0).L2_cache_size // 4, device="cuda")
    compiled = torch.compile(scaled)
    assert torch.allclose(compiled(rows), scaled(rows), rtol=1e-6)  # its division is not rounded as IEEE requires
    out = torch.empty_like(rows)
    return [("PyTorch eager", median_ms(lambda: scaled(rows), flush)), ("torch.compile", median_ms(lambda: compiled(rows), flush)),
            ("PyTorch copy_", median_ms(lambda: out.copy_(rows), flush))]


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {__doc__.splitlines()[0]}")
    printed = subprocess.run([sys.argv[2], "--csv", str(ROWS)], capture_output=True, text=True, check=True).stdout
    ours = next(row for row in csv.DictReader(printed.splitlines()) if row["columns"] == str(COLUMNS))
    with files.whole(sys.argv[1]) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "rows", "columns", "median_ms", "gb_per_s"])
        for name, ms in [(ours["step"], float(ours["median_ms"])), *measured_by_torch()]:
            writer.writerow([name, ROWS, COLUMNS, f"{ms:.6f}", f"{2 * ROWS * COLUMNS * 4 / ms / 1e6:.2f}"])


if __name__ == "__main__":
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    try:
        import torch
    except ModuleNotFoundError:
        sys.exit("pytorch.py: this python3 has no torch")
    main()
