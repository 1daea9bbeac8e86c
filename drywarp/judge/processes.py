"""Starts the judge's processes, each in the sandbox, and ends them at Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any, NoReturn

SANDBOX = Path(__file__).with_name("sandbox.py")
PATIENCE = 4


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


def end_device(device: subprocess.Popen) -> tuple[int, float]:
    """Closes the pipes of a device, which then ends; returns the same as ended()."""
    assert device.stdin and device.stdout  # pipes
    try:
        device.stdin.close()
    except BrokenPipeError:  # it has ended already
        pass
    device.stdout.close()
    return ended(device)


def ended(process: subprocess.Popen) -> tuple[int, float]:
    """Waits for a process, once; returns its exit status, and the seconds of processor time of all that ran in it."""
    _, word, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(word)
    return process.returncode, used.ru_utime + used.ru_stime


def in_sandbox(*allowed: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(SANDBOX), *allowed, "--"]


def for_seconds(seconds: int) -> list[str]:
    """The sandbox's options for so much processor time of each thread. The wall clock may show PATIENCE times as much, as on a busy machine."""
    return ["--seconds", str(seconds), "--wall-seconds", str(PATIENCE * seconds)]
