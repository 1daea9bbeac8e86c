#!/usr/bin/env python3
"""Step 03's reduction in Numba's CUDA simulator and in ours, on the same number of elements."""

import os
import subprocess
import sys
import time

if "--help" in sys.argv:
    sys.exit(print(__doc__))
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
try:
    import numpy as np
    from numba import cuda, float32
except ModuleNotFoundError:
    sys.exit("compare_numba.py: this python3 has no numba; make compare-numba uses one that has")

BLOCK_SIZE = 256


@cuda.jit
def reduce(data, out, n):
    sums = cuda.shared.array(BLOCK_SIZE, float32)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    sums[tid] = data[i] if i < n else 0
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if tid < s:
            sums[tid] += sums[tid + s]
        cuda.syncthreads()
        s //= 2
    if tid == 0:
        out[cuda.blockIdx.x] = sums[0]


def numba_seconds(elements):
    """One whole reduction to one value, its sum checked."""
    data = np.random.default_rng(1).integers(-8, 9, elements).astype(np.float32)
    start, values = time.perf_counter(), data
    while len(values) > 1:
        out = np.zeros((len(values) + BLOCK_SIZE - 1) // BLOCK_SIZE, np.float32)
        reduce[len(out), BLOCK_SIZE](values, out, len(values))
        values = out
    assert values[0] == data.sum()
    return time.perf_counter() - start


def our_seconds(program, elements):
    """The whole program makes four reductions, and its data: all of that is charged to one."""
    start = time.perf_counter()
    subprocess.run([program, str(elements)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        sys.exit("usage: compare_numba.py PROGRAM ELEMENTS")
    program, elements = sys.argv[1], int(sys.argv[2])
    ours, numba = our_seconds(program, elements), numba_seconds(elements)
    print(f"n = {elements}: Numba {numba:.3f} s, ours {ours:.3f} s with start and data, {numba / ours:.0f} times faster")


if __name__ == "__main__":
    main()
