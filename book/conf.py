"""Sphinx's settings for the book: `make book`. The pages come from book/collect.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from book.extensions import figures

project = "Parallel reduction in CUDA, step by step"
root_doc = "index"
extensions = ["myst_parser", "sphinx_design", "sphinx_copybutton",
              *(f"book.extensions.{name}" for name in ("change", "chapters", "exercises", "figures", "flight", "glossary", "lean", "lesson", "links", "policy", "search",
                                                     "source"))]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
highlight_language = "none"
suppress_warnings = ["myst.header"]

html_theme = "furo"
html_title = "Parallel reduction in CUDA"
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["book.css", *(["player/player.css"] if figures.player_scripts() else [])]
html_js_files = ["book.js"]
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_show_copyright = False
html_additional_pages = {"search": "search.html", "contents": "contents.html"}
html_permalinks_icon = "#"
html_theme_options = {"top_of_page_buttons": []}
pygments_dark_style = "github-dark"
copybutton_selector = "div.highlight pre"
copybutton_exclude = ".linenos"


def setup(app):
    app.connect("html-page-context", give_captions_a_level, priority=900)  # after furo


def give_captions_a_level(app, page, template, context, doctree):
    """Adds a level to the headings in the list of chapters, for screen readers."""
    context["furo_navigation_tree"] = context["furo_navigation_tree"].replace('role="heading"', 'role="heading" aria-level="2"')
