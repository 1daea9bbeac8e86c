"""Files that are written whole or not at all, and what a program prints."""

from __future__ import annotations

import contextlib
import errno
import itertools
import math
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from drywarp.errors import fail

NO_ROOM = errno.ENOSPC, errno.EDQUOT, errno.EFBIG


def last_row(printed: str) -> list[str]:
    """The fields of a program's own CSV row: its last line, for before it stands what a kernel prints."""
    return (printed.splitlines() or [""])[-1].split(",")


def first_run(kernels: list[Any], name: Callable[[Any], str]) -> list[Any]:
    """The kernels of the first whole reduction or scan. The harness launches prepare before it, and other kernels after it."""
    after = itertools.islice(itertools.dropwhile(lambda kernel: not name(kernel).startswith("prepare"), kernels), 1, None)
    return list(itertools.takewhile(lambda kernel: not name(kernel).startswith(("prepare", "compare")), after))


def threads(block: str) -> int:
    """How many threads a block has, of its shape in the simulator's counters: 256, 32x8 or 8x4x2."""
    return math.prod(int(edge) for edge in block.split("x"))


def about() -> str:
    """Lines that say what results are of: the date, NVIDIA's driver and the CUDA toolkit, as far as they are there."""
    asked = {"driver": (["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], r"\A([0-9.]+)$"),
             "toolkit": (["nvcc", "--version"], r"release ([0-9.]+)")}
    lines = [f"date: {time.strftime('%Y-%m-%d', time.gmtime())}"]
    for name, (words, answer) in asked.items():
        said = subprocess.run(words, capture_output=True, text=True).stdout if shutil.which(words[0]) else ""
        lines += [f"{name}: {found[1]}" for found in re.finditer(answer, said, re.M)]
    return "\n".join(lines) + "\n"


_FILES = itertools.count()


def _open_beside(path: Path, mode: str = "w") -> IO[Any]:
    """Opens a new file next to path, which is to become path; makes the folder. Ends the program with one line on stderr if path cannot be written."""
    if os.path.lexists(path) and not path.is_file():
        fail(f"{path} is there, and no regular file: it was not written")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The process's number and a count: two writers of the same file do not meet.
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.{next(_FILES)}")
        return open(unfinished, mode) if "b" in mode else open(unfinished, mode, newline="", encoding="utf-8")
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}")


def check_writable(path: Path) -> None:
    """Ends the program with one line on stderr if whole() could not write path: to be called before a long run."""
    with _open_beside(path) as file:
        os.unlink(file.name)


@contextlib.contextmanager
def whole(path: os.PathLike[str] | str, mode: str = "w") -> Iterator[IO[Any]]:
    """A file to write; it becomes path when it is done, and nothing changes if that fails. Makes its folder. mode: "w", or "wb" for bytes.

    Ends the program with one line on stderr if the file cannot be written."""
    path = Path(path)
    file = _open_beside(path, mode)
    try:
        with file:
            yield file
        os.replace(file.name, path)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise  # of what else is done meanwhile
        fail(f"{path} cannot be written: {error.strerror}")
    finally:
        Path(file.name).unlink(missing_ok=True)
