"""Runs the mistakes that docs/findings.md shows, and the Tries whose findings a page shows, and keeps what the simulator says of each: make findings.

messages.py NVCC OPTIONS   OPTIONS build a program for the simulator

Objects are kept in build/findings: after a change of the simulator, programs are only linked and run again."""

import hashlib
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
from drywarp import files, findings
from scripts.evidence import shown_messages
from scripts.ladder import labs, pages, tries

KEPT = ROOT / "build/findings"
ELEMENTS = 100003  # several blocks in every step, and no round number


def built(build, source, folder):
    """The program of a source; compiles it only if there is no object of the same text at the same path."""
    nvcc, *options = build
    libraries = [word for word in options if word.endswith(".a") or word.startswith("-l") and word != "-lineinfo"]
    options = [word for word in options if word not in libraries]
    text = source.read_bytes() + f"{source} {build}".encode()
    program = KEPT / hashlib.sha256(text).hexdigest()[:16]
    made = program.with_suffix(".o")
    if not made.exists():
        unfinished = program.with_suffix(".new.o")
        subprocess.run([nvcc, "-lineinfo", "-c", source.relative_to(folder), "-o", unfinished, *options], cwd=folder, check=True)
        unfinished.replace(made)
    subprocess.run([nvcc, made, "-o", program, *options, *libraries], cwd=folder, check=True)
    return program


def said(build, source, folder, *arguments, **settings):
    """What the simulator says of a source, which is named as from this folder; without addresses."""
    run = subprocess.run([built(build, source, folder), *arguments], capture_output=True, text=True, env=os.environ | settings, cwd=folder)
    if run.returncode != findings.STATUS:
        sys.exit(f"messages.py: {source.relative_to(folder)}: exit status {run.returncode}, not {findings.STATUS}")
    return shown_messages.kept_message(run.stderr)


def of_mistake(build, name):
    source = shown_messages.MISTAKES / f"{name}.cu"
    return said(build, source, ROOT, **dict(re.findall(r"^// with: (\w+)=(.*)$", source.read_text(encoding="utf-8"), re.M)))


def of_try(build, step, number):
    """What it says of a step with that Try made, without the program's own words."""
    folder = KEPT / f"{step.replace('/', '_')}-{number}"
    source = folder / tries.source_of(step).relative_to(ROOT)
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(tries.changed(step, number), encoding="utf-8")
    size = labs.small_size(pages.lab_of(step)) if pages.lab_of(step) else tries.tries(step)[number - 1][1] or ELEMENTS
    found, others = findings.apart(said(build, source, folder, str(size)))
    message = "\n".join([*found, findings.how_many(others)]) + "\n"
    return f"of the diff {tries.digest(tries.tries(step)[number - 1][0])}\n{message}"


def main():
    nvcc, options = sys.argv[1:]
    build = [nvcc, *(str(ROOT / word) if word.startswith("build/") else word for word in shlex.split(options))]
    KEPT.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        paths = {workers.submit(of_mistake, build, name): shown_messages.MESSAGES / f"{name}.txt" for name in shown_messages.shown_mistakes()}
        paths |= {workers.submit(of_try, build, *case): shown_messages.try_message(*case) for case in shown_messages.shown_tries()}
        for number, message in enumerate(as_completed(paths), 1):
            path = paths[message]
            changed = not path.exists() or path.read_text(encoding="utf-8") != message.result()
            print(f"{number} of {len(paths)}: {path.relative_to(ROOT)}{', changed' if changed else ''}", flush=True)
            if changed:
                with files.whole(path) as file:
                    file.write(message.result())


if __name__ == "__main__":
    main()
