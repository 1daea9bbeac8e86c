"""The list of chapters, the icons and the meanings of words are in one script for all pages; the list is also a page, contents.html.

In each page, chapters and icons took 37 KB. A page from a disk may not fetch others, so they come as a script (book/static/navigation.js uses it)."""

import json
import re
from pathlib import Path

import furo

from book.extensions import glossary

PAGE = "contents"
CONTROLS = re.compile(r"<input[^>]*>|<label.*?</label>", re.S)  # unfold a chapter in the side column
CAPTION = re.compile(r'<p class="caption"[^>]*><span class="caption-text">(.*?)</span></p>')
UNUSED_ICONS = re.compile(r'<symbol id="svg-(?:pencil|eye)".*?</symbol>|\{#.*?#\}', re.S)


def list_chapters(app, page, template, context, doctree):
    """Writes the script, and gives the page of all chapters its text: its links are those of the site's root."""
    if page != PAGE:
        return
    tree = context["furo_navigation_tree"]
    context["all_chapters"] = CAPTION.sub(r"<h2>\1</h2>", CONTROLS.sub("", tree))
    texts = {"bookChapters": tree, "bookIcons": icons(),
             "bookWords": {glossary.anchor(word): meaning for word, meaning in glossary.words().items()}}
    script = "".join(f"const {name} = {json.dumps(text, ensure_ascii=False)};\n" for name, text in texts.items())
    Path(app.outdir, "_static/chapters.js").write_text(script, encoding="utf-8")


def icons():
    """Furo's symbols that the pages use, as an SVG element."""
    text = Path(furo.__file__).with_name("theme").joinpath("furo/partials/icons.html").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", UNUSED_ICONS.sub("", text)).strip()


def setup(app):
    app.connect("html-page-context", list_chapters, priority=950)  # after conf.py
    return {"parallel_read_safe": True, "parallel_write_safe": True}
