"""Files that are written whole or not at all, and what a program prints."""

import contextlib
import errno
import itertools
import math
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

NO_ROOM = errno.ENOSPC, errno.EDQUOT, errno.EFBIG


def last_row(printed):
    """The fields of a program's own CSV row: its last line, for before it stands what a kernel prints."""
    return (printed.splitlines() or [""])[-1].split(",")


def first_run(kernels, name):
    """The kernels of the first whole reduction or scan. The harness launches prepare before it, and other kernels after it."""
    after = itertools.islice(itertools.dropwhile(lambda kernel: not name(kernel).startswith("prepare"), kernels), 1, None)
    return list(itertools.takewhile(lambda kernel: not name(kernel).startswith(("prepare", "compare")), after))


def threads(block):
    """How many threads a block has, of its shape in the simulator's counters: 256, 32x8 or 8x4x2."""
    return math.prod(int(edge) for edge in block.split("x"))


def about():
    """Lines that say what results are of: the date, NVIDIA's driver and the CUDA toolkit, as far as they are there."""
    asked = {"driver": (["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], r"\A([0-9.]+)$"),
             "toolkit": (["nvcc", "--version"], r"release ([0-9.]+)")}
    lines = [f"date: {time.strftime('%Y-%m-%d', time.gmtime())}"]
    for name, (words, answer) in asked.items():
        said = subprocess.run(words, capture_output=True, text=True).stdout if shutil.which(words[0]) else ""
        lines += [f"{name}: {found[1]}" for found in re.finditer(answer, said, re.M)]
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def whole(path):
    """A text file to write; it becomes path when it is done, and nothing changes where that fails. Makes its folder.

    Ends the program with one line on stderr where the file cannot be written."""
    path = Path(path)
    if path.exists() and not path.is_file():
        sys.exit(f"{Path(sys.argv[0]).name}: {path} is there, and no regular file: it was not written")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")  # of its own, so that two at once do not meet
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(unfinished, "w", newline="", encoding="utf-8")
    except OSError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {path} cannot be written: {error.strerror}")
    try:
        with file:
            yield file
        os.replace(unfinished, path)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise  # of what else is done meanwhile
        sys.exit(f"{Path(sys.argv[0]).name}: {path} cannot be written: {error.strerror}")
    finally:
        unfinished.unlink(missing_ok=True)
