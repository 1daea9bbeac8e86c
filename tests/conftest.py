"""Settings and fixtures that hold for all tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Scripts are started as `python3 -m scripts.ladder.tries`, in whatever folder.
os.environ["PYTHONPATH"] = str(ROOT)

# Commands are tried as typed in a terminal, also where make runs the tests.
for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "GPU", "GPU_IS_KNOWN"):
    os.environ.pop(variable, None)

# Where python3 is a script that looks for the interpreter, as pyenv's is, it takes longer than what it starts: then the interpreter itself stands before it.
python3 = shutil.which("python3")
if python3 and Path(python3).read_bytes().startswith(b"#!"):
    os.environ["PATH"] = f"{Path(sys.executable).resolve().parent}{os.pathsep}{os.environ['PATH']}"

# Else each of the many Python processes compiles its modules anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# make test exports these. A pytest that make did not start asks make for them, before tests/support.py reads them; workers of pytest-xdist inherit them.
if "SIM_LINK" not in os.environ:
    printed = subprocess.run(["make", "-s", "test-settings"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    os.environ.update(line.split("=", 1) for line in printed.splitlines())

not_built = pytest.StashKey[str]()  # why the programs of the tests could not be built


def make_programs(targets):
    """Builds what tests marked with `builds` run; returns an error message, or None. Workers of pytest-xdist wait for the first."""
    command = ["scripts/build/one_at_a_time.sh", "make", "-s", f"-j{os.cpu_count()}", "DEVICE=sim",
               f"LEFT_OUT={'build/sim/%' if os.environ['LEFT_OUT'] else ''}", *sorted(targets)]
    made = subprocess.run(command, cwd=ROOT, env=os.environ | {"COMPILING": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    errors = [line for line in made.stderr.splitlines() if not line.startswith(("make", "another make"))]
    return "\n".join(errors or [f"make {' '.join(sorted(targets))} failed"]) if made.returncode else None


def pytest_collection_finish(session):
    run = (item for item in session.items if not any(mark.args == (True,) for mark in item.iter_markers("skipif")))
    targets = {target.format(**item.callspec.params if hasattr(item, "callspec") else {}) for item in run
               for mark in item.iter_markers("builds") for target in mark.args}
    if targets and not session.config.option.collectonly and "TESTS_BUILT" not in os.environ:
        error = make_programs(targets)
        if error:
            session.stash[not_built] = error


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if not_built in item.session.stash and item.get_closest_marker("builds"):
        pytest.fail(item.session.stash[not_built], pytrace=False)


# How instructions run, what the runtime says, and how long it takes: programs and texts that are wrong on purpose or read uninitialised memory. What the
# checker finds has files of its own; with it run the programs of a course, the steps, the labs and the scan.
WITHOUT_CHECKER = {"test_control", "test_driver", "test_instructions", "test_matrix", "test_textures"}


@pytest.fixture(autouse=True)
def checker(request, monkeypatch):
    if request.module.__name__ in WITHOUT_CHECKER:
        monkeypatch.setenv("SIM_CHECK", "0")


# What takes longest, in this order: pytest-xdist hands out whole files, and a long one at the end would leave the other cores idle.
LONGEST = ["test_wrong_programs", "test_simulator", "test_labs", "test_shapes", "test_learn", "test_check", "test_install", "test_new_step", "test_scan", "test_labelled",
           "test_random", "test_commands", "test_own_programs", "test_picture", "test_instructions", "test_plot", "test_attacks", "test_mine", "test_repeats"]


def pytest_configure(config):
    config.addinivalue_line("markers", "builds(*targets): targets of make that the test runs, {parameter} being a parameter of it; they are built before the first test")
    config.option.loadscopereorder = False  # of pytest-xdist: files come in our order, not in that of how many tests they have


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONGEST.index(item.module.__name__) if item.module.__name__ in LONGEST else len(LONGEST))
