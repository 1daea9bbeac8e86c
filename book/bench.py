#!/usr/bin/env python3
"""bench.py [PAGE...]: how long a reader waits in Chromium and in Firefox, opening pages from the disk. `make bench-book` prints it for three pages.

Columns: until something is painted; until the figure is live, which means that it shows the result of its program and can be edited; until it
also shows the comparison with the step before; runs at two sizes; from an edit at n = 4,096 to its answer (result, counters, findings and
figure), after the editor's pause of 300 ms and with it. The first edit meets code that the browser has not optimised yet.
Each number is the smallest and the median of some rounds, each in a new tab, in ms. On a busy machine only the smallest says something.
PAGE: others, as they lie in site/, such as scan/step08_bulk/README.html."""

import contextlib
import shutil
import statistics
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from book import firefox

SITE = Path(__file__).resolve().parents[1] / "site"
PAGES = ["index.html", "step03_sequential/README.html", "scan/step06_lookback/README.html"]
SIZES = [4096, 65536]
EDIT_SIZE = 4096
PAUSE_MS = 300  # as in book/player/edit.js
ROUNDS = 5
SETTLE_S = 4  # a browser that has just started is busy with itself
WINDOW_S = 2  # and so is a new window of Chromium: it loads pages for its address bar

SEEN = "document.querySelector('figure.player').scrollIntoView({block: 'center'})"
# Resolves to the time since the page was opened, when the figure is like this.
WHEN = """new Promise((done) => {{
    const look = () => document.querySelector("figure.player{0}") ? done(performance.now()) : requestAnimationFrame(look);
    look();
}})"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"  # Firefox 153 does not record it in each tab
RUN = """(async (n) => {{
    const figure = document.querySelector("figure.player"), began = performance.now();
    await Player.choose(figure, {{try: 0, n}});
    return performance.now() - began;
}})({0})"""
# Adds a line to the kernel; resolves when the figure shows the edited text's run.
EDIT = """(async (n) => {{
    const figure = document.querySelector("figure.player"), code = document.querySelector(".CodeMirror").CodeMirror;
    await Player.choose(figure, {{try: 0, n}});
    const edit = async () => {{
        const began = performance.now();
        code.replaceRange("// an edit\\n", {{line: code.lineCount() - 1, ch: 0}});
        while (figure.getAttribute("aria-busy") === "true")
            await new Promise(requestAnimationFrame);
        return performance.now() - began;
    }};
    const first = await edit();
    await new Promise((done) => setTimeout(done, 1000)); // a scan also draws all blocks
    return [first, await edit()];
}})({0})"""


class Chromium:
    """Tabs of a Chromium; each has a context and a window of its own, as if nothing had been opened before."""

    name = "Chromium"

    def __init__(self, browser):
        self.browser = browser

    def open(self, address):
        self.tab = self.browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        time.sleep(WINDOW_S)
        self.tab.goto(address, wait_until="domcontentloaded")

    def value(self, script):
        return self.tab.evaluate(script)

    def close(self):
        self.tab.context.close()


class Firefox:
    """Tabs of a Firefox."""

    name = "Firefox"

    def __init__(self, session):
        self.session, self.value = session, session.value
        session.command("WebDriver:SetWindowRect", width=1280, height=985)
        self.first = session.command("WebDriver:GetWindowHandle")["value"]

    def open(self, address):
        tab = self.session.command("WebDriver:NewWindow", type="tab", focus=True)["handle"]
        self.session.command("WebDriver:SwitchToWindow", handle=tab)
        self.session.command("WebDriver:Navigate", url=address)

    def close(self):
        self.session.command("WebDriver:CloseWindow")
        self.session.command("WebDriver:SwitchToWindow", handle=self.first)


@contextlib.contextmanager
def chromium():
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield Chromium(browser)
        browser.close()


@contextlib.contextmanager
def gecko():
    with firefox.started() as session:
        yield Firefox(session)


def measured(browser, page):
    """Of one round: painted, live, compared, each size's run, and two edits."""
    browser.open(f"{SITE.as_uri()}/{page}")
    browser.value(SEEN)
    live, compared = browser.value(WHEN.format(".pl-is-live")), browser.value(WHEN.format(".pl-is-live[aria-busy=false]"))
    waits = [browser.value(PAINTED), live, compared, *(browser.value(RUN.format(size)) for size in SIZES)]
    for edit in browser.value(EDIT.format(EDIT_SIZE)):
        waits += [edit - PAUSE_MS, edit]
    browser.close()
    return waits


def column(waits):
    known = [wait for wait in waits if wait is not None]
    return f"{min(known):6.0f} /{statistics.median(known):5.0f}" if known else f"{'–':>13}"


def main():
    pages = sys.argv[1:] or PAGES
    for page in pages:
        if not (SITE / page).is_file():
            sys.exit(f"bench.py: there is no site/{page}; make book writes the pages of the book")
    have = [start for start, program in ((chromium, shutil.which("chromium") or shutil.which("google-chrome")), (gecko, firefox.PROGRAM)) if program]
    if not have:
        sys.exit("bench.py: there is neither Chromium nor Firefox here")
    names = ["painted", "live", "compared", *(f"n={size}" for size in SIZES), "1st edit", "+ pause", "2nd edit", "+ pause"]
    print(f"{'smallest / median, ms':44}" + "".join(f"{name:>13}" for name in names))
    for start in have:
        with start() as browser:
            time.sleep(SETTLE_S)
            for page in pages:
                rounds = [measured(browser, page) for _ in range(ROUNDS)]
                print(f"{browser.name:9}{page:35}" + "".join(map(column, zip(*rounds))), flush=True)


if __name__ == "__main__":
    main()
