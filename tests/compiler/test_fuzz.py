"""A short run of the fuzzer: make fuzz-compiler has the long one."""

import os
import subprocess

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.builds("build/sim/compiler-fuzz")

COUNT, SEED = 250, 1


def test_random_and_mutated_sources_end_with_ptx_or_an_error():
    """Broken: the compiler crashes, hangs, or writes PTX that the simulator does not read."""
    sources = sorted(str(path) for pattern in ("step*/*.cu", "scan/*/*.cu", "labs/*/*/*.cu", "exercises/*/*.cu", "tests/*/*.cu", "tests/*/*/*.cu")
                     for path in ROOT.glob(pattern))
    run = subprocess.run([ROOT / "build/sim/compiler-fuzz", str(COUNT), str(SEED), *sources], capture_output=True, text=True, errors="replace",
                         env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0:hard_rss_limit_mb=3000"})
    assert run.returncode == 0 and "no fault" in run.stdout, run.stderr[-3000:]
