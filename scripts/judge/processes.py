"""The processes that the judge starts, each in the sandbox, and their end at Ctrl-C."""

import subprocess
import sys
import weakref
from pathlib import Path

SANDBOX = Path(__file__).with_name("sandbox.py")


class Running:
    """The processes that were started, for Ctrl-C to end: they are in groups of their own, and hear nothing of it."""
    stopped, processes = False, weakref.WeakSet()


def started(*arguments, **streams):
    process = subprocess.Popen(*arguments, **streams)
    Running.processes.add(process)
    if Running.stopped:
        process.kill()
        raise KeyboardInterrupt
    return process


def interrupt(*_):
    """Ctrl-C: all that runs ends, and nothing begins."""
    Running.stopped = True
    for process in list(Running.processes):
        process.kill()
    raise KeyboardInterrupt


def in_sandbox(*allowed):
    return [sys.executable, "-I", "-S", str(SANDBOX), *allowed, "--"]
