#!/usr/bin/env python3
"""Writes the programs of ten-minutes/ for the player: book/player/programs/ten01.js to ten06.js. make recordings calls it."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

from drywarp import files
from drywarp import recordings
from scripts.ladder import lesson_programs

FOLDER = lesson_programs.ROOT / "ten-minutes"
HARNESS = lesson_programs.ROOT / "book/player/harness/ten.cu"
EXPECTED = re.compile(r"^static float expected\(.*?^}\n", re.M | re.S)


def programs():
    return sorted(FOLDER.glob("[0-9][0-9]_*.cu"))


def lesson(program):
    """The part of the program above the values that it expects."""
    return program.read_text(encoding="utf-8").split("\n// ==== ")[0]


def editable(program):
    """The text that the page's reader edits: without the command that builds the whole program."""
    return re.sub(r"^// Build and run: .*\n", "", lesson(program), flags=re.M)


def host(program):
    """The host code that the page evaluates: the values that the program expects, and the harness."""
    return EXPECTED.search(program.read_text(encoding="utf-8"))[0] + HARNESS.read_text(encoding="utf-8")


def elements(program):
    return int(re.search(r"^const int N = (\d+);", program.read_text(encoding="utf-8"), re.M)[1])


def evaluated(program, text, folder):
    """The words that compile a text as the page does, and run its host code."""
    (folder / program.name).write_text(text, encoding="utf-8")
    (folder / "harness.cu").write_text(host(program), encoding="utf-8")
    return [recordings.REPLAY, folder / program.name, "--host", folder / "harness.cu", "-D", f"HARNESS_N={elements(program)}"]


def to_play(program):
    """A program as the player reads it."""
    text = editable(program)
    with tempfile.TemporaryDirectory() as folder:
        listed = subprocess.run([*evaluated(program, text, Path(folder)), "--lines"], check=True, capture_output=True, text=True).stdout
    removable = [{"line": line["line"], "what": line["what"]} for line in json.loads(listed) if line["what"] != "test"]
    return {"name": f"ten{program.name[:2]}", "folder": FOLDER.name, "title": re.match(r"// ([^.\n]*)", text)[1], "harness": [],
            "host": {"file": "harness.cu", "text": host(program)}, "sizes": [elements(program)], "removable": removable, "tries": [],
            "source": {"file": program.name, "text": text}}


def main():
    for program in programs():
        made = to_play(program)
        with files.whole(lesson_programs.PROGRAMS / f"{made['name']}.js") as file:
            file.write(f"(globalThis.playerPrograms ||= {{}})[{json.dumps(made['name'])}] = {json.dumps(made, ensure_ascii=False)};\n")
        print(f"{made['name']}: {made['title']}", flush=True)


if __name__ == "__main__":
    main()
