"""make suite: what a suite of right and wrong programs says of the checker. Here with stand-ins for the compiler and the programs."""

import csv
import subprocess
import sys

import pytest

import tables
from scripts.evidence import suite

from tests.support import ROOT

RACE = """echo '{"findings": [{"kind": "race-global"}]}' > "$SIM_FINDINGS"; exit 88"""
# "Compiles" a program by copying it: a program of these tests is a script.
COMPILER = """#!/bin/bash
[[ " $* " == *" -G "* ]] && kind=debug
while [ $# -gt 0 ]; do case $1 in -o) program=$2 ;; *.cu) source=$2 source=$1 ;; esac; shift; done
grep -q refused "$source" && { echo 'error: refused'; exit 1; }
sed "s/DEBUG/$kind/" "$source" > "$program" && chmod +x "$program"
"""
PROGRAMS = {"clean": "exit 0", "clean_atomicBug": RACE, "clean_guardBug": f'[ "$SIM_TOGETHER" ] || exit 0; {RACE}', "missed_raceBug": "exit 0",
            "removed_syncBug": f"[ DEBUG = debug ] || exit 0; {RACE}", "accused": f'[ "$SIM_BLOCK_ORDER" ] || exit 0; {RACE}',
            "only_small": f'[[ $1 == */small.egr ]] || exit 0; {RACE}', "clean_boundsBug": "refused"}


@pytest.fixture
def run_suite(tmp_path, monkeypatch, capsys):
    """Runs the command on the stand-in programs; gives its rows and what it says."""
    compiler = tmp_path / "nvcc"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    folder = tmp_path / "graphs"
    folder.mkdir()
    lines = ["program,source,options,label,input,arguments"]
    for name, text in PROGRAMS.items():
        (folder / f"{name}.cu").write_text(f"#!/bin/bash\n{text}\n")
        label = "memory" if "bounds" in name else "race" if "Bug" in name else "clean"
        lines += [f"{name},{name}.cu,-DN=1,{label},{size},inputs/{size}.egr 256" for size in ("small", "large")]
    (folder / "cases.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(suite, "TABLES", tmp_path / "tables")
    monkeypatch.setattr(suite, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["suite.py", "--nvcc", str(compiler), "--options=-O3 -lineinfo", "--libraries", "", str(folder)])
    suite.main()
    with open(tmp_path / "tables/graphs.csv", newline="") as file:
        return list(csv.DictReader(file)), capsys.readouterr().out


def test_what_is_told_missed_and_accused(run_suite):
    """Broken: a mistake that only one of the three ways shows does not count, or a right program with a status in one of its inputs passes."""
    rows, said = run_suite
    found = {name: (same[0]["label"], suite.outcome(same, same[0]["label"])) for name, same in suite.tests(rows).items()}
    assert found == {"clean": ("clean", "silent"), "clean_atomicBug": ("race", "told"), "clean_guardBug": ("race", "told"), "missed_raceBug": ("race", "missed"),
                     "removed_syncBug": ("race", "missed"), "accused": ("clean", "accused"), "only_small": ("clean", "accused"),
                     "clean_boundsBug": ("memory", "not built")}
    rows = {(row["program"], row["inputs"]): (row["kinds"], row["kinds_debug"], row["status"]) for row in rows}
    assert rows["removed_syncBug", "all"] == ("", "race-global", "0") and rows["clean_guardBug", "all"] == ("race-global", "", "0 88")
    assert rows["only_small", "small"] == ("race-global", "", "88") and rows["only_small", "large"] == ("", "", "0")
    assert "race: 2 missed" in said and "missed: missed_raceBug (race)" in said and "accused: only_small" in said


@pytest.mark.parametrize("table, said", [(None, "No such file or directory: cases.csv"), ("program,source\na,a.cu\n", "line 2: wanted are program, source"),
                                         ("program,source,options,label,input,arguments\na,a.cu,,wrong,,\n", "a label of race, memory, clean")], ids=["none", "columns", "label"])
def test_another_folder_is_refused(table, said, tmp_path):
    """Broken: a folder without a table of programs, or with a wrong one, gives a table without rows, or a Python error."""
    if table:
        (tmp_path / "cases.csv").write_text(table)
    result = subprocess.run([sys.executable, "-m", "scripts.evidence.suite", "--options", "", "--libraries", "", str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 1 and said in result.stderr and result.stderr.count("\n") == 1


def test_readings_are_of_tests_that_there_are():
    """Broken: a label that we dispute is of no test, so that a name was misspelt."""
    rows = tables.read(suite.ADJUDICATED)
    for row in rows:
        path = ROOT / f"tests/suites/{row['suite']}.csv"
        tests = suite.tests(tables.read(path))
        assert not path.exists() or any(suite.adjudicated_by(row["suite"], name, same[0]["label"], rows) == row for name, same in tests.items()), row
