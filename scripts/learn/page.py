"""The page beside make learn: what it says of a learner's kernel, and a run of the kernel on the book's stage. An open one reloads by itself.

The page holds all that it needs. A second file beside it says which version it is: from the disk a page may load scripts, and nothing else."""

import hashlib
import html
import tempfile
from pathlib import Path

from scripts import files
from scripts.build import page
from scripts.ladder import recordings
from scripts.learn import judge
from scripts.learn.exercise import Array

NAME, VERSION_NAME = "page.html", "page.js"
MOST = 1024  # n of a run that is shown, unless the exercise has none so small
BODY = """<h1>{title}</h1>
<p>{task}</p>
<p>Your file: <code>{file}</code>. Save it, and this page changes.</p>
<pre style="white-space: pre-wrap">{said}</pre>
{stage}"""
STAGE = """<h2>Your kernel of {title}, at n = {n:,}</h2>
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


# ---- A run for the stage

def sizes_to_show(task, verdict):
    """Where something is wrong first, then the others, from the largest that can be looked at."""
    small = [n for n in (verdict.wrong_at, *sorted(task.sizes, reverse=True)) if 0 < n <= MOST]
    return list(dict.fromkeys(small)) or [min(task.sizes)]


def run_to_show(task, verdict, tools):
    """n, data and recording of a run in which what is wrong is seen; of the first one where it is seen in none."""
    runs = []
    for n in sizes_to_show(task, verdict):
        seen, data, recording = judge.recorded(task, verdict.ptx, n, tools)
        runs.append((n, data, recording))
        if verdict.is_right or not seen.is_right:
            return runs[-1]
    return runs[0]


def checked(calls, blobs, data):
    """The calls with what the host should read, not what it has read; the bytes of it come to the others."""
    arrays = iter([value for value in data.values() if isinstance(value, Array)])
    for call in calls:
        words = call.split()
        if words[0] == "read":
            wanted = next(arrays)
            if wanted.after is None:
                continue
            content = wanted.wanted()
            if blobs[words[-1]] != content:
                words[-1] = hashlib.sha256(content).hexdigest()[:16]
                blobs[words[-1]] = content
        yield " ".join(words)


def played(task, source, verdict, tools):
    """What the stage wants of a kernel, and the n; None where there is nothing to play."""
    n, data, recording = run_to_show(task, verdict, tools)
    calls, texts, blobs = recordings.split(recording)
    if not any(call.startswith("launch") for call in calls):
        return None
    calls = list(checked(calls, blobs, data))
    with tempfile.TemporaryDirectory() as folder:
        return page.to_play("yours", f"{task.name}.cu", source, n, (calls, texts, blobs), Path(folder))


# ---- The page

def write(folder, task, file, said, stage):
    """Writes the page of a task: what is said, and the stage, as HTML and scripts; then its version, so that an open page finds the new one."""
    shown, scripts = stage
    body = BODY.format(title=html.escape(f"{task.number} {task.title}"), task=html.escape(task.task), file=html.escape(str(file)), said=html.escape("\n".join(said)), stage=shown)
    version = hashlib.sha256((body + scripts).encode()).hexdigest()[:16]
    reloading = page.script(RELOADING.format(version=version, name=VERSION_NAME))
    for name, text in ((NAME, page.whole(html.escape(task.title), body, scripts + reloading)), (VERSION_NAME, f'learnPage("{version}");\n')):
        with files.whole(folder / name) as out:
            out.write(text)


def stage_of(task, source, verdict, tools):
    """The stage with a kernel that was judged: HTML and scripts."""
    made = verdict.ptx and played(task, source, verdict, tools)
    if not made:
        return "", ""
    return STAGE.format(title=html.escape(f"{task.number} {task.title}"), n=made["sizes"][0], figure=page.figure_of(made)), page.scripts_of(made)
