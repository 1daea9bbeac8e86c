"""Common mistakes, and what the kernel compiler says of each: tests/compiler/mistakes. A file begins with the diagnostics that it must get:

    // error LINE:COLUMN: MESSAGE     or warning, or note
    // help: WHAT TO WRITE INSTEAD    of the line above

All others must be missing: one mistake gives one message."""

import re
import subprocess

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.builds("build/sim/compile")

COMPILE = ROOT / "build/sim/compile"
MISTAKES = sorted((ROOT / "tests/compiler/mistakes").glob("[0-9][0-9]_*.cu"))
# By name: why the message does not come out yet.
NOT_YET = {}


def wanted(text):
    """The diagnostics in a file's first comment, as (severity, place, message, help)."""
    found = []
    for line in text.splitlines():
        if match := re.fullmatch(r"// (error|warning|note) (\d+:\d+): (.*)", line):
            found.append([*match.groups(), None])
        elif found and line.startswith("// help: "):
            found[-1][3] = line.removeprefix("// help: ")
        elif not line.startswith("//"):
            break
    return found


def reported(source):
    """What the compiler says; and its exit status."""
    run = subprocess.run([COMPILE, source, "-o", "/dev/null"], capture_output=True, text=True, timeout=20)
    found = []
    for line in run.stderr.splitlines():
        if match := re.fullmatch(r".*?:(\d+:\d+): (error|warning|note): (.*)", line):
            found.append([match[2], match[1], match[3], None])
        elif found and (match := re.fullmatch(r"[ =|]*help: (.*)", line)):
            found[-1][3] = match[1]
    return found, run.returncode


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem, marks=[pytest.mark.xfail(reason=NOT_YET[path.stem], strict=True)] if path.stem in NOT_YET else [])
                                  for path in MISTAKES])
def test_a_mistake_gets_its_message(path):
    """Broken: a learner reads another message, or one at another place, or a second one that follows from the first."""
    text = path.read_text(encoding="utf-8")
    diagnostics, status = reported(path)
    assert diagnostics == wanted(text)
    assert status == (1 if any(one[0] == "error" for one in diagnostics) else 0)


def test_there_are_sixty_mistakes():
    """Broken: a file lost its expectation, so that its message is not tested."""
    assert len(MISTAKES) >= 60
    assert [path.name for path in MISTAKES if not wanted(path.read_text(encoding="utf-8"))] == []
