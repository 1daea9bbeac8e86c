"""Recordings of a program's device calls: the calls, the PTX texts and the bytes that the simulator writes (simulator/runtime/work/record.h), and
the lines of their kernels that a page can remove."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from drywarp.errors import fail
from drywarp.paths import ROOT

REPLAY = ROOT / "build/sim/replay"


def split(data: bytes) -> tuple[list[str], list[tuple[int, str]], dict[str, bytes]]:
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


def end_of_body(ptx: str, at: int) -> int:
    """The position after the brace that closes the next one; inline assembly has its own braces."""
    depth = 0
    for brace in re.finditer(r"[{}]", ptx[at:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return at + brace.end()
    return len(ptx)


def without_unused(text: tuple[int, str], calls: list[str]) -> tuple[int, str]:
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


def in_base64(blobs: dict[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(content).decode() for name, content in blobs.items()}


# ---- Lines that a page can remove

def run(words: list[str | Path]) -> str:
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        fail(f"{words[0]} exited with status {result.returncode}: {result.stderr.strip()[-400:]}")
    return result.stdout


def removable_of(words: list[str | Path], lesson: list[str]) -> list[dict[str, Any]]:
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


def removable(folder: Path, calls: list[str], texts: list[tuple[int, str]], blobs: dict[str, bytes], lesson: list[str]) -> list[dict[str, Any]]:
    """The removable lines of a recorded program."""
    file = folder / "lines.recording"
    parts = [b"recording 1\n", *(f"ptx {binary} {len(text.encode())}\n{text}\n".encode() for binary, text in texts),
             *(f"bytes {name} {len(content)}\n".encode() + content + b"\n" for name, content in blobs.items()),
             *(f"{call}\n".encode() for call in calls)]
    file.write_bytes(b"".join(parts))
    found = removable_of([REPLAY, file], lesson)
    file.unlink()
    return found
