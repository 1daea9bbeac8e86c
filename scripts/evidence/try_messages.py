#!/usr/bin/env python3
"""Makes the Tries whose findings a page shows, runs them on the simulator, and keeps what it says: make findings.

try_messages.py NVCC OPTIONS   OPTIONS build a program for the simulator"""

import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "plots"))
import tables
from scripts import findings
from scripts.ladder import labs, tries

ELEMENTS = 100003  # several blocks in every step, and no round number


def message(step, number, build, folder):
    """What the simulator says of a step with that Try made, without times; the program's name is that of the step's."""
    program, source = folder / "program", folder / tries.source_of(step).relative_to(ROOT)
    source.parent.mkdir(parents=True)
    source.write_text(tries.changed(step, number), encoding="utf-8")
    nvcc, *options = build
    subprocess.run([nvcc, "-lineinfo", source.relative_to(folder), "-o", program, *options], cwd=folder, check=True)
    size = labs.small_size(tables.lab_of(step)) if tables.lab_of(step) else tries.tries(step)[number - 1][1] or ELEMENTS
    run = subprocess.run([program, str(size)], capture_output=True, text=True, cwd=folder)
    if run.returncode != findings.STATUS:
        sys.exit(f"try_messages.py: {step}, Try {number}: exit status {run.returncode}, not {findings.STATUS}")
    found, others = findings.apart(tables.kept_message(run.stderr))
    return "\n".join([*found, findings.how_many(others)]) + "\n"


def main():
    nvcc, options = sys.argv[1:]
    build = [nvcc, *(str(ROOT / word) if word.startswith("build/") else word for word in shlex.split(options))]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as workers:
        cases = tables.shown_tries()
        messages = workers.map(lambda case: message(*case, build, Path(folder) / f"{case[0]}-{case[1]}"), cases)
        for (step, number), said in zip(cases, messages):
            path = tables.try_message(step, number)
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"of the diff {tries.digest(tries.tries(step)[number - 1][0])}\n{said}", encoding="utf-8")


if __name__ == "__main__":
    main()
