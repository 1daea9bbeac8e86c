"""Reads and analyses the simulator's trace of a block (SIM_TRACE).

It does not read the programs' source: additions and rounds are derived from the accesses and the barriers."""

import csv
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

sys.path.append(str(Path(__file__).resolve().parents[1]))
from drywarp.errors import fail  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
LANES, WORD, LINE = 32, 4, 128  # lanes of a warp; bytes of a float and of a line of device memory


def needed(things, one, what):
    """The things, or an error if there are none to draw."""
    if not things:
        fail(f"{one.step}: no thread of block {one.block} {what}, which this figure shows")
    return things


# ---- Reading

def read_row(fields):
    """A row of the trace with parsed numbers and a list of active lanes."""
    mask = int(fields["lanes"], 16)
    return SimpleNamespace(
        launch=int(fields["launch"]), kernel=fields["kernel"], grid=int(fields["grid"]), block=int(fields["block"]), warp=int(fields["warp"]),
        event=fields["event"], opcode=fields["opcode"], file=fields["source_file"], line=int(fields["source_line"]),
        lanes=[lane for lane in range(LANES) if mask >> lane & 1], memory=fields["memory"], bytes=int(fields["bytes"] or 0),
        addresses=[int(address.rpartition("+")[2]) for address in fields["addresses"].split(";") if address],
        values=[int(value, 16) for value in (fields.get("values") or "").split(";") if value.isalnum()])


def first_run(rows):
    """The passes of the first reduction, each a list of rows. Each pass has fewer blocks; a run ends where the number grows."""
    passes = []
    for row in rows:
        if row.kernel == "prepare":  # the harness's kernel
            continue
        if not passes or row.launch != passes[-1][0].launch:
            if passes and row.grid >= passes[-1][0].grid:
                break
            passes.append([])
        passes[-1].append(row)
    return passes


def named(step):
    """A step's folder, number and name."""
    number, _, name = step.removeprefix("step").partition("_")
    return SimpleNamespace(step=step, number=number, name=name)


def trace(program, *arguments, block=0, kernels=None, **environment):
    """Runs a program on the simulator and returns the trace rows of a block (or "all"), of these kernels (or of all)."""
    if not program.exists():
        fail(f"{program} is missing; make {program.relative_to(ROOT)} builds it")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.csv"
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                              env=os.environ | {"SIM_TRACE": str(path), "SIM_TRACE_BLOCK": str(block)} | environment)
        rows = []
        if path.exists():
            with open(path, newline="") as file:
                rows = [read_row(fields) for fields in csv.DictReader(file) if not kernels or fields["kernel"] in kernels]
    if done.returncode:
        print(f"picture: {program.parent.name}: {done.stderr.strip()}", file=sys.stderr)
    return rows


def run(step, elements, block):
    """Runs a step and returns the block's trace: `rows` of the first pass, `passes` with the rows of each pass."""
    passes = first_run(trace(ROOT / "build/sim" / step / "reduce", elements, "--warm", block=block))
    if not passes:
        fail(f"{step} has no block {block} at n = {elements}")
    return SimpleNamespace(**vars(named(step)), elements=elements, block=block, passes=passes,
                           rows=passes[0], grid=passes[0][0].grid, warps=1 + max(row.warp for row in passes[0]))


def all_blocks(one):
    """The same run, traced for each block."""
    return [one if block == one.block else run(one.step, one.elements, block) for block in range(one.grid)]


# ---- Device memory

def element_loads(one):
    """The rows that load from the array, which is the first allocation loaded from."""
    found = [row for row in one.rows if row.opcode.startswith("ld.") and row.memory.startswith("device")]
    return [row for row in needed(found, one, "loads from device memory") if row.memory == found[0].memory]


def loaded_elements(one):
    """(element, thread) for each element that the block loads."""
    return [((address + byte) // WORD, row.warp * LANES + lane) for row in element_loads(one)
            for lane, address in zip(row.lanes, row.addresses) for byte in range(0, row.bytes, WORD)]


# ---- Rounds

def ends_at_barrier(rows):
    """Whether the last of these rows is a block barrier."""
    return bool(rows) and rows[-1].memory.startswith("barrier")


def intervals(one, warp):
    """A warp's rows, split after each block barrier."""
    parts = [[]]
    for row in one.rows:
        if row.warp == warp and row.event == "run":
            if ends_at_barrier(parts[-1]):
                parts.append([])
            parts[-1].append(row)
    return parts


def additions(one):
    """(interval, thread, word, words added to it) for each sum in shared memory: the words that a thread loaded before it stores."""
    found = []
    for warp in range(one.warps):
        for number, rows in enumerate(intervals(one, warp)):
            loaded = {}
            for row in rows:
                for lane, address in zip(row.lanes, row.addresses) if row.memory == "shared" else ():
                    if row.opcode.startswith("ld."):
                        loaded.setdefault(lane, []).append(address // WORD)
                    elif loaded.get(lane):
                        added = [word for word in loaded.pop(lane) if word != address // WORD]
                        found.append((number, warp * LANES + lane, address // WORD, added))
    return found


def rounds(one):
    """The additions in shared memory, by round. A round begins at a barrier, or when a thread adds again."""
    parts, times = {}, Counter()
    for addition in needed(additions(one), one, "adds in shared memory"):
        number, thread, _, _ = addition
        parts.setdefault((number, times[number, thread]), []).append(addition)
        times[number, thread] += 1
    return [parts[key] for key in sorted(parts)]


def adding_intervals(one, warp):
    """A warp's rows in the rounds in which it adds and then waits at a block barrier."""
    numbers = {number for number, thread, _, _ in additions(one) if thread // LANES == warp}
    parts = [rows for number, rows in enumerate(intervals(one, warp)) if number in numbers and ends_at_barrier(rows)]
    return needed(parts, one, "adds and then waits at a barrier of the block")


def timeline(one):
    """For each warp its stretches (begin, length, activity), and the times at which barriers are passed; an instruction takes one tick."""
    parts = [intervals(one, warp) for warp in range(one.warps)]
    adding = {(number, thread // LANES) for number, thread, _, _ in additions(one)}
    stretches, barriers, begin = [[] for _ in parts], [], 0
    for number in range(max(map(len, parts))):
        length = 0
        for warp, mine in enumerate(parts):
            rows = mine[number] if number < len(mine) else []
            doing = "adds" if (number, warp) in adding else "loads" if number == 0 else "tests"
            stretches[warp].append((begin, len(rows), doing))
            if ends_at_barrier(rows):
                length = max(length, len(rows))
        begin += length
        barriers += [begin] if length else []
    return stretches, needed(barriers, one, "waits at a barrier of the block")
