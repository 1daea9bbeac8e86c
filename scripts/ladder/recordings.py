#!/usr/bin/env python3
"""Writes the steps of both ladders, with their Tries, for the player: book/player/programs/stepNN.js and scanNN.js.

A page compiles a lesson's text and evaluates its host code, so a script has texts only: the lesson, its Tries, the harness, and which lines the page
can remove. Other programs, of make page, are recordings of their device calls; the functions for them are here, too."""

import argparse
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts import files
from scripts.ladder import tries

ROOT = tries.ROOT
PROGRAMS = ROOT / "book/player/programs"
HARNESSES = ROOT / "book/player/harness"
REPLAY = ROOT / "build/sim/replay"
SIZES = [1, 31, 32, 33, 256, 1000, 4096, 65536]
MARK = "// ==== Harness"
SHOWN = 1000  # elements with which removable lines are looked for


# ---- Recordings: simulator/runtime/work/record.h says what their lines are

def split(data):
    """The calls, the PTX texts as (number of the binary, text), and the bytes by name."""
    calls, texts, blobs, at = [], [], {}, 0
    while at < len(data):
        end = data.index(b"\n", at)
        words = data[at:end].decode().split()
        at = end + 1
        if words[0] in ("ptx", "bytes"):
            content = data[at:at + int(words[2])]
            at += len(content) + 1
            if words[0] == "ptx":
                texts.append((int(words[1]), content.decode()))
            else:
                blobs[words[1]] = content
        elif words[0] != "recording":
            calls.append(" ".join(words))
    return calls, texts, blobs


def end_of_body(ptx, at):
    """The position after the brace that closes the next one; inline assembly has its own braces."""
    depth = 0
    for brace in re.finditer(r"[{}]", ptx[at:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return at + brace.end()
    return len(ptx)


def without_unused(text, calls):
    """A PTX text (with its binary's number) without the kernels that are not launched; line numbers stay. Source paths are reduced to
    file names."""
    binary, ptx = text
    launched = {call.split()[2] for call in calls if call.startswith("launch")}
    kept, at = [], 0
    for entry in re.finditer(r"^\.visible \.entry (\w+)\(", ptx, re.M):
        if entry[1] in launched:
            continue
        end = end_of_body(ptx, entry.start())
        kept += [ptx[at:entry.start()], "\n" * ptx.count("\n", entry.start(), end)]
        at = end
    ptx = "".join(kept) + ptx[at:]
    return binary, re.sub(r'^(\s*\.file\s+\d+) "[^"\n]*/([^"/\n]+)"', r'\1 "\2"', ptx, flags=re.M)


def in_base64(blobs):
    return {name: base64.b64encode(content).decode() for name, content in blobs.items()}


# ---- Lines that a page can remove

def run(words):
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"recordings.py: {words[0]} exited with status {result.returncode}: {result.stderr.strip()[-400:]}")
    return result.stdout


def removable_of(words, lesson):
    """The lines of the lesson that the page can remove: barriers, fences, and bounds tests whose removal has an effect. words: replays it."""
    lines = {(entry["line"], entry["what"]) for entry in json.loads(run([*words, "--lines"]))}
    found = []
    for line, what in sorted(lines):
        if line > len(lesson):
            continue
        if what != "test":
            found.append({"line": line, "what": what})
        elif re.search(r"\bif \(|\?", lesson[line - 1]) and re.search(r"[<>]=? (\(\w+ \w+\))?(n|count|end)\b|\b(n|count|end) [<>]", lesson[line - 1]):
            environment = os.environ | {"SIM_THREADS": "1", "SIM_MAX_INSTRUCTIONS": "1000000"}
            if subprocess.run([*words, "--without", f"t{line}"], capture_output=True, env=environment).returncode in (1, 88):
                found.append({"line": line, "what": what})
    return found


def removable(folder, calls, texts, blobs, lesson):
    """The removable lines of a recorded program."""
    file = folder / "lines.recording"
    parts = [b"recording 1\n", *(f"ptx {binary} {len(text.encode())}\n{text}\n".encode() for binary, text in texts),
             *(f"bytes {name} {len(content)}\n".encode() + content + b"\n" for name, content in blobs.items()),
             *(f"{call}\n".encode() for call in calls)]
    file.write_bytes(b"".join(parts))
    found = removable_of([REPLAY, file], lesson)
    file.unlink()
    return found


# ---- A step

def harness_of(step):
    return HARNESSES / ("scan.cu" if step.startswith("scan/") else "sum.cu")


def evaluated(file, step, n):
    """The words that compile a lesson's text as a page does, and run its host code."""
    return [REPLAY, file, "--host", harness_of(step), "-D", f"HARNESS_N={n}", "-D", "HARNESS_DATA=0"]


def variant(source, step):
    """A lesson, or one of its Tries."""
    lesson = source.split(MARK)[0]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / tries.source_of(step).name
        file.write_text(lesson, encoding="utf-8")
        return {"source": lesson, "sizes": SIZES, "removable": removable_of(evaluated(file, step, SHOWN), lesson.splitlines())}


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
