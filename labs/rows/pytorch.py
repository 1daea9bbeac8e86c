#!/usr/bin/env python3
"""pytorch.py FILE.csv [COLUMNS...]: torch's, torch.compile's and Triton's softmax, LayerNorm and RMSNorm of the rows that the lab times.

Times are taken as in the lab's harness: L2 cache cold, median. Errors are those of the harness, too: compared with double."""

import csv
import functools
import statistics
import sys

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

COLUMNS = (128, 512, 1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144)
ELEMENTS = 1 << 28
RUNS = 15
TRITON_LONGEST = 65536  # columns that one program can hold
WARPS = (4, 8, 16, 32)
BLOCK = 8192            # columns of a longer row that a Triton program holds at a time


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


def torch_operations(columns, gain, bias):
    """For each operation: the function of torch."""
    return {"softmax": lambda x: torch.softmax(x, -1),
            "layernorm": lambda x: torch.nn.functional.layer_norm(x, (columns,), gain, bias, 1e-5),
            "rmsnorm": lambda x: torch.nn.functional.rms_norm(x, (columns,), gain, 1e-5)}


if triton:
    @triton.jit
    def whole_rows(out, inp, C: tl.constexpr, R: tl.constexpr):
        row = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)[:, None]
        at = row * C + tl.arange(0, C)[None, :]
        x = tl.load(inp + at).to(tl.float32)
        power = tl.exp(x - tl.max(x, axis=1)[:, None])
        tl.store(out + at, (power / tl.sum(power, axis=1)[:, None]).to(out.dtype.element_ty))

    @triton.jit
    def online(out, inp, C: tl.constexpr, B: tl.constexpr):
        at = tl.program_id(0).to(tl.int64) * C + tl.arange(0, B)
        largest = tl.full((B,), float("-inf"), tl.float32)
        total = tl.zeros((B,), tl.float32)
        for first in range(0, C, B):
            x = tl.load(inp + at + first).to(tl.float32)
            larger = tl.maximum(largest, x)
            total = total * tl.exp(largest - larger) + tl.exp(x - larger)
            largest = larger
        top = tl.max(largest, axis=0)
        total = tl.sum(total * tl.exp(largest - top), axis=0)
        for first in range(0, C, B):
            x = tl.load(inp + at + first).to(tl.float32)
            tl.store(out + at + first, (tl.exp(x - top) / total).to(out.dtype.element_ty))


def triton_softmax(x, warps):
    """At least 4096 numbers per program, in whole rows of at most TRITON_LONGEST."""
    rows, columns = x.shape
    out = torch.empty_like(x)
    if columns <= TRITON_LONGEST:
        together = max(1, 4096 // columns)
        whole_rows[(rows // together,)](out, x, C=columns, R=together, num_warps=warps)
    else:
        online[(rows,)](out, x, C=columns, B=BLOCK, num_warps=warps)
    return out


def largest_error(operation, got, exact):
    """Relative for softmax, otherwise divided by 1 + |exact|."""
    unit = exact.clamp(min=1e-30) if operation == "softmax" else 1 + exact.abs()
    return ((got.double() - exact).abs() / unit).max().item()


def measured(writer, element, columns, flush):
    dtype = {"float": torch.float32, "bf16": torch.bfloat16}[element]
    rows = ELEMENTS // columns
    x = (torch.rand(rows, columns, device="cuda") * 8 - 4).to(dtype)
    gain, bias = (torch.rand(columns, device="cuda", dtype=dtype) for _ in range(2))
    some = x[:max(1, (1 << 22) // columns)]
    out = torch.empty_like(x)
    variants = [("copy", "PyTorch copy_", lambda x: out.copy_(x))]
    exact = torch_operations(columns, gain.double(), bias.double())
    for operation, function in torch_operations(columns, gain, bias).items():
        torch._dynamo.reset()
        variants += [(operation, "PyTorch eager", function), (operation, "torch.compile", torch.compile(function, dynamic=False))]
    if triton:
        variants += [("softmax", f"Triton {warps}", functools.partial(triton_softmax, warps=warps)) for warps in WARPS]
    for operation, name, function in variants:
        error = 0 if operation == "copy" else largest_error(operation, function(x)[:len(some)], exact[operation](some.double()))
        ms = median_ms(lambda: function(x), flush)
        writer.writerow([name, operation, element, rows, columns, f"{ms:.6f}", f"{2 * x.numel() * x.element_size() / ms / 1e6:.2f}", f"{error:.3g}"])


def main():
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(map(str, COLUMNS)):
        sys.exit(f"usage: {__doc__.splitlines()[0]} COLUMNS: {', '.join(map(str, COLUMNS))}")
    flush = torch.zeros(2 * torch.cuda.get_device_properties(0).L2_cache_size // 4, device="cuda")
    with files.whole(sys.argv[1]) as file, torch.no_grad():
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "operation", "element", "rows", "columns", "median_ms", "gb_per_s", "largest_error"])
        for element in ("float", "bf16"):
            for columns in map(int, sys.argv[2:] or COLUMNS):
                measured(writer, element, columns, flush)


if __name__ == "__main__":
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    if torch is None:
        sys.exit("pytorch.py: this python3 has no torch")
    main()
