"""The output of make judge-all for a class: grades for learning platforms, and a page for each student. docs/judge.md explains it."""

import csv
import html
import json
import re
from pathlib import Path

from drywarp import files
from drywarp.judge import shapes
from drywarp.judge.words import clean, counts_of, lines_about

MAX_POINTS = 100
POINTS = {"passed": 100, "findings": 50, "misses the goal": 50, "not judged": ""}  # none for any other verdict
OF_MOODLE = re.compile(r"(.*)_(\d+)_assignsubmission_.*", re.S)  # Moodle's name of a student's folder or file: the student's name and a number
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font-family: sans-serif; line-height: 1.4 }}
pre {{ overflow-x: auto; background: #f4f4f4; color: #111; padding: 1rem }}</style></head>
<body><h1>{title}</h1>
{programs}</body></html>
"""


def cell(text):
    """Text for a spreadsheet cell; escaped if it would be read as a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text


def student_of(name):
    """The student of a program: the name of the top folder, or of a file in the class's folder; and Moodle's number, since names may repeat."""
    first, slash, _ = name.partition("/")
    student = first if slash else Path(name).stem
    by_moodle = OF_MOODLE.fullmatch(student)
    return by_moodle.groups() if by_moodle else (student, "")


def by_students(answers):
    """The (name, answer) pairs of each student, by the student's name; with Moodle's number if several have the same name."""
    students = {}
    for name, answer in answers:
        students.setdefault(student_of(name), []).append((name, answer))
    names = [name for name, _ in students]
    return {name if names.count(name) == 1 else f"{name}_{number}": theirs for (name, number), theirs in students.items()}


def points(answer):
    return POINTS.get(answer.verdict, 0)


def best(answers):
    """The graded (name, answer) of a student: the first one with the most points."""
    return max(answers, key=lambda named: -1 if points(named[1]) == "" else points(named[1]))


def feedback(name, answer):
    if not answer.built and answer.said:
        return f"{clean(name)}: {answer.verdict}: {clean(answer.said[0])}"
    wrong = next((f", first wrong at {shapes.label(size)}" for size, words in answer.sizes.items() if words), "")
    return f"{clean(name)}: {answer.verdict}, {counts_of(answer)}{wrong}"


def page(student, answers):
    """The judge's report about a student's programs, as a self-contained page."""
    programs = [f"<h2>{html.escape(clean(name))}: {answer.verdict}</h2>\n<pre>{html.escape(chr(10).join(lines_about(answer, name)))}</pre>\n" for name, answer in answers]
    return PAGE.format(title=html.escape(clean(student)), programs="".join(programs))


def page_name(number, student):
    """The name of a page's file: unique, and inside the folder for any student's name."""
    return f"{number:03}-{re.sub(r'[^A-Za-z0-9]+', '-', student)[:40].strip('-')}.html"


def write(folder, answers):
    """Writes the class's files. answers: (name, answer) of each program, in order."""
    students = by_students(answers)
    counted = [(cell(clean(student)), *best(theirs)) for student, theirs in students.items()]
    table(folder / "moodle.csv", ["Username", "Grade", "Feedback"],
          [[student, points(answer), cell(feedback(name, answer))] for student, name, answer in counted])
    table(folder / "canvas.csv", ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "make judge"],
          [["Points Possible", "", "", "", "", MAX_POINTS], *([student, "", "", student, "", points(answer)] for student, _, answer in counted)])
    pages = {page_name(number, student): page(student, theirs) for number, (student, theirs) in enumerate(students.items(), 1)}
    for name, text in pages.items():
        with files.whole(folder / "students" / name) as file:
            file.write(text)
    for old in (folder / "students").glob("[0-9][0-9][0-9]-*.html"):
        if old.name not in pages:  # from an earlier run
            old.unlink()


def gradescope(path, answers):
    """Writes Gradescope's results.json for one student's programs; no program gives no points."""
    tests = [{"name": clean(name), "score": points(answer) or 0, "max_score": MAX_POINTS, "status": "passed" if answer.verdict == "passed" else "failed",
              "output": "\n".join(lines_about(answer, name))} for name, answer in answers]
    total = {"score": 0, "output": "there is no file whose name ends in .cu"}
    if answers:
        name, answer = best(answers)
        total = {"score": points(answer), "output": feedback(name, answer)}
    with files.whole(path) as file:
        json.dump(total | {"tests": tests}, file, indent=1)


def table(path, header, rows):
    with files.whole(path) as file:
        csv.writer(file).writerows([header, *rows])
