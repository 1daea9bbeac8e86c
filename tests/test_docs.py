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
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("[!.]*/README.md")), *sorted(ROOT.glob("docs/*.md"))]


def check_tables():
    return subprocess.run([sys.executable, ROOT / "plots/tables.py", "--check"], capture_output=True, text=True)


def test_tables_match_the_committed_measurements():
    """Broken: a page shows numbers that no committed CSV holds, or code that its program does not have."""
    result = check_tables()
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_differences_in_the_words_are_those_of_the_tables(page):
    """Broken: a page explains "a − b = c" with numbers that its tables no longer show, or c is not their difference."""
    tables = re.findall(r"<!-- [^>]*make tables[^>]*-->(.*?)<!-- end -->", page.read_text(), re.S)
    shown = {float(number.replace(",", "")) for table in tables for number in re.findall(r"\d[\d,]*\.\d+", table)}
    for a, b, c in re.findall(r"(\d+\.\d+)\s−\s(\d+\.\d+)\s=\s+(\d+\.?\d*)", page.read_text()):
        assert {float(a), float(b)} <= shown, f"{a} − {b}: not in the tables of this page"
        assert abs(float(a) - float(b) - float(c)) < 1e-9, f"{a} − {b} is not {c}"


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


def test_nothing_is_left_unmeasured():
    """Broken: a table says "not measured yet" of something that the committed results should hold. (A Try may.)"""
    assert not [page for page in PAGES if page.name != "CONTRIBUTING.md" and "not measured yet" in page.read_text()]


def test_pages_stay_short():
    """Broken: the first page, or a lesson's table, holds more than a reader can take in."""
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150
    for step in STEPS:
        rows = re.findall(r"<!-- numbers((?: \w+)+):", (ROOT / step / "README.md").read_text())
        assert len(rows) == 1 and len(rows[0].split()) <= 6, step


@pytest.mark.parametrize("step", STEPS)
def test_a_lesson_has_its_parts(step):
    """Broken: a lesson came without its picture, its kernel, its questions, or with an answer that is not folded."""
    text = (ROOT / step / "README.md").read_text()
    assert "](picture.svg)" in text and "<!-- code " in text and "## Predict before you run" in text
    assert text.count("<summary>Answer</summary>") >= text.count("```diff") and text.count("<details>") == text.count("</details>")


@pytest.mark.parametrize("step", STEPS)
def test_tries_apply_and_compile(step, tmp_path):
    """Broken: a lesson suggests a change that the program no longer takes, or shows what was measured of another one."""
    diffs = [diff for diff, _ in tries.tries(step)]
    with open(ROOT / "plots/h200/tries.csv", newline="") as file:
        measured = {int(row["try"]): row["diff"] for row in csv.DictReader(file) if row["step"] == step}
    assert diffs and all(tries.digest(diffs[number - 1]) == digest for number, digest in measured.items())
    for diff in diffs:
        tries.build(f"{nvcc()} -arch=sm_75 -ptx", tries.applied(step, diff), tmp_path)
