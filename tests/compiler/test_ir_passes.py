"""The passes of the kernel compiler on functions that a C program builds, without the front end."""

import subprocess

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.builds("build/sim/libcompiler.a")


def test_passes_on_functions_built_in_c(tmp_path):
    """Broken: a pass leaves a function that is not well formed, needs another pass, or does not do its work."""
    program = tmp_path / "ir_passes"
    subprocess.run(["cc", "-std=gnu11", f"-I{ROOT}/simulator", ROOT / "tests/compiler/ir_passes.c", ROOT / "build/sim/libcompiler.a",
                    "-lm", "-o", program], check=True)
    run = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
