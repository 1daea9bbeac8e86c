"""Intrinsics: what the kernel compiler makes of them computes the same as nvcc's PTX, on the simulator. simulator/compiler/README.md adds one."""

import random
import subprocess
from pathlib import Path

import pytest

from tests.simulator import ptx
from tests.support import ROOT, nvcc

pytestmark = (pytest.mark.builds("build/sim/compile", "build/sim/ptx_run") if nvcc() else
              pytest.mark.skip(reason="nvcc was not found: make toolkit installs it"))

COMPILE = ROOT / "build/sim/compile"
# Expressions of three random unsigned numbers a, b and c, some of which are small. The result is unsigned: cases of other types convert to it.
CASES = [
    "__brevll((unsigned long long)a << 32 | b) >> (c & 32)",  # 64 bits: one half of them
    "__brev(a)",
    "__byte_perm(a, b, c)",
    "__byte_perm(7, a, 0x3210)",  # constants: ptxas decides where PTX allows them
    "__float_as_uint(__fadd_rz((float)(int)a, (float)(int)b))",
    "__double2loint(exp((int)a * 0x1p-21)) ^ __double2hiint(exp((int)a * 0x1p-21))",  # also results that are too large or small for a double
    "__double2loint(log(__hiloint2double(a, b))) ^ __double2hiint(log(__hiloint2double(a, b)))",
    "__double2loint(rsqrt(__hiloint2double(a, b))) ^ __double2hiint(rsqrt(__hiloint2double(a, b)))",
    "__ffs(a & b)",
    "__fns(a, b % 32, (int)(c % 65) - 32)",
    "__fns(0xf0f0, a % 32, 2)",
    "__funnelshift_l(a, b, c)",
    "__sad((int)a, (int)b, c)",
    "__usad(a, 7, 9)",
    "__vsadu4(a, b)",
    "__vsadu4(7, a)",
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


def assemble(folder, text):
    """Fails with ptxas's message if the PTX is invalid: the simulator is less strict."""
    (folder / "ours.ptx").write_text(text)
    result = subprocess.run([Path(nvcc()).with_name("ptxas"), "-arch=sm_90", "-o", "ours.cubin", "ours.ptx"], capture_output=True, text=True, cwd=folder)
    assert result.returncode == 0, result.stderr


def test_intrinsics_compute_what_nvcc_s_do(tmp_path, monkeypatch):
    """Broken: a row of the table has invalid PTX, the wrong instruction or the wrong order of operands."""
    monkeypatch.setenv("SIM_CHECK", "0")  # ptx_run gives an input that the checker does not know
    (tmp_path / "k.cu").write_text(source())
    rng = random.Random(1)
    rows = [[number(rng) for _ in range(3)] for _ in range(640)]
    texts = []
    for command in ([COMPILE, "-o", "made.ptx", "k.cu"], [nvcc(), "-ptx", "-arch=compute_90", "-o", "made.ptx", "k.cu"]):
        subprocess.run(command, check=True, cwd=tmp_path)
        texts.append((tmp_path / "made.ptx").read_text())
    assemble(tmp_path, texts[0])
    results = [ptx.run(tmp_path, text, [list(row) for row in rows]) for text in texts]
    for i, (ours, theirs) in enumerate(zip(*results)):
        assert ours == theirs, (CASES[i % len(CASES)], rows[i])
