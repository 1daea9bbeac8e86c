"""drywarp: CUDA programs on a machine without a GPU, counted and checked (docs/drywarp.md)."""

import argparse
import difflib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple, NoReturn

from drywarp import (
    VERSION,
    compiler,
    counters_table,
    errors,
    files,
    findings,
    page,
    program,
    sarif,
)
from drywarp.errors import fail
from drywarp.paths import ROOT

# What each command does, and its own options as (name, metavar or None, help).
TIME_LIMIT = ("--time-limit", "SECONDS", "end the program this long after its first launch")
COMMANDS = {
    "run": ("builds and runs a program", (TIME_LIMIT,)),
    "check": (f"runs it, with status {findings.STATUS} if the checker reports an error",
              (("--json", "FILE", "write the findings for a script"), ("--sarif", "FILE", "write the findings for a code host"),
               ("--strict", None, "warnings count as errors"), ("--kernel", "PATTERN", "report only findings in kernels of this name"),
               ("--suppressions", "LIST", "do not report the findings in this file"), TIME_LIMIT)),
    "counters": ("runs it, and prints a table of each kernel's counters", (("--csv", "FILE", "write a row for each launch"), TIME_LIMIT)),
    "page": ("writes any.html, which replays the run in a browser", (("-o", "FILE", "another name than any.html"),)),
}
OTHERS = {
    "build": "runs nvcc for the simulator: drywarp build -o any a.cu b.cu; drywarp-nvcc is the same as a compiler",
    "compile": "compiles the kernels to PTX, without nvcc, in milliseconds; --help lists its options",
    "cmake": "prints the toolchain file: cmake -DCMAKE_TOOLCHAIN_FILE=$(drywarp cmake)",
    "pkgconfig": "prints the folder of drywarp.pc: PKG_CONFIG_PATH=$(drywarp pkgconfig) pkg-config --libs drywarp",
}
EXAMPLES = """The first four take nvcc's options and source files, or a program built by drywarp:
  drywarp check any.cu
  drywarp run -Iinclude a.cu b.cu -- 100 3     the program's arguments follow --
  drywarp check --json found.json ./any 100 3  or a built program
  drywarp build -o any a.cu b.cu -Iinclude && ./any
More: man drywarp.
"""
NO_FINDINGS = '{"findings": [], "left_out": 0}\n'  # as the simulator writes them
AT_LIMIT = 124  # the simulator's status at the time limit
# The simulator's setting of each option that is one.
SETTINGS = {"strict": "SIM_STRICT", "kernel": "SIM_KERNEL", "suppressions": "SIM_SUPPRESSIONS", "time_limit": "SIM_TIME_LIMIT"}
OWN_OPTIONS = {name: metavar for _, options in COMMANDS.values() for name, metavar, _ in options}


class Job(NamedTuple):
    words: list[str]  # nvcc's: options and files
    arguments: list[str]  # the program's own
    options: argparse.Namespace  # of the command
    source: Path  # the first source, or the built program
    is_built: bool


# ---- Arguments

def output_file(name: str) -> Path:
    """The type of an option that names a file to be written."""
    if not Path(name).name:
        raise argparse.ArgumentTypeError("it needs the name of a file")
    return Path(name)


def seconds(text: str) -> int:
    """The type of an option that is a time limit."""
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds, at least 1")
    return int(text)


TYPES = {"FILE": output_file, "SECONDS": seconds, "PATTERN": str, "LIST": str}  # of an option's value, by its metavar


def parsers() -> tuple[errors.Parser, dict[str, errors.Parser]]:
    """The command's parser, and those of its commands."""
    top = errors.Parser(prog="drywarp", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"drywarp {VERSION}")
    adder = top.add_subparsers(dest="what", metavar="COMMAND", required=True)
    for what, (text, options) in COMMANDS.items():
        one = adder.add_parser(what, help=text, description=text, allow_abbrev=False, usage=f"drywarp {what} [options] [nvcc's options] FILES [-- ARGUMENTS]")
        for name, metavar, about in options:
            one.add_argument(name, help=about, **({"metavar": metavar, "type": TYPES[metavar]} if metavar else {"action": "store_true"}))
    for what, text in OTHERS.items():
        adder.add_parser(what, help=text)
    return top, adder.choices


def is_program(word: str) -> bool:
    return Path(word).suffix not in program.SOURCES and os.path.isfile(word) and os.access(word, os.X_OK)


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """The words for drywarp and nvcc, and the program's arguments: those after --, or those after a built program."""
    cut = words.index("--") if "--" in words else len(words)
    at = 0  # the first word that is no option of drywarp
    while at < cut and words[at].partition("=")[0] in OWN_OPTIONS:
        at += 2 if OWN_OPTIONS[words[at].partition("=")[0]] and "=" not in words[at] else 1
    if at + 1 < len(words) and at == cut and is_program(words[at + 1]):  # check -- ./any 100
        return [*words[:at], words[at + 1]], words[at + 2:]
    if at + 1 < cut and is_program(words[at]):  # check ./any 100
        # Many programs have an option -o of their own.
        own = next((word for word in words[at + 1:cut] if word.startswith("--") and word.partition("=")[0] in OWN_OPTIONS), None)
        if own:
            fail(f"{own} after the program: give drywarp's options before it, and the program's own after --")
        return words[:at + 1], words[at + 1:]
    return words[:cut], words[cut + 1:]


def check_words(what: str, words: list[str]) -> None:
    """Reports misspelt options of drywarp, and those of nvcc that make no program."""
    own = [name for name, _, _ in COMMANDS[what][1]]
    for word in words:
        option = word.partition("=")[0]
        if option in OWN_OPTIONS and option.startswith("--"):
            others = [other for other, (_, options) in COMMANDS.items() if option in (name for name, _, _ in options)]
            fail(f"{what} has no option {option}: {' and '.join(others)} has it")
        similar = difflib.get_close_matches(option, own, cutoff=0.75) if option.startswith("--") else []
        if similar:
            fail(f"{what} has no option {option}: did you mean {similar[0]}?")
        if option in ("-o", "--output-file"):
            fail(f"{what} keeps no program: use drywarp build -o")
        if program.REFUSED.fullmatch(word) and not compiler.WITH_VALUE.fullmatch(word) and not compiler.MACHINE_CODE.fullmatch(word):
            fail(f"{what} builds and runs a program, and {word} makes none: use drywarp build {word}")


def job_of(what: str, words: list[str], parser: argparse.ArgumentParser) -> Job:
    """The job that the words after a command describe."""
    before, arguments = split(words)
    options, kept = parser.parse_known_args(before)
    is_built = len(kept) == 1 and is_program(kept[0])
    if not is_built:
        check_words(what, kept)
    sources = [Path(word) for word in kept if Path(word).suffix in program.SOURCES and not word.startswith("-")]
    named = [*sources, *([Path(kept[0])] if kept and not kept[0].startswith("-") else [])]
    missing = next((file for file in named if not file.exists()), None)
    if missing:
        fail(f"no such file: {missing}")
    if not sources and not is_built:
        fail(f"{what} needs a CUDA program, as in: drywarp {what} any.cu")
    for path in filter(None, (getattr(options, name, None) for name in ("json", "sarif", "csv", "o"))):
        files.check_writable(path)
    return Job(kept, arguments, options, Path(kept[0]) if is_built else sources[0], is_built)


# ---- Building and running

def built(job: Job, folder: str) -> Path:
    """The job's program; exits with nvcc's status if it cannot be built."""
    if job.is_built:
        return job.source.absolute()  # not what a link names: the python of a virtual environment is one
    result = Path(folder) / job.source.stem
    status = compiler.compile([*job.words, "-o", str(result)])
    return result if status == 0 else sys.exit(status)


class End(NamedTuple):
    status: int  # as a shell would give it
    is_interrupted: bool  # by SIGINT or SIGTERM to drywarp


def run_to_end(command: list[str], environment: dict[str, str]) -> End:
    """Runs a command. SIGINT and SIGTERM end it, also those that arrive while it starts; the second one kills it."""
    received: list[int] = []
    child: subprocess.Popen | None = None

    def stop(number: int, _frame: object) -> None:
        received.append(number)
        if child:
            child.send_signal(signal.SIGKILL if received[1:] else signal.SIGTERM)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        child = subprocess.Popen(command, env=environment)
        if received:
            child.send_signal(signal.SIGTERM)
        status = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return End(128 + received[0], True) if received else End(status if status >= 0 else 128 - status, False)


def start(job: Job, folder: str, **environment: str) -> End:
    """Runs the job's program, with the simulator's settings that the command's options are."""
    chosen = {setting: getattr(job.options, name, None) for name, setting in SETTINGS.items()}
    environment |= {setting: str(int(value) if value is True else value) for setting, value in chosen.items() if value}
    command = [str(built(job, folder)), *job.arguments]
    try:
        end = run_to_end(command, os.environ | environment)
    except OSError as error:  # a script without its first line, or a program for another processor
        fail(f"{job.source} cannot be run: {error.strerror}")
    killer = end.status - 128
    if killer in set(signal.Signals):
        print(f"drywarp: {job.source} was {'interrupted' if end.is_interrupted else 'killed'} by {signal.Signals(killer).name}", file=sys.stderr)
    return end


def write(path: Path, text: str) -> None:
    with files.whole(path) as file:
        file.write(text)


def run(job: Job) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return start(job, folder).status


def check(job: Job) -> int:
    """Also writes the files if it is interrupted: the simulator writes its findings while the program runs."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "findings.json"
        checks = os.environ.get("SIM_CHECK", "1")
        end = start(job, folder, SIM_FINDINGS=str(said), SIM_CHECK="1" if checks == "0" else checks)
        is_cut = end.status > 128 or (job.options.time_limit and end.status == AT_LIMIT)
        if not said.exists() and not is_cut:
            if end.status != errors.USAGE:  # with it, the simulator has refused a setting
                print(f"drywarp: {job.source} wrote no findings file: it uses no CUDA, or was not built by drywarp", file=sys.stderr)
            return end.status or errors.USAGE
        text = said.read_text(encoding="utf-8") if said.exists() else NO_FINDINGS
    found = json.loads(text)["findings"]
    if job.options.json:
        write(job.options.json, text)
    if job.options.sarif:
        write(job.options.sarif, json.dumps(sarif.of(found, Path.cwd(), job.source), indent=1, ensure_ascii=False) + "\n")
    if end.is_interrupted:
        return end.status
    if not found:
        print(f"drywarp: no findings{' before the run was cut short' if is_cut else ''}", file=sys.stderr)
    return findings.STATUS if any(one["level"] == "error" for one in found) else end.status


def counters(job: Job) -> int:
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "counters.csv"
        end = start(job, folder, SIM_COUNTERS=str(rows))
        print(counters_table.of(rows))
        if job.options.csv and rows.exists():
            write(job.options.csv, rows.read_text(encoding="utf-8"))
    return end.status


def write_page(job: Job) -> int:
    if job.is_built:
        fail("page shows the source next to the run: name the source")
    with tempfile.TemporaryDirectory() as folder:
        data, printed = page.record(built(job, folder), job.arguments, folder)
        text = page.page_of(page.page_program(data, job.source, job.arguments, Path(folder)), printed)
    path = job.options.o or Path(f"{job.source.stem}.html")
    write(path, text)
    print(f"written: {path} ({len(text.encode()) / 1e6:.1f} MB)")
    return 0


JOBS = {"run": run, "check": check, "counters": counters, "page": write_page}


def compile_kernels(words: list[str]) -> NoReturn:
    """Becomes the kernel compiler, which is a program of its own."""
    command = ROOT / "build/sim/compile"
    try:
        os.execv(command, ["drywarp compile", *words])
    except OSError as error:
        fail(f"the kernel compiler cannot be run: {command}: {error.strerror}")


def main() -> None:
    what, *words = sys.argv[1:] or ["--help"]
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))  # so that nvcc is ended, too, and temporary folders are removed
    try:
        if what == "build":
            sys.exit(compiler.compile(words))
        if what == "compile":
            compile_kernels(words)
        top, commands = parsers()
        if what in JOBS:
            sys.exit(JOBS[what](job_of(what, words, commands[what])))
        what = top.parse_args(sys.argv[1:] or ["--help"]).what
        print(ROOT / {"cmake": "scripts/install/toolchain.cmake", "pkgconfig": "build/sim/pkgconfig"}[what])
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def nvcc() -> None:
    """The command drywarp-nvcc."""
    sys.exit(compiler.compile(sys.argv[1:]))


if __name__ == "__main__":  # python3 -m drywarp.cli
    sys.argv[0] = "drywarp"  # as in __main__.py
    main()
