"""Intrinsics: what the kernel compiler makes of them computes the same as nvcc's PTX, on the simulator. simulator/compiler/README.md adds one."""

import random
import subprocess

import pytest

from tests.simulator import ptx
from tests.support import ROOT, nvcc

pytestmark = pytest.mark.builds("build/sim/compile", "build/sim/ptx_run")

COMPILE = ROOT / "build/sim/compile"
# Expressions of three random unsigned numbers a, b and c, some of which are small.
CASES = [
    "__brev(a)",
    "__byte_perm(a, b, c)",
    "__ffs(a & b)",
    "__fns(a, b % 32, (int)(c % 65) - 32)",
    "__funnelshift_l(a, b, c)",
]


def source():
    """A kernel whose thread i computes case i % count."""
    cases = "".join(f"    case {number}: result = (unsigned)({expression}); break;\n" for number, expression in enumerate(CASES))
    return f"""extern "C" __global__ void k(const unsigned long long *in, unsigned long long *out)
{{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    unsigned result = 0;
    switch (i % {len(CASES)}) {{
{cases}    }}
    out[i] = result;
}}
"""


def number(rng):
    return rng.choice((0, 1, 31, 32, 1 << 31, 0xffffffff, rng.getrandbits(5), rng.getrandbits(32), rng.getrandbits(32)))


def test_intrinsics_compute_what_nvcc_s_do(tmp_path, monkeypatch):
    """Broken: a row of the table has the wrong PTX or the wrong order of operands."""
    monkeypatch.setenv("SIM_CHECK", "0")  # ptx_run gives an input that the checker does not know
    (tmp_path / "k.cu").write_text(source())
    rng = random.Random(1)
    rows = [[number(rng) for _ in range(3)] for _ in range(640)]
    results = []
    for command in ([COMPILE, "-o", "made.ptx", "k.cu"], [nvcc(), "-ptx", "-arch=compute_90", "-o", "made.ptx", "k.cu"]):
        subprocess.run(command, check=True, cwd=tmp_path)
        results.append(ptx.run(tmp_path, (tmp_path / "made.ptx").read_text(), [list(row) for row in rows]))
    for i, (ours, theirs) in enumerate(zip(*results)):
        assert ours == theirs, (CASES[i % len(CASES)], rows[i])
