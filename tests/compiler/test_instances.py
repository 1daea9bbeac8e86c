"""Which instances of kernel templates a program has: those that its host code needs. The names are those of nvcc's PTX."""

import re
import subprocess

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.builds("build/sim/compile")

COMPILE = ROOT / "build/sim/compile"
KERNELS = """
template <class T> __global__ void one(T *p) { *p = 1; }
template <class T, int N> __global__ void two(T *p) { p[N] = 1; }
"""
CASES = {
    "a member next to members of a host library's type": ("""
        template <class T> struct Data { std::vector<T> host; T *in; cudaEvent_t start; };
        template <class T> static void run(const Data<T> &d) { one<<<1, 1>>>(d.in); }
        int main() { Data<float> d = {}; run(d); }""", ["_Z3oneIfEvPT_"]),
}


@pytest.mark.parametrize("name", CASES)
def test_host_code_decides_which_instances_there_are(name, tmp_path):
    """Broken: a construct of host code is not followed, so that kernels that it launches are not in the PTX; or kernels that it does not launch are."""
    text, expected = CASES[name]
    (tmp_path / "k.cu").write_text(KERNELS + text)
    result = subprocess.run([COMPILE, "k.cu", "-o", "-"], capture_output=True, text=True, cwd=tmp_path, timeout=20)
    assert result.returncode == 0, result.stderr
    assert sorted(re.findall(r"\.entry (\w+)", result.stdout)) == sorted(expected)
