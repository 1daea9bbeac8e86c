"""The kernel of step 02, started by CuPy. Needs CuPy, nvcc and a GPU; prints what it computed."""

from pathlib import Path

import cupy

LESSON = (Path(__file__).parents[1] / "step02_online/rows.cu").read_text(encoding="utf-8").split("// ==== Harness")[0]

softmax = cupy.RawModule(code=LESSON, options=("-std=c++17",), backend="nvcc").get_function("_Z7softmaxPKfPfi")
matrix = cupy.random.standard_normal((4096, 1024), dtype=cupy.float32)
result = cupy.empty_like(matrix)
rows, columns = matrix.shape
softmax((rows,), (256,), (matrix, result, cupy.int32(columns)))

powers = cupy.exp(matrix - matrix.max(axis=1, keepdims=True))
error = abs(result - powers / powers.sum(axis=1, keepdims=True)).max()
print(f"CuPy {cupy.__version__}, {rows} rows of {columns} numbers, largest difference from CuPy's own operations: {float(error):.1e}")
