"""Checks a learner's kernel: reports what is wrong, or that it solves the exercise.

The kernel is judged as make judge judges a program (docs/judge.md): compiled and run in the judge's sandbox, on random data, at several sizes of which two
are random, with the race checker, and in other orders of blocks, warps and lanes. Only the kernel is compiled, to PTX: by nvcc, or without it by the
simulator's own kernel compiler."""

from __future__ import annotations

import array
import csv
import dataclasses
import itertools
import json
import math
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from drywarp.judge import compiling, processes, sandbox, scratch, shapes, verdicts
from drywarp.judge.means import device_python
from drywarp.judge.session import CHECKER_ENDS_WITH, DEVICE_FILE, DEVICE_MEMORY, UNSUPPORTED, findings_in, why_not_judged
from drywarp.learn import exercise as exercises

ROOT = exercises.ROOT
KERNEL_COMPILER = ROOT / "build/sim/compile"
SECONDS = 20  # for all runs of one session
MAX_INSTRUCTIONS = 4_000_000  # of a block's warps; more count as an infinite loop
LOST = "the run was stopped before the checker could report its findings"
UNINITIALISED = -1  # the simulator's fill pattern of uninitialised memory, as an int
FARTHEST = 1 << 20  # bytes from an array at which an address is still named by it
MAX_SOURCE = 64 << 10  # bytes
MAX_PRINTED = 8  # lines
# Three sessions: the default order of blocks, warps and lanes, and two others; in one of them blocks are interleaved.
ORDERS: tuple[dict, ...] = ({}, {"SIM_BLOCK_ORDER": 1}, {"SIM_BLOCK_ORDER": 2, "SIM_TOGETHER": 1}, {"SIM_BLOCK_ORDER": 1} | shapes.LANES_APART)


@dataclasses.dataclass
class Verdict:
    """The result of checking one kernel; `findings` is filled as in the judge's own Answer."""
    said: list = dataclasses.field(default_factory=list)  # the compiler's messages
    sizes: dict = dataclasses.field(default_factory=dict)  # n that were tried: "" if right, else the error
    over: str = ""  # the limit that stopped it
    unjudged: str = ""  # what the simulator does not support
    wrong: str = ""  # the first wrong result, with its n, or why the run was stopped
    wrong_at: int = 0  # n of the first wrong result
    findings: dict = dataclasses.field(default_factory=dict)
    row: dict = dataclasses.field(default_factory=dict)  # counters at row_at
    row_at: int = 0  # the exercise's own n; if goals are missed at others only, one of these
    missed: list = dataclasses.field(default_factory=list)  # the goals that are not reached
    printed: list = dataclasses.field(default_factory=list)  # the first lines that the kernel printed
    ptx: bytes = b""  # the compiled kernel; empty if it cannot be run
    arrays: list = dataclasses.field(default_factory=list)  # of the last launch: (name, address, bytes)
    shared: list = dataclasses.field(default_factory=list)  # the source's shared arrays: (name, bytes of an element, elements or 0)

    @property
    def is_right(self) -> bool:
        """Whether results and findings are right; goals may be missed."""
        return not (self.wrong or self.findings or self.unjudged)

    @property
    def good(self) -> bool:
        return self.is_right and not (self.said or self.missed)


@dataclasses.dataclass(frozen=True)
class Tools:
    nvcc: str  # "": KERNEL_COMPILER
    library: Path = ROOT / "build/sim/libcuda.so.1"  # the simulator
    threads: int = 1
    orders: tuple = ORDERS  # the sessions

    @property
    def compiler(self) -> str:
        """The compiler's name in messages."""
        return "nvcc" if self.nvcc else "drywarp compile"


# ---- Compiling

def to_ptx(source: Path, folder: Path, tools: Tools) -> tuple[Path | None, list[str]]:
    """The PTX file next to a source, and the compiler's messages; None if it does not compile."""
    ptx = folder / "kernels.ptx"
    nvcc = [tools.nvcc, "--ptx", "-O3", "-std=c++17", "-arch=compute_90", "-lineinfo"]
    command = nvcc if tools.nvcc else [str(KERNEL_COMPILER)]
    status, said = compiling.compiled([*command, "-o", str(ptx), str(source)], folder)
    lines = [line.replace(f"{folder}/", "") for line in compiling.explained(said.splitlines())]
    lines = lines or [f"the compiler exited with status {status}"]
    return (ptx, []) if status == 0 and ptx.exists() else (None, lines[:compiling.MAX_LINES])


def entry_of(ptx: Path, kernel: str, namespace: str = "") -> str:
    """The PTX name of a kernel, which may be in a namespace; "" if there is none."""
    place = f"N{len(namespace)}{namespace}" if namespace else ""
    found = re.search(rf"\.entry (_Z{place}{len(kernel)}{kernel}\w*|{kernel})\(", ptx.read_text(errors="replace"))
    return found[1] if found else ""


def parameters(ptx: Path, entry: str) -> int:
    """The number of a kernel's parameters."""
    return re.findall(rf"\.entry {entry}\(([^)]*)\)", ptx.read_text(errors="replace"))[0].count(".param")


# ---- Running

class Session:
    """A device in a sandbox that runs the kernels of one PTX file in one order of blocks, warps and lanes."""

    def __init__(self, ptx: Path, tools: Tools, orders: dict[str, int], seconds: int = SECONDS, records: bool = False) -> None:
        self.arrays: list[tuple[str, int, int]] = []  # of the last launch: (name, address, bytes)
        self.lost_findings = False  # whether the device ended before it wrote them; known after end()
        self.unjudged = ""  # why its runs are no basis for a verdict; known after end()
        self.folder = scratch.made(ptx.parent.parent)
        device = self.folder / "device"
        device.mkdir()
        python, prefix = device_python()
        settings = {"SIM_COUNTERS": device / "counters.csv", "SIM_FINDINGS": device / "findings.json", "SIM_THREADS": tools.threads,
                    "SIM_MAX_INSTRUCTIONS": MAX_INSTRUCTIONS} | orders | ({"SIM_RECORD": device / "recording"} if records else {})
        allowed = ["--system", "--alone", *processes.for_seconds(seconds), "--run", python, "--read", prefix, "--read", str(ROOT / "drywarp"),
                   "--read", str(tools.library), "--read", str(ptx.parent), "--write", str(device), "--memory", DEVICE_MEMORY, "--reserves",
                   "--threads", str(tools.threads), "--file-bytes", DEVICE_FILE, *(f"--set={name}={value}" for name, value in settings.items())]
        program = [python, "-I", "-S", str(ROOT / "drywarp/learn/device.py"), str(tools.library), str(ptx), str(device / "printed.txt")]
        with open(self.folder / "said.txt", "wb") as said:
            self.device = processes.started([*processes.in_sandbox(*allowed), *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)

    def run(self, entry: str, grid: int, block: int, data: dict[str, Any]) -> tuple[str, dict[str, array.array]]:
        """One launch; returns the error, "" for none, and the arrays' contents by name."""
        arguments = [{"bytes": 4 * value.count, "filled": value.before is not None} if isinstance(value, exercises.Array) else {"value": value}
                     for value in data.values()]
        arrays = {name: value for name, value in data.items() if isinstance(value, exercises.Array)}
        task = json.dumps({"kernel": entry, "grid": grid, "block": block, "arguments": arguments})
        assert self.device.stdin and self.device.stdout  # pipes
        try:
            self.device.stdin.write(task.encode() + b"\n" + b"".join(value.packed() for value in arrays.values()))
            self.device.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.device.stdout.readline()
        if not line.endswith(b"\n"):
            return "the run was stopped", {}
        reply = json.loads(line)
        self.arrays = [(name, address, 4 * value.count) for (name, value), address in zip(arrays.items(), reply["addresses"])]
        back = self.device.stdout.read(reply["bytes"])
        if len(back) != reply["bytes"]:  # the device ended while it wrote
            return "the run was stopped", {}
        return reply["wrong"], split(back, arrays)

    def end(self) -> str:
        """Waits for the device; returns why it was stopped, or ""."""
        status, _ = processes.end_device(self.device)
        if status == sandbox.TIME_OVER:
            return f"stopped: it takes longer than {SECONDS} seconds"
        self.unjudged = why_not_judged(status, self.folder / "said.txt")
        self.lost_findings = status not in (0, CHECKER_ENDS_WITH, UNSUPPORTED) or status == CHECKER_ENDS_WITH and not self.findings()
        return ""

    def counters(self) -> list[dict[str, str]]:
        """One row for each launch so far."""
        try:
            with open(self.folder / "device/counters.csv", newline="") as file:
                return list(csv.DictReader(file))
        except OSError:
            return []

    def printed(self) -> list[str]:
        """The first lines that the kernels printed; complete after end()."""
        try:
            with open(self.folder / "device/printed.txt", errors="replace") as file:
                return [line.rstrip("\n") for line in itertools.islice(file, MAX_PRINTED)]
        except OSError:
            return []

    def recording(self) -> bytes:
        """The recording of all device calls, if this session records; complete after end()."""
        try:
            return (self.folder / "device/recording").read_bytes()
        except OSError:
            return b""

    def findings(self) -> list[dict[str, Any]]:
        """The checker's findings; complete after end()."""
        return findings_in(self.folder)


def split(back: bytes, arrays: dict[str, exercises.Array]) -> dict[str, array.array]:
    """The arrays' contents, from their concatenated bytes."""
    contents, begin = {}, 0
    for name, value in arrays.items():
        contents[name] = array.array(value.type, back[begin:begin + 4 * value.count])
        begin += 4 * value.count
    return contents


def difference(data: dict[str, Any], contents: dict[str, array.array]) -> str:
    """The first wrong element, in words; "" if there is none."""
    for name, value in data.items():
        if not isinstance(value, exercises.Array) or value.after is None:
            continue
        apart = [k for k, (got, expected) in enumerate(zip(contents[name], value.after)) if got != expected]
        if apart:
            words = int.from_bytes(contents[name][apart[0]:apart[0] + 1].tobytes(), "little", signed=True)
            got = "is uninitialised" if words == UNINITIALISED and value.before is None else f"is {shown(contents[name][apart[0]])}"
            more = f"; {len(apart) - 1} more of {value.count} are wrong" if apart[1:] else ""
            return f"{name}[{apart[0]}] {got}, expected {shown(value.after[apart[0]])}{more}"
    return ""


def shown(value: float) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def run_all(task: exercises.Exercise, ptx: Path, entry: str, tools: Tools, verdict: Verdict) -> None:
    """Runs all sizes in each order, with other data in each, until something is wrong. All sessions start at once, because starting one takes
    longer than the runs of a kernel; each has SECONDS after the one before it."""
    sizes = task.tries()
    counting = {"SIM_ATOMIC_LOADS": 1} if task.goals else {}
    sessions = [Session(ptx, tools, orders | counting, SECONDS * number) for number, orders in enumerate(tools.orders, 1)]
    for number, session in enumerate(sessions):
        if not verdict.is_right:
            session.end()
            continue
        run_session(session, task, entry, sizes, verdict)
        if number == 0 and not verdict.wrong:
            count(session, task, entry, sizes, verdict)
        finish(session, verdict)


def run_session(session: Session, task: exercises.Exercise, entry: str, sizes: list[int], verdict: Verdict) -> None:
    """Runs these sizes, until one is wrong."""
    for n in sizes:
        if one_size(session, task, entry, n, task.drawn(n), verdict):
            return


def finish(session: Session, verdict: Verdict) -> None:
    """Ends a session and adds its findings to the verdict."""
    verdict.over = session.end()
    verdict.unjudged = verdict.unjudged or session.unjudged
    verdict.wrong = verdict.over or verdict.wrong
    if session.lost_findings and not verdict.wrong:
        verdict.findings[("", "")] = [LOST]
    verdict.printed = verdict.printed or session.printed()
    verdicts.add_findings([with_elements(finding, session.arrays, verdict.shared) for finding in session.findings()], verdict)


# ---- Addresses as elements

SHARED_ARRAY = re.compile(r"__shared__\s+(?:alignas\(\d+\)\s*)?(?:const\s+|volatile\s+|unsigned\s+)*(\w+)\s+(\w+)((?:\[[^\]]*\])*)\s*;")
ELEMENT_BYTES = {"char": 1, "bool": 1, "short": 2, "double": 8, "float2": 8, "float4": 16, "int4": 16}  # 4: all others


def shared_arrays(text: str) -> list[tuple[str, int, int]]:
    """The shared arrays of a source: (name, bytes of an element, elements; 0 if the length is not a product of numbers)."""
    found = []
    for type, name, lengths in SHARED_ARRAY.findall(text):
        numbers = re.findall(r"\[([^\]]*)\]", lengths)
        elements = math.prod(map(int, numbers)) if all(number.strip().isdecimal() for number in numbers) else 0
        found.append((name, ELEMENT_BYTES.get(type, 4), elements))
    return found


def element_at(address: int, array: str, base: int, size: int, element_bytes: int) -> str:
    """An address as an element of an array, and where that is: "in[256]: past the end, size 256"."""
    index, elements = (address - base) // element_bytes, size // element_bytes
    where = f": past the end, size {elements}" if index >= elements else ": before the beginning" if index < 0 else ""
    return f"{array}[{index}]{where}"


def nearest(address: int, arrays: Sequence[tuple[str, int, int]]) -> tuple[str, int, int] | None:
    """The array (name, address, bytes) to which an address is nearest; None if none is near."""
    def distance(array: tuple[str, int, int]) -> int:
        _, base, size = array
        return max(base - address, address - (base + size - 1), 0)
    found = min(arrays, key=distance, default=None)
    return found if found and distance(found) <= FARTHEST else None


def with_elements(finding: dict[str, Any], arrays: list[tuple[str, int, int]], shared: list[tuple[str, int, int]]) -> dict[str, Any]:
    """A finding about a bad address, with the array's name and the index instead of the address; any other finding as it is."""
    title = finding.get("title", "")
    found = re.search(r"\b0x([0-9a-f]+)", title)
    if finding.get("kind") not in ("out-of-bounds", "misaligned") or not found:
        return finding
    address = int(found[1], 16)
    if "shared" in title:
        if len(shared) != 1 or not shared[0][2]:
            return finding
        name, element_bytes, elements = shared[0]
        element = element_at(address, name, 0, element_bytes * elements, element_bytes)
    else:
        array = nearest(address, arrays)
        if not array:
            return finding
        element = element_at(address, *array, 4)
    hint = "\n".join(line for line in finding.get("hint", "").splitlines() if not line.startswith("note: allocated by"))  # the exercise shows no cudaMalloc
    return finding | {"title": element if finding["kind"] == "out-of-bounds" else re.sub(r"\b0x[0-9a-f]+", element, title), "hint": hint}


def one_size(session: Session, task: exercises.Exercise, entry: str, n: int, data: dict[str, Any], verdict: Verdict) -> bool:
    """Runs the kernel once at n; returns whether the result is wrong."""
    wrong, contents = session.run(entry, task.grid(n), task.block, data)
    wrong = verdict.sizes[n] = wrong or difference(data, contents)
    if wrong:
        verdict.wrong, verdict.wrong_at = f"wrong at n = {n:,}: {wrong}", n
    return bool(wrong)


def count(session: Session, task: exercises.Exercise, entry: str, sizes: list[int], verdict: Verdict) -> None:
    """Runs the exercise's own n after these sizes, and reads the counters of all, and the goals that they miss: a kernel may be good at one n only."""
    if one_size(session, task, entry, task.counts_at, task.drawn(task.counts_at), verdict):
        return
    launched, rows = [*sizes, task.counts_at], session.counters()
    runs = list(zip(launched, rows))[::-1] if len(rows) == len(launched) else [(task.counts_at, {})]
    verdict.row_at, verdict.row = next((run for run in runs if run[1] and task.missed_at(*run)), runs[0])
    verdict.missed = task.missed_at(verdict.row_at, verdict.row) if verdict.row else list(task.goals)


# ---- Judging

def judged(task: exercises.Exercise, name: str, text: bytes, tools: Tools) -> Verdict:
    """The verdict about a kernel's text (bytes); `name` is the file name in compiler messages."""
    verdict = Verdict(shared=shared_arrays(text.decode(errors="replace")))
    with scratch.folder() as place:
        folder = place / "program"
        folder.mkdir()
        if len(text) > MAX_SOURCE:
            verdict.said = [f"the file has more than {MAX_SOURCE:,} bytes"]
            return verdict
        source = folder / name
        source.write_bytes(text)
        source.chmod(compiling.READABLE)
        ptx, verdict.said = to_ptx(source, folder, tools)
        if ptx:
            run_kernel(task, ptx, entry_of(ptx, task.kernel), tools, verdict)
    return verdict


def run_kernel(task: exercises.Exercise, ptx: Path, entry: str, tools: Tools, verdict: Verdict) -> None:
    """Makes all runs of a kernel of the PTX; `entry` is "" if the kernel is missing."""
    if not entry:
        verdict.said = [f"it defines no kernel {task.kernel}; make learn RESET={task.number} restores the task"]
        return
    has, wanted = parameters(ptx, entry), len(task.data(task.sizes[0]))
    if has != wanted:
        verdict.said = [f"{task.kernel} has {has} parameters; the task's kernel has {wanted}"]
        return
    verdict.ptx = ptx.read_bytes()
    run_all(task, ptx, entry, tools, verdict)


def recorded(task: exercises.Exercise, ptx: bytes, n: int, tools: Tools) -> tuple[Verdict, dict[str, Any], bytes]:
    """One run of a judged kernel at n, for the player: its verdict, data and recording (simulator/runtime/work/record.h)."""
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
