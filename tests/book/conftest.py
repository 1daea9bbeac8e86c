"""The browsers of all tests of the book: Chromium, and Firefox."""

import shutil

import pytest

from book import firefox as gecko


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not there: make test-book")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("there is no Chromium here")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def firefox():
    if not gecko.PROGRAM:
        pytest.skip("there is no Firefox here")
    with gecko.started() as session:
        yield session
