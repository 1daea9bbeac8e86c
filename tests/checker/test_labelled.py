"""The labelled programs on the simulator: small kernels with or without known mistakes."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from scripts.evidence import labelled

from tests.support import ROOT, SIM, build, longer, needs_simulator

LABELS = labelled.labels()
FOLDER = SIM / "labelled"
LEFT_OUT = {ROOT / program for program in os.environ.get("LEFT_OUT", "").split()}


@pytest.mark.parametrize("program", sorted({row["program"] for row in LABELS if FOLDER / row["program"] not in LEFT_OUT}))
@pytest.mark.builds("build/sim/labelled/{program}")
def test_labels_are_reported(program):
    """Broken: a false negative for a kind that the checker finds, or a false positive; or a case has no label."""
    rows = [row for row in LABELS if row["program"] == program]
    assert labelled.cases_of(FOLDER / program) == {row["case"] for row in rows}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reported = list(pool.map(lambda row: labelled.reported(FOLDER, row), rows))
    wrong = [(row["case"], row["finds"] or "clean", kinds) for row, kinds in zip(rows, reported) if not labelled.is_right(row, kinds)]
    assert not wrong, "case, its label, kinds reported"


@pytest.mark.skipif(FOLDER / "atomics" in LEFT_OUT, reason="it was not built")
@pytest.mark.builds("build/sim/labelled/atomics")
def test_mixed_sizes_of_atomic_operations_are_named():
    """Broken: the message about mixed sizes mentions `volatile` or barriers, or has one size for both accesses."""
    run = subprocess.run([FOLDER / "atomics", "two-widths"], env=os.environ | {"SIM_CHECK": "1"}, capture_output=True, text=True, check=False)
    assert run.returncode == 88
    for part in ("8-byte atomic update by thread", "4-byte atomic update by thread", "use one size for all atomic operations on these bytes"):
        assert part in run.stderr


@pytest.mark.skipif(FOLDER / "fences" in LEFT_OUT, reason="it was not built")
@pytest.mark.builds("build/sim/labelled/fences")
def test_a_missing_acquire_fence_is_named():
    """Broken: for a reader that lacks a fence after reading the flag, the message has only the general hint about atomic operations with fences."""
    run = subprocess.run([FOLDER / "fences", "lock-of-two-warps-first-without-fence"], env=os.environ | {"SIM_CHECK": "1", "SIM_BLOCK_ORDER": "5"},
                         capture_output=True, text=True, check=False)
    assert run.returncode == 88 and "after reading the flag, before line" in run.stderr, run.stderr


@pytest.mark.parametrize("flags", ["-G", pytest.param("-Xcicc -O1", marks=longer)])
@needs_simulator
def test_a_guess_is_recognised_in_unoptimised_code(flags):
    """Broken: in unoptimised code, where a compare-and-swap is a call, the first read of its loop is a false positive; or a real race is missed
    because the value is also stored, or never compared."""
    program = build(ROOT / "tests/labelled/guesses.cu", f"labelled{flags.replace(' ', '')}/guesses", *flags.split())
    rows = [row for row in LABELS if row["program"] == "guesses"]
    wrong = [(row["case"], kinds) for row in rows if not labelled.is_right(row, kinds := labelled.reported(program.parent, row))]
    assert not wrong, "case, kinds reported"
