"""The glossary's words are linked where they first stand in a page; book/static/book.js adds to the link what the word means."""

import functools
import re

from docutils import nodes

from book.contents import ROOT, needed

PAGE = "docs/words"
ROW = re.compile(r"^\| (.+?) \| (.+?) \|$", re.M)
# Words that mean something else, too, in most places where they stand.
EVERYDAY = {"pass", "request", "cold", "warm", "iteration", "poll"}
NOT_IN = (nodes.reference, nodes.title, nodes.rubric, nodes.literal, nodes.literal_block, nodes.raw, nodes.caption, nodes.thead)


@functools.cache
def words():
    """Each word of the glossary with its meaning; in one row several may stand."""
    rows = ROW.findall((ROOT / f"{PAGE}.md").read_text(encoding="utf-8").replace("`", ""))[2:]
    return {word: meaning for names, meaning in rows for word in names.split(", ")}


def anchor(word):
    return "word-" + re.sub(r"\W+", "-", word.lower()).strip("-")


def pattern(names):
    """Finds any of the words, also in the plural; longer ones first."""
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])({either})(?:s|es)?(?![\w-])", re.I)


def give_anchors(app, doctree):
    """In the glossary itself each row can be linked."""
    if app.env.docname != PAGE:
        return
    for row in doctree.findall(nodes.row):
        names = row[0].astext().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split(", ")  # Sphinx makes typographic apostrophes
        row["ids"] += [anchor(word) for word in names if word in words()]


def link_words(app, doctree, page):
    if page == PAGE or page not in needed():
        return
    left = {word.lower(): word for word in words() if word not in EVERYDAY}
    for text in list(doctree.findall(nodes.Text)):
        if left and not any(isinstance(above, NOT_IN) for above in ancestors(text)):
            text.parent.replace(text, linked(str(text), left, app.builder.get_relative_uri(page, PAGE)))


def ancestors(node):
    while node.parent is not None:
        node = node.parent
        yield node


def linked(text, left, glossary):
    """The text as nodes, in which each word that is left became a link; takes these words out of left."""
    parts, end = [], 0
    for found in pattern(left).finditer(text):
        word = left.pop(found[1].lower(), None)
        if word:
            parts += [nodes.Text(text[end:found.start()]), link(found[0], word, glossary)]
            end = found.end()
    return [*parts, nodes.Text(text[end:])]


def link(shown, word, glossary):
    return nodes.raw("", f'<a class="word" href="{glossary}#{anchor(word)}">{shown}</a>', format="html")


def setup(app):
    app.connect("doctree-read", give_anchors)
    app.connect("doctree-resolved", link_words, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
