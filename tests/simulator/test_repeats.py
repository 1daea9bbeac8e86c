"""Memoised launches: a launch with the same inputs as an earlier one is skipped, and its effects are the same."""

import os
import re
import subprocess

import pytest

from tests.support import ROOT, build, findings, needs_simulator, run

pytestmark = needs_simulator

LEFT_OUT = ["nothing", "idle blocks", "long", "by a copy of the same", "a graph", "two streams", "the same in two streams", "atomics from zero",
            "two in turns", "unwritten in rounds"]
COPIED = "its results and counters are copied, and it does not run"
RUN = ["by a copy", "by a fill", "of results", "by a kernel", "by a pointer", "by going astray", "of a variable", "of a constant", "by the host", "in place", "atomics", "printf",
       "its number", "a clock", "a graph that copies", "results that are the host's, too"]
SOME = ["of signs", "of a sign and a bit", "a reset", "mapped", "memory anew", "memory anew, unset", "two in turns, changed", "unwritten", "a texture", "a texture that ends", "a surface", "a surface, by a copy", "by going astray to the heap", "a race", "idle blocks of a race"]  # of which the first ones are alike


@pytest.fixture(scope="module")
def repeats():
    return build(ROOT / "tests/simulator/repeats.cu", "repeats/repeats", "-lineinfo")


@pytest.mark.parametrize("check, late", [("1", []), ("0", []), ("1", ["late"])])
@pytest.mark.parametrize("word", LEFT_OUT + SOME + RUN)
def test_a_skipped_launch_has_the_same_effects(repeats, tmp_path, word, check, late):
    """Broken: a launch with other effects is skipped; a skipped launch lacks counters or the checker's state; or none is ever skipped."""
    seen = []
    for repeat in "01":
        counters = tmp_path / f"counters{repeat}.csv"
        settings = {"SIM_REPEAT": repeat, "SIM_COUNTERS": str(counters)}
        result, found = findings(repeats, tmp_path, word, *late, **settings) if check == "1" else (run(repeats, word, SIM_CHECK="0", **settings), [])
        said = result.stderr.count(COPIED)
        left = [line for line in result.stderr.splitlines() if COPIED not in line]
        seen.append((result.returncode, result.stdout, found, left, counters.read_text()))
        assert said == (repeat == "0" and word in LEFT_OUT + SOME), result.stderr
    assert seen[0] == seen[1]
    assert bool(seen[0][2]) == (check == "1" and word in ("a race", "idle blocks of a race", "two streams", "the same in two streams", "unwritten",
                                                                "unwritten in rounds", "a texture that ends", "memory anew, unset"))


# A program with idle blocks, which the simulator does not report, and one that repeats its launches: the elements, and whether a skipped launch is reported.
PROGRAMS = {"scan/step01_hillissteele/scan": ("5003", False), "labs/accuracy/step00_one_thread/accuracy": ("4096", True)}


@pytest.mark.parametrize("program", [pytest.param(name, marks=pytest.mark.builds(f"build/sim/{name}")) for name in PROGRAMS])
def test_programs_are_the_same_without_shortcuts(program, tmp_path):
    """Broken: SIM_REPEAT=1 changes results, counters or findings of a whole program; or takes shortcuts; or no program takes one."""
    seen, skipped = [], []
    elements, is_repeated = PROGRAMS[program]
    for repeat in "01":
        counters = tmp_path / f"counters{repeat}.csv"
        result, found = findings(ROOT / "build/sim" / program, tmp_path, elements, SIM_REPEAT=repeat, SIM_COUNTERS=str(counters))
        seen.append((result.returncode, result.stdout, found, counters.read_text()))
        skipped.append(COPIED in result.stderr)
    assert seen[0] == seen[1] and seen[0][0] == 0 and seen[0][3].count("\n") > 1
    assert skipped == [is_repeated, False]


def test_without_addresses_to_reserve(repeats):
    """Broken: a launch is skipped although the host has changed a managed variable, which without page protection is among other variables."""
    little = ["bash", "-c", 'ulimit -v 4000000 && exec "$0" "$1"', repeats, "by the host"]
    seen = [subprocess.run(little, capture_output=True, text=True, check=True, env=os.environ | {"SIM_REPEAT": repeat}).stdout for repeat in "01"]
    assert seen[0] == seen[1]


def test_a_second_long_launch_is_skipped(repeats):
    """Broken: a long launch runs again if only its results, which it does not read, differ from the first one's input."""
    assert "launch 2 of the program, of kernel first_of_many, has the arguments and memory of launch 1" in run(repeats, "long").stderr


def test_a_kernel_that_may_communicate_with_the_host_runs():
    """Broken: a kernel with a fence of system scope, or an atomic operation, is skipped although it has read memory shared with the host; or it always runs."""
    program = build(ROOT / "tests/simulator/repeats_talk.cu", "repeats/talk")
    for way in ("fence", "exchange"):
        alone, shared = run(program, way), run(program, way, "of the host's memory")
        assert alone.stdout == shared.stdout
        assert COPIED in alone.stderr and COPIED not in shared.stderr


def test_a_recording_holds_all_launches(repeats, tmp_path):
    """Broken: a skipped launch is missing from a recording, or from a trace."""
    for repeat in "01":
        findings(repeats, tmp_path, "nothing", SIM_REPEAT=repeat, SIM_TRACE=str(tmp_path / f"trace{repeat}"), SIM_TRACE_ROWS="5")
        findings(repeats, tmp_path, "nothing", SIM_REPEAT=repeat, SIM_RECORD=str(tmp_path / f"recording{repeat}"))
    assert (tmp_path / "trace0").read_bytes() == (tmp_path / "trace1").read_bytes()
    assert len(re.findall("^launch", (tmp_path / "recording0").read_text(errors="replace"), re.M)) == 6


def test_many_allocations_cost_no_time(repeats):
    """Broken: thousands of allocations are visited before each small launch."""
    seconds = [float(run(repeats, "many", SIM_REPEAT=repeat).stdout) for repeat in "01"]
    assert seconds[0] < 3 * seconds[1]
