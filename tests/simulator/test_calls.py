"""Messages of CUDA runtime calls on stderr. Their results are tested in programs/."""


import pytest

from tests.support import ROOT, build, needs_simulator, run

pytestmark = needs_simulator


WHY = "simulator: kernel wide cannot be launched: 2048 threads a block, at most 1024 are possible\n"
SAID = """\
error: unchecked CUDA error: kernel wide<<<(1,1,1), (2048,1,1), 0>>> did not run: invalid configuration argument \
(cudaErrorInvalidConfiguration), and the program did not check for errors
  --> {place}: launched by the host
{line:>6} |     {text}
  = help: launch at most 1024 threads per block, not 2048
  = help: call cudaGetLastError() after each launch
1 finding
"""


@pytest.fixture(scope="module")
def messages():
    return build(ROOT / "tests/simulator/messages.cu", "calls/messages")


@pytest.mark.parametrize("how", ["last", "peek"])
def test_checked_launch_errors_print_only_the_reason(messages, how):
    """Broken: a program that checks launch errors gets no reason for a refused launch, or is reported as not checking."""
    result = run(messages, how)
    assert (result.returncode, result.stdout, result.stderr) == (0, "cudaErrorInvalidConfiguration\n", WHY)


def test_a_refused_launch_that_returned_its_status_is_a_warning(messages):
    """Broken: no warning for a program that ignores the status of cudaLaunchKernel, or an error for one that checks it."""
    result = run(messages, "call")
    assert (result.returncode, result.stdout) == (0, "cudaErrorInvalidConfiguration\n")
    assert result.stderr.startswith(WHY + "warning: unchecked CUDA error: kernel wide<<<(1,1,1), (2048,1,1), 0>>> did not run") and result.stderr.endswith("1 warning\n")


@pytest.mark.parametrize("how", ["never", "synchronize", "thread"])
def test_an_unchecked_launch_error_is_a_finding_at_the_end(messages, how):
    """Broken: a launch is refused, the program does not check for errors, and ends without a finding."""
    result = run(messages, how)
    text = "std::thread([&] { wide<<<1, 2048>>>(numbers); }).join();" if how == "thread" else "wide<<<1, 2048>>>(numbers);"
    source = ROOT / "tests/simulator/messages.cu"
    line = next(number for number, row in enumerate(source.read_text().splitlines(), 1) if row.strip() == text)
    said = SAID.format(place=f"tests/simulator/messages.cu:{line}", line=line, text=text)
    assert (result.returncode, result.stdout, result.stderr) == (88, "cudaSuccess\n", WHY + said)


def test_refused_launches_say_why(messages):
    """Broken: the message for a refused launch does not name the wrong argument and its limit."""
    result = run(messages, "launches")
    assert [line for line in result.stderr.splitlines() if line.startswith("simulator:")] == [f"simulator: kernel {said}" for said in (
        "paired<float> cannot be launched: a grid of 3 x 1 x 1 blocks is not made of whole clusters of 2 x 1 x 1",
        "narrow cannot be launched: 65 threads a block; its own __launch_bounds__ allow 64",
        "narrow cannot be launched: a grid of 1 x 0 x 1 blocks; none of the three may be 0",
        "narrow cannot be launched: a grid of 1 x 70000 x 1 blocks; at most 2147483647 x 65535 x 65535 are possible",
        "narrow cannot be launched: 60000 bytes of dynamic shared memory; more than 49152 need cudaFuncSetAttribute(kernel, "
        "cudaFuncAttributeMaxDynamicSharedMemorySize, 60000)",
        "narrow cannot be launched: 300000 bytes of dynamic shared memory, at most 232448 are possible",
        "narrow cannot be launched: 100000 blocks; a cooperative launch needs all of them on the device at once, which holds 4224 of these")]
    assert result.stdout.split() == [f"cudaError{error}" for error in (
        "InvalidClusterSize", "InvalidValue", "InvalidConfiguration", "InvalidConfiguration", "InvalidValue", "InvalidValue",
        "CooperativeLaunchTooLarge")]


def test_a_nan_time_is_explained(messages):
    """Broken: a program that measures times prints nan without an explanation, or with one for each measurement."""
    result = run(messages, "time")
    assert result.stdout == "cudaSuccess\ncudaSuccess\nnan\n"
    assert result.stderr == ("simulator: cudaEventElapsedTime gave NaN: the simulator counts what kernels do and has no clock; "
                             "measure times on a GPU. Values that the program computes from it are NaN, too, and may fail its checks\n")


def test_processes_share_memory_events_and_pools():
    """Broken: a child's additions to its parent's numbers are lost; memory is accessible with a wrong handle, or a pool's with another pool's; or a refused export has no message."""
    result = run(build(ROOT / "tests/simulator/processes.cu", "calls/processes"))
    assert (result.returncode, result.stdout) == (0, "PASS\n")
    assert result.stderr == "simulator: only memory from cudaMalloc, and at least one page (4096 bytes) of it, can be shared with other processes\n"


@pytest.fixture(scope="module")
def two_devices():
    return build(ROOT / "tests/simulator/two_devices.cu", "calls/two_devices")


def test_two_devices_are_apart(two_devices):
    """Broken: devices share variables, limits or streams, or a peer's memory is accessible without cudaDeviceEnablePeerAccess."""
    result = run(two_devices, SIM_DEVICES="2", SIM_CHECK="0") # it adds to uninitialised memory
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


def test_a_peers_memory_is_closed(two_devices):
    """Broken: a kernel can read another device's memory without peer access."""
    result = run(two_devices, "closed", SIM_DEVICES="2")
    assert result.stdout == "cudaErrorIllegalAddress\n"
    assert "in memory of device 0, to which the kernel's device 1 has no" in result.stderr


def test_a_default_stream_for_each_host_thread():
    """Broken: a function that nvcc renames with -default-stream per-thread is missing, or behaves differently."""
    result = run(build(ROOT / "tests/programs/small_calls.cu", "calls/small_calls", "-default-stream", "per-thread"))
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")
