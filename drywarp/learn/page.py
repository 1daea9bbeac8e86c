"""The page of make learn: the verdict about a learner's kernel, and a run of the kernel in the player. An open page reloads by itself.

The page is self-contained. A second file holds its version: a page opened from the disk may load scripts, but no other files."""

from __future__ import annotations

import hashlib
import html
import tempfile
from pathlib import Path
from typing import Any

from drywarp import files
from drywarp import page
from drywarp import recordings
from drywarp.learn import judge
from drywarp.learn.exercise import Array, Exercise

NAME, VERSION_NAME = "page.html", "page.js"
NO_SIMULATOR = "<p>To see here what your warps do, run <code>make stage</code> once. It takes a minute and builds the page's simulator.</p>"
MOST = 1024  # the largest n that is shown, unless the exercise has no smaller one or the result is wrong at another
BODY = """<h1>{title}</h1>
<p>{task}</p>
<p>Your file: <code>{file}</code>. This page changes when you save it.</p>
<pre style="white-space: pre-wrap">{said}</pre>
{player}"""
PLAYER = """<h2>Your kernel of {title}, at n = {n:,}</h2>
{figure}"""
RELOADING = """
window.learnPage = (version) => version === "{version}" || location.reload();
setInterval(() => {{
    const asked = document.createElement("script");
    asked.src = "{name}?" + Date.now();
    asked.onload = asked.onerror = () => asked.remove();
    document.head.append(asked);
}}, 1000);
"""


# ---- A run for the player

def sizes_to_show(task: Exercise, verdict: judge.Verdict) -> list[int]:
    """The n at which the result is wrong; else all small ones, the largest first, since a finding may occur only at some."""
    small = sorted({n for n in task.sizes if n <= MOST}, reverse=True) or [min(task.sizes)]
    return [verdict.wrong_at] if verdict.wrong_at else small


def run_to_show(task: Exercise, verdict: judge.Verdict, tools: judge.Tools) -> tuple[int, dict[str, Any], Any]:
    """n, data and recording of a run that shows the mistake; of the first run if none does."""
    runs = []
    for n in sizes_to_show(task, verdict):
        seen, data, recording = judge.recorded(task, verdict.ptx, n, tools)
        runs.append((n, data, recording))
        if verdict.is_right or not seen.is_right:
            return runs[-1]
    return runs[0]


def as_it_should_be(calls: list[str], blobs: dict[str, bytes], data: dict[str, Any]) -> tuple[list[str], dict[str, bytes]]:
    """The calls up to the launch, then reads with the expected contents of the arrays; and the bytes that the calls name."""
    launch = next(number for number, call in enumerate(calls) if call.startswith("launch"))
    calls, names = calls[:launch + 1], {content: name for name, content in blobs.items()}
    allocated = [call.split()[1] for call in calls if call.startswith("allocate")]
    for number, value in zip(allocated, (value for value in data.values() if isinstance(value, Array))):
        if value.after is not None:
            name = names.setdefault(value.expected(), hashlib.sha256(value.expected()).hexdigest()[:16])
            calls.append(f"read {number}+0 {len(value.expected())} {name}")
    return calls, {name: content for content, name in names.items() if any(call.endswith(name) for call in calls)}


def played(task: Exercise, source: str, verdict: judge.Verdict, tools: judge.Tools) -> dict[str, Any] | None:
    """A run of the kernel as the player reads it; None if there is nothing to play."""
    n, data, recording = run_to_show(task, verdict, tools)
    calls, texts, blobs = recordings.split(recording)
    if not any(call.startswith("launch") for call in calls):
        return None
    calls, blobs = as_it_should_be(calls, blobs, data)
    with tempfile.TemporaryDirectory() as folder:
        return page.to_play("yours", f"{task.name}.cu", source, n, (calls, texts, blobs), Path(folder))


# ---- The page

def write(folder: Path, task: Exercise, file: Path, said: list[str], player: tuple[str, str]) -> None:
    """Writes the page of a task: messages and player; then its version file, so that an open page reloads."""
    shown, scripts = player
    body = BODY.format(title=html.escape(f"{task.number} {task.title}"), task=html.escape(task.task), file=html.escape(str(file)), said=html.escape("\n".join(said)), player=shown)
    version = hashlib.sha256((body + scripts).encode()).hexdigest()[:16]
    reloading = page.script(RELOADING.format(version=version, name=VERSION_NAME))
    for name, text in ((NAME, page.whole(html.escape(task.title), body, scripts + reloading)), (VERSION_NAME, f'learnPage("{version}");\n')):
        with files.whole(folder / name) as out:
            out.write(text)


def player_of(task: Exercise, source: str, verdict: judge.Verdict, tools: judge.Tools) -> tuple[str, str]:
    """The player with a judged kernel: HTML and scripts."""
    made = verdict.ptx and played(task, source, verdict, tools)
    if not made:
        return "", ""
    if not page.has_simulator():
        return NO_SIMULATOR, ""
    return PLAYER.format(title=html.escape(f"{task.number} {task.title}"), n=made["sizes"][0], figure=page.figure_of(made)), page.scripts_of(made)
