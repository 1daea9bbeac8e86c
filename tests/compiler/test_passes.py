"""Each pass of the kernel compiler alone, on a small kernel: PTX before and after it, in tests/compiler/passes."""

import re
import subprocess

import pytest

from tests.compiler import pass_examples

pytestmark = pytest.mark.builds("build/sim/compile")


@pytest.mark.parametrize("source", pass_examples.sources(), ids=lambda source: source.stem)
def test_a_pass_does_what_its_example_shows(source):
    """Broken: a pass makes something else of its example; python3 -m tests.compiler.pass_examples writes the examples again, if that is meant."""
    text = pass_examples.example(source)
    assert text == source.with_suffix(".ptx").read_text()
    before, after = text.split("\n\n")
    assert before.splitlines()[1:] != after.splitlines()[1:], "the pass changes nothing in its example"


def test_each_pass_has_an_example():
    """Broken: a pass is there that no page and no test shows alone."""
    assert set(pass_examples.pass_names()) == {source.stem for source in pass_examples.sources()}


DISTANCE = """__global__ void add(const float *in, float *out, int n)
{
    const int first = threadIdx.y;
    for (int row = first; row < first + 32; row += 8)
        if (row < n)
            out[row] += in[row];
}
"""


def test_a_loop_over_a_constant_distance_is_unrolled(tmp_path):
    """Broken: the iterations of a loop from a variable to this variable plus a constant are not counted, or its first test is left."""
    source = tmp_path / "distance.cu"
    source.write_text(DISTANCE)
    made = subprocess.run([pass_examples.COMPILE, source, "-o", "-"], capture_output=True, text=True, check=True).stdout
    assert made.count("st.global") == 4 and made.count("setp") == 4


PARITY = """__global__ void alternate(int *data, int n)
{
    for (int k = 0; k < n; k++)
        data[(k + 1) & 1] += data[2 * (k & 1)];
}
"""


def test_the_low_bits_of_an_unrolled_loop_s_variable_are_known(tmp_path):
    """Broken: after unrolling by four, k & 1 and k + 1 & 1 are computed although k is a multiple of four."""
    source = tmp_path / "parity.cu"
    source.write_text(PARITY)
    made = subprocess.run([pass_examples.COMPILE, source, "-o", "-"], capture_output=True, text=True, check=True).stdout
    unrolled = made[made.index("nounroll"):made.index("nounroll", made.index("nounroll") + 1)]
    assert "st.global" in unrolled.split("bra")[0] and "and.b32" not in unrolled.split("bra")[0]


ORDER = """__global__ void sort(int *keys)
{
    const int a = keys[0], b = keys[1];
    if ((a > b) == ((threadIdx.x & 2) == 0))
        keys[0] = b;
}
"""


def test_equal_conditions_are_compared_as_predicates(tmp_path):
    """Broken: two conditions become integers before they are compared, or their comparison is negated twice."""
    source = tmp_path / "order.cu"
    source.write_text(ORDER)
    made = subprocess.run([pass_examples.COMPILE, source, "-o", "-"], capture_output=True, text=True, check=True).stdout
    assert "xor.pred" in made and "selp" not in made and "not.pred" not in made


LOCK = """__global__ void add(int *lock, int *sum)
{
    for (bool done = false; !done;)
        if (atomicExch(lock, 1) == 0) {
            *sum += 1;
            atomicExch(lock, 0);
            done = true;
        }
}
"""


def test_lanes_that_wait_for_a_lock_meet_its_owner(tmp_path):
    """Broken: the lanes without the lock repeat a loop of their own, so that the lane of their warp that has it never runs."""
    source = tmp_path / "lock.cu"
    source.write_text(LOCK)
    made = subprocess.run([pass_examples.COMPILE, source, "-o", "-"], capture_output=True, text=True, check=True).stdout
    label = re.search(r"^(\$\w+):(?:(?!^\$).)*atom", made, re.M | re.S)[1]
    repeats = [at.start() for at in re.finditer(rf"bra(?:\.uni)?\s+{re.escape(label)};", made)]
    assert len(repeats) == 1 and repeats[0] > made.rindex("atom")


COPIES = {  # the members of a struct -> the bytes of the loads and stores of its copy, as nvcc's
    "int a; double b;": [8, 8],  # with a gap: word by word
    "char a; int b;": [4, 4],
    "float x, y, z; bool b;": [4, 4, 4, 4],  # the last member with the padding after it
    "double a; char b;": [8, 8],
    "short a; char b;": [2, 2],
    "int a; union { int b; double c; };": [4, 4, 8],  # a union, and the gap before it
}


def accessed(ptx, access):
    """The bytes of each access, in order of their offsets."""
    found = re.findall(access + r"\.global(?:\.v(\d))?\.[usf](\d+)\s+.*?\[%rd\d+(?:\+(\d+))?\]", ptx)
    return [int(count or 1) * int(bits) // 8 for count, bits, _ in sorted(found, key=lambda part: int(part[2] or 0))]


@pytest.mark.parametrize("members, parts", COPIES.items(), ids=COPIES)
def test_a_struct_is_copied_with_its_padding(members, parts, tmp_path):
    """Broken: a copy leaves out bytes that nvcc copies, or needs more accesses."""
    source = tmp_path / "copy.cu"
    source.write_text(f"struct S {{ {members} }};\n__global__ void copy(const S *from, S *to) {{ to[threadIdx.x] = from[threadIdx.x]; }}\n")
    made = subprocess.run([pass_examples.COMPILE, source, "-o", "-"], capture_output=True, text=True, check=True).stdout
    assert accessed(made, "ld") == parts and accessed(made, "st") == parts


LIKE_NVCC = {  # the kernel's code -> how often its PTX has an instruction, as nvcc's
    "for (unsigned k = threadIdx.x; k < 256; k += 256) in[k] = 0;": {"st.global": 1},  # k + 256 < 256 is no count
    "for (unsigned k = tid; tid < n && k < min(n, tid * 8); k++) in[k] = n;": {"or.pred": 1, "bra": 2, "min": 1},  # unswitched, then rotated
    "unsigned own[60]; for (int k = 0; k < 60; k++) own[k] = in[k * 64 + tid]; __syncthreads();"
    " for (int k = 0; k < 60; k++) if (__any_sync(~0u, own[k] < n)) in[k * n] = own[k] * n;": {"st.global": 60, "local": 0},  # registers
    "for (unsigned j = 0; j < n; j++) { unsigned s = 0; for (unsigned k = 0; k < n; k++) s += in[k * tid]; in[j] = s; __syncthreads(); }":
        {"ld.global": 4 + 3},  # the remaining iterations, too, are copies
    "for (unsigned k = 0; k < blockDim.x / 32; k++) in[k * tid] = n;": {"shr.u32": 1},  # x / 32 > 0 is computed once
    "long long *x = (long long *)in; x[0] = x[1] * x[2] + x[3];": {"mul.lo.s64": 1, "mad": 0},
    "struct alignas(16) Four { unsigned at[4]; }; const auto half = [](Four x) { for (int i = 0; i < 4; i++) x.at[i] /= 2; return x; };"
    " Four kept[2]; for (int k = 0; k < 2; k++) kept[k] = ((Four *)in)[k + n]; __syncthreads(); for (int k = 0; k < 2; k++) ((Four *)in)[k] = half(kept[k]);":
        {"v4.u32": 4, "local": 0},  # structures by value, whose elements are known only after unrolling
    "struct alignas(16) V { unsigned at[4]; }; V v[2]; unsigned s = 0; for (unsigned k = 0; k < 2; k++) if (k < n) v[k] = ((const V *)in)[k * 32 + tid];"
    " for (unsigned k = 0; k < 2; k++) for (unsigned i = 0; i < 4 && k < n; i++) s += v[k].at[i]; in[n] = s;": {"local": 0, ".v4.u32": 2},  # split last
    "struct alignas(16) V { unsigned at[4]; }; const V v = ((const V *)in)[tid]; in[n] = v.at[3] + v.at[2];": {".v4.u32": 1, ".v2": 0},  # one load
    "const unsigned s = in[tid]; in[0] = tid > n ? s : ~s;": {"selp": 1, "xor": 1, "not": 0},  # s ^ (tid > n ? 0 : -1)
    f"float *x = (float *)in, s = 0; for (unsigned k = tid; k < n; k++) {{ s += x[k]; {'s = s / n;' * 11} }} x[n] = s;": {"ld.global.f32": 4 + 1},
    f"float *x = (float *)in, s = 0; for (unsigned k = tid; k < n; k++) {{ s += x[k]; {'s = s / n;' * 12} }} x[n] = s;": {"ld.global.f32": 2 + 1},  # too costly
}


@pytest.mark.parametrize("code, counts", LIKE_NVCC.items(), ids=range(len(LIKE_NVCC)))
def test_passes_together_make_what_nvcc_makes(code, counts, tmp_path):
    """Broken: a kernel executes more or fewer instructions than nvcc's, because passes are missing, too eager, or in another order."""
    source = tmp_path / "kernel.cu"
    source.write_text(f"__global__ void kernel(unsigned *in, unsigned n)\n{{\n    const unsigned tid = threadIdx.x;\n    {code}\n}}\n")
    made = subprocess.run([pass_examples.COMPILE, source, "-o", "-"], capture_output=True, text=True, check=True).stdout
    assert {text: made.count(text) for text in counts} == counts
