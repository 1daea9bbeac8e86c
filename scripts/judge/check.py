#!/usr/bin/env python3
"""Says about a program in the shape of a step what a good teaching assistant says: check.py my/reduce.cu, or check.py --all submissions.

--ladder says of which ladder, --contract of what other shape: a file that contract.py reads. Beside FILE such a file needs not to be named.

make check and make check-all call it; docs/judge.md says what it looks at and what it believes: nothing that the program prints.
Exit status: 0 right; 1 a wrong sum, or it ended before its time; 2 unusable argument; 3 it does not build; 4 the simulator's checker found something; 5 it
took too much time or memory; 6 it could not be judged, by no fault of its own; 7 it counts more than its contract allows. Of a folder: 0 if all passed, else 1, or 2 where the
table could not be written."""

import argparse
import concurrent.futures
import contextlib
import csv
import dataclasses
import errno
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path

from scripts.ladder import mine
from scripts.judge import classroom, contract, sandbox, shapes
from scripts.judge.words import NOT_TRIED, clean, counts_of, lines_about

ROOT = Path(__file__).resolve().parents[2]
PASSED, WRONG, UNUSABLE, UNBUILT, FINDINGS, OVER, UNJUDGED, MISSED = range(8)
VERDICTS = {PASSED: "passed", WRONG: "wrong", UNBUILT: "does not build", FINDINGS: "findings", OVER: "over the limits", UNJUDGED: "not judged",
            MISSED: "misses the goal"}
MOST_GUESSES = 3
PROBES = 4  # runs with other data before a guess why a result is wrong is said aloud
CHECKER_ENDS_WITH = 88
GONE = {"ended": True, "broken": True, "over": ""}
DISK_FULL = "no space is left on the judge's disk"
PREFIX = "check-"  # of temporary folders
MOST_LESSON, MOST_FILE = 32 << 10, 1 << 20  # characters, bytes
MOST_LINES, MOST_SAID = 12, 1 << 16  # of what the compiler or a program says; the last: bytes
COMPILE_SECONDS, COMPILE_MEMORY, PROGRAM_MEMORY, DEVICE_MEMORY = 180, "4G", "1G", "2G"
LEAST_FREE = 64 << 20  # bytes on the disk, for a compiler's failure to be the program's
NO_SPACE = errno.ENOSPC, errno.EDQUOT
COMPILE_FILE, COMPILE_SPACE, PROGRAM_SAYS, DEVICE_FILE = "64M", "256M", "64K", "64M"  # the largest file, and all together
LAST_PART = """
// ==== The judge's part. ====
#include <cstdlib>
#undef CHECK
#undef main
static void check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s:%d: %s: %s\\n", file, line, call, cudaGetErrorString(error));
        exit(1);
    }
}
extern "C" {
const void *check_uses[] = {(const void *)&STEP, (const void *)&check};
PART}
"""


def fail(message):
    print(f"check.py: {message}", file=sys.stderr)
    sys.exit(UNUSABLE)


@dataclasses.dataclass
class Answer:
    """What is found out about one program."""
    name: str
    shape: shapes.Shape = shapes.REDUCE
    step: str = ""
    built: bool = False
    warnings: int = 0
    said: list = dataclasses.field(default_factory=list)  # by the compiler, or in its place
    sizes: dict = dataclasses.field(default_factory=dict)  # n: "" where it is right, else what is wrong, in a line or two
    findings: dict = dataclasses.field(default_factory=dict)  # by what tells one from another: its title, and lines about it
    counters: dict = dataclasses.field(default_factory=dict)
    over: str = ""  # which limit it has met first; of each size at which it met one, this stands in sizes
    unjudged: str = ""  # why the judge could not go on
    seconds: float = 0

    @property
    def right(self):
        return sum(not wrong for wrong in self.sizes.values())

    @property
    def status(self):
        if self.unjudged:
            return UNJUDGED
        if any(wrong not in ("", NOT_TRIED, self.over) for wrong in self.sizes.values()):
            return WRONG  # also where it is slow: that is no excuse for it
        if self.over:
            return OVER
        if not self.built:
            return UNBUILT
        if self.right < len(self.shape.sizes):
            return WRONG
        return FINDINGS if self.findings else MISSED if self.missed else PASSED

    @property
    def verdict(self):
        return VERDICTS[self.status]

    @property
    def missed(self):
        """The counters that are over what a contract allows."""
        return [name for name, most in self.shape.gates.items() if self.counters.get(name, 0) > most]


# ---- Building

def name_to_compile(path):
    """The program's name, or another where a compiler could stumble over it."""
    harmless = path.name.isprintable() and path.name.endswith(".cu") and not set(path.name) & set('"\\')
    return path.name if harmless else "program.cu"


def composed(path, shape):
    """The program's text, and the step that it says it is: the lesson, and the judge's part in the place of the harness."""
    if path.stat().st_size > MOST_FILE:
        raise ValueError(f"it has more than {MOST_FILE:,} bytes")
    lesson, _ = mine.split(mine.read(path))
    if len(lesson) > MOST_LESSON:
        raise ValueError(f"more than {MOST_LESSON:,} characters stand above the line '{mine.MARK}'")
    code = mine.without_comments(lesson)
    mine.check_functions(name_to_compile(path), code, shape.functions, shape.page)
    step = mine.STEP.search(code)
    above = ["#include <cstdio>\n", "" if step else 'static const char STEP[] = "";\n',
             "" if re.search(r"#\s*define\s+CHECK\b", code) else mine.CHECK,
             "static void check(cudaError_t error, const char *call, const char *file, int line);\n"]
    part = LAST_PART.replace("PART", shape.part.lstrip())
    return "".join([*above, mine.line(1, name_to_compile(path)), lesson, mine.line(1, "the judge's part"), part]), step[1][1:-1] if step else ""


def build(path, folder, options, answer):
    """The program in the folder; None where it does not build."""
    try:
        text, answer.step = composed(path, answer.shape)
    except (ValueError, OSError) as error:
        answer.said = [f"it cannot be used: {error}"]
        return None
    except SystemExit as error:  # of mine.py, in a line
        answer.said = [str(error).removeprefix("mine.py: ")]
        return None
    source, program = folder / "whole/program.cu", folder / "whole/program"
    source.parent.mkdir()
    source.write_text(text, encoding="utf-8")
    (folder / name_to_compile(path)).write_bytes(path.read_bytes())  # there the checker looks for the lines that it shows
    command = [options.nvcc, *shlex.split(options.options), "-o", str(program), str(source), str(options.object), "-lpthread"]
    toolkits = [word for nvcc in (Path(options.nvcc), Path(options.nvcc).resolve()) for word in ("--run", str(nvcc.parent.parent))]
    allowed = ["--system", *toolkits, "--read", str(options.object), "--write", str(folder), "--seconds", str(COMPILE_SECONDS),
               "--memory", COMPILE_MEMORY, "--file-bytes", COMPILE_FILE, "--space", COMPILE_SPACE]
    status, said = compiled(command, allowed)
    if status and any(os.strerror(error) in said for error in NO_SPACE):  # there may be some by now
        status, said = compiled(command, allowed)
    lines = [without_folders(line) for line in said.splitlines()]
    answer.warnings = sum(bool(re.search(r"\bwarning\b( #|:)", line)) for line in lines)
    answer.built = status == 0 and program.exists()
    answer.said = explained(lines)[:MOST_LINES]
    if status == sandbox.TIME_OVER:
        answer.said = [f"the compiler was stopped after {COMPILE_SECONDS} seconds"]
    if status == sandbox.SPACE_OVER:
        answer.over = f"the compiler wrote more than {COMPILE_SPACE}"
    if not answer.built and is_disk_full(folder):
        answer.unjudged = DISK_FULL
    return program if answer.built else None


def is_disk_full(folder):
    """Whether the compiler may have failed for that alone."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, LEAST_FREE)
    except OSError as error:
        return error.errno in NO_SPACE
    return False


def compiled(command, allowed):
    """The compiler's status, and the beginning of what it says: the rest is read, for the compiler to go on, and forgotten."""
    with started([*in_sandbox(*allowed), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as compiler:
        said = compiler.stdout.read(MOST_SAID)
        while compiler.stdout.read(MOST_SAID):
            continue
    return compiler.returncode, said.decode(errors="replace")


def explained(lines):
    """The compiler's lines that say something; calls that nobody answers are named once."""
    absent = dict.fromkeys(call for line in lines for call in re.findall(r"undefined reference to `(\w+)'", line))
    known = [line for line in lines if line.strip() and not re.search("undefined reference|[Ii]n function `|^Remark: The warnings can be suppressed", line)]
    return [f"the judge does not know {call}; a lesson rarely needs it, and make mine runs it" for call in absent] or known


def without_folders(text):
    """The names of files as the learner knows them."""
    return re.sub(rf"{re.escape(tempfile.gettempdir())}/{PREFIX}[^/ ]*/program/", "", text)


class Running:
    """The processes that were started, for Ctrl-C to end: they are in groups of their own, and hear nothing of it."""
    stopped, processes = False, weakref.WeakSet()


def started(*arguments, **streams):
    process = subprocess.Popen(*arguments, **streams)
    Running.processes.add(process)
    if Running.stopped:
        process.kill()
        raise KeyboardInterrupt
    return process


def interrupt(*_):
    """Ctrl-C: all that runs ends, and nothing begins."""
    Running.stopped = True
    for process in list(Running.processes):
        process.kill()
    raise KeyboardInterrupt


def in_sandbox(*allowed):
    return [sys.executable, "-I", "-S", str(ROOT / "scripts/judge/sandbox.py"), *allowed, "--"]


# ---- Running

class Session:
    """A program of a shape that runs, and its device, each in a sandbox of its own; they talk to each other, and the judge to the device only."""

    def __init__(self, program, options, seconds, **orders):
        self.folder = Path(tempfile.mkdtemp(dir=program.parent.parent.parent))
        (self.folder / "device").mkdir()
        self.shape, self.limit, self.ended, self.told = options.shape, options.seconds, False, 0  # told: lines of the simulator
        to_device, from_program = os.pipe()
        to_program, from_device = os.pipe()
        limits = ["--system", "--alone", "--seconds", str(seconds)]
        with open(self.folder / "program.txt", "wb") as said:
            allowed = ["--run", str(program), "--memory", PROGRAM_MEMORY, "--file-bytes", PROGRAM_SAYS, "--threads", "1", "--strict"]
            self.program = started([*in_sandbox(*without_programs(limits), *allowed), str(program)],
                                            stdin=to_program, stdout=from_program, stderr=said)
        python = os.path.realpath(sys.executable)
        device, threads = self.folder / "device", options.threads or os.cpu_count() or 1
        settings = {"SIM_COUNTERS": device / "counters.csv", "SIM_FINDINGS": device / "findings.json", "SIM_THREADS": threads} | orders
        with open(self.folder / "device.txt", "wb") as said:
            allowed = ["--run", python, "--read", sys.base_prefix, "--read", str(ROOT / "scripts"), "--read", str(options.library),
                       "--read", str(program.parent.parent), "--write", str(device), "--memory", DEVICE_MEMORY, "--reserves",
                       "--threads", str(threads), "--file-bytes", DEVICE_FILE,
                       *(f"--set={name}={value}" for name, value in settings.items() if value)]
            self.device = started(
                [*in_sandbox(*limits, *allowed), python, "-I", "-S", str(ROOT / "scripts/judge/check_device.py"), str(options.library),
                 str(to_device), str(from_device)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, pass_fds=(to_device, from_device))
        for end in (to_device, from_program, to_program, from_device):
            os.close(end)
        self.rows = 0  # of counters.csv, that earlier runs have written

    def try_case(self, case):
        """What the device says of a run, with the outputs as lists of numbers; GONE when it is gone."""
        try:
            self.device.stdin.write(json.dumps(case.task | {"bytes": len(case.data)}).encode() + b"\n" + case.data)
            self.device.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.device.stdout.readline()
        reply = json.loads(line) if line.endswith(b"\n") else GONE
        data = [self.device.stdout.read(count) for count in reply.get("outputs", [])]
        if list(map(len, data)) != reply.get("outputs", []):  # it was ended while it wrote
            reply, data = GONE, []
        self.ended = reply.get("ended", False) or reply["broken"]
        return {**reply, "outputs": case.read(data)}

    def counted(self, launches):
        """The counters' rows of the run just made."""
        try:
            with open(self.folder / "device/counters.csv", newline="") as file:
                rows = list(csv.DictReader(file))
        except OSError:
            return []
        new, self.rows = rows[self.rows:], len(rows)
        return new if len(new) == launches else []

    def end(self):
        """Waits for both; returns how they ended."""
        try:
            self.device.stdin.close()
        except BrokenPipeError:
            pass
        self.device.stdout.close()
        return self.program.wait(), self.device.wait()

    def findings(self):
        """What the checker has found."""
        try:
            return json.loads((self.folder / "device/findings.json").read_text(errors="replace")).get("findings", [])
        except (OSError, ValueError):
            return []

    def said(self, which):
        """What one of them wrote on its standard error."""
        with open(self.folder / f"{which}.txt", "rb") as file:
            data = file.read(1 << 16)
        return [without_folders(line.strip()) for line in data.decode(errors="replace").splitlines() if line.strip()]

    def fault(self):
        """What the simulator has said of a fault since it was asked last, as a line more."""
        lines = [line for line in self.said("device") if line.startswith("simulator:")]
        new, self.told = lines[self.told:], len(lines)
        return f"\n{new[0]}" if new else ""


def without_programs(limits):
    """A program reads the system's libraries, and runs nothing but itself and what loads it."""
    libraries = ["/usr/lib", "/usr/lib64", "/lib", "/lib64"]
    loaders = sorted({str(path.resolve()) for folder in libraries for path in Path(folder).glob("ld-linux*.so*")})
    return [word for word in limits if word != "--system"] + [word for folder in libraries for word in ("--read", folder)] + \
           [word for loader in loaders for word in ("--run", loader)]


def how_it_ended(session, answer):
    """Why a program is gone, in a few words."""
    program, device = session.end()
    if sandbox.TIME_OVER in (program, device):
        answer.over = answer.over or f"it was stopped after {session.limit} seconds"
        return answer.over
    if device not in (0, CHECKER_ENDS_WITH) and any("memory" in line.lower() for line in session.said("device")):
        answer.over = answer.over or f"it wanted more than {DEVICE_MEMORY} of the simulator's memory"
    if answer.over:
        return answer.over
    if device not in (0, CHECKER_ENDS_WITH):
        return f"the simulator ended {manner(device)}"
    said = session.said("program")
    if any("bad_alloc" in line for line in said):
        answer.over = f"it wanted more than {PROGRAM_MEMORY} of the host's memory"
        return answer.over
    hint = "; the host may have followed a pointer of the device" if program == 128 + signal.SIGSEGV else ""
    return f"the program ended {manner(program)}{hint}" + (f": {said[-1]}" if said else "") + session.fault()


def manner(status):
    return f"by {signal.Signals(status - 128).name}" if status > 128 else f"with status {status}"


# ---- Judging

def guess(session, size, run, case, got):
    """Why the result is wrong, where one way of erring explains it for other data, too."""
    common = case.operation.mistakes(case.numbers, got)
    for _ in range(PROBES):
        case = session.shape.case(size, run)
        reply = session.try_case(case) if common else GONE
        if not reply.get("outputs") or reply["note"]:
            return ""
        session.counted(reply["launches"])
        common &= case.operation.mistakes(case.numbers, reply["outputs"][0])
    return f": {min(common, key=len)}" if common else ""


def one_size(session, size, answer):
    """What is wrong at a size; "" where nothing is. Several runs, each with other data."""
    for run in range(session.shape.runs):
        case = session.shape.case(size, run)
        reply = session.try_case(case)
        answer.over = answer.over or reply["over"]
        if reply.get("ended"):
            return how_it_ended(session, answer)
        if reply["over"]:
            return answer.over
        rows = session.counted(reply["launches"])
        if size == session.shape.counted_at and run == 0 and rows:
            answer.counters = shapes.totals(rows)
        if reply["note"]:
            return f"no result{case.where}: {reply['note']}{session.fault()}"
        wrong = case.wrong(reply["outputs"])
        if wrong:
            guesses = run == 0 and sum("expected" in other for other in answer.sizes.values()) < MOST_GUESSES
            return wrong + (guess(session, size, run, case, reply["outputs"][0]) if guesses else "") + session.fault()
    return ""


def place_line(place):
    """One side of a finding: where, who did what, and the source's text."""
    where = f"{place.get('file', '')}:{place['line']}: " if place.get("line") else ""
    access, kernel, text = place.get("access", ""), place.get("kernel"), place.get("text")
    return where + (f"{access}, in {kernel}" if kernel else f"the host {access}") + (f":  {text.strip()}" if text else "")


def without_numbers(text):
    return re.sub(r"0x[0-9a-f]+|\d+", "0", text)


def same_place(place):
    """What one side of a finding has in common with that of the same mistake at another size."""
    return without_folders(place.get("file", "")), place.get("line"), place.get("kernel"), without_numbers(place.get("access", ""))


def with_line(finding):
    return any(place.get("line") for place in finding.get("places", []))


def add_findings(found, answer):
    """One for each place: another size makes other numbers and addresses of it, and no other finding."""
    for finding in found:
        lines = [without_folders(place_line(place)) for place in finding.get("places", [])]
        title = finding.get("title", finding.get("kind", ""))
        key = (finding.get("kind", ""), *map(same_place, finding.get("places", [])[:2]), "" if with_line(finding) else without_numbers(title))
        answer.findings.setdefault(key, [clean(line) for line in [title, *lines, finding.get("hint", "")] if line])


def run(program, options, answer):
    """All sizes. Where the program ends at one, a new one goes on with the next, as long as there is time."""
    end = time.monotonic() + options.seconds
    session = None
    for size in answer.shape.sizes:
        left = math.ceil(end - time.monotonic())
        if left <= 0:
            answer.over = answer.over or f"it was stopped after {options.seconds} seconds"
            answer.sizes[size] = NOT_TRIED
            continue
        session = session or Session(program, options, left)
        answer.sizes[size] = one_size(session, size, answer)
        if session.ended:
            finish(session, answer)
            session = None
    if session:
        finish(session, answer)
    for (words, orders), size in zip(shapes.ORDERS, answer.shape.orders_at):
        left = math.ceil(end - time.monotonic())
        if left > 0 and answer.sizes[size] == "":
            run_in_order(Session(program, options, left, **orders), size, words, answer)


def run_in_order(session, size, words, answer):
    """One size more, as blocks, warps and lanes may also come on a GPU."""
    other = Answer(answer.name, answer.shape)
    wrong = one_size(session, size, other)
    answer.over = answer.over or other.over
    answer.sizes[size] = answer.over if other.over else wrong and f"{wrong}, {words}"
    finish(session, answer)


def finish(session, answer):
    """Ends a session: what has come to light in it?"""
    program, device = session.end()
    found = session.findings()
    add_findings(found, answer)
    if sandbox.TIME_OVER in (program, device):
        answer.over = answer.over or f"it was stopped after {session.limit} seconds"
    if device == CHECKER_ENDS_WITH and not found:
        answer.findings[("", "")] = ["the checker found something, and its list is missing"]


def checked(path, options):
    """The answer about one file. What goes wrong in the judge itself is no verdict about the file, and keeps nobody else from theirs."""
    answer, begin = Answer(path.name, options.shape), time.monotonic()
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        (folder / "program").mkdir()
        program = build(path, folder / "program", options, answer)
        if program:
            run(program, options, answer)
    except OSError as error:
        answer.unjudged = DISK_FULL if error.errno in NO_SPACE else f"the judge failed: {error.strerror}"
    except Exception as error:
        answer.unjudged = f"the judge failed: {type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    answer.seconds = time.monotonic() - begin
    return answer


# ---- One program, and a folder of them

def check_one(path, options):
    answer = checked(path, options)
    print("\n".join(lines_about(answer, options.file)))
    print("\n".join(sandbox.measures()))
    print("time is not measured here" + (f"; on a GPU {options.shape.timed_by} does it" if options.shape.timed_by else ""))
    print(f"{answer.verdict}: {counts_of(answer)}")
    return answer.status


COLUMNS = ["name", "step", "verdict", "built", "warnings", "sizes_passed", "sizes", "findings", *shapes.COUNTERS, "seconds"]


def row_of(name, answer):
    return [classroom.cell(clean(name)), classroom.cell(clean(answer.step)), answer.verdict, "yes" if answer.built else "no", answer.warnings, answer.right,
            len(answer.shape.sizes), len(answer.findings), *(answer.counters.get(counter, "") for counter in shapes.COUNTERS), f"{answer.seconds:.1f}"]


def submissions(folder, options):
    found = sorted(path for path in folder.rglob("*.cu") if path.is_file() and not path.is_symlink())
    if not found and options.gradescope:
        classroom.gradescope(options.gradescope, [])
    return found or fail(f"{clean(str(folder))}: no files that end in .cu")


class Table:
    """The CSV of --all. Rows are written as they come, to a file beside it that becomes the table when all are there.

    Where no more can be written it says so, once, and the answers go on without."""

    def __init__(self, path):
        self.path, self.part, self.whole = path, path.with_name(f"{path.stem}.part{path.suffix}"), True
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.part.write_text("")
        except OSError as error:
            fail(f"{clean(str(path))} cannot be written: {error.strerror}")
        self.add([column.replace(" ", "_") for column in COLUMNS])

    def add(self, row):
        if self.whole:
            with self.watched(), open(self.part, "a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow(row)

    @contextlib.contextmanager
    def watched(self):
        try:
            yield
        except OSError as error:
            self.whole = False
            print(f"check.py: {clean(str(self.path))} cannot be written: {error.strerror}; the answers go on here", file=sys.stderr)

    def finish(self):
        """Puts it where it should be; says whether it is there."""
        if self.whole:
            with self.watched():
                os.replace(self.part, self.path)
        return self.whole


def result_of(future):
    """Waits in turns of half a second: a Ctrl-C that comes just before a wait is heard only behind it."""
    while not concurrent.futures.wait([future], timeout=0.5).done:
        pass
    return future.result()


def check_all(folder, options):
    paths = submissions(folder, options)
    table, pool = Table(options.output), concurrent.futures.ThreadPoolExecutor(options.jobs)
    answers = []
    try:
        for path, future in [(path, pool.submit(checked, path, options)) for path in paths]:
            answer = result_of(future)
            name = str(path.relative_to(folder))
            table.add(row_of(name, answer))
            answers.append((name, answer))
            print(f"{clean(name)}: {answer.verdict}, {counts_of(answer)}", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    if options.gradescope and not any(answer.unjudged for _, answer in answers):
        classroom.gradescope(options.gradescope, answers)
    written, passed = table.finish(), sum(answer.status == PASSED for _, answer in answers)
    if written:
        classroom.write(options.output.with_suffix(""), answers)
        print(f"the table is in {options.output}; grades for Moodle and Canvas, and a page for each student, in {options.output.with_suffix('')}/")
    print("\n".join(sandbox.measures()))
    print(f"{passed} passed, {len(paths) - passed} failed")
    return UNUSABLE if not written else PASSED if passed == len(paths) else WRONG


def shape_of(options, path):
    """What a contract says, or the ladder. In a folder of many nobody brings a contract of his own."""
    beside = path.with_suffix(".contract")
    says = options.contract or (beside if not options.all and beside.is_file() else None)
    try:
        return contract.read(says) if says else shapes.LADDERS[options.ladder]
    except contract.Unusable as error:
        fail(f"{clean(str(says))}: {clean(str(error))}; docs/judge.md has the keys of a contract")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE", help="a program in the shape of a step; with --all a folder of them")
    parser.add_argument("--all", action="store_true", help="every .cu below the folder FILE, several at once, into a CSV")
    parser.add_argument("--ladder", choices=shapes.LADDERS, default="reduce", help="the program is a step of it")
    parser.add_argument("--contract", type=Path, help="the file that says how the program is called and what it computes; a single program's may lie beside it")
    parser.add_argument("--output", type=Path, default=Path("results/check.csv"), help="the CSV of --all")
    parser.add_argument("--gradescope", type=Path, help="the results.json of --all, where all the programs are of one student")
    parser.add_argument("--seconds", type=sandbox.positive, default=60, help="for all runs of a program (60)")
    parser.add_argument("--jobs", type=sandbox.positive, default=os.cpu_count() or 1, help="of --all: so many at once")
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--options", required=True, help="nvcc's")
    parser.add_argument("--object", type=Path, default=ROOT / "build/sim/check_program.o", help="the program's side of CUDA")
    parser.add_argument("--library", type=Path, default=ROOT / "build/sim/libcuda.so.1", help="the simulator")
    parser.error = fail
    options = parser.parse_args()
    options.threads = 1 if options.all else None
    nvcc = shutil.which(options.nvcc)
    options.nvcc = os.path.abspath(nvcc) if nvcc else fail(f"'{clean(options.nvcc)}' is no compiler that can be run; make check names nvcc")
    options.object, options.library = options.object.absolute(), options.library.absolute()
    for part in (options.object, options.library):
        if not part.exists():
            fail(f"{part} is missing; make check builds it")
    return options


def refuse_wrong_kind(path, options):
    """One line where there is no such program or folder, or where the other command is meant for it."""
    one, all_of_them = "make check FILE=my/reduce.cu", "make check-all DIR=submissions"
    if not options.file:
        fail(f"DIR is missing; name a folder, as in: {all_of_them}" if options.all else
             f"FILE is missing; name a program, as in: {one}; about a whole folder answers {all_of_them}")
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError):
        is_file = is_folder = False
    if is_folder and not options.all:
        fail(f"{clean(options.file)} is a folder; make check takes one program, as in: {one}; about a whole folder answers {all_of_them}")
    if is_file and options.all:
        fail(f"{clean(options.file)} is a file; make check-all takes a folder, as in: {all_of_them}; about one program answers {one}")
    if not is_file and not is_folder:
        fail(f"{clean(options.file)}: there is no such {'folder' if options.all else 'file'}")


def main():
    signal.signal(signal.SIGINT, interrupt)
    sys.stdout.reconfigure(errors="replace")
    options = parsed()
    path = Path(options.file)
    refuse_wrong_kind(path, options)
    options.shape = shape_of(options, path)
    try:
        sys.exit(check_all(path, options) if options.all else check_one(path, options))
    except KeyboardInterrupt:
        print("check.py: stopped by Ctrl-C", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
