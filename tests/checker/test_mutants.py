"""The mutants of the steps: programs with one error each, and the table of the tools that detect them."""

import csv
import re

import pytest

from scripts.evidence.mutants import make, run, table

from tests.support import ROOT, longer, needs_simulator, nvcc, unsanitized

pytestmark = needs_simulator

FOLDER = ROOT / "evidence/mutants"
STEPS = list(make.sources())


def rows(name):
    with open(FOLDER / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("step", STEPS)
def test_every_barrier_has_a_mutant(step):
    """Broken: a barrier of a step has no mutant, so that a false negative would go unnoticed."""
    lines = make.without_comments(make.sources()[step].read_text(encoding="utf-8").split(make.HARNESS)[0]).splitlines()
    barriers = {number for number, line in enumerate(lines, 1) if re.match(r" +(__sync\w+|sync_scanners)\(", line)}
    assert barriers <= {mutant.line for mutant in make.mutants(step) if mutant.operator == "barrier"}


def test_a_mutant_changes_one_place():
    """Broken: a mutant equals the original program or another mutant; or its recorded line has not changed."""
    for step in STEPS:
        _, lesson, _ = make.parts(make.sources()[step])
        every = make.mutants(step)
        assert len({mutant.text for mutant in every} | {lesson}) == len(every) + 1 and len({mutant.name for mutant in every}) == len(every)
        assert all(mutant.before != mutant.after for mutant in every)


def test_the_table_lists_the_current_mutants():
    """Broken: the published table is about mutants of older sources; make mutants updates it."""
    listed = {(row["mutant"], row["line"], row["before"], row["after"]) for row in rows("mutants.csv") if row["operator"]}
    ran = [step for step in STEPS if step in {row["step"] for row in rows("mutants.csv")}]
    made = {(f"{step}.{mutant.name}", str(mutant.line), mutant.before, mutant.after) for step in ran for mutant in make.mutants(step)}
    assert listed == made and set(ran) >= {step for step in STEPS if not step.startswith("scan-")}


def test_no_detectable_mutant_is_missed():
    """Broken: an undetected mutant is neither proven equivalent nor listed as missed, a step has findings, or compute-sanitizer detects more."""
    joined = rows("agreement.csv")
    assert [row["mutant"] for row in joined if row["verdict"] in ("missed", "false alarm")] == list(table.reasons("missed.csv"))
    assert [row["mutant"] for row in joined if row["agreement"] == "compute-sanitizer alone"] == []
    assert set(table.reasons("equivalent.csv")) == {row["mutant"] for row in joined if row["verdict"] == "equivalent"}


def test_unchanged_mutants_are_not_run_again(tmp_path, monkeypatch):
    """Broken: a second run of a step's mutants takes as long as the first; or one with another simulator, or with other rows, is skipped."""
    library, output, ran = tmp_path / "library", tmp_path / "mutants.csv", []
    library.write_text("a simulator")
    monkeypatch.setattr(run, "LIBRARIES", [library])
    monkeypatch.setattr(run, "compiled", lambda directory, steps, *_: {directory / f"{step}-0": ["original"] for step in steps})
    monkeypatch.setattr(run, "simulated", lambda program, name: ran.append(name) or ("passes", [], ""))
    changes = [lambda: None, lambda: None, lambda: library.write_text("another"), lambda: output.write_text(output.read_text().replace("passes", "hangs"))]
    runs = []
    for change in changes:
        change()
        run.on_simulator(tmp_path, output, ["step00"])
        runs.append(len(ran))
    assert runs == [1, 1, 2, 3] and "passes" in output.read_text()


@longer  # test_checker.py removes the same barriers
@unsanitized
def test_the_table_is_reproducible(tmp_path, monkeypatch):
    """Broken: for step 03, its mutants without a barrier and one other mutant, the checker's findings differ from the table."""
    monkeypatch.setattr(run, "NVCC", nvcc())
    programs = run.compiled(tmp_path, ["step03"], run.FOR_SIMULATOR, run.LIBRARIES)
    listed = {row["mutant"]: (row["own_check"], row["findings"], row["size"]) for row in rows("mutants.csv")}
    chosen = {name: program for program, names in programs.items() for name in names if name.startswith(("barrier", "original", "bound1"))}
    assert len(chosen) >= 6
    for name, program in chosen.items():
        outcome, found, size = run.simulated(program, name)
        assert (outcome, " ".join(found), size) == listed[f"step03.{name}"], name
