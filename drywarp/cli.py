"""drywarp: CUDA programs on a machine without a GPU, counted and checked.

  drywarp run any.cu -- 100 3             builds and runs it; its own arguments follow --
  drywarp check any.cu                    the same, but exits with status 88 if there are findings;
                                          --json FILE, --sarif FILE: the findings for a script, for a code host;
                                          --strict: warnings count as errors
  drywarp counters any.cu                 runs it, and prints a table of each kernel's counters; --csv FILE: each launch
  drywarp page any.cu                     writes any.html, which plays its run in a browser; -o FILE: another name
  drywarp build -o any a.cu b.cu -Iinc    runs nvcc, for the simulator; drywarp-nvcc is the same, as a compiler
  drywarp compile any.cu -o any.ptx       compiles the kernels to PTX, without nvcc, in milliseconds; --help: its options
  drywarp --version, drywarp --help

All but compile take nvcc's options. Instead of a source, run, check and counters take a program built by drywarp.
CMake: cmake -DCMAKE_TOOLCHAIN_FILE=$(drywarp cmake) ...; others: pkg-config --libs drywarp. More: man drywarp.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from drywarp import files
from drywarp import findings
from drywarp import counters_table
from drywarp import page
from drywarp import program
from drywarp import VERSION
from drywarp import compiler
from drywarp import sarif
from drywarp.compiler import fail

OUTPUTS = {"run": (), "check": ("--json", "--sarif"), "counters": ("--csv",), "page": ("-o",)}  # options that name a file to be written


class Job(NamedTuple):
    words: list  # nvcc's: options and files
    arguments: list  # the program's own
    outputs: dict  # the files to be written, by option
    source: Path  # the first source, or the built program
    is_built: bool
    is_strict: bool  # check: warnings count as errors


# ---- Arguments

def take_outputs(words, options):
    """The words without the output options, and the output files by option."""
    kept, outputs, rest = [], {}, iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if option not in options:
            kept.append(word)
            continue
        outputs[option] = Path(value if equals else next(rest, ""))
        if not outputs[option].name:
            fail(f"{option} needs the name of a file")
    return kept, outputs


def job_of(what, words):
    """The job that the words after a command describe."""
    cut = words.index("--") if "--" in words else len(words)
    kept, outputs = take_outputs(words[:cut], OUTPUTS[what])
    is_strict = what == "check" and "--strict" in kept
    if is_strict:
        kept.remove("--strict")
    if any(program.REFUSED.fullmatch(word) and word.startswith(("-o", "--output-file")) for word in kept):
        fail(f"{what} keeps no program: use drywarp build -o")
    sources = [Path(word) for word in kept if Path(word).suffix in program.SOURCES and not word.startswith("-")]
    missing = next((source for source in sources if not source.is_file()), None)
    if missing:
        fail(f"no such file: {missing}")
    is_built = len(kept) == 1 and not sources and os.path.isfile(kept[0]) and os.access(kept[0], os.X_OK)
    if not sources and not is_built:
        fail(f"{what} needs a CUDA program, as in: drywarp {what} any.cu")
    return Job(kept, words[cut + 1:], outputs, Path(kept[0]) if is_built else sources[0], is_built, is_strict)


# ---- Building and running

def built(job, folder):
    """The job's program; exits with nvcc's status if it cannot be built."""
    if job.is_built:
        return job.source.resolve()
    result = Path(folder) / job.source.stem
    status = compiler.compile([*job.words, "-o", str(result)])
    return result if status == 0 else sys.exit(status)


def start(job, folder, **environment):
    """Runs the job's program, and returns its status, as a shell would."""
    try:
        status = subprocess.run([built(job, folder), *job.arguments], env=os.environ | environment).returncode
    except OSError as error:  # a script without its first line, or a program for another processor
        fail(f"{job.source} cannot be run: {error.strerror}")
    if status < 0:
        print(f"drywarp: {job.source} was killed by {signal.Signals(-status).name}", file=sys.stderr)
    return status if status >= 0 else 128 - status


def write(path, text):
    with files.whole(path) as file:
        file.write(text)


def run(job):
    with tempfile.TemporaryDirectory() as folder:
        return start(job, folder)


def check(job):
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "findings.json"
        checks = os.environ.get("SIM_CHECK", "1")
        strict = {"SIM_STRICT": "1"} if job.is_strict else {}
        status = start(job, folder, SIM_FINDINGS=str(said), SIM_CHECK="1" if checks == "0" else checks, **strict)
        if not said.exists():
            print(f"drywarp: {job.source} wrote no findings file: it was killed, uses no CUDA, or was not built by drywarp", file=sys.stderr)
            return status or 2
        text = said.read_text(encoding="utf-8")
    found = json.loads(text)["findings"]
    if "--json" in job.outputs:
        write(job.outputs["--json"], text)
    if "--sarif" in job.outputs:
        write(job.outputs["--sarif"], json.dumps(sarif.of(found, Path.cwd(), job.source), indent=1, ensure_ascii=False) + "\n")
    if not found:
        print("drywarp: no findings", file=sys.stderr)
    return findings.STATUS if any(one["level"] == "error" for one in found) else status


def counters(job):
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "counters.csv"
        status = start(job, folder, SIM_COUNTERS=str(rows))
        print(counters_table.of(rows))
        if "--csv" in job.outputs and rows.exists():
            write(job.outputs["--csv"], rows.read_text(encoding="utf-8"))
    return status


def write_page(job):
    if job.is_built:
        fail("page shows the source next to the run: name the source")
    with tempfile.TemporaryDirectory() as folder:
        data, printed = page.record(built(job, folder), job.arguments, folder)
        text = page.page_of(page.page_program(data, job.source, job.arguments, Path(folder)), printed)
    path = job.outputs.get("-o", Path(f"{job.source.stem}.html"))
    write(path, text)
    print(f"written: {path} ({len(text.encode()) / 1e6:.1f} MB)")
    return 0


JOBS = {"run": run, "check": check, "counters": counters, "page": write_page}


def compile_kernels(words):
    """Becomes the kernel compiler, which is a program of its own."""
    command = compiler.ROOT / "build/sim/compile"
    try:
        os.execv(command, ["drywarp compile", *words])
    except OSError as error:
        fail(f"the kernel compiler cannot be run: {command}: {error.strerror}")


def main():
    what, *words = sys.argv[1:] or ["--help"]
    if what in ("--help", "-h", "help") or what in JOBS and words in (["--help"], ["-h"]):
        print(__doc__, end="")
    elif what == "--version":
        print(f"drywarp {VERSION}")
    elif what == "cmake":
        print(compiler.ROOT.parent / "cmake/drywarp/toolchain.cmake")
    elif what == "build":
        sys.exit(compiler.compile(words))
    elif what == "compile":
        compile_kernels(words)
    elif what in JOBS:
        try:
            sys.exit(JOBS[what](job_of(what, words)))
        except KeyboardInterrupt:  # the program gets the signal, too
            sys.exit(128 + signal.SIGINT)
    else:
        fail(f"'{what}': accepted are run, check, counters, page, build, compile, cmake, --version and --help")
