"""PTX instructions on the simulator, against values computed here."""

import csv
import functools
import itertools
import math
import re
import struct
import subprocess
from fractions import Fraction

import pytest

from scripts.evidence import coverage_calls

from tests.simulator.ptx import RUN, kernel, run
from tests.support import ROOT

np = pytest.importorskip("numpy", reason="NumPy is not there: make test installs it into .venv")
pytestmark = pytest.mark.builds("build/sim/ptx_run", "build/sim/coverage")


# Edge values of each type, as bits.
INTEGERS = {
    16: [0, 1, 2, 3, 7, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0xFFFE, 0x1234, 16, 15],
    32: [0, 1, 2, 3, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0x12345678, 0xDEADBEEF],
    64: [0, 1, 2, 31, 63, 64, 65, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64 - 2, 0x123456789ABCDEF0, 2**32],
}
SINGLES = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 1e30, -1e30, 3.4028235e38, 1e-45, 1.1754942e-38, 1.1754944e-38,
           float("inf"), -float("inf"), float("nan"), 0.1, 16777217.0]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e300, -1e300, 5e-324, 2.2250738585072014e-308, float("inf"), -float("inf"),
           float("nan"), 0.1, 4503599627370497.5, 2147483648.0]
HALVES = [0x0000, 0x8000, 0x3C00, 0xBC00, 0x3800, 0x4100, 0x7BFF, 0xFBFF, 0x0001, 0x03FF, 0x0400, 0x7C00, 0xFC00, 0x7E00, 0x2E66]


def single_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def double_bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def edges(type_name):
    kind, size = type_name[0], int(type_name[1:].removesuffix("x2"))
    if type_name == "f32":
        return [single_bits(np.float32(value)) for value in SINGLES]
    if type_name == "f64":
        return [double_bits(value) for value in DOUBLES]
    if type_name == "f16":
        return HALVES
    assert kind in "usb", type_name
    return INTEGERS[size]


def register(type_name):
    size = int(type_name[1:])
    return f"%{'h' if size == 16 else 'r' if size == 32 else 'd'}"


# ---- Integers, computed with Python's

def signed(value, size):
    value &= 2**size - 1
    return value - 2**size if value >= 2 ** (size - 1) else value


def truncated(a, b):
    """Division as in C."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def field(a, b, c, size, with_sign):
    position, length = b & 255, c & 255
    bits = [a >> k & 1 for k in range(size)]
    sign = bits[min(position + length - 1, size - 1)] if with_sign and length else 0
    return sum((bits[position + k] if k < length and position + k < size else sign) << k for k in range(size))


def integer_cases():
    for size in (16, 32, 64):
        mask = 2**size - 1
        for t in (f"u{size}", f"s{size}"):
            n = (lambda v, s=size: signed(v, s)) if t[0] == "s" else (lambda v: v)
            pair = [t, t]
            yield f"add.{t}", t, pair, lambda a, b: a + b
            yield f"sub.{t}", t, pair, lambda a, b: a - b
            yield f"mul.lo.{t}", t, pair, lambda a, b: a * b
            yield f"mul.hi.{t}", t, pair, lambda a, b, n=n, s=size: n(a) * n(b) >> s
            yield f"mad.lo.{t}", t, pair + [t], lambda a, b, c: a * b + c
            yield f"mad.hi.{t}", t, pair + [t], lambda a, b, c, n=n, s=size: (n(a) * n(b) >> s) + c
            yield f"sad.{t}", t, pair + [t], lambda a, b, c, n=n: c + abs(n(a) - n(b))
            yield f"min.{t}", t, pair, lambda a, b, n=n: min(n(a), n(b))
            yield f"max.{t}", t, pair, lambda a, b, n=n: max(n(a), n(b))
            yield f"div.{t}", t, pair, lambda a, b, n=n, m=mask: truncated(n(a), n(b)) if b else m
            yield f"rem.{t}", t, pair, lambda a, b, n=n: n(a) - truncated(n(a), n(b)) * n(b) if b else a
            yield f"shr.{t}", t, [t, "u32"], lambda a, b, n=n: n(a) >> min(b, 64)
            for name, compare in {"lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__", "eq": "__eq__",
                                  "ne": "__ne__"}.items():
                yield f"setp.{name}.{t}", "pred", pair, lambda a, b, n=n, c=compare: getattr(n(a), c)(n(b))
            if size < 64:
                wide = f"{t[0]}{2 * size}"
                yield f"mul.wide.{t}", wide, pair, lambda a, b, n=n: n(a) * n(b)
                yield f"mad.wide.{t}", wide, pair + [wide], lambda a, b, c, n=n: n(a) * n(b) + c
        b = f"b{size}"
        yield f"and.{b}", b, [b, b], lambda x, y: x & y
        yield f"or.{b}", b, [b, b], lambda x, y: x | y
        yield f"xor.{b}", b, [b, b], lambda x, y: x ^ y
        yield f"not.{b}", b, [b], lambda x: ~x
        yield f"cnot.{b}", b, [b], lambda x: x == 0
        yield f"shl.{b}", b, [b, "u32"], lambda x, y: x << y if y < 64 else 0
        yield f"neg.s{size}", f"s{size}", [f"s{size}"], lambda x: -x
        yield f"abs.s{size}", f"s{size}", [f"s{size}"], lambda x, s=size: abs(signed(x, s))
        if size == 16:
            continue
        yield f"popc.{b}", "u32", [b], lambda x: bin(x).count("1")
        yield f"clz.{b}", "u32", [b], lambda x, s=size: s - x.bit_length()
        yield f"brev.{b}", b, [b], lambda x, s=size: int(f"{x:0{s}b}"[::-1], 2)
        yield f"bfind.u{size}", "u32", [f"u{size}"], lambda x: x.bit_length() - 1
        yield f"bfind.s{size}", "u32", [f"s{size}"], lambda x, s=size: (~x if x >> (s - 1) else x).__and__(2**s - 1).bit_length() - 1
        yield f"bfe.u{size}", f"u{size}", [f"u{size}", "u32", "u32"], lambda a, p, n, s=size: field(a, p, n, s, False)
        yield f"bfe.s{size}", f"s{size}", [f"s{size}", "u32", "u32"], lambda a, p, n, s=size: field(a, p, n, s, True)
    clamp32 = lambda v: max(-(2**31), min(2**31 - 1, v))  # noqa: E731
    yield "add.sat.s32", "s32", ["s32", "s32"], lambda a, b: clamp32(signed(a, 32) + signed(b, 32))
    yield "sub.sat.s32", "s32", ["s32", "s32"], lambda a, b: clamp32(signed(a, 32) - signed(b, 32))
    funnel = lambda low, high, n: (high << 32 | low) >> n  # noqa: E731
    yield "shf.l.wrap.b32", "b32", ["b32", "b32", "u32"], lambda a, b, c: funnel(a, b, 32 - (c & 31))
    yield "shf.r.wrap.b32", "b32", ["b32", "b32", "u32"], lambda a, b, c: funnel(a, b, c & 31)
    yield "shf.l.clamp.b32", "b32", ["b32", "b32", "u32"], lambda a, b, c: funnel(a, b, 32 - min(c, 32))
    yield "shf.r.clamp.b32", "b32", ["b32", "b32", "u32"], lambda a, b, c: funnel(a, b, min(c, 32))
    yield "prmt.b32", "b32", ["b32", "b32", "b32"], permuted
    yield "dp4a.s32.s32", "s32", ["s32", "s32", "s32"], lambda a, b, c: c + sum(
        signed(a >> 8 * k, 8) * signed(b >> 8 * k, 8) for k in range(4))


    yield "dp4a.u32.s32", "s32", ["u32", "s32", "s32"], lambda a, b, c: c + sum(
        (a >> 8 * k & 255) * signed(b >> 8 * k, 8) for k in range(4))
    yield "dp4a.s32.u32", "s32", ["s32", "u32", "s32"], lambda a, b, c: c + sum(
        signed(a >> 8 * k, 8) * (b >> 8 * k & 255) for k in range(4))
    yield from rare_integer_cases()
    yield from packed_cases()
    yield from video_cases()


def rare_integer_cases():
    """Instructions that compilers generate for wide arithmetic, bit tricks and table lookups."""
    three = ["u32", "u32", "u32"]
    yield "{.reg .u32 %l; add.cc.u32 %l, %s0, %s1; addc.u32 %t, %s2, 0;}", "u32", three, lambda a, b, c: c + (a + b >> 32)
    yield "{.reg .u32 %l; sub.cc.u32 %l, %s0, %s1; subc.u32 %t, %s2, 0;}", "u32", three, lambda a, b, c: c - (a < b)
    yield ("{.reg .u32 %l; add.cc.u32 %l, %s0, %s1; addc.cc.u32 %l, %s1, %s2; addc.u32 %t, 0, 0;}", "u32", three,
           lambda a, b, c: b + c + (a + b >> 32) >> 32)
    yield ("{.reg .u32 %l; sub.cc.u32 %l, %s0, %s1; subc.cc.u32 %l, %s1, %s2; subc.u32 %t, 0, 0;}", "u32", three,
           lambda a, b, c: -(b - c - (a < b) < 0))
    yield ("{.reg .u32 %l; mad.lo.cc.u32 %l, %s0, %s1, %s2; madc.hi.u32 %t, %s0, %s1, 0;}", "u32", three,
           lambda a, b, c: a * b + c >> 32)
    for t, n in (("u32", lambda v: v & 0xFFFFFF), ("s32", lambda v: signed(v, 24))):
        yield f"mul24.lo.{t}", t, [t, t], lambda a, b, n=n: n(a) * n(b)
        yield f"mul24.hi.{t}", t, [t, t], lambda a, b, n=n: n(a) * n(b) >> 16
        yield f"mad24.lo.{t}", t, [t, t, t], lambda a, b, c, n=n: n(a) * n(b) + c
    for table in (0x1B, 0xE8, 0x96, 0x00, 0xFF):
        yield (f"lop3.b32 %t, %s0, %s1, %s2, {table};", "b32", three,
               lambda a, b, c, t=table: sum((t >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | c >> k & 1) & 1) << k for k in range(32)))
    for size in (32, 64):
        for length in (0, 1, 7, 64, 255):
            yield (f"bfi.b{size} %t, %s0, %s1, %s2, {length};", f"b{size}", [f"b{size}", f"b{size}", "u32"],
                   lambda a, b, p, n=length, s=size: inserted(a, b, p & 255, n, s))
    for mode, bytes_of in PERMUTATIONS.items():
        yield (f"prmt.b32.{mode}", "b32", ["b32", "b32", "u32"], lambda a, b, c, f=bytes_of: sum(
            ((b << 32 | a) >> 8 * f(k, c & 3) & 255) << 8 * k for k in range(4)))
    yield ("{.reg .pred %p, %q; setp.ne.u32 %p, %s2, 0; setp.lt.and.s32 %q|%t, %s0, %s1, %p;}", "pred", three,
           lambda a, b, c: not signed(a, 32) < signed(b, 32) and c != 0)
    yield ("{.reg .pred %p, %q; setp.ne.u32 %p, %s2, 0; setp.lt.xor.s32 %t|%q, %s0, %s1, !%p;}", "pred", three,
           lambda a, b, c: (signed(a, 32) < signed(b, 32)) ^ (c == 0))
    yield "set.lt.u32.s32", "u32", ["s32", "s32"], lambda a, b: -(signed(a, 32) < signed(b, 32))
    yield "set.eq.f32.u32", "u32", ["u32", "u32"], lambda a, b: 0x3F800000 * (a == b)
    for size, number_text in ((32, "0f7F800001"), (32, "0fFFC12345"), (64, "0d7FF0000000000001")):  # NaN payloads are preserved
        yield f"mov.b{size} %t, {number_text};", f"b{size}", [f"b{size}"], lambda a, t=number_text: int(t[2:], 16)
        yield f"mov.b{size} %t, -{number_text};", f"b{size}", [f"b{size}"], lambda a, t=number_text, s=size: int(t[2:], 16) ^ 1 << s - 1
    yield "{.reg .b64 %l; mov.b64 %l, 0x4040000000000001; cvt.rn.bf16.s64 %t, %l;}", "b16", ["b16"], lambda a: 0x5E81
    yield "{.reg .b64 %l; mov.b64 %l, -0x4040000000000001; cvt.rn.bf16.s64 %t, %l;}", "b16", ["b16"], lambda a: 0xDE81
    yield ("{.local .align 4 .b8 box[8]; ld.local.u32 %t, [box+4]; st.local.u32 [box+4], 7;}", "u32", ["u32", "u32"],
           lambda a, b: 0xFFFFFFFF)  # whatever an earlier block left
    yield ("{.reg .u32 %m; rem.u32 %m, %s0, 3; T: .branchtargets A, B, C; brx.idx %m, T;"
           "A: mov.u32 %t, 10; bra E; B: mov.u32 %t, 11; bra E; C: mov.u32 %t, 12; E: add.u32 %t, %t, 1;}", "u32", ["u32"],
           lambda a: 11 + a % 3)
    yield ("{.reg .pred %p; .reg .u32 %m; setp.lt.u32 %p, %s0, 0x7fffffff; rem.u32 %m, %s0, 3; T: .branchtargets A, B, C;"
           "@%p brx.idx %m, T; mov.u32 %t, 20; bra E; A: mov.u32 %t, 10; bra E; B: mov.u32 %t, 11; bra E; C: mov.u32 %t, 12;"
           "E: add.u32 %t, %t, 1;}", "u32", ["u32"], lambda a: 11 + a % 3 if a < 0x7FFFFFFF else 21)


def inserted(a, b, position, length, size):
    mask = ((1 << length) - 1) << position & (1 << size) - 1
    return b & ~mask | a << position & mask


def parts(value, size, with_sign):
    """The numbers of `size` bits in a register of 32."""
    return [signed(value >> k, size) if with_sign else value >> k & 2**size - 1 for k in range(0, 32, size)]


def joined(values, size):
    return sum((value & 2**size - 1) << size * k for k, value in enumerate(values))


def packed_cases():
    """Two halves at a time, products of halves and bytes, and the n-th bit."""
    pair, three = ["b32", "b32"], ["b32", "b32", "b32"]
    for t, sign in (("u16x2", False), ("s16x2", True)):
        for name, function in {"add": lambda x, y: x + y, "min": min, "max": max}.items():
            yield (f"{name}.{t}", "b32", pair, lambda a, b, f=function, s=sign: joined(
                [f(x, y) for x, y in zip(parts(a, 16, s), parts(b, 16, s))], 16))
    for name, function in {"min": min, "max": max}.items():
        yield (f"{name}.s16x2.relu", "b32", pair, lambda a, b, f=function: joined(
            [max(0, f(x, y)) for x, y in zip(parts(a, 16, True), parts(b, 16, True))], 16))
        yield f"{name}.relu.s32", "s32", ["s32", "s32"], lambda a, b, f=function: max(0, f(signed(a, 32), signed(b, 32)))
    for half, (t, sign), (u, other_sign) in itertools.product((0, 1), (("u32", False), ("s32", True)), (("u32", False), ("s32", True))):
        yield (f"dp2a.{('lo', 'hi')[half]}.{t}.{u}", "b32", three, lambda a, b, c, h=half, s=sign, o=other_sign: c + sum(
            x * y for x, y in zip(parts(a, 16, s), parts(b, 8, o)[2 * h:])))
    for base, offset in itertools.product((0, 3, 31), (0, 1, -1, 2, -2, 40, -40)):
        yield f"fns.b32 %t, %s0, {base}, {offset};", "b32", ["b32"], lambda a, b=base, n=offset: nth_bit(a, b, n)
    yield "slct.b64.s32", "b64", ["b64", "b64", "s32"], lambda a, b, c: a if signed(c, 32) >= 0 else b
    yield "slct.u16.s32", "u16", ["u16", "u16", "s32"], lambda a, b, c: a if signed(c, 32) >= 0 else b
    yield "slct.s32.f32 %t, %s0, %s1, -0d0000000000000000;", "s32", ["s32", "s32"], lambda a, b: a
    for mode, t in itertools.product(("clamp", "wrap"), ("s32", "u32")):
        yield f"szext.{mode}.{t}", t, [t, "u32"], lambda a, n, m=mode, t=t: extended(a, n, m == "clamp", t == "s32")


def nth_bit(mask, base, offset):
    places = range(base, 32) if offset > 0 else range(base, -1, -1) if offset else [base]
    found = [place for place in places if mask >> place & 1]
    count = max(abs(offset), 1)
    return found[count - 1] if len(found) >= count else 2**32 - 1


def extended(value, bits, clamp, with_sign):
    if clamp and bits >= 32:
        return value
    bits &= 31
    return 0 if bits == 0 else signed(value, bits) if with_sign else value & 2**bits - 1


VIDEO = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "absdiff": lambda a, b: abs(a - b), "min": min, "max": max,
         "avrg": lambda a, b: (a + b + (a + b >= 0)) >> 1}


def limited(value, size, with_sign):
    low, high = (-(2 ** (size - 1)), 2 ** (size - 1) - 1) if with_sign else (0, 2**size - 1)
    return max(low, min(high, value))


def video_cases():
    """The video instructions, as the PTX ISA describes them."""
    pair, three = ["b32", "b32"], ["b32", "b32", "b32"]
    for (name, f), sign in itertools.product(VIDEO.items(), (False, True)):
        t = "s32" if sign else "u32"
        for count in (2, 4):
            def each(a, b, f=f, s=sign, size=32 // count, sat=False):
                values = [f(x, y) for x, y in zip(parts(a, size, s), parts(b, size, s))]
                return [limited(v, size, s) for v in values] if sat else values
            size = 32 // count
            yield f"v{name}{count}.{t}.{t}.{t}", "b32", three, lambda a, b, c, e=each, n=size: joined(e(a, b), n)
            yield f"v{name}{count}.{t}.{t}.{t}.sat", "b32", three, lambda a, b, c, e=each, n=size: joined(e(a, b, sat=True), n)
            yield f"v{name}{count}.{t}.{t}.{t}.add", "b32", three, lambda a, b, c, e=each: c + sum(e(a, b))
        if name == "avrg":
            continue
        whole = lambda a, b, f=f, s=sign: f(*(signed(v, 32) if s else v for v in (a, b)))  # noqa: E731
        yield f"v{name}.{t}.{t}.{t}", "b32", pair, whole
        yield f"v{name}.{t}.{t}.{t}.sat", "b32", pair, lambda a, b, w=whole, s=sign: limited(w(a, b), 32, s)
        yield f"v{name}.{t}.{t}.{t}.add", "b32", three, lambda a, b, c, w=whole: w(a, b) + c
        yield (f"v{name}.{t}.{t}.{t} %t, %s0.b2, %s1.h1;", "b32", pair,
               lambda a, b, f=f, s=sign: f(parts(a, 8, s)[2], parts(b, 16, s)[1]))
    yield ("vadd.s32.u32.s32.sat %t.b1, %s0.b3, %s1.b0, %s2;", "b32", three,
           lambda a, b, c: c & ~0xFF00 | (limited((a >> 24) + signed(b, 8), 8, True) & 255) << 8)
    yield ("vadd4.u32.u32.u32 %t.b20, %s0.b7210, %s1.b0004, %s2;", "b32", three, lambda a, b, c: joined(
        [(a & 255) + (b & 255), c >> 8, (a >> 16 & 255) + (a & 255), c >> 24], 8))
    yield "vmax.u32.u32.u32.min", "b32", three, lambda a, b, c: min(max(a, b), c)
    yield "vset.s32.u32.lt", "b32", pair, lambda a, b: signed(a, 32) < b
    yield "vset4.u32.u32.ge", "b32", three, lambda a, b, c: joined([x >= y for x, y in zip(parts(a, 8, 0), parts(b, 8, 0))], 8)
    yield "vset2.s32.s32.ne.add", "b32", three, lambda a, b, c: c + sum(x != y for x, y in zip(parts(a, 16, 1), parts(b, 16, 1)))
    yield "vshl.u32.u32.u32.clamp", "b32", ["b32", "u32"], lambda a, b: a << min(b, 32)
    yield "vshr.s32.s32.u32.wrap.add", "b32", ["b32", "u32", "b32"], lambda a, b, c: (signed(a, 32) >> (b & 31)) + c
    yield "vmad.u32.u32.u32.sat", "b32", three, lambda a, b, c: limited(a * b + c, 32, False)
    yield ("vmad.s32.s32.u32.po.shr7", "b32", three, lambda a, b, c: (signed(a, 32) * b + signed(c, 32) + 1) >> 7)


# For byte k of the result and the selector's two bits: which of the eight bytes (prmt's table in the PTX ISA).
PERMUTATIONS = {
    "f4e": lambda k, c: c + k,
    "b4e": lambda k, c: (c - k) % 8,
    "rc8": lambda k, c: c,
    "ecl": lambda k, c: max(k, c),
    "ecr": lambda k, c: min(k, c),
    "rc16": lambda k, c: 2 * (c & 1) + (k & 1),
}


def permuted(a, b, c):
    data = (b << 32 | a).to_bytes(8, "little")
    result = 0
    for k in range(4):
        selector = c >> 4 * k & 15
        byte = data[selector & 7]
        result |= (byte if not selector & 8 else 255 * (byte >> 7)) << 8 * k
    return result


@pytest.mark.parametrize("case", list(integer_cases()), ids=lambda case: case[0])
def test_integers(case, tmp_path):
    """Broken: an instruction gives a wrong result for an edge value."""
    opcode, result, sources, function = case
    rows = list(itertools.product(*(edges(source) for source in sources)))
    size = 1 if result == "pred" else int(result[1:])
    for row, value in zip(rows, run(tmp_path, kernel(opcode, result, sources), list(rows))):
        assert value == int(function(*row)) % 2**size, [hex(v) for v in row]


# ---- Floating-point numbers, computed with numpy's

def as_single(bits):
    return np.uint32(bits).view(np.float32)


def as_double(bits):
    return np.uint64(bits).view(np.float64)


def as_half(bits):
    return np.uint16(bits).view(np.float16)


def flush(value):
    return np.copysign(type(value)(0), value) if abs(value) < np.finfo(type(value)).tiny else value


def saturate(value):
    return np.float32(0) if not value > 0 else min(value, np.float32(1))


def number(pick):
    def chosen(a, b):
        if np.isnan(a) or np.isnan(b):
            return b if np.isnan(a) else a
        if a == b == 0:
            return a if np.signbit(a) == (pick is min) else b
        return pick(a, b)
    return chosen


def float_cases():
    for t, kind in (("f32", np.float32), ("f64", np.float64), ("f16", np.float16)):
        pair = [t, t]
        yield f"add.rn.{t}", t, pair, lambda a, b: a + b
        yield f"sub.rn.{t}", t, pair, lambda a, b: a - b
        yield f"mul.rn.{t}", t, pair, lambda a, b: a * b
        yield f"min.{t}", t, pair, number(min)
        yield f"max.{t}", t, pair, number(max)
        yield f"neg.{t}", t, [t], lambda a: -a
        yield f"abs.{t}", t, [t], abs
        for name, holds in {"lt": lambda a, b: a < b, "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b,
                            "ne": lambda a, b: a < b or a > b, "neu": lambda a, b: a != b,
                            "ltu": lambda a, b: not a >= b, "gtu": lambda a, b: not a <= b,
                            "num": lambda a, b: a == a and b == b, "nan": lambda a, b: a != a or b != b}.items():
            yield f"setp.{name}.{t}", "pred", pair, holds
        if t != "f16":
            yield f"div.rn.{t}", t, pair, lambda a, b: a / b
            yield f"sqrt.rn.{t}", t, [t], np.sqrt
            yield f"rcp.rn.{t}", t, [t], lambda a, k=kind: k(1) / a
    yield "add.ftz.f32", "f32", ["f32", "f32"], lambda a, b: flush(flush(a) + flush(b))
    yield "mul.ftz.f32", "f32", ["f32", "f32"], lambda a, b: flush(flush(a) * flush(b))
    yield "add.ftz.f16", "f16", ["f16", "f16"], lambda a, b: flush(flush(a) + flush(b))
    yield "mul.ftz.f16", "f16", ["f16", "f16"], lambda a, b: flush(flush(a) * flush(b))
    yield "neg.ftz.f16", "f16", ["f16"], lambda a: -flush(a)
    yield "setp.lt.ftz.f16", "pred", ["f16", "f16"], lambda a, b: flush(a) < flush(b)
    yield ("{.reg .u32 %u; set.eq.ftz.u32.f16 %u, %s0, %s1; setp.ne.u32 %t, %u, 0;}", "pred", ["f16", "f16"],
           lambda a, b: flush(a) == flush(b))
    yield "add.sat.f32", "f32", ["f32", "f32"], lambda a, b: saturate(a + b)
    yield "fma.rn.f32", "f32", ["f32", "f32", "f32"], lambda a, b, c: np.float32(fused(a, b, c))
    yield "copysign.f32", "f32", ["f32", "f32"], lambda a, b: np.copysign(b, a)
    yield "copysign.f64", "f64", ["f64", "f64"], lambda a, b: np.copysign(b, a)
    for name, holds in {"finite": np.isfinite, "infinite": np.isinf, "notanumber": np.isnan, "number": lambda a: not np.isnan(a),
                        "subnormal": lambda a: 0 < abs(a) < np.finfo(a.dtype).tiny,
                        "normal": lambda a: a == 0 or np.finfo(a.dtype).tiny <= abs(a) < np.inf}.items():
        yield f"testp.{name}.f32", "pred", ["f32"], holds
        yield f"testp.{name}.f64", "pred", ["f64"], holds
    for mode in ("rz", "rm", "rp"):
        yield f"add.{mode}.f32", "f32", ["f32", "f32"], lambda a, b, m=mode: directed(a, b, 1, m)
        yield f"mul.{mode}.f32", "f32", ["f32", "f32"], lambda a, b, m=mode: directed(a, np.copysign(np.float32(0), product_sign(a, b)), b, m)
        yield f"fma.{mode}.f32", "f32", ["f32", "f32", "f32"], lambda a, b, c, m=mode: directed(a, c, b, m)
        for type in ("f32", "f64"):
            yield f"div.{mode}.{type}", type, [type, type], lambda a, b, m=mode: directed_quotient(a, b, m)
            yield f"sqrt.{mode}.{type}", type, [type], lambda a, m=mode: directed_root(a, m)
            yield f"sub.{mode}.{type}", type, [type, type], lambda a, b, m=mode: directed(a, -b, a.dtype.type(1), m)
        yield f"fma.{mode}.f64", "f64", ["f64", "f64", "f64"], lambda a, b, c, m=mode: directed(a, c, b, m)


def product_sign(a, b):
    return np.copysign(1, a) * np.copysign(1, b)


def directed(a, c, b, mode):
    """a * b + c, rounded to the operands' precision toward 0, down or up."""
    if not all(np.isfinite(v) for v in (a, b, c)):
        return a.dtype.type(c if np.isfinite(a) and np.isfinite(b) else np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:  # two zeros of one sign keep it; others that cancel are -0 only when rounded down
        signs = {bool(np.signbit(a)) != bool(np.signbit(b)), bool(np.signbit(c))} if a * b == 0 and c == 0 else {False, True}
        return a.dtype.type(-0.0 if signs == {True} or (len(signs) == 2 and mode == "rm") else 0.0)
    return toward(exact, a.dtype.type, mode, lambda value: (value > exact) - (value < exact))


def directed_quotient(a, b, mode):
    if not (np.isfinite(a) and np.isfinite(b)) or a == 0 or b == 0:
        return a / b
    exact = Fraction(float(a)) / Fraction(float(b))
    return toward(exact, a.dtype.type, mode, lambda value: (value > exact) - (value < exact))


def directed_root(a, mode):
    exact = Fraction(float(a)) if a > 0 and np.isfinite(a) else None
    return np.sqrt(a) if exact is None else toward(np.sqrt(np.float64(a)), a.dtype.type, mode, lambda value: (value**2 > exact) - (value**2 < exact))


def toward(near, type, mode, compare):
    """The last number of a type on one side of an exact number that is about `near`; compare(value) is the sign of value - exact."""
    largest = Fraction(float(np.finfo(type).max))
    down, value = mode == "rm" or (mode == "rz" and near > 0), type(float(min(max(Fraction(near), -largest), largest)))
    outward, inward = (type(math.inf), type(-math.inf)) if down else (type(-math.inf), type(math.inf))

    def is_past(value):
        side = compare(Fraction(float(value))) if np.isfinite(value) else np.sign(value)
        return side > 0 if down else side < 0

    while is_past(value):
        value = np.nextafter(value, inward)
    while not is_past(further := np.nextafter(value, outward)):
        value = further
    return value


def fused(a, b, c):
    """a * b + c rounded once to single precision: by exact fractions where all are finite."""
    if not all(np.isfinite(v) for v in (a, b, c)):
        return np.float64(a) * np.float64(b) + np.float64(c)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return np.float64(a) * np.float64(b) + np.float64(c)
    exponent = max(math.floor(math.log2(abs(exact))) if abs(exact) < 2**1000 else 200, -126) - 23
    for e in (exponent - 1, exponent, exponent + 1):
        unit = Fraction(2) ** max(e, -149)
        if abs(exact) / unit < 2**24:
            return float(round(exact / unit) * unit) if abs(exact) < 2**128 else math.copysign(math.inf, exact)
    raise AssertionError(exact)


VIEWS = {"f32": (as_single, np.uint32), "f64": (as_double, np.uint64), "f16": (as_half, np.uint16)}


@pytest.mark.parametrize("case", list(float_cases()), ids=lambda case: case[0])
def test_floating_point(case, tmp_path):
    """Broken: an operation rounds, orders or propagates NaN differently from a GPU."""
    opcode, result, sources, function = case
    rows = list(itertools.product(*(edges(source) for source in sources)))
    with np.errstate(all="ignore"):
        for row, value in zip(rows, run(tmp_path, kernel(opcode, result, sources), list(rows))):
            expected = function(*(VIEWS[t][0](bits) for t, bits in zip(sources, row)))
            if result == "pred":
                assert value == bool(expected), [hex(v) for v in row]
                continue
            view, bits_type = VIEWS[result]
            if np.isnan(expected):
                assert np.isnan(view(value)), [hex(v) for v in row]
                if result == "f32" and opcode.split(".")[0] not in ("neg", "abs", "copysign"):
                    assert value == 0x7FFFFFFF
            else:
                assert value == int(expected.view(bits_type)), [hex(v) for v in row]


def rounded(value, mode):
    return {"rni": lambda v: float(np.rint(v)), "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode](value)


def converted(value, source, to, mode):
    size = int(to[1:])
    low, high = (-(2 ** (size - 1)), 2 ** (size - 1) - 1) if to[0] == "s" else (0, 2**size - 1)
    if math.isnan(value):
        return 2 ** (size - 1) if size == 64 or source == "f64" else 0  # PTX ISA, cvt
    if math.isinf(value):
        return high if value > 0 else low
    return max(low, min(high, int(rounded(value, mode))))


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("to", ["s32", "u32", "s64", "u64", "s16", "u16"])
@pytest.mark.parametrize("source", ["f32", "f64"])
def test_float_to_integer(source, to, mode, tmp_path):
    """Broken: a conversion does not round or saturate as it should."""
    rows = [(bits,) for bits in edges(source)]
    for (bits,), value in zip(rows, run(tmp_path, kernel(f"cvt.{mode}.{to}.{source}", to, [source]), list(rows))):
        assert value == converted(float(VIEWS[source][0](bits)), source, to, mode) % 2 ** int(to[1:]), hex(bits)


@pytest.mark.parametrize("source", ["s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("to", ["f32", "f64"])
def test_integer_to_float(source, to, tmp_path):
    """Broken: a large integer is not rounded to nearest."""
    size = int(source[1:])
    rows = [(bits,) for bits in edges(source)]
    for (bits,), value in zip(rows, run(tmp_path, kernel(f"cvt.rn.{to}.{source}", to, [source]), list(rows))):
        number_in = signed(bits, size) if source[0] == "s" else bits
        kind = np.float32 if to == "f32" else np.float64
        expected = kind(np.int64(number_in) if number_in < 2**63 else np.uint64(number_in))
        assert value == int(expected.view(VIEWS[to][1])), bits


@pytest.mark.parametrize("to, source", [("f16", "f32"), ("f16", "f64"), ("f32", "f64")])
def test_float_to_smaller_float(to, source, tmp_path):
    """Broken: a narrowing conversion is not rounded to nearest."""
    rows = [(bits,) for bits in edges(source)]
    with np.errstate(all="ignore"):
        for (bits,), value in zip(rows, run(tmp_path, kernel(f"cvt.rn.{to}.{source}", to, [source]), list(rows))):
            expected = VIEWS[source][0](bits).astype({"f16": np.float16, "f32": np.float32}[to])
            if np.isnan(expected):
                assert np.isnan(VIEWS[to][0](value))
            else:
                assert value == int(expected.view(VIEWS[to][1])), hex(bits)


def refusal(tmp_path, text, name="k"):
    """The error message for kernel `name` of a PTX text, which must not run to its end."""
    (tmp_path / "k.ptx").write_text(text)
    (tmp_path / "in").write_bytes(bytes(24 * 64))
    result = subprocess.run([RUN, tmp_path / "k.ptx", name, "64", tmp_path / "in", tmp_path / "out"], capture_output=True, text=True)
    assert result.returncode == 1
    return result.stderr


NUMPY = {"u32": np.uint32, "s32": np.int32, "f16": np.float16, "f32": np.float32}


def random_values(type_name, seed):
    """4096 numbers of many magnitudes, without zero."""
    random = np.random.default_rng(seed)
    if type_name[0] in "us":
        return ((random.integers(0, 2**32, 4096) >> random.integers(0, 31, 4096) | 1).astype(np.uint32)).view(NUMPY[type_name])
    return (random.uniform(-8, 8, 4096) * 2.0 ** random.integers(-24, 12, 4096)).astype(NUMPY[type_name])


def flushed(x):
    return np.where(np.abs(x) < 2.0**-126, np.copysign(np.float32(0), x), x)


BETWEEN_EDGES = {  # result, sources, the same computed by numpy
    "ex2.approx.ftz.f32": ("f32", ["f32"], lambda a: flushed(np.exp2(a.astype(np.float64)).astype(np.float32))),
    "add.rn.ftz.sat.f32": ("f32", ["f32", "f32"], lambda a, b: np.clip(a + b, 0, 1)),
    "mul.rn.ftz.f32": ("f32", ["f32", "f32"], lambda a, b: flushed(a * b)),
    "add.f16": ("f16", ["f16", "f16"], lambda a, b: a + b),
    "mul.f16": ("f16", ["f16", "f16"], lambda a, b: a * b),
    "cvt.rmi.f32.f32": ("f32", ["f32"], lambda a: np.floor(a)),
    "cvt.rni.s32.f32": ("s32", ["f32"], lambda a: np.rint(a).astype(np.int32)),
    "cvt.rn.f16.f32": ("f16", ["f32"], lambda a: a.astype(np.float16)),
    "cvt.f32.f16": ("f32", ["f16"], lambda a: a.astype(np.float32)),
    "div.u32": ("u32", ["u32", "u32"], lambda a, b: a // b),
    "rem.s32": ("s32", ["s32", "s32"], lambda a, b: np.fmod(a, b)),
}


@pytest.mark.parametrize("some", [False, True], ids=["all lanes", "some lanes"])
@pytest.mark.parametrize("opcode", BETWEEN_EDGES)
@np.errstate(all="ignore")
def test_numbers_between_the_edges(opcode, some, tmp_path):
    """Broken: a series has too few terms, an ordinary number is rounded twice, or an instruction ignores the guard that
    makes some of its lanes inactive."""
    to, sources, expected = BETWEEN_EDGES[opcode]
    columns = [random_values(source, seed) for seed, source in enumerate(sources)]
    guard = ".reg .pred %g; and.b32 %n, %i, 5; setp.ne.u32 %g, %n, 1; @%g" if some else ""
    before = "mov.f32 %t, 0f0000004d;" if to == "f32" else f"mov.b{to[1:]} %t, 0x4d;"
    text = f"{before} {guard} {opcode} %t, {', '.join(f'%s{k}' for k in range(len(columns)))};"
    rows = list(zip(*(column.view(f"u{column.itemsize}").tolist() for column in columns)))
    got = run(tmp_path, kernel(text, to, sources), rows)
    result = expected(*columns).astype(NUMPY[to])
    wanted = result.view(f"u{result.itemsize}").tolist()
    for k, value in enumerate(wanted):
        inactive = some and k & 5 == 1
        assert got[k] == (0x4D if inactive else value), (opcode, k, [column[k] for column in columns], hex(got[k]), hex(value))


def test_vectors_of_narrow_elements(tmp_path):
    """Broken: a constant in a vector is wider or narrower than the registers in it, or a sink that comes first
    determines their width."""
    for size, vector, expected in [(8, "{%q, 7}", 0x705), (8, "{7, %q}", 0x507), (8, "{%n, 7}", 0x705), (16, "{7, %q}", 0x50007),
                                   (16, "{%w, 7}", 0x70005), (32, "{7, %w}", 0x500000007), (8, "{7, 6}", 0x607)]:
        text = kernel(f"mov.u16 %q, 5; mov.u32 %n, 5; mov.u64 %w, 5; st.global.v2.u{size} [%in], {vector}; ld.global.u64 %t, [%in];",
                      "u64", ["u64"])
        assert set(run(tmp_path, text, [(0,)])) == {expected}, (size, vector)
    for vector, expected in [("{_, %q}", 0x77), ("{%q, _}", 0x88), ("{_, _, %q, _}", 0x66)]:
        text = kernel(f"ld.global.v{vector.count(',') + 1}.u8 {vector}, [%in]; cvt.u32.u16 %t, %q;", "u32", ["u64"])
        assert set(run(tmp_path, text, [(0x5566_7788,)])) == {expected}, vector


def test_error_in_the_text_affects_only_kernels_that_reach_it(tmp_path):
    """Broken: a texture, an unknown word or a too large array in one kernel makes the whole module fail, or the kernel runs without it."""
    good = kernel("not.b32", "b32", ["b32"])
    texture = kernel("tex.3d.v4.u32.f32 {%i, %j, %n, %t}, [%w, {%i, %i, %i, %i}];", "u32", ["u32"]).replace("entry k", "entry t")
    strange = kernel("mov.u32 %t, ?; mov.u32 %t, 5;", "u32", ["u32"]).replace("entry k", "entry s")
    both = good + "".join(text[text.index(".visible"):] for text in (texture, strange))
    assert set(run(tmp_path, both, [(1,)])) == {0xFFFFFFFE}
    assert "tex.3d" in refusal(tmp_path, both, "t")
    assert "expected an operand, found '?'" in refusal(tmp_path, both, "s")
    skipped = kernel("@!%p0 mov.u32 %t, ?; ", "u32", ["u32"]).replace(".reg .u16 %q;", ".reg .u16 %q; .reg .pred %p0; setp.eq.u32 %p0, 1, 1;")
    assert set(run(tmp_path, skipped, [(1,)])) == {0}
    torn = good + ".visible .entry torn(.param .u64 a) { .strange 7; mov.u32 %z, 1; }\n" + texture[texture.index(".visible"):]
    assert set(run(tmp_path, torn, [(1,)])) == {0xFFFFFFFE}
    assert f"PTX line {good.count(chr(10)) + 1}: unknown directive '.strange'" in refusal(tmp_path, torn, "torn")
    large = good + ".visible .entry large(.param .u64 a)\n{\n.shared .b8 huge[2000000]; ret; }\n"
    assert set(run(tmp_path, large, [(1,)])) == {0xFFFFFFFE}
    assert f"PTX line {large.count(chr(10)) - 1}: its variables in shared memory are too large" in refusal(tmp_path, large, "large")


def test_constants_take_at_most_64_kb(tmp_path):
    """Broken: a module runs whose constant variables ptxas refuses, so that a program passes that is not built for any GPU."""
    text = kernel("not.b32", "b32", ["b32"])
    for count, is_refused in ((32768, False), (32769, True)):
        own = text.replace(".visible", f".const .b8 one[32768];\n.const .b8 other[{count}];\n.visible", 1)
        assert "other: too large" in refusal(tmp_path, own, "k") if is_refused else set(run(tmp_path, own, [(1,)])) == {0xFFFFFFFE}


def test_initial_values(tmp_path):
    """Broken: a packed structure has wrong bytes of a pointer, or a variable whose initial value is unknown reads as
    zeros."""
    variables = """.global .u32 x = 5;
.global .align 1 .u8 s[9] = {97, 0xFF(generic(x)), 0xFF00(generic(x)), 0xFF0000(generic(x)), 0xFF000000(generic(x)),
    0xFF00000000(generic(x)), 0xFF0000000000(generic(x)), 0xFF000000000000(generic(x)), 0xFF00000000000000(generic(x))};
.global .u64 pointer[2] = {unheard_of, 3}, q = 5;
.global .u64 table[2] = {pointer, 3};
.global .u32 wrong[2] = {1, 2 3}, after = 9;
"""

    def with_variables(text):
        return kernel(text, "u64", ["u64"]).replace(".visible", variables + ".visible")

    bytes_of = "".join(f"ld.global.u8 %n, [s+{8 - k}]; cvt.u64.u32 %x, %n; shl.b64 %t, %t, 8; or.b64 %t, %t, %x;" for k in range(8))
    text = with_variables("mov.u64 %t, 0;" + bytes_of + "ld.global.u32 %n, [%t]; ld.global.u8 %i, [s]; mad.lo.u32 %n, %n, 1000, %i;"
                          "ld.global.u64 %x, [q]; cvt.u64.u32 %t, %n; mad.lo.u64 %t, %x, 10000, %t;")
    assert set(run(tmp_path, text, [(0,)])) == {5 * 1000 + 97 + 50000}
    for name, reason in {"pointer": "unknown symbol 'unheard_of'", "table": "refused: 'pointer'", "wrong": "expected '}', found '3'"}.items():
        assert reason in refusal(tmp_path, with_variables(f"mov.u64 %t, {name};")), name


def test_the_table_is_that_of_the_page():
    """Broken: simulator/covers.md lists instructions that the simulator refuses, or omits some that it supports. After a
    change of the table: make coverage tables."""
    printed = subprocess.run([ROOT / "build/sim/coverage"], capture_output=True, text=True, check=True).stdout
    assert printed == (ROOT / "simulator/coverage.csv").read_text()


def test_the_calls_are_those_of_the_page():
    """Broken: simulator/covers.md lists a CUDA function that the library does not have, or omits one. After a new call: make coverage tables."""
    with open(ROOT / "simulator/calls.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    works, refused = coverage_calls.had_by(ROOT / "build/sim/libsimulator.a")
    assert rows and refused and not [row["call"] for row in rows if row["interface"] != "library" and
                                     row["state"] != ("works" if row["call"] in works else "refused" if row["call"] in refused else "absent")]


def test_lanes_of_a_warp_name_one_barrier(tmp_path):
    """Broken: lanes of one warp that name different barriers all wait at the first lane's."""
    text = kernel("mov.u32 %n, %tid.x; and.b32 %n, %n, 1; barrier.sync %n, 32; mov.u32 %t, 1;", "u32", ["u32"])
    assert "thread (1,0,0)" in refusal(tmp_path, text) and "executes barrier 0" in refusal(tmp_path, text)


def test_instructions_without_effect(tmp_path):
    """Broken: an instruction for a feature that is not simulated ends the launch."""
    text = kernel("griddepcontrol.wait; griddepcontrol.launch_dependents; mov.u32 %t, 7;", "u32", ["u32"])
    assert set(run(tmp_path, text, [(1,)])) == {7}


def small_float(bits, exponent_bits, bias):
    """The value of 8 bits: a sign, an exponent, a fraction."""
    fraction_bits = 7 - exponent_bits
    exponent, fraction = bits >> fraction_bits & 2**exponent_bits - 1, bits & 2**fraction_bits - 1
    value = math.ldexp(fraction + (2**fraction_bits if exponent else 0), max(exponent, 1) - bias - fraction_bits)
    return -value if bits & 128 else value


SMALL = {"e4m3": [small_float(k, 4, 7) for k in range(127)], "e5m2": [small_float(k, 5, 15) for k in range(124)]}


def narrowed(value, values):
    """The bits of the nearest of the values, which are those of the bits 0, 1, 2, ...; ties go to the even one."""
    if math.isnan(value):
        return 127
    nearest = min(range(len(values)), key=lambda k: (abs(values[k] - min(abs(value), values[-1])), k % 2))
    return nearest | (128 if math.copysign(1, value) < 0 else 0)


@pytest.mark.parametrize("t", SMALL)
def test_8_bit_floats(t, tmp_path):
    """Broken: an 8-bit float is rounded, saturated or unpacked differently from a GPU."""
    values = [0.0, -0.0, 1.0, -1.0625, 1.1875, 0.3, 447.0, 448.0, 464.0, -465.0, 57344.0, 60000.0, -65504.0, 1e30, math.inf, -math.inf,
              math.nan, 2.0**-9, 2.0**-10, 3 * 2.0**-10, 2.0**-16, 2.0**-17, 3 * 2.0**-17, 2.0**-6, 0.0146484375]
    rows = [(single_bits(np.float32(a)), single_bits(np.float32(b))) for a, b in zip(values, reversed(values))]
    results = run(tmp_path, kernel(f"cvt.rn.satfinite.{t}x2.f32", "b16", ["f32", "f32"]), list(rows))
    for a, b, value in zip(values, reversed(values), results):
        assert value == narrowed(a, SMALL[t]) << 8 | narrowed(b, SMALL[t]), (a, b)
    halves = [float(as_half(bits)) for bits in HALVES]
    results = run(tmp_path, kernel(f"cvt.rn.satfinite.relu.{t}x2.f16x2", "b16", ["b32"]), [(bits << 16 | 0x3C00,) for bits in HALVES])
    for a, value in zip(halves, results):
        assert value == narrowed(0.0 if a <= 0 else a, SMALL[t]) << 8 | narrowed(1.0, SMALL[t]), a
    results = run(tmp_path, kernel(f"cvt.rn.f16x2.{t}x2", "b32", ["b16"]), [(k << 8 | k,) for k in range(256)])
    for k in range(256):
        low, high = (as_half(results[k] >> shift & 0xFFFF) for shift in (0, 16))
        value = SMALL[t][k & 127] if k & 127 < len(SMALL[t]) else math.inf if k & 127 == 124 and t == "e5m2" else math.nan
        value = -value if k & 128 else value
        assert np.array_equal([low, high], [value, value], equal_nan=True), k


def test_other_roundings(tmp_path):
    """Broken: tf32 keeps more bits than it has, or relu keeps a negative number or loses NaN."""
    rows = [(bits,) for bits in edges("f32")] + [(0x3F801000,), (0x3F803000,), (0x3F800FFF,), (0xBF801000,)]
    for mode, up in {"rna": lambda b: b + 0x1000, "rn": lambda b: b + 0xFFF + (b >> 13 & 1), "rz": lambda b: b}.items():
        for (bits,), value in zip(rows, run(tmp_path, kernel(f"cvt.{mode}.tf32.f32", "b32", ["f32"]), list(rows))):
            none = bits & ~0x1FFF if mode == "rna" else 0x7FFFE000  # NaN on an H200
            assert value == (none if math.isnan(as_single(bits)) else bits if math.isinf(as_single(bits)) else up(bits) & ~0x1FFF)
    three = list(itertools.product(HALVES, HALVES[:6], HALVES[:4]))
    relu = run(tmp_path, kernel("fma.rn.relu.f16", "f16", ["f16", "f16", "f16"]), list(three))
    for row, value, plain in zip(three, relu, run(tmp_path, kernel("fma.rn.f16", "f16", ["f16", "f16", "f16"]), list(three))):
        assert value == (0 if as_half(plain) <= 0 else plain), row
    for (bits,), value in zip(rows, run(tmp_path, kernel("cvt.rn.relu.f16x2.f32 %t, %s0, 0f3F800000;", "b32", ["f32"]), list(rows))):
        with np.errstate(over="ignore"):
            half = as_single(bits).astype(np.float16)
        assert value == (0x7FFF if np.isnan(half) else 0 if half <= 0 else int(half.view(np.uint16))) << 16 | 0x3C00, hex(bits)


def test_vector_atomics(tmp_path):
    """Broken: an atomic operation on a vector or on halves skips an element, or returns the old value of another one."""
    def result(text):
        return run(tmp_path, kernel("st.global.u64 [%in], 0; st.global.u64 [%in+8], 0;" + text, "u64", ["u64"]), [(0,)])[0]

    two = "{{.reg .f32 %a<4>; {} mov.b64 %t, {};}}"
    assert result(two.format("red.global.add.v2.f32 [%in], {0f3F800000, 0f40000000}; ld.global.v2.f32 {%a0, %a1}, [%in];",
                             "{%a0, %a1}")) == 0x40000000_3F800000
    again = "atom.global.v4.f32.add {%a0, %a1, %a2, %a3}, [%in], {0f3F800000, 0f40000000, 0f40400000, 0f40800000};"
    aligned = "and.b64 %in, %in, -16; st.global.u64 [%in], 0; st.global.u64 [%in+8], 0;"
    only_first = "{.reg .pred %p; setp.eq.u32 %p, %i, 0; mov.u64 %t, 0; @!%p bra E; TEXT E: add.u64 %t, %t, 0;}"
    body = "{.reg .f32 %a<4>; " + aligned + again + again + "mov.b64 %t, {%a1, %a3};}"
    assert result(only_first.replace("TEXT", body)) == 0x40800000_40000000
    for t, one, sum_bits in (("f16", 0x3C00, 0x4000), ("bf16", 0x3F80, 0x4000)):
        pair = one << 16 | one
        assert result(f"{{.reg .b32 %a; red.global.add.noftz.{t}x2 [%in], {pair}; atom.global.add.noftz.{t}x2 %a, [%in], {pair};"
                      "ld.global.u32 %n, [%in]; mov.b64 %t, {%n, %a};}") == pair << 32 | sum_bits << 16 | sum_bits, t
        assert result(f"{{.reg .b16 %a; mov.b16 %a, {one}; red.global.add.noftz.{t} [%in+2], %a; red.global.add.noftz.{t} [%in+2], %a;"
                      "ld.global.u64 %t, [%in];}") == sum_bits << 16, t
        assert result(f"{{.reg .b16 %a, %b; mov.b16 %a, {one}; mov.b16 %b, {one | 0x8000}; red.global.max.noftz.v2.{t} [%in], {{%a, %b}};"
                      "ld.global.u64 %t, [%in];}") == one, t
    wide = ("{.reg .b128 %a, %b, %c; mov.b128 %a, {%x, %w}; mov.u64 %w, 5; mov.b128 %b, {%w, %w}; atom.global.exch.b128 %a, [%in], %b;"
            "mov.u64 %x, 9; mov.b128 %c, {%x, %w}; atom.global.cas.b128 %a, [%in], %b, %c; atom.global.cas.b128 %a, [%in], %b, %b;"
            "mov.b128 {%x, %w}, %a; ld.global.u64 %t, [%in+8]; mul.lo.u64 %t, %t, 100; mad.lo.u64 %t, %x, 10, %t; add.u64 %t, %t, %w;}")
    assert result(only_first.replace("TEXT", aligned + wide)) == 595


def test_an_unknown_modifier_is_refused(tmp_path):
    """Broken: an instruction runs although its opcode has an unknown, a repeated or a misplaced modifier."""
    for opcode, result, sources in [("setp.lt.strange.f32", "pred", ["f32", "f32"]), ("setp.f32", "pred", ["f32", "f32"]),
                                    ("add.ftz.ftz.f32", "f32", ["f32", "f32"]), ("add.sat.u32", "u32", ["u32", "u32"]),
                                    ("cvt.rn.f32.f16x2", "b32", ["f32", "f32"]), ("set.gt.f64.f32", "f32", ["f64", "f64"]),
                                    ("add", "u32", ["u32", "u32"]), ("mul.lo.hi.u32", "u32", ["u32", "u32"])]:
        assert opcode in refusal(tmp_path, kernel(opcode, result, sources)), opcode


def test_simd_video_instructions_have_no_constants(tmp_path):
    """Broken: vadd4 runs with a constant, which ptxas rejects; or vadd, where ptxas accepts one, does not run."""
    for operands in ("%s0, %s1, 0", "%s0, 1, %s2", "1, %s1, %s2"):
        assert "vadd4" in refusal(tmp_path, kernel(f"vadd4.u32.u32.u32 %t, {operands};", "b32", ["b32"] * 3)), operands
    assert run(tmp_path, kernel("vadd.u32.u32.u32.add %t, %s0, 20, 300;", "b32", ["b32"]), [(1,)])[0] == 321


def test_addresses_have_4_or_8_bytes(tmp_path):
    """Broken: an address is moved to a register of another size, and overwrites its neighbours."""
    for t in ("b16", "b128"):
        text = kernel(f"{{.shared .b32 box; .reg .{t} %address; mov.{t} %address, box; mov.u32 %t, 0;}}", "u32", [])
        assert f"mov.{t}" in refusal(tmp_path, text), t


def test_128_bit_registers_need_128_bit_loads(tmp_path):
    """Broken: 4 bytes are loaded into a register of 16, together with the bytes after them."""
    for load in ("ld.param.u32 %wide, [input];", "ld.global.u64 %wide, [%in];"):
        assert load.split()[0] in refusal(tmp_path, kernel(f"{{.reg .b128 %wide; {load} mov.u32 %t, 0;}}", "u32", [])), load


@pytest.mark.parametrize("policy", ["createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %p, 0.5;", "createpolicy.fractional.L2::evict_first.b64 %p;",
                                    "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %p, [%in], 64, 128;", "createpolicy.cvt.L2.b64 %p, 5;"])
def test_cache_hints_change_nothing(policy, tmp_path):
    """Broken: the instructions of cuda::annotated_ptr and cache policies are unknown, or the policy is used as a value."""
    text = (f"{{.reg .b64 %p; .reg .b32 %a; .shared .align 4 .b32 box[64]; {policy}"
            "ld.global.L1::evict_last.L2::cache_hint.L2::128B.u32 %a, [%in], %p; add.u32 %a, %a, 1;"
            "st.global.L2::cache_hint.u32 [%in], %a, %p; red.global.add.L2::cache_hint.u32 [%in], 10, %p;"
            "atom.global.add.L2::cache_hint.u32 %a, [%in], 100, %p; atom.global.exch.L2::cache_hint.b32 %a, [%in], 1000, %p;"
            "mov.u32 %n, %tid.x; mov.u32 %j, box; mad.lo.u32 %n, %n, 4, %j; cp.async.ca.shared.global.L2::cache_hint.L2::128B [%n], [%in], 4, %p; cp.async.wait_all; ld.shared.u32 %t, [%n];}")
    assert run(tmp_path, kernel(text, "u32", []), [(0,)])[0] == 1000
    for wrong in ("ld.global.L2::cache_hint.u32 %t, [%in];", "atom.global.cas.L2::cache_hint.b32 %t, [%in], 1, 2, %x;", "createpolicy.cvt.L2.b64 %x;"):
        assert wrong.split()[0] in refusal(tmp_path, kernel(f"{{{wrong}}}", "u32", [])), wrong


# The word that each lane loads: segments of consecutive or equal addresses, two of a kind or mixed, and others without segments.
SEGMENTS = [lambda l: l % 16, lambda l: 16 * (l // 16), lambda l: 100 * (l // 16) + l, lambda l: 90 - 30 * (l // 8) + l % 8,
          lambda l: l if l < 5 else 5, lambda l: 7 if l < 9 else l, lambda l: max(l - 1, 0), lambda l: 31 - l, lambda l: l // 2,
          lambda l: l * 7 % 32, lambda l: (l + 3) % 32, lambda l: 50 if l in (0, 31) else l]


@pytest.mark.parametrize("t", ["u32", "u64"])
def test_loads_in_segments(t, tmp_path):
    """Broken: if the lanes' addresses form a few segments, a lane gets another one's word."""
    size = int(t[1:]) // 8
    load = (f"{{ld.param.u64 %x, [input]; mul.wide.u32 %w, %s0, {size}; add.u64 %x, %x, %w; ld.global.{t} %t, [%x];}}")
    rows = [(word(l), 1000 * l + 7 * k, 2**40 * l + k) for k, word in enumerate(SEGMENTS) for l in range(32)]
    memory = struct.pack(f"<{3 * len(rows)}Q", *itertools.chain(*rows))
    values = run(tmp_path, kernel(load, t, ["u32"]), list(rows))
    for thread, (word, *_) in enumerate(rows):
        assert values[thread] == int.from_bytes(memory[size * word:size * (word + 1)], "little"), thread


def test_modifiers_in_another_order(tmp_path):
    """Broken: modifiers in another order, which ptxas accepts, are refused."""
    rows = [(single_bits(2.5), single_bits(-7.0))]
    for opcode in ("add.rn.ftz.sat.f32", "add.sat.rn.ftz.f32", "add.f32.ftz.sat"):
        assert run(tmp_path, kernel(opcode, "f32", ["f32", "f32"]), list(rows))[0] == 0, opcode


def test_an_unknown_directive_is_named(tmp_path):
    """Broken: a kernel's launch requirements are ignored."""
    (tmp_path / "k.ptx").write_text(kernel("not.b32", "b32", ["b32"]).replace("output)\n", "output)\n.maxntid 64\n.strange 3\n"))
    result = subprocess.run([RUN, tmp_path / "k.ptx", "k", "64", "/dev/null", tmp_path / "out"], capture_output=True, text=True)
    assert result.returncode == 1 and "unknown directive '.strange'" in result.stderr


@pytest.mark.parametrize("text, named", [
    (".global .texref old;", "references to textures and surfaces ('.texref') are not supported"),
    ("tex.cube.v4.f32.f32 {%r, %r, %r, %r}, [%w, {%r, %r, %r, %r}];", "tex.cube.v4.f32.f32"),
    ("tex.2d.v4.f32.f32 {%r, %r, %r, %r}, [%w, {%r}];", "does not know"),
    ("tex.2d.v4.f32.f32 {%r, %r, %r, %r}, [%w, {%r, %r}];", "texture object 0 does not exist"),
    ("sust.p.2d.v4.b32.trap [%w, {%n, %n}], {%n, %n, %n, %n};", "sust.p.2d.v4.b32.trap"),
    ("txq.width.b32 %n, [%w];", "txq.width.b32"),
    ("suq.width.b32 %n, [%w];", "surface object 0 does not exist")])
def test_unknown_texture_instruction_is_named(text, named, tmp_path):
    """Broken: a texture instruction that the simulator does not support does something else."""
    ptx = kernel(f"{{ .reg .f32 %r; mov.b64 %w, 0; {text} mov.b32 %t, %n; }}", "b32", ["b32"])
    if text.startswith("."):
        ptx = ptx.replace(text, "").replace(".visible", text + "\n.visible")
    (tmp_path / "k.ptx").write_text(ptx)
    (tmp_path / "in").write_bytes(bytes(24 * 64))
    result = subprocess.run([RUN, tmp_path / "k.ptx", "k", "64", tmp_path / "in", tmp_path / "out"], capture_output=True, text=True)
    assert result.returncode == 1 and named in result.stderr, result.stderr


# ---- Warp-level operations and block barriers

LANES = [(0xFFFFFFF0 + 7 * k & 0xFFFFFFFF, k * k % 5, k % 3) for k in range(64)]  # two warps, one block


def warp_cases():
    """Name, PTX, and a function of the warp's rows and a lane that returns the lane's result."""
    for name, function in {"add.u32": sum, "min.u32": min, "max.u32": max, "add.s32": sum,
                           "min.s32": lambda v: min(signed(x, 32) for x in v),
                           "max.s32": lambda v: max(signed(x, 32) for x in v),
                           "and.b32": lambda v: functools.reduce(int.__and__, v),
                           "or.b32": lambda v: functools.reduce(int.__or__, v),
                           "xor.b32": lambda v: functools.reduce(int.__xor__, v)}.items():
        yield (f"redux.sync.{name}", f"redux.sync.{name} %t, %s0, 0xffffffff;",
               lambda rows, lane, f=function: f([row[0] for row in rows]))
    # A third of the lanes votes while the others wait.
    third = "{.reg .pred %p, %q; setp.eq.u32 %q, %s2, 1; mov.u32 %t, 0; @!%q bra E;"
    members = "{.reg .pred %p, %q; setp.eq.u32 %q, %s2, 1; vote.sync.ballot.b32 %n, %q, 0xffffffff; mov.u32 %t, 0; @!%q bra E;"
    yield ("redux of some lanes", members + "redux.sync.min.s32 %t, %s0, %n; E: bar.warp.sync 0xffffffff;}",
           lambda rows, lane: min(signed(row[0], 32) for row in rows if row[2] == 1) if rows[lane][2] == 1 else 0)
    yield ("activemask", third + "activemask.b32 %t; E: bar.warp.sync 0xffffffff;}",
           lambda rows, lane: bits(row[2] == 1 for row in rows) if rows[lane][2] == 1 else 0)
    yield ("vote.ballot", "{.reg .pred %p; setp.gt.u32 %p, %s1, 1; vote.sync.ballot.b32 %t, %p, 0xffffffff;}",
           lambda rows, lane: bits(row[1] > 1 for row in rows))
    for mode, function in {"all": all, "any": any, "uni": lambda v: len(set(v)) == 1}.items():
        for limit in (0, 1, 4, 5):
            yield (f"vote.{mode} < {limit}", f"{{.reg .pred %p; setp.lt.u32 %p, %s1, {limit}; vote.sync.{mode}.pred %p, %p, "
                   "0xffffffff; selp.u32 %t, 1, 0, %p;}", lambda rows, lane, f=function, m=limit: f([row[1] < m for row in rows]))
    yield ("match.any", "match.any.sync.b32 %t, %s1, 0xffffffff;",
           lambda rows, lane: bits(row[1] == rows[lane][1] for row in rows))
    yield ("match.all", "{.reg .pred %p; match.all.sync.b32 %t|%p, %s1, 0xffffffff; @%p add.u32 %t, %t, 1;}", lambda rows, lane: 0)
    yield ("match.all, all alike", "{.reg .pred %p; mov.u32 %n, 3; match.all.sync.b32 %t|%p, %n, 0xffffffff;"
           "selp.u32 %t, %t, 0, %p;}", lambda rows, lane: 0xFFFFFFFF)
    halves = "{.reg .pred %p; .reg .u32 %m; and.b32 %m, %tid.x, 31; setp.lt.u32 %p, %m, 16; selp.b32 %m, 0xffff, 0xffff0000, %p;"
    yield ("redux of two halves", halves + "redux.sync.add.u32 %t, %s0, %m;}",
           lambda rows, lane: sum(row[0] for row in rows[lane // 16 * 16:lane // 16 * 16 + 16]))
    yield ("bar.warp.sync after the other lanes have exited", "{.reg .pred %p; setp.eq.u32 %p, %s2, 1; @%p bra W; exit;"
           "W: bar.warp.sync 0xffffffff; mov.u32 %t, 5;}", lambda rows, lane: 5 * (rows[lane][2] == 1))
    yield ("vote after the other lanes have exited", "{.reg .pred %p; setp.eq.u32 %p, %s2, 1; @%p bra W; exit;"
           "W: vote.sync.ballot.b32 %t, 1, 0xffffffff;}",
           lambda rows, lane: bits(row[2] == 1 for row in rows) * (rows[lane][2] == 1))
    yield ("elect", members + "elect.sync %t|%p, %n; @%p add.u32 %t, %t, 100; E: bar.warp.sync 0xffffffff;}", elected)
    yield ("elect without the leader's number", members + "elect.sync _|%p, %n; @%p add.u32 %t, %t, 100; E: bar.warp.sync 0xffffffff;}",
           lambda rows, lane: elected(rows, lane) // 100 * 100)
    for mode, width in itertools.product(("up", "down", "bfly", "idx"), (32, 8)):
        clamp = 32 - width << 8 | (0 if mode == "up" else 31)
        for by in (0, 1, 5, 9, 31):
            yield (f"shfl.{mode} {by} of {width}", f"{{.reg .pred %p; shfl.sync.{mode}.b32 %t|%p, %s0, {by}, {clamp}, 0xffffffff;"
                   "@!%p add.u32 %t, %t, 1;}", lambda rows, lane, a=(mode, by, width): shuffled(rows, lane, *a))
    # Named barriers: one warp waits for a later write of the other.
    shared = "{.shared .align 4 .b32 box[64]; .reg .pred %p; .reg .u32 %a; mov.u32 %n, %tid.x; setp.lt.u32 %p, %n, 32; mov.u32 %t, 0;"
    yield ("bar.arrive", shared + "@%p bra C; mov.u32 %a, box; st.shared.u32 [%a], 77; bar.arrive 3, 64; bra E;"
           "C: bar.sync 3, 64; mov.u32 %a, box; ld.shared.u32 %t, [%a]; E: bar.sync 0;}", lambda rows, lane: (77, 0))
    yield ("bar.sync of one warp", shared + "@%p bra E; bar.sync 5, 32; mov.u32 %t, 8; E: bar.sync 0;}", lambda rows, lane: (0, 8))
    yield ("bar.sync of lanes that others wait for at another instruction", "{.reg .pred %p; and.b32 %n, %tid.x, 1; setp.eq.u32 %p, %n, 0; mov.u32 %t, 1;"
           "@%p bra J; bar.sync 0; mov.u32 %t, 2; J: bar.sync 0; add.u32 %t, %t, 5;}", lambda rows, lane: 6 + lane % 2)
    add = "MEMORY.u32 [ADDRESS], 3; red.MEMORY.add.f32 [ADDRESS], 0f00000001; ld.MEMORY.u32 %t, [ADDRESS];}"
    yield ("red.add.f32 in device memory", "{st." + add.replace("MEMORY", "global").replace("ADDRESS", "%out"), lambda rows, lane: 0)
    own = "{.shared .align 4 .b32 box[64]; .reg .u32 %a; mov.u32 %a, box; mov.u32 %n, %tid.x; shl.b32 %n, %n, 2; add.u32 %a, %a, %n; st."
    yield ("red.add.f32 in shared memory", own + add.replace("MEMORY", "shared").replace("ADDRESS", "%a"), lambda rows, lane: 4)
    yield ("bar.sync with and without a count", shared + "@%p bra C; bar.sync 1; bra E; C: bar.sync 1, 64; E: mov.u32 %t, 6;}",
           lambda rows, lane: 6)
    yield ("bar.arrive and exit", shared + "@%p bra C; bar.arrive 1, 64; exit; C: bar.sync 1, 64; mov.u32 %t, 6;}",
           lambda rows, lane: (6, 0))
    not_one = "{.reg .pred %p; setp.ne.u32 %p, %s2, 1;"
    yield "bar.red.popc", not_one + "bar.red.popc.u32 %t, 0, %p;}", lambda rows, lane: sum(row[2] != 1 for row in LANES)
    for name, expected in {"and": 0, "or": 1}.items():
        yield (f"bar.red.{name}", not_one + f"bar.red.{name}.pred %p, 0, %p; selp.u32 %t, 1, 0, %p;}}",
               lambda rows, lane, e=expected: e)
    copy = ("{.shared .align 8 .b8 box[512]; .reg .u32 %a, %b; mov.u32 %a, box; mov.u32 %n, %tid.x; shl.b32 %n, %n, 3; add.u32 %a, %a, %n;"
            "st.shared.u32 [%a+4], 5; cp.async.ca.shared.global [%a], [%in], SIZES; cp.async.commit_group; WAIT"
            "ld.shared.u32 %t, [%a]; ld.shared.u32 %b, [%a+4]; shl.b32 %b, %b, 4; add.u32 %t, %t, %b;}")
    asleep = copy.replace("SIZES", "8")
    copy = copy.replace("WAIT", "cp.async.wait_group 0;")
    yield "cp.async", copy.replace("SIZES", "8"), lambda rows, lane: rows[lane][0]
    yield "cp.async, zeros after the source", copy.replace("SIZES", "8, 2"), lambda rows, lane: rows[lane][0] & 0xFFFF
    yield ("cp.async, negative offsets", copy.replace("SIZES", "8").replace("[%a], [%in]", "[%a+-8], [%in-8]").replace(
        "cp.async.ca", "add.u32 %a, %a, 8; add.u64 %in, %in, 8; cp.async.ca").replace("%b, [%a+4]", "%b, [%a-4]").replace(
        "%t, [%a]", "%t, [%a-8]").replace("box[512]", "box[520]"), lambda rows, lane: rows[lane][0])
    yield "cp.async of half as much", copy.replace("SIZES", "4"), lambda rows, lane: rows[lane][0] + 80
    old, second = 0xFFFFFFFF + 80, "cp.async.ca.shared.global [%a+4], [%in+8], 4;"
    yield "cp.async without a wait", asleep.replace("WAIT", ""), lambda rows, lane: old
    yield ("cp.async, a wait for all but the last group",
           asleep.replace("WAIT", second + "cp.async.commit_group; cp.async.wait_group 1;"), lambda rows, lane: rows[lane][0])
    yield ("cp.async, a wait for all groups", asleep.replace("WAIT", second + "cp.async.commit_group; cp.async.wait_group 0;"),
           lambda rows, lane: rows[lane][0] + 16 * rows[lane][1])
    yield ("cp.async, a wait for groups where one is not committed", asleep.replace("WAIT", second + "cp.async.wait_group 0;"),
           lambda rows, lane: rows[lane][0])
    yield ("cp.async.wait_all", asleep.replace("WAIT", second + "cp.async.wait_all;"),
           lambda rows, lane: rows[lane][0] + 16 * rows[lane][1])
    yield ("cp.async, a wait of some lanes", "{.reg .pred %p; setp.eq.u32 %p, %s2, 1;"
           + asleep.replace("WAIT", "@%p cp.async.wait_group 0;") + "}", lambda rows, lane: rows[lane][0] if rows[lane][2] == 1 else old)
    yield from mbarrier_cases()


def mbarrier_cases():
    """mbarriers: each bit of a result tests whether the phase of a parity has completed."""
    def test(bit, parity=0):
        return f"mbarrier.test_wait.parity.shared.b64 %p, [bar], {parity}; @%p or.b32 %t, %t, {1 << bit};"

    def one_thread(count, text):  # the first of each block, with a barrier for `count` arrivals
        return start.replace("COUNT", str(count)) + f"@!%f bra E; {text} E: bar.sync 0;}}"

    start = ("{.shared .align 16 .b8 box[1024]; .shared .align 8 .b64 bar; .reg .pred %p, %f; .reg .u64 %s;"
             ".reg .u32 %a, %b; mov.u32 %n, %tid.x; setp.eq.u32 %f, %n, 0; mov.u32 %t, 0;"
             "@%f mbarrier.init.shared.b64 [bar], COUNT; @%f fence.mbarrier_init.release.cluster; bar.sync 0;")
    engine = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    copy = f"mov.u32 %a, box; fence.proxy.async; {engine} [%a], [%in], 16, [bar];"
    arrive = "mbarrier.arrive.shared.b64 %s, [bar];"

    def first(value):  # in the block's first thread, 0 in the others
        return lambda rows, lane: value if rows == LANES[:32] and lane == 0 else 0

    yield "mbarrier before any phase", one_thread(1, test(0, 0) + test(1, 1)), first(0b10)
    yield "mbarrier.arrive of one", one_thread(1, arrive + test(0, 0) + test(1, 1)), first(0b01)
    yield ("mbarrier.arrive, phase after phase", one_thread(2, "".join(
        arrive + test(3 * k, k % 2) + arrive + test(3 * k + 1, k % 2) + test(3 * k + 2, 1 - k % 2) for k in range(5))),
        first(0o22222))
    with_count = "mbarrier.arrive.release.cta.shared::cta.b64 %s, [bar], 3;"
    yield ("mbarrier.arrive with a count", one_thread(5, with_count + test(0)
           + "mov.u32 %b, 2; mbarrier.arrive.shared::cta.b64 _, [bar], %b;" + test(1)
           + "mbarrier.arrive.shared.b64 _, [bar], 4;" + test(2, 1) + arrive + test(3, 1)), first(0b1010))
    announce = "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %s, [bar], 32;"
    yield ("mbarrier.arrive.expect_tx, bytes come later",
           one_thread(1, test(0) + announce + test(1) + copy + test(2) + copy + test(3) + test(4, 1)), first(0b01000))
    yield ("mbarrier.arrive.expect_tx, bytes came before",
           one_thread(1, copy + test(0) + copy + test(1) + announce.replace("%s", "_") + test(2)), first(0b100))
    expect = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;"
    yield ("mbarrier.expect_tx", one_thread(2, expect + arrive + arrive + test(0) + copy + test(1)
           + arrive + copy + test(2, 1) + expect + test(3, 1) + arrive + test(4, 1)), first(0b10010))
    drop = "mbarrier.arrive_drop.shared.b64 _, [bar];"
    yield ("mbarrier.arrive_drop", one_thread(2, drop + test(0) + arrive + test(1) + arrive + test(2, 1)), first(0b110))
    for name, expected in {"": 0b10, ".noinc": 0b01}.items():
        yield (f"cp.async.mbarrier.arrive{name}", one_thread(1, f"cp.async.mbarrier.arrive{name}.shared.b64 [bar];" + test(0)
               + test(1, 1)), first(expected))
    yield ("mbarrier.inval", one_thread(2, arrive + "mbarrier.inval.shared.b64 [bar];"
           "mbarrier.init.shared::cta.b64 [bar], 1;" + test(0) + arrive + test(1)), first(0b10))
    yield ("mbarrier by its generic address", one_thread(1, "cvta.shared.u64 %w, bar; mbarrier.arrive.b64 %s, [%w];"
           "mbarrier.test_wait.b64 %p, [%w], %s; @%p add.u32 %t, %t, 1; mbarrier.test_wait.parity.b64 %p, [%w], 1;"
           "@%p add.u32 %t, %t, 2; mbarrier.arrive.b64 %s, [%w];"
           "mbarrier.try_wait.shared.b64 %p, [bar], %s, 1000; @%p add.u32 %t, %t, 4;"), first(5))
    send = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes."
    yield ("st.async", one_thread(1, "mov.u32 %a, box; mov.u32 %b, 0; mapa.shared::cluster.u32 %a, %a, %b; mov.u32 %n, bar;"
           "mapa.shared::cluster.u32 %n, %n, %b; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 12; mov.u32 %b, 64;"
           f"mov.u64 %s, 1024; {send}b32 [%a], %b, [%n];" + test(0) + f"{send}b64 [%a+8], %s, [%n];" + test(1)
           + "ld.shared.u32 %b, [box]; or.b32 %t, %t, %b; ld.shared.u32 %b, [box+8]; or.b32 %t, %t, %b;"), first(0b10001000010))
    yield ("cp.async.bulk from shared memory", one_thread(1, "mov.u32 %a, box; st.shared.v4.u32 [%a+16], {5, 6, 7, 8};"
           "fence.proxy.async.shared::cta; cp.async.bulk.global.shared::cta.bulk_group [%in], [%a+16], 16;"
           "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;"
           "ld.global.u32 %t, [%in+12];"), first(8))
    wait = "W: mbarrier.try_wait.acquire.cta.shared::cta.b64 %p, [bar], %s; @!%p bra W;"
    parity_wait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0, %n; @!%p bra W;"
    everyone = start.replace("COUNT", "64")
    yield ("mbarrier.try_wait for all threads", everyone + arrive + wait + test(0, 0) + test(1, 1) + "}",
           lambda rows, lane: 0b01)
    yield ("mbarrier.try_wait for another warp", start.replace("COUNT", "32") + "mov.u32 %a, box;"
           "setp.lt.u32 %f, %n, 32; @!%f bra P;" + parity_wait + "ld.shared.u32 %t, [%a]; bra E; P: st.shared.u32 [%a], 7;" + arrive
           + "E: bar.sync 0;}", lambda rows, lane: (7, 0))
    some = start.replace("COUNT", "8") + "and.b32 %b, %n, 7; setp.eq.u32 %p, %b, 5;"
    for name, text in {"those that branch": "@%p bra P;" + parity_wait + "mov.u32 %t, 7; bra E; P:" + arrive,
                       "those that do not": "@!%p bra P;" + arrive + "bra E; P:" + parity_wait
                                            + "mov.u32 %t, 7;"}.items():
        yield (f"mbarrier.try_wait for other lanes: {name}", some + text + "E: bar.sync 0;}",
               lambda rows, lane: 7 * (lane % 8 != 5))
    from_neighbour = (everyone + "shl.b32 %b, %n, 3; mov.u32 %a, box; add.u32 %a, %a, %b; cp.async.ca.shared.global [%a], [%in], 8;"
                      "ARRIVE" + parity_wait + "xor.b32 %b, %n, 1; shl.b32 %b, %b, 3; mov.u32 %a, box; add.u32 %a, %a, %b; ld.shared.u32 %t, [%a];}")
    yield ("cp.async.mbarrier.arrive.noinc", from_neighbour.replace("ARRIVE", "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"),
           lambda rows, lane: rows[lane ^ 1][0])
    yield ("cp.async.mbarrier.arrive", from_neighbour.replace("ARRIVE", "cp.async.mbarrier.arrive.shared::cta.b64 [bar];" + arrive),
           lambda rows, lane: rows[lane ^ 1][0])
    yield ("cp.async.bulk of many lanes", everyone + "shl.b32 %b, %n, 4; mov.u32 %a, box; add.u32 %a, %a, %b;"
           "and.b32 %b, %n, 1; setp.eq.u32 %p, %b, 0; mov.u32 %b, 0; @%p mov.u32 %b, 16;"
           f"mbarrier.arrive.expect_tx.shared.b64 %s, [bar], %b; @%p {engine} [%a], [%in], %b, [bar];" + parity_wait
           + "and.b32 %b, %n, 1; setp.eq.u32 %p, %b, 0; @%p ld.shared.u32 %t, [%a+8];}",
           lambda rows, lane: rows[lane][1] * (lane % 2 == 0))


def elected(rows, lane):
    """The leader is the first member of the mask; its own result is 100 more."""
    first = [row[2] for row in rows].index(1)
    return 0 if rows[lane][2] != 1 else first + 100 * (lane == first)


def bits(values):
    return sum(bool(value) << k for k, value in enumerate(values))


def shuffled(rows, lane, mode, by, width):
    """The value that a lane reads: its own plus one if the source lane is outside its segment."""
    first = lane // width * width
    other = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": first + by % width}[mode]
    inside = other >= first if mode == "up" else other < first + width
    return rows[other][0] if inside else rows[lane][0] + 1


@pytest.mark.parametrize("case", list(warp_cases()), ids=lambda case: case[0])
def test_warp_level_operations(case, tmp_path):
    """Broken: a shuffle, a vote or a barrier combines the wrong threads."""
    _, text, function = case
    values = run(tmp_path, kernel(text, "u32", ["u32", "u32", "u32"]), list(LANES))
    for thread, value in enumerate(values):
        warp = thread // 32
        expected = function(LANES[32 * warp:32 * warp + 32], thread % 32)
        if isinstance(expected, tuple):
            expected = expected[warp]
        if expected is not None:
            assert value == expected % 2**32, thread


def test_no_code_compares_handlers():
    """Instr.kind and Instr.effects classify an instruction: code that compares handlers' addresses misses new rows."""
    comparison = re.compile(r"\brun [!=]= *sim_|memmem\(|run [!=]= \w+_runtime")
    found = [f"{path.relative_to(ROOT)}: {line.strip()}" for path in sorted((ROOT / "simulator").rglob("*.c"))
             for line in path.read_text().splitlines() if comparison.search(line)]
    assert not found, "use Instr.kind or Instr.effects instead: " + "; ".join(found)
