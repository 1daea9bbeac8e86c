"""Progress and kernels as one file, which the exercises' page (book/exercises/progress.js) and make learn write and read:

    {"format": "exercises 1", "at": ..., "done": ..., "seen": ...,    as in progress.json
     "code": {exercise: kernel}}"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TYPE_CHECKING

from drywarp import files
from drywarp.learn import progress

if TYPE_CHECKING:  # learn.py imports this module
    from drywarp.learn.learn import Learner

FORMAT = "exercises 1"
MAX_BYTES = 4 << 20


class Unusable(Exception):
    """Why a file cannot be imported, in one line."""


def write(learner: Learner, path: Path) -> int:
    """Writes the learner's progress and kernels to a file; returns the number of solved exercises."""
    state = progress.load(learner.folder)
    kernels = {task.name: content.decode(errors="replace") for task in learner.tasks if (content := learner.content(task)) is not None}
    with files.whole(path) as file:
        json.dump({"format": FORMAT} | state | {"code": kernels}, file, indent=1)
    return len(state["done"])


def read(path: str | Path, names: list[str]) -> dict[str, Any]:
    """The progress in a file, limited to exercises of these names; raises Unusable."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(MAX_BYTES).decode())
    except OSError as error:
        raise Unusable(f"it cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise Unusable("it is not JSON, as an export is") from None
    wanted = {"done": list, "seen": dict, "code": dict}
    if not isinstance(found, dict) or found.get("format") != FORMAT or any(not isinstance(found.get(key), kind) for key, kind in wanted.items()):
        raise Unusable(f'it is no export of exercises, which has format = "{FORMAT}", done, seen and code')
    done = [name for name in names if name in found["done"]]
    seen = {name: counts for name, counts in found["seen"].items() if name in names and are_counts(counts)}
    return {"done": done, "seen": seen, "code": {name: text for name, text in found["code"].items() if name in names and isinstance(text, str)}}


def are_counts(counts: object) -> bool:
    """Whether these are the first and last value of counts, by their words."""
    return isinstance(counts, dict) and all(isinstance(pair, list) and len(pair) == 2 and all(isinstance(value, (int, float)) for value in pair)
                                            for pair in counts.values())


def merge(learner: Learner, found: dict[str, Any]) -> None:
    """Adds what read() has returned. A kernel that differs replaces the learner's, which is kept as .old.cu."""
    for task in learner.tasks:
        text, path = found["code"].get(task.name, ""), learner.file(task)
        if not text or learner.content(task) == text.encode():
            continue
        with progress.changing(learner.folder):  # also makes the folder
            if path.exists():
                path.replace(path.with_suffix(".old.cu"))
            with files.whole(path) as file:
                file.write(text)
    with progress.changing(learner.folder) as state:
        state["done"] += [name for name in found["done"] if name not in state["done"]]
        state["seen"] |= found["seen"]
        if state["at"] in state["done"]:
            state["at"] = ""
