"""Which instances of kernel templates a program has: those that its host code needs. The names are those of nvcc's PTX."""

import re
import subprocess

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.builds("build/sim/compile")

COMPILE = ROOT / "build/sim/compile"
KERNELS = """
#include <utility>
#include <vector>
template <class T> __global__ void one(T *p) { *p = 1; }
template <class T, int N> __global__ void two(T *p) { p[N] = 1; }
"""
CASES = {
    "a member next to members of a host library's type": ("""
        template <class T> struct Data { std::vector<T> host; T *in; cudaEvent_t start; };
        template <class T> static void run(const Data<T> &d) { one<<<1, 1>>>(d.in); }
        int main() { Data<float> d = {}; run(d); }""", ["_Z3oneIfEvPT_"]),
    "packs: of parameters, of no elements, of a sequence": ("""
        template <class T> struct Box { T t; };
        template <class... T> __global__ void all(Box<T>... box) { }
        template <class T, int... N> __global__ void some(T *p) { ((p[N] = 1), ...); }
        template <std::size_t... N> static void each(std::index_sequence<N...>) { (two<int, N + 4><<<1, 1>>>(nullptr), ...); }
        int main()
        {
            all<<<1, 1>>>(Box<int>(), Box<float>());
            some<<<1, 1>>>((double *)nullptr);
            each(std::make_index_sequence<2>());
        }""", ["_Z3allIJifEEvDp3BoxIT_E", "_Z4someIdJEEvPT_", "_Z3twoIiLi4EEvPT_", "_Z3twoIiLi5EEvPT_"]),
    "the value of an integral_constant": ("""
        template <class F> static void choose(F f) { f(std::integral_constant<int, 7>()); }
        int main()
        {
            choose([](auto n) { two<float, decltype(n)::value><<<1, 1>>>(nullptr); });
            choose([](auto n) { two<double, n()><<<1, 1>>>(nullptr); });
        }""", ["_Z3twoIfLi7EEvPT_", "_Z3twoIdLi7EEvPT_"]),
}


@pytest.mark.parametrize("name", CASES)
def test_host_code_decides_which_instances_there_are(name, tmp_path):
    """Broken: a construct of host code is not followed, so that kernels that it launches are not in the PTX; or kernels that it does not launch are."""
    text, expected = CASES[name]
    (tmp_path / "k.cu").write_text(KERNELS + text)
    result = subprocess.run([COMPILE, "k.cu", "-o", "-"], capture_output=True, text=True, cwd=tmp_path, timeout=20)
    assert result.returncode == 0, result.stderr
    assert sorted(re.findall(r"\.entry (\w+)", result.stdout)) == sorted(expected)
