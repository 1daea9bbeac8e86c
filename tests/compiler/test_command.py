"""The command compile: its options, its exit status, and one clear line where it cannot work."""

import subprocess
import sys

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.builds("build/sim/compile")

COMPILE = ROOT / "build/sim/compile"
KERNEL = "__global__ void store(int *out)\n{\n    *out = VALUE;\n}\n"


@pytest.fixture
def compile_in(tmp_path):
    """Runs the command in a folder with a kernel."""
    (tmp_path / "kernel.cu").write_text(KERNEL)
    return lambda *words: subprocess.run([COMPILE, *words], capture_output=True, text=True, cwd=tmp_path, timeout=20)


def test_the_ptx_is_written(compile_in, tmp_path):
    """Broken: -o, the name without -o, - for the standard output, or -D."""
    for words in (["-o", "made.ptx"], ["-omade.ptx"]):
        assert compile_in("kernel.cu", "-DVALUE=77", *words).returncode == 0
        assert "77" in (tmp_path / "made.ptx").read_text()
    assert compile_in("kernel.cu", "-D", "VALUE=5").returncode == 0 and (tmp_path / "kernel.ptx").exists()
    assert ".visible .entry _Z5storePi(" in compile_in("kernel.cu", "-DVALUE", "-o", "-").stdout


def test_the_architecture_is_chosen(compile_in):
    """Broken: --arch does not reach the PTX."""
    assert ".target sm_90" in compile_in("kernel.cu", "-DVALUE=1", "-o-").stdout
    assert ".target sm_80" in compile_in("kernel.cu", "-DVALUE=1", "--arch=sm_80", "-o-").stdout


def test_errors_have_a_place_and_leave_no_file(compile_in, tmp_path):
    """Broken: a source with an error is compiled, or its message has no file, line and column, or a file is left."""
    result = compile_in("kernel.cu", "-o", "made.ptx")
    assert result.returncode == 1 and result.stderr.startswith("kernel.cu:3:12: error: 'VALUE' is not declared\n    3 |     *out = VALUE;\n")
    assert not (tmp_path / "made.ptx").exists()


@pytest.mark.parametrize("words, part", [
    (["kernel.cu", "-Iinclude"], "-Iinclude"), (["kernel.cu", "-I", "include"], "-I"), (["kernel.cu", "--arch=sm_20"], "sm_75"),
    (["kernel.cu", "--arch=x"], "sm_75"), (["kernel.cu", "-o"], "-o needs a value"), (["kernel.cu", "--fast"], "--fast"), ([], "no source"),
    (["kernel.cu", "other.cu"], "one source at a time"), (["missing.cu"], "No such file"), (["."], "Is a directory"),
    (["kernel.cu", "-DVALUE=1", "-o", "no/such/folder.ptx"], "No such file")])
def test_one_line_says_what_cannot_be_done(compile_in, words, part):
    """Broken: an argument that cannot be used is ignored, or is answered by more or less than one line."""
    result = compile_in(*words)
    assert result.returncode == 2 and result.stderr.count("\n") == 1 and part in result.stderr, result.stderr


def test_a_file_next_to_the_source_is_included(compile_in, tmp_path):
    """Broken: #include "..." is not read from the source's folder, or a file that is missing is not mentioned."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/value.h").write_text("#define VALUE 123\n")
    (tmp_path / "parts/kernel.cu").write_text('#include "value.h"\n' + KERNEL)
    assert "123" in compile_in("parts/kernel.cu", "-o", "-").stdout
    (tmp_path / "parts/value.h").unlink()
    result = compile_in("parts/kernel.cu", "-o", "-")
    assert result.returncode == 1 and "value.h" in result.stderr


@pytest.mark.parametrize("module", ["drywarp", "drywarp.cli"])
def test_the_package_runs_as_a_module(module, tmp_path):
    """Broken: python3 -m drywarp does nothing, or its errors begin with another name than the command's."""
    (tmp_path / "kernel.cu").write_text(KERNEL)

    def drywarp(*words):
        return subprocess.run([sys.executable, "-m", module, *words], capture_output=True, text=True, cwd=ROOT, timeout=60)

    assert ".visible .entry _Z5storePi(" in drywarp("compile", str(tmp_path / "kernel.cu"), "-DVALUE=5", "-o", "-").stdout
    result = drywarp("check", "missing.cu")
    assert result.returncode == 2 and result.stderr == "drywarp: no such file: missing.cu\n"
