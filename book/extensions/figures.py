"""Charts and pictures stand in the page itself, so that they take its colours; a lesson has its player before its Tries."""

import html
import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from book.contents import ROOT, program_of, step_before

try:
    import minify
except ImportError:  # not every machine has it (book/requirements.txt): scripts then stay as long as they are
    minify = None

PLAYER = ROOT / "book/player"
NAMED = re.compile(r'\bid="|url\(#|href="#')
WATCH = "Delete a barrier, choose a size, or press a Try: the program runs again in this page."
DARK = "@media (prefers-color-scheme: dark)"


def inline(svg, name, words):
    """An SVG file as an element of a page: named by words, its ids and rules apart from those of others by a name."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>|<title>.*?</title>", "", svg, flags=re.S)
    svg = NAMED.sub(lambda found: f"{found[0]}{name}-", svg)
    svg = re.sub(r"<style>(.*?)</style>", lambda found: f"<style>{apart(found[1], f'#{name}')}</style>", svg, flags=re.S)
    svg = re.sub(r"(fill|stroke): (#(?:000000|ffffff|b0b0b0|606060|707070|0072b2))\b",
                 lambda found: f"{found[1]}: var(--chart-{found[2][1:]}, {found[2]})", svg)
    return svg.replace("<svg", f'<svg id="{name}" class="{"chart" if "matplotlib" in svg else "picture"}" role="img" '
                               f'aria-label="{html.escape(words)}"', 1).replace(' role="img">', ">", 1)


def apart(style, within):
    """Rules of a style sheet that hold within one element; those for the dark follow the page's switch, too."""
    light, _, dark = style.partition(DARK)
    dark = dark.strip().removeprefix("{").removesuffix("}")
    both = narrowed(light, within)
    if dark:
        both += (f"@media not print {{ {narrowed(dark, f'body[data-theme=dark] {within}')} }}\n"
                 f"@media screen and (prefers-color-scheme: dark) {{ {narrowed(dark, f'body:not([data-theme=light]) {within}')} }}\n")
    return both


def narrowed(rules, within):
    """Each selector of plain rules, without any @, put within another."""
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", rules)
    return "".join(", ".join(f"{within} {each.strip()}" for each in selectors.split(",")) + f" {{{body}}}\n" for selectors, body in rules)


def has_player(program):
    return all((PLAYER / name).exists() for name in ("player.js", "simulator.js", f"programs/{program}.js"))


def player(program, picture, before="", elements="", title=""):
    """A lesson's figure: what plays the program where scripts run; a picture in it is shown where none do."""
    given = {"program": program, "before": before, "n": elements, "title": title} if has_player(program) else {}
    data = "".join(f' data-{key}="{html.escape(value)}"' for key, value in given.items() if value)
    return f'<figure class="{"player" if given else "drawn"}"{data}>{picture}</figure>\n'


def recording(page):
    """The name of a step's recording: step03, scan07; None for what has none."""
    found = re.fullmatch(r"(scan/)?step(\d\d)_\w+/README", page or "")
    return found and ("scan" if found[1] else "step") + found[2]


def place_figures(app, doctree):
    """Puts in the place of each SVG image what the page shows."""
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


def place_player(page, doctree):
    """A lesson has its player before its Tries, behind the questions: it shows what a reader is to predict."""
    title = next(doctree.findall(nodes.title)).astext()
    figure = player(recording(page), "", recording(step_before(page)) or "", title=title)
    for section in list(doctree.findall(nodes.section)):
        if "try" in section["ids"]:
            watch = nodes.section("", nodes.title("", "Watch it run"), nodes.paragraph("", WATCH),
                                  nodes.raw("", figure, format="html"), ids=["watch-it-run"])
            section.parent.insert(section.parent.index(section), watch)


class Player(SphinxDirective):
    """`player PAGE N`: the figure of a step's page, on another page; and what to do with it, where it can be played."""

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


def player_files():
    """The player's own scripts in the order in which they load, those that are there."""
    names = ("model", "source", "view", "controls", "engine", "lookback", "player")
    return [f"player/{name}.js" for name in names if (PLAYER / f"{name}.js").exists()] if (PLAYER / "player.js").exists() else []


def make_room(app, page, template, context, doctree):
    """Beside a player there is no list of the page's headings: it is wider than the text."""
    if doctree and 'class="player"' in context["body"]:
        context["furo_hide_toc"] = True


def copy_player(app):
    """The player's files, its own scripts without what only their authors need; they load the recordings beside them."""
    if not player_files():
        return
    static = Path(app.outdir, "_static")
    shutil.copytree(PLAYER, static / "player", dirs_exist_ok=True)
    for name in player_files():
        script = static / name
        if minify:
            script.write_text(minify.string("application/javascript", script.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app):
    app.connect("builder-inited", copy_player)
    app.connect("html-page-context", make_room, priority=900)  # behind furo
    app.add_directive("player", Player)
    app.connect("doctree-read", place_figures, priority=400)  # before Sphinx collects images
    return {"parallel_read_safe": True, "parallel_write_safe": True}
