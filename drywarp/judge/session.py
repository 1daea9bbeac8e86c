"""A running program and the device that it calls: two processes, each in its own sandbox. docs/judge.md shows their connections."""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from drywarp.judge import scratch, shapes
from drywarp.judge.means import LIBRARIES, device_python
from drywarp.judge.processes import end_device, ended, for_seconds, in_sandbox, started
from drywarp.judge.words import without_folders

ROOT = shapes.ROOT
PROGRAM_MEMORY, DEVICE_MEMORY = "1G", "2G"
PROGRAM_SAYS, DEVICE_FILE = "64K", "64M"  # the largest file
MAX_SAID = 1 << 16  # bytes that are kept of the stderr of one of them
CHECKER_ENDS_WITH, UNSUPPORTED = 88, 77  # exit statuses of the simulator
NOT_SUPPORTED = "the simulator does not support this program"
SIMULATOR = b"simulator: "  # begins its messages
EXCUSED = "in tiles of more than 32 threads"  # the checker's note about accesses that it excuses by the name of their file, which a program can forge
GONE: dict[str, Any] = {"ended": True, "broken": True, "over": "", "note": ""}


def findings_in(folder: Path) -> list[dict[str, Any]]:
    """The checker's findings of a finished session; none if its file cannot be read."""
    try:
        return json.loads((folder / "device/findings.json").read_text(errors="replace")).get("findings", [])
    except (OSError, ValueError):
        return []


def why_not_judged(status: int, said: Path) -> str:
    """Why a finished device's runs are no basis for a verdict, from its status and the file of its stderr; "" if they are."""
    with open(said, "rb") as file:  # all of it: a program can cause many messages
        reasons = [line[len(SIMULATOR):].decode(errors="replace").strip() for line in file if line.startswith(SIMULATOR)]
    if status == UNSUPPORTED:
        return ": ".join([NOT_SUPPORTED, *map(without_folders, reasons[:1])])
    if any(line.startswith(EXCUSED) for line in reasons):
        return f"{NOT_SUPPORTED}: it races in shared memory that CUDA reserves, as tiles of more than 32 threads of cooperative groups do"
    return ""


def program_command(program: Path, limits: list[str]) -> list[str]:
    """The program in its sandbox. It may read the system's libraries, and run only itself and its loader."""
    loaders = sorted({str(path.resolve()) for folder in LIBRARIES for path in Path(folder).glob("ld-linux*.so*")})
    allowed = [*(f"--read={folder}" for folder in LIBRARIES), *(f"--run={path}" for path in (*loaders, program))]
    return [*in_sandbox(*limits, *allowed, "--memory", PROGRAM_MEMORY, "--file-bytes", PROGRAM_SAYS, "--threads", "1", "--strict"), str(program)]


def device_command(folder: Path, program: Path, options: argparse.Namespace, limits: list[str], more: dict[str, int]) -> list[str]:
    """The device in its sandbox, which writes counters and findings into the folder; the caller appends its pipe ends to the program."""
    (python, prefix), device, threads = device_python(), folder / "device", options.threads or os.cpu_count() or 1
    device.mkdir()
    settings = {"SIM_COUNTERS": device / "counters.csv", "SIM_FINDINGS": device / "findings.json", "SIM_THREADS": threads} | more
    allowed = ["--system", "--run", python, "--read", prefix, "--read", str(ROOT / "drywarp"), "--read", str(options.library),
               "--read", str(program.parent.parent), "--write", str(device), "--memory", DEVICE_MEMORY, "--reserves",
               "--threads", str(threads), "--file-bytes", DEVICE_FILE, *(f"--set={name}={value}" for name, value in settings.items() if value)]
    return [*in_sandbox(*limits, *allowed), python, "-I", "-S", str(ROOT / "drywarp/judge/check_device.py"), str(options.library)]


class Session:
    """A running program and its device, each in its own sandbox. They are connected by pipes; the judge is connected only to the device."""

    def __init__(self, program: Path, options: argparse.Namespace, seconds: int, **settings: int) -> None:
        self.folder = scratch.made(program.parent.parent.parent)
        self.shape, self.limit, self.ended, self.threads = options.shape, options.seconds, False, options.threads or os.cpu_count() or 1
        self.statuses: tuple[int, int] | None = None  # of program and device, from end()
        self.used = 0.0  # seconds of processor time, of each thread; known after end()
        self.order = shapes.FIRST_ORDER[1]  # of the next runs
        self.reported = 0  # lines of the simulator that were returned by fault()
        self.rows = 0  # rows of counters.csv from earlier runs
        to_device, from_program = os.pipe()
        to_program, from_device = os.pipe()
        limits = ["--alone", *for_seconds(seconds)]
        with open(self.folder / "program.txt", "wb") as said:
            self.program = started(program_command(program, limits), stdin=to_program, stdout=from_program, stderr=said)
        with open(self.folder / "device.txt", "wb") as said:
            self.device = started([*device_command(self.folder, program, options, limits, settings), str(to_device), str(from_device)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, pass_fds=(to_device, from_device))
        for end in (to_device, from_program, to_program, from_device):
            os.close(end)

    def try_case(self, case: shapes.Case) -> dict[str, Any]:
        """The device's reply about a run, with the outputs as lists of numbers; GONE if it has ended."""
        assert self.device.stdin and self.device.stdout  # pipes
        try:
            self.device.stdin.write(json.dumps(case.task | {"bytes": len(case.data), "order": self.order}).encode() + b"\n" + case.data)
            self.device.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.device.stdout.readline()
        reply = json.loads(line) if line.endswith(b"\n") else GONE
        data = [self.device.stdout.read(count) for count in reply.get("outputs", [])]
        if list(map(len, data)) != reply.get("outputs", []):  # the device ended while it wrote
            reply, data = GONE, []
        self.ended = reply.get("ended", False) or reply["broken"]
        return {**reply, "outputs": case.read(data)}

    def counted(self, reply: dict[str, Any]) -> list[dict[str, str]]:
        """The counter rows of the last run, to which this is the device's reply, but not of its repeated launches."""
        try:
            with open(self.folder / "device/counters.csv", newline="") as file:
                rows = list(csv.DictReader(file))
        except OSError:
            return []
        new, self.rows = rows[self.rows:], len(rows)
        return new[:reply["launches"]] if len(new) == reply["launches"] + reply["repeated"] else []

    def end(self) -> tuple[int, int]:
        """Waits for both; returns their exit statuses."""
        if self.statuses is None:
            (device, by_device), (program, by_program) = end_device(self.device), ended(self.program)
            self.statuses, self.used = (program, device), max(by_device / self.threads, by_program)
        return self.statuses

    def findings(self) -> list[dict[str, Any]]:
        """The checker's findings."""
        return findings_in(self.folder)

    def said(self, which: str) -> list[str]:
        """The lines that one of them wrote to its stderr."""
        with open(self.folder / f"{which}.txt", "rb") as file:
            data = file.read(MAX_SAID)
        return [without_folders(line.strip()) for line in data.decode(errors="replace").splitlines() if line.strip()]

    def fault(self) -> str:
        """The simulator's first message since the last call, after a newline; "" if there is none."""
        lines = [line for line in self.said("device") if line.startswith("simulator:")]
        new, self.reported = lines[self.reported:], len(lines)
        return f"\n{new[0]}" if new else ""
