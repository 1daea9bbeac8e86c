"""CUDA in ten minutes, in a browser: each program runs in its editor, and a change gets its verdict."""

import pytest

from scripts.build import film
from scripts.ladder import ten_minutes

from tests.book.test_player import READY, pytestmark  # noqa: F401 (skipped without the player)

RESULTS = {"ten01": "8: 0, 10, 20, 30, 40, 50, 60, 70", "ten02": "32: " + ", ".join(str(2 * i) for i in range(32)), "ten03": "20: " + ", ".join(str(2 * i) for i in range(20)),
           "ten04": "64: 100, 101, 102, 103, …", "ten05": "64: 63, 62, 61, 60, …", "ten06": "1,000: 499500, 0, 0, 0, …"}


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page with one program: opened(program) returns it after the first run, or when it waits for the reader."""
    pages = []

    def open_page(program, waits=False):
        page, path = browser.new_page(), tmp_path / f"{program}.html"
        pages.append(page)
        address = film.lesson_page(path, program, "")
        if waits:
            path.write_text(path.read_text(encoding="utf-8").replace("<figure ", "<figure data-wait "), encoding="utf-8")
        page.goto(address)
        page.wait_for_selector(READY)
        return page

    yield open_page
    for page in pages:
        page.close()


@pytest.mark.parametrize("program", RESULTS)
def test_a_program_shows_its_first_values(opened, program):
    """Broken: an editor of the first chapter does not run, or shows an array as a sum."""
    assert opened(program).locator(".pl-verdict").inner_text() == f"✓ right at n = {RESULTS[program]}, no findings"


def test_a_change_is_judged(opened):
    """Broken: the page does not say which element is wrong."""
    page, text = opened("ten01"), ten_minutes.lesson(ten_minutes.programs()[0])
    page.locator(".CodeMirror").evaluate("(box, text) => box.CodeMirror.setValue(text)", text.replace("<<<1, n>>>", "<<<1, 4>>>"))
    page.wait_for_function("() => document.querySelector('.pl-verdict').textContent.startsWith('✗')")
    assert page.locator(".pl-verdict").inner_text() == "✗ wrong: element 4 is 0, expected 40"


WAITING = "figure.pl-is-waiting"
OF_A_RUN = ".pl-machine", ".pl-time", ".pl-counters", ".pl-findings", ".pl-choices"


def press_run(page):
    page.get_by_role("button", name="Run", exact=True).press("Enter")


def press_in_editor(page):
    page.evaluate("document.querySelector('.CodeMirror').CodeMirror.focus()")
    page.keyboard.press("Control+Enter")


def edit(page):
    page.evaluate("document.querySelector('.CodeMirror').CodeMirror.focus()")
    page.keyboard.insert_text("// mine\n")


@pytest.mark.parametrize("begin", [press_run, press_in_editor, edit])
def test_a_figure_waits_for_the_answer_to_its_question(opened, begin):
    """Broken: the figure gives the answer away before the reader has run the program, or cannot be run by keyboard."""
    page, values = opened("ten01", waits=True), RESULTS["ten01"]
    assert "tens<<<1, n>>>(out);" in page.locator(".CodeMirror").inner_text()
    assert not any(page.locator(part).is_visible() for part in OF_A_RUN)
    assert "10, 20" not in page.locator("body").text_content() and not page.evaluate("'Simulator' in window")
    begin(page)
    page.wait_for_selector(WAITING, state="detached")
    page.wait_for_selector(READY)
    assert page.locator(".pl-verdict").inner_text() == f"✓ right at n = {values}, no findings" and page.locator(".pl-time").is_visible()
    assert page.locator(".pl-said").inner_text() == page.locator(".pl-verdict").inner_text(), "a screen reader reads the result"
    assert page.get_by_role("button", name="Run", exact=True).count() == 0 and page.evaluate("document.activeElement !== document.body")


def test_an_error_in_a_waiting_figure(opened):
    """Broken: a reader whose first edit does not compile sees an empty figure, or no message."""
    page = opened("ten01", waits=True)
    page.evaluate("document.querySelector('.CodeMirror').CodeMirror.setValue('__global__ void tens(float *out) { x; }')")
    page.wait_for_function("() => document.querySelector('.pl-verdict').textContent.startsWith('✗')")
    assert page.locator(WAITING).count() == 1 and page.locator(".pl-problems li").count() >= 1


def test_a_text_that_the_browser_has_kept_waits_too(opened):
    """Broken: a reload runs the program, and gives the answer away."""
    page = opened("ten01", waits=True)
    edit(page)
    page.wait_for_selector(WAITING, state="detached")
    page.wait_for_selector(READY)
    page.reload()
    page.wait_for_selector(WAITING)
    page.wait_for_function("() => document.querySelector('.CodeMirror').CodeMirror.getValue().startsWith('// mine')")
    assert page.locator(".pl-verdict").text_content() == "" and not page.locator(".pl-time").is_visible()
