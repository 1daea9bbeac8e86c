"""The player in a real browser: a page from file:// plays a run, a barrier is left out and put back, keys move through time."""

import json
import re
import shutil
from pathlib import Path

import pytest

from scripts.build import film, page as own_page

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing; book/requirements.txt names it")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing; book/requirements.txt names it")

PLAYER = Path(__file__).resolve().parent.parent.parent / "book/player"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FIRST_BARRIER = 20  # its line in step 03
READY = film.READY

# How far what is seen has moved, as browsers reckon it (layout shift), since the page began.
WATCH_SHIFTS = "moved = 0; new PerformanceObserver((list) => list.getEntries().forEach(({value}) => (moved += value))).observe({type: 'layout-shift', buffered: true})"

pytestmark = [pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here"),
              pytest.mark.skipif(not (PLAYER / "simulator.js").exists(), reason="book/player/simulator.js is missing; make stage writes it"),
              pytest.mark.skipif(not (PLAYER / "programs/step03.js").exists(), reason="book/player/programs is missing; make recordings writes it")]


@pytest.fixture
def lesson(tmp_path):
    """Writes a page with one player, as the book's pages have it: lesson(program, before) is where it lies."""
    return lambda program, before: film.lesson_page(tmp_path / "lesson.html", program, before)


@pytest.fixture
def opened(browser, lesson):
    """Opens a lesson, step 03 beside step 02: opened(width=..., scheme=...) returns the page, when the first run is on the player."""
    pages = []

    def open_page(width=1200, scheme="light", program="step03", before="step02"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.asked, page.broken = [], []
        page.add_init_script(WATCH_SHIFTS)
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.broken.append(str(error)))
        page.goto(lesson(program, before))
        page.wait_for_selector(READY)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        assert not page.broken
        page.close()


def leave_out_first_barrier(page, line=FIRST_BARRIER):
    page.locator(f'button.pl-cut[data-line="{line}"]').press("Enter")
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)


def moment(page):
    return int(page.locator(".pl-track").get_attribute("aria-valuenow"))


def test_a_barrier_is_left_out_and_the_race_is_shown_then_mended(opened):
    """With the keyboard alone; and nothing is asked of any server."""
    page = opened()
    assert "right" in page.locator(".pl-verdict").inner_text()
    assert page.locator(".pl-finding").count() == 0
    leave_out_first_barrier(page)
    found = page.locator(".pl-finding").first.inner_text()
    assert "race in shared memory" in found and "line 19" in found and "line 24" in found
    numbers = page.locator(".pl-accused .pl-no").all_inner_texts()
    assert numbers == ["19", "24"]
    remark = page.locator(".pl-remark")
    assert "thread 128 writes 4 bytes (line 19), thread 0 reads 4 bytes (line 24)" in remark.inner_text()
    for seen in (remark, page.locator(".pl-verdict")):
        box = seen.bounding_box()
        assert 0 <= box["y"] and box["y"] + box["height"] <= 900, "what it came to can be read where the reader clicked"
    assert page.locator(".pl-lanes i.pl-bad").count() == 2, "the two lanes that met"
    assert page.locator(".pl-words i.pl-met").count() == 1, "the word at which they met"
    assert "race" in page.locator(".pl-said").inner_text() or "order" in page.locator(".pl-said").inner_text()
    page.get_by_role("button", name="mend all").press("Enter")
    page.wait_for_selector(".pl-finding", state="detached")
    page.wait_for_selector(READY)
    assert page.locator(".pl-accused").count() == 0 and page.locator(".pl-lanes i.pl-bad").count() == 0
    assert [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_a_run_that_was_not_compared_is_not_called_right(opened):
    """Broken: after a launch that failed, before anything was read, the page says "right this time"."""
    page = opened()
    page.get_by_label("n", exact=True).select_option("1000")
    page.wait_for_selector(READY)
    leave_out_first_barrier(page, 19)  # which is the test i < n
    assert page.locator(".pl-verdict").inner_text() == "✗ 1 finding"


def test_a_race_in_a_templates_kernel_is_marked(opened):
    """Step 10's kernel is a template, and a value that nobody wrote is told before the race."""
    page = opened(program="step10", before="")
    line = page.locator("button.pl-cut", has_text="__syncthreads").first.get_attribute("data-line")
    leave_out_first_barrier(page, line)
    assert "race in shared memory" in page.locator(".pl-finding").first.inner_text()
    assert page.locator(".pl-lanes i.pl-bad").count() == 2


def test_the_race_between_warps_is_shown_first(opened):
    """Scan 01 without its second barrier has one within a warp, too, which the checker names first."""
    page = opened(program="scan01", before="")
    leave_out_first_barrier(page, 26)
    first, second = page.locator(".pl-finding").first.locator("li").all_inner_texts()
    assert "thread 511" in first and "thread 192" in second


def test_a_page_asks_for_as_many_rows_as_it_shows(opened):
    """Warps of scan 13 that spin at a barrier would make 60 MB of rows, and a reader wait for them."""
    page = opened(program="scan13", before="")
    rows = page.evaluate("Simulator.run(playerPrograms.scan13, {n: 65536, rows: 500}).then(({trace}) => trace.trim().split('\\n').length)")
    assert rows == 1 + 500
    page.get_by_label("n", exact=True).select_option("65536")
    page.wait_for_selector(READY)
    assert page.locator(".pl-time .pl-where").inner_text().startswith("moment") and "of the first" in page.locator(".pl-time .pl-where").inner_text()


def test_keys_move_through_time(opened):
    page = opened()
    slider, last = page.locator(".pl-track"), int(page.locator(".pl-track").get_attribute("aria-valuemax"))
    slider.focus()
    seen = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "PageDown", "PageUp", "End"):
        page.keyboard.press(key)
        seen.append(moment(page))
    assert seen[:4] == [0, 1, 2, 1]
    assert seen[4] > 2, "Page Down goes to where the first barrier opens"
    assert seen[5:] == [0, last]
    assert page.locator(".pl-warp").first.inner_text().endswith("done") or page.locator(".pl-lit").count() == 1


@pytest.mark.parametrize("program", ["step03", "scan13"])
def test_picture_counts_what_the_simulator_counts(opened, program):
    """There is one block: what the moments add up to is what the counters of the run say. Scan 13 has bulk copies."""
    page = opened(program=program, before="")
    page.get_by_label("n", exact=True).select_option("256")
    page.wait_for_selector(READY)
    page.locator(".pl-track").press("End")
    cells = page.locator(".pl-counters > div")
    for cell in cells.all_inner_texts():
        now, _, rest = cell.split("\n")[1].partition(" of ")
        assert now == rest and f"all blocks {now}" in cell, cell
    assert cells.count() >= 8


def test_a_bounds_test_is_missed_only_where_threads_have_no_element(opened):
    page = opened()
    page.locator('button.pl-cut[data-line="19"]').press("Enter")
    again = page.locator(".pl-remark").get_by_role("button", name="try n = 1,000")
    again.wait_for()
    page.wait_for_selector(READY)
    assert page.locator(".pl-verdict").inner_text() == "✓ right at n = 256"
    again.press("Enter")
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)
    assert page.locator(".pl-remark").inner_text().startswith("✗ out of bounds: thread 8")


def test_another_script_chooses_a_try(opened):
    """Try 3 of step 14 changes a line far above the kernel, where the source is shown first."""
    page = opened(program="step14", before="")
    page.evaluate("Player.choose(document.querySelector('figure.player'), {try: 3, n: 1000})")
    page.wait_for_selector(READY)
    assert page.get_by_role("button", name="Try 3").get_attribute("aria-pressed") == "true"
    assert page.get_by_label("n", exact=True).input_value() == "1000"
    assert page.evaluate("""() => {
        const [line, pane] = [".pl-gone", ".pl-source"].map((name) => document.querySelector(name).getBoundingClientRect());
        return line.top >= pane.top && line.bottom <= pane.bottom;
    }"""), "the Try's first changed line can be seen"
    assert page.locator(".pl-remark").inner_text().strip()


def test_a_trys_finding_is_shown_where_it_happened(opened):
    """Broken: two lanes are marked, and the picture shows another moment, in which they did nothing wrong."""
    page = opened(program="step05", before="")
    page.get_by_role("button", name="Try 1").click()
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)
    assert page.locator(".pl-warp:has(i.pl-bad) .pl-status").inner_text().startswith("21"), "the line of the second place"


def test_what_was_clicked_stays_in_view_on_a_phone(opened):
    """Broken: in a small pane the line that is gone, or one of the two that race, is scrolled away."""
    page = opened(width=390)
    leave_out_first_barrier(page)
    pane = page.locator(".pl-source").bounding_box()
    for row in [page.locator(".pl-cut[aria-pressed=true]"), *page.locator(".pl-accused").all()]:
        box = row.bounding_box()
        assert pane["y"] <= box["y"] and box["y"] + box["height"] <= pane["y"] + pane["height"]


# Workers that fail at each run, or only at the one in which the blocks take turns.
FAILING_WORKER = """window.Worker = class extends Worker {
    postMessage(message) {
        if (message.job && (%s))
            this.onmessage({data: {number: message.number, error: "no memory"}});
        else
            super.postMessage(message);
    }
}"""


def failed(browser, address, when):
    page, broken = browser.new_page(), []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.add_init_script(FAILING_WORKER % when)
    page.goto(address)
    said = page.locator(".pl-failed").inner_text()
    assert not broken
    return page, said


def test_where_nothing_can_be_run_the_still_picture_stays(browser, lesson):
    """Broken: an empty player takes the picture's place, and nobody is told why."""
    page, said = failed(browser, lesson("step03", ""), "true")
    assert said == "The player cannot be shown: no memory"
    assert page.locator("figure.pl-is-live").count() == 0 and not page.locator(".pl-live").is_visible()
    page.close()


def test_where_the_tiles_cannot_be_shown_the_rest_can(browser, lesson):
    """Broken: the look-back's run fails, its place stays empty, and nobody is told why."""
    page, said = failed(browser, lesson("scan08", ""), "message.job.settings.SIM_TOGETHER")
    assert said == "The tiles cannot be shown: no memory" and "right" in page.locator(".pl-verdict").inner_text()
    page.close()


def test_two_steps_stand_side_by_side(opened):
    """Step 03 and step 02: one time line moves both, what differs is marked in both, and the counters tick beside each other."""
    page = opened()
    page.get_by_role("button", name="side by side").press("Enter")
    assert page.locator(".pl-new .pl-no").all_inner_texts() == page.locator(".pl-was .pl-no").all_inner_texts() == ["1", "2", "7", "22", "23"]
    page.locator(".pl-track").press("Home")
    begin = page.locator(".pl-status").all_inner_texts()
    page.locator(".pl-track").press("PageDown")
    assert len(begin) == 16 and not set(begin) & set(page.locator(".pl-status").all_inner_texts()), "all warps of both moved on"
    page.locator(".pl-track").press("End")
    assert {"done"} == set(page.locator(".pl-status").all_inner_texts()[1:8]), "step 03 ended long before"
    for cell in page.locator(".pl-counters > div").all_inner_texts():
        own, other = [line.split() for line in cell.split("\n")[1:3]]
        assert own[:2] == ["step", "03"] and other[:2] == ["step", "02"] and own[2] == own[4] and other[2] == other[4], cell
    page.locator(".pl-warps").nth(1).press("ArrowRight")
    first, second = page.locator(".pl-about").all_inner_texts()
    assert first.startswith("thread 0: done") and "-2.4375" in first and "-2.4375" in second, "both have the same sum"


def test_a_try_stands_beside_the_lesson(opened):
    page = opened(380)
    page.get_by_role("button", name="Try 1").click()
    page.wait_for_selector(READY)
    page.get_by_role("button", name="side by side").click()
    assert page.locator(".pl-which").all_inner_texts() == ["Try 1", "as written"]
    assert page.locator(".pl-new").count() > 0 and page.locator(".pl-was").count() > 0 and page.locator(".pl-gone").count() == 0
    above, below = [page.locator(".pl-warps").nth(k).bounding_box() for k in (0, 1)]
    assert above["y"] + above["height"] <= below["y"] and above["x"] == below["x"]


def test_a_lane_says_what_it_holds(opened):
    """After the last addition thread 0 holds the block's sum, and stores it."""
    page = opened()
    page.locator(".pl-track").press("End")
    lanes = page.locator(".pl-warps")
    lanes.press("ArrowRight")
    sum_of_block = page.locator(".pl-about").inner_text()
    assert sum_of_block.startswith("thread 0") and "its last float: -2.4375" in sum_of_block, "what step 03 gives at n = 256"
    lanes.press("ArrowDown")
    assert page.locator(".pl-about").inner_text().startswith("thread 32")


def test_look_back_ends_with_prefixes(opened):
    """The scan's blocks: in the end every tile has told its prefix, some have looked back, and the sums that they told fit together."""
    page = opened(program="scan08", before="")
    page.wait_for_selector(".pl-tiles svg")
    end = page.get_by_label("time of the look-back")
    looked = 0
    for key in ("Home", *["ArrowRight"] * int(end.get_attribute("max"))):
        end.press(key)
        looked += "looks back" in page.locator(".pl-look .pl-where").inner_text()
    tiles = page.locator(".pl-tiles rect").count()
    assert tiles == 8 and looked >= tiles - 1
    assert page.locator(".pl-tiles rect.pl-holds-2").count() == tiles
    total, before = None, 0.0
    for tile in page.locator(".pl-tiles g[role=img]").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))"):
        sums = [float(number.replace("−", "-")) for number in re.findall(r"(?:a total|a prefix), (−?[\d.]+)", tile)]
        total, prefix = sums[0], sums[-1]
        assert prefix == pytest.approx(before + total, abs=2), tile
        before = prefix
    assert page.locator(".pl-sum").last.text_content().replace("−", "-") == f"{before:g}"


def test_the_tile_that_acts_can_be_seen_on_a_phone(opened):
    page = opened(390, program="scan08", before="")
    page.wait_for_selector(".pl-tiles svg")
    place, time = page.locator(".pl-tiles").bounding_box(), page.get_by_label("time of the look-back")
    for key in (None, "Home"):
        if key:
            time.press(key)
        tile = page.locator(".pl-acting").bounding_box()
        assert place["x"] <= tile["x"] and tile["x"] + tile["width"] <= place["x"] + place["width"], key


@pytest.mark.parametrize("program, holds", [("scan07", "a prefix"), ("scan09", "a total")])
def test_tiles_that_tell_once_tell_what_the_next_ones_need(opened, program, holds):
    """Scan 07 looks at the prefix of one tile; later ones add up the totals of all tiles before."""
    page = opened(program=program, before="")
    page.wait_for_selector(".pl-tiles svg")
    page.get_by_label("time of the look-back").press("End")
    tiles = page.locator(".pl-tiles g[role=img]").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    assert len(tiles) == 8 and all(f"has told {holds}, " in tile for tile in tiles)


def test_every_choice_runs(opened):
    """Each size, another block, another order and each Try: the verdict is one of a run that ended."""
    page = opened()
    size, order = page.get_by_label("n", exact=True), page.get_by_label("order")
    for value in size.locator("option").evaluate_all("all => all.map(one => one.value)"):
        size.select_option(value)
        page.wait_for_selector(READY)
        assert "right" in page.locator(".pl-verdict").inner_text(), value
    page.get_by_label("block", exact=True).fill("999")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=no block 999: 0–255")
    page.get_by_label("block", exact=True).fill("-1")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=no block -1: they begin at 0")
    page.get_by_label("block", exact=True).fill("1")
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)
    assert page.locator(".pl-heading").first.inner_text().startswith("Warps of block 1")
    order.select_option("7")
    page.wait_for_selector(READY)
    assert "right" in page.locator(".pl-verdict").inner_text()
    size.select_option("256")
    page.wait_for_selector(READY)
    assert page.locator(".pl-heading").first.inner_text().startswith("Warps of block 0"), "there is no block 1 now"
    page.get_by_role("button", name="Try 3").click()
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)
    assert page.locator(".pl-gone").count() > 0, "the Try's diff"


# Holds every run of the simulator until the page is told `letOne()` or `letAll()`; `held` is how many wait (one at a time),
# `ended` how many there were.
HOLD_RUNS = """() => {
    const {run} = Simulator, doors = [];
    let isOpen = false;
    held = ended = 0;
    letOne = () => doors.shift()();
    letAll = () => { isOpen = true; doors.forEach((open) => open()); };
    Simulator.run = async (...all) => {
        if (!isOpen) {
            held++;
            await new Promise((open) => doors.push(open));
            held--;
        }
        return run(...all).finally(() => ended++);
    };
}"""


def test_an_earlier_run_that_ends_does_not_say_that_the_later_one_has(opened):
    """Another block is chosen while the step before still runs for the size: what is shown when the player is ready is that block."""
    page = opened()
    page.evaluate(HOLD_RUNS)
    page.get_by_label("n", exact=True).select_option("65536")
    page.wait_for_function("held === 1")
    page.evaluate("letOne()")  # the step itself; the step before waits now
    page.wait_for_function("held === 1")
    page.get_by_label("block", exact=True).fill("1")
    page.keyboard.press("Enter")
    page.evaluate("letOne()")
    page.wait_for_function("held === 1")  # the new block's run
    assert page.locator("figure.player").get_attribute("aria-busy") == "true"
    page.evaluate("letAll()")
    page.wait_for_selector(READY)
    assert page.locator(".pl-heading").first.inner_text().startswith("Warps of block 1")


def test_a_run_that_ends_when_another_is_on_the_stage_changes_nothing(opened):
    """The size that was there before, whose run is kept, is chosen again while another size runs."""
    page = opened()
    size, time = page.get_by_label("n", exact=True), page.locator(".pl-track")
    before, length = size.input_value(), time.get_attribute("aria-valuemax")
    page.evaluate(HOLD_RUNS)
    size.select_option("65536")
    page.wait_for_function("held === 1")
    size.select_option(before)
    page.wait_for_selector(READY)
    page.evaluate("letAll()")
    page.wait_for_function("ended === 1")
    time.press("End")
    assert moment(page) == int(length)


def test_a_block_that_is_awaited_is_neither_named_nor_forgotten(opened):
    """Broken: the picture of one block has another one's number; or who goes back to a size while another block is looked for there loses his block."""
    page = opened()
    heading, size, block = page.locator(".pl-heading").first, page.get_by_label("n", exact=True), page.get_by_label("block", exact=True)
    size.select_option("65536")
    page.get_by_label("order", exact=True).select_option("7")
    block.fill("200")
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)
    page.evaluate(HOLD_RUNS)
    block.fill("1")
    page.keyboard.press("Enter")
    page.wait_for_function("held === 1")
    page.locator(".pl-track").press("End")
    assert heading.inner_text().startswith("Warps of block 200")
    block.fill("200")
    page.keyboard.press("Enter")
    size.select_option("256")
    page.evaluate("letOne()")
    page.wait_for_function("held === 1")  # block 200's run, which there is none of
    page.evaluate("letOne()")
    page.wait_for_function("ended === 2 && held === 1")  # that of block 0, which is to tell how many there are
    size.select_option("65536")
    page.wait_for_selector(READY)
    assert heading.inner_text().startswith("Warps of block 200")
    page.evaluate("letAll()")


@pytest.mark.parametrize("chosen_at", ["during the run", "after it"])
def test_a_number_may_be_typed_while_a_run_goes_on(opened, chosen_at):
    """And a block that only the run's size has may be chosen."""
    page = opened()
    page.evaluate(HOLD_RUNS)
    page.get_by_label("n", exact=True).select_option("65536")
    page.wait_for_function("held === 1")
    page.get_by_label("block", exact=True).fill("7")
    if chosen_at == "during the run":
        page.keyboard.press("Enter")
    page.evaluate("letAll()")
    page.wait_for_selector(READY)
    assert "of 0–255" in page.locator(".pl-choices").inner_text(), "what there is, also while a number is being typed"
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)
    assert page.locator(".pl-heading").first.inner_text().startswith("Warps of block 7")


def test_a_click_that_ends_the_typing_of_a_number_is_not_lost(opened):
    """The number is chosen when the mouse goes down on a button; that is still there when it comes up, though the block's run has ended."""
    page = opened()
    page.get_by_label("n", exact=True).select_option("65536")
    page.wait_for_selector(READY)
    page.get_by_label("block", exact=True).fill("7")
    page.get_by_role("button", name="Try 3").hover()
    page.mouse.down()
    page.wait_for_selector("text=Warps of block 7")
    page.wait_for_selector(READY)
    page.mouse.up()
    page.wait_for_selector(".pl-gone")


def test_a_click_while_another_run_ends_is_not_lost(opened):
    """The mouse goes down on a Try while another's run goes on, and comes up behind it."""
    page = opened()
    page.evaluate(HOLD_RUNS)
    page.get_by_role("button", name="Try 1").click()
    page.wait_for_function("held === 1")
    page.get_by_role("button", name="Try 2").hover()
    page.mouse.down()
    page.evaluate("letAll()")
    page.wait_for_selector(READY)
    page.mouse.up()
    page.wait_for_selector(READY)
    assert page.get_by_role("button", name="Try 2").get_attribute("aria-pressed") == "true"


def test_a_run_without_a_moment_is_told_and_nothing_breaks(opened):
    """Step 14's kernel for one block, in which a barrier is left out, with a finding; then one of a kernel that does not run at this n. Played meanwhile."""
    page = opened(program="step14", before="")
    page.get_by_label("n", exact=True).select_option("256")
    page.wait_for_selector(READY)
    leave_out_first_barrier(page, 110)
    page.get_by_role("button", name="play (space)").click()
    page.locator('button.pl-cut[data-line="172"]').press("Enter")
    page.wait_for_selector("text=line 172 is not run at this n")
    page.wait_for_selector(READY)
    assert page.locator(".pl-finding").count() == 0 and "no block" not in page.locator(".pl-choices").inner_text()
    assert page.get_by_role("button", name="play (space)").is_visible(), "nothing is played any more"


def test_the_keyboard_stays_where_it_was(opened):
    """A part that comes or goes in the bar moves nobody to another button; and who mends all is put where the lines are."""
    page = opened(program="step00", before="")
    page.get_by_role("button", name="Try 1").press("Enter")
    page.wait_for_selector(".pl-gone")
    page.wait_for_selector(READY)
    assert page.evaluate("document.activeElement.textContent") == "Try 1"
    page.close()
    page = opened()
    leave_out_first_barrier(page)
    page.get_by_role("button", name="mend").press("Enter")
    page.wait_for_selector(READY)
    assert page.evaluate("document.activeElement.className") == "pl-source"


def test_tiles_of_another_program_do_not_come_late(opened):
    """The look-back of scan 07 ends when scan 06, which has none, is on the player again."""
    page = opened(program="scan06", before="scan07")
    page.evaluate(HOLD_RUNS)
    page.get_by_role("button", name="scan 07").click()
    page.wait_for_function("held === 1")  # all its tiles; its block's run is kept from when it stood beside
    page.get_by_role("button", name="scan 06").click()
    page.wait_for_selector(READY)
    page.evaluate("letAll()")
    page.wait_for_function("ended === 1")
    assert not page.locator(".pl-look").is_visible()


@pytest.mark.parametrize("width", [1200, 380])
def test_nothing_moves_while_runs_come_and_go(opened, width):
    """Who reads loses the line when what stands above it grows: at the first run, at another size, and where a launch needs more room."""
    page = opened(width, program="step06", before="step05")
    page.get_by_label("n", exact=True).select_option("1000")
    page.wait_for_selector(READY)
    page.get_by_label("n", exact=True).select_option("65536")
    page.wait_for_selector(READY)
    for key in ("Home", "End"):
        page.locator(".pl-track").press(key)
        page.wait_for_timeout(100)
    assert page.evaluate("moved") < 0.02


def test_a_page_of_ones_own_holds_all_it_needs(browser, tmp_path):
    """What make page writes: one file, which asks for nothing beside itself, and finds the race that was left in it."""
    script = (PLAYER / "programs/step03.js").read_text(encoding="utf-8")
    program = json.loads(script[script.index("] = ") + 4:script.rindex(";")])
    file = tmp_path / "own.html"
    text = own_page.page_of(program | {"isOwn": True, "sizes": [256], "tries": []})
    file.write_text(text, encoding="utf-8")
    assert len(text.encode()) < 2e6
    page, asked = browser.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector(READY)
    assert "no findings" in page.locator(".pl-verdict").inner_text()
    leave_out_first_barrier(page)
    assert "race in shared memory" in page.locator(".pl-finding").first.inner_text()
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [file.as_uri()]
    page.close()


def test_a_program_that_launches_nothing_is_refused(tmp_path):
    with pytest.raises(SystemExit) as ended:
        own_page.page_program(b"recording 1\n", Path("any.cu"), [], tmp_path)
    assert str(ended.value).endswith(": any.cu launches no kernel with these arguments, so there is nothing to show")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 380])
def test_axe_finds_nothing(opened, scheme, width):
    page = opened(width, scheme)
    leave_out_first_barrier(page)
    page.get_by_role("button", name="side by side").click()
    result = axe.Axe().run(page)
    assert result.violations_count == 0, result.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out"
