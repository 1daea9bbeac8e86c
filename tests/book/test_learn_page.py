"""The page of make learn in real browsers, from the disk: it opens once, and changes when the learner's file is saved."""

import os
import pty
import subprocess
import sys
import threading
import time

import pytest

from drywarp.learn import exercise as exercises

from tests.support import ROOT, nvcc

pytest.importorskip("playwright.sync_api", reason="make test-book has Playwright")
TASK = exercises.every()[0]
RIGHT = TASK.text("answer.cu")
WRONG = RIGHT.replace("blockIdx.x * blockDim.x + ", "")  # blocks write the same elements
NEEDED = [ROOT / "build/sim" / name for name in ("libcuda.so.1", "replay")]
PATIENCE_S = 60
pytestmark = pytest.mark.skipif(not all(map(os.path.exists, NEEDED)), reason="make test-book builds the simulator, where there is nvcc")


def drained(terminal):
    try:
        while os.read(terminal, 4096):
            continue
    except OSError:  # it is closed at the other end
        pass


@pytest.fixture
def learner(tmp_path):
    """A folder that make learn watches on a terminal; what opens pages there writes down what it is given."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/xdg-open").write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n')
    (tmp_path / "bin/xdg-open").chmod(0o755)
    terminal, its_end = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "drywarp.learn.learn", "--folder", tmp_path / "learn", "--nvcc", nvcc()], cwd=ROOT, start_new_session=True,
                               stdin=its_end, stdout=its_end, stderr=its_end, env=os.environ | {"DISPLAY": ":0", "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
    os.close(its_end)
    reader = threading.Thread(target=drained, args=[terminal])
    reader.start()
    try:
        until = time.monotonic() + PATIENCE_S
        while not (tmp_path / "opened").exists():
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.1)
        yield tmp_path / "learn"
        assert (tmp_path / "opened").read_text() == (tmp_path / "learn/page.html").as_uri() + "\n"
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        reader.join()
        os.close(terminal)


def save(learner, text):
    (learner / f"{TASK.name}.cu").write_text(text)


def test_a_save_changes_the_open_page(browser, learner):
    """Broken: the page opens twice or not, an open one stays as it was, reloads without news, scrolls to its top, or shows uninitialised memory as NaN."""
    page = browser.new_page(viewport={"width": 1200, "height": 600})
    broken = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.goto((learner / "page.html").as_uri())
    assert page.locator("h1").inner_text().endswith(TASK.title) and not page.locator("figure").count()
    save(learner, WRONG)
    page.wait_for_selector(".pl-finding", timeout=1000 * PATIENCE_S)
    assert "wrong at n = " in page.locator("pre").first.inner_text() and "race in global memory" in page.locator(".pl-finding").inner_text()
    assert page.locator(".pl-verdict").inner_text().startswith("✗ wrong: element 256 is an uninitialised value, expected ")
    page.evaluate("scrollTo(0, 100); window.isOld = true")
    page.wait_for_timeout(2500)
    assert page.evaluate("window.isOld")
    save(learner, RIGHT)
    page.wait_for_selector("text=01 done", timeout=1000 * PATIENCE_S)
    page.wait_for_selector("figure.pl-is-live[aria-busy=false]")
    assert page.evaluate("[window.isOld, scrollY]") == [None, 100] and page.locator("h1").inner_text().startswith("02 ") and not broken
    page.close()


def test_a_save_changes_the_page_in_firefox(firefox, learner):
    """Broken: it reloads itself in a way that only Chromium knows."""
    firefox.command("WebDriver:Navigate", url=(learner / "page.html").as_uri())
    save(learner, WRONG)
    assert "race in global memory" in firefox.wait_for("(document.querySelector('.pl-finding') || {}).textContent")
