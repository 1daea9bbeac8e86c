#!/usr/bin/env python3
"""Records the device calls of the steps of both ladders, and of their Tries, for the simulator in a page (simulator/page/simulator.js).

Of each step one script, book/player/programs/stepNN.js or scanNN.js: its lesson, its PTX, and for each n the calls up to the first result. The harness's
own kernels are removed if the result does not need them. Compiled programs are cached in build/recordings."""

import argparse
import base64
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts import files
from scripts.ladder import tries

ROOT = tries.ROOT
BUILT = ROOT / "build/recordings"
PROGRAMS = ROOT / "book/player/programs"
REPLAY = ROOT / "build/sim/replay"
SIZES = [1, 31, 32, 33, 256, 1000, 4096, 65536]
HARNESS = ["prepare", "fill", "compare"]  # kernels; the first does nothing here, the others loop over the elements
MARK = "// ==== Harness"
LARGE = 65536  # bytes that are not in a program's own script
TIME_LIMIT_S = 120
EXPECTED = re.compile(r"^(read \S+ \S+) (\S+)$", re.M)


# ---- Programs

def compiled(source, compiler, libraries):
    """The program of a source, built for the simulator if necessary; objects are cached by a hash of their inputs."""
    text = source.replace(str(ROOT), "")
    key = hashlib.sha256((text + compiler).encode()).hexdigest()[:16]
    folder, program = BUILT / key, BUILT / key / "program"
    name = re.search(r"-o (\w+) \w+\.cu", source)[1] + ".cu"
    if not (folder / "program.o").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source, encoding="utf-8")
        run([*shlex.split(compiler), "-c", "-o", "part.o", name], cwd=folder)
        (folder / "part.o").rename(folder / "program.o")
    library = ROOT / "build/sim/libsimulator.a"
    if not program.exists() or program.stat().st_mtime < library.stat().st_mtime:
        run(["g++", "-o", program, folder / "program.o", *shlex.split(libraries)], cwd=ROOT)
    return program


def run(words, **options):
    result = subprocess.run(words, capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"recordings.py: {words[0]} exited with status {result.returncode}: {result.stderr.strip()[-400:]}")
    return result.stdout


def recorded(program, n):
    """Whether the program succeeded, and its recording; None if it takes too long or cannot run here."""
    file = program.with_name(f"{n}.recording")
    try:
        status = subprocess.run([program, "--warm", str(n)], capture_output=True, timeout=TIME_LIMIT_S,
                                env=os.environ | {"SIM_RECORD": str(file), "SIM_THREADS": "1", "SIM_CHECK": "0"}).returncode
    except subprocess.TimeoutExpired:
        return None
    data = file.read_bytes() if file.exists() else b""
    file.unlink(missing_ok=True)
    return (status == 0, data) if status in (0, 1) and data else None


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


def kernel_of(call):
    return re.sub(r"^_Z\d+([a-z_]+).*", r"\1", call.split()[2])


def first_run(calls, n):
    """The calls up to the first result, without those that do not affect it; the harness's kernels get only blocks that have work."""
    kept = []
    for call in calls:
        words = call.split()
        if words[0] == "launch" and kernel_of(call) == "prepare":
            continue
        if words[0] == "launch" and kernel_of(call) in HARNESS:
            threads = int(words[4].split(",")[0])
            words[3] = f"{min(int(words[3].split(',')[0]), -(-n // threads))},1,1"
        kept.append(" ".join(words))
        if words[0] == "read":
            break
    return kept


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


# ---- A variant: a lesson, or one of its Tries

def removable(folder, calls, texts, blobs, lesson):
    """The lines of the lesson that the page can remove: barriers, fences, and bounds tests whose removal has an effect."""
    file = folder / "lines.recording"
    parts = [b"recording 1\n", *(f"ptx {binary} {len(text.encode())}\n{text}\n".encode() for binary, text in texts),
             *(f"bytes {name} {len(content)}\n".encode() + content + b"\n" for name, content in blobs.items()),
             *(f"{call}\n".encode() for call in calls)]
    file.write_bytes(b"".join(parts))
    lines = {(entry["line"], entry["what"]) for entry in json.loads(run([REPLAY, file, "--lines"])) if not entry["kernel"].startswith(
        tuple(f"_Z{len(name)}{name}" for name in HARNESS))}
    found = []
    for line, what in sorted(lines):
        if line > len(lesson):
            continue
        if what != "test":
            found.append({"line": line, "what": what})
        elif re.search(r"\bif \(|\?", lesson[line - 1]) and re.search(r"[<>]=? (\(\w+ \w+\))?(n|count|end)\b|\b(n|count|end) [<>]", lesson[line - 1]):
            environment = os.environ | {"SIM_THREADS": "1", "SIM_MAX_INSTRUCTIONS": "1000000"}
            if subprocess.run([REPLAY, file, "--without", f"t{line}"], capture_output=True, env=environment).returncode in (1, 88):
                found.append({"line": line, "what": what})
    file.unlink()
    return found


def variant(source, build, expected, blobs):
    """A program as a page needs it. `expected`: for each n, the name of the right first result, once one was right; `blobs`: all bytes of the step by
    name. Both are extended."""
    program = build(source)
    lesson = source.split(MARK)[0]
    made = {"source": lesson, "sizes": [], "runs": {}, "ptx": [], "removable": []}
    for n in SIZES:
        outcome = recorded(program, n)
        if outcome is None:
            print(f"recordings.py: {lesson.splitlines()[0]} at n = {n}: no recording", file=sys.stderr)
            continue
        right, data = outcome
        calls, texts, found = split(data)
        calls = first_run(calls, n)
        results = EXPECTED.search("\n".join(calls))
        if right and results:
            expected.setdefault(n, results[2])
        if n in expected:
            calls = [EXPECTED.sub(rf"\1 {expected[n]}", call) for call in calls]
        used = {call.split()[-1] for call in calls if call.startswith(("write", "read"))}
        blobs |= {name: content for name, content in found.items() if name in used}
        made["sizes"].append(n)
        made["runs"][n] = calls
        if n == 1000:
            made["removable"] = removable(program.parent, calls, texts, blobs, lesson.splitlines())
    made["ptx"] = [without_unused(text, sum(made["runs"].values(), [])) for text in texts]
    return made


# ---- Bytes, stored once: a prefix of longer bytes uses their name

def shared(blobs):
    """For each name, the name of the longest bytes of which its own are a prefix; bytes above LARGE count only for themselves."""
    longest = {}
    for name, content in blobs.items():
        longer = [other for other in blobs if blobs[other].startswith(content) and (len(blobs[other]) <= LARGE or len(content) > LARGE)]
        longest[name] = max(longer, key=lambda other: (len(blobs[other]), other))
    return longest


def renamed(call, longest):
    words = call.split()
    if words[0] in ("write", "read"):
        words[-1] = longest[words[-1]]
    return " ".join(words)


def in_base64(blobs):
    return {name: base64.b64encode(content).decode() for name, content in blobs.items()}


# ---- A step

def questions(readme):
    """The paragraphs before the Tries' diffs."""
    return [readme[:found.start()].strip().rsplit("\n\n", 1)[-1] for found in tries.PATCH.finditer(readme)]


def step_name(step):
    kind = "scan" if step.startswith("scan/") else "step"
    return kind + re.search(r"step(\d+)_", step)[1]


def write_step(step, build):
    source, expected, blobs = tries.source_of(step), {}, {}
    readme = (ROOT / step / "README.md").read_text(encoding="utf-8")
    lesson = variant(source.read_text(encoding="utf-8"), build, expected, blobs)
    made = []
    for number, (text, (diff, _)) in enumerate(zip(questions(readme), tries.tries(step)), 1):
        made.append({"number": number, "text": text, "diff": diff, **variant(tries.applied(step, diff), build, expected, blobs)})
    longest = shared(blobs)
    for one in (lesson, *made):
        one["runs"] = {n: "".join(renamed(call, longest) + "\n" for call in calls) for n, calls in one["runs"].items()}
    kept = {name: blobs[name] for name in sorted(set(longest.values()))}
    for name, content in kept.items():
        if len(content) > LARGE:
            write_script(PROGRAMS / f"bytes-{name}.js", "playerBytes", name, base64.b64encode(content).decode())
    program = {"name": step_name(step), "folder": step, "title": re.match(r"// ([^.\n]*)", lesson["source"])[1], "harness": HARNESS,
               **lesson, "source": {"file": source.name, "text": lesson["source"]}, "tries": made,
               "bytes": in_base64({name: content for name, content in kept.items() if len(content) <= LARGE})}
    write_script(PROGRAMS / f"{step_name(step)}.js", "playerPrograms", step_name(step), program)
    print(f"{step_name(step)}: {(PROGRAMS / (step_name(step) + '.js')).stat().st_size} bytes, "
          f"{len(made)} Tries, n = {', '.join(map(str, lesson['sizes']))}", flush=True)


def write_script(path, table, name, content):
    with files.whole(path) as file:
        file.write(f"(globalThis.{table} ||= {{}})[{json.dumps(name)}] = {json.dumps(content, ensure_ascii=False)};\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True, help="nvcc with its options, for the simulator")
    parser.add_argument("--libraries", required=True, help="what a program is linked with")
    parser.add_argument("steps", nargs="+", type=tries.step_name)
    options = parser.parse_args()

    def build(source):
        return compiled(source, options.compiler, options.libraries)

    sources = [tries.source_of(step).read_text(encoding="utf-8") for step in options.steps]
    sources += [tries.applied(step, diff) for step in options.steps for diff, _ in tries.tries(step)]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        list(workers.map(build, sources))
    for step in options.steps:
        write_step(step, build)


if __name__ == "__main__":
    main()
