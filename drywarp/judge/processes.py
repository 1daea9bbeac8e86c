"""Starts the judge's processes, each in the sandbox, and ends them at Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any, NoReturn

SANDBOX = Path(__file__).with_name("sandbox.py")


class Running:
    """The running processes, which Ctrl-C must end: they have their own process groups and do not get its signal."""
    stopped = False
    processes: weakref.WeakSet = weakref.WeakSet()


def started(*arguments: Any, **streams: Any) -> subprocess.Popen:
    process = subprocess.Popen(*arguments, **streams)
    Running.processes.add(process)
    if Running.stopped:
        process.kill()
        raise KeyboardInterrupt
    return process


def interrupt(*_: object) -> NoReturn:
    """Handles Ctrl-C: ends all processes and starts no more."""
    Running.stopped = True
    for process in list(Running.processes):
        process.kill()
    raise KeyboardInterrupt


def end_device(device: subprocess.Popen) -> int:
    """Closes the pipes of a device, which then ends; returns its exit status."""
    assert device.stdin and device.stdout  # pipes
    try:
        device.stdin.close()
    except BrokenPipeError:  # it has ended already
        pass
    device.stdout.close()
    return device.wait()


def in_sandbox(*allowed: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(SANDBOX), *allowed, "--"]
