"""Undefined bits of operands reach an instruction's result, and only the bits of it that depend on them."""

import subprocess

import pytest

from tests.simulator.ptx import RUN

pytestmark = pytest.mark.builds("build/sim/ptx_run")

ALL = 0xFFFFFFFF

CALL = "{.param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a], %x; st.param.b32 [b], %u; call (r), NAME, (a, b); ld.param.b32 %t, [r];}"
APART = "setp.lt.u32 %r, %l, 3; @%r bra A; vote.sync.ballot.b32 %t, %p, -1; bra B; A: vote.sync.ballot.b32 %t, %p, -1; B:"

# %u: an uninitialised word. %x: 0x120000a4, of which bits 8 to 15 are uninitialised. %y: 0x00000f0f, defined. %l: the lane.
# %p: an uninitialised predicate, %q: one that is true. %h: two halves, of which the lower is uninitialised.
# name: instructions that set %t, undefined bits of %t, defined bits of %t
RESULTS = {
    "mov": ("mov.b32 %t, %x;", 0xFF00, 0xFFFF00FF),
    "not": ("not.b32 %t, %x;", 0xFF00, 0xFFFF00FF),
    "and": ("and.b32 %t, %x, %y;", 0x0F00, 0xFFFFF0FF),
    "or": ("or.b32 %t, %x, %y;", 0xF000, 0xFFFF0FFF),
    "xor": ("xor.b32 %t, %x, %y;", 0xFF00, 0xFFFF00FF),
    "xor with itself": ("xor.b32 %t, %u, %u;", 0, ALL),
    "two in xor": ("xor.b32 %t, %x, %u;", ALL, 0),
    "lop3": ("lop3.b32 %t, %x, %y, %u, 0xc0;", 0x0F00, 0xFFFFF0FF),
    "shl": ("shl.b32 %t, %x, 8;", 0xFF0000, 0xFF00FFFF),
    "shr": ("shr.u32 %t, %x, 12;", 0xF, 0xFFFFFFF0),
    "shr by an undefined distance": ("and.b32 %t, %u, 7; shr.u32 %t, %y, %t;", 0xFFF, 0xFFFFF000),
    "shf": ("shf.l.wrap.b32 %t, %x, %x, 16;", 0xFF000000, 0x00FFFFFF),
    "bfe": ("bfe.u32 %t, %x, 4, 8;", 0xF0, 0xFFFFFF0F),
    "bfe of defined bits": ("bfe.u32 %t, %x, 16, 8;", 0, ALL),
    "bfi": ("bfi.b32 %t, %y, %u, 0, 16;", 0xFFFF0000, 0xFFFF),
    "prmt": ("prmt.b32 %t, %x, %y, 0x5140;", 0xFF0000, 0xFF00FFFF),
    "brev": ("brev.b32 %t, %x;", 0xFF0000, 0xFF00FFFF),
    "popc": ("popc.b32 %t, %x;", ALL, 0),
    "clz": ("clz.b32 %t, %u;", 0x3F, 0),
    "clz of a number with a defined high bit": ("clz.b32 %t, %x;", 0, ALL),
    "add": ("add.u32 %t, %x, %y;", 0x1FF00, 0xFFFE00FF),
    "sub": ("sub.u32 %t, %x, %y;", 0xFF00, 0xFF),
    "neg": ("neg.s32 %t, %x;", 0xFF00, 0xFF),
    "mul": ("mul.lo.u32 %t, %x, 256;", 0xFF0000, 0xFF00FFFF),
    "mul by 0": ("mul.lo.u32 %t, %u, %z;", 0, ALL),
    "mad": ("mad.lo.u32 %t, %x, 16, %y;", 0xFF000, 0xFF),
    "mad of products with 0": ("mad.lo.u32 %t, %u, %z, %y;", 0, ALL),
    "div": ("div.u32 %t, %x, 4096;", 0xF, 0xFFFFFFF0),
    "div by an undefined number": ("div.u32 %t, %y, %u;", ALL, 0),
    "rem by an undefined number": ("{.reg .s32 %f; mov.s32 %f, 0x80000000; rem.s32 %f, %f, %u; add.s32 %t, %f, 1;}", ALL, 0),
    "div of the least number by an undefined one": ("{.reg .s32 %f; mov.s32 %f, 0x80000000; div.s32 %t, %f, %u;}", ALL, 0),
    "div of 64 bits": ("{.reg .u64 %f, %g; cvt.u64.u32 %f, %u; cvt.u64.u32 %g, %y; div.u64 %f, %g, %f; cvt.u32.u64 %t, %f;}", ALL, 0),
    "rem": ("rem.u32 %t, %x, 256;", 0, ALL),
    "min": ("min.u32 %t, %x, %u;", ALL, 0),
    "abs": ("abs.s32 %t, %u;", ALL, 0),
    "sad": ("sad.u32 %t, %u, %y, %y;", ALL, 0),
    "dp4a": ("dp4a.u32.u32 %t, %x, %y, %y;", ALL, 0),
    "dp4a with weight 0": ("dp4a.u32.u32 %t, %x, 0x00ff00ff, %y;", 0, ALL),
    "vadd4": ("vadd4.u32.u32.u32 %t, %x, %y, %z;", 0xFF00, 0),
    "min of halves": ("min.u16x2 %t, %h, %y;", 0xFFFF, 0xFFFF0000),
    "add of halves": ("add.u16x2 %t, %h, %y;", 0xFFFF, 0xFFFF0000),
    "f16x2": ("add.rn.f16x2 %t, %h, %y;", 0xFFFF, 0xFFFF0000),
    "f16x2 fma": ("fma.rn.f16x2 %t, %h, %y, %y;", 0xFFFF, 0xFFFF0000),
    "f32": ("{.reg .f32 %f; mov.b32 %f, %u; add.f32 %f, %f, 0f3f800000; mov.b32 %t, %f;}", ALL, 0),
    "f32 fma": ("{.reg .f32 %f; mov.b32 %f, %u; fma.rn.f32 %f, %f, %f, %f; mov.b32 %t, %f;}", ALL, 0),
    "sqrt": ("{.reg .f32 %f; mov.b32 %f, %u; sqrt.rn.f32 %f, %f; mov.b32 %t, %f;}", ALL, 0),
    "f64": ("{.reg .f64 %f; cvt.rn.f64.u32 %f, %u; mul.f64 %f, %f, %f; cvt.rzi.u32.f64 %t, %f;}", ALL, 0),
    "cvt to a float": ("{.reg .f32 %f; cvt.rn.f32.u32 %f, %u; mov.b32 %t, %f;}", ALL, 0),
    "cvt from a float": ("{.reg .f32 %f; mov.b32 %f, %u; cvt.rzi.s32.f32 %t, %f;}", ALL, 0),
    "cvt to half": ("{.reg .f32 %f; .reg .b16 %g; mov.b32 %f, %u; cvt.rn.f16.f32 %g, %f; cvt.u32.u16 %t, %g;}", 0xFFFF, 0xFFFF0000),
    "cvt to fewer bits": ("cvt.u32.u8 %t, %x;", 0, ALL),
    "cvt with sign": ("{.reg .u32 %f; shr.u32 %f, %x, 8; cvt.s32.s8 %t, %f;}", ALL, 0),
    "cvt to 64 bits and back": ("{.reg .u64 %f; cvt.u64.u32 %f, %x; shl.b64 %f, %f, 4; cvt.u32.u64 %t, %f;}", 0xFF000, 0xFFF00FFF),
    "packed and unpacked": ("{.reg .u64 %f; mov.b64 %f, {%u, %y}; mov.b64 {_, %t}, %f;}", 0, ALL),
    "unpacked": ("{.reg .u64 %f; .reg .u32 %g; mov.b64 %f, {%u, %y}; mov.b64 {%t, %g}, %f;}", ALL, 0),
    "add with carry": ("add.cc.u32 %t, %u, %y; addc.u32 %t, %z, %u;", ALL, 0),
    "selp": ("selp.b32 %t, %x, %y, %q;", 0xFF00, 0xFFFF00FF),
    "selp of the other": ("selp.b32 %t, %y, %u, %q;", 0, ALL),
    "selp by an undefined predicate": ("selp.b32 %t, 3, 5, %p;", 6, 0xFFFFFFF9),
    "slct": ("slct.b32.s32 %t, %y, %z, %u;", ALL, 0),
    "setp eq": ("setp.eq.u32 %r, %u, 77; selp.b32 %t, 1, 0, %r;", 1, 0xFFFFFFFE),
    "setp eq of other bits": ("setp.eq.u32 %r, %x, %y; selp.b32 %t, 1, 0, %r;", 0, ALL),
    "setp lt": ("setp.lt.s32 %r, %u, 0x60000000; selp.b32 %t, 1, 0, %r;", 1, 0),
    "setp lt of a large number": ("setp.lt.u32 %r, %x, 0x13000000; selp.b32 %t, 1, 0, %r;", 0, ALL),
    "setp of two": ("setp.lt.u32 %r, %u, %v; selp.b32 %t, 1, 0, %r;", 1, 0),
    "setp with and": ("setp.ne.and.u32 %r, %u, 3, %q; selp.b32 %t, 1, 0, %r;", 1, 0),
    "setp with and of false": ("setp.ne.and.u32 %r, %u, 3, !%q; selp.b32 %t, 1, 0, %r;", 0, ALL),
    "setp with an undefined predicate": ("setp.ne.or.u32 %r, %y, 0xf0f, %p; selp.b32 %t, 1, 0, %r;", 1, 0),
    "setp f32": ("{.reg .f32 %f; mov.b32 %f, %u; setp.gt.f32 %r, %f, 0f7e800000; selp.b32 %t, 1, 0, %r;}", 1, 0),
    "testp": ("{.reg .f32 %f; mov.b32 %f, %u; testp.finite.f32 %r, %f; selp.b32 %t, 1, 0, %r;}", 1, 0),
    "and of predicates": ("and.pred %r, %p, %q; selp.b32 %t, 1, 0, %r;", 1, 0),
    "or of predicates": ("or.pred %r, %p, %q; selp.b32 %t, 1, 0, %r;", 0, ALL),
    "isspacep": ("{.reg .u64 %f; cvt.u64.u32 %f, %u; isspacep.shared %r, %f; selp.b32 %t, 1, 0, %r;}", 1, 0),
    # operations of several lanes
    "shfl": ("shfl.sync.bfly.b32 %t, %x, 1, 31, -1;", 0xFF00, 0xFFFF00FF),
    "shfl from an undefined lane": ("and.b32 %t, %u, 31; shfl.sync.idx.b32 %t, %l, %t, 31, -1;", 0x1F, 0xFFFFFFE0),
    "shfl of one lane": ("setp.eq.u32 %r, %l, 5; selp.b32 %t, %u, %y, %r; shfl.sync.idx.b32 %t, %t, 4, 31, -1;", 0, ALL),
    "shfl from one lane": ("setp.eq.u32 %r, %l, 5; selp.b32 %t, %u, %y, %r; shfl.sync.idx.b32 %t, %t, 5, 31, -1;", ALL, 0),
    "any": ("vote.sync.any.pred %r, %p, -1; selp.b32 %t, 1, 0, %r;", 1, 0),
    "any with a true one": ("setp.eq.u32 %r, %l, 3; or.pred %r, %r, %p; vote.sync.any.pred %r, %r, -1; selp.b32 %t, 1, 0, %r;", 0, ALL),
    "all": ("setp.lt.u32 %r, %l, 3; or.pred %r, %r, %p; vote.sync.all.pred %r, %r, -1; selp.b32 %t, 1, 0, %r;", 1, 0),
    "all with a false one": ("setp.ne.u32 %r, %l, 3; and.pred %r, %r, %p; vote.sync.all.pred %r, %r, -1; selp.b32 %t, 1, 0, %r;", 0, ALL),
    "uni": ("vote.sync.uni.pred %r, %p, -1; selp.b32 %t, 1, 0, %r;", 1, 0),
    "ballot": ("setp.lt.u32 %r, %l, 8; and.pred %r, %r, %p; vote.sync.ballot.b32 %t, %r, -1;", 0xFF, 0xFFFFFF00),
    "match.any": ("match.any.sync.b32 %t, %u, -1;", ALL, 0),
    "match.any of one lane": ("setp.eq.u32 %r, %l, 5; selp.b32 %t, %u, %y, %r; match.any.sync.b32 %t, %t, -1;", 0x20, 0),
    "match.any of defined bits": ("and.b32 %t, %x, 255; match.any.sync.b32 %t, %t, -1;", 0, ALL),
    "match.all": ("match.all.sync.b32 %t|%r, %u, -1; selp.b32 %t, 1, 0, %r;", 1, 0),
    "match.all of different values": ("xor.b32 %t, %x, %l; match.all.sync.b32 %t|%r, %t, -1; selp.b32 %t, 1, 0, %r;", 0, ALL),
    "redux.add": ("redux.sync.add.u32 %t, %x, -1;", 0x1FE000, 0xFF),
    "redux.and": ("redux.sync.and.b32 %t, %x, -1;", 0xFF00, 0xFFFF00FF),
    "redux.or of a word that sets the bits": ("or.b32 %t, %x, 0xff00; redux.sync.or.b32 %t, %t, -1;", 0, ALL),
    "redux.xor": ("redux.sync.xor.b32 %t, %x, -1;", 0xFF00, 0xFFFF00FF),
    "redux.max": ("redux.sync.max.u32 %t, %x, -1;", 0xFF00, 0xFFFF00FF),
    "redux.min with a smaller one": ("setp.eq.u32 %r, %l, 5; selp.b32 %t, 7, %x, %r; redux.sync.min.u32 %t, %t, -1;", 0, ALL),
    "lanes apart": ("setp.lt.u32 %r, %l, 3; @%r bra A; vote.sync.any.pred %r, %p, -1; bra B; A: setp.eq.u32 %r, %l, 99; vote.sync.any.pred %r, %r, -1;"
                    "B: selp.b32 %t, 1, 0, %r;", 1, 0),
    "lanes apart, one true": ("setp.lt.u32 %r, %l, 3; @%r bra A; vote.sync.any.pred %r, %p, -1; bra B; A: setp.eq.u32 %r, %l, 1; "
                              "vote.sync.any.pred %r, %r, -1; B: selp.b32 %t, 1, 0, %r;", 0, ALL),
    "ballot of lanes apart": (APART, 7, 0),
    "ballot of lanes apart, the others": (APART, 0xFFFFFFF8, 0),
    "barrier or": ("barrier.red.or.pred %r, 0, %p; selp.b32 %t, 1, 0, %r;", 1, 0),
    "barrier or with a true one": ("setp.eq.u32 %r, %l, 3; or.pred %r, %r, %p; barrier.red.or.pred %r, 0, %r; selp.b32 %t, 1, 0, %r;", 0, ALL),
    "barrier and": ("barrier.red.and.pred %r, 0, %p; selp.b32 %t, 1, 0, %r;", 1, 0),
    "barrier and with a false one": ("setp.ne.u32 %r, %l, 3; and.pred %r, %r, %p; barrier.red.and.pred %r, 0, %r; selp.b32 %t, 1, 0, %r;", 0, ALL),
    "barrier count": ("setp.eq.u32 %r, %l, 3; and.pred %r, %r, %p; barrier.red.popc.u32 %t, 0, %r;", ALL, 0),
    "matrix product": ("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%t, %v}, {%u}, {%y}, {%y, %y};", ALL, 0),
    "row of a matrix product": ("setp.lt.u32 %r, %l, 4; selp.b32 %t, %u, %y, %r; mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%t, %v}, {%t}, {%y}, {%y, %y};"
                                "selp.b32 %t, %y, %t, %r;", 0, ALL),
    # memory and calls
    "shared memory": ("mov.u32 %v, kept; mad.lo.u32 %v, %l, 4, %v; st.shared.b32 [%v], %x; ld.shared.b32 %t, [%v];", 0xFF00, 0xFFFF00FF),
    "local memory": ("{.local .b32 own; st.local.b32 [own], %x; ld.local.b32 %t, [own];}", 0xFF00, 0xFFFF00FF),
    "argument": (CALL.replace("NAME", "second"), ALL, 0),
    "other argument": (CALL.replace("NAME", "first"), 0xFF00, 0xFFFF00FF),
}

KERNEL = """.version 8.3
.target sm_90
.address_size 64
.shared .align 16 .b8 never[256];
.shared .align 4 .b8 kept[128];
.func (.param .b32 r) first(.param .b32 a, .param .b32 b) { .reg .b32 %a; ld.param.b32 %a, [a]; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) second(.param .b32 a, .param .b32 b) { .reg .b32 %a; ld.param.b32 %a, [b]; st.param.b32 [r], %a; ret; }
.visible .entry k(.param .u64 input, .param .u64 output)
{
    .reg .u64 %out, %at;
    .reg .u32 %t, %u, %v, %x, %y, %z, %h, %l;
    .reg .pred %p, %q, %r;
    ld.param.u64 %out, [output];
    mov.u32 %l, %laneid;
    mul.wide.u32 %at, %l, 8;
    add.u64 %out, %out, %at;
    mov.u32 %y, 0x0f0f;
    mov.u32 %z, 0;
    setp.lt.u32 %q, %l, 32;
    ld.shared.u32 %u, [never];
    ld.shared.u32 %v, [never + 16];
    ld.shared.u8 %x, [never + 32];
    shl.b32 %x, %x, 8;
    or.b32 %x, %x, 0x120000a4;
    ld.shared.u16 %h, [never + 48];
    or.b32 %h, %h, 0x30000000;
    setp.eq.u32 %p, %v, 1;
    INSTRUCTIONS
    and.b32 %t, %t, MASK;
    setp.ne.u32 %r, %t, 0;
    @%r st.global.u32 [%out], %t;
    ret;
}
"""


def uses_undefined_bits(folder, instructions, mask):
    """Whether the checker reports that these bits of the result decide something."""
    (folder / "in").write_bytes(bytes(8))
    (folder / "k.ptx").write_text(KERNEL.replace("INSTRUCTIONS", instructions).replace("MASK", hex(mask)))
    run = subprocess.run([RUN, folder / "k.ptx", "k", "32", folder / "in", folder / "out"], capture_output=True, text=True)
    assert run.returncode in (0, 88), run.stderr
    assert run.returncode == 0 or "uninitialised" in run.stderr, run.stderr
    return run.returncode == 88


@pytest.mark.parametrize("name", RESULTS)
def test_undefined_bits_reach_the_result(name, tmp_path):
    """Broken: an instruction does not propagate undefined bits, or makes bits undefined that do not depend on them."""
    instructions, undefined, defined = RESULTS[name]
    assert not undefined or uses_undefined_bits(tmp_path, instructions, undefined)
    assert not defined or not uses_undefined_bits(tmp_path, instructions, defined)
