"""Tensor core instructions on the simulator: rounding, unsupported operations, counters."""

import csv
import os
import random
import struct
import subprocess
from fractions import Fraction

import pytest

from tests.simulator.ptx import RUN, kernel, run
from tests.support import COUNTED as COLUMNS, ROOT, build, counters, longer

np = pytest.importorskip("numpy", reason="NumPy is not there: make test installs it into .venv")
pytestmark = pytest.mark.builds("build/sim/ptx_run")


FORMATS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 10), "f32": (8, 23)}  # bits of exponent and fraction


def number(bits, name):
    """The value of a finite number, and its exponent."""
    exponent_bits, fraction_bits = FORMATS[name]
    least = 2 - 2 ** (exponent_bits - 1)
    exponent = bits >> fraction_bits & 2**exponent_bits - 1
    fraction = bits & 2**fraction_bits - 1 | (2**fraction_bits if exponent else 0)
    exponent = least + max(exponent, 1) - 1
    sign = -1 if bits >> exponent_bits + fraction_bits else 1
    return sign * fraction * Fraction(2) ** (exponent - fraction_bits), exponent


def random_bits(name, most):
    """A number with an exponent of magnitude `most` or less; sometimes 0."""
    exponent_bits, fraction_bits = FORMATS[name]
    exponent = 2 ** (exponent_bits - 1) - 1 + random.randint(-most, most)
    whole = random.getrandbits(1) << exponent_bits | exponent
    return (whole << fraction_bits | random.getrandbits(fraction_bits)) * (random.random() < 0.95)


def toward_zero(value):
    """The bits of the float, rounded towards zero."""
    number = np.float32(float(value))
    if abs(Fraction(float(number))) > abs(value):
        number = np.nextafter(number, np.float32(0))
    return int(number.view(np.uint32))


def to_nearest_half(value):
    """float() is exact here: sums have 31 bits at most."""
    with np.errstate(over="ignore"):
        return int(np.float64(float(value)).astype(np.float16).view(np.uint16))


def fused_sum(a, b, c, name, sum_name):
    """c + a[0] b[0] + a[1] b[1] + ...: each term is truncated 25 bits below the largest exponent, and the sum is rounded once."""
    terms = [number(c, sum_name)]
    for x, y in zip(a, b):
        (x, exponent), (y, other) = number(x, name), number(y, name)
        terms.append((x * y, exponent + other))
    unit = Fraction(2) ** (max([exponent for value, exponent in terms if value], default=0) - 25)
    total = unit * sum(int(value / unit) for value, _ in terms)  # int() truncates
    return toward_zero(total) if sum_name == "f32" else to_nearest_half(total)


def packed(values, size):
    return sum(value << size * k for k, value in enumerate(values))


def product_case(name, sum_name, most):
    """Registers of two warps, and the sums of rows 0 to 7, which are in the first one or two registers of d."""
    pairs, size = (1, 32) if name == "tf32" else (2, 16)
    rows, expected = [], []
    for _ in range(2):
        count = 8 * pairs  # of k
        a = [[random_bits(name, most) for _ in range(count)] for _ in range(8)]
        b = [[random_bits(name, most) for _ in range(count)] for _ in range(8)]  # columns of B
        c = [[random_bits(sum_name, most) for _ in range(8)] for _ in range(8)]
        for lane in range(32):
            line, first, two = lane // 4, lane % 4 * pairs, slice(lane % 4 * 2, lane % 4 * 2 + 2)
            halves = [[packed(m[line][at:at + pairs], size) << (13 if name == "tf32" else 0)
                       for at in (first, first + 4 * pairs)] for m in (a, b)]
            sum_size = 32 if sum_name == "f32" else 16
            rows.append((packed(halves[0], 32), packed(halves[1], 32), packed(c[line][two], sum_size)))
            expected.append(packed([fused_sum(a[line], b[column], c[line][column], name, sum_name)
                                    for column in range(*two.indices(8))], sum_size))
    return rows, expected


@pytest.mark.parametrize("most", (1, 4, 14))
@pytest.mark.parametrize("name, sum_name", (("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("tf32", "f32")))
def test_sums_of_products(name, sum_name, most, tmp_path):
    """Broken: a sum is rounded differently from the tensor cores of an H100 or H200."""
    random.seed(most)
    rows, expected = product_case(name, sum_name, most if name == "f16" else 2 * most)
    shape = "m16n8k8" if name == "tf32" else "m16n8k16"
    sums = "%c0, %c1, %z, %z" if sum_name == "f32" else "%c0, %c1"
    text = f"""{{.reg .b32 %a<2>, %b<2>, %c<4>, %z; mov.b32 %z, 0; mov.b64 {{%a0, %a1}}, %s0; mov.b64 {{%b0, %b1}}, %s1;
    mov.b64 {{%c0, %c1}}, %s2; mma.sync.aligned.{shape}.row.col.{sum_name}.{name}.{name}.{sum_name} {{{sums.replace('%z, %z', '%c2, %c3')}}},
    {{%a0, %z, %a1, %z}}, {{%b0, %b1}}, {{{sums}}}; mov.b64 %t, {{%c0, %c1}};}}"""
    values = run(tmp_path, kernel(text, "b64", ["b64", "b64", "b64"]), rows)
    for thread, (value, wanted) in enumerate(zip(values, expected)):
        assert value == wanted, (thread, hex(value), hex(wanted))


EIGHT_OF = "{{{0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}}}"
FOUR_OF = "{{{0}, {0}, {0}, {0}}}"
TWO_STEPS = (f"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {EIGHT_OF.format('%f')}, {FOUR_OF.format('%a')}, {FOUR_OF.format('%b')},"
             f"{EIGHT_OF.format('%f')};")
DOUBLES = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d, %e}, {%a}, {%b}, {%d, %e};"
ON_AN_H200 = {  # the first element of D
    # 1 + 2 * 2^-25 + 2 * 2^-25, with products in every other column of A: each half of K sums to 2^-24, which is truncated.
    "wmma.mma of tf32, in two steps": (f""".reg .b32 %a, %b; .reg .f32 %f; .reg .pred %p; mov.u32 %a, %tid.x; and.b32 %a, %a, 1; setp.eq.u32 %p, %a, 0;
        selp.b32 %a, 0x39800000, 0, %p; mov.b32 %b, 0x39000000; mov.f32 %f, 0f3F800000; {TWO_STEPS} mov.b32 %t, %f;""", 0x3F800000),
    # 8 products of 2^-152.
    "a zero without an exponent": (".reg .b32 %a, %b; .reg .f32 %f; mov.b32 %a, 0x1A001A00; mov.b32 %b, 0x19001900; mov.f32 %f, 0f00000000;"
                                   "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f, %f, %f, %f}, {%a, %a}, {%b}, {%f, %f, %f, %f}; mov.b32 %t, %f;", 1),
    "a double that stays NaN": (f""".reg .f64 %a, %b, %d, %e; .reg .b32 %low; mov.f64 %a, 0dFFF905DF7620F6FF; mov.f64 %b, 0d0000000000000000;
        mov.f64 %d, 0dFFF8000000000000; mov.f64 %e, %d; {DOUBLES} mov.b64 {{%low, %t}}, %d;""", 0xFFF80000),
    **{f"cvt.{rounding} of {bits:08x}": (f".reg .f32 %f; mov.f32 %f, 0f{bits:08X}; cvt.{rounding}.tf32.f32 %t, %f;", expected)
       for rounding, bits, expected in (
        ("rna", 0x7FC00123, 0x7FC00000), ("rna", 0x7F800001, 0x7F800000), ("rna", 0xFFC00000, 0xFFC00000), ("rna", 0x7F7FFFFF, 0x7F800000),
        ("rn", 0x7FC00123, 0x7FFFE000), ("rz", 0xFFC00000, 0x7FFFE000), ("rn", 0xFF800000, 0xFF800000), ("rz", 0x7F7FFFFF, 0x7F7FE000))},
}


@pytest.mark.parametrize("name", ON_AN_H200)
def test_results_measured_on_an_h200(name, tmp_path):
    """Broken: an H200 gives another number, or another NaN."""
    text, expected = ON_AN_H200[name]
    value, *_ = run(tmp_path, kernel("{" + text + "}", "u32", ["u32"]), [(0,)] * 32)
    assert value == expected, hex(value)


@longer
def test_fragments_and_products_equal_those_of_an_h200(tmp_path):
    """Broken: a fragment has another layout, or a product, sum, move or conversion differs in a bit from an H200's.

    gpu/tensor_cores.h200.txt is the output of a longer version of the program on an H200, cut to that of this one.
    To renew it, on an H200: nvcc -O3 -std=c++17 -arch=sm_90 -o tensor_cores tensor_cores.cu && ./tensor_cores
    """
    program = build(ROOT / "tests/gpu/tensor_cores.cu", tmp_path / "tensor_cores")
    result = subprocess.run([program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    ours, theirs = result.stdout.splitlines(), (ROOT / "tests/gpu/tensor_cores.h200.txt").read_text().splitlines()
    for number, (mine, read) in enumerate(zip(ours, theirs), 1):
        assert mine == read, f"line {number}"
    assert len(ours) == len(theirs)


def launch(tmp_path, text, **environment):
    """Runs the text in one warp."""
    (tmp_path / "k.ptx").write_text(kernel(text, "u32", ["u32"]))
    (tmp_path / "in").write_bytes(struct.pack("<4096H", *range(4096)))
    return subprocess.run([RUN, tmp_path / "k.ptx", "k", "32", tmp_path / "in", tmp_path / "out"], capture_output=True, text=True,
                          env={**os.environ, **environment})


REGISTERS = ("{.shared .align 128 .b8 box[16384]; .reg .pred %p; .reg .b32 %r<16>, %a; .reg .f32 %f<16>; .reg .b64 %g; ld.param.u64 %g, [input];"
             "mov.u32 %t, 0; and.b32 %n, %tid.x, 31; mov.u32 %a, box;")
EIGHT = ", ".join(f"%r{k}" for k in range(8))
REFUSED = {
    "of numbers of 4 bits": ("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1};", "does not know"),
    "with A by columns": ("mma.sync.aligned.m16n8k8.col.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {%f0, %f1, %f2, %f3};",
                          "does not know"),
    "of another shape": ("mma.sync.aligned.m16n8k4.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {%f0, %f1, %f2, %f3};",
                         "does not know"),
    "with too few registers": ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1}, [%g];", "does not know"),
    "without all lanes": ("setp.lt.u32 %p, %n, 5; @%p exit; movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", "but only 27 are active"),
    "whose lines are misaligned": (f"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{{EIGHT}}}, [%g], 20;",
                                   "a stride of 40 bytes, which is not a multiple of 16"),
    "that differ from lane to lane": (f"cvt.u64.u32 %w, %n; add.u64 %g, %g, %w; wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{{EIGHT}}}, [%g];",
                                      "the lanes address different matrices"),
    "outside memory": (f"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{{EIGHT}}}, [%g+7936];", "past the end of a 8192-byte allocation"),
    "with a misaligned row": ("mad.lo.u32 %a, %n, 24, %a; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];",
                              "address 0x18 is not a multiple of 16"),
    "with a row in device memory": ("ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%g];", "a row outside of shared memory"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_matrices_that_are_refused(name, tmp_path):
    """Broken: an unsupported or invalid matrix operation gives a wrong result, or no clear message."""
    text, message = REFUSED[name]
    result = launch(tmp_path, REGISTERS + text + "}")
    assert result.returncode == 1 and message in result.stderr and len(result.stderr.splitlines()) == 1, result.stderr


def shared_accesses(loads=0, stores=0, conflicts=0):
    return {"shared_loads": loads, "shared_stores": stores, "bank_conflicts": conflicts}


def global_accesses(loads, sectors):
    return {"global_load_requests": loads, "global_load_sectors": sectors}


ROWS = "ldmatrix.sync.aligned.m8n8.x{}.shared.b16 {{{}}}, [%a];"
COUNTED = {  # as Nsight Compute on an H200: ldmatrix and stmatrix are not counted as shared loads and stores, but have conflicts
    # Contiguous rows of 16 bytes; and rows 128 bytes apart, all in the same banks: 8 wavefronts for each matrix.
    "ldmatrix": ("mad.lo.u32 %a, %n, 16, %a;" + ROWS.format(4, "%r0, %r1, %r2, %r3"), shared_accesses()),
    "ldmatrix with conflicts": ("mad.lo.u32 %a, %n, 128, %a;" + ROWS.format(4, "%r0, %r1, %r2, %r3"),
                                shared_accesses(conflicts=28)),
    "ldmatrix of one matrix": ("mad.lo.u32 %a, %n, 128, %a;" + ROWS.format(1, "%r0"), shared_accesses(conflicts=7)),
    "stmatrix": ("mad.lo.u32 %a, %n, 128, %a; stmatrix.sync.aligned.m8n8.x2.shared.b16 [%a], {%r0, %r1};",
                 shared_accesses(conflicts=14)),
    "wmma.load, as ldmatrix": (f"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {{{EIGHT}}}, [%a], 64;",
                               shared_accesses(conflicts=28)),
    "wmma.load of floats from shared memory": (f"wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {{{EIGHT.replace('r', 'f')}}}, [%a], 64;",
                                               shared_accesses(loads=4, conflicts=24)),
    # ptxas loads pieces of 4 bytes, each access from 8 lines of 16 bytes: 8 sectors. Lines of 64 bytes are 128 apart.
    "wmma.load": (f"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{{EIGHT}}}, [%g], 32;", global_accesses(4, 32)),
    "wmma.load by columns": (f"wmma.load.a.sync.aligned.col.m16n16k16.global.f16 {{{EIGHT}}}, [%g], 32;", global_accesses(4, 32)),
    "wmma.load of floats": (f"wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {{{EIGHT.replace('r', 'f')}}}, [%g], 32;",
                            global_accesses(4, 32)),
    "wmma.load of floats by columns": (f"wmma.load.c.sync.aligned.col.m16n16k16.global.f32 {{{EIGHT.replace('r', 'f')}}}, [%g], 32;",
                                       global_accesses(8, 32)),
}


@pytest.mark.parametrize("name", COUNTED)
def test_accesses_of_matrices_are_counted(name, tmp_path):
    """Broken: matrix loads and stores are not counted like the accesses that they consist of."""
    text, expected = COUNTED[name]
    counters = []
    for body in (text, ""):  # with and without the instruction
        (tmp_path / "counters.csv").unlink(missing_ok=True)
        result = launch(tmp_path, REGISTERS + body + "}", SIM_COUNTERS=str(tmp_path / "counters.csv"))
        assert result.returncode == 0, result.stderr
        with open(tmp_path / "counters.csv", newline="") as file:
            counters.append(next(csv.DictReader(file)))
    assert {key: int(counters[0][key]) - int(counters[1][key]) for key in expected} == expected


@longer
def test_counters_of_matrices_equal_those_of_an_h200(tmp_path):
    """Broken: accesses, conflicts or sectors of matrix instructions differ from those of Nsight Compute on an H200.

    gpu/matrix_accesses.h200.csv: ncu --csv --metrics, with the metrics of simulator/counters.md and smsp__inst_executed_op_ldsm.sum, a row for
    each launch. It has no byte loads, which the compiler had removed.
    """
    program = build(ROOT / "tests/gpu/matrix_accesses.cu", tmp_path / "matrix_accesses")
    with open(ROOT / "tests/gpu/matrix_accesses.h200.csv", newline="") as file:
        theirs = list(csv.DictReader(file))
    ours = counters(program, tmp_path)
    assert len(ours) == len(theirs)
    for mine, read in zip(ours, theirs):
        assert {key: mine[key] for key in ["kernel", *COLUMNS]} == {key: read[key] for key in ["kernel", *COLUMNS]}
