"""The directive `change OLD NEW`: the diff of two programs' lessons, side by side, drawn when the book is built."""

import difflib
import html
import os
import re

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from sphinx.util.docutils import SphinxDirective

from book.contents import ROOT, lesson_of

CONTEXT = 3  # lines before and after a difference


class Change(SphinxDirective):
    required_arguments = 2

    def run(self):
        paths = [ROOT / name for name in self.arguments]
        for path in paths:
            self.env.note_dependency(str(path))
        links = [link(name, self.env.docname) for name in self.arguments]
        return [nodes.raw("", drawn(*(lines_of(path) for path in paths), *links), format="html")]


def link(name, page):
    """The page of a source file, under its folder's name, as seen from a page."""
    return f'<a href="{os.path.relpath(name + ".html", os.path.dirname(page))}">{html.escape(name)}</a>'


def lines_of(program):
    """The lesson's lines: what is compared of them, and as HTML in colours."""
    text = lesson_of(program)
    lexer = get_lexer_for_filename(program.name, stripnl=False)
    return compared(text.splitlines()), highlight(text, lexer, HtmlFormatter(nowrap=True)).splitlines()


def compared(lines):
    """The lines without what says only which step it is: the first comment, and the step's name."""
    first = lines.index("")
    return [""] * first + [re.sub(r'^(static const char STEP\[\] = ).*', r"\1", line) for line in lines[first:]]


def drawn(old, new, old_link, new_link):
    """HTML: one grid row for each stretch of lines, so that both sides stay level."""
    matcher = difflib.SequenceMatcher(None, old[0], new[0], autojunk=False)
    hunks = ["".join(stretch(old[1], new[1], *part) for part in hunk) for hunk in matcher.get_grouped_opcodes(CONTEXT)]
    gap = '<div class="gap">⋯</div>\n'
    return ('<div class="change highlight" role="group" aria-label="What this step changes">\n'
            f'<div class="sides"><div class="old">{old_link}</div><div class="new">{new_link}</div></div>\n'
            f"{gap.join(hunks)}</div>\n")


def stretch(old, new, kind, old_from, old_to, new_from, new_to):
    """Lines that are the same on both sides, or that differ."""
    same = kind == "equal"
    left = side("span" if same else "del", old, old_from, old_to)
    right = side("span" if same else "ins", new, new_from, new_to)
    return f'<div class="{"same" if same else "differs"}"><div class="old">{left}</div><div class="new">{right}</div></div>\n'


def side(element, lines, first, end):
    return "".join(f'<{element} class="row"><i>{number + 1}</i><code>{lines[number]}</code></{element}>'
                   for number in range(first, end))


def setup(app):
    app.add_directive("change", Change)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
