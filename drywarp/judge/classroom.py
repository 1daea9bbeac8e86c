"""The output of make judge-all for a class: grades for learning platforms, and a page for each student. docs/judge.md explains it."""

from __future__ import annotations

import collections
import csv
import dataclasses
import html
import itertools
import json
import re
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from drywarp import files
from drywarp.judge import shapes, submissions
from drywarp.judge.verdicts import Answer
from drywarp.judge.words import NOT_TRIED, clean, counts_of, line_of, lines_about

Named = tuple[str, Answer]  # a program's name, and what the judge says
MAX_POINTS = 100
POINTS: dict[str, int | str] = {"passed": 100, "findings": 50, "misses the goal": 50, "not judged": ""}  # none for any other verdict
MAX_COMMON = 5  # findings of a class that are printed
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font-family: sans-serif; line-height: 1.4 }}
pre {{ overflow-x: auto; background: #f4f4f4; color: #111; padding: 1rem }}</style></head>
<body><h1>{title}</h1>
{programs}</body></html>
"""


def cell(text: str) -> str:
    """Text for a spreadsheet cell; escaped if it would be read as a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text


@dataclasses.dataclass
class Student:
    """A student of the class, with the (name, answer) of each program; none of one who is in the roster and handed in nothing."""
    title: str  # what the files call the student
    login: str
    id: str
    answers: list
    in_roster: bool


def students_of(answers: list[Named], roster: Sequence[submissions.Person] = ()) -> list[Student]:
    """The students of the submissions, in order, then those of the roster who handed in nothing. Of one in the roster, it gives login, name and id;
    else the submission's name, with the platform's number if several have the same name, and that number as the id."""
    programs: dict[tuple[str, str], list[Named]] = {}
    for name, answer in answers:
        programs.setdefault(submissions.student_of(name), []).append((name, answer))
    found: dict[submissions.Person | str, Student] = {}
    persons, names = submissions.matched(programs, roster), [name for name, _ in programs]
    for (name, number), theirs in programs.items():
        person = persons[name, number]
        title = person.name if person else name if names.count(name) == 1 else f"{name}_{number}"
        student = Student(title, person.login, person.id, [], True) if person else Student(title, title, number, [], False)
        found.setdefault(person or title, student).answers += theirs
    return [*found.values(), *(Student(person.name, person.login, person.id, [], True) for person in roster if person not in found)]


def points(answer: Answer, partial: int = 0) -> int | str:
    """The points of a program. partial: those of one that is wrong at a single size only; at more sizes, the share of the correct ones counts."""
    if answer.verdict == "wrong" and answer.sizes:
        return partial * answer.right // len(answer.sizes)
    return POINTS.get(answer.verdict, 0)


def best(answers: list[Named], partial: int = 0) -> Named:
    """The graded (name, answer) of a student: the first one with the most points."""
    return max(answers, key=lambda named: -1 if points(named[1], partial) == "" else points(named[1], partial))


def cause(answer: Answer) -> str:
    """Why a program did not pass, in a line; "" if it did."""
    if answer.unjudged:
        return answer.unjudged
    if answer.said and not answer.built:
        return answer.said[0]
    wrong = next(((size, words) for size, words in answer.sizes.items() if words not in ("", NOT_TRIED, answer.over)), None)
    if wrong:
        return f"at {shapes.label(wrong[0])}: {wrong[1].splitlines()[0]}"
    if answer.over:
        return answer.over
    if answer.findings:
        key, lines = next(iter(answer.findings.items()))
        return f"{line_of(key)}: {lines[0]}"
    return answer.missed[0] if answer.missed else ""


def feedback(name: str, answer: Answer) -> str:
    reason = cause(answer)
    return f"{clean(name)}: {answer.verdict}, {counts_of(answer)}" + (f"; {clean(reason)}" if reason else "")


def page(student: str, answers: list[Named]) -> str:
    """The judge's report about a student's programs, as a self-contained page."""
    programs = [f"<h2>{html.escape(clean(name))}: {answer.verdict}</h2>\n<pre>{html.escape(chr(10).join(lines_about(answer, name)))}</pre>\n" for name, answer in answers]
    return PAGE.format(title=html.escape(clean(student)), programs="".join(programs))


def page_name(number: int, student: str) -> str:
    """The name of a page's file: unique, and inside the folder for any student's name."""
    return f"{number:03}-{re.sub(r'[^A-Za-z0-9]+', '-', student)[:40].strip('-')}.html"


def grade_of(student: Student, partial: int) -> tuple[int | str, str]:
    """A student's points and feedback."""
    if not student.answers:
        return 0, "nothing was handed in"
    name, answer = best(student.answers, partial)
    return points(answer, partial), feedback(name, answer)


def write(folder: Path, answers: list[Named], roster: Sequence[submissions.Person] = (), partial: int = 0) -> list[str]:
    """Writes the class's files, and returns lines about the class. answers: (name, answer) of each program, in order."""
    students = students_of(answers, roster)
    grades = [grade_of(student, partial) for student in students]
    table(folder / "moodle.csv", ["Username", "Grade", "Feedback"],
          [[cell(clean(student.login)), grade, cell(words)] for student, (grade, words) in zip(students, grades)])
    table(folder / "canvas.csv", ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "make judge"],
          [["Points Possible", "", "", "", "", MAX_POINTS], *([cell(clean(student.title)), cell(clean(student.id)), "", cell(clean(student.login)), "", grade]
                                                             for student, (grade, _) in zip(students, grades))])
    pages = {page_name(number, student.title): page(student.title, student.answers) for number, student in enumerate(students, 1)}
    for name, text in pages.items():
        with files.whole(folder / "students" / name) as file:
            file.write(text)
    write_archive(folder / "moodle-feedback.zip", zip(students, pages.values()))
    common = common_findings(students)
    table(folder / "findings.csv", ["students", "kind", "finding"], [[count, kind, cell(clean(title))] for (kind, title), count in common])
    remove_old_pages(folder, pages)
    unknown = [student.title for student in students if roster and not student.in_roster]
    return [*(f"{clean(student)}: not in the roster" for student in unknown),
            *(f"{count} of {len(students)} students: {clean(title)}" for (_, title), count in common[:MAX_COMMON])]


def common_findings(students: list[Student]) -> list[tuple[tuple[str, str], int]]:
    """Each finding's kind and title without its numbers, and the number of students who have it; most frequent first."""
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for student in students:
        counts.update({(key[0], general(lines[0])) for _, answer in student.answers for key, lines in answer.findings.items()})
    return counts.most_common()


def general(title: str) -> str:
    """A finding's title without what differs between programs: numbers, and names of arrays."""
    name, colon, rest = title.partition(": ")
    return name if re.search(r"\d|\[", rest) else name + colon + rest


def feedback_file(name: str) -> str:
    """The path of a student's page in Moodle's archive, from a program's name: in the folder, or with the beginning of the file's name, that Moodle's
    download had. "" for a name that is not Moodle's."""
    first = Path(name).parts[0]
    prefix = submissions.OF_MOODLE.match(first)
    if not prefix or prefix.groups() != submissions.student_of(name):  # a file of Canvas may have such a name, too
        return ""
    is_folder = name != first and not first.lower().endswith(".zip")
    return f"{first}/feedback.html" if is_folder else f"{prefix[0]}_feedback.html"


def write_archive(path: Path, pages: Iterable[tuple[Student, str]]) -> None:
    """Writes the zip file that Moodle distributes as feedback files."""
    with files.whole(path, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, text in pages:
            names = filter(None, (feedback_file(name) for name, _ in student.answers))
            for name in itertools.islice(names, 1):
                archive.writestr(name, text)


def remove_old_pages(folder: Path, pages: Iterable[str]) -> None:
    for old in (folder / "students").glob("[0-9][0-9][0-9]-*.html"):
        if old.name not in pages:  # from an earlier run
            old.unlink()


def gradescope(path: Path, answers: list[Named], partial: int = 0) -> None:
    """Writes Gradescope's results.json for one student's programs; no program gives no points."""
    tests = [{"name": clean(name), "score": points(answer, partial) or 0, "max_score": MAX_POINTS, "status": "passed" if answer.verdict == "passed" else "failed",
              "output": "\n".join(lines_about(answer, name))} for name, answer in answers]
    total = {"score": 0, "output": "there is no readable file whose name ends in .cu"}
    if answers:
        name, answer = best(answers, partial)
        total = {"score": points(answer, partial) or 0, "output": feedback(name, answer)}
    with files.whole(path) as file:
        json.dump(total | {"tests": tests}, file, indent=1)


def table(path: Path, header: list[str], rows: Iterable[Sequence[object]]) -> None:
    with files.whole(path) as file:
        csv.writer(file).writerows([header, *rows])
