"""A short run of the fuzzer: make fuzz-compiler has the long one. And, reduced, the inputs of long runs that took too much stack or time."""

import os
import resource
import subprocess

import pytest

from tests.support import ROOT, longer

pytestmark = pytest.mark.builds("build/sim/compile")

COUNT, SEED = 250, 1


@longer  # make test does not build the compiler under gcc's sanitizers
@pytest.mark.builds("build/sim/compiler-fuzz")
def test_random_and_mutated_sources_end_with_ptx_or_an_error():
    """Broken: the compiler crashes, hangs, or writes PTX that the simulator does not read."""
    sources = sorted(str(path) for pattern in ("step*/*.cu", "scan/*/*.cu", "labs/*/*/*.cu", "exercises/*/*.cu", "tests/*/*.cu", "tests/*/*/*.cu")
                     for path in ROOT.glob(pattern))
    run = subprocess.run([ROOT / "build/sim/compiler-fuzz", str(COUNT), str(SEED), *sources], capture_output=True, text=True, errors="replace",
                         env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0:hard_rss_limit_mb=3000"})
    assert run.returncode == 0 and "no fault" in run.stdout, run.stderr[-3000:]


def compile_text(folder, text):
    """The compiler's result, and the processor time that it took, in seconds."""
    (folder / "input.cu").write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run([ROOT / "build/sim/compile", "input.cu", "-o", "made.ptx"], cwd=folder, capture_output=True, text=True)
    return run, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


@pytest.mark.parametrize("begin, link, end", [
    ("out[0] = n", ", n", ""), ("n = n", " && n", ""), ("if (n", " || n", ") n = 1"), ("n = n", " + n", ""), ("n = *(out", " + n", ")"), ("t = t", " + t", ""),
    ("t = t", ", t", ""), ("(void)n", ", (void)n", "")], ids=["comma", "and", "or", "sum", "pointer", "record", "comma of records", "comma of void"])
def test_a_chain_of_operators_is_bounded(tmp_path, begin, link, end):
    """Broken: a long chain a, b, c, ..., whose tree is as deep as it is long, overflows the compiler's stack, or takes quadratic time."""
    text = ("struct T { int x; };\n__device__ T operator+(T a, T b) { a.x += b.x; return a; }\n"
            f"__global__ void k(int *out, int n)\n{{\n    T t{{1}};\n    {begin}CHAIN{end};\n    out[1] = n + t.x;\n}}\n")
    run, _ = compile_text(tmp_path, text.replace("CHAIN", link * 100))
    assert run.returncode == 0, run.stderr[:3000]
    run, _ = compile_text(tmp_path, text.replace("CHAIN", link * 60000))
    assert run.returncode == 1 and "error: this is nested too deeply" in run.stderr, run.stderr[:3000]


def test_instances_that_differ_in_a_pack_or_lambda_are_found_quickly(tmp_path):
    """Broken: the search for a template's instance, or for a lambda's function type, passes all others."""
    run, seconds = compile_text(tmp_path, """
template <int... I> struct Indices {};
template <int... I, class F> __device__ void each(Indices<I...> indices, F f)
{
    each(indices, [](int) {});
}
__global__ void k()
{
    each(Indices<0, 1, 2, 3, 4, 5, 6, 7, 8, 9>(), [](int) {});
}
""")
    assert run.returncode == 1 and "the template 'each' is instantiated without end" in run.stderr
    assert seconds < 8
