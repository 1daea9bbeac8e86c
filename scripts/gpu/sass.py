#!/usr/bin/env python3
"""Shows what the compiler makes of the steps' kernels, in SASS; it needs no GPU.

sass.py loop STEP TRY NAME: writes one loop to OUTPUT/NAME.txt, the first with --loads loads, or with the most. TRY 0 is the step unchanged.
sass.py table ARCH...: writes OUTPUT/loops.csv, a row per loop of each program in the pages' markers `compiled`, for each architecture."""

import csv
import hashlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from drywarp import files
from drywarp.errors import Parser
from scripts.ladder import pages, tries

SHOWN = ("LDG", "FADD", "BRA")
COLUMNS = ["compiler", "arch", "step", "try", "diff", "code", "loop", "instructions", "loads", "additions"]
LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.+?)\s*;")
MARKER = re.compile(r"^<!-- compiled((?: \w+(?:,\d+)?)+): make tables", re.M)


def program_of(word):
    """(step, Try) of a marker's word: step02_bitops is the step, step02_bitops,1 its Try 1."""
    step, _, number = word.partition(",")
    return step, int(number or 0)


def shown_programs():
    """(step, Try) of each program that a page's marker `compiled` names."""
    words = [word for path in pages.all_pages() for found in MARKER.findall(path.read_text(encoding="utf-8")) for word in found.split()]
    return [program_of(word) for word in dict.fromkeys(words)]


def instructions(compiler, step, number):
    """(address, text) of the instructions of the kernel reduce in a step, or in its Try of that number."""
    source = tries.changed(step, number) if number else tries.source_of(step).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "reduce.cu"
        path.write_text(source, encoding="utf-8")
        subprocess.run([*shlex.split(compiler), "-cubin", "-o", path.with_suffix(".cubin"), path], check=True)
        run = subprocess.run(["cuobjdump", "-sass", path.with_suffix(".cubin")], capture_output=True, text=True)
    functions = re.split(r"^\s*Function : ", run.stdout, flags=re.M)[1:]
    kernel = [text for text in functions if re.match(r"_Z6reduce", text)]
    if not kernel:
        sys.exit(f"sass.py: cuobjdump shows no kernel reduce: {run.stderr.strip()}")
    return [(int(address, 16), text) for address, text in LINE.findall(kernel[0])]


def loops_of(code):
    """The loops: from the target of each backward branch to that branch. The branch to itself at the end of a kernel is none."""
    loops = []
    for address, text in code:
        target = re.search(r"\bBRA.*\b0x([0-9a-f]+)", text)
        if target and int(target[1], 16) < address:
            loops.append([text for at, text in code if int(target[1], 16) <= at <= address])
    return loops


def count(name, loop):
    return sum(name in text for text in loop)


def loop_of(code, loads):
    """The first loop with `loads` loads from memory, or with the most."""
    loops = loops_of(code)
    counts = [count("LDG", loop) for loop in loops]
    wanted = max(counts, default=None) if loads is None else loads
    if wanted not in counts:
        sys.exit(f"sass.py: the kernel has no loop{'' if loads is None else f' with {loads} loads'}")
    return loops[counts.index(wanted)]


def release(compiler):
    """The compiler's name and version, as in nvcc 13.0.88."""
    run = subprocess.run([shlex.split(compiler)[0], "--version"], capture_output=True, text=True, check=True)
    return f"nvcc {re.search(r', V([0-9.]+)', run.stdout)[1]}"


def rows_of(compiler, arch, step, number):
    """A row per loop of one program. `code` is equal for programs with the same machine code."""
    found = instructions(f"{compiler} -arch={arch}", step, number)
    digest = hashlib.sha256("\n".join(text for _, text in found).encode()).hexdigest()[:8]
    diff = tries.digest(tries.tries(step)[number - 1][0]) if number else ""
    return [[release(compiler), arch, step, number, diff, digest, index, len(loop), count("LDG", loop), count("FADD", loop)]
            for index, loop in enumerate(loops_of(found), 1)]


def write_table(options):
    rows = [row for program in shown_programs() for arch in options.arch for row in rows_of(options.compiler, arch, *program)]
    with files.whole(options.output / "loops.csv") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


def write_loop(options):
    loop = loop_of(instructions(f"{options.compiler} -arch=sm_90", options.step, options.try_number), options.loads)
    shown = [text for text in loop if options.all or any(name in text for name in SHOWN)]
    with files.whole(options.output / f"{options.name}.txt") as file:
        file.write("\n".join(shown) + "\n")


def main():
    parser = Parser(description=__doc__)
    parser.add_argument("--compiler", default="nvcc -O3", help="without its architecture")
    parser.add_argument("--output", type=Path, default=Path("results/sass"))
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="loop|table")
    one = kinds.add_parser("loop")
    one.add_argument("--loads", type=int, help="loads in the loop; default: the loop with the most")
    one.add_argument("--all", action="store_true", help="every instruction; default: loads, additions and branches")
    one.add_argument("step", type=tries.step_name)
    one.add_argument("try_number", type=int, metavar="TRY")
    one.add_argument("name")
    one.set_defaults(write=write_loop)
    table = kinds.add_parser("table")
    table.add_argument("arch", nargs="+", help="such as sm_90")
    table.set_defaults(write=write_table)
    options = parser.parse_args()
    if not shutil.which("cuobjdump"):
        sys.exit("sass.py: cuobjdump not found; it is part of the CUDA toolkit, and of pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm (add site-packages/nvidia/cu13/bin to PATH)")
    options.write(options)


if __name__ == "__main__":
    main()
