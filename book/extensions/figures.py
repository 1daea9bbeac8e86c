"""Inlines SVG charts and figures, so that they use the page's colours, and puts a lesson's player before its Tries."""

import difflib
import html
import json
import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from book.contents import ROOT, program_of, step_before
from drywarp.page import SCRIPTS

try:
    import minify
except ImportError:  # not available on all machines (book/requirements.txt): scripts are then not minified
    minify = None

PLAYER = ROOT / "book/player"
EDITOR = ROOT / "build/book/codemirror"  # of book/editor.py
NAMED = re.compile(r'\bid="|url\(#|href="#')
REFERENCE = re.compile(r'(?:url\(#|href="#)([^")]*)')
LABEL = re.compile(r'<!-- ((?:(?!-->).)*) -->\s*<g( style="[^"]*")? transform="([^"]*?) scale\(([\d.]+) [^"]*">.*?</g>', re.S)
RAISED = re.compile(r"\$(?:\\mathdefault\{)?(\d+)\^\{(-?\d+)\}\}?\$")  # 2^24
RAISED_DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
WATCH = "Edit the code, remove a barrier, choose a size, or press a Try: the program runs again in this page."
PROGRAM = re.compile(r' data-(?:program|before)="(\w+)"')
RUNS_AT_ONCE = re.compile(r'<figure class="player"(?![^>]*data-wait)')
DARK = "@media (prefers-color-scheme: dark)"


def inline(svg, name, words):
    """An SVG file as an element of a page: `words` is its label; `name` makes its ids and rules unique."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>|<title>.*?</title>", "", svg, flags=re.S)
    kind = "chart" if "matplotlib" in svg else "picture"
    svg = shortened(svg) if kind == "chart" else svg
    svg = NAMED.sub(lambda found: f"{found[0]}{name.replace('figure-', 'f')}-", svg)
    svg = re.sub(r"<style>(.*?)</style>", lambda found: f"<style>{apart(found[1], f'#{name}')}</style>", svg, flags=re.S)
    svg = re.sub(r"(fill|stroke): ?(#(?:000000|ffffff|b0b0b0|606060|707070|0072b2))\b",
                 lambda found: f"{found[1]}:var(--chart-{found[2][1:]},{found[2]})", svg)
    return svg.replace("<svg", f'<svg id="{name}" class="{kind}" role="img" '
                               f'aria-label="{html.escape(words)}"', 1).replace(' role="img">', ">", 1)


def words_of(label):
    """A label of matplotlib, where powers are formulas."""
    words = RAISED.sub(lambda found: found[1] + found[2].translate(RAISED_DIGITS), label)
    assert "$" not in words, f"a formula in a chart's label: {words}"
    return words


def shortened(svg):
    """A chart of matplotlib with hundredths of a point, short names, text instead of letters' outlines, and nothing unseen: a sixth of its bytes."""
    labels = [words_of(found[1]) for found in LABEL.finditer(svg)]
    svg = LABEL.sub(lambda found: f'<text{found[2] or ""} transform="{found[3]}" font-size="{100 * float(found[4]):g}">\0</text>', svg)
    names = {name: f"{number:x}" for number, name in enumerate(dict.fromkeys(REFERENCE.findall(svg)))}
    svg = re.sub(r"<!--.*?-->|<g/>|\s+(?=<)", "", svg, flags=re.S)
    svg = re.sub(r' id="([^"]*)"', lambda found: f' id="{names[found[1]]}"' if found[1] in names else "", svg)
    svg = REFERENCE.sub(lambda found: found[0].replace(found[1], names[found[1]]), svg)
    svg = re.sub(r"-?\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r'(?<= d=")[^"]*', lambda found: re.sub(r"\s*([A-Za-z])\s*", r"\1", found[0]), svg)
    svg = svg.replace("xlink:href", "href").replace(": ", ":").replace("; ", ";")
    return re.sub("\0", lambda found: labels.pop(0), svg)


def apart(style, within):
    """The rules of a style sheet, restricted to one element; those for dark mode follow the page's switch, too."""
    light, _, dark = style.partition(DARK)
    dark = dark.strip().removeprefix("{").removesuffix("}")
    both = narrowed(light, within)
    if dark:
        both += (f"@media not print {{ {narrowed(dark, f'body[data-theme=dark] {within}')} }}\n"
                 f"@media screen and (prefers-color-scheme: dark) {{ {narrowed(dark, f'body:not([data-theme=light]) {within}')} }}\n")
    return both


def narrowed(rules, within):
    """Rules (without any @) with each selector nested in another."""
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", rules)
    return "".join(", ".join(f"{within} {each.strip()}" for each in selectors.split(",")) + f" {{{body}}}\n" for selectors, body in rules)


def has_player(program):
    return all((PLAYER / name).exists() for name in ("player.js", "simulator.js", f"programs/{program}.js"))


def player(program, picture, before="", elements="", title=""):
    """A lesson's figure: the player; without scripts, the still figure in it."""
    given = {"program": program, "before": before, "n": elements, "title": title} if has_player(program) else {}
    data = "".join(f' data-{key}="{html.escape(value)}"' for key, value in given.items() if value)
    return f'<figure class="{"player" if given else "drawn"}"{data}>{picture}</figure>\n'


def recording(page):
    """The name of a step's recording: step03, scan07; None if it has none."""
    found = re.fullmatch(r"(scan/)?step(\d\d)_\w+/README", page or "")
    return found and ("scan" if found[1] else "step") + found[2]


def place_figures(app, doctree):
    """Replaces each SVG image by an inline figure."""
    page = app.env.docname
    images = [image for image in doctree.findall(nodes.image) if image["uri"].endswith(".svg")]
    for number, image in enumerate(images, 1):
        path = Path(app.env.relfn2path(image["uri"])[1])
        app.env.note_dependency(str(path))
        picture = inline(path.read_text(encoding="utf-8"), f"figure-{number}", image.get("alt", ""))
        alone = image.parent.astext() == "" and len(list(image.parent.findall(nodes.image))) == 1
        drawn = f'<figure class="drawn">{picture}</figure>\n'
        (image.parent if alone else image).replace_self(nodes.raw("", drawn, format="html"))
    if has_player(recording(page)):
        place_player(page, doctree)


def frame_recording(app, doctree):
    """The animation of README.md looks like the player: it and its caption get a frame, and their links lead to the player."""
    for image in [one for one in doctree.findall(nodes.image) if one["uri"].endswith(".webp")]:
        paragraph = image.parent
        while not isinstance(paragraph, nodes.paragraph):
            paragraph = paragraph.parent
        caption = paragraph.next_node(descend=False, siblings=True)
        frame = nodes.container("", classes=["recorded"])
        paragraph.replace_self(frame)
        caption.parent.remove(caption)
        frame += [paragraph, caption]
        for link in frame.findall(addnodes.pending_xref):
            link["reftarget"], link["reftargetid"] = "index", None


def place_player(page, doctree):
    """Puts a lesson's player before its Tries, after the questions: it shows what the reader predicts."""
    title = next(doctree.findall(nodes.title)).astext()
    figure = player(recording(page), "", recording(step_before(page)) or "", title=title)
    for section in list(doctree.findall(nodes.section)):
        if "try" in section["ids"]:
            watch = nodes.section("", nodes.title("", "Watch it run"), nodes.paragraph("", WATCH),
                                  nodes.raw("", figure, format="html"), ids=["watch-it-run"])
            section.parent.insert(section.parent.index(section), watch)


class Player(SphinxDirective):
    """`player PAGE N`: the player of a step's page, on another page; its text is shown only with the player."""

    required_arguments = 2
    has_content = True

    def run(self):
        words = nodes.container("", *self.parse_content_to_nodes(), classes=["needs-scripts"])
        figure = nodes.raw("", self.figure(*self.arguments), format="html")
        return [words, figure] if has_player(recording(self.arguments[0])) else [figure]

    def figure(self, page, elements):
        text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
        words, uri = re.search(r"!\[(.*?)\]\((.*?\.svg)\)", text).groups()
        svg = (program_of(page).parent / uri).read_text(encoding="utf-8")
        title = re.search(r"^# (.*)$", text, re.M)[1]
        picture = inline(svg, "figure-first", words)
        return player(recording(page), picture, recording(step_before(page)) or "", elements, title)


def player_scripts():
    """The player's own scripts in loading order; none if the player is missing."""
    return [PLAYER / f"{name}.js" for name in SCRIPTS[1:]] if (PLAYER / "player.js").exists() else []


def add_player(app):
    """Adds the player to a page: copy_player joins its own scripts, because a browser opens one file sooner than many."""
    if player_scripts():
        app.add_js_file("player/player.js", defer="defer", priority=800)  # after the editor


def make_room(app, page, template, context, doctree):
    """Pages with a player load its editor, and have no list of headings: the player needs the width."""
    if doctree and 'class="player"' in context["body"]:
        context["furo_hide_toc"] = True
        app.add_js_file("codemirror/codemirror.js", priority=700, defer="defer")  # before the player's scripts
        app.add_css_file("codemirror/codemirror.css", priority=700)
        app.add_css_file("wide.css", priority=900)  # after book.css
        for program in dict.fromkeys(PROGRAM.findall(context["body"])):
            app.add_js_file(f"player/programs/{program}.js", priority=750, defer="defer")  # before player.js, which would load it later
        add_player(app)
        if RUNS_AT_ONCE.search(context["body"]):
            app.add_js_file("player/simulator.js", **{"async": "async", "data-start": "data-start"})


def without_repetition(script):
    """A program's script, in which a Try's source is written as what it replaces in the lesson's: a fifth of the bytes."""
    head, text = script.split("] = ", 1)
    program, _ = json.JSONDecoder().raw_decode(text)
    lesson, pieces = program["source"]["text"], {'"@"': "lesson.join('')"}
    lines = lesson.splitlines(keepends=True)
    program["source"]["text"] = "@"
    for number, one in enumerate(each for each in program["tries"] if isinstance(each.get("source"), str)):
        pieces[f'"@{number}"'], one["source"] = replacement(lines, one["source"].splitlines(keepends=True)), f"@{number}"
    text = dense(program)
    for mark, piece in pieces.items():
        text = text.replace(mark, piece)
    return f"{{ const lesson = {dense(lines)};\n{head}] = {text}; }}\n"


def replacement(old, new):
    """The JavaScript that makes the lines `new`, as a text, of the constant `lesson`, the lines `old`."""
    parts = [f"...lesson.slice({begin},{end})" if kind == "equal" else dense("".join(new[start:stop]))
             for kind, begin, end, start, stop in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if kind != "delete"]
    return f"[{','.join(parts)}].join('')"


def dense(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def copy_player(app):
    """Copies the player's files and its editor, and joins its own scripts, minified; these load the recordings next to them."""
    if not player_scripts():
        return
    static = Path(app.outdir, "_static")
    shutil.copytree(EDITOR, static / "codemirror", dirs_exist_ok=True)
    joined = [script.name for script in player_scripts()]
    shutil.copytree(PLAYER, static / "player", dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.md", "harness", *joined))
    for path in (static / "player/programs").glob("*.js"):
        path.write_text(without_repetition(path.read_text(encoding="utf-8")), encoding="utf-8")
    text = "".join(script.read_text(encoding="utf-8") for script in player_scripts())
    (static / "player/player.js").write_text(minify.string("application/javascript", text) if minify else text, encoding="utf-8")


def setup(app):
    app.connect("builder-inited", copy_player)
    app.connect("html-page-context", make_room, priority=900)  # after furo
    app.add_directive("player", Player)
    app.connect("doctree-read", place_figures, priority=400)  # before Sphinx collects images
    app.connect("doctree-read", frame_recording, priority=450)  # after links.py
    return {"parallel_read_safe": True, "parallel_write_safe": True}
