"""The book as `make book` built it, in a browser: `make test-book`. The rest of the tests leaves it out where it was not built."""

import functools
import os
import re
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("tomllib", reason="the book needs Python 3.11")
from book import contents

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
built = pytest.mark.skipif(not (SITE / "index.html").exists() or not find_spec("playwright"), reason="make test-book has the book and the browser")
PAGES = ["index.html", "README.html", "ten-minutes/README.html", "step03_sequential/README.html", "step07_gridstride/README.html", "docs/words.html", "scan/step06_lookback/README.html"]
PHONE, DESK = {"width": 380, "height": 800}, {"width": 1280, "height": 900}
# Each page is looked at in both colours and both windows; the frame that all have, in all four looks.
LOOKS = [[("light", DESK), ("dark", PHONE)], [("dark", DESK), ("light", PHONE)]]


class Page(HTMLParser):
    """The names in a page that a link may lead to, and what the page leads to."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded = {""}, set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.add(given.get("id"))
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        self.loaded |= {given[name] for name in ("src", "href") if name in given and tag not in ("a", "use")}


@functools.cache
def pages():
    return {str(path): Page(path) for path in SITE.rglob("*.html")}


def target(page, link):
    """The file and the name in it that a link leads to; None for what is not of the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(page), unquote(parts.path))) if parts.path else page
    return path, unquote(parts.fragment)


def test_every_page_has_a_chapter():
    """Broken: the book lacks a new page, or still lists a removed one."""
    files = {path.relative_to(ROOT) for pattern in ("*.md", "book/*.md", "docs/*.md", "simulator/*.md", "simulator/*/README.md", "ten-minutes/*.md", "**/*[0-9]_*/README.md", "labs/*/README.md", "labs/*/python/README.md",
                                                    "scan/README.md", "**/reference_cub/README.md") for path in ROOT.glob(pattern)}
    named = {contents.file_of(page).relative_to(ROOT) for chapter in contents.chapters() for page in chapter.pages}
    assert {path for path in files if path.parts[0] not in ("build", "my")} == named


@built
def test_links_lead_somewhere():
    """Broken: a link of the book names a page, a file or a heading that is not there."""
    of_site = pages()
    dead = []
    for page, content in of_site.items():
        for link in content.links | content.loaded:
            found = target(page, link)
            if found and found[1] not in (of_site[found[0]].ids if found[0] in of_site else {""} if os.path.exists(found[0]) else ()):
                dead.append(f"{page}: {link}")
    assert not dead


@built
def test_every_page_is_reached_from_the_first():
    """Broken: a page was built that no link leads to."""
    of_site = pages()
    reached, left = set(), [str(SITE / "index.html")]
    while left:
        page = left.pop()
        if page in of_site and page not in reached:
            reached.add(page)
            left += [found[0] for link in of_site[page].links if (found := target(page, link))]
    assert of_site.keys() - reached == {str(SITE / "search.html")}


@built
def test_pages_load_nothing_from_elsewhere():
    """Broken: a page uses a script, a style, an image or a font of another site."""
    assert not {link for page in pages().values() for link in page.loaded if urlsplit(link).scheme not in ("", "data")}


@built
def test_each_page_has_a_policy():
    """Broken: a page may send what a reader wrote, or run a script that somebody put into it."""
    for page in pages():
        policy = re.search(r'<head[^>]*><meta http-equiv="Content-Security-Policy" content="([^"]*)">', Path(page).read_text(encoding="utf-8"))
        rules = dict(rule.split(" ", 1) for rule in policy[1].split("; "))
        scripts = [word for word in rules["script-src"].split() if not word.startswith("'sha256-")]
        assert rules["default-src"] == "'none'" and "connect-src" not in rules and scripts == ["'self'", "file:", "'wasm-unsafe-eval'"], page


@built
def test_a_page_cannot_send(browser):
    """Broken: the browser does not apply the policy."""
    tab = opened(browser, "docs/words.html")
    assert "Failed to fetch" in tab.evaluate("fetch('search.html').catch((error) => String(error))")
    assert tab.evaluate("new Promise((done) => { const image = new Image(); image.onerror = () => done('blocked'); image.src = 'https://localhost/x.png'; })") == "blocked"
    assert any("connect-src" in error for error in tab.errors) and any("img-src" in error for error in tab.errors)


@built
def test_the_site_is_small():
    """Broken: the book became too large to send, or what all pages share is in each of them again."""
    assert sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file()) <= 12e6


@built
@pytest.mark.skipif(not find_spec("minify"), reason="what makes scripts shorter is not there for this machine")
def test_our_own_scripts_are_small():
    """Broken: the pages' own JavaScript exceeds 95 kB; the simulator and its programs are loaded on demand."""
    scripts = {*(SITE / "_static/player").glob("*.js"), *(SITE / "_static" / script.name for script in (ROOT / "book/static").glob("*.js"))}
    sizes = {script.name: script.stat().st_size for script in scripts if script.name != "simulator.js"}
    assert "player.js" in sizes and sum(sizes.values()) < 95e3, sizes


def opened(browser, page, **options):
    """A page of the book, from the disk; its figure has run. What it asks for is kept in `asked`."""
    tab = browser.new_context(reduced_motion="reduce", **options).new_page()
    tab.set_default_timeout(20000)
    tab.asked, tab.errors = [], []
    tab.on("request", lambda request: tab.asked.append(request.url))
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.on("console", lambda message: "Content Security Policy" in message.text and tab.errors.append(message.text))
    tab.goto(f"{SITE.as_uri()}/{page}")
    if tab.locator("figure.player").count():
        tab.locator("figure.player").first.scroll_into_view_if_needed()
        tab.wait_for_selector("figure.pl-is-live[aria-busy=false]")
    return tab


# What ends outside the window, in nothing that scrolls or cuts it off. (In a narrow window the whole page cuts off, and says nothing of it.)
OUTSIDE = """[...document.querySelectorAll("article *")].filter((one) => {
    if (one.getBoundingClientRect().right <= innerWidth + 1)
        return false;
    for (let box = one.parentElement; box.tagName !== "ARTICLE"; box = box.parentElement)
        if (getComputedStyle(box).overflowX !== "visible")
            return false;
    return true;
}).map((one) => `${one.tagName} ${one.className}`)"""


@built
def test_each_step_shows_its_change():
    """Broken: a lesson does not show the diff from the step before."""
    for page in (page for chapter in contents.chapters() for page in chapter.pages if contents.step_before(page)):
        text = (SITE / f"{page}.html").read_text(encoding="utf-8")
        assert '<ins class="row">' in text or '<del class="row">' in text, page


@built
def test_words_are_linked_where_they_first_stand(browser):
    """Broken: a word of the glossary is not explained in a lesson, or at every place."""
    tab = opened(browser, "step03_sequential/README.html")
    words = [word.lower().rstrip("s") for word in tab.locator("a.word").all_text_contents()]
    assert {"warp", "lane"} <= set(words) and len(words) == len(set(words))
    assert "32 threads" in tab.locator("a.word").filter(has_text="warp").first.get_attribute("data-means")


@built
@pytest.mark.skipif(not (ROOT / "book/player/simulator.js").exists(), reason="the page's simulator was not built: make stage")
def test_a_barrier_is_deleted_on_the_first_page(browser):
    """Broken: a reader of the first page cannot remove a barrier and see the race."""
    tab = opened(browser, "index.html")
    tab.locator(".CodeMirror-line", has_text="__syncthreads").first.locator("button.pl-cut").click()
    assert "race in shared memory" in tab.locator(".pl-finding").first.inner_text()


@built
def test_the_search_shows_the_words_and_leads_to_them(browser):
    """Broken: the search finds nothing on a disk, does not show the words, or leads to the top of a page instead of the definition or the Try."""
    tab = opened(browser, "docs/words.html")
    tab.locator(".sidebar-search").fill("Volatile")
    tab.locator(".sidebar-search").press("Enter")
    found = tab.locator("#search-results > li")
    assert found.first.locator("mark").first.inner_text() == "volatile"
    assert found.first.locator("a").get_attribute("href").endswith("docs/words.html#word-volatile")
    assert not [url for url in tab.asked if not url.startswith(("file:", "data:"))]
    found.nth(1).locator("a").click()
    tab.wait_for_url("**/step05_unrollwarp/README.html#try-2")
    assert "volatile" in tab.locator("#try-2").inner_text()


@built
def test_the_search_begins_with_the_definition_and_the_lesson(browser):
    """Broken: a reader who searches for a term finds labs and notes about the simulator before its definition, or before the lesson that explains it;
    or a question finds the glossary before a lesson."""
    tab = opened(browser, "search.html")
    tab.wait_for_function("bookPages.length")
    for query, *expected in [("race", "word-data-race", "step01_divergent"), ("volatile", "word-volatile", "step05_unrollwarp"),
                             ("__syncthreads()", "word-barrier", "step01_divergent"), ("occupancy", "word-occupancy", "step00_baseline"),
                             ("divergence", "word-divergence"), ("threadIdx", "word-threadidx"), ("PTX", "word-ptx"), ("coalescing", "word-coalesced"),
                             ("warp shuffle", "step08_shuffle", "word-shuffle"),
                             ("How to remove a race?", "step03_sequential", "word-data-race")]:
        found = tab.evaluate("query => search(termsOf(wordsOf(query))).map(({page, place}) => [page.page, place[0]])", query)
        places = [anchor if page == "docs/words.html" else page.removesuffix("/README.html") for page, anchor in found]
        assert places[:len(expected)] == expected, query


@built
@pytest.mark.parametrize("page", PAGES)
def test_pages_can_be_read_by_everybody(browser, page):
    """Broken: who reads the book without a network misses something; axe finds a contrast too low, a name missing, what no key reaches; or the
    page is wider than the window."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not there: make test-book").Axe()
    tab = opened(browser, page)
    assert not tab.errors  # axe causes more: it asks for style sheets, which the policy forbids
    tab.evaluate("document.querySelectorAll('article details').forEach((fold) => { fold.open = true; })")
    for scheme, window in LOOKS[PAGES.index(page) % 2]:
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size(window)
        found = axe.run(tab).response["violations"]
        assert not [f"{scheme} {rule['id']}: {node['target']} {node['failureSummary']}" for rule in found for node in rule["nodes"]]
        assert tab.evaluate(OUTSIDE) == [], window
    assert not [url for url in tab.asked if not url.startswith(("file:", "data:", "blob:"))]


@built
@pytest.mark.parametrize("page", ["index.html", "step03_sequential/README.html", "docs/learn.html", "docs/start.html", "docs/findings.html", "labs/coalescing/README.html"])
def test_pages_fit_windows(browser, page):
    """Broken: a page scrolls sideways in a window of a usual width, or its column of headings is cut off."""
    tab = opened(browser, page)
    for width in (390, 1024, 1100, 1200, 1280, 1336, 1366, 1400, 1440):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


@built
@pytest.mark.skipif(not (ROOT / "book/player/simulator.js").exists(), reason="the page's simulator was not built: make stage")
@pytest.mark.parametrize("page", ["step03_sequential/README", "scan/step06_lookback/README"])
def test_a_lesson_asks_before_its_player_answers(page):
    """Broken: the counters are above the questions, or in a fold, in which the player never starts."""
    text = (SITE / f"{page}.html").read_text(encoding="utf-8")
    places = [text.index(mark) for mark in ('id="predict-before-you-run"', "</details>", '<figure class="player"', 'id="try"')]
    assert places == sorted(places)


def test_bytes_in_flight_are_as_measured():
    """Broken: the curve of step 07 is not that of loaded.csv, or the loads are not those that the machine code has."""
    flight = pytest.importorskip("book.extensions.flight", reason="the book's packages are not there: make book")
    points = flight.curve()
    assert flight.rate_at(points, 337 * 1300 / 132) == pytest.approx(1300, rel=0.01), "at a third of the peak a load takes as long as alone"
    assert flight.rate_at(points, 1e6) == max(float(row["gb_per_s"]) for row in flight.rows("loaded.csv"))
    assert [rate for _, rate in points] == sorted(rate for _, rate in points)
    code = {name: (ROOT / f"plots/h200/sass/step07-{name}.txt").read_text().split("FADD")[0].count("LDG") for name in ("signed", "unsigned")}
    loads = {one.name: one.loads for one in flight.measured()}
    assert (loads["as written"], loads["Try 1"]) == (code["signed"], code["unsigned"]) and len(loads) == 3
    assert all(one.rate < flight.rate_at(points, one.bytes) for one in flight.measured()), "the dots lie below the curve, as the page says"


@built
def test_sliders_move_a_ring_on_the_curve(browser):
    """Broken: a reader's choice of loads and threads is not where the curve has it, or the page says another number than the table."""
    tab = opened(browser, "step07_gridstride/README.html")
    loads, threads, says, ring = tab.get_by_role("slider", name="loads a thread"), tab.get_by_role("slider", name="threads on an SM"), tab.locator(".flight-says"), tab.locator(".flight-chart .mine")
    assert "64 KiB" in says.inner_text() and "As many as the lesson" in says.inner_text()
    loads.press("Home")
    threads.press("Home")
    lowest = float(ring.get_attribute("cy"))
    assert says.inner_text().startswith("64 × 1 × 4 bytes = 0.25 KiB")
    loads.press("ArrowRight")
    threads.press("End")
    curve = tab.locator("#bytes-in-flight tr", has_text="Try 1").locator("td").nth(3).inner_text()
    assert f"up to {curve} GB/s" in says.inner_text() and "Try 1" in says.inner_text() and float(ring.get_attribute("cy")) < lowest


@built
@pytest.mark.skipif(not (ROOT / "book/player/simulator.js").exists(), reason="the page's simulator was not built: make stage")
def test_time_stays_at_hand_on_a_phone(browser):
    """Broken: side by side on a phone, the time line or the verdict is out of view."""
    tab = opened(browser, "step03_sequential/README.html", viewport=PHONE)
    tab.get_by_role("button", name="side by side").click()
    tab.evaluate("document.querySelector('.pl-columns').scrollIntoView()")
    for seen in (".pl-time", ".pl-state"):
        box = tab.locator(seen).bounding_box()
        assert 0 <= box["y"] and box["y"] + box["height"] <= PHONE["height"], seen


@built
def test_a_link_leads_to_a_line_of_a_whole_program(browser):
    """Broken: a program's page lacks the harness that its ladder shares, or a link to a line leads to the top."""
    tab = opened(browser, "scan/step07_ahead/scan.cu.html#L200")
    assert tab.locator("pre.source").evaluate("(block) => block.textContent") == (ROOT / "scan/step07_ahead/scan.cu").read_text(encoding="utf-8")
    tab.wait_for_function("document.getElementById('L200').getBoundingClientRect().top < innerHeight")


@built
def test_a_fold_holds_its_headings(browser):
    """Broken: the answer is visible before the reader's prediction."""
    tab = opened(browser, "step03_sequential/README.html")
    answer = tab.get_by_role("heading", name="Why")
    assert not answer.is_visible()
    tab.get_by_text("The numbers, and why").click()
    assert answer.is_visible()
