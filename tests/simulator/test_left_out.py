"""What the simulator need not do: run blocks that have nothing to do, and look for races in memory that a launch only reads."""

import pytest

from tests.support import ROOT, build, findings, run

IDLE = ["guarded", "guarded, long", "guarded, unsigned", "guarded twice"]  # blocks at their grids' ends
BUSY = ["guarded at the side", "wraps around", "counts the others", "waits first"]
WAYS = ["own", "loaded", "chosen", "in a structure", "as a number", "of a variable", "by a function", "as a vector", "updated",
        "shared or not", "walked to", "copied"]  # by which a pointer comes to who writes


@pytest.fixture(scope="module")
def left_out(tmp_path_factory):
    return build(ROOT / "tests/simulator/left_out.cu", tmp_path_factory.mktemp("left_out") / "left_out", "-lineinfo")


@pytest.mark.parametrize("word", IDLE + BUSY)
def test_blocks_that_have_nothing_to_do_are_counted(left_out, tmp_path, word):
    """Broken: a block is left out that does something, or is not counted as if it had run. In a shuffled order all run."""
    seen = []
    for order in ({}, {"SIM_BLOCK_ORDER": "0"}):
        path = tmp_path / "counters.csv"
        result = run(left_out, word, "1000", SIM_COUNTERS=str(path), **order)
        assert result.returncode == 0, result.stderr
        seen.append((result.stdout, path.read_text()))
    assert seen[0] == seen[1]


def test_blocks_that_have_nothing_to_do_do_not_run(left_out):
    """Broken: blocks run only to find that there is nothing to do; so many take hours."""
    result = run(left_out, "guarded, long", "2000000000")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("writer", ["0", "1"])
@pytest.mark.parametrize("word", WAYS)
def test_a_race_is_found_however_a_pointer_comes(left_out, tmp_path, word, writer):
    """Broken: a launch counts as one that only reads an array to which it writes, so that a race there is missed."""
    result, found = findings(left_out, tmp_path, word, writer, SIM_THREADS="1")
    assert [f["kind"] for f in found] == ["race-global"], result.stderr


def test_a_race_is_found_where_a_store_goes_astray(left_out, tmp_path):
    """Broken: what a store has changed counts as only read, though the kernel's pointer leads elsewhere."""
    result, found = findings(left_out, tmp_path, "astray", "0", SIM_THREADS="1")
    assert [f["kind"] for f in found] == ["race-global"], result.stderr


def test_who_only_reads_is_not_accused(left_out, tmp_path):
    """Broken: two blocks that read one place count as a race."""
    result, found = findings(left_out, tmp_path, "read only", "0")
    assert result.returncode == 0 and not found, result.stderr
