#!/usr/bin/env python3
"""collect.py FOLDER: writes the pages for Sphinx into FOLDER, with all files that they link to.

Pages keep their paths, so that links between them work. Folds become directives, because they contain Markdown; each
lesson gets the diff from the step before; a linked source file gets its own page. Unchanged files are not rewritten, so
that Sphinx does not read them again."""

import gzip
import os
import re
import sys
from pathlib import Path

from book.contents import FIRST, ROOT, chapters, file_of, program_of, step_before

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"^ *(```|~~~)")
AS_THEY_ARE = {".csv", ".svg", ".webp", ".ipynb"}
LONG_BYTES = 10_000  # longer tables and outputs are in the book as files compressed by gzip
PACKED = ".gz"


def folds(text):
    """The text with <details> as directives, line by line; code blocks are unchanged."""
    lines, in_code = [], False
    for line in text.split("\n"):
        in_code ^= bool(FENCE.match(line))
        lines.append(line if in_code else fold(line))
    return "\n".join(lines)


def fold(line):
    opened = re.fullmatch(r"(?:<details>)?<summary>(.*)</summary>", line)
    if opened:
        return ":::{dropdown} " + re.sub("<.*?>", "", opened[1])
    return {"<details>": "", "</details>": ":::"}.get(line, line)


def without_navigation(text):
    """The text without its last lines' links to the previous and next page and to the glossary: the book has its own."""
    return re.sub(r"(\n\[Glossary\]\([^)]*\)\n)?\n(previous: )?(\[[^\]]*\]\([^)]*\)( · (next: )?)?)+\n*\Z", "\n", text)


def with_change(text, page):
    """A step's page with the diff from the step before, after its kernel."""
    before, program = step_before(page), program_of(page)
    if not before:
        return text
    paths = (path.relative_to(ROOT) for path in (program_of(before), program))
    return text.replace("\n## Predict before you run\n", "\n```{change} %s %s\n```\n\n## Predict before you run\n" % tuple(paths))


def with_packed_files(text, page):
    """The text with links to compressed files where it links to long tables and outputs."""
    def packed(found):
        target = ROOT / os.path.normpath(Path(page).parent / found[1])
        is_long = target.suffix in (".csv", ".txt") and target.is_file() and target.stat().st_size > LONG_BYTES
        return found[0].replace(found[1], found[1] + PACKED) if is_long else found[0]
    return LINK.sub(packed, text)


def list_of(pages, *options):
    """A table of contents of (title or "", page) pairs; pages are absolute paths."""
    entries = [f"{title} <{'self' if page == FIRST else '/' + page}>" if title else f"/{page}" for title, page in pages]
    return "\n".join(["", "```{toctree}", *options, "", *entries, "```", ""])


def page_text(page):
    text = file_of(page).read_text(encoding="utf-8")
    text = with_packed_files(with_change(without_navigation(folds(text)), page), page)
    following = [chapter.pages[1:] for chapter in chapters() if chapter.head == page and len(chapter.pages) > 1]
    return text + "".join(list_of([("", each) for each in pages], ":hidden:") for pages in following)


def list_of_chapters():
    """The tables of contents of all parts, for the first page."""
    parts = []
    for chapter in chapters():  # the first one starts a part
        if chapter.part:
            parts.append((chapter.part, []))
        parts[-1][1].append((chapter.title, chapter.head))
    return "".join(list_of(heads, ":hidden:", f":caption: {part}") for part, heads in parts)


def chapter_text(chapter):
    return f"# {chapter.title}\n\n{chapter.opening}\n{list_of([('', page) for page in chapter.pages], ':maxdepth: 1')}"


def source_text(path):
    """The page of a source file; excluded from the search."""
    return f"---\norphan: true\nnosearch: true\n---\n\n# {path}\n\n```{{source}} {path}\n```\n"


def folder_text(folder, known):
    """The page of a folder: its files, with links to those that have a page."""
    names = sorted(path.name for path in (ROOT / folder).iterdir() if path.is_file())
    rows = [f"- [{name}]({name})" if folder / name in known else f"- {name}" for name in names]
    return f"---\norphan: true\nnosearch: true\n---\n\n# {folder}/\n\n" + "\n".join(rows) + "\n"


def linked(page, text):
    """The files and folders that a page links to, without pages, as paths in the repository."""
    targets = (os.path.normpath(Path(page).parent / target) for target in LINK.findall(text) if "://" not in target)
    return {Path(target) for target in targets if (ROOT / target.removesuffix(PACKED)).exists() and not target.endswith(".md")}


def collected():
    """All files of the folder, by path: text, or bytes of files that are copied."""
    pages = [page for chapter in chapters() for page in chapter.pages]
    files = {f"{page}.md": page_text(page) for page in pages}
    files[f"{FIRST}.md"] += list_of_chapters()
    files |= {f"{chapter.head}.md": chapter_text(chapter) for chapter in chapters() if chapter.opening}
    targets = set().union(*(linked(name, text) for name, text in files.items()))
    targets |= {program.relative_to(ROOT) for page in pages if (program := program_of(page))}
    for path in targets:
        files |= files_of_target(path, targets)
    return files


def files_of_target(path, known):
    if (ROOT / path).is_dir():
        return {f"{path}/folder.md": folder_text(path, known)}
    if path.suffix == PACKED:
        return {str(path): gzip.compress((ROOT / path.with_suffix("")).read_bytes(), mtime=0)}
    if path.suffix in AS_THEY_ARE:
        return {str(path): (ROOT / path).read_bytes()}
    return {f"{path}.md": source_text(path)}


def update(folder, files):
    """Writes the files that have changed, and removes those that are no longer needed."""
    for path in [path for path in folder.rglob("*") if path.is_file() and str(path.relative_to(folder)) not in files]:
        path.unlink()
    for name, text in files.items():
        path, content = folder / name, text if isinstance(text, bytes) else text.encode()
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


if __name__ == "__main__":
    update(Path(sys.argv[1]), collected())
