"""Kernels of a few PTX instructions, and what their threads write."""

import itertools
import struct
import subprocess

from tests.support import ROOT

RUN = ROOT / "build/sim/ptx_run"


def as_register(type_name, name):
    """Declaration of a typed register."""
    return f".reg .{type_name if type_name != 'f16' else 'b16'} {name};"


def kernel(opcode, result, sources):
    """PTX that applies the opcode to the columns of the input: %t = opcode(%s0, %s1, %s2). A text with a
    semicolon stands for instructions that do so themselves."""
    lines = []
    for k, type_name in enumerate(sources):
        size = int(type_name[1:])
        lines += [as_register(type_name, f"%s{k}"), f"ld.global.u64 %w, [%in+{8 * k}];"]
        if size == 64:
            lines.append(f"mov.b64 %s{k}, %w;")
        elif size == 32:
            lines += ["cvt.u32.u64 %n, %w;", f"mov.b32 %s{k}, %n;"]
        else:
            lines += ["cvt.u16.u64 %q, %w;", f"mov.b16 %s{k}, %q;"]
    operands = ", ".join(f"%s{k}" for k in range(len(sources)))
    body = opcode if ";" in opcode else f"{opcode} %t, {operands};"
    if result == "pred":
        lines += [".reg .pred %t;", body, "selp.u64 %w, 1, 0, %t;"]
    else:
        size = int(result[1:])
        lines += [as_register(result, "%t"), body]
        lines += {64: ["mov.b64 %w, %t;"], 32: ["mov.b32 %n, %t;", "cvt.u64.u32 %w, %n;"],
                  16: ["mov.b16 %q, %t;", "cvt.u64.u16 %w, %q;"]}[size]
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 input, .param .u64 output)
{{
    .reg .u64 %in, %out, %w, %x;
    .reg .u32 %n, %i, %j;
    .reg .u16 %q;
    ld.param.u64 %in, [input];
    ld.param.u64 %out, [output];
    mov.u32 %i, %ctaid.x;
    mov.u32 %j, %ntid.x;
    mov.u32 %n, %tid.x;
    mad.lo.u32 %i, %i, %j, %n; // stays the thread's row: a text may use it
    mul.wide.u32 %x, %i, 24;
    add.u64 %in, %in, %x;
    mul.wide.u32 %x, %i, 8;
    add.u64 %out, %out, %x;
    {chr(10).join(lines)}
    st.global.u64 [%out], %w;
    ret;
}}
"""


def run(tmp_path, ptx, columns):
    """The results of kernel k for rows of three values each."""
    while len(columns) % 64:
        columns.append(columns[-1])
    (tmp_path / "k.ptx").write_text(ptx)
    rows = [list(row) + [0] * (3 - len(row)) for row in columns]
    (tmp_path / "in").write_bytes(struct.pack(f"<{3 * len(rows)}Q", *itertools.chain(*rows)))
    result = subprocess.run([RUN, tmp_path / "k.ptx", "k", str(len(rows)), tmp_path / "in", tmp_path / "out"],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return struct.unpack(f"<{len(rows)}Q", (tmp_path / "out").read_bytes())
