"""Starts the judge's processes, each in the sandbox, and ends them at Ctrl-C."""

import subprocess
import sys
import weakref
from pathlib import Path

SANDBOX = Path(__file__).with_name("sandbox.py")


class Running:
    """The running processes, which Ctrl-C must end: they have their own process groups and do not get its signal."""
    stopped = False
    processes: weakref.WeakSet = weakref.WeakSet()


def started(*arguments, **streams):
    process = subprocess.Popen(*arguments, **streams)
    Running.processes.add(process)
    if Running.stopped:
        process.kill()
        raise KeyboardInterrupt
    return process


def interrupt(*_):
    """Handles Ctrl-C: ends all processes and starts no more."""
    Running.stopped = True
    for process in list(Running.processes):
        process.kill()
    raise KeyboardInterrupt


def end_device(device):
    """Closes the pipes of a device, which then ends; returns its exit status."""
    try:
        device.stdin.close()
    except BrokenPipeError:  # it has ended already
        pass
    device.stdout.close()
    return device.wait()


def in_sandbox(*allowed):
    return [sys.executable, "-I", "-S", str(SANDBOX), *allowed, "--"]
