"""Random kernels: what the kernel compiler makes of them gives the results of the host's compiler, whose sanitizer excludes undefined behaviour."""

import subprocess
import sys

import pytest

from tests.compiler import pass_examples
from tests.compiler.random import check, generate
from tests.support import ROOT, some

pytestmark = pytest.mark.builds("build/sim/compile", "build/sim/libcuda.so.1")

COUNT, COUNT_WITHOUT_PASS = some((60, 10), (300, 20))  # make random-kernels compares 10 000


def test_random_kernels_give_the_results_of_the_host():
    """Broken: a kernel is compiled to wrong code, or rejected; build/random has it."""
    result = subprocess.run([sys.executable, "-m", "tests.compiler.random.check", "--count", str(COUNT), "--seed", "test"], capture_output=True,
                            text=True, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr[-3000:]


@pytest.fixture(scope="module")
def on_host(tmp_path_factory):
    """Kernels without undefined behaviour, their input, and the host's outputs."""
    parts, data = generate.kernels("passes", COUNT_WITHOUT_PASS), check.input_bytes("passes")
    outputs, undefined = check.on_host(parts, data, tmp_path_factory.mktemp("host"))
    assert outputs and not undefined
    return parts, data, {name: check.digest_of(data, output) for name, output in outputs.items()}


@pytest.mark.parametrize("name", pass_examples.pass_names())
def test_each_pass_can_be_left_out(name, on_host, tmp_path):
    """Broken: a pass relies on another one that need not have run."""
    parts, data, expected = on_host
    assert check.by_compiler([str(pass_examples.COMPILE), f"--skip={name}"], parts, data, tmp_path, "compile") == expected
