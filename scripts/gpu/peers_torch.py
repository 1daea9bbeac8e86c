#!/usr/bin/env python3
"""peers_torch.py ELEMENTS: torch.sum, timed as the steps are: a CSV row with a cold, one with a warm L2 cache."""

import statistics
import sys

if "--help" in sys.argv:
    sys.exit(print(__doc__))
try:
    import torch
except ModuleNotFoundError:
    sys.exit("peers_torch.py: this python3 has no torch; peers.sh leaves torch.sum out then")


def median_ms(data, flush):
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


def main():
    elements = int(sys.argv[1])
    data = torch.ones(elements, device="cuda")
    flush = torch.zeros(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.int8, device="cuda")
    for cache, buffer in (("cold", flush), ("warm", None)):
        ms = median_ms(data, buffer)
        print(f"torch.sum,{cache},{elements},{ms:.6f},{elements * 4 / ms / 1e6:.3f}")


if __name__ == "__main__":
    main()
