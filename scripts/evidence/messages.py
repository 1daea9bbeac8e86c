"""Runs the mistakes that docs/findings.md shows, and the Tries whose findings a page shows, and keeps what the simulator says of each: make findings.

messages.py NVCC OPTIONS   OPTIONS build a program for the simulator"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
from drywarp import files, findings
from scripts.evidence import shown_messages
from scripts.ladder import labs, pages, tries

ELEMENTS = 100003  # several blocks in every step, and no round number


def said(build, source, folder, *arguments, **settings):
    """What the simulator says of a source, which is named as from this folder; without addresses."""
    nvcc, *options = build
    with tempfile.TemporaryDirectory() as elsewhere:
        program = Path(elsewhere) / "program"
        subprocess.run([nvcc, "-lineinfo", source.relative_to(folder), "-o", program, *options], cwd=folder, check=True)
        run = subprocess.run([program, *arguments], capture_output=True, text=True, env=os.environ | settings, cwd=folder)
    if run.returncode != findings.STATUS:
        sys.exit(f"messages.py: {source.relative_to(folder)}: exit status {run.returncode}, not {findings.STATUS}")
    return shown_messages.kept_message(run.stderr)


def of_mistake(build, name):
    source = shown_messages.MISTAKES / f"{name}.cu"
    return said(build, source, ROOT, **dict(re.findall(r"^// with: (\w+)=(.*)$", source.read_text(encoding="utf-8"), re.M)))


def of_try(build, step, number):
    """What it says of a step with that Try made, without the program's own words."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        source = folder / tries.source_of(step).relative_to(ROOT)
        source.parent.mkdir(parents=True)
        source.write_text(tries.changed(step, number), encoding="utf-8")
        size = labs.small_size(pages.lab_of(step)) if pages.lab_of(step) else tries.tries(step)[number - 1][1] or ELEMENTS
        found, others = findings.apart(said(build, source, folder, str(size)))
    message = "\n".join([*found, findings.how_many(others)]) + "\n"
    return f"of the diff {tries.digest(tries.tries(step)[number - 1][0])}\n{message}"


def main():
    nvcc, options = sys.argv[1:]
    build = [nvcc, *(str(ROOT / word) if word.startswith("build/") else word for word in shlex.split(options))]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        kept = {shown_messages.MESSAGES / f"{name}.txt": workers.submit(of_mistake, build, name) for name in shown_messages.shown_mistakes()}
        kept |= {shown_messages.try_message(*case): workers.submit(of_try, build, *case) for case in shown_messages.shown_tries()}
        for path, message in kept.items():
            text = message.result()
            with files.whole(path) as file:
                file.write(text)


if __name__ == "__main__":
    main()
