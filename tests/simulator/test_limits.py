"""Limits and invalid input: memory, clusters, modules, damaged files."""

import re
import resource
import subprocess

import pytest

from tests.simulator.ptx import RUN, kernel
from tests.support import FINDINGS, ROOT, build, findings, only, run, unsanitized

pytestmark = pytest.mark.builds("build/sim/ptx_run")


@pytest.fixture(scope="module")
def limits():
    return build(ROOT / "tests/simulator/limits.cu", "limits/limits")


def test_a_cluster_that_does_not_fit_is_refused(limits):
    """Broken: a launch whose clusters need more blocks at once than the device holds succeeds, and runs nothing."""
    result = run(limits, "cluster", SIM_SMS="4")
    assert (result.returncode, result.stdout) == (0, "PASS\n") and result.stderr == (
        "simulator: kernel meet cannot be launched: clusters of 8 x 1 x 1 blocks, which run at once; the device holds 4 of these blocks\n")


@pytest.mark.parametrize("word", ["alignment", "deprecated"])
def test_what_older_programs_ask_for(limits, word):
    """Broken: a program with a widely aligned array, or with a call that sets the shared-memory bank size, is refused."""
    result = run(limits, word)
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


@pytest.mark.parametrize("word", ["memory", "zeros"])
def test_memory_that_the_host_may_touch(limits, word):
    """Broken: pinned or managed memory counts as device memory, or its initial content differs from a GPU's."""
    result = run(limits, word)
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


@unsanitized
def test_freed_memory_is_taken_where_no_more_may_be_had(limits):
    """Broken: freed memory, or a failed allocation, counts towards the process's RLIMIT_DATA."""
    result = run(limits, "limit")
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


def test_processes_have_their_own_memory(limits):
    """Broken: child processes (fork) share managed variables with their parent."""
    result = run(limits, "processes")
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


def test_a_kernel_of_a_module_that_is_gone_is_named(limits, tmp_path):
    """Broken: a finding about a kernel whose module was unloaded reads freed memory."""
    _, title, _ = only(limits, tmp_path, "unloaded", MALLOC_PERTURB_="88")
    assert "which kernel with_a_name in stream 1 may not have written yet" in title


def test_a_damaged_header_of_a_fat_binary(limits):
    """Broken: a fat binary with a wrong size in its header crashes the program."""
    result = run(limits, "damaged", ROOT / "tests/corpus/step08.fatbin")
    assert (result.returncode, result.stdout) == (0, "PASS\n"), result.stderr


def test_a_copy_of_nothing(limits):
    """Broken: a bulk copy of 0 bytes crashes the checker, or is reported."""
    result = run(limits, "nothing")
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


@pytest.mark.parametrize("threads", ["1", "8"])
def test_findings_are_counted_alike_on_any_number_of_threads(limits, tmp_path, threads):
    """Broken: a block that ran ahead and restarts reports its findings twice."""
    result, found = findings(limits, tmp_path, "again", SIM_THREADS=threads)
    assert (result.returncode, [one["count"] for one in found]) == (FINDINGS, [64])


def test_a_race_is_reported_alike_on_any_number_of_threads(limits, tmp_path):
    """Broken: which race of a small launch is reported first depends on the timing of host threads."""
    one, many = (findings(limits, tmp_path, "race", SIM_THREADS=threads) for threads in ("1", "8"))
    assert one[0].returncode == FINDINGS and (one[0].stderr, one[1]) == (many[0].stderr, many[1])


def test_words_beside_those_that_all_read(limits):
    """Broken: initialised bytes are read while another host thread marks some, which SANITIZE=thread reports; or the program is reported as a race."""
    result = run(limits, "beside", SIM_THREADS="8")
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


@unsanitized  # sanitizers need memory of their own
def test_the_message_names_what_memory_runs_out_for(tmp_path):
    """Broken: if memory runs out for the checker, the simulator ends with a signal and without a message."""
    (tmp_path / "k.ptx").write_text(kernel("mov.b64 %t, %s0;", "b64", ["b64"]))
    with open(tmp_path / "in", "wb") as file:
        file.truncate(64 << 20)  # read once and copied once; the checker needs more
    command = [RUN, tmp_path / "k.ptx", "k", "64", tmp_path / "in", tmp_path / "out"]
    limited = subprocess.run(command, capture_output=True, text=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (150 << 20, resource.RLIM_INFINITY)))
    assert limited.returncode == 70 and re.fullmatch("simulator: out of memory: .*", limited.stderr.splitlines()[-1]), limited
