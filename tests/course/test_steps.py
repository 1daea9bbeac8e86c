"""Properties of the programs on any machine: the diff rule, the size, bad arguments."""

import os
import re
import subprocess

import pytest


from scripts.ladder import step_pages
from tests.support import MARK, PROGRAMS, ROOT, STEPS, changed_lines, name, needs_simulator, nvcc, split, unsanitized


@pytest.mark.parametrize("path", PROGRAMS, ids=name)
def test_harness_is_the_same_everywhere(path):
    """Broken: steps are measured or checked differently."""
    assert split(path)[1] == split(PROGRAMS[0])[1]


@pytest.mark.parametrize("after", STEPS[1:], ids=lambda step: step.name)
def test_a_step_changes_only_its_idea(after, tmp_path):
    """Broken: the diff of a step, its lesson, contains unrelated changes."""
    before = STEPS[STEPS.index(after) - 1]
    changed = changed_lines(before / "reduce.cu", after / "reduce.cu", tmp_path)
    assert changed, "the program is that of the previous step: write its idea"
    budget = step_pages.about(after).changed_lines
    assert changed == 2 if budget == 2 else changed <= budget, f"{changed} lines differ; the step's page allows {budget}"


@pytest.mark.parametrize("path", PROGRAMS, ids=name)
def test_a_program_knows_its_name(path):
    """Broken: a row of the CSV has the name of another step."""
    assert f'static const char STEP[] = "{path.parent.name}";' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PROGRAMS, ids=name)
def test_a_program_names_the_lines_of_its_lesson(path):
    """Broken: the first comment names lines of the harness, or skips the first lines of the lesson."""
    lines = path.read_text(encoding="utf-8").split(MARK)[0].rstrip().splitlines()
    first = lines.index("static void check(cudaError_t error, const char *call, const char *file, int line);") + 3
    assert lines[3] == f"// The lesson: lines {first} to {len(lines)}; the rest is the harness."


@unsanitized
@needs_simulator
def test_the_name_does_not_depend_on_the_command(tmp_path):
    """Broken: a program built by the command in its first comment, in its own folder, reports reduce.cu as its name."""
    source = STEPS[3] / "reduce.cu"
    built = subprocess.run([nvcc(), "-O3", "-arch=sm_90", "-cudart", "none", "--no-compress", "-o", tmp_path / "reduce", "reduce.cu",
                            ROOT / "build/sim/libsimulator.a", "-lpthread", "-lm"], cwd=source.parent, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    run = subprocess.run([tmp_path / "reduce", "--csv", "5"], capture_output=True, text=True)
    assert run.stdout.startswith(f"{source.parent.name},"), run.stderr


@pytest.mark.parametrize("path", PROGRAMS, ids=name)
def test_width_and_build_line(path):
    """Broken: a file is too wide to show to a class, or has no build command."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 92
    assert "// Build and run: nvcc -O3 -arch=native -o reduce reduce.cu && ./reduce" in lines[:4]


def backward_jumps(step, tmp_path):
    """The number of backward branches in the compiled kernel: one for each remaining loop."""
    ptx = tmp_path / "reduce.ptx"
    source = next(ROOT.glob(f"step{step}_*")) / "reduce.cu"
    subprocess.run([nvcc(), "-O3", "-arch=sm_75", "-ptx", "-o", ptx, source], check=True)
    seen, jumps = set(), 0
    kernel = re.search(r"\.entry _Z6reduce.*?^}", ptx.read_text(), re.M | re.S)[0]
    for line in kernel.splitlines():
        if label := re.match(r"(\$\w+):", line):
            seen.add(label[1])
        elif target := re.search(r"\bbra\S*\s+(\$\w+)", line):
            jumps += target[1] in seen
    return jumps


def test_step_06_has_no_loop_left(tmp_path):
    """Broken: the lesson of step 06 says that the loop is unrolled, but the compiler kept it."""
    assert backward_jumps("05", tmp_path) == 1
    assert backward_jumps("06", tmp_path) == 0


@pytest.mark.parametrize("arguments", [["0"], ["-5"], ["abc"], ["1e6"], ["12x"], [""], ["18446744073709551616"],
                                       ["18446744073709551617"], ["3", "4"], ["--cvs"]], ids=repr)
def test_bad_arguments(arguments):
    """Broken: a mistyped argument crashes the program, or runs it with another size."""
    run = subprocess.run([STEPS[1] / "reduce", *arguments], capture_output=True, text=True)
    assert run.returncode == 2 and run.stdout == ""
    assert len(run.stderr.splitlines()) == 1 and "accepted" in run.stderr


def test_no_device():
    """Broken: without a GPU a program crashes, or reports success."""
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    run = subprocess.run([STEPS[1] / "reduce", "5"], capture_output=True, text=True, env=environment)
    assert run.returncode == 77 and run.stdout == "" and len(run.stderr.splitlines()) == 1
