"""The workflows of .github: their steps run commands of this repository, which exist."""

import importlib.util
import re
import shlex

import pytest

from tests.support import ROOT, make

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
RUNS = [(workflow.stem, command) for workflow in WORKFLOWS for command in re.findall(r"^ *(?:- )?run: *(.*)$", workflow.read_text(encoding="utf-8"), re.M)]


@pytest.mark.parametrize("workflow, command", RUNS, ids=lambda word: word.replace(" ", "-"))
def test_a_step_is_one_command_that_exists(workflow, command):
    """Broken: a workflow runs a script of its own, which cannot be tried here, or a target of make or module that was renamed."""
    words = shlex.split(command)
    assert re.fullmatch(r"(make|python -m) [\w .=/-]+", command), "expected: make TARGET or python -m MODULE"
    if words[0] == "make":
        result = make("-n", *words[1:], "COMPILE=@true")  # without what a nested make would compile
        assert result.returncode == 0, result.stderr
    else:
        assert importlib.util.find_spec(words[2]), f"there is no module {words[2]}"


def test_every_workflow_runs_commands():
    """Broken: the pattern above finds nothing to test."""
    assert {workflow for workflow, _ in RUNS} == {workflow.stem for workflow in WORKFLOWS} != set()


@pytest.mark.parametrize("workflow", [path for path in WORKFLOWS if "has not run on GitHub yet" in path.read_text(encoding="utf-8")], ids=lambda path: path.stem)
def test_a_workflow_that_never_ran_has_no_badge(workflow):
    """Broken: a page shows the state of a workflow that never ran."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    assert [page.name for page in pages if f"workflows/{workflow.name}/badge" in page.read_text(encoding="utf-8")] == []
