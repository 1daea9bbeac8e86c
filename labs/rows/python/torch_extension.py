"""The softmax of step 06 as a function of PyTorch. Needs PyTorch, nvcc and a GPU with clusters; prints what it computed and how long it took."""

from pathlib import Path

import torch
from torch.utils.cpp_extension import load_inline
from triton.testing import do_bench

LESSON = (Path(__file__).parents[1] / "step06_cluster/rows.cu").read_text(encoding="utf-8").split("// ==== Harness")[0]
BINDING = """
static void check(cudaError_t error, const char *call, const char *file, int line)
{
    TORCH_CHECK(error == cudaSuccess, file, ":", line, ": ", call, ": ", cudaGetErrorString(error));
}

torch::Tensor softmax_rows(torch::Tensor in)
{
    TORCH_CHECK(in.is_cuda() && in.dim() == 2 && in.is_contiguous() && in.dtype() == torch::kFloat32,
                "softmax_rows: accepted is a contiguous matrix of float32 on a GPU");
    torch::Tensor out = torch::empty_like(in);
    launch(in.data_ptr<float>(), out.data_ptr<float>(), in.size(0), in.size(1));
    return out;
}
"""

module = load_inline("rows", "torch::Tensor softmax_rows(torch::Tensor in);", LESSON + BINDING, functions="softmax_rows")
matrix = torch.randn(4096, 65536, device="cuda")
error = (module.softmax_rows(matrix) - torch.softmax(matrix, 1)).abs().max().item()
print(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}, {matrix.shape[0]} rows of {matrix.shape[1]} numbers")
print(f"largest difference from torch.softmax: {error:.1e}")
print(f"step 06: {do_bench(lambda: module.softmax_rows(matrix)):.2f} ms, torch.softmax: {do_bench(lambda: torch.softmax(matrix, 1)):.2f} ms")
