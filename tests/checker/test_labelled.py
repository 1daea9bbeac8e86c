"""The labelled programs on the simulator: of each small kernel it is known what is wrong with it, if anything."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from scripts.evidence import labelled

from tests.support import ROOT, SIM, build

LABELS = labelled.labels()
FOLDER = SIM / "labelled"
LEFT_OUT = {ROOT / program for program in os.environ.get("LEFT_OUT", "").split()}


@pytest.mark.parametrize("program", sorted({row["program"] for row in LABELS if FOLDER / row["program"] not in LEFT_OUT}))
def test_what_is_labelled_is_reported(program):
    """Broken: the checker misses a mistake of a kind that it finds, or accuses what is right; or a case has no label."""
    rows = [row for row in LABELS if row["program"] == program]
    assert labelled.cases_of(FOLDER / program) == {row["case"] for row in rows}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reported = list(pool.map(lambda row: labelled.reported(FOLDER, row), rows))
    wrong = [(row["case"], row["finds"] or "clean", kinds) for row, kinds in zip(rows, reported) if not labelled.is_right(row, kinds)]
    assert not wrong, "case, its label, what was reported"


@pytest.mark.skipif(FOLDER / "atomics" in LEFT_OUT, reason="it was not built")
def test_atomic_operations_of_two_sizes_are_named_as_that():
    """Broken: who mixes them reads of `volatile` and of barriers, and of one size for both."""
    run = subprocess.run([FOLDER / "atomics", "two-widths"], env=os.environ | {"SIM_CHECK": "1"}, capture_output=True, text=True, check=False)
    assert run.returncode == 88
    for part in ("updates atomically 8 bytes", "updates atomically 4 bytes", "atomic operations of different sizes are none for each other"):
        assert part in run.stderr


@pytest.mark.skipif(FOLDER / "fences" in LEFT_OUT, reason="it was not built")
def test_who_has_been_told_and_lacks_a_fence_reads_that():
    """Broken: whoever has atomic operations and a fence, but none behind the one that tells him, reads that he wants atomic operations with fences."""
    run = subprocess.run([FOLDER / "fences", "lock-of-two-warps-first-without-fence"], env=os.environ | {"SIM_CHECK": "1", "SIM_BLOCK_ORDER": "5"},
                         capture_output=True, text=True, check=False)
    assert run.returncode == 88 and "a fence is missing behind the access by which it was told" in run.stderr, run.stderr


@pytest.mark.parametrize("flags", ["-G", "-Xcicc -O1"])
def test_a_guess_is_known_in_code_that_is_not_optimised(flags, tmp_path):
    """Broken: whoever compiles for a debugger is accused of the first read of a compare-and-swap loop, which is a call there; or is not where
    it is kept or nobody compares it."""
    program = build(ROOT / "tests/labelled/guesses.cu", tmp_path / "guesses", *flags.split())
    rows = [row for row in LABELS if row["program"] == "guesses"]
    wrong = [(row["case"], kinds) for row in rows if not labelled.is_right(row, kinds := labelled.reported(tmp_path, row))]
    assert not wrong, "case, what was reported"
