"""The book in Firefox, where there is one: it is driven by its own protocol (Marionette), so that nothing else is needed."""

from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "site/index.html"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="make test-book has the book")


def test_a_barrier_is_deleted_in_firefox(firefox):
    """Broken: the first page needs what only Chromium has."""
    firefox.command("WebDriver:Navigate", url=PAGE.as_uri())
    firefox.wait_for("!!document.querySelector('figure.pl-is-live[aria-busy=false]')")
    firefox.value("[...document.querySelectorAll('.CodeMirror-line')].find((line) => line.textContent.includes('__syncthreads')).querySelector('button.pl-cut').click()")
    found = firefox.wait_for("(document.querySelector('.pl-finding') || {}).textContent")
    assert "race in shared memory" in found
    assert firefox.value("performance.getEntriesByType('resource').map((one) => one.name).filter((name) => !name.startsWith('file:'))") == []
