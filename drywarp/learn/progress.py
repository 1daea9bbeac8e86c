"""A learner's progress and predictions: progress.json in the learner's folder, which is replaced as a whole."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drywarp import files

NAME = "progress.json"


def empty() -> dict[str, Any]:
    """at: the current exercise, or "". done: the solved ones. seen: by exercise and count, the first value (a prediction, or the first count of a goal)
    and the last one counted."""
    return {"at": "", "done": [], "seen": {}}


def load(folder: Path) -> dict[str, Any]:
    """The learner's progress; exits if the file is damaged."""
    path = folder / NAME
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        if [type(state[key]) for key in empty()] == [type(value) for value in empty().values()]:
            return state
    except FileNotFoundError:
        return empty()
    except (OSError, ValueError, KeyError, TypeError):
        pass
    sys.exit(f"make learn: {path} is damaged; move it away to start again, your kernels are kept")


def is_alone(folder: Path) -> bool:
    """Takes the lock of the one make learn that may watch the folder, until this program exits; False if another one holds it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / ".watching", os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        sys.exit(f"make learn: {folder} cannot be written: {error.strerror}")
    return True


@contextlib.contextmanager
def changing(folder: Path) -> Iterator[dict[str, Any]]:
    """A context in which the progress may be changed, under a lock. It is written at the end, unless an exception is raised."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
    except OSError as error:
        sys.exit(f"make learn: {folder} cannot be written: {error.strerror}")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = load(folder)
        yield state
        with files.whole(folder / NAME) as file:
            json.dump(state, file, indent=1)
    finally:
        os.close(lock)
