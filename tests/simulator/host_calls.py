"""The device calls of a lesson: those that its program makes, and those that a page evaluates."""

import os
import re
import subprocess

from drywarp import recordings
from scripts.ladder import lesson_programs

HARNESS = ("prepare", "fill", "compare")  # kernels of the programs' own harness


def kernel_of(call):
    return re.sub(r"^_Z\d+([a-z_]+).*", r"\1", call.split()[2])


def first_run(calls, n):
    """The calls up to the first result, without those that do not affect it; the harness's kernels get only blocks that have work."""
    kept = []
    for call in calls:
        words = call.split()
        if words[0] == "launch" and kernel_of(call) == "prepare":
            continue
        if words[0] == "launch" and kernel_of(call) in HARNESS:
            threads = int(words[4].split(",")[0])
            words[3] = f"{min(int(words[3].split(',')[0]), -(-n // threads))},1,1"
        kept.append(" ".join(words))
        if words[0] == "read":
            break
    return kept


def of_lesson(calls):
    """Without data, and without the calls of the scan's harness, whose kernels make and compare the data; allocations are numbered from 0."""
    numbers, kept = {}, []
    for call in calls:
        words = call.split()
        if words[0] == "allocate":
            words[1] = numbers.setdefault(words[1], f"allocation{len(numbers)}")
        if words[0] in ("write", "read"):
            words[-1] = "data"
        if words[0] == "launch" and kernel_of(call) in HARNESS:
            continue
        kept.append(re.sub(r"(?<=[ @])(\d+)\+", lambda found: numbers.get(found[1], found[1]) + "+", " ".join(words)))
    return kept


def without_data(calls):
    return [call for call in calls if call.startswith(("launch", "fill", "allocate allocation0", "allocate allocation1", "allocate allocation2"))]


def recorded(program, n, file):
    """The calls of a program's first run."""
    subprocess.run([program, "--warm", str(n)], capture_output=True, timeout=60,
                   env=os.environ | {"SIM_RECORD": str(file), "SIM_THREADS": "1", "SIM_CHECK": "0"}, check=True)
    return first_run(recordings.split(file.read_bytes())[0], n)


def evaluated(file, step, n):
    """The calls, and the diagnostics as JSON; before these the simulator says why it rejects a launch."""
    result = subprocess.run([*lesson_programs.evaluated(file, step, n), "--calls"], capture_output=True, text=True, timeout=60)
    return result.stdout.splitlines(), re.search(r"^\[.*|\Z", result.stderr, re.M | re.S)[0]
