"""Temporary folders of the judge. A lock marks a folder in use; folders left by a killed run are removed by the next run."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from drywarp.judge.words import PREFIX

OURS = re.compile(rf"{PREFIX}[a-z0-9_]{{8}}")  # as tempfile names them
YOUNG_S = 60  # younger folders may not be locked yet


def made(below: Path | None = None, prefix: str | None = None) -> Path:
    """A new folder of the judge. Root's can be passed through, because its programs run as another user, and own the folders in it."""
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=below))
    if os.getuid() == 0:
        path.chmod(0o711)
    return path


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder that is removed at the end; if the run is killed, by the next one."""
    remove_left_ones(Path(tempfile.gettempdir()))
    path = made(prefix=PREFIX)
    lock = os.open(path, os.O_RDONLY)  # not inherited by child processes
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def remove_left_ones(where: Path) -> None:
    """Removes this user's folders that are no longer in use."""
    for path in where.glob(f"{PREFIX}*"):
        if OURS.fullmatch(path.name):
            with contextlib.suppress(OSError):  # it belongs to another user, or another run removes it
                remove_if_left(path)


def remove_if_left(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        about = os.fstat(handle)
        if about.st_uid == os.getuid() and time.time() - about.st_mtime > YOUNG_S:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(handle)
