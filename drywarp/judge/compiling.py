"""Makes a program from a learner's file: the lesson with the judge's part instead of the harness, compiled in the sandbox."""

from __future__ import annotations

import argparse
import errno
import os
import re
import shlex
import stat
import subprocess
import tempfile
from pathlib import Path

from drywarp.judge import sandbox
from drywarp.judge.processes import in_sandbox, started
from drywarp.judge.shapes import Shape
from drywarp.judge.verdicts import Answer
from drywarp.judge.words import without_folders
from drywarp import mine

DISK_FULL = "no space is left on the judge's disk"
NO_SPACE = errno.ENOSPC, errno.EDQUOT
MIN_FREE = 64 << 20  # bytes on the disk; with less, a compiler's failure is blamed on the disk
MAX_LESSON, MAX_FILE = 32 << 10, 1 << 20  # characters, bytes
MAX_LINES, MAX_SAID = 12, 1 << 16  # of the compiler's messages: lines shown, bytes kept
COMPILE_SECONDS, COMPILE_MEMORY = 180, "4G"
READABLE = 0o644  # a file that another user than root, who compiles, can read
COMPILE_FILE, COMPILE_SPACE = "64M", "256M"  # the largest file, and all together
HEADER = re.compile(r'^[^\S\n]*#[^\S\n]*include[^\S\n]*(<\w[\w./+-]*>|"\w[\w/+-]*(?:\.h|\.hpp|\.cuh)?")', re.M)  # not the program itself, a .cu
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


def name_to_compile(path: Path) -> str:
    """The program's name, or another one if it could confuse a compiler or be executed by the shell that nvcc starts."""
    harmless = path.name.isprintable() and path.name.endswith(".cu") and not set(path.name) & set('"\\$`')
    return path.name if harmless else "program.cu"


class Unusable(Exception):
    """Why a submitted file is not compiled, in a line."""


def opened(path: Path, below: Path | None) -> int:
    """A descriptor of a file, found from the folder `below` (None: the working directory) without following a link below it."""
    folders, name = (path.relative_to(below).parts[:-1], path.name) if below else ((), path)
    handle = os.open(below or ".", os.O_RDONLY | os.O_DIRECTORY)
    for folder in (*folders, None):
        flags = os.O_RDONLY | os.O_NOFOLLOW | (os.O_DIRECTORY if folder else os.O_NONBLOCK)
        try:
            inner = os.open(folder or name, flags, dir_fd=handle)
        finally:
            os.close(handle)
        handle = inner
    return handle


def read_once(path: Path, below: Path | None = None) -> bytes:
    """The bytes of a submitted file. Raises Unusable if it is a link, a pipe or too large, as a file may become while others are judged."""
    try:
        handle = opened(path, below)
    except OSError as error:
        raise Unusable("it is a symbolic link" if error.errno in (errno.ELOOP, errno.ENOTDIR) else error.strerror) from None
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unusable("it is not a regular file")
        data = file.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise Unusable(f"the file has more than {MAX_FILE:,} bytes")
    return data


def check_rules(code: str, shape: Shape) -> None:
    """Raises ValueError if a program's code, without comments, has a forbidden name, or a #line that names the headers of cooperative groups:
    their accesses to reserved shared memory are not checked."""
    forbidden = next((word for word in shape.forbidden if re.search(rf"\b{word}\b", code)), None)
    if forbidden:
        raise ValueError(f"it has {forbidden}, which the task forbids")
    for directive in re.findall(r"^[^\S\n]*(?:#|%:|\?\?=)[^\S\n]*(?:line\b|\d)(.*)", re.sub(r"\\[^\S\n]*\n", "", code), re.M):
        if not re.fullmatch(r'[\s\d]*(?:"[^"\\]*"[\s\d]*)?', directive) or "cooperative_groups" in directive:
            raise ValueError("#line is accepted only with a number and the name of a file of your own")


def poison(lesson: str, shape: Shape) -> str:
    """For a task that forbids names: the headers of the lesson, which may use them, and then a pragma with which the preprocessor refuses them in any
    spelling, such as two parts joined by ##."""
    if not shape.forbidden:
        return ""
    headers = dict.fromkeys(found for found in HEADER.findall(lesson) if ".." not in found)
    included = [f"#if __has_include({name})\n#include {name}\n#endif\n" for name in ["<cstdlib>", *headers]]
    return "".join([*included, f"#pragma GCC poison {' '.join(shape.forbidden)}\n"])


def composed(path: Path, shape: Shape) -> tuple[str, str]:
    """The program's text, with the judge's part instead of the harness, and the name in its STEP."""
    lesson, _ = mine.split(mine.read(path))
    if len(lesson) > MAX_LESSON:
        raise ValueError(f"there are more than {MAX_LESSON:,} characters above the line '{mine.MARK}'")
    code = mine.without_comments(lesson)
    check_rules(code, shape)
    missing = mine.missing_functions(name_to_compile(path), code, shape.functions, shape.page)
    if missing:
        raise Unusable(missing)
    step = mine.STEP.search(code)
    above = ["#include <cstdio>\n", "" if step else 'static const char STEP[] = "";\n',
             "" if re.search(r"#\s*define\s+CHECK\b", code) else mine.CHECK,
             "static void check(cudaError_t error, const char *call, const char *file, int line);\n", poison(lesson, shape)]
    part = LAST_PART.replace("PART", shape.part.lstrip())
    return "".join([*above, mine.line(1, name_to_compile(path)), lesson, "\n", mine.line(1, "the judge's part"), part]), step[1][1:-1] if step else ""


def build(path: Path, folder: Path, options: argparse.Namespace, answer: Answer) -> Path | None:
    """Builds the program in the folder; None if that fails."""
    try:
        text, answer.step = composed(path, answer.shape)
    except (ValueError, OSError) as error:
        answer.said = [f"the file cannot be used: {error}"]
        return None
    except Unusable as error:
        answer.said = [str(error)]
        return None
    source, program = folder / "whole/program.cu", folder / "whole/program"
    source.parent.mkdir()
    source.write_text(text, encoding="utf-8")
    quoted = folder / name_to_compile(path)
    quoted.write_bytes(path.read_bytes())  # the checker quotes its lines
    for file in (source, quoted):
        file.chmod(READABLE)
    kept = folder / "kept"
    kept.mkdir()
    command = [options.nvcc, *shlex.split(options.options), *(["-keep", "-keep-dir", str(kept)] if answer.shape.forbidden else []),
               "-o", str(program), str(source), str(options.object), "-lpthread"]
    status, said = compiled(command, folder, "--write", str(source.parent), "--write", str(kept), "--read", str(options.object))
    add_messages(answer, status, said, status == 0 and program.exists())
    if answer.shape.forbidden:
        check_preprocessed(kept, said, answer)
    if not answer.built and is_disk_full(folder):
        answer.unjudged = DISK_FULL
    return program if answer.built else None


def check_preprocessed(folder: Path, said: str, answer: Answer) -> None:
    """Refuses a program that uses a forbidden name, or headers of a library of that name. folder: of the preprocessed text (.ii) of host and device."""
    poisoned = re.search(r'attempt to use poisoned "(\w+)"', said)
    text = "".join(path.read_text(errors="replace") for path in folder.glob("*.ii"))
    folders = {word for name in re.findall(r'^# \d+ "([^"\n]*)"', text, re.M) for word in name.split("/")}
    header = next((word for word in answer.shape.forbidden if word in folders), None)
    if poisoned:
        answer.built, answer.said = False, [f"it has {poisoned[1]}, which the task forbids"]
    elif header:
        answer.built, answer.said = False, [f"it includes headers of {header}, which the task forbids"]
    elif answer.built and re.search(r"^(?:[^\S\n]+#|[^\S\n]*%:)", text, re.M):  # the next pass of the compiler would execute it, past the pragma
        answer.built, answer.said = False, ["a macro generates a directive of the preprocessor"]


def add_messages(answer: Answer, status: int, said: str, built: bool) -> None:
    """Adds the compiler's result and messages to the answer."""
    lines = [without_folders(line) for line in said.splitlines()]
    answer.built = built
    answer.warnings = sum(bool(re.search(r"\bwarning\b( #|:)", line)) for line in lines)
    useful = explained(lines)
    first = next((k for k, line in enumerate(useful) if re.search(r"\berror\b", line)), 0)
    answer.said = useful[0 if built else first:][:MAX_LINES]  # many warnings may precede the error
    if status == sandbox.TIME_OVER:
        answer.said = [f"the compiler was stopped after {COMPILE_SECONDS} seconds"]
    if status == sandbox.MEMORY_OVER:
        answer.over = f"the compiler took more than {COMPILE_MEMORY} of memory"
    if status == sandbox.SPACE_OVER:
        answer.over = f"the compiler wrote more than {COMPILE_SPACE}"


def is_disk_full(folder: Path) -> bool:
    """Whether the disk is so full that the compiler may have failed for this reason."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, MIN_FREE)
    except OSError as error:
        return error.errno in NO_SPACE
    return False


def compiled(command: list[str], folder: Path, *more: str) -> tuple[int, str]:
    """The compiler's status and messages. It may write into the folder, use the paths in `more`, and read the system and itself: nvcc with its toolkit."""
    paths = (Path(command[0]), Path(command[0]).resolve())
    toolkits = [word for path in paths for word in ("--run", str(path.parent.parent if path.parent.name == "bin" else path))]
    allowed = ["--system", *toolkits, "--write", str(folder), *more, "--seconds", str(COMPILE_SECONDS), "--memory", COMPILE_MEMORY,
               "--file-bytes", COMPILE_FILE, "--space", COMPILE_SPACE]
    status, said = run_compiler(command, allowed)
    if status and any(os.strerror(error) in said for error in NO_SPACE):  # there may be space by now
        status, said = run_compiler(command, allowed)
    return status, said


def run_compiler(command: list[str], allowed: list[str]) -> tuple[int, str]:
    """The compiler's status and the first MAX_SAID bytes of its messages; the rest is read and discarded, so that it does not block."""
    with started([*in_sandbox(*allowed), *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as compiler:
        assert compiler.stdout  # a pipe
        said = compiler.stdout.read(MAX_SAID)
        while compiler.stdout.read(MAX_SAID):
            continue
    return compiler.returncode, said.decode(errors="replace")


def explained(lines: list[str]) -> list[str]:
    """The useful lines of the compiler; undefined calls are listed once."""
    absent = dict.fromkeys(call for line in lines for call in re.findall(r"undefined reference to `(\w+)'", line))
    known = [line for line in lines if line.strip() and not re.search("undefined reference|[Ii]n function `|^Remark: The warnings can be suppressed", line)]
    return [f"the judge does not support {call}; steps rarely need it; make mine supports it" for call in absent] or known
