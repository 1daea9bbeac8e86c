"""Skipped work: blocks without effect, and race checks of memory that a launch only reads."""

import pytest

from tests.support import ROOT, build, findings, needs_simulator, run

pytestmark = needs_simulator

IDLE = ["guarded", "guarded, long", "guarded, unsigned", "guarded twice"]  # blocks past the end of the data
BUSY = ["guarded at the side", "wraps around", "counts the others", "waits first"]
WAYS = ["own", "loaded", "chosen", "in a structure", "as a number", "of a variable", "by a function", "as a vector", "updated",
        "shared or not", "walked to", "copied"]  # the path by which a pointer reaches the store


@pytest.fixture(scope="module")
def left_out():
    return build(ROOT / "tests/simulator/left_out.cu", "left_out/left_out", "-lineinfo")


@pytest.mark.parametrize("word", IDLE + BUSY)
def test_blocks_that_have_nothing_to_do_are_counted(left_out, tmp_path, word):
    """Broken: a block with effects is skipped, or a skipped block is not counted as if it had run. In a shuffled order all blocks run."""
    seen = []
    for order in ({}, {"SIM_BLOCK_ORDER": "0"}):
        path = tmp_path / "counters.csv"
        result = run(left_out, word, "1000", SIM_COUNTERS=str(path), **order)
        assert result.returncode == 0, result.stderr
        seen.append((result.stdout, path.read_text()))
    assert seen[0] == seen[1]


def test_blocks_that_have_nothing_to_do_do_not_run(left_out):
    """Broken: blocks without effect run, which takes hours for so many."""
    result = run(left_out, "guarded, long", "2000000000")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("writer", ["0", "1"])
@pytest.mark.parametrize("word", WAYS)
def test_a_race_is_found_however_a_pointer_comes(left_out, tmp_path, word, writer):
    """Broken: an array counts as only read although the launch writes it, so a race is missed."""
    result, found = findings(left_out, tmp_path, word, writer, SIM_THREADS="1")
    assert [f["kind"] for f in found] == ["race-global"], result.stderr


def test_a_race_is_found_where_a_store_goes_astray(left_out, tmp_path):
    """Broken: memory that an out-of-bounds store has changed counts as only read."""
    result, found = findings(left_out, tmp_path, "astray", "0", SIM_THREADS="1")
    assert [f["kind"] for f in found] == ["race-global"], result.stderr


def test_concurrent_reads_are_no_race(left_out, tmp_path):
    """Broken: two blocks that read the same address are reported as a race."""
    result, found = findings(left_out, tmp_path, "read only", "0")
    assert result.returncode == 0 and not found, result.stderr
