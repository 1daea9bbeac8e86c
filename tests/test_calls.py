"""The calls of the CUDA runtime on the simulator: what they say on stderr. What they return is tested in programs/."""

import pytest

from test_simulator import ROOT, build, run

SAID = """\
error: unchecked error: kernel wide<<<(1,1,1), (2048,1,1), 0>>> did not run: invalid configuration argument \
(cudaErrorInvalidConfiguration), and the program never asked
  = a block of 2048 threads; it can have 1024
1 finding
"""


@pytest.fixture(scope="module")
def unasked(tmp_path_factory):
    return build(ROOT / "tests/unasked.cu", tmp_path_factory.mktemp("unasked") / "unasked")


@pytest.mark.parametrize("how, error", [("last", "InvalidConfiguration"), ("peek", "InvalidConfiguration"),
                                        ("call", "InvalidConfiguration")])
def test_who_asks_is_told_nothing_more(unasked, how, error):
    """Broken: a program that looks at its launches' errors gets a line on stderr."""
    result = run(unasked, how)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"cudaError{error}\n", "")


@pytest.mark.parametrize("how", ["never", "synchronize", "thread"])
def test_who_never_asks_is_told_at_the_end(unasked, how):
    """Broken: a kernel is not launched, nobody asks why, and the program ends as if all were well."""
    result = run(unasked, how)
    assert (result.returncode, result.stdout, result.stderr) == (88, "cudaSuccess\n", SAID)


@pytest.fixture(scope="module")
def two_devices(tmp_path_factory):
    return build(ROOT / "tests/two_devices.cu", tmp_path_factory.mktemp("two_devices") / "two_devices")


def test_two_devices_are_apart(two_devices):
    """Broken: devices share variables, limits or streams, or a peer's memory is open without being asked for."""
    result = run(two_devices, SIM_DEVICES="2")
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


def test_a_peers_memory_is_closed(two_devices):
    """Broken: a kernel reads another device's memory, to which its device has no access, as if it were its own."""
    result = run(two_devices, "closed", SIM_DEVICES="2")
    assert result.stdout == "cudaErrorIllegalAddress\n"
    assert "on device 0: to device 1, where the kernel runs, it is not open" in result.stderr


def test_a_default_stream_for_each_host_thread(tmp_path):
    """Broken: what nvcc calls by another name with -default-stream per-thread is missing, or does something else."""
    result = run(build(ROOT / "tests/programs/small_calls.cu", tmp_path / "small_calls", "-default-stream", "per-thread"))
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")
