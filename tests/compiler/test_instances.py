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
    "several parameters of the same dependent type": ("""
        template <class T, int N> struct Box { T at[N]; };
        template <class T, int N> __global__ void add(const Box<T, N> *a, const Box<T, N> *b, const Box<T, 2> *c, Box<float, N> d, Box<float, N> *e) { }
        int main() { add<<<1, 1>>>((Box<int, 4> *)0, (Box<int, 4> *)0, (Box<int, 2> *)0, Box<float, 4>(), (Box<float, 4> *)0); }""",
        ["_Z3addIiLi4EEvPK3BoxIT_XT0_EES4_PKS0_IS1_Li2EES0_IfXT0_EEPS8_"]),
    "the value of an integral_constant": ("""
        template <class F> static void choose(F f) { f(std::integral_constant<int, 7>()); }
        int main()
        {
            choose([](auto n) { two<float, decltype(n)::value><<<1, 1>>>(nullptr); });
            choose([](auto n) { two<double, n()><<<1, 1>>>(nullptr); });
        }""", ["_Z3twoIfLi7EEvPT_", "_Z3twoIdLi7EEvPT_"]),
    "a kernel whose address is taken": ("""
        typedef void (*Kernel)(float *);
        static const Kernel table[] = {one<float>, two<float, 1>};
        int main(int argc, char **)
        {
            const auto kernel = two<float, 2>;
            kernel<<<1, 1>>>(nullptr);
            Kernel other = argc > 1 ? two<float, 3> : two<float, 4>;
            std::vector<Kernel> list = {two<float, 5>, other};
            cudaFuncSetAttribute(two<float, 6>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
        }""", ["_Z3oneIfEvPT_", *(f"_Z3twoIfLi{n}EEvPT_" for n in range(1, 7))]),
    "a cast and a call whose operands are of a host library's types": ("""
        template <class T> static T *allocated(size_t n);
        int main()
        {
            std::vector<float> v(9);
            one<<<1, 1>>>((char *)v.data());
            one<<<1, 1>>>(reinterpret_cast<short *>(v.data()));
            auto p = allocated<long long>(v.size());
            one<<<1, 1>>>(p);
        }""", ["_Z3oneIcEvPT_", "_Z3oneIsEvPT_", "_Z3oneIxEvPT_"]),
    "functions, loops and handlers with a host library's types": ("""
        struct Base { virtual void run() = 0; };
        template <int N> struct Runner : Base { void run() override { two<float, N><<<1, 1>>>(nullptr); } };
        static double mean(std::vector<float> v) { two<float, 1><<<1, 1>>>(nullptr); return v[0]; }
        int main()
        {
            std::map<int, int> sizes;
            for (const auto &[size, count] : sizes)
                two<float, 2><<<size, count>>>(nullptr);
            for (auto p : {(int *)nullptr})
                one<<<1, 1>>>(p);
            try {
                mean({});
            } catch (const std::exception &e) {
                two<float, 3><<<1, 1>>>(nullptr);
            }
            std::make_unique<Runner<4>>()->run();
        }""", ["_Z3oneIiEvPT_", *(f"_Z3twoIfLi{n}EEvPT_" for n in range(1, 5))]),
}


@pytest.mark.parametrize("name", CASES)
def test_host_code_decides_which_instances_there_are(name, tmp_path):
    """Broken: a construct of host code is not followed, so that kernels that it launches are not in the PTX; or kernels that it does not launch are."""
    text, expected = CASES[name]
    (tmp_path / "k.cu").write_text(KERNELS + text)
    result = subprocess.run([COMPILE, "k.cu", "-o", "-"], capture_output=True, text=True, cwd=tmp_path, timeout=20)
    assert result.returncode == 0, result.stderr
    assert sorted(re.findall(r"\.entry (\w+)", result.stdout)) == sorted(expected)
