#!/usr/bin/env python3
"""Writes the steps of both ladders, with their Tries, for the player: book/player/programs/stepNN.js and scanNN.js.

A page compiles a lesson's text and evaluates its host code, so a script has texts only: the lesson, its Tries, the harness, and which lines the page
can remove."""

import argparse
import json
import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drywarp import files, recordings
from scripts.ladder import tries

ROOT = tries.ROOT
PROGRAMS = ROOT / "book/player/programs"
HARNESSES = ROOT / "book/player/harness"
SIZES = [1, 31, 32, 33, 256, 1000, 4096, 65536]
MARK = "// ==== Harness"
SHOWN = 1000  # elements with which removable lines are looked for


# ---- A step

def harness_of(step):
    return HARNESSES / ("scan.cu" if step.startswith("scan/") else "sum.cu")


def evaluated(file, step, n):
    """The words that compile a lesson's text as a page does, and run its host code."""
    return [recordings.REPLAY, file, "--host", harness_of(step), "-D", f"HARNESS_N={n}", "-D", "HARNESS_DATA=0"]


def variant(source, step):
    """A lesson, or one of its Tries."""
    lesson = source.split(MARK)[0]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / tries.source_of(step).name
        file.write_text(lesson, encoding="utf-8")
        return {"source": lesson, "sizes": SIZES, "removable": recordings.removable_of(evaluated(file, step, SHOWN), lesson.splitlines())}


def questions(readme):
    """The paragraphs before the Tries' diffs."""
    return [readme[:found.start()].strip().rsplit("\n\n", 1)[-1] for found in tries.PATCH.finditer(readme)]


def step_name(step):
    kind = "scan" if step.startswith("scan/") else "step"
    return kind + re.search(r"step(\d+)_", step)[1]


def program_of(step):
    source = tries.source_of(step)
    readme = (ROOT / step / "README.md").read_text(encoding="utf-8")
    lesson = variant(source.read_text(encoding="utf-8"), step)
    made = [{"number": number, "text": text, "diff": diff, **variant(tries.applied(step, diff), step)}
            for number, (text, (diff, _)) in enumerate(zip(questions(readme), tries.tries(step)), 1)]
    host = {"file": "harness.cu", "text": harness_of(step).read_text(encoding="utf-8")}
    return {"name": step_name(step), "folder": step, "title": re.match(r"// ([^.\n]*)", lesson["source"])[1], "harness": [], "host": host,
            **lesson, "source": {"file": source.name, "text": lesson["source"]}, "tries": made}


def write_step(step):
    program, path = program_of(step), PROGRAMS / f"{step_name(step)}.js"
    with files.whole(path) as file:
        file.write(f"(globalThis.playerPrograms ||= {{}})[{json.dumps(program['name'])}] = {json.dumps(program, ensure_ascii=False)};\n")
    print(f"{program['name']}: {path.stat().st_size} bytes, {len(program['tries'])} Tries", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="+", type=tries.step_name)
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        list(workers.map(write_step, parser.parse_args().steps))


if __name__ == "__main__":
    main()
