"""The editor of a lesson's source, from file://: readers type CUDA, and the page compiles it, runs it, and shows errors and findings at their lines."""

import re

import pytest

from scripts.build import film

from tests.book.test_player import READY, axe, choose_size, lesson, opened, pytestmark as needs_player, remove_first_barrier  # noqa: F401 (fixtures)

pytestmark = [*needs_player, pytest.mark.skipif(not (film.EDITOR / "codemirror.js").exists(), reason="make book writes the editor")]
TEXT = "document.querySelector('.CodeMirror').CodeMirror.getValue()"
BARRIER, LOOP_BARRIER = 20, 25  # lines in step 03


def type_at(page, line, keys, *texts):
    """Clicks into a line, presses keys, and types texts, each followed by Enter but the last."""
    page.locator(".CodeMirror-linenumber", has_text=re.compile(f"^{line}$")).locator("xpath=../..").locator(".CodeMirror-line").click(position={"x": 60, "y": 8})
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.insert_text("\n".join(texts))
    page.wait_for_selector(READY)


def replace_in(page, old, new):
    """Replaces a part of the text, as a reader does."""
    page.evaluate("([old, now]) => { const {CodeMirror: code} = document.querySelector('.CodeMirror'); code.setValue(code.getValue().replace(old, now)); }", [old, new])
    page.wait_for_selector(READY)


def verdict(page):
    return page.locator(".pl-verdict").inner_text()


def test_a_typed_change_runs_after_a_pause(opened):
    """Broken: what a reader types has no effect, or only after a click."""
    page = opened()
    type_at(page, 24, ["End", "Backspace"], " * 2;")
    assert verdict(page).startswith("✗ wrong: ") and "expected -2.4375" in verdict(page)
    assert page.locator(".pl-new .CodeMirror-linenumber").all_inner_texts() == ["24"], "the changed line is marked"
    assert "was" in page.locator(".pl-counters").inner_text(), "the counters are compared with the text as written"


def test_ctrl_enter_runs_at_once(opened):
    """Broken: Ctrl-Enter waits, or inserts a line."""
    page = opened()
    page.evaluate("setTimeout = ((wait) => (go, ms) => (ms === 300 ? 0 : wait(go, ms)))(setTimeout)")  # the pause never ends
    page.evaluate("document.querySelector('.CodeMirror').CodeMirror.focus()")
    page.keyboard.insert_text("// mine\n")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(READY)
    assert "right" in verdict(page) and page.evaluate(TEXT).startswith("// mine\n")


def test_errors_are_underlined_and_listed_and_the_figure_is_marked_as_outdated(opened):
    """Broken: a reader with a syntax error loses the figure, takes it for that of the new text, or does not learn what is wrong."""
    page = opened()
    warps, counters = page.locator(".pl-warps").inner_html(), page.locator(".pl-counters").inner_text()
    type_at(page, 18, ["End", "Backspace"], "")
    assert "line 18" in verdict(page) and "';'" in verdict(page)
    assert page.locator(".pl-error").count() >= 1 and page.locator(".pl-message").first.is_visible()
    assert page.locator(".pl-outdated").is_visible()
    assert (page.locator(".pl-warps").inner_html(), page.locator(".pl-counters").inner_text()) == (warps, counters)
    page.locator(".pl-problems button", has_text="line 18").first.click()
    assert page.evaluate("document.querySelector('.CodeMirror').CodeMirror.getCursor().line") == 17
    page.keyboard.press("Control+z")
    page.wait_for_selector(".pl-problems li", state="detached")
    page.wait_for_selector(READY)
    assert "right" in verdict(page) and not page.locator(".pl-outdated").is_visible() and page.locator(".pl-error").count() == 0


def test_only_the_last_of_several_texts_is_shown(opened):
    """Broken: the run of an older text ends later and replaces the result of the newer one."""
    page = opened()
    code = "document.querySelector('.CodeMirror').CodeMirror"
    choose_size(page, 65536)
    page.evaluate(f"{code}.replaceRange('sums[tid] = 1;', {{line: 18, ch: 4}}, {{line: 18}})")
    page.wait_for_timeout(330)  # the first text runs now
    page.evaluate(f"{code}.undo()")
    page.wait_for_selector(READY)
    page.wait_for_timeout(500)
    assert "right" in verdict(page) and page.locator(".pl-new").count() == 5, "as step 03 differs from step 02"


def test_a_removed_barrier_is_an_edit(opened):
    """Broken: the text does not show what the button did, or Ctrl-Z does not undo it."""
    page = opened()
    before = page.evaluate(TEXT)
    remove_first_barrier(page)
    assert page.evaluate(TEXT) == before.replace("    __syncthreads();\n\n    for", "    // __syncthreads();\n\n    for")
    page.get_by_role("button", name="undo").click()
    page.wait_for_selector(".pl-finding", state="detached")
    assert page.evaluate(TEXT) == before
    page.get_by_role("button", name="redo").click()
    page.wait_for_selector(".pl-finding")
    page.get_by_role("button", name="Line 20: restore the barrier").click()
    page.wait_for_selector(".pl-finding", state="detached")
    assert page.evaluate(TEXT) == before


def test_a_try_is_an_edit(opened):
    """Broken: a Try hides what it changes, or the reader cannot go on from it or back."""
    page = opened()
    before = page.evaluate(TEXT)
    page.get_by_role("button", name="Try 3").click()
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)
    assert "if (tid < s)" in page.locator(".pl-gone").inner_text() and page.locator(".pl-new .CodeMirror-linenumber").all_inner_texts() == ["23"]
    type_at(page, 23, ["Home"], "if (tid < s) ")
    assert page.locator(".pl-finding").count() == 0, "the reader has fixed the Try"
    assert not page.locator(".pl-choices [aria-pressed=true]", has_text="Try").count(), "it is no longer the Try"
    page.get_by_role("button", name="as written").click()
    page.wait_for_selector(READY)
    assert page.evaluate(TEXT) == before and page.locator(".pl-gone").count() == 0


def test_a_link_shares_the_text(opened, browser):
    """Broken: a reader opens a link and sees other code, at another n; or the link is longer than mails allow."""
    page = opened()
    choose_size(page, 1000)
    remove_first_barrier(page)
    page.get_by_role("button", name="share").click()
    address = page.get_by_label("link to this text").input_value()
    assert len(address) < 2000 and page.url == address
    other = browser.new_page()
    other.goto(address)
    other.wait_for_selector(".pl-finding")
    other.wait_for_selector(READY)
    assert other.evaluate(TEXT) == page.evaluate(TEXT) and other.get_by_label("n", exact=True).input_value() == "1000"
    other.close()


@pytest.mark.parametrize("end", ["1AAAA", "0bm8", "1", "", "0" + "e30"])
def test_a_damaged_link_shows_the_lesson(opened, end):
    """Broken: a link that lost its end in a mail breaks the page."""
    page = opened()
    page.goto(f"{page.url}#play={end}")
    page.reload()
    page.wait_for_selector(READY)
    assert "right" in verdict(page)


def test_a_link_without_compression(opened):
    """Broken: browsers without CompressionStream cannot share."""
    page = opened()
    page.evaluate("CompressionStream = undefined")
    content = {"program": "step03", "n": 256, "data": "lesson", "text": "// ≤ ∑\n"}
    fragment = page.evaluate("content => Player.fragmentOf(content)", content)
    assert fragment.startswith("#play=0") and page.evaluate("fragment => Player.contentOf(fragment)", fragment) == content


def test_a_reload_keeps_the_text(opened):
    """Broken: a reader loses the work of half an hour; or a reset does not last."""
    page = opened()
    remove_first_barrier(page)
    page.reload()
    page.wait_for_selector(".pl-finding")
    assert "// __syncthreads();" in page.evaluate(TEXT)
    page.get_by_role("button", name="reset").click()
    page.wait_for_selector(".pl-finding", state="detached")
    page.reload()
    page.wait_for_selector(READY)
    assert "// __syncthreads();" not in page.evaluate(TEXT)


def test_mine_beside_the_lesson(opened):
    """Broken: side by side does not show the reader's text and the one as written."""
    page = opened()
    type_at(page, 24, ["End", "Backspace"], " * 2;")
    page.get_by_role("button", name="side by side").click()
    page.wait_for_selector(READY)
    assert page.locator(".pl-which").all_inner_texts() == ["yours", "as written"]
    assert page.locator(".pl-new .CodeMirror-linenumber").all_inner_texts() == page.locator(".pl-was .pl-no").all_inner_texts() == ["24"]


def test_a_read_past_the_input_names_the_element(opened):
    """Broken: a lesson's input has room past n, so that the mistake is only a NaN; or the finding names an address that no reader knows."""
    page = opened()
    choose_size(page, 1000)
    replace_in(page, "i < n ?", "i <= n ?")
    page.wait_for_selector(".pl-finding")
    assert "in[1000]: past the end, size 1000" in page.locator(".pl-finding").inner_text()
    page.get_by_role("button", name="step to the finding").press("Enter")
    page.wait_for_function("document.querySelector('.pl-accesses').textContent")
    assert page.locator(".pl-accesses").inner_text().startswith("in[1000]: ")
    replace_in(page, "sums[tid] = i <= n", "sums[tid + 1] = i < n")
    page.wait_for_function("document.querySelector('.pl-finding').textContent.includes('sums[256]: past the end, size 256')")


def test_what_kernels_print_is_shown(opened):
    """Broken: printf in a lesson prints nothing, or a part of its lines as if it were all."""
    page = opened()
    replace_in(page, "    sums[tid] =", '    printf("%d\\n", tid);\n    sums[tid] =')
    page.wait_for_selector(".pl-printed")
    assert "the first 20 of 256 lines" in page.locator(".pl-output").inner_text()


def test_a_kept_edit_is_announced_and_a_try_is_not_kept(opened):
    """Broken: a reader takes an edit of another day for the lesson, or the lesson begins with a Try."""
    page, notice = opened(), ".pl-restored"
    replace_in(page, "tid < s", "tid <= s")
    page.reload()
    page.wait_for_selector(notice)
    page.locator(notice).get_by_role("button").press("Enter")
    page.wait_for_selector(notice, state="hidden")
    page.get_by_role("button", name="Try 2").press("Enter")
    page.wait_for_selector(READY)
    page.reload()
    page.wait_for_selector(READY)
    assert not page.locator(notice).is_visible() and page.get_by_role("button", name="as written").get_attribute("aria-pressed") == "true"


def test_a_right_edit_offers_another_size(opened):
    """Broken: a program that is right only at this n looks right."""
    page = opened()
    replace_in(page, "i < n ?", "true ?")
    page.get_by_role("button", name="try n = 1,000").first.press("Enter")
    page.wait_for_selector(".pl-finding")


def test_the_keyboard_enters_and_leaves_the_editor(opened):
    """Broken: people without a mouse are caught in the editor, or Tab does not indent."""
    page = opened()
    page.get_by_role("button", name="share").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "the kernel's source"
    before = page.evaluate(TEXT)
    page.keyboard.press("Tab")
    assert page.evaluate(TEXT) == before, "Tab indents only once the reader has typed"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Backspace")
    page.keyboard.press("Tab")
    assert page.evaluate(TEXT) == "    " + before
    page.keyboard.press("Control+End")
    assert page.locator(".pl-voice").inner_text() == f"line {before.count(chr(10)) + 1}: " + (before.split("\n")[-1] or "empty")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") != "the kernel's source"


def test_the_text_is_printed(opened):
    """Broken: paper shows the figure's buttons, and not what the reader wrote."""
    page = opened()
    remove_first_barrier(page)
    page.emulate_media(media="print")
    assert not page.locator(".pl-live").is_visible()
    assert "// __syncthreads();" in page.locator(".pl-print").inner_text() and page.locator(".pl-print").is_visible()


def test_without_the_editor_the_source_can_be_read_and_its_barriers_removed(opened):
    """Broken: a page of make page or of a class, which have no CodeMirror, shows nothing."""
    page = opened()
    page.route("**/codemirror.js", lambda route: route.abort())
    page.reload()
    page.wait_for_selector(READY)
    page.locator(f'button.pl-cut[data-line="{BARRIER}"]').click()
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)
    assert page.locator(".pl-line code", has_text="// __syncthreads();").count() == 1
    assert page.locator(".pl-flagged .pl-no").all_inner_texts() == ["19", "24"]
    page.get_by_role("button", name="reset").click()
    page.wait_for_selector(".pl-finding", state="detached")


@pytest.mark.parametrize("width, scheme", [(1200, "dark"), (390, "light")])
def test_axe_finds_nothing_in_the_editor(opened, width, scheme):
    """Broken: messages, a Try's removed lines or the link cannot be read by everybody; or the page is wider than a phone."""
    page = opened(width, scheme)
    page.get_by_role("button", name="Try 3").click()
    page.wait_for_selector(".pl-gone")
    page.wait_for_selector(READY)
    page.evaluate("(() => { const code = document.querySelector('.CodeMirror').CodeMirror; code.replaceRange('x y', {line: 18, ch: 0}); })()")
    page.wait_for_selector(".pl-problems li")
    page.wait_for_selector(READY)
    page.get_by_role("button", name="share").click()
    page.get_by_label("link to this text").wait_for()
    result = axe.Axe().run(page)
    assert result.violations_count == 0, result.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "no horizontal overflow"
