"""A program that runs, and the device that it asks: two processes, each in a sandbox of its own. docs/judge.md shows who talks to whom."""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.judge import shapes
from scripts.judge.means import LIBRARIES
from scripts.judge.processes import in_sandbox, started
from scripts.judge.words import without_folders

ROOT = shapes.ROOT
PROGRAM_MEMORY, DEVICE_MEMORY = "1G", "2G"
PROGRAM_SAYS, DEVICE_FILE = "64K", "64M"  # the largest file
MOST_SAID = 1 << 16  # bytes that are kept of what one of them says
CHECKER_ENDS_WITH = 88
GONE = {"ended": True, "broken": True, "over": ""}


def findings_in(folder):
    """What the checker has written of a session that has ended: none, where it wrote nothing that can be read."""
    try:
        return json.loads((folder / "device/findings.json").read_text(errors="replace")).get("findings", [])
    except (OSError, ValueError):
        return []


def program_command(program, limits):
    """The program in its sandbox. It reads the system's libraries, and runs nothing but itself and what loads it."""
    loaders = sorted({str(path.resolve()) for folder in LIBRARIES for path in Path(folder).glob("ld-linux*.so*")})
    allowed = [*(f"--read={folder}" for folder in LIBRARIES), *(f"--run={path}" for path in (*loaders, program))]
    return [*in_sandbox(*limits, *allowed, "--memory", PROGRAM_MEMORY, "--file-bytes", PROGRAM_SAYS, "--threads", "1", "--strict"), str(program)]


def device_command(folder, program, options, limits, orders):
    """The device in its sandbox, which writes counters and findings below the folder; behind it stand the ends of its pipes with the program."""
    python, device, threads = os.path.realpath(sys.executable), folder / "device", options.threads or os.cpu_count() or 1
    device.mkdir()
    settings = {"SIM_COUNTERS": device / "counters.csv", "SIM_FINDINGS": device / "findings.json", "SIM_THREADS": threads} | orders
    allowed = ["--system", "--run", python, "--read", sys.base_prefix, "--read", str(ROOT / "scripts"), "--read", str(options.library),
               "--read", str(program.parent.parent), "--write", str(device), "--memory", DEVICE_MEMORY, "--reserves",
               "--threads", str(threads), "--file-bytes", DEVICE_FILE, *(f"--set={name}={value}" for name, value in settings.items() if value)]
    return [*in_sandbox(*limits, *allowed), python, "-I", "-S", str(ROOT / "scripts/judge/check_device.py"), str(options.library)]


class Session:
    """A program of a shape that runs, and its device, each in a sandbox of its own; they talk to each other, and the judge to the device only."""

    def __init__(self, program, options, seconds, **orders):
        self.folder = Path(tempfile.mkdtemp(dir=program.parent.parent.parent))
        self.shape, self.limit, self.ended = options.shape, options.seconds, False
        self.told = 0  # lines of the simulator
        self.rows = 0  # of counters.csv, that earlier runs have written
        to_device, from_program = os.pipe()
        to_program, from_device = os.pipe()
        limits = ["--alone", "--seconds", str(seconds)]
        with open(self.folder / "program.txt", "wb") as said:
            self.program = started(program_command(program, limits), stdin=to_program, stdout=from_program, stderr=said)
        with open(self.folder / "device.txt", "wb") as said:
            self.device = started([*device_command(self.folder, program, options, limits, orders), str(to_device), str(from_device)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, pass_fds=(to_device, from_device))
        for end in (to_device, from_program, to_program, from_device):
            os.close(end)

    def try_case(self, case):
        """What the device says of a run, with the outputs as lists of numbers; GONE when it is gone."""
        try:
            self.device.stdin.write(json.dumps(case.task | {"bytes": len(case.data)}).encode() + b"\n" + case.data)
            self.device.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.device.stdout.readline()
        reply = json.loads(line) if line.endswith(b"\n") else GONE
        data = [self.device.stdout.read(count) for count in reply.get("outputs", [])]
        if list(map(len, data)) != reply.get("outputs", []):  # it was ended while it wrote
            reply, data = GONE, []
        self.ended = reply.get("ended", False) or reply["broken"]
        return {**reply, "outputs": case.read(data)}

    def counted(self, launches):
        """The counters' rows of the run just made."""
        try:
            with open(self.folder / "device/counters.csv", newline="") as file:
                rows = list(csv.DictReader(file))
        except OSError:
            return []
        new, self.rows = rows[self.rows:], len(rows)
        return new if len(new) == launches else []

    def end(self):
        """Waits for both; returns how they ended."""
        try:
            self.device.stdin.close()
        except BrokenPipeError:
            pass
        self.device.stdout.close()
        return self.program.wait(), self.device.wait()

    def findings(self):
        """What the checker has found."""
        return findings_in(self.folder)

    def said(self, which):
        """What one of them wrote on its standard error."""
        with open(self.folder / f"{which}.txt", "rb") as file:
            data = file.read(MOST_SAID)
        return [without_folders(line.strip()) for line in data.decode(errors="replace").splitlines() if line.strip()]

    def fault(self):
        """What the simulator has said of a fault since it was asked last, as a line more."""
        lines = [line for line in self.said("device") if line.startswith("simulator:")]
        new, self.told = lines[self.told:], len(lines)
        return f"\n{new[0]}" if new else ""
