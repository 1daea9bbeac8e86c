"""Judges one program: builds it and runs it at all sizes."""

from __future__ import annotations

import argparse
import math
import signal
import time
from pathlib import Path
from typing import Any, Callable

from drywarp import mine
from drywarp.judge import compiling, sandbox, scratch, shapes, similar
from drywarp.judge.processes import PATIENCE
from drywarp.judge.session import CHECKER_ENDS_WITH, DEVICE_MEMORY, GONE, NOT_SUPPORTED, PROGRAM_MEMORY, UNSUPPORTED, Session, why_not_judged
from drywarp.judge.verdicts import Answer, add_findings
from drywarp.judge.words import NOT_TRIED

MAX_GUESSES = 3
PROBES = 4  # runs with other data that must confirm a guess why a result is wrong


# ---- At one size

def guess(session: Session, size: Any, run: int, case: shapes.Case, got: list) -> str:
    """Why the result is wrong, if one known mistake also explains the results for other data; else ""."""
    common = case.operation.mistakes(case.numbers, got)
    for _ in range(PROBES):
        case = session.shape.case(size, run)
        reply = session.try_case(case) if common else GONE
        if not reply.get("outputs") or reply["note"]:
            return ""
        session.counted(reply)
        common &= case.operation.mistakes(case.numbers, reply["outputs"][0])
    return f": {min(common, key=len)}" if common else ""


def one_size(session: Session, size: Any, answer: Answer, in_other_order: bool = False) -> str:
    """The error at a size, "" for none. Makes several runs, each with other data."""
    for run in session.shape.runs_at(size, in_other_order):
        case = session.shape.case(size, run)
        reply = session.try_case(case)
        answer.over = answer.over or reply["over"]
        if reply.get("ended"):
            return how_it_ended(session, answer, reply.get("note", ""))
        if reply["over"]:
            return answer.over
        if reply.get("unsupported"):
            answer.unjudged = f"{NOT_SUPPORTED}: {reply['unsupported']}"
        rows = session.counted(reply)
        count(shapes.totals(rows, reply["copied"]) if rows else {}, size, run, answer)
        if reply["note"]:
            return f"no result{case.where}: {reply['note']}{session.fault()}"
        wrong = case.wrong(reply["outputs"])
        if wrong:
            guesses = run == 0 and sum("expected" in other for other in answer.sizes.values()) < MAX_GUESSES
            return wrong + (guess(session, size, run, case, reply["outputs"][0]) if guesses else "") + session.fault()
    return ""


def count(counters: dict[str, int], size: Any, run: int, answer: Answer) -> None:
    """Adds the counters of a run to the answer, and the goals that they miss, which hold for any data. counters: empty if the simulator has not counted every
    launch once. The report shows those of run 0."""
    shape = answer.shape
    if size == shape.counted_at and run == 0:
        answer.counters = counters
    where = "" if size == shape.counted_at else f" at {shapes.label(size)}"
    limits = shape.limits if size in shape.goals_at else {name: most for name, most in shape.limits.items() if most == 0}  # what is forbidden is so at any size
    if limits and not counters:  # as when a kernel launches others; what was not counted is no pass
        answer.missed.append(f"the launches{where} were not all counted")
    elif not answer.missed or size in shape.goals_at and run == 0:
        answer.missed += [f"{counters[name]:,} {name}{where}, at most {most:,}" for name, most in limits.items() if counters[name] > most]


def how_it_ended(session: Session, answer: Answer, note: str) -> str:
    """Why a program has ended, in a few words. note: its first error before that."""
    program, device = session.end()
    if sandbox.TIME_OVER in (program, device):
        answer.over = answer.over or too_long(session.limit)
        return answer.over
    if program == sandbox.MEMORY_OVER:
        answer.over = answer.over or f"the program needed more than {PROGRAM_MEMORY} of host memory"
    if device == sandbox.MEMORY_OVER or device not in (0, CHECKER_ENDS_WITH) and any("memory" in line.lower() for line in session.said("device")):
        answer.over = answer.over or f"the program needed more than {DEVICE_MEMORY} of simulator memory"
    if answer.over:
        return answer.over
    if device not in (0, CHECKER_ENDS_WITH):
        return f"the simulator {manner(device)}"
    said = session.said("program")
    if any("bad_alloc" in line for line in said):
        answer.over = f"the program needed more than {PROGRAM_MEMORY} of host memory"
        return answer.over
    if note:
        return f"no result: {note}{session.fault()}"
    hint = "; host code may have dereferenced a device pointer" if program == 128 + signal.SIGSEGV else ""
    return f"the program {manner(program)}{hint}" + (f": {said[-1]}" if said else "") + session.fault()


def manner(status: int) -> str:
    return f"was killed by {signal.Signals(status - 128).name}" if status > 128 else f"exited with status {status}"


# ---- At all sizes

def run(program: Path, options: argparse.Namespace, answer: Answer) -> None:
    """Runs all sizes, each in its orders. If the program ends at one, a new process continues with the next, until the time is up."""
    end, used = time.monotonic() + PATIENCE * options.seconds, 0.0  # used: seconds of processor time, of the sessions that have ended
    settings = {"SIM_ATOMIC_LOADS": 1} if answer.shape.limits else {}
    answer.sizes = dict.fromkeys(answer.shape.sizes, NOT_TRIED)
    session, groups, apart = None, answer.shape.groups(), answer.shape.groups_apart()
    others: dict = {}  # by size: the first error in another order
    failed = set()  # the orders in which a run was wrong: more of them would only take time
    for number, (size, (words, order)) in enumerate(groups + apart):
        if session and (session.ended or number == len(groups)):
            used += finish(session, answer)
            session = None
        left = math.ceil(min(options.seconds - used, (end - time.monotonic()) / PATIENCE))
        if left <= 0:  # a run that was not made is no pass
            answer.over = answer.over or too_long(options.seconds)
            others[size] = others.get(size) or answer.over
        elif not answer.unjudged and order not in failed:
            session = session or Session(program, options, left, **settings if number < len(groups) else shapes.LANES_APART)
            session.order = order
            if words:
                wrong = in_other_order(session, size, words, answer)
                others[size] = others.get(size) or wrong
                failed |= {order} if wrong else set()
            else:
                answer.sizes[size] = one_size(session, size, answer)
    if session:
        finish(session, answer)
    answer.sizes |= {size: wrong for size, wrong in others.items() if wrong and answer.sizes[size] in ("", NOT_TRIED)}


def in_other_order(session: Session, size: Any, words: str, answer: Answer) -> str:
    """The error at a size, "" for none, in another order of blocks, warps and lanes."""
    other = Answer(answer.name, answer.shape)
    wrong = one_size(session, size, other, True)
    answer.over = answer.over or other.over
    answer.unjudged = answer.unjudged or other.unjudged
    return answer.over if other.over else wrong and f"{wrong}, {words}"


def finish(session: Session, answer: Answer) -> float:
    """Ends a session and adds its findings to the answer; returns the seconds of processor time that it used."""
    program, device = session.end()
    found = session.findings()
    add_findings(found, answer)
    if sandbox.TIME_OVER in (program, device):
        answer.over = answer.over or too_long(session.limit)
    answer.unjudged = answer.unjudged or why_not_judged(device, session.folder / "device.txt")
    is_incomplete = device not in (0, UNSUPPORTED, CHECKER_ENDS_WITH, sandbox.TIME_OVER)
    if is_incomplete or device == CHECKER_ENDS_WITH and not found:
        answer.findings[("", "")] = [f"the simulator {manner(device)}, and the list of the checker's findings is missing or incomplete"]
    return session.used


def too_long(seconds: int) -> str:
    return f"stopped after {seconds} seconds of processor time, or {PATIENCE * seconds} in all"


def whole_program(path: Path, folder: Path, options: argparse.Namespace, answer: Answer) -> None:
    """Builds it, and runs it."""
    if answer.shape.steps:
        answer.similar = similar.most_similar(mine.read(path), answer.shape.steps)
    program = compiling.build(path, folder, options, answer)
    if program:
        run(program, options, answer)


def checked(path: Path, options: argparse.Namespace, judge: Callable = whole_program, below: Path | None = None, is_empty: bool = False) -> Answer:
    """The answer about one file, which is found from the folder `below` without following links; is_empty: about a student without a program.
    A failure of the judge is no verdict about the file, and does not affect other files."""
    answer, begin = Answer(path.name, options.shape), time.monotonic()
    if is_empty:
        answer.said = ["there is no readable file whose name ends in .cu"]
        return answer
    try:
        data = compiling.read_once(path, below)
        with scratch.folder() as folder:
            (folder / "program").mkdir()
            (folder / "submitted").mkdir()
            copy = folder / "submitted" / path.name
            copy.write_bytes(data)  # what is judged; the file itself may change
            judge(copy, folder / "program", options, answer)
    except compiling.Unusable as error:
        answer.said = [f"the file cannot be used: {error}"]
    except OSError as error:
        answer.unjudged = compiling.DISK_FULL if error.errno in compiling.NO_SPACE else f"the judge failed: {error.strerror}"
    except Exception as error:
        answer.unjudged = f"the judge failed: {type(error).__name__}: {error}"
    answer.seconds = time.monotonic() - begin
    return answer
