"""Settings and fixtures that hold for all tests."""

import os
import shutil
import sys
from pathlib import Path

import pytest

# Scripts are started as `python3 -m scripts.ladder.tries`, in whatever folder.
os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[1])

# Commands are tried as typed in a terminal, also where make runs the tests.
for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "GPU", "GPU_IS_KNOWN"):
    os.environ.pop(variable, None)

# Where python3 is a script that looks for the interpreter, as pyenv's is, it takes longer than what it starts: then the interpreter itself stands before it.
python3 = shutil.which("python3")
if python3 and Path(python3).read_bytes().startswith(b"#!"):
    os.environ["PATH"] = f"{Path(sys.executable).resolve().parent}{os.pathsep}{os.environ['PATH']}"

# How instructions run, what the runtime says, and how long it takes: programs and texts that are wrong on purpose or read uninitialised memory. What the
# checker finds has files of its own; with it run the programs of a course, the steps, the labs and the scan.
WITHOUT_CHECKER = {"test_control", "test_driver", "test_instructions", "test_matrix", "test_textures"}


@pytest.fixture(autouse=True)
def checker(request, monkeypatch):
    if request.module.__name__ in WITHOUT_CHECKER:
        monkeypatch.setenv("SIM_CHECK", "0")


# What takes longest, in this order: pytest-xdist hands out whole files, and a long one at the end would leave the other cores idle.
LONGEST = ["test_labs", "test_simulator", "test_plot", "test_own_programs", "test_labelled", "test_commands", "test_check",
           "test_picture", "test_new_step", "test_scan", "test_compare", "test_mine"]


def pytest_configure(config):
    config.option.loadscopereorder = False  # of pytest-xdist: files come in our order, not in that of how many tests they have


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONGEST.index(item.module.__name__) if item.module.__name__ in LONGEST else len(LONGEST))
