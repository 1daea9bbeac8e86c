"""Random kernels: what the kernel compiler makes of them gives the results of the host's compiler, whose sanitizer excludes undefined behaviour."""

import subprocess
import sys

import pytest

from tests.support import ROOT

from tests.compiler import pass_examples

COUNT, COUNT_WITHOUT_PASS = 300, 10


def checked(*words):
    return subprocess.run([sys.executable, "-m", "tests.compiler.random.check", *words], capture_output=True, text=True, cwd=ROOT)


def test_random_kernels_give_the_results_of_the_host():
    """Broken: a kernel is compiled to wrong code, or rejected; build/random has it."""
    result = checked("--count", str(COUNT), "--seed", "test")
    assert result.returncode == 0, result.stdout + result.stderr[-3000:]


@pytest.mark.parametrize("name", pass_examples.pass_names())
def test_each_pass_can_be_left_out(name):
    """Broken: a pass relies on another one that need not have run."""
    result = checked("--count", str(COUNT_WITHOUT_PASS), "--seed", name, "--compiler", f"{pass_examples.COMPILE} --skip={name}")
    assert result.returncode == 0, result.stdout + result.stderr[-3000:]
