"""CUDA in ten minutes: its programs run, its page shows them, and each change that it suggests has the effect that it describes."""

import csv
import json
import os
import re
import struct
import subprocess

import pytest

from scripts.ladder import ten_minutes

from tests.support import build_together, needs_simulator, run, unsanitized

pytestmark = needs_simulator

PROGRAMS = ten_minutes.programs()
PAGE = (ten_minutes.FOLDER / "README.md").read_text(encoding="utf-8")
BARRIER = "    __syncthreads();\n"
# program, its line, the change; the first wrong element and its value, or None; words of the first finding
CHANGES = [
    (1, "<<<1, n>>>", "<<<1, 4>>>", (4, 0), ""),
    (2, "blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x", (8, 0), "data race in global memory: two blocks write"),
    (2, "<<<n / 8, 8>>>", "<<<n / 16, 16>>>", None, ""),
    (3, "    if (i < n)\n    ", "", None, "(4,0,0) in block (2,0,0)"),
    (3, "(n + 7) / 8", "n / 8", (16, 0), ""),
    (4, "i % 2 == 0", "i < 32", None, ""),
    (5, BARRIER, "", (0, None), "data race in shared memory"),
    (6, "atomicAdd(out, in[i]);", "out[0] += in[i];", (0, 16840), "data race in global memory"),
]


def evaluated(number, tmp_path, old="", new=""):
    """A run as the page's, with a change of the lesson: the result, and the findings."""
    program = PROGRAMS[number - 1]
    text = ten_minutes.lesson(program)
    assert old in text
    words = ten_minutes.evaluated(program, text.replace(old, new, 1) if old else text, tmp_path)
    result = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"SIM_COUNTERS": str(tmp_path / "counters.csv"), "SIM_THREADS": "1"})
    return json.loads(result.stdout[result.stdout.index("{"):])["checks"], result.stderr


@pytest.fixture(scope="module")
def built():
    """All programs in one executable, which runs one of them by its name."""
    texts = {program.stem: program.read_text(encoding="utf-8") for program in PROGRAMS}
    return build_together(texts, "ten_minutes/programs", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_is_right(program, built):
    """Broken: a program of the page does not compile with nvcc without warnings, or its result is wrong."""
    result = run(built, program.stem)
    assert result.returncode == 0 and result.stdout.endswith(f": 0 of {ten_minutes.elements(program)} values are wrong\n"), result.stdout + result.stderr


@unsanitized
@pytest.mark.parametrize("number, old, new, wrong, finding", [(number, "", "", None, "") for number in range(1, 7)] + CHANGES)
def test_a_change_has_the_described_effect(number, old, new, wrong, finding, tmp_path):
    """Broken: an editor of the page shows something else than the text says."""
    checks, said = evaluated(number, tmp_path, old, new)
    assert finding in said and (finding or ": " not in said), said
    for check in checks:
        got = struct.unpack("f", struct.pack("I", check["got"]))[0]
        assert check["equal"] == (wrong is None) and (check["equal"] or check["at"] == 4 * wrong[0] and wrong[1] in (None, got)), check


@unsanitized
def test_the_counts_are_those_of_the_page(tmp_path):
    """Broken: the page names another number of instructions than its editor shows."""
    counts = []
    for change in ((), ("i % 2 == 0", "i < 32")):
        evaluated(4, tmp_path, *change)
        with open(tmp_path / "counters.csv", newline="", encoding="utf-8") as file:
            counts.append(list(csv.DictReader(file))[-1]["warp_instructions"])
    assert f"{counts[1]} instructions instead of {counts[0]}" in " ".join(PAGE.split())


def test_the_page_shows_the_programs():
    """Broken: the page shows another text than its editor, or one has no editor, or does not wait for the answer."""
    shown = re.findall(r'<figure class="player" data-program="ten(\d\d)" data-n="(\d+)" data-wait>\n\n```cuda\n(.*?)```', PAGE, re.S)
    assert [(number, int(n)) for number, n, _ in shown] == [(program.name[:2], ten_minutes.elements(program)) for program in PROGRAMS]
    for program, (_, _, code) in zip(PROGRAMS, shown):
        assert ten_minutes.lesson(program).split("\n", 2)[2] == code, program.name


def test_the_harness_is_the_same():
    """Broken: the programs fill or compare their arrays differently."""
    assert len({program.read_text(encoding="utf-8").split("// ==== Harness")[1] for program in PROGRAMS}) == 1
