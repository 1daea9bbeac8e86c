"""Says about a learner's kernel what is wrong with it, or that it does what an exercise asks for.

It is judged as make check judges a program (docs/judge.md): compiled and run in the judge's sandbox, on data that it cannot know, at several sizes of which
two differ from run to run, with the checker's findings, and in other orders of blocks, warps and lanes. A kernel alone is compiled to PTX and needs no
host program of the learner's: that takes half a second."""

import array
import csv
import dataclasses
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.judge import compiling, processes, sandbox, scratch, verdicts
from scripts.judge.session import DEVICE_FILE, DEVICE_MEMORY, findings_in
from scripts.learn import exercise as exercises

ROOT = exercises.ROOT
SECONDS = 20  # for all runs of one session
MOST_INSTRUCTIONS = 4_000_000  # of a block's warps, until a loop counts as endless
UNWRITTEN = -1  # of 4 bytes that nobody has written, as an int
MOST_SOURCE = 64 << 10  # bytes
MOST_PRINTED = 8  # lines
# Three sessions: as blocks, warps and lanes usually come; and in two other orders, in one of which blocks take turns.
ORDERS = ({}, {"SIM_BLOCK_ORDER": 1}, {"SIM_BLOCK_ORDER": 2, "SIM_TOGETHER": 1})


@dataclasses.dataclass
class Verdict:
    """What is found out about one kernel; `findings` and `unjudged` are filled as in the judge's own Answer."""
    said: list = dataclasses.field(default_factory=list)  # by the compiler
    sizes: dict = dataclasses.field(default_factory=dict)  # n that were tried: "" where it is right, else what is wrong
    over: str = ""  # the limit that stopped it
    wrong: str = ""  # the first wrong result, with its n, or why it was stopped
    wrong_at: int = 0  # its n
    findings: dict = dataclasses.field(default_factory=dict)
    row: dict = dataclasses.field(default_factory=dict)  # counters at the exercise's own n
    missed: list = dataclasses.field(default_factory=list)  # gates
    printed: list = dataclasses.field(default_factory=list)  # the first lines that the kernel printed
    ptx: bytes = b""  # the kernel, compiled; empty where it cannot be run

    @property
    def is_right(self):
        """Of what runs; it may have missed a goal."""
        return not (self.wrong or self.findings)

    @property
    def good(self):
        return self.is_right and not (self.said or self.missed)


@dataclasses.dataclass(frozen=True)
class Tools:
    nvcc: str
    library: Path = ROOT / "build/sim/libcuda.so.1"  # the simulator
    threads: int = 1
    orders: tuple = ORDERS  # the sessions


# ---- Compiling

def to_ptx(source, folder, tools):
    """The PTX beside a source in a folder of its own, and what the compiler says; None where it does not compile."""
    ptx = folder / "kernels.ptx"
    command = [tools.nvcc, "--ptx", "-O3", "-std=c++17", "-arch=compute_90", "-lineinfo", "-o", str(ptx), str(source)]
    status, said = compiling.compiled(command, folder)
    lines = [line.replace(f"{folder}/", "") for line in compiling.explained(said.splitlines())]
    lines = lines or [f"the compiler ended with status {status}"]
    return (ptx, []) if status == 0 and ptx.exists() else (None, lines[:compiling.MOST_LINES])


def entry_of(ptx, kernel, namespace=""):
    """The name in the PTX of a kernel, which may be in a namespace of its own; "" where there is none."""
    place = f"N{len(namespace)}{namespace}" if namespace else ""
    found = re.search(rf"\.entry (_Z{place}{len(kernel)}{kernel}\w*|{kernel})\(", ptx.read_text(errors="replace"))
    return found[1] if found else ""


def parameters(ptx, entry):
    """How many a kernel has."""
    return re.search(rf"\.entry {entry}\(([^)]*)\)", ptx.read_text(errors="replace"))[1].count(".param")


# ---- Running

class Session:
    """A device in a sandbox, with the kernels of one PTX text, which are run in one order of blocks, warps and lanes."""

    def __init__(self, ptx, tools, orders, records=False):
        self.folder = Path(tempfile.mkdtemp(dir=ptx.parent.parent))
        device = self.folder / "device"
        device.mkdir()
        python = os.path.realpath(sys.executable)
        settings = {"SIM_COUNTERS": device / "counters.csv", "SIM_FINDINGS": device / "findings.json", "SIM_THREADS": tools.threads,
                    "SIM_MAX_INSTRUCTIONS": MOST_INSTRUCTIONS} | orders | ({"SIM_RECORD": device / "recording"} if records else {})
        allowed = ["--system", "--alone", "--seconds", str(SECONDS), "--run", python, "--read", sys.base_prefix, "--read", str(ROOT / "scripts"),
                   "--read", str(tools.library), "--read", str(ptx.parent), "--write", str(device), "--memory", DEVICE_MEMORY, "--reserves",
                   "--threads", str(tools.threads), "--file-bytes", DEVICE_FILE, *(f"--set={name}={value}" for name, value in settings.items())]
        program = [python, "-I", "-S", str(ROOT / "scripts/learn/device.py"), str(tools.library), str(ptx), str(device / "printed.txt")]
        with open(self.folder / "said.txt", "wb") as said:
            self.device = processes.started([*processes.in_sandbox(*allowed), *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)

    def run(self, entry, grid, block, data):
        """One launch; returns what went wrong, "" for nothing, and the arrays' contents by name."""
        arguments = [{"bytes": 4 * value.count, "filled": value.before is not None} if isinstance(value, exercises.Array) else {"value": value}
                     for value in data.values()]
        arrays = {name: value for name, value in data.items() if isinstance(value, exercises.Array)}
        task = json.dumps({"kernel": entry, "grid": grid, "block": block, "arguments": arguments})
        try:
            self.device.stdin.write(task.encode() + b"\n" + b"".join(value.packed() for value in arrays.values()))
            self.device.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.device.stdout.readline()
        if not line.endswith(b"\n"):
            return "the run was stopped", {}
        reply = json.loads(line)
        back = self.device.stdout.read(reply["bytes"])
        if len(back) != reply["bytes"]:  # it was ended while it wrote
            return "the run was stopped", {}
        return reply["wrong"], split(back, arrays)

    def end(self):
        """Waits for it; says why it was stopped, "" where it was not."""
        try:
            self.device.stdin.close()
        except BrokenPipeError:
            pass
        self.device.stdout.close()
        return f"it was stopped after {SECONDS} seconds" if self.device.wait() == sandbox.TIME_OVER else ""

    def counters(self):
        """A row for each launch so far."""
        try:
            with open(self.folder / "device/counters.csv", newline="") as file:
                return list(csv.DictReader(file))
        except OSError:
            return []

    def printed(self):
        """The first lines that the kernels printed; they come at the end at the latest."""
        try:
            with open(self.folder / "device/printed.txt", errors="replace") as file:
                return [line.rstrip("\n") for line in itertools.islice(file, MOST_PRINTED)]
        except OSError:
            return []

    def recording(self):
        """All that the device was asked to do, where this session records; it is whole at the end."""
        try:
            return (self.folder / "device/recording").read_bytes()
        except OSError:
            return b""

    def findings(self):
        """What the checker found; it tells at the end."""
        return findings_in(self.folder)


def split(back, arrays):
    """The arrays' contents, of bytes in a row."""
    contents, begin = {}, 0
    for name, value in arrays.items():
        contents[name] = array.array(value.type, back[begin:begin + 4 * value.count])
        begin += 4 * value.count
    return contents


def difference(data, contents):
    """The first element that is not as it should be, in words; "" where there is none."""
    for name, value in data.items():
        if not isinstance(value, exercises.Array) or value.after is None:
            continue
        apart = [k for k, (got, wanted) in enumerate(zip(contents[name], value.after)) if got != wanted]
        if apart:
            words = int.from_bytes(contents[name][apart[0]:apart[0] + 1].tobytes(), "little", signed=True)
            got = "is a value that nobody wrote" if words == UNWRITTEN and value.before is None else f"is {shown(contents[name][apart[0]])}"
            more = f"; {len(apart) - 1} more of {value.count} are wrong" if apart[1:] else ""
            return f"{name}[{apart[0]}] {got}, expected {shown(value.after[apart[0]])}{more}"
    return ""


def shown(value):
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def run_all(task, ptx, entry, tools, verdict):
    """All sizes in the usual order, and two of them in the others, until something is wrong."""
    sizes = task.tries()
    for number, orders in enumerate(tools.orders):
        session = Session(ptx, tools, orders)
        run_session(session, task, entry, sorted({max(sizes), sizes[-1]}) if number else sizes, verdict)
        if number == 0 and not verdict.wrong:
            count(session, task, entry, verdict)
        finish(session, verdict)
        if not verdict.is_right:
            return


def run_session(session, task, entry, sizes, verdict):
    """So many runs, until one is wrong."""
    for n in sizes:
        if one_size(session, task, entry, n, task.data(n), verdict):
            return


def finish(session, verdict):
    """Ends a session: what has come to light in it?"""
    verdict.over = session.end()
    verdict.wrong = verdict.over or verdict.wrong
    verdict.printed = verdict.printed or session.printed()
    verdicts.add_findings(session.findings(), verdict)


def one_size(session, task, entry, n, data, verdict):
    """Whether something is wrong at n, with these data."""
    wrong, contents = session.run(entry, task.grid(n), task.block, data)
    wrong = verdict.sizes[n] = wrong or difference(data, contents)
    if wrong:
        verdict.wrong, verdict.wrong_at = f"wrong at n = {n:,}: {wrong}", n
    return bool(wrong)


def count(session, task, entry, verdict):
    """The counters at the exercise's own n, and the gates that they miss."""
    if one_size(session, task, entry, task.counts_at, task.data(task.counts_at), verdict):
        return
    rows = session.counters()
    verdict.row = rows[-1] if rows else {}
    verdict.missed = [gate for gate in task.gates if not verdict.row or gate.is_missed(verdict.row)]


# ---- Judging

def judged(task, name, text, tools):
    """The verdict about a kernel's text, as bytes, which the compiler gets to see in a file of that name."""
    verdict = Verdict()
    with scratch.folder() as place:
        folder = place / "program"
        folder.mkdir()
        if len(text) > MOST_SOURCE:
            verdict.said = [f"it has more than {MOST_SOURCE:,} bytes"]
            return verdict
        source = folder / name
        source.write_bytes(text)
        ptx, verdict.said = to_ptx(source, folder, tools)
        if ptx:
            run_kernel(task, ptx, entry_of(ptx, task.kernel), tools, verdict)
    return verdict


def run_kernel(task, ptx, entry, tools, verdict):
    """All runs of a kernel of the PTX; "" is the entry of one that is not there."""
    if not entry:
        verdict.said = [f"there is no kernel {task.kernel} in it; make learn RESET={task.number} brings the task back"]
        return
    has, wanted = parameters(ptx, entry), len(task.data(task.sizes[0]))
    if has != wanted:
        verdict.said = [f"{task.kernel} has another number of parameters than the task's: {has}, not {wanted}"]
        return
    verdict.ptx = ptx.read_bytes()
    run_all(task, ptx, entry, tools, verdict)


def recorded(task, ptx, n, tools):
    """One run of a judged kernel at n, to be played in a page: the verdict about it, its data, and the recording (simulator/runtime/work/record.h)."""
    verdict = Verdict()
    with scratch.folder() as place:
        file = place / "program/kernels.ptx"
        file.parent.mkdir()
        file.write_bytes(ptx)
        session = Session(file, tools, ORDERS[0], records=True)
        data = task.data(n)
        one_size(session, task, entry_of(file, task.kernel), n, data, verdict)
        finish(session, verdict)
        return verdict, data, session.recording()
