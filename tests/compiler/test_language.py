"""Features of C++ that random kernels do not have: tests/compiler/language. The host's compiler is the referee, as for random kernels."""

import re
from pathlib import Path

import pytest

from tests.compiler import pass_examples
from tests.compiler.random import check

pytestmark = pytest.mark.builds("build/sim/compile", "build/sim/libcuda.so.1")

BEGIN = """#define KERNEL(name) __global__ void name(const int *in, const float *inf, const unsigned long long *in64, int *out, int n)
#define INDEX const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid
"""
SOURCES = sorted((Path(__file__).parent / "language").glob("*.cu"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_kernels_give_the_results_of_the_host(source, tmp_path):
    """Broken: a feature is compiled to wrong code, or rejected."""
    text, data = source.read_text(), check.input_bytes("language")
    names = sorted(set(re.findall(r"^KERNEL\((\w+)\)", text, re.M)))
    parts = [(name, BEGIN + text if name == names[0] else "") for name in names]
    outputs, undefined = check.on_host(parts, data, tmp_path)
    assert outputs and not undefined, undefined
    assert any(any(output) for output in outputs.values())
    ptx, said = check.compile_kernels([str(pass_examples.COMPILE)], parts, tmp_path, "compile")
    assert ptx, said
    assert check.on_simulator(ptx, names, data, tmp_path) == {name: check.digest_of(data, outputs[name]) for name in names}
