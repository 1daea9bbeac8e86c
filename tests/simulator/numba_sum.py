"""A sum in Numba, without the barrier in its loop: a data race. With the argument `right`, the barrier is there."""

import sys

import numpy
from numba import cuda, float32

HAS_BARRIER = sys.argv[1:] == ["right"]


@cuda.jit(lineinfo=True)  # the checker then names Python lines
def total(numbers, out):
    sums = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    sums[t] = numbers[cuda.grid(1)]
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            sums[t] += sums[t + half]
        if HAS_BARRIER:
            cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, sums[0])


numbers = cuda.to_device(numpy.ones(1024, dtype=numpy.float32))
out = cuda.to_device(numpy.zeros(1, dtype=numpy.float32))
total[4, 256](numbers, out)
print(out.copy_to_host()[0])
