"""The book in Firefox, where there is one: it is driven by its own protocol (Marionette), so that nothing else is needed."""

from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "site/index.html"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="make test-book has the book")


def test_code_is_edited_in_firefox(firefox):
    """Broken: the first page needs what only Chromium has."""
    firefox.command("WebDriver:Navigate", url=PAGE.as_uri())
    firefox.wait_for("!!document.querySelector('figure.pl-is-live[aria-busy=false]')")
    firefox.value("[...document.querySelectorAll('.CodeMirror-line')].find((line) => line.textContent.includes('__syncthreads')).querySelector('button.pl-cut').click()")
    found = firefox.wait_for("(document.querySelector('.pl-finding') || {}).textContent")
    assert "race in shared memory" in found
    firefox.value("[...document.querySelectorAll('.pl-tools button')].find((tool) => tool.textContent === 'reset').click()")
    firefox.wait_for("!document.querySelector('.pl-finding')")
    firefox.value("document.querySelector('.CodeMirror').CodeMirror.replaceRange('x', {line: 18, ch: 4})")
    assert "is not declared" in firefox.wait_for("(document.querySelector('.pl-problems li') || {}).textContent")
    assert firefox.value("performance.getEntriesByType('resource').map((one) => one.name).filter((name) => !name.startsWith('file:'))") == []
