"""What a learner has done and predicted: one small file, progress.json in the learner's folder, which is replaced whole."""

import contextlib
import fcntl
import json
import os
import sys

from scripts import files

NAME = "progress.json"


def empty():
    """at: the exercise that the learner is at. done: those that are solved. seen: by exercise and count, the first value (a prediction, or where a gate
    began) and the last one counted."""
    return {"at": "", "done": [], "seen": {}}


def load(folder):
    """The learner's progress; ends the program where the file holds something else."""
    path = folder / NAME
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        if [type(state[key]) for key in empty()] == [type(value) for value in empty().values()]:
            return state
    except FileNotFoundError:
        return empty()
    except (OSError, ValueError, KeyError, TypeError):
        pass
    sys.exit(f"make learn: {path} is not what make learn writes; move it away to begin anew, your kernels stay")


def is_alone(folder):
    """Whether no other make learn watches the files in the folder; until this program ends no other does then."""
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
def changing(folder):
    """The progress, to be changed; two that change it at once wait for each other. Nothing is kept where this fails."""
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
