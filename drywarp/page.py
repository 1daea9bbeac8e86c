#!/usr/bin/env python3
"""Writes one HTML file with the book's player: a program on the simulator, with its source, its findings and its warps.

make page builds the program for the simulator and calls this; FILE and ARGS come from the environment. The program is run once, and what it asks of
the device is recorded: the page replays that, also without one barrier or another, and needs nothing beside itself."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from drywarp import files, findings, program, recordings
from drywarp.errors import fail
from drywarp.paths import ROOT

PLAYER = ROOT / "book/player"
SCRIPTS = (  # the simulator, then the player's scripts in the order in which they load
    "simulator", "model", "diff", "source", "editor", "edit", "share", "view", "controls", "panes", "bar", "engine", "lookback", "analysis", "elements", "runs", "player")
MAX_BYTES = 16 << 20
TIME_LIMIT_S = 300
MAX_LINES = 200  # of the program's output on the page

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title}</title>
<style>body {{ margin: 0 auto; padding: 1em; max-width: 1280px; font: 16px/1.5 system-ui, sans-serif; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #0f1317; color: #e6e9ec; }} }}
{style}</style></head>
<body><main>{body}</main>
{scripts}</body></html>
"""
BODY = """<h1>{title}</h1>
<p>This page contains the program's run and the simulator; it needs no other files.</p>
{figure}{printed}"""
PRINTED = """
<h2>{title}</h2>
<pre style="white-space: pre-wrap">{lines}</pre>"""


def record(built: str | Path, arguments: list[str], folder: str | Path) -> tuple[bytes, str]:
    """Runs the program, shows its output and findings, and returns the recording of its device calls and the output. Its result may be wrong."""
    file = Path(folder) / "recording"
    environment = os.environ | findings.environment() | {"SIM_RECORD": str(file), "SIM_THREADS": "1"}
    try:
        result = subprocess.run([built, *arguments], capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_S, env=environment)
    except subprocess.TimeoutExpired:
        fail(f"{built} ran longer than {TIME_LIMIT_S} s: choose a smaller input")
    if not file.exists():
        fail(f"{built} exited with status {result.returncode} and made no CUDA call: {result.stderr.strip()[-200:]}")
    print(result.stdout, end="", flush=True)
    print(result.stderr, end="", file=sys.stderr, flush=True)
    return file.read_bytes(), result.stdout + "".join(line + "\n" for line in findings.apart(result.stderr)[1])


def page_program(data: bytes, source: Path, arguments: list[str], folder: Path) -> dict[str, Any]:
    """The recording as the player reads it; isOwn: the right result is not known."""
    calls, texts, blobs = recordings.split(data)
    if not any(call.startswith("launch") for call in calls):
        fail(f"{source} launches no kernel with these arguments, so there is nothing to show")
    size = sum(map(len, blobs.values()))
    if size > MAX_BYTES:
        fail(f"the run copies {size >> 20} MiB, a page holds {MAX_BYTES >> 20}: choose a smaller input")
    made = to_play(source.stem, source.name, source.read_text(encoding="utf-8"), 1, (calls, texts, blobs), folder)
    return made | {"title": " ".join([source.name, *map(shlex.quote, arguments)]), "isOwn": True}


def to_play(name: str, file: str, text: str, n: int, recording: tuple[list[str], list[tuple[int, str]], dict[str, bytes]], folder: Path) -> dict[str, Any]:
    """A program that was run at one n, as the player reads it. recording: its calls, PTX texts and bytes; reads must return the recorded bytes."""
    calls, texts, blobs = recording
    return {"name": name, "folder": "", "title": name, "harness": [], "source": {"file": file, "text": text}, "sizes": [n],
            "runs": {n: "".join(call + "\n" for call in calls)}, "ptx": [recordings.without_unused(ptx, calls) for ptx in texts],
            "removable": recordings.removable(folder, calls, texts, blobs, text.splitlines()), "tries": [], "bytes": recordings.in_base64(blobs)}


def script(text: str) -> str:
    """A script element; text that would end it early is escaped."""
    return "<script>" + re.sub("<(?=/script|!--)", r"\\u003c", text, flags=re.I) + "</script>\n"


def figure_of(made: dict[str, Any]) -> str:
    return f'<figure class="player" data-program="page" data-n="{made["sizes"][0]}"><pre>{html.escape(made["source"]["text"])}</pre></figure>'


def has_simulator() -> bool:
    """Whether make stage has built the page's simulator."""
    return (PLAYER / "simulator.js").exists()


def scripts_of(made: dict[str, Any]) -> str:
    """The program and the player's scripts."""
    missing = [name for name in SCRIPTS if not (PLAYER / f"{name}.js").exists()]
    if missing:
        fail(f"book/player/{missing[0]}.js is missing; make stage writes simulator.js")
    parts = [script(f"window.playerPrograms = {json.dumps({'page': made}, ensure_ascii=False)};")]
    return "".join(parts + [script((PLAYER / f"{name}.js").read_text(encoding="utf-8")) for name in SCRIPTS])


def whole(title: str, body: str, scripts: str) -> str:
    """A page of these parts, in HTML, with the player's style."""
    return PAGE.format(title=title, style=(PLAYER / "player.css").read_text(encoding="utf-8"), body=body, scripts=scripts)


def output_of(printed: str) -> str:
    """The program's output, in HTML; "" if it printed nothing. The player shows the findings."""
    lines = printed.splitlines()
    title = "The program's output" + (f", its first {MAX_LINES} of {len(lines):,} lines" if len(lines) > MAX_LINES else "")
    return PRINTED.format(title=title, lines=html.escape("\n".join(lines[:MAX_LINES]))) if lines else ""


def page_of(made: dict[str, Any], printed: str = "") -> str:
    title = html.escape(made["title"])
    return whole(title, BODY.format(title=title, figure=figure_of(made), printed=output_of(printed)), scripts_of(made))


def main() -> None:
    names, arguments = program.files(), program.words("ARGS")
    source = Path(names[0])
    page = ROOT / "build/pages" / f"{source.stem}.html"
    with tempfile.TemporaryDirectory() as folder:
        data, printed = record(program.program_of(names[0], ROOT / "build/sim"), arguments, folder)
        text = page_of(page_program(data, source, arguments, Path(folder)), printed)
    with files.whole(page) as file:
        file.write(text)
    print(f"written: {page.relative_to(ROOT)} ({len(text.encode()) / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
