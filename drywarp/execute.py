"""Runs one program of a ladder or of a lab, and classifies how it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from drywarp import findings

STATUSES = {0: "PASS", 1: "FAIL", 2: "REFUSED", 77: "SKIP", findings.STATUS: "FINDING"}
# printed: stdout. why: the reason in one line, from stderr if possible. found: the checker's findings, each once.
Outcome = namedtuple("Outcome", "status printed why found")


def run(words: Sequence[str | Path], limit_s: float, environment: dict[str, str]) -> Outcome:
    """Runs a program with a time limit. Its child processes end with it, also if this function is interrupted."""
    child = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                             start_new_session=True, env=os.environ | findings.environment() | environment)
    try:
        printed, said = child.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        found, _ = findings.apart(child.communicate()[1])
        return Outcome("HANG", "", f"no end after {limit_s} s: it hangs, or N is too large for TIME_LIMIT", findings.fresh(found, set()))
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
    found, others = findings.apart(said)
    status = STATUSES.get(child.returncode, "CRASH")
    why = f"{findings.how_many(others)} (docs/findings.md explains them):" if status == "FINDING" else (others or [""])[0].removeprefix("FAIL: ")
    if status == "CRASH":
        why = f"exit status {child.returncode if child.returncode >= 0 else 128 - child.returncode} {why}".rstrip()
    return Outcome(status, printed, why, findings.fresh(found, set()))


def run_main(main: Callable[[], int | None], interrupted: str = "") -> NoReturn:
    """Ends this process with main's exit status. If Ctrl-C or a signal interrupts main: with status 130, and the message if there is one."""
    interrupt_alike()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        if interrupted:
            print(f"\n{interrupted}", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


def interrupt_alike() -> None:
    """Makes all signals that end a command raise KeyboardInterrupt, as Ctrl-C does."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.signal(signal.SIGINT, signal.default_int_handler)
