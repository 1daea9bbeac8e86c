#!/usr/bin/env python3
"""bench.py [PAGE...]: how long a reader waits in Chromium, opening pages from the disk: until something is painted, until the figure
shows a run, for a run at larger sizes, and from the last keystroke of an edit to its answer, which includes the editor's pause of
300 ms; the first edit also compiles and runs the text as written. Medians of some rounds, in ms; `make bench-book` prints them for three pages.
PAGE: others, as they lie in site/, such as scan/step10_bulk/README.html."""

import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SITE = Path(__file__).resolve().parents[1] / "site"
PAGES = ["index.html", "step03_sequential/README.html", "scan/step08_lookback/README.html"]
SIZES = [4096, 65536]
ROUNDS = 5
READY = "figure.pl-is-live[aria-busy=false]"
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
RAN = f"""new Promise((done) => {{
    const look = () => document.querySelector("{READY}") ? done(performance.now()) : requestAnimationFrame(look);
    look();
}})"""
RUN = """async (n) => {
    const figure = document.querySelector("figure.player"), began = performance.now();
    await Player.choose(figure, {try: 0, n});
    return performance.now() - began;
}"""
# Adds a line to the kernel; resolves when the figure shows the edited text's run and the one to compare with.
EDIT = """async (n) => {
    const figure = document.querySelector("figure.player"), code = document.querySelector(".CodeMirror").CodeMirror;
    await Player.choose(figure, {try: 0, n});
    const edit = async () => {
        const began = performance.now();
        code.replaceRange("// an edit\\n", {line: code.lineCount() - 1, ch: 0});
        while (figure.getAttribute("aria-busy") === "true")
            await new Promise(requestAnimationFrame);
        return performance.now() - began;
    };
    return [await edit(), await edit()];
}"""
EDIT_SIZE = 4096


def opened(browser, page):
    """A page in a browser that knows nothing yet; it has been scrolled to its figure. What was waited for, in ms."""
    tab = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    tab.goto(f"{SITE.as_uri()}/{page}", wait_until="commit")
    tab.locator("figure.player").scroll_into_view_if_needed()
    shown = tab.evaluate(RAN)
    return tab, [tab.evaluate(PAINTED), shown]


def measured(browser, page):
    """Of one round: painted, shown, each size's run, and two edits."""
    tab, waits = opened(browser, page)
    waits += [tab.evaluate(RUN, size) for size in SIZES] + tab.evaluate(EDIT, EDIT_SIZE)
    tab.context.close()
    return waits


def main():
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("bench.py: there is no Chromium here")
    pages = sys.argv[1:] or PAGES
    for page in pages:
        if not (SITE / page).is_file():
            sys.exit(f"bench.py: there is no site/{page}; make book writes the pages of the book")
    names = ["painted", "figure shows a run", *(f"run at n = {size:,}" for size in SIZES), f"first edit at n = {EDIT_SIZE:,}", "second edit"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for page in pages:
            rounds = [measured(browser, page) for _ in range(ROUNDS)]
            medians = [statistics.median(column) for column in zip(*rounds)]
            print(page + ": " + ", ".join(f"{name} {wait:.0f} ms" for name, wait in zip(names, medians)))
        browser.close()


if __name__ == "__main__":
    main()
