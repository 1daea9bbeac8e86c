"""Tests that need a GPU: right sums at every size, and a check that detects planted errors."""

import os
import re
import shutil
import subprocess

import pytest

from tests.support import PLANTED, PROGRAMS, ROOT, SIZES, STEPS, changed, name, nvcc


HAS_GPU = bool(shutil.which("nvidia-smi")) and subprocess.run(
    ["nvidia-smi", "-L"], capture_output=True, text=True).stdout.startswith("GPU")
pytestmark = pytest.mark.skipif(not HAS_GPU, reason="no GPU")

# Detected in the fifth run. On the simulator, which has no times, the harness makes only three runs.
PLANTED_LATE = {
    "a block's sum not written after three runs": ("step11_singlepass", "        if (tid == 0)\n            partial_sums",
        "        static __device__ unsigned written;\n        if (tid == 0 && (blockIdx.x != 1 || written++ < 3))\n            partial_sums"),
}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def build(tmp_path, step="step03_sequential", old="", new="", target="-arch=native"):
    """Builds a step in which the first occurrence of `old` is replaced by `new`."""
    source, program = tmp_path / "reduce.cu", tmp_path / "reduce"
    source.write_text(changed(step, old, new))
    built = run(nvcc(), "-O3", "-std=c++17", target, "-o", program, source)
    assert built.returncode == 0, built.stderr
    return program


@pytest.mark.parametrize("source", PROGRAMS, ids=name)
def test_every_size_is_summed_right(source):
    """Broken: a program gives a wrong sum at some size."""
    for elements in SIZES:
        for options in ([], ["--warm"]):
            result = run(source.with_suffix(""), elements, *options)
            assert result.returncode == 0 and "PASS" in result.stdout, (elements, result.stderr)


def test_index_of_32_bits_fails_the_check(tmp_path):
    """Broken: the check passes a program with a 32-bit element count at more than 2^32 elements."""
    program = build(tmp_path, "step03_sequential", "const float *in, float *out, long long n)", "const float *in, float *out, unsigned n)")
    result = run(program, 2**32 + 1)
    if "out of memory" in result.stderr:
        pytest.skip("the device holds no 2^32 elements")
    assert result.returncode == 1 and "FAIL" in result.stderr, result


@pytest.mark.parametrize("step", STEPS[9:], ids=lambda step: step.name)
def test_arrays_begin_and_end_anywhere(step, tmp_path):
    """Broken: a step reads outside an array that does not begin at a multiple of 16 bytes, or sums its ends wrongly."""
    program = tmp_path / "offsets"
    built = run(nvcc(), "-O3", "-std=c++17", "-arch=native", f'-DSTEP_FILE="{step}/reduce.cu"', "-o", program, ROOT / "tests/simulator/offsets.cu")
    assert built.returncode == 0, built.stderr
    result = run(program)
    assert result.returncode in (0, 77) and (result.returncode == 77 or "PASS" in result.stdout), result.stderr


def test_after_an_aborted_launch(tmp_path):
    """Broken: step 11 continues with the ticket counter of an aborted launch."""
    program = tmp_path / "after_abort"
    built = run(nvcc(), "-O3", "-std=c++17", "-arch=native", "-o", program, ROOT / "tests/simulator/after_abort.cu")
    assert built.returncode == 0, built.stderr
    result = run(program)
    assert result.returncode == 0 and result.stdout.startswith(("PASS", "SKIP")), result.stderr


@pytest.mark.parametrize("error", PLANTED | PLANTED_LATE)
def test_planted_error_fails_the_check(error, tmp_path):
    """Broken: the check passes a wrong sum."""
    program = build(tmp_path, *(PLANTED | PLANTED_LATE)[error])
    for elements in (65537, 1000003):
        result = run(program, elements)
        assert result.returncode == 1 and ("FAIL" in result.stderr or "misaligned address" in result.stderr), elements


def test_racecheck_finds_a_removed_barrier(tmp_path):
    """Broken: `make sanitize` does not report a race."""
    path = os.environ["PATH"] + ":/usr/local/cuda/bin"
    if not shutil.which("compute-sanitizer", path=path):
        pytest.skip("no compute-sanitizer")
    program = build(tmp_path, "step03_sequential", "    __syncthreads();\n", "")
    result = run(ROOT / "scripts/gpu/sanitize.sh", program, env=os.environ | {"PATH": path})
    assert result.returncode != 0 and re.search(r"[1-9]\d* hazards? displayed", result.stdout), result.stdout


def test_more_elements_than_memory():
    """Broken: an array that does not fit into memory crashes the program, or is reported as a CUDA error."""
    result = run(PROGRAMS[1].with_suffix(""), 2**38)
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1


def test_device_that_the_program_was_not_built_for(tmp_path):
    """Broken: on such a device a program crashes, or is reported as failed."""
    capability = run("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader").stdout.split()[0]
    other = 80 if capability == "7.5" else 75  # machine code only, without PTX that the driver could translate
    program = build(tmp_path, target=f"-gencode=arch=compute_{other},code=sm_{other}")
    result = run(program, 1000)
    assert result.returncode == 77 and len(result.stderr.splitlines()) == 1, result
