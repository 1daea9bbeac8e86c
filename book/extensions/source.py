"""The directive `source PATH`: a file as plain text, which book/static/source.js colours and numbers in the browser.

Coloured when the book is built, the files' pages took 19 MB. The harness that the programs of a ladder or a lab share is one
script for all of them, and stands in the page of the first program."""

import html
import json
import os
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from book.contents import MARK, ROOT

BLOCK = '<pre class="source"'
SHARED = "data-harness="


def first_program(path):
    """The program of step 00 beside a program: of its ladder or its lab; None if there is none."""
    return next(path.parent.parent.glob(f"step00_*/{path.name}"), None)


def harness_of(program):
    return "".join(program.read_text(encoding="utf-8").partition(MARK)[1:])


def shared_harness(path):
    """The program in whose page a program's harness stands; None if that is its own page."""
    first = first_program(path)
    return first if first and first != path and harness_of(path) and harness_of(path) == harness_of(first) else None


def script_name(program):
    """The script of the harness that the programs of a folder share."""
    return f"harness/{'-'.join((*program.relative_to(ROOT).parts[:-2], program.stem))}.js"


class Source(SphinxDirective):
    required_arguments = 1

    def run(self):
        path = ROOT / self.arguments[0]
        self.env.note_dependency(str(path))
        text, first = path.read_text(encoding="utf-8"), shared_harness(path)
        text = text.removesuffix(harness_of(path)) if first else text
        language = path.suffix.removeprefix(".") or path.name.lower()
        shared = f' {SHARED}"{script_name(first)}"' if first else ""
        block = f'<div class="highlight">{BLOCK} data-language="{language}"{shared}>\n{html.escape(text, quote=False)}</pre></div>\n'
        return [nodes.raw("", block + (self.without_scripts(first) if first else ""), format="html")]

    def without_scripts(self, first):
        name = first.relative_to(ROOT)
        address = os.path.relpath(f"{name}.html", os.path.dirname(self.env.docname))
        return f'<noscript><p>The harness follows, as in <a href="{address}">{name}</a>.</p></noscript>\n'


def add_scripts(app, page, template, context, doctree):
    body = context.get("body", "")
    if BLOCK in body:
        if SHARED in body:
            app.add_js_file(body.partition(f'{SHARED}"')[2].partition('"')[0])
        app.add_js_file("source.js", priority=801)


def write_harnesses(app):
    for first in (path for pattern in ("step00_*/*", "scan/step00_*/*", "labs/*/step00_*/*") for path in ROOT.glob(pattern) if path.suffix in (".cu", ".c")):
        script = Path(app.outdir, "_static", script_name(first))
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(f"const bookHarness = {json.dumps(harness_of(first), ensure_ascii=False)};\n", encoding="utf-8")


def setup(app):
    app.add_directive("source", Source)
    app.connect("builder-inited", write_harnesses)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
