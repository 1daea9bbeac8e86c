"""make sass: what the pages show of the compiler's machine code."""

import re

import pytest

import tables
from scripts.gpu import sass
from scripts.ladder import pages

CODE = """
        /*0000*/  LDG.E R0, desc[UR4][R2.64] ;
        /*0010*/  @!P0 BRA 0x60 ;
        /*0020*/  LDG.E R1, desc[UR4][R2.64] ;
        /*0030*/  LDG.E R4, desc[UR4][R2.64+0x4] ;
        /*0040*/  FADD R0, R0, R1 ;
        /*0050*/  @P0 BRA 0x20 ;
        /*0060*/  EXIT ;
        /*0070*/  BRA 0x70;
"""


def test_a_loop_ends_with_its_backward_branch():
    """Broken: a table counts instructions outside a loop, or takes a forward branch or the last branch of a kernel for a loop."""
    loops = sass.loops_of([(int(address, 16), text) for address, text in sass.LINE.findall(CODE)])
    assert [(len(loop), sass.count("LDG", loop), sass.count("FADD", loop)) for loop in loops] == [(4, 2, 1)]


def test_every_shown_program_is_in_the_table():
    """Broken: a page's marker names a program that make sass does not compile, so that make tables refuses the page."""
    marked = [word for path in pages.all_pages() for found in re.findall(r"^<!-- compiled (.*?): make tables", path.read_text(encoding="utf-8"), re.M)
              for word in found.split()]
    assert marked and set(map(sass.program_of, marked)) == set(sass.shown_programs())


def test_equal_machine_code_is_named(tmp_path, monkeypatch):
    """Broken: a page does not show that two steps have the same machine code, shows another loop than the unrolled one, or a Try's old measurement."""
    monkeypatch.setattr(tables, "MEASURED", tmp_path)
    (tmp_path / "sass").mkdir()
    (tmp_path / "sass/loops.csv").write_text(",".join(sass.COLUMNS) + "\n" + "".join(
        f"nvcc 1,{row}\n" for row in ("sm_90,step01_a,0,,aa,1,9,1,1", "sm_90,step01_a,0,,aa,2,28,4,4", "sm_90,step02_b,0,,bb,1,12,1,1",
                                      "sm_100,step01_a,0,,cc,1,12,1,1", "sm_100,step02_b,0,,cc,1,12,1,1", "sm_90,step02_bitops,1,old,dd,1,12,1,1")))
    assert tables.compiled(None, "step01_a", "step02_b").splitlines()[2:] == ["| step 01 | 28 | 4 | 12 | 1 |", "| step 02 | 12 | 1 | 12, identical code | 1 |"]
    with pytest.raises(tables.Unfillable, match="make sass"):
        tables.compiled(None, "step02_bitops,1")
