#!/usr/bin/env python3
"""Judges a program with the interface of a step, as a teaching assistant would: check.py my/reduce.cu, or check.py --all submissions.

--ladder names the ladder, --contract another interface, described in a file that contract.py reads. A contract next to FILE need not be named; --lab
selects that of a lab. --exercise 07 judges a file of make learn.

make judge and make judge-all call it; docs/judge.md lists what it checks. It trusts nothing that the program prints.
Exit status: 0 correct; 1 a wrong result, or the program exited early; 2 unusable argument; 3 it does not build; 4 findings of the checker; 5 too much time or
memory; 6 it could not be judged, for reasons outside the program; 7 a counter exceeds its contract's goal. Of a folder: 0 if all passed, else 1, or 2 if the
table could not be written."""

from __future__ import annotations

import argparse
import concurrent.futures
import io
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

from drywarp import mine
from drywarp.errors import Parser, fail
from drywarp.judge import classroom, contract, exercise, sandbox, scratch, shapes, submissions
from drywarp.judge.judging import checked, whole_program
from drywarp.judge.means import UNPRIVILEGED, device_python, drop_root, is_hidden, succeeds
from drywarp.judge.processes import interrupt
from drywarp.judge.session import NOT_SUPPORTED
from drywarp.judge.table import Table, row_of
from drywarp.judge.verdicts import Answer
from drywarp.judge.verdicts import PASSED, UNUSABLE, WRONG
from drywarp.judge.words import clean, counts_of, lines_about

ROOT = shapes.ROOT


# ---- One program, and a folder of them

def check_one(path: Path, options: argparse.Namespace) -> int:
    answer = checked(path, options, options.judge)
    print("\n".join(lines_about(answer, options.file)))
    print("\n".join(sandbox.measures()))
    print("time is not measured here" + (f"; on a GPU {options.shape.timed_by} measures it" if options.shape.timed_by else ""))
    print(f"{answer.verdict}: {counts_of(answer)}")
    return answer.status


def submissions_in(folder: Path, work: Path, options: argparse.Namespace) -> list[submissions.Submission]:
    """The submissions: the programs, and each student's folder without one, so that every student has a row. `work` receives the contents of zip files."""
    found = submissions.entries(folder, work)
    if all(submission.is_empty for submission in found):
        if options.gradescope:
            classroom.gradescope(options.gradescope, [])
        fail(f"{clean(str(folder))}: no files that end in .cu")
    if options.gradescope:  # the folder belongs to one student
        return [submission for submission in found if not submission.is_empty][:submissions.MAX_PROGRAMS]
    return submissions.of_each_student(found)


def new_table(path: Path) -> Table:
    try:
        return Table(path)
    except BlockingIOError:
        return fail(f"another make judge-all is writing into {clean(str(path.parent))}; wait for it, or name another folder, as in: RESULTS=other")
    except OSError as error:
        return fail(f"{clean(str(path))} cannot be written: {error.strerror}")


def result_of(future: concurrent.futures.Future[Answer]) -> Answer:
    """Waits in intervals of half a second: a Ctrl-C just before a wait is handled only after it."""
    while not concurrent.futures.wait([future], timeout=0.5).done:
        pass
    return future.result()


def judge_all(found: list[submissions.Submission], table: Table, options: argparse.Namespace) -> list[classroom.Named]:
    """The (name, answer) of each submission, in order; adds their rows to the table."""
    pool, answers = concurrent.futures.ThreadPoolExecutor(options.jobs), []
    try:
        for submission, future in [(each, pool.submit(checked_submission, each, options)) for each in found]:
            answer = result_of(future)
            table.add(row_of(submission.name, answer))
            answers.append((submission.name, answer))
            print(f"{clean(submission.name)}: {answer.verdict}, {counts_of(answer)}", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    return answers


def checked_submission(submission: submissions.Submission, options: argparse.Namespace) -> Answer:
    return checked(submission.path, options, options.judge, submission.below, submission.is_empty)


def check_all(folder: Path, options: argparse.Namespace) -> int:
    roster = submissions.read_roster(options.roster) if options.roster else []
    with scratch.folder() as work:
        found = submissions_in(folder, work, options)
        table = new_table(options.output)
        answers = judge_all(found, table, options)
    if options.gradescope and all(answer.unjudged.startswith(NOT_SUPPORTED) for _, answer in answers if answer.unjudged):
        classroom.gradescope(options.gradescope, answers, options.partial)
    written, passed = table.finish(), sum(answer.status == PASSED for _, answer in answers)
    if written:
        for line in classroom.write(options.output.with_suffix(""), answers, roster, options.partial):
            print(line)
        print(f"the table is in {options.output}; grades for Moodle and Canvas, and a page for each student, in {options.output.with_suffix('')}/")
    print("\n".join(sandbox.measures()))
    print(f"{passed} passed, {len(answers) - passed} failed")
    return UNUSABLE if not written else PASSED if passed == len(answers) else WRONG


def contracts_of_labs() -> dict[str, Path]:
    """The contracts of the labs, by LAB as typed: the lab's name, with the task's name if a lab has several."""
    files = sorted((ROOT / "labs").glob("*/*.contract"))
    several = {file.parent for file, other in zip(files, files[1:]) if file.parent == other.parent}
    return {f"{file.parent.name}/{file.stem}" if file.parent in several else file.parent.name: file for file in files}


def contract_of_lab(name: str) -> Path:
    files = contracts_of_labs()
    return files.get(name) or fail(f"LAB='{clean(name)}' is not a task that can be judged; accepted are {', '.join(files)}; other labs compute their result on the host, which make judge cannot judge")


def contract_beside(path: Path) -> Path | None:
    """The contract next to a program of one's own; None if the program has the interface of a step: then the course's rules count, not the author's."""
    beside = path.with_suffix(".contract")
    if not beside.is_file():
        return None
    code = mine.without_comments(mine.read(path))
    if not any(all(mine.defines(code, function) for function in shape.functions) for shape in shapes.LADDERS.values()):
        return beside
    print(f"check.py: {clean(str(beside))} is ignored, because the program has the interface of a step; CONTRACT=... names a contract", file=sys.stderr)
    return None


def shape_of(options: argparse.Namespace, path: Path) -> shapes.Shape:
    """The shape of a contract or of the ladder. Contracts in submitted folders are ignored."""
    if options.exercise is not None:
        task = exercise.find(options.exercise)
        return exercise.OfExercise(task) if task else fail(f"EXERCISE='{clean(options.exercise)}' is not an exercise; make learn LIST=1 lists them, as in: EXERCISE=07")
    says = contract_of_lab(options.lab) if options.lab is not None else options.contract or (None if options.all or options.ladder else contract_beside(path))
    try:
        shape = contract.read(says) if says else shapes.LADDERS[options.ladder or "reduce"]
        return shape.with_random_sizes() if shape.steps else shape
    except contract.Unusable as error:
        fail(f"{clean(str(says))}: {clean(str(error))}; docs/judge.md lists the keys of a contract")


def percentage(text: str) -> int:
    if not text.isdecimal() or int(text) > classroom.MAX_POINTS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of points from 0 to {classroom.MAX_POINTS}")
    return int(text)


def parsed() -> argparse.Namespace:
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE", help="a program with the interface of a step; with --all a folder of them")
    parser.add_argument("--all", action="store_true", help="judge every .cu file below the folder FILE, several at once, and write a CSV")
    parser.add_argument("--ladder", choices=shapes.LADDERS, help="the ladder of which the program is a step; default: reduce, or the contract next to FILE")
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--contract", type=Path, help="the file that defines how the program is called and what it computes; default: a file next to FILE")
    task.add_argument("--lab", help="the lab for which the program is written; its contract is in labs/")
    task.add_argument("--exercise", help="the number of the exercise of make learn for which the file is written")
    parser.add_argument("--output", type=Path, default=Path("results/check.csv"), help="the CSV of --all")
    parser.add_argument("--gradescope", type=Path, help="with --all: write results.json; all programs are of one student")
    parser.add_argument("--roster", type=Path, help="with --all: a CSV file of the class, with the columns login, name, id")
    parser.add_argument("--partial", type=percentage, default=0, metavar="POINTS", help="with --all: the points of a program that is wrong at some sizes only (default: 0)")
    parser.add_argument("--seconds", type=sandbox.positive, default=60, help="processor time for all runs of a program (default: 60); by the clock, four times as much")
    parser.add_argument("--jobs", type=sandbox.positive, default=os.cpu_count() or 1, help="with --all: the number of programs judged at once")
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--options", required=True, help="nvcc's options")
    parser.add_argument("--object", type=Path, default=ROOT / "build/sim/check_program.o", help="the object file that implements CUDA in the program")
    parser.add_argument("--library", type=Path, default=ROOT / "build/sim/libcuda.so.1", help="the simulator")
    options = parser.parse_args()
    options.threads = 1 if options.all else None
    nvcc = shutil.which(options.nvcc)
    options.nvcc = os.path.abspath(nvcc) if nvcc else fail(f"'{clean(options.nvcc)}' cannot be run as a compiler; make judge passes the path of nvcc")
    options.object, options.library = options.object.absolute(), options.library.absolute()
    for part in (options.object, options.library):
        if not part.exists():
            fail(f"{part} is missing; make judge builds it")
    return options


def refuse_wrong_kind(path: Path, options: argparse.Namespace) -> None:
    """Exits with one line if the program or folder does not exist, or belongs to the other command."""
    one, all_of_them = "make judge FILE=my/reduce.cu", "make judge-all DIR=submissions"
    if not options.file:
        fail(f"DIR is missing; name a folder, as in: {all_of_them}" if options.all else
             f"FILE is missing; name a program, as in: {one}; for a folder: {all_of_them}")
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError):
        is_file = is_folder = False
    if is_folder and not options.all:
        fail(f"{clean(options.file)} is a folder; make judge judges one program, as in: {one}; for a folder: {all_of_them}")
    if is_file and options.all:
        fail(f"{clean(options.file)} is a file; make judge-all judges a folder, as in: {all_of_them}; for one program: {one}")
    if not is_file and not is_folder:
        fail(f"{clean(options.file)}: no such {'folder' if options.all else 'file'}")


def refuse_without_sandbox(options: argparse.Namespace) -> None:
    """Exits with one line where a program could read and change the files of this account, such as the judge itself."""
    if not sandbox.confines_files():
        fail("programs are not judged here, because the system has neither Landlock (Linux 5.13) nor bubblewrap, which keep them from the files of this account; "
             "install bubblewrap, as in: sudo apt-get install bubblewrap")
    if os.getuid() == 0:
        refuse_as_root(options)


def refuse_as_root(options: argparse.Namespace) -> None:
    """Exits with one line where root cannot run programs as the unprivileged user."""
    if not succeeds(drop_root):
        fail(f"root cannot become user {UNPRIVILEGED} here, as which programs run; judge as another user")
    for path in (options.nvcc, device_python()[0], options.library, options.object, ROOT / "drywarp/judge/check_device.py", tempfile.gettempdir()):
        if is_hidden(path):
            fail(f"root runs programs as user {UNPRIVILEGED}, which has no access to {path}; judge as another user, or give all users access")


def main() -> NoReturn:
    signal.signal(signal.SIGINT, interrupt)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    options = parsed()
    path = Path(options.file)
    refuse_wrong_kind(path, options)
    refuse_without_sandbox(options)
    options.shape = shape_of(options, path)
    options.judge = exercise.judged if options.exercise is not None else whole_program
    try:
        sys.exit(check_all(path, options) if options.all else check_one(path, options))
    except KeyboardInterrupt:
        print("check.py: stopped by Ctrl-C", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    except BrokenPipeError:  # the reader of the output has quit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)


if __name__ == "__main__":
    main()
