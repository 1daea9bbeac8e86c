"""The words: tables that match the measurements, links that lead somewhere."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import tries
from test_steps import nvcc

STEPS = sorted(path.name for path in ROOT.glob("step[0-9][0-9]_*"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("[!.]*/README.md"))]


def check_tables():
    return subprocess.run([sys.executable, ROOT / "plots/tables.py", "--check"], capture_output=True, text=True)


def test_tables_match_the_committed_measurements():
    """Broken: a README shows numbers that no committed CSV holds."""
    result = check_tables()
    assert result.returncode == 0, result.stderr


def test_every_program_has_a_page():
    """Broken: a step came without its lesson."""
    for program in ROOT.glob("*/reduce.cu"):
        assert program.with_name("README.md").exists(), program


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page):
    """Broken: a link of a page leads nowhere."""
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not missing


@pytest.mark.parametrize("step", STEPS)
def test_tries_apply_and_compile(step, tmp_path):
    """Broken: a lesson suggests a change that the program no longer takes, or that was never measured."""
    diffs = [diff for diff, _ in tries.tries(step)]
    with open(ROOT / "plots/h200/tries.csv", newline="") as file:
        measured = [row["diff"] for row in csv.DictReader(file) if row["step"] == step]
    assert diffs and measured == [tries.digest(diff) for diff in diffs]
    for diff in diffs:
        tries.build(f"{nvcc()} -arch=sm_75 -ptx", tries.applied(step, diff), tmp_path)
