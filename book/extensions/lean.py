"""Removes from the site what no reader sees: elements around code that no colour distinguishes, indentation, unused files of the theme;
and writes the pages' own scripts without comments."""

import re
from pathlib import Path

from book.contents import ROOT
from book.extensions.figures import minify

VERBATIM = re.compile(r"(<(pre|script|style|textarea)\b.*?</\2>)", re.S)
UNUSED = ("*.map", "doctools.js", "sphinx_highlight.js", "searchtools.js", "language_data.js", "copybutton_funcs.js", "basic.css", "skeleton.css", "debug.css",
          "file.png", "minus.png", "plus.png")


SHORTER = [(re.compile(pattern), shorter) for pattern, shorter in (
    (r'<script src="[^"]*_static/(?:doctools|sphinx_highlight)\.js[^"]*"></script>', ""),
    (r'<span class="(?:w|n|o|p|nn|nx|pm)">([^<]*)</span>', r"\1"),  # white space, names, operators, punctuation
    (r"<pre><span></span>", "<pre>"),
    (r'<!--.*?-->|<meta name="viewport" content="width=device-width, initial-scale=1" />|(?<=rel="stylesheet") type="text/css"', ""),
    (r'<span class="pre">([^<]*)</span>', r"\1"),
    (r'<code class="docutils literal notranslate">', '<code class="literal">'),
    (r'<tr class="row-(?:odd|even)"', "<tr"),
    (r'(<t[dh](?: class="[^"]*")?>)<p>((?:(?!</?p>).)*)</p>\n?(</t[dh]>)', r"\1\2\3"),
    (r'<input type="hidden" name="(?:check_keywords|area)"[^>]*>|<div id="searchbox"></div>', ""),  # of Sphinx's own search
    (r'<svg[^>]*sd-octicon-chevron-right.*?</svg>', ""),  # book.css draws it
    (r'(<button class="theme-toggle"[^>]*>)[^\0]*?(</button>)', r"\1\2"),  # book.js adds the icons
)]


def lean(page):
    for pattern, shorter in SHORTER:
        page = pattern.sub(shorter, page)
    parts = VERBATIM.split(page)  # a text, then each verbatim element, its name, and the text after it
    parts[::3] = [re.sub(r"\s*\n\s*", "\n", text) for text in parts[::3]]
    del parts[2::3]
    return "".join(parts)


def make_lean(app, error):
    if error or app.builder.name != "html":
        return
    static = Path(app.outdir, "_static")
    for path in [path for pattern in UNUSED for path in static.glob(f"**/{pattern}")]:
        path.unlink()
    for path in (ROOT / "book/static").glob("*.js") if minify else ():
        static.joinpath(path.name).write_text(minify.string("application/javascript", path.read_text(encoding="utf-8")), encoding="utf-8")
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        if (short := lean(text)) != text:
            path.write_text(short, encoding="utf-8")


def setup(app):
    app.connect("build-finished", make_lean)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
