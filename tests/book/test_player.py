"""The player in a browser: a page from file:// plays a run, a barrier is removed and restored, keys move along the time line."""

import json
import re
import shutil
from pathlib import Path

import pytest

from drywarp import page as own_page
from scripts.build import film

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing; book/requirements.txt names it")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing; book/requirements.txt names it")

PLAYER = Path(__file__).resolve().parent.parent.parent / "book/player"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FIRST_BARRIER = 20  # its line in step 03
READY = film.READY

# The layout shift since the page was loaded, as browsers define it.
WATCH_SHIFTS = "moved = 0; new PerformanceObserver((list) => list.getEntries().forEach(({value}) => (moved += value))).observe({type: 'layout-shift', buffered: true})"

pytestmark = [pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here"),
              pytest.mark.skipif(not (PLAYER / "simulator.js").exists(), reason="book/player/simulator.js is missing; make stage writes it"),
              pytest.mark.skipif(not (PLAYER / "programs/step03.js").exists(), reason="book/player/programs is missing; make recordings writes it")]


@pytest.fixture
def lesson(tmp_path):
    """Writes a page with one player, as in the book: lesson(program, before) returns its address."""
    return lambda program, before: film.lesson_page(tmp_path / "lesson.html", program, before)


@pytest.fixture
def opened(browser, lesson):
    """Opens a lesson, step 03 beside step 02: opened(width=..., scheme=...) returns the page after the first run."""
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


def remove_first_barrier(page, line=FIRST_BARRIER):
    page.locator(f'button.pl-cut[data-line="{line}"]').press("Enter")
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)


def choose_size(page, n):
    field = page.get_by_label("n", exact=True)
    field.fill(str(n))
    field.press("Enter")


def step(page):
    return int(page.locator(".pl-track").get_attribute("aria-valuenow"))


def test_a_barrier_is_removed_and_the_race_is_shown_then_fixed(opened):
    """With the keyboard alone, and without requests to a server."""
    page = opened()
    assert "right" in page.locator(".pl-verdict").inner_text()
    assert page.locator(".pl-finding").count() == 0
    remove_first_barrier(page)
    found = page.locator(".pl-finding").first.inner_text()
    assert "data race in shared memory" in found and "line 19" in found and "line 24" in found
    numbers = page.locator(".pl-flagged .CodeMirror-linenumber").all_inner_texts()
    assert numbers == ["19", "24"]
    remark = page.locator(".pl-remark")
    assert "thread 128 writes 4 bytes (line 19), thread 0 reads 4 bytes (line 24)" in remark.inner_text()
    for seen in (remark, page.locator(".pl-verdict")):
        box = seen.bounding_box()
        assert 0 <= box["y"] and box["y"] + box["height"] <= 900, "the verdict is visible where the reader clicked"
    assert page.locator(".pl-lanes i.pl-bad").count() == 2, "the two lanes of the race"
    assert page.locator(".pl-words i.pl-met").count() == 1, "the word that both access"
    assert "race" in page.locator(".pl-said").inner_text() or "order" in page.locator(".pl-said").inner_text()
    page.get_by_role("button", name="reset").press("Enter")
    page.wait_for_selector(".pl-finding", state="detached")
    page.wait_for_selector(READY)
    assert page.locator(".pl-flagged").count() == 0 and page.locator(".pl-lanes i.pl-bad").count() == 0
    assert [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))] == []


def status_of(page, warp):
    return page.locator(".pl-warps .pl-status").nth(warp).inner_text().split()


def word(page, number):
    return page.locator(f'.pl-banks i[data-piece="{number}"]')


def test_a_race_is_drawn_in_executed_order(opened):
    """Broken: the figure shows that warp 4 has stored word 128 when thread 0 loads it, next to a NaN; or a run without findings has lost its
    barriers' alignment."""
    page = opened()
    assert "aligned at barriers" in page.locator(".pl-order").inner_text() and len({*page.locator(".pl-warps .pl-status").all_inner_texts()}) == 2
    remove_first_barrier(page)
    assert "as executed" in page.locator(".pl-order").inner_text()
    page.locator(".pl-finding").first.get_by_role("button", name="line 24").click()
    assert status_of(page, 0) == ["24", "ld.shared"]
    assert [status_of(page, warp) for warp in range(1, 8)] == 7 * [["ready"]], "no other warp has begun"
    assert word(page, 128).get_attribute("data-value") == "uninit." and "pl-nan" in word(page, 128).get_attribute("class")
    assert re.search(r"in line 19, in \d+ steps$", page.locator(".pl-accesses").inner_text())


def test_a_button_steps_to_the_race(opened):
    """Broken: the time line does not reach the later one of two racing accesses, or the figure does not mark both."""
    page = opened()
    remove_first_barrier(page)
    page.locator(".pl-track").press("Home")
    page.get_by_role("button", name="step to the race").press("Enter")
    assert status_of(page, 4) == ["19", "st.shared"] and status_of(page, 0) == ["25", "waits"]
    assert page.locator(".pl-warps i.pl-bad").count() == 2 and page.locator(".pl-flagged").count() == 2
    assert "pl-met" in word(page, 128).get_attribute("class")
    assert re.fullmatch(r"word 128 of shared memory: thread 0 \(warp 0, lane 0\), 4-byte read in line 24, \d+ steps ago; "
                        r"thread 128 \(warp 4, lane 0\), 4-byte write in line 19, now", page.locator(".pl-accesses").inner_text())


def test_cells_show_values(opened):
    """Broken: a word or a lane shows another value than it holds, or an earlier one."""
    page = opened()
    page.locator(".pl-track").press("End")
    assert word(page, 0).get_attribute("data-value") == "−2.4375", "what step 03 gives at n = 256"
    assert page.locator(".pl-values i").first.get_attribute("data-value") == "−2.4375"
    page.locator(".pl-track").press("Home")
    assert word(page, 0).get_attribute("data-value") == ""
    height = word(page, 0).bounding_box()["height"]
    page.get_by_role("button", name="values").press("Enter")
    assert word(page, 0).bounding_box()["height"] > height
    page.locator(".pl-track").press("End")
    word(page, 0).hover()
    assert page.locator(".pl-about").inner_text() == "word 0, bank 0: -2.4375, written by thread 0 (warp 0, lane 0), line 24"


def test_the_verdict_shows_the_result(opened):
    """Broken: the page says that a run is right, and not what it computed."""
    page = opened()
    assert page.locator(".pl-verdict").inner_text() == "✓ right at n = 256: the sum is -2.4375, no findings"
    remove_first_barrier(page)
    assert page.locator(".pl-verdict").inner_text().startswith("✗ wrong: NaN, expected -2.4375, ")


def test_a_scan_shows_its_first_values(opened):
    """Broken: the verdict on a scan shows another array's values, or none. Thread 0 loads the first elements, one after the other."""
    page = opened(program="scan00", before="")
    first = page.evaluate("""Simulator.run(playerPrograms.scan00, {n: 256, values: true}).then(({trace}) => Player.rows(trace))
        .then((rows) => rows.filter(({opcode}) => opcode.startsWith("ld.global")).slice(0, 3).map(({values}) => values.split(";")[0]))
        .then((bits) => bits.map((one) => new Float32Array(new Uint32Array([parseInt(one, 16)]).buffer)[0]))""")
    assert f"✓ right at n = 256: {first[0]:g}, {first[0] + first[1]:g}, {sum(first):g}, " in page.locator(".pl-verdict").inner_text()


def test_counters_have_the_profilers_names(opened):
    """Broken: a counter's name in Nsight Compute is another one than the page about the counters has, or stays hidden."""
    page = opened()
    assert not page.locator(".pl-metric").first.is_visible()
    page.get_by_role("button", name="names in Nsight Compute").press("Enter")
    shown = page.locator(".pl-metric").all_inner_texts()
    known = (PLAYER.parent.parent / "simulator/counters.md").read_text(encoding="utf-8").replace("`…_st.sum`", " ".join(
        f"`{stem}_st.sum`" for stem in ("smsp__sass_inst_executed_op_shared", "l1tex__t_requests_pipe_lsu_mem_global_op", "l1tex__t_sectors_pipe_lsu_mem_global_op")))
    names = [name for text in shown for name in re.findall(r"\w+__\w+", text)]
    assert len(names) == len(shown) > 5 and [name for name in names if name not in known] == []


def test_a_run_that_was_not_compared_is_not_called_right(opened):
    """Broken: after a failed launch, before any result was read, the page says "right this time"."""
    page = opened()
    choose_size(page, 1000)
    page.wait_for_selector(READY)
    remove_first_barrier(page, 19)  # which is the test i < n
    assert page.locator(".pl-verdict").inner_text() == "✗ 1 finding"


def test_a_race_in_a_templates_kernel_is_marked(opened):
    """Step 11's kernel is a template, and an uninitialised read is reported before the race."""
    page = opened(program="step11", before="")
    line = page.locator(".CodeMirror-line", has_text="__syncthreads").locator("button.pl-cut").first.get_attribute("data-line")
    remove_first_barrier(page, line)
    assert "race in shared memory" in page.locator(".pl-finding").first.inner_text()
    assert page.locator(".pl-lanes i.pl-bad").count() == 2


def test_the_race_between_warps_is_shown_first(opened):
    """Broken: the figure marks two lanes of one warp, whose race a GPU may hide, although two warps race, too."""
    page = opened(program="scan01", before="")
    remove_first_barrier(page, 26)
    first, second = [int(re.search(r"thread (\d+)", text)[1]) for text in page.locator(".pl-finding").first.locator("li").all_inner_texts()]
    assert first // 32 != second // 32


def test_a_page_requests_only_the_rows_that_it_shows(opened):
    """Broken: spinning warps of scan 10 make 60 MB of rows, for which the reader waits."""
    page = opened(program="scan10", before="")
    rows = page.evaluate("Simulator.run(playerPrograms.scan10, {n: 65536, rows: 500}).then(({trace}) => trace.trim().split('\\n').length)")
    assert rows == 1 + 500
    choose_size(page, 65536)
    page.wait_for_selector(READY)
    assert page.locator(".pl-time .pl-where").inner_text().startswith("step") and "of the first" in page.locator(".pl-time .pl-where").inner_text()


def test_keys_move_through_time(opened):
    page = opened()
    slider, last = page.locator(".pl-track"), int(page.locator(".pl-track").get_attribute("aria-valuemax"))
    slider.focus()
    seen = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "PageDown", "PageUp", "End"):
        page.keyboard.press(key)
        seen.append(step(page))
    assert seen[:4] == [0, 1, 2, 1]
    assert seen[4] > 2, "Page Down goes to where the first barrier is passed"
    assert seen[5:] == [0, last]
    assert page.locator(".pl-warp").first.inner_text().endswith("done") or page.locator(".pl-lit").count() == 1


@pytest.mark.parametrize("program", ["step03", "scan10"])
def test_the_player_counts_as_the_simulator_does(opened, program):
    """With one block, the steps' sums equal the counters of the run. Scan 10 has bulk copies."""
    page = opened(program=program, before="")
    choose_size(page, 256)
    page.wait_for_selector(READY)
    page.locator(".pl-track").press("End")
    cells = page.locator(".pl-counters > div")
    for cell in cells.all_inner_texts():
        now, _, rest = cell.split("\n")[1].partition(" of ")
        assert now == rest and f"all blocks {now}" in cell, cell
    assert cells.count() >= 8


def test_a_removed_bounds_test_has_an_effect_only_if_a_thread_has_no_element(opened):
    page = opened()
    page.locator('button.pl-cut[data-line="19"]').press("Enter")
    again = page.locator(".pl-remark").get_by_role("button", name="try n = 1,000")
    again.wait_for()
    page.wait_for_selector(READY)
    assert page.locator(".pl-verdict").inner_text() == "✓ right at n = 256"
    again.press("Enter")
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)
    assert page.locator(".pl-remark").inner_text().startswith("✗ out-of-bounds access: in[1000], thread 232")


def test_another_script_chooses_a_try(opened):
    """Try 2 of step 15 changes a line far above the kernel, at which the source is first shown."""
    page = opened(program="step15", before="")
    page.evaluate("Player.choose(document.querySelector('figure.player'), {try: 2, n: 1000})")
    page.wait_for_selector(READY)
    assert page.get_by_role("button", name="Try 2").get_attribute("aria-pressed") == "true"
    assert page.get_by_label("n", exact=True).input_value() == "1000"
    assert page.evaluate("""() => {
        const [line, pane] = [".pl-gone", ".pl-source"].map((name) => document.querySelector(name).getBoundingClientRect());
        return line.top >= pane.top && line.bottom <= pane.bottom;
    }"""), "the Try's first changed line is visible"
    assert page.locator(".pl-remark").inner_text().strip()


def test_a_finding_of_a_try_is_shown_at_its_step(opened):
    """Broken: two lanes are marked, but the figure shows a step without their conflicting access."""
    page = opened(program="step05", before="")
    page.get_by_role("button", name="Try 1").click()
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)
    status, accesses = (page.locator(place).inner_text() for place in (".pl-warp:has(i.pl-bad) .pl-status", ".pl-accesses"))
    assert accesses.endswith(f"in line {status[:2]}, now") and status[:2] in ("20", "21"), "the later access, in one of the finding's lines"


def test_the_clicked_line_stays_visible_on_a_phone(opened):
    """Broken: in a small pane the removed line, or one of the two racing lines, is scrolled away."""
    page = opened(width=390)
    remove_first_barrier(page)
    pane = page.locator(".pl-source").bounding_box()
    for row in [page.locator(".pl-cut[aria-pressed=true]"), *page.locator(".pl-flagged").all()]:
        box = row.bounding_box()
        assert pane["y"] <= box["y"] and box["y"] + box["height"] <= pane["y"] + pane["height"]


# Workers that fail at each run, or only at the one with interleaved blocks.
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


def test_the_first_figure_waits_for_its_own_run_only(browser, lesson):
    """Broken: the lesson's run waits for that of the step before, and is shown later than it could be."""
    page = browser.new_page()
    page.add_init_script("""let simulator;
        Object.defineProperty(window, "Simulator", {get: () => simulator, set(api) {
            const {run} = simulator = api;
            api.run = (program, request) => (program.name === "step02" ? new Promise(() => {}) : run(program, request));
        }});""")
    page.goto(lesson("step03", "step02"))
    page.wait_for_selector("figure.pl-is-live[aria-busy=true]")
    assert "right" in page.locator(".pl-verdict").inner_text()
    page.close()


def test_the_mark_of_the_warps_covers_no_text(opened):
    """Broken: at the end of a full line, the names of the warps that run it are drawn over its last characters."""
    page = opened(program="scan06", before="")
    assert page.evaluate("""() => {
        const {left} = document.querySelector(".CodeMirror .pl-tag").getBoundingClientRect();
        const space = document.querySelector(".CodeMirror").CodeMirror.defaultCharWidth(); // at the end of a row it hangs out of the line
        const ends = [...document.querySelectorAll(".CodeMirror-line > span")].flatMap((line) => [...line.getClientRects()]).map(({right}) => right);
        return Math.max(...ends) - space <= left;
    }""")


def test_the_still_figure_stays_if_nothing_can_run(browser, lesson):
    """Broken: an empty player replaces the figure, without a reason."""
    page, said = failed(browser, lesson("step03", ""), "true")
    assert said == "The player cannot be shown: no memory"
    assert page.locator("figure.pl-is-live").count() == 0 and not page.locator(".pl-live").is_visible()
    page.close()


def test_a_failed_look_back_does_not_affect_the_rest(browser, lesson):
    """Broken: the look-back's run fails, and its panel stays empty without a reason."""
    page, said = failed(browser, lesson("scan06", ""), "message.job.settings.SIM_TOGETHER")
    assert said == "The tiles cannot be shown: no memory" and "right" in page.locator(".pl-verdict").inner_text()
    page.close()


def test_two_lessons_side_by_side(opened):
    """Step 03 and step 02: one time line moves both, differences are marked in both, and each counter shows both."""
    page = opened()
    page.get_by_role("button", name="side by side").press("Enter")
    assert page.locator(".pl-new .CodeMirror-linenumber").all_inner_texts() == page.locator(".pl-was .pl-no").all_inner_texts() == ["1", "2", "7", "22", "23"]
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


def test_a_try_next_to_the_lesson(opened):
    page = opened(380)
    page.get_by_role("button", name="Try 1").click()
    page.wait_for_selector(READY)
    page.get_by_role("button", name="side by side").click()
    assert page.locator(".pl-which").all_inner_texts() == ["Try 1", "as written"]
    assert page.locator(".pl-new").count() > 0 and page.locator(".pl-was").count() > 0 and page.locator(".pl-gone").count() == 0
    above, below = [page.locator(".pl-warps").nth(k).bounding_box() for k in (0, 1)]
    assert above["y"] + above["height"] <= below["y"] and above["x"] == below["x"]


def test_a_lane_shows_its_value(opened):
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
    """The scan's blocks: at the end every tile has published its prefix, blocks have polled, and the published sums are consistent."""
    page = opened(program="scan06", before="")
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


def test_the_acting_tile_is_visible_on_a_phone(opened):
    page = opened(390, program="scan06", before="")
    page.wait_for_selector(".pl-tiles svg")
    place, time = page.locator(".pl-tiles").bounding_box(), page.get_by_label("time of the look-back")
    for key in (None, "Home"):
        if key:
            time.press(key)
        tile = page.locator(".pl-acting").bounding_box()
        assert place["x"] <= tile["x"] and tile["x"] + tile["width"] <= place["x"] + place["width"], key


def test_tiles_that_publish_once(opened):
    """Scan 07 adds the totals of all tiles before."""
    page = opened(program="scan07", before="")
    page.wait_for_selector(".pl-tiles svg")
    page.get_by_label("time of the look-back").press("End")
    tiles = page.locator(".pl-tiles g[role=img]").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    assert len(tiles) == 16 and all("has published a total, " in tile for tile in tiles)


def test_every_choice_runs(opened):
    """Each size, another block, another order and a Try: each shows the verdict of a finished run."""
    page = opened()
    order, suggested = page.get_by_label("order"), page.get_by_label("suggestions for n")
    for value in suggested.locator("option").evaluate_all("all => all.map(one => one.value).filter(Boolean)"):
        suggested.select_option(value)
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
    choose_size(page, 256)
    page.wait_for_selector(READY)
    assert page.locator(".pl-heading").first.inner_text().startswith("Warps of block 0"), "block 1 does not exist at this n"
    page.get_by_role("button", name="Try 3").click()
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)
    assert page.locator(".pl-gone").count() > 0, "the Try's diff"


# Holds every run of the simulator until the page calls `letOne()` or `letAll()`; `held`: the waiting runs (one at a time),
# `ended`: the finished ones.
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


def test_the_end_of_an_earlier_run_is_not_reported_as_that_of_the_later_one(opened):
    """Another block is chosen while the step before still runs for a new size: the player is ready only when it shows that block."""
    page = opened()
    page.evaluate(HOLD_RUNS)
    choose_size(page, 65536)
    page.wait_for_function("held === 1")
    page.evaluate("letOne()")  # the step itself; now the step before waits
    page.wait_for_function("held === 1")
    page.get_by_label("block", exact=True).fill("1")
    page.keyboard.press("Enter")
    page.evaluate("letOne()")
    page.wait_for_function("held === 1")  # the new block's run
    assert page.locator("figure.player").get_attribute("aria-busy") == "true"
    page.evaluate("letAll()")
    page.wait_for_selector(READY)
    assert page.locator(".pl-heading").first.inner_text().startswith("Warps of block 1")


def test_a_replaced_run_changes_nothing(opened):
    """The previous size, whose run is cached, is chosen again while another size runs."""
    page = opened()
    time = page.locator(".pl-track")
    before, length = page.get_by_label("n", exact=True).input_value(), time.get_attribute("aria-valuemax")
    page.evaluate(HOLD_RUNS)
    choose_size(page, 65536)
    page.wait_for_function("held === 1")
    choose_size(page, before)
    page.wait_for_selector(READY)
    page.evaluate("letAll()")
    page.wait_for_function("ended === 1")
    time.press("End")
    assert step(page) == int(length)


def test_a_requested_block_is_neither_shown_early_nor_lost(opened):
    """Broken: the figure of one block has another one's number; or choosing a size again during the search for a block loses the block."""
    page = opened()
    heading, block = page.locator(".pl-heading").first, page.get_by_label("block", exact=True)
    choose_size(page, 65536)
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
    choose_size(page, 256)
    page.evaluate("letOne()")
    page.wait_for_function("held === 1")  # the run of block 200, which does not exist
    page.evaluate("letOne()")
    page.wait_for_function("ended === 2 && held === 1")  # the run of block 0, which shows how many there are
    choose_size(page, 65536)
    page.wait_for_selector(READY)
    assert heading.inner_text().startswith("Warps of block 200")
    page.evaluate("letAll()")


@pytest.mark.parametrize("chosen_at", ["during the run", "after it"])
def test_a_number_may_be_typed_during_a_run(opened, chosen_at):
    """Also the number of a block that exists only at the run's size."""
    page = opened()
    page.evaluate(HOLD_RUNS)
    choose_size(page, 65536)
    page.wait_for_function("held === 1")
    page.get_by_label("block", exact=True).fill("7")
    if chosen_at == "during the run":
        page.keyboard.press("Enter")
    page.evaluate("letAll()")
    page.wait_for_selector(READY)
    assert "of 0–255" in page.locator(".pl-choices").inner_text(), "the range is shown also while a number is being typed"
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)
    assert page.locator(".pl-heading").first.inner_text().startswith("Warps of block 7")


def test_a_click_that_ends_the_typing_of_a_number_is_not_lost(opened):
    """Pressing the mouse on a button chooses the number; the button is still there at its release, though the block's run has ended."""
    page = opened()
    choose_size(page, 65536)
    page.wait_for_selector(READY)
    page.get_by_label("block", exact=True).fill("7")
    page.get_by_role("button", name="Try 3").hover()
    page.mouse.down()
    page.wait_for_selector("text=Warps of block 7")
    page.wait_for_selector(READY)
    page.mouse.up()
    page.wait_for_selector(".pl-gone")


def test_a_click_while_another_run_ends_is_not_lost(opened):
    """The mouse is pressed on a Try during another one's run, and released after it."""
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


def test_a_run_without_steps_is_reported(opened):
    """Broken: a program that launches nothing seems to be the one that ran before, which still plays."""
    page = opened()
    page.get_by_role("button", name="play (space)").click()
    page.evaluate("document.querySelector('.CodeMirror').CodeMirror.replaceRange('// ', {line: 40, ch: 4})")  # the launch
    page.wait_for_selector(READY)
    assert page.locator(".pl-verdict").inner_text() == "✗ wrong: an uninitialised value, expected -2.4375"
    assert page.locator(".pl-time .pl-where").inner_text() == "no steps" and page.locator(".pl-outdated").is_visible()
    assert page.get_by_role("button", name="play (space)").is_visible(), "playback has stopped"


def test_the_keyboard_focus_is_kept(opened):
    """Broken: a new part of the bar, or of the editor, moves the focus to another button."""
    page = opened(program="step00", before="")
    page.get_by_role("button", name="Try 1").press("Enter")
    page.wait_for_selector(".pl-gone")
    page.wait_for_selector(READY)
    assert page.evaluate("document.activeElement.textContent") == "Try 1"
    page.close()
    page = opened()
    remove_first_barrier(page)
    assert page.evaluate("document.activeElement.textContent") == "restore"


def test_tiles_of_another_program_do_not_appear_late(opened):
    """The look-back run of scan 06 ends after scan 05, which has none, was chosen again."""
    page = opened(program="scan05", before="scan06")
    page.evaluate(HOLD_RUNS)
    page.get_by_role("button", name="scan 06").click()
    page.wait_for_function("held === 1")  # the run of all tiles; its block's run is cached
    page.get_by_role("button", name="scan 05").click()
    page.wait_for_selector(READY)
    page.evaluate("letAll()")
    page.wait_for_function("ended === 1")
    assert not page.locator(".pl-look").is_visible()


@pytest.mark.parametrize("width", [1200, 380])
def test_the_layout_is_stable_during_runs(opened, width):
    """Broken: content above grows and moves the text: at the first run, at another size, or if a launch needs more space."""
    page = opened(width, program="step06", before="step05")
    choose_size(page, 1000)
    page.wait_for_selector(READY)
    choose_size(page, 65536)
    page.wait_for_selector(READY)
    for key in ("Home", "End"):
        page.locator(".pl-track").press(key)
        page.wait_for_timeout(100)
    assert page.evaluate("moved") < 0.02


def test_a_page_of_make_page_is_self_contained(browser, tmp_path):
    """One file, without requests to others, in which a race is found."""
    script = (PLAYER / "programs/step03.js").read_text(encoding="utf-8")
    program = json.loads(script[script.index("] = ") + 4:script.rindex(";")])
    file = tmp_path / "own.html"
    text = own_page.page_of(program | {"isOwn": True, "sizes": [256], "tries": []})
    file.write_text(text, encoding="utf-8")
    assert len(text.encode()) < 3e6
    page, asked = browser.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector(READY)
    assert "no findings" in page.locator(".pl-verdict").inner_text()
    remove_first_barrier(page)
    assert "race in shared memory" in page.locator(".pl-finding").first.inner_text()
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [file.as_uri()]
    page.close()


def test_a_program_without_launches_is_refused(tmp_path):
    with pytest.raises(SystemExit) as ended:
        own_page.page_program(b"recording 1\n", Path("any.cu"), [], tmp_path)
    assert str(ended.value).endswith("any.cu launches no kernel with these arguments, so there is nothing to show")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 380])
def test_axe_finds_nothing(opened, scheme, width):
    page = opened(width, scheme)
    remove_first_barrier(page)
    page.get_by_role("button", name="side by side").click()
    result = axe.Axe().run(page)
    assert result.violations_count == 0, result.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "no horizontal overflow"
