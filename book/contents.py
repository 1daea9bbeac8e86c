"""The book's chapters, from contents.toml, and the programs of the ladders. A page's name is its path without ".md"."""

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MARK = "// ==== Harness"
FIRST = "index"


@dataclass(frozen=True)
class Chapter:
    title: str
    pages: tuple[str, ...]    # in order; the first page of a lab is the lab's own
    opening: str              # the text of the chapter's page; empty if it has none
    part: str | None          # the part of the book that starts here
    needs: tuple[str, ...]    # the pages to read before the first page, unless that is the page before it
    head: str                 # the page in the list of chapters


@functools.cache
def chapters():
    """All chapters, in order. A step that contents.toml does not name belongs to the chapter of the step before it."""
    with open(ROOT / "book/contents.toml", "rb") as file:
        rows = tomllib.load(file)["chapter"]
    for steps in (sorted(ROOT.glob("step[0-9][0-9]_*/README.md")), sorted(ROOT.glob("scan/step[0-9][0-9]_*/README.md"))):
        names = [str(path.relative_to(ROOT).with_suffix("")) for path in steps]
        for before, name in zip(names, names[1:]):
            if not any(name in row.get("pages", ()) for row in rows):
                pages = next(row["pages"] for row in rows if before in row.get("pages", ()))
                pages.insert(pages.index(before) + 1, name)
    return [chapter(**row) for row in rows]


def chapter(title, pages=(), opening="", part=None, needs=(), lab=None):
    if lab:
        steps = sorted(path.parent.name for path in (ROOT / "labs" / lab).glob("step[0-9][0-9]_*/README.md"))
        pages = [f"labs/{lab}/README", *(f"labs/{lab}/{step}/README" for step in steps), *pages]
    head = f"chapters/{slug(title)}" if len(pages) > 1 and not lab else pages[0]
    return Chapter(title, tuple(pages), opening, part, tuple(needs), head)


def slug(title):
    return "-".join(re.findall(r"[a-z]+", title.lower()))


@functools.cache
def needed():
    """For each page, the pages to read before it. A page with a program builds on the page before."""
    needs, last = {}, ()
    for chapter in chapters():
        for page in chapter.pages:
            needs[page] = last if program_of(page) else chapter.needs if page == chapter.pages[0] else ()
            last = (page,)
    return needs


def file_of(page):
    return ROOT / ("book/index.md" if page == FIRST else f"{page}.md")


def program_of(page):
    """The program in a page's folder, or None: the page of several programs is no lesson."""
    folder = ROOT / Path(page).parent
    programs = [*folder.glob("*.cu"), *folder.glob("*.c")] if folder != ROOT else []
    return programs[0] if len(programs) == 1 else None


def step_before(page):
    """The page of the step before, in the same ladder; None for first steps and other pages."""
    folder = Path(page).parent
    if not folder.name.startswith("step"):
        return None
    steps = sorted(path.name for path in (ROOT / folder).parent.glob("step[0-9][0-9]_*"))
    place = steps.index(folder.name)
    return str(folder.parent / steps[place - 1] / "README") if place else None


def lesson_of(program):
    """A program's lesson: the text above the harness."""
    return program.read_text(encoding="utf-8").split(MARK)[0].rstrip() + "\n"
