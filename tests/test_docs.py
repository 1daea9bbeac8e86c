"""The words: tables that match the measurements, links that lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
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
