"""What the search looks through (book/static/search.js). A page from a disk may not fetch others, so their text comes as a script."""

import base64
import gzip
import json
from pathlib import Path

from docutils import nodes

from book.contents import chapters, program_of
from book.extensions import glossary

# A learner wants a lesson first, then what explains it, then what goes further: pages of the first ladder's part, and so on.
WORTH_OF_LESSON = {"The sum": 1, "The prefix sum": 0.6, "Labs": 0.4}
WORTH = {"The sum": 0.6, "Your own kernels": 0.5, "The prefix sum": 0.5, "Labs": 0.5, "Appendices": 0.15}


def no_search_of_its_own(app):
    """Sphinx's index knows whether a word stands in a page, but not how often, nor where it is explained."""
    app.builder.search = False


def write_texts(app, error):
    if error or app.builder.name != "html":
        return
    pages = [entry(app, page, part) for page, part in in_order()]
    packed = base64.b64encode(gzip.compress(json.dumps(pages, ensure_ascii=False).encode(), mtime=0)).decode()
    script = f'const packedPages = "{packed}"; // JSON, compressed by gzip, in base64\n'
    Path(app.outdir, "_static/texts.js").write_text(script, encoding="utf-8")


def in_order():
    """All pages of the chapters, and the part of the book in which each stands."""
    part = None
    for chapter in chapters():
        part = chapter.part or part
        yield from ((page, part) for page in chapter.pages)


def entry(app, page, part):
    lesson = bool(program_of(page))
    return {"page": app.builder.get_target_uri(page), "title": app.env.titles[page].astext(), "part": part,
            "lesson": lesson and part != "Labs", "glossary": page == glossary.PAGE, "worth": (WORTH_OF_LESSON if lesson else WORTH)[part],
            "places": [place.written() for place in places(app.env.get_doctree(page))]}


class Place:
    """A stretch of a page that a link can name: its words, and those of them that it explains, which stand in italics."""

    def __init__(self, node, heading):
        self.anchor, self.heading, self.texts, self.explained = next(iter(node["ids"]), ""), heading, [], []

    def written(self):
        return [self.anchor, self.heading, " ".join(" ".join(self.texts).split()), self.explained]


def places(doctree):
    """The page's places in order. What stands in code is among the words; what stands in an HTML comment is not."""
    found = [Place(doctree, "")]
    for node in doctree.findall():
        if (heading := heading_of(node)) is not None:
            found.append(Place(node, heading))
        elif isinstance(node, nodes.emphasis):
            found[-1].explained.append(node.astext())
        elif isinstance(node, nodes.Text) and not isinstance(node.parent, (nodes.raw, nodes.comment, nodes.title, nodes.rubric)):
            found[-1].texts.append(node.astext())
    return [place for place in found if place.texts]


def heading_of(node):
    """What a place is called that begins with this node; None where none begins."""
    if isinstance(node, nodes.section):
        return node.next_node(nodes.title).astext()
    if isinstance(node, nodes.rubric) and node["ids"]:
        return node.astext()
    if isinstance(node, nodes.container) and "one-try" in node["classes"]:
        return f"Try {node['ids'][0].rpartition('-')[2]}"
    if isinstance(node, nodes.row) and node["ids"]:
        return node[0].astext()
    return None


def setup(app):
    app.connect("builder-inited", no_search_of_its_own)
    app.connect("build-finished", write_texts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
