"""The search shows where on a page the words stand. A page from a disk may not fetch others, so their text comes as a script."""

import json
from pathlib import Path

from docutils import nodes


def write_texts(app, error):
    if error or app.builder.name != "html":
        return
    pages = [page for page in app.env.found_docs if "nosearch" not in app.env.metadata[page]]
    texts = {app.builder.get_target_uri(page): text_of(app.env.get_doctree(page)) for page in sorted(pages)}
    script = f"const bookTexts = {json.dumps(texts, ensure_ascii=False)};\n"
    Path(app.outdir, "_static/texts.js").write_text(script, encoding="utf-8")


def text_of(doctree):
    """What a reader sees as text, in one line."""
    texts = (text.astext() for text in doctree.findall(nodes.Text) if not isinstance(text.parent, (nodes.raw, nodes.comment)))
    return " ".join(" ".join(texts).split())


def add_scripts(app, page, template, context, doctree):
    if page == "search":
        app.add_js_file("texts.js")
        app.add_js_file("excerpts.js")


def setup(app):
    app.connect("build-finished", write_texts)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
