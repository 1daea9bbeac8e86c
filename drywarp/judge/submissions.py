"""The programs in a folder of submissions: of a class, as a learning platform packs them, or of one student. docs/judge.md lists the names that are understood."""

from __future__ import annotations

import csv
import dataclasses
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from drywarp.errors import fail
from drywarp.judge import compiling
from drywarp.judge.words import clean

MAX_MEMBERS, MAX_PROGRAMS = 2000, 50  # of a zip file; programs of one student
MAX_NAME, MAX_PATH = 255, 4096  # bytes, of Linux
OF_MOODLE = re.compile(r"(.*?)_(\d+)_assignsubmission_[a-z]*", re.S)  # the beginning of a folder or file: the student's full name, Moodle's number
OF_CANVAS = re.compile(r"([^_]+)_(?:LATE_)?(\d+)_(\d+)_(.+)", re.S)  # a file: the student's name in one word, Canvas's id of the student, and of the submission
ROSTER = ("login", "name", "id")  # the columns of a roster; others, such as e-mail, are ignored


@dataclasses.dataclass(frozen=True)
class Submission:
    """A program, or a folder or zip file without one."""
    name: str  # below the class's folder; of a member of a zip file, the zip file's name comes first
    path: Path  # the file that is judged
    below: Path  # the folder from which no link is followed
    is_empty: bool = False


def is_hidden(part: str) -> bool:
    """Whether a file or folder is made by an editor or operating system: ._reduce.cu and __MACOSX by macOS, .ipynb_checkpoints by Jupyter."""
    return part.startswith(".") or part == "__MACOSX"


def is_program(path: Path) -> bool:
    return path.suffix.lower() == ".cu" and not any(map(is_hidden, path.parts))


def content(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | None:
    """The beginning of a file in a zip file, one byte more than a program may have; None if it is encrypted or damaged, for which zipfile and its
    decompressors raise many exceptions."""
    try:
        with file.open(member) as opened:
            return opened.read(compiling.MAX_FILE + 1)
    except Exception:
        return None


def members(file: zipfile.ZipFile) -> Iterator[tuple[int, str, bytes]]:
    """The programs in a zip file, at most one more than a student may have: number, name in the archive, content. Links, other files and unreadable ones are left out."""
    count = 0
    for k, member in enumerate(file.infolist()[:MAX_MEMBERS]):
        name, is_link = member.filename.lstrip("/"), (member.external_attr >> 16) & 0o170000 == 0o120000
        if is_link or member.is_dir() or ".." in Path(name).parts or not is_program(Path(name)):
            continue
        data = content(file, member)
        if data is not None:
            yield k, name, data
            count += 1
        if count > MAX_PROGRAMS:  # more would only fill the disk
            return


def unzipped(archive: Path, folder: Path) -> dict[str, Path]:
    """The programs in a zip file, written into a folder, by their names in the archive; none if it is damaged."""
    found: dict[str, Path] = {}
    try:
        opened = zipfile.ZipFile(archive)
    except Exception:  # not a zip file, or damaged: a student without a program
        return found
    with opened:
        for k, name, data in members(opened):
            short = Path(name).name if len(os.fsencode(Path(name).name)) <= MAX_NAME else "program.cu"
            target = folder / f"{k}" / short
            try:
                target.parent.mkdir(parents=True)
                target.write_bytes(data)
            except OSError as error:  # through no fault of a student
                fail(f"zip files cannot be unpacked into {folder.parent}: {error.strerror}")
            found[name] = target
    return found


def paths_below(folder: Path) -> list[Path]:
    """All paths below a folder, sorted, without following links. Path.rglob would exceed Python's recursion limit in very deep folders."""
    found: list[Path] = []
    left = [folder]
    while left:
        try:
            with os.scandir(left.pop()) as inner:
                below = [(Path(entry.path), entry.is_dir(follow_symlinks=False)) for entry in inner if len(os.fsencode(entry.path)) < MAX_PATH]
        except OSError:  # a folder that cannot be read
            continue
        found += [path for path, _ in below]
        left += [path for path, is_folder in below if is_folder]
    return sorted(found)


def entries(folder: Path, work: Path) -> list[Submission]:
    """The programs below a folder, and the folders and zip files directly in it that have none. `work` receives the contents of zip files."""
    programs: list[Submission] = []
    tops: dict[str, bool] = {}
    for path in paths_below(folder):
        inner = path.relative_to(folder)
        if path.is_symlink() or any(map(is_hidden, inner.parts)):
            continue
        if path.is_dir():
            tops.setdefault(inner.parts[0], inner.parts[1:] == ())
        elif path.is_file() and is_program(inner):
            programs.append(Submission(str(inner), path, folder))
        elif path.is_file() and path.suffix.lower() == ".zip":
            tops.setdefault(inner.parts[0], True)
            below = work / f"{len(programs)}-{len(tops)}"
            programs += [Submission(f"{inner}/{name}", member, below) for name, member in unzipped(path, below).items()]
    have = {student_of(program.name) for program in programs}  # of Moodle, a student may have a second folder, for text
    empty = [Submission(name + "/" * (folder / name).is_dir(), folder / name, folder, True) for name in tops]
    return programs + [submission for submission in empty if student_of(submission.name) not in have]


def of_each_student(found: list[Submission]) -> list[Submission]:
    """The submissions, at most MAX_PROGRAMS of one student; says which students have more."""
    counts: dict[tuple[str, str], int] = {}
    kept: list[Submission] = []
    for submission in sorted(found, key=lambda each: each.name):
        student = student_of(submission.name)
        counts[student] = counts.get(student, 0) + 1
        kept += [submission] if counts[student] <= MAX_PROGRAMS else []
    for (name, _), count in counts.items():
        if count > MAX_PROGRAMS:
            print(f"{clean(name)}: {count:,} programs, of which the first {MAX_PROGRAMS} are judged")
    return kept


# ---- Students

def student_of(name: str) -> tuple[str, str]:
    """The student of a program, from the name of the top folder or file; and the platform's number, since names may repeat."""
    first = Path(name).parts[0]
    student = first if first != name and not first.lower().endswith(".zip") else Path(first).stem
    by_canvas = OF_CANVAS.fullmatch(student) if Path(first).suffix else None
    if by_canvas:
        return by_canvas[1], by_canvas[2]
    by_moodle = OF_MOODLE.match(student)
    return (by_moodle[1], by_moodle[2]) if by_moodle else (student, "")


def words_of(name: str) -> list[str]:
    """The words of a name, lower-case and sorted: the order differs between platforms."""
    return sorted(re.findall(r"\w+", name.lower()))


@dataclasses.dataclass(frozen=True)
class Person:
    login: str
    name: str
    id: str

    def is_meant_by(self, student: str) -> bool:
        """Whether a submission's name means this student: by login, id or full name, or by Canvas's one word, in which the last name comes first."""
        words = re.findall(r"\w+", self.name.lower())
        joined = ["".join(words), "".join(words[-1:] + words[:-1]), "".join(words[::-1])]
        return student.lower() in (self.login.lower(), self.id.lower(), *joined) or words_of(student) == sorted(words)


def read_roster(path: Path) -> list[Person]:
    """The students of a roster, a CSV file with a column for each of ROSTER."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        fail(f"{clean(str(path))} cannot be read: {getattr(error, 'strerror', None) or error}")
    if not rows or not set(ROSTER) <= set(rows[0]):
        fail(f"{clean(str(path))} is no roster; its first line has the columns {', '.join(ROSTER)}, and a line follows for each student")
    roster = [Person(*((row[column] or "").strip() for column in ROSTER)) for row in rows]
    twice = same_login(roster)
    if twice:
        fail(f"{clean(str(path))} has the logins {clean(twice[0].login)} and {clean(twice[1].login)}; logins must differ in more than upper and lower case")
    return roster


def same_login(roster: Sequence[Person]) -> tuple[Person, Person] | None:
    """Two lines whose logins are equal, ignoring case: a submission's name means both, as some file systems ignore case. None if there are none."""
    found: dict[str, Person] = {}
    for person in roster:
        other = found.setdefault(person.login.lower(), person)
        if person.login and other is not person:
            return other, person
    return None


def meant(student: str, number: str, roster: Sequence[Person]) -> Person | None:
    """The person whom a submission's name means; of several, or if the name means none, the one with this id. (Moodle's numbers are not the ids of a roster.)
    Without a number, the one whose login is exactly the name."""
    by_login = [person for person in roster if (person.login, "") == (student, number)]
    by_name = by_login or [person for person in roster if person.is_meant_by(student)]
    by_id = [person for person in by_name or roster if number and number == person.id]
    found = by_id if len(by_name) != 1 else by_name
    return found[0] if len(found) == 1 else None


def matched(names: Iterable[tuple[str, str]], roster: Sequence[Person]) -> dict[tuple[str, str], Person | None]:
    """For each (student, number) the person of the roster; None for a student who is not in it, or whose name means several. Students of one name with different numbers
    are different ones: of them, the person is the one who has that id, or whose login is exactly that name, or none."""
    found = {(student, number): meant(student, number, roster) for student, number in names}
    namesakes = [key for key in found if any(other != key and other[0].lower() == key[0].lower() for other in found)]
    return found | {key: None for key in namesakes if (person := found[key]) and person.id != key[1] and key != (person.login, "")}
