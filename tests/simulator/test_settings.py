"""Environment variables: invalid settings, and output files that cannot be written."""

import json
import os
import stat

import pytest

from tests.support import SIM, reported, run

pytestmark = pytest.mark.builds("build/sim/step03_sequential/reduce")


WRONG_SETTINGS = [("SIM_THREADS", "abc", "a number of host threads, at least 1"), ("SIM_THREADS", "0", "a number of host threads, at least 1"),
                  ("SIM_MAX_INSTRUCTIONS", "x", "a number of warp instructions, at least 1"), ("SIM_TRACE_BLOCK", "abc", "a block number, or all"),
                  ("SIM_TRACE_BLOCK", "-1", "a block number, or all"), ("SIM_TRACE_BLOCK", "", "a block number, or all"),
                  ("SIM_SMS", "1e3", "a number of SMs, from 1 to 1024"), ("SIM_DEVICES", "17", "a number of GPUs, from 1 to 16"),
                  ("SIM_TOGETHER", "yes", "1, for interleaved blocks, or 0"), ("SIM_BLOCK_ORDER", "18446744073709551616", "a number"),
                  ("SIM_SPEED", "yes", "1, to print that line, or 0"), ("SIM_STRICT", "yes", "1, for an error instead of a warning, or 0"),
                  ("SIM_CHECK", "0,leaks", "0 (off), 1 or leaks"), ("SIM_CHECK", "", "0 (off), 1 or leaks"),
                  ("SIM_COUNTERS", "", "a file name"), ("SIM_FINDINGS", "", "a file name"), ("SIM_TRACE", "", "a file name"),
                  ("SIM_RECORD", "", "a file name"), ("SIM_TRACE_VALUES", "2", "1, for a column of values, or 0"),
                  ("SIM_TRACE_ROWS", "0", "a number of rows, at least 1"), ("SIM_TIME_LIMIT", "0", "a number of seconds, at least 1")]


@pytest.mark.parametrize("name, value, accepted", WRONG_SETTINGS, ids=[f"{name}={value}" for name, value, _ in WRONG_SETTINGS])
def test_a_wrong_setting_is_refused(name, value, accepted):
    """Broken: a mistyped setting is ignored without a message."""
    result = run(SIM / "step03_sequential/reduce", 100, **{name: value})
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"simulator: {name} is '{value}'; accepted: {accepted}\n")


def test_a_time_limit_ends_the_program():
    """Broken: a program that takes too long ends without its findings, or without a line that says why and where."""
    result = run(SIM / "step03_sequential/reduce", 1 << 25, SIM_TIME_LIMIT="1")
    assert result.returncode == 124 and "simulator: the limit of 1 s ($SIM_TIME_LIMIT) ends the program in launch " in result.stderr, result.stderr


@pytest.mark.parametrize("text, why", [("race:reduce*", "is 'race:reduce*'; accepted: KIND:PATTERN, such as"), ("race-shared:", "accepted: KIND:PATTERN"), (None, "Is a directory")])
def test_wrong_suppressions_are_refused(text, why, tmp_path):
    """Broken: a mistyped suppression, or a file that cannot be read, is ignored without a message."""
    path = tmp_path / "list" if text else tmp_path
    if text:
        path.write_text(f"# comment\n\n{text}\n")
    result = run(SIM / "step03_sequential/reduce", 100, SIM_SUPPRESSIONS=str(path))
    assert (result.returncode, result.stdout) == (2, "") and why in result.stderr and (not text or f"{path}:3 is" in result.stderr), result.stderr


@pytest.mark.parametrize("what, setting", [("trace", "SIM_TRACE"), ("counters", "SIM_COUNTERS"), ("findings", "SIM_FINDINGS"), ("recording", "SIM_RECORD")])
@pytest.mark.parametrize("path, why", [("/nowhere/file", "No such file or directory"), ("/dev/full", "No space left on device")])
def test_a_file_that_cannot_be_written_is_named(what, setting, path, why):
    """Broken: a trace, counters, findings or a recording are lost without a message or with status 0, or a device file is replaced."""
    result = run(SIM / "step03_sequential/reduce", 100, **{setting: path})
    assert (result.returncode, reported(result)) == (1, [f"simulator: cannot write the {what} to {path}: {why}"])
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_findings_go_where_their_name_leads(tmp_path):
    """Broken: a link is replaced by a file, a pipe gets the findings more than once, or old content of the file remains."""
    (tmp_path / "file").write_text("earlier")
    (tmp_path / "link").symlink_to("file")
    program = SIM / "step03_sequential/reduce"
    assert run(program, 100, SIM_FINDINGS=str(tmp_path / "link")).returncode == 0
    assert (tmp_path / "link").is_symlink() and json.loads((tmp_path / "file").read_text()) == {"findings": [], "left_out": 0}
    assert run(program, 100, SIM_FINDINGS="/dev/stderr").stderr.count('{"findings": [') == 1
