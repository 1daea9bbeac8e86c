"""The operator of step 02 in a reduction of cuda.compute. Needs cuda-cccl, CuPy, nvcc and a GPU; prints the largest of 2^24 numbers and the sum of the
powers relative to it."""

import subprocess
import tempfile
from pathlib import Path

import cupy
import numpy
from cuda.compute import reduce_into
from cuda.compute.op import RawOp

LESSON = (Path(__file__).parents[1] / "step02_online/rows.cu").read_text(encoding="utf-8").split("// ==== Harness")[0]
OPERATOR = """
extern "C" __device__ void merge_pairs(void *a, void *b, void *result)
{
    *(Partial *)result = merge(*(Partial *)a, *(Partial *)b);
}
"""


def link_time_code(source):
    """The device code of a source, in the form that CUDA links when a kernel is built."""
    with tempfile.TemporaryDirectory() as folder:
        program, code = Path(folder, "operator.cu"), Path(folder, "operator.ltoir")
        program.write_text(source, encoding="utf-8")
        arch = f"-arch=lto_{cupy.cuda.Device().compute_capability}"
        subprocess.run(["nvcc", "-w", "-std=c++17", "-dlto", "-ltoir", "-dc", arch, "-o", code, program], check=True)
        return code.read_bytes()


numbers = cupy.random.standard_normal(1 << 24, dtype=cupy.float32)
pairs = cupy.stack([numbers, cupy.ones_like(numbers)], axis=1).view(cupy.uint64).ravel()  # 8 bytes each: largest, sum
no_numbers = numpy.array([numpy.finfo(numpy.float32).min, 0], dtype=numpy.float32).view(numpy.uint64)
total = cupy.empty(1, dtype=cupy.uint64)
reduce_into(d_in=pairs, d_out=total, num_items=pairs.size, op=RawOp(ltoir=link_time_code(LESSON + OPERATOR), name="merge_pairs"), h_init=no_numbers)

largest, powers = total.view(cupy.float32).tolist()
print(f"cuda.compute: largest {largest:.4f}, sum of powers {powers:.1f}")
print(f"CuPy, double: largest {float(numbers.max()):.4f}, sum of powers {float(cupy.exp(numbers.astype(float) - float(numbers.max())).sum()):.1f}")
