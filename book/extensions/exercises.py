"""The page of the exercises: the directive `exercises` writes the tasks, which the search finds, and the page's scripts make them live."""

import html
import itertools
import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from book.contents import ROOT
from book.exercises import data
from book.extensions import figures
from drywarp.learn import exercise as exercises

# Names in a task: out[blockIdx.x], threadIdx.x, __syncthreads(), atomicAdd, n = 900
CODE = re.compile(r"(\b\w+\[[^\]]+\](?: [-+*/]?= [\w\[\].]+(?: [-+*] [\w\[\].]+)*)?|\b\w+\.[xyz]\b|\b_*[A-Za-z]\w*\([\w, ]*\)|\b[a-z]+_\w+\b|\batomic[A-Z]\w*|\b[a-z]\w* = \d[\d,]*)")
FOLDER = ROOT / "book/exercises"
PAGES = {"book/exercises": ("judge", "words", "parts", "progress", "editor", "exercise", "page"),
         "book/playground": ("judge", "contract", "parts", "editor", "playground")}


def place(task):
    """The element in which the scripts open an exercise."""
    given = {"name": task.name, "number": task.number, "title": task.title, "kind": task.kind, "chapter": task.chapter}
    return '<div class="ex-place"' + "".join(f' data-{key}="{html.escape(value)}"' for key, value in given.items()) + "></div>\n"


def in_code(words):
    """A text as nodes, in which names and expressions of CUDA are code."""
    parts = CODE.split(words)
    return [nodes.literal("", part) if k % 2 else nodes.Text(part) for k, part in enumerate(parts) if part]


def prediction_parts(text):
    """The words and the code of a task whose numbers are written into fields: the comment at its beginning, without the lines to fill in."""
    comment, code = text.split("\n\n", 1)
    words = " ".join(line.removeprefix("//").strip() for line in comment.split("\n//\n")[0].split("\n"))
    return re.sub(r"(, w|W)rite your numbers after the equals signs, and save", lambda found: found[1].replace(", w", ", and w") + "rite your numbers into the fields", words), code


def section_of(task):
    words, text = prediction_parts(task.text("task.cu")) if task.kind == "predict" else (task.task, task.text("task.cu"))
    title, paragraph = nodes.title("", f"{task.number} {task.title}"), nodes.paragraph("", "", nodes.Text(f"{task.kind.capitalize()}: "), *in_code(words))
    code = nodes.literal_block("", text, language="cuda")
    return nodes.section("", title, paragraph, code, nodes.raw("", place(task), format="html"), ids=[f"exercise-{task.number}"], names=[])


class Exercises(SphinxDirective):
    def run(self):
        chapters = itertools.groupby(exercises.every(), lambda task: task.chapter)
        sections = [nodes.section("", nodes.title("", chapter), *map(section_of, tasks), ids=[f"chapter-{chapter.split('.')[0]}"], names=[])
                    for chapter, tasks in chapters]
        return [nodes.raw("", '<div class="ex-app"></div>\n', format="html"), *sections]


class Playground(SphinxDirective):
    def run(self):
        return [nodes.raw("", '<div class="pg-app"></div>\n', format="html")]


def add_scripts(app, page, template, context, doctree):
    """Adds the scripts to the pages that need them: after the player's, on which they build."""
    for name in PAGES.get(page, ()):
        app.add_js_file(f"exercises/{name}.js", defer="defer", priority=900)
    if page in PAGES:
        figures.add_player(app)
        app.add_js_file("player/simulator.js", defer="defer")
        app.add_js_file("codemirror/codemirror.js", priority=700, defer="defer")  # before the player's scripts
        app.add_css_file("codemirror/codemirror.css", priority=700)
        app.add_css_file("exercises/exercises.css")
        context["furo_hide_toc"] = True


def copy_files(app):
    """Copies the scripts, and writes the exercises' data next to them."""
    static = Path(app.outdir, "_static/exercises")
    shutil.copytree(FOLDER, static, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.py", "*.md", "__pycache__"))
    data.write(static / "data")


def setup(app):
    app.add_directive("exercises", Exercises)
    app.add_directive("playground", Playground)
    app.connect("builder-inited", copy_files)
    app.connect("html-page-context", add_scripts, priority=901)  # after the player's
    return {"parallel_read_safe": True, "parallel_write_safe": True}
