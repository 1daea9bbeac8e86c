"""The simulator without host threads, signals and page protection: base/platform_minimal.c."""

import struct
import subprocess

import pytest

from tests.simulator.ptx import RUN, kernel

pytestmark = pytest.mark.builds("build/sim/ptx_run", "build/sim/ptx_run_minimal")

MINIMAL = RUN.with_name("ptx_run_minimal")


def run(program, tmp_path, **environment):
    (tmp_path / "k.ptx").write_text(kernel("add.u64 %t, %s0, %s1;", "b64", ["b64", "b64"]))
    (tmp_path / "in").write_bytes(b"".join(struct.pack("<3Q", i, 2 * i, 0) for i in range(640)))
    return subprocess.run([program, tmp_path / "k.ptx", "k", "640", tmp_path / "in", tmp_path / "out"], capture_output=True, text=True,
                          env=environment, timeout=20)


@pytest.mark.parametrize("environment", [{}, {"SIM_THREADS": "4"}, {"SIM_TOGETHER": "1"}])
def test_a_kernel_runs_on_the_minimal_platform(tmp_path, environment):
    """Broken: the simulator waits for a thread that cannot be started, or needs page protection."""
    result = run(MINIMAL, tmp_path, SIM_CHECK="0", **environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert struct.unpack("<640Q", (tmp_path / "out").read_bytes()) == tuple(3 * i for i in range(640))


def test_the_checker_works_on_the_minimal_platform(tmp_path):
    """Broken: a finding that needs no thread, file or page protection differs, or is missing."""
    result, linux = run(MINIMAL, tmp_path), run(RUN, tmp_path)
    assert result.returncode == linux.returncode == 88
    assert "uninitialised read" in result.stderr and result.stderr == linux.stderr


def test_the_minimal_platform_uses_no_thread_and_no_signal():
    """Broken: threads, signals or pages are used without base/platform.h."""
    names = subprocess.run(["nm", "-u", MINIMAL], capture_output=True, text=True, check=True).stdout
    used = {line.split()[-1].split("@")[0] for line in names.splitlines()}
    beside = {"mmap", "mprotect", "madvise", "mincore", "memfd_create", "sigaction", "backtrace", "dl_iterate_phdr", "popen", "sysconf"}
    assert not {name for name in used if name.startswith("pthread_")} | used & beside
