"""What a lesson's page gets from its place in the book: its first line, the lines' numbers of its program, a box for each Try."""

import difflib
import re
from pathlib import Path

from docutils import nodes

from book.contents import lesson_of, needed, program_of
from book.extensions.figures import PLAYER, has_player, recording
from drywarp.learn import exercise as exercises
from scripts.ladder import tries

FIRST_ONLY = "The player runs only a program's first run, with few elements; this Try fails in a later run or with more elements."
GROUP = re.compile(r"((?:^-(?!-- ).*\n)+)((?:^\+(?!\+\+ ).*\n)+)", re.M)
EXERCISES = "book/exercises"
COMMAND = re.compile(r"(make|nvcc|cuobjdump|nvdisasm|ncu|compute-sanitizer|python3|cd) ")
WORDS_A_MINUTE = 200
LINES_A_MINUTE = 20
LONG_MINUTES = 12  # a page of a program that takes so long is read in two sittings


def number_code(app, doctree):
    """Code that stands in the page's program has the numbers that its lines have there."""
    program = program_of(app.env.docname)
    if not program or app.env.docname.endswith(program.suffix):
        return
    lesson = lesson_of(program)
    for block in doctree.findall(nodes.literal_block):
        place = lesson.find(block.astext().rstrip() + "\n")
        if block.get("language") in ("cuda", "c") and place >= 0:
            block["linenos"] = True
            block["highlight_args"] = {"linenostart": lesson.count("\n", 0, place) + 1}


def box_tries(app, doctree):
    """Each numbered paragraph under Try, with all that belongs to it, becomes a box that a link can name."""
    for section in list(doctree.findall(nodes.section)):
        if "try" in section["ids"]:
            boxed(section, tries_of(recording(app.env.docname), Path(app.env.docname).parent))


def tries_of(program, step):
    """What stands above each Try that a program's recording holds, by the Try's number."""
    if not has_player(program):
        return {}
    text = (PLAYER / f"programs/{program}.js").read_text(encoding="utf-8")
    numbers = re.findall(r'"number": (\d+)', text[text.rindex('"tries": ['):])
    later = tries.later(step)
    return {number: nodes.paragraph("", FIRST_ONLY, classes=["not-in-player"]) if int(number) in later else run_button(number) for number in numbers}


def run_button(number):
    return nodes.raw("", f'<button type="button" class="run-try" data-try="{number}" hidden>Run it in the player</button>', format="html")


def boxed(section, above):
    box = None
    for node in list(section.children):
        number = isinstance(node, nodes.paragraph) and node.next_node(nodes.strong) and re.match(r"(\d+)\. ", node.astext())
        if number:
            box = nodes.container(classes=["one-try"], ids=[f"try-{number[1]}"])
            section.insert(section.index(node), box)
            if number[1] in above:
                box += above[number[1]]
        if box is not None and not isinstance(node, nodes.section):
            section.remove(node)
            box += node


def tidy_diffs(app, doctree):
    """A Try is written with whole groups of lines; lines that are in both the old and the new group become context."""
    for block in doctree.findall(nodes.literal_block):
        if block.get("language") == "diff":
            text = tidy(block.astext())
            block.clear()
            block += nodes.Text(text)
            block.rawsource = text  # the highlighter compares it with the text


def tidy(diff):
    return GROUP.sub(lambda found: regrouped(found[1].splitlines(), found[2].splitlines()), diff + "\n").rstrip("\n")


def regrouped(old, new):
    old, new, lines = [line[1:] for line in old], [line[1:] for line in new], []
    for what, begin, end, start, stop in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            lines += [f" {line}" for line in old[begin:end]]
        else:
            lines += [f"-{line}" for line in old[begin:end]] + [f"+{line}" for line in new[start:stop]]
    return "".join(f"{line}\n" for line in lines)


def name_columns(app, doctree):
    """The first column of most tables has no name that is seen; there is one to hear."""
    for head in doctree.findall(nodes.thead):
        for cell in head.findall(nodes.entry):
            if not cell.astext().strip():
                cell.children = [nodes.paragraph("", "", nodes.inline("", "what", classes=["only-heard"]))]


def wrap_messages(app, doctree):
    """What the simulator says of a mistake is meant to be read: its lines wrap."""
    for block in doctree.findall(nodes.literal_block):
        if block.astext().startswith("error: "):
            block["classes"].append("message")


def keep_units(app, doctree):
    """A number is not parted from its unit; what is said about it in brackets may stand below."""
    for cell in doctree.findall(nodes.entry):
        if "text-right" in cell["classes"] and isinstance(cell.parent.parent, nodes.tbody):
            for text in list(cell.findall(nodes.Text)):
                text.parent.replace(text, nodes.Text(re.sub(r" (?!\()", "\N{NO-BREAK SPACE}", text)))


def mark_headings(app, doctree):
    """Headings within a fold are headings, too."""
    for rubric in doctree.findall(nodes.rubric):
        if "level" in rubric:
            rubric["heading-level"] = rubric["level"]


def minutes(doctree):
    """How long it takes to read a page: its words, and its lines of code."""
    blocks = list(doctree.findall(nodes.literal_block))
    code = sum(block.astext().count("\n") + 1 for block in blocks)
    words = sum(len(text.split()) for text in doctree.findall(nodes.Text) if not isinstance(text.parent, (nodes.literal_block, nodes.raw)))
    return max(1, round(words / WORDS_A_MINUTE + code / LINES_A_MINUTE))


def write_first_line(app, doctree, page):
    """Under the title: the minutes, what to read before, the program."""
    needs = needed()
    if page not in needs:
        return
    long = minutes(doctree) >= LONG_MINUTES and bool(program_of(page))
    line = nodes.paragraph("", f"{minutes(doctree)} min to read" + (": two sittings, the second for its Tries" if long else ""), classes=["first-line"])
    program = program_of(page)
    source = [f"{page.rpartition('/')[0]}/{program.name}"] if program else []
    for words, pages in (("before this: ", needs[page]), ("the whole program: ", source)):
        for number, other in enumerate(pages):
            line += [nodes.Text(" · " + words if not number else " and "), reference(app, page, other)]
    title = next(doctree.findall(nodes.title))
    title.parent.insert(title.parent.index(title) + 1, line)


def mark_commands(app, doctree):
    """Commands of a lesson are optional in the book: its figures run in the page."""
    if not has_player(recording(app.env.docname)):
        return
    for block in doctree.findall(nodes.literal_block):
        if COMMAND.match(block.astext()):
            block["classes"].append("in-terminal")
    for paragraph in doctree.findall(nodes.paragraph):
        before = ""
        for part in paragraph.children:
            is_command = isinstance(part, nodes.literal) and COMMAND.match(part.astext()) and before.count("(") == before.count(")")
            if is_command and "in-terminal" not in paragraph["classes"]:
                paragraph["classes"].append("in-terminal")
            before += part.astext()


def list_exercises(app, doctree, page):
    """At the end of a page: the exercises that refer to it."""
    tasks = [task for task in exercises.every() if task.lesson == f"{page}.md"]
    if not tasks or EXERCISES not in app.env.found_docs:
        return
    line = nodes.paragraph("", "Exercises: ", classes=["its-exercises"])
    for number, task in enumerate(tasks):
        address = f"{app.builder.get_relative_uri(page, EXERCISES)}#exercise-{task.number}"
        line += [nodes.Text(" · " if number else ""), nodes.reference("", f"{task.number} {task.title}", internal=True, refuri=address)]
    next(doctree.findall(nodes.section)).append(line)


def reference(app, page, other):
    name = app.env.titles[other].astext()
    return nodes.reference("", name.rpartition("/")[2] if name.endswith((".cu", ".c")) else name, internal=True,
                           refuri=app.builder.get_relative_uri(page, other))


def setup(app):
    for work in (number_code, box_tries, wrap_messages, keep_units, mark_headings, name_columns, mark_commands, tidy_diffs):
        app.connect("doctree-read", work)
    app.connect("doctree-resolved", write_first_line)
    app.connect("doctree-resolved", list_exercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
