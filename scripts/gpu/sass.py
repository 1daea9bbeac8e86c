#!/usr/bin/env python3
"""Writes the SASS of one loop of a step's kernel: the first loop with --loads loads, or with the most loads.

sass.py STEP TRY NAME: the step unchanged (TRY 0) or with that Try of its README applied, to OUTPUT/NAME.txt."""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from drywarp import files
from drywarp.errors import Parser
from scripts.ladder import tries

SHOWN = ("LDG", "FADD", "BRA")
LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.+?)\s*;")


def instructions(cubin):
    """(address, text) of the instructions of the kernel reduce."""
    run = subprocess.run(["cuobjdump", "-sass", cubin], capture_output=True, text=True)
    functions = re.split(r"^\s*Function : ", run.stdout, flags=re.M)[1:]
    kernel = [text for text in functions if re.match(r"_Z6reduce", text)]
    if not kernel:
        sys.exit(f"sass.py: cuobjdump shows no kernel reduce: {run.stderr.strip()}")
    return [(int(address, 16), text) for address, text in LINE.findall(kernel[0])]


def loop_of(code, loads):
    """The first loop with `loads` loads from memory, or with the most: from the target of a backward branch to that branch."""
    loops = []
    for address, text in code:
        target = re.search(r"\bBRA.*\b0x([0-9a-f]+)", text)
        if target and int(target[1], 16) < address:
            loops.append([text for at, text in code if int(target[1], 16) <= at <= address])
    counts = [sum("LDG" in text for text in loop) for loop in loops]
    wanted = max(counts, default=None) if loads is None else loads
    if wanted not in counts:
        sys.exit(f"sass.py: the kernel has no loop{'' if loads is None else f' with {loads} loads'}")
    return loops[counts.index(wanted)]


def main():
    parser = Parser(description=__doc__)
    parser.add_argument("--compiler", default="nvcc -O3 -arch=sm_90")
    parser.add_argument("--output", type=Path, default=Path("results/sass"))
    parser.add_argument("--loads", type=int, help="loads in the loop; default: the loop with the most")
    parser.add_argument("--all", action="store_true", help="every instruction; default: loads, additions and branches")
    parser.add_argument("step", type=tries.step_name)
    parser.add_argument("try_number", type=int, metavar="TRY")
    parser.add_argument("name")
    options = parser.parse_args()
    if not shutil.which("cuobjdump"):
        sys.exit("sass.py: cuobjdump not found; it is part of the CUDA toolkit")
    source = (tries.ROOT / options.step / "reduce.cu").read_text()
    if options.try_number:
        source = tries.changed(options.step, options.try_number)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "reduce.cu"
        path.write_text(source)
        subprocess.run([*shlex.split(options.compiler), "-cubin", "-o", path.with_suffix(".cubin"), path], check=True)
        loop = loop_of(instructions(path.with_suffix(".cubin")), options.loads)
    shown = [text for text in loop if options.all or any(name in text for name in SHOWN)]
    with files.whole(options.output / f"{options.name}.txt") as file:
        file.write("\n".join(shown) + "\n")


if __name__ == "__main__":
    main()
