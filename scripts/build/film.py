#!/usr/bin/env python3
"""Records the figure of a lesson in Chromium, for the first page: step 03 plays, a click removes a barrier, and the race is reported.

Each frame shows a step of the run, independent of a clock: two recordings of the same figure are alike."""

import io
import shutil
import sys
import tempfile
from pathlib import Path

from drywarp.errors import Parser
from drywarp.files import whole
from drywarp.page import SCRIPTS

PLAYER = Path(__file__).resolve().parents[2] / "book/player"
EDITOR = PLAYER.parents[1] / "build/book/codemirror"  # make book writes it
READY = "figure.pl-is-live[aria-busy=false]"
BARRIER = 20  # its line in step 03
RESTORE = ".pl-tools button:has-text('reset')"
FIRST, LAST, STRIDE = 10, 75, 5  # steps that are played
WIDTH = 964  # of the figure
FRAME_MS, LOOK_MS, READ_MS = 200, 1200, 5000
POINTER = """<svg id="pointer" width="26" height="26" viewBox="0 0 24 24" style="position:fixed;z-index:9;pointer-events:none">
<path d="M4 2 20 12 12 13.5 8.5 21Z" fill="#111" stroke="#fff" stroke-width="1.5"/></svg>"""


def lesson_page(page, program, before):
    """Writes a page with one player, as the book's pages have it, and returns its address."""
    files = [*EDITOR.glob("codemirror.js"), *(PLAYER / f"{name}.js" for name in SCRIPTS[1:])]
    scripts = "".join(f'<script defer src="{file.as_uri()}"></script>' for file in files)
    styles = "".join(f'<link rel="stylesheet" href="{file.as_uri()}">' for file in [*EDITOR.glob("codemirror.css"), PLAYER / "player.css"])
    page.write_text(f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A lesson</title>
        <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
        {styles}{scripts}</head>
        <body><main><h1>A lesson</h1><figure class="player" data-program="{program}" data-before="{before}"></figure></main></body></html>""")
    return page.as_uri()


class Film:
    """The frames so far: screenshots of the figure down to the end of its time line, and their durations in ms."""

    def __init__(self, page):
        self.page, self.pictures, self.durations = page, [], []
        figure, track = (page.locator(place).bounding_box() for place in ("figure.player", ".pl-track"))
        self.height = round(track["y"] + track["height"] - figure["y"]) + 46  # a finding adds two lines above
        self.pointer = WIDTH * 0.7, self.height * 0.75

    def take(self, milliseconds):
        box = self.page.locator("figure.player").bounding_box()
        self.pictures.append(self.page.screenshot(clip={"x": box["x"], "y": box["y"], "width": WIDTH, "height": self.height}))
        self.durations.append(milliseconds)

    def point(self, place, steps=6):
        """Moves the pointer to the middle of an element."""
        box = self.page.locator(place).bounding_box()
        to = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for step in range(1, steps + 1):
            x, y = (a + (b - a) * step / steps for a, b in zip(self.pointer, to))
            self.page.evaluate("([x, y]) => { const at = document.getElementById('pointer').style; at.left = x + 'px'; at.top = y + 'px'; }", [x, y])
            self.take(FRAME_MS // 2)
        self.pointer = to


def play(page, film):
    """Records the run as written, from the loads to the third round of the tree."""
    page.locator(".pl-track").focus()
    page.keyboard.press("Home")
    for step in range(1, LAST + 1):
        page.keyboard.press("ArrowRight")
        if step >= FIRST and (step - FIRST) % STRIDE == 0:
            film.take(FRAME_MS)


def record(page):
    film, barrier = Film(page), f'button.pl-cut[data-line="{BARRIER}"]'
    page.evaluate("shape => document.body.insertAdjacentHTML('beforeend', shape)", POINTER)
    page.evaluate("scrollTo(0, document.querySelector('figure.player').offsetTop)")
    film.point(".pl-track", steps=1)
    play(page, film)
    film.point(barrier)
    film.take(LOOK_MS)
    page.locator(barrier).click()
    page.wait_for_selector(".pl-finding")
    page.wait_for_selector(READY)
    film.take(READ_MS)
    film.point(RESTORE)
    page.locator(RESTORE).click()
    page.wait_for_selector(".pl-finding", state="detached")
    page.wait_for_selector(READY)
    film.take(LOOK_MS)
    return film


def write(film, path):
    """Writes an animated WebP: endless and lossless."""
    from PIL import Image
    first, *others = (Image.open(io.BytesIO(picture)).convert("RGB") for picture in film.pictures)
    with whole(path, "wb") as file:
        first.save(file, format="WEBP", save_all=True, append_images=others, duration=film.durations, loop=0, lossless=True, quality=100, method=4)


def main():
    parser = Parser(description=__doc__)
    parser.add_argument("output", type=Path, metavar="FILE.webp")
    output = parser.parse_args().output
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("film.py: Chromium is missing, which shows the figure")
    from playwright.sync_api import sync_playwright
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH + 16, "height": 1200}, color_scheme="light")
        page.emulate_media(reduced_motion="reduce")
        page.goto(lesson_page(Path(folder) / "lesson.html", "step03", "step02"))
        page.wait_for_selector(READY)
        film = record(page)
        browser.close()
    write(film, output)
    print(f"recorded: {output}, {len(film.pictures)} frames, {output.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
