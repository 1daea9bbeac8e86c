"""make, as a learner types it: on a machine without a GPU, without nvcc, in two terminals, with an edit."""

import os
import shutil
import subprocess

import pytest

from tests.support import PROGRAMS, ROOT, longer, make, name, nvcc, some, write_together


NO_GPU = not shutil.which("nvidia-smi")


def flags_of_builds():
    """The flags of earlier builds in this folder."""
    return [path.read_text() if path.exists() else None for path in (ROOT / ".build-flags", ROOT / ".sim-flags")]


@pytest.mark.parametrize("target", ["step03", "run-all", "test", "sim FILE=tests/simulator/offsets.cu", "mine FILE=step03_sequential/reduce.cu", *(
    pytest.param(target, marks=longer) for target in ("reference_cub", "build", "picture STEP=03", "run FILE=tests/simulator/offsets.cu", "sweep", "bench-sim", "fuzz"))])
def test_without_nvcc_the_first_line_says_so(target):
    """Broken: without a compiler a command ends in a heap of messages of make and ar."""
    flags = flags_of_builds()
    result = make(*target.split(), "NVCC=", "DEVICE=sim")
    lines = [line for line in result.stderr.splitlines() if not line.startswith("another make")]
    assert result.returncode != 0 and "make toolkit" in lines[0] and "Error 127" not in result.stderr
    assert flags == flags_of_builds()  # or all would be compiled anew
    assert result.stderr.count("make toolkit") == 1


@pytest.mark.parametrize("target", ["step03", "reference_cub"])
def test_a_program_runs_by_its_name(target, tmp_path):
    """Broken: `make reference_cub`, which its page names, does nothing, because there is a folder of that name."""
    result = make("-s", target, "DEVICE=sim", "N=4096", f"RESULTS={tmp_path}")
    assert result.returncode == 0 and "1 passed, 0 failed, 0 skipped" in result.stdout, result.stderr


def test_nothing_is_built_twice():
    """Broken: make rebuilds programs that are up to date."""
    assert make("build", "DEVICE=sim").returncode == 0
    result = make("build", "DEVICE=sim")
    assert result.returncode == 0 and "compiling" not in result.stdout


def test_two_commands_at_once(tmp_path):
    """Broken: a second make in the same folder spoils the first; or somebody who ran everything does not know where the charts are."""
    folder = tmp_path / "it's mine"
    command = ["make", "run-all", "DEVICE=sim", "N=1024", "STEPS=step03 step04", f"RESULTS={folder}"]
    second = [*command, *some(["PYTHON=true"], [])]  # make test draws the charts once
    both = [subprocess.Popen(one, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for one in (command, second)]
    for process in both:
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        assert "simulated.svg" in printed.splitlines()[-1] and "make diff STEP=01" in printed.splitlines()[-1]
    assert sorted(os.listdir(folder)) == ["counters.csv", "counters.txt", "simulated.svg"]


@pytest.mark.skipif(not NO_GPU, reason="there is a GPU")
def test_without_a_gpu_it_says_where_programs_run(tmp_path):
    """Broken: without a GPU it is not reported that the simulator runs, or what DEVICE=gpu lacks."""
    result = make("step08", "N=1000", "WARM=1", f"RESULTS={tmp_path}")
    assert result.returncode == 0 and "run on the simulator" in result.stdout.splitlines()[1]  # after what WARM=1 does there
    result = make("-s", "step01", "N=1000", "DEVICE=gpu")  # which other tests build for a GPU, too
    assert result.returncode != 0 and "driver" in result.stderr and "DEVICE=sim" in result.stderr


def test_a_command_asks_once_for_a_gpu(tmp_path):
    """Broken: each make that a command starts asks nvidia-smi anew, which takes long where there are many GPUs."""
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/bash\necho asked >> {tmp_path}/log\necho 'GPU 0: NVIDIA H200'\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    result = make("-n", "build", PATH=f"{tmp_path}:{os.environ['PATH']}")  # -n, but the make that compiles is started
    assert result.returncode == 0 and "-arch=native" in result.stdout, result.stderr
    assert (tmp_path / "log").read_text() == "asked\n"


@pytest.fixture
def checkout(tmp_path):
    """The commands and two steps in a git repository of their own."""
    for path in ("Makefile", "mk", "drywarp", "scripts", "step02_bitops", "step03_sequential"):
        if (ROOT / path).is_dir():
            shutil.copytree(ROOT / path, tmp_path / path, ignore=shutil.ignore_patterns("reduce"))
        else:
            shutil.copy(ROOT / path, tmp_path / path)
    git = ["git", "-C", tmp_path, "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["add", "Makefile", "mk", "drywarp", "scripts", "step02_bitops/reduce.cu", "step03_sequential/reduce.cu"],
                    ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    return tmp_path


def test_compiling_is_quiet(checkout):
    """Broken: the first run hides its first result under compiler lines; or V=1 does not show them."""
    program, compiler = "step02_bitops/reduce", checkout / "compiler"
    compiler.write_text('#!/bin/bash\nwhile [ "$1" != -o ]; do shift; done; touch "$2"\n')
    compiler.chmod(0o755)
    quiet = make("--no-print-directory", "-C", str(checkout), program, f"NVCC={compiler}")
    assert quiet.stdout.splitlines() == ["compiling step02_bitops (program 1 of 3)"], quiet.stdout
    assert make("-s", "-C", str(checkout), program, f"NVCC={compiler}").stdout == ""
    assert "compiling" in make("-C", str(checkout), program, f"NVCC={compiler}", "ARCH=sm_80").stdout  # another GPU's
    (checkout / program).unlink()
    assert f"{compiler} -O3" in make("-C", str(checkout), program, f"NVCC={compiler}", "V=1").stdout


def test_diff_shows_the_own_edit_and_undo_takes_it_back(checkout):
    """Broken: to undo an edit costs the edits of other steps, or `make diff` hides one's own."""
    edited, other = checkout / "step03_sequential/reduce.cu", checkout / "step02_bitops/reduce.cu"
    before = edited.read_text()
    for file in (edited, other):
        file.write_text(file.read_text() + "// an edit\n")
    shown = make("-s", "-C", str(checkout), "diff", "STEP=03").stdout
    assert "Your edit of step03_sequential" in shown and shown.count("+// an edit") == 1
    assert make("-s", "-C", str(checkout), "undo", "STEP=03").returncode == 0
    assert edited.read_text() == before and other.read_text().endswith("// an edit\n")
    assert "Your edit" not in make("-s", "-C", str(checkout), "diff", "STEP=03").stdout


@longer  # the compiler shows warnings where make test builds the programs
def test_no_warnings(tmp_path):
    """Broken: a program of the course makes the compiler warn. (A learner's unused variable may.)"""
    source = write_together({name(program): program.read_text() for program in PROGRAMS}, tmp_path / "all.cu")
    result = subprocess.run([nvcc(), "-ptx", "-std=c++17", "-arch=sm_75", "-Werror", "all-warnings", "-o", os.devnull, source],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_a_folder_that_holds_ones_own_kernel_stays(tmp_path):
    """Broken: make mine removes the learner's file because it lies in the folder of the results."""
    own = tmp_path / "mine/own.cu"
    own.parent.mkdir()
    shutil.copy(ROOT / "step03_sequential/reduce.cu", own)
    (own.parent / "run-all.csv").write_text("of another kernel\n")
    without_charts = some(["PYTHON=true"], [])
    result = make("mine", f"FILE={own}", "DEVICE=sim", "N=1000", f"RESULTS={tmp_path}", "STEPS=step03", *without_charts)
    assert result.returncode == 0 and own.exists() and not (own.parent / "run-all.csv").exists(), result.stderr


@longer
def test_no_warnings_in_the_simulator(tmp_path):
    """Broken: the simulator makes the host compiler warn."""
    sources = [source for source in (ROOT / "simulator").rglob("*.c") if source.name != "player.c"]  # which is compiled for a page only
    options = "-fsyntax-only,-O1,-std=gnu11,-march=native,-Wall,-Wextra,-Werror,-Wno-type-limits,-Wno-clobbered"
    result = subprocess.run([nvcc(), "-c", "-Xcompiler", options, f"-I{ROOT}/simulator", *sources], cwd=tmp_path, capture_output=True, text=True)
    assert sources and result.returncode == 0, result.stderr


@pytest.mark.parametrize("arguments, what", [(["step03", "n=1000"], "n=... is written in capitals: N=1000"), (["Step03"], "there is no Step03; the steps are"),
                                              (["mine", "STEPS=step03 step99"], "there is no step 'step99'"), (["picture", "STEP=99"], "STEP='99' has no figure"),
                                              (["judge", "exercise=07"], "EXERCISE=07"), (["judge", "FILE=README.md", "EXERCISE="], "EXERCISE='' is not an exercise"),
                                              (["judge", "FILE=README.md", "LAB="], "LAB='' is not a task")], ids=lambda value: "" if isinstance(value, str) else " ".join(value))
def test_a_typing_error_is_one_line(arguments, what):
    """Broken: a variable in small letters, or one whose value is lost, is ignored without a word, or a wrong step gets make's own words."""
    result = make(*arguments)
    said = [line for line in result.stderr.splitlines() if not line.startswith("another make")]
    assert result.returncode == 2 and what in said[0] and len([line for line in said if not line.startswith("make: ***")]) <= 1
    assert "make help" not in result.stdout  # nor the list of all commands
