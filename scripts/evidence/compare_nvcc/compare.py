"""Compares one program: its recordings run with nvcc's PTX and with the other compiler's, and every launch is compared."""

import csv
import ctypes
import hashlib
import json
import multiprocessing
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from scripts.evidence.compare_nvcc import device
from scripts.evidence.compare_nvcc.programs import BUILT, HARNESS_KERNELS, OTHER_KERNELS, digest
from drywarp.learn import judge

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([device.__name__, __name__])
TIME_LIMIT_S = 120
MAX_ROUNDS = 20  # of errors that only show once others are gone
# Counters that Nsight Compute has, too: simulator/counters.md. The others are compared for information.
COMPARED = ("shared_loads", "shared_stores", "bank_conflicts", "global_load_requests", "global_load_sectors", "global_store_requests",
            "global_store_sectors", "block_barriers")
OTHERS = ("atomics", "shuffles", "warp_barriers", "divergent_branches", "uneven_loops")
INSTRUCTIONS = "warp_instructions"
LIMIT = 0.10  # of the ratio of instructions
# Other orders of blocks, warps and lanes. What changes in one of them with nvcc's own PTX is not compared: a race, or a loop that polls, decides it.
# Of instructions, the count that is nearest is compared.
OTHER_ORDERS = ({"SIM_BLOCK_ORDER": "1"}, {"SIM_BLOCK_ORDER": "7"}, {"SIM_TOGETHER": "1"})


@dataclass
class Row:
    """What is known of one kernel of a program; a column of the table each."""
    kind: str
    program: str
    kernel: str
    launches: int = 0
    compiles: str = ""  # yes, or no
    same_bytes: str = ""  # yes, no, or nothing if nvcc's kernel fails, too
    same_counters: str = ""
    same_findings: str = ""
    findings: str = ""  # kinds of finding, with nvcc
    instructions_nvcc: int = 0
    instructions: int = 0
    ratio: str = ""
    differences: str = ""
    depends_on_order: str = ""  # bytes, counters, findings or instructions that differ, but also change with nvcc's own PTX in another order
    depends_on_build: str = ""  # bytes or findings that differ, but also in nvcc's own PTX of another optimisation level
    note: str = ""
    totals: dict = field(default_factory=dict, repr=False)


def is_near(row):
    """Whether the instructions are within the limit of nvcc's."""
    return abs(row.instructions - row.instructions_nvcc) <= LIMIT * row.instructions_nvcc


COLUMNS = [name for name in Row.__dataclass_fields__ if name != "totals"]


# ---- Compiling

@dataclass(frozen=True)
class Command:
    """The compiler that is compared with nvcc."""
    words: tuple

    def errors(self, source, ptx):
        """What is wrong, a line each; nothing if it compiles."""
        ptx.unlink(missing_ok=True)
        try:
            made = subprocess.run([*self.words, str(source), "-o", str(ptx)], capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_S)
        except subprocess.TimeoutExpired:
            return [f"no end after {TIME_LIMIT_S} s"]
        if made.returncode == 0 and ptx.exists():
            return []
        errors = [line for line in made.stderr.splitlines() if "error: " in line]
        return [re.sub(r"^.*/", "", line) for line in errors] or [f"exit status {made.returncode}: {made.stderr.strip()[-200:]}"]

    def compile(self, source, ptx):
        """What is wrong with the functions that do not compile: an error by the text of each. The PTX has the others, with their own line numbers."""
        refused, errors = {}, self.errors(source, ptx)
        lines = source.read_text(encoding="utf-8").replace('#include "', f'#include "{source.parent}/').splitlines()
        rest = ptx.with_suffix(".cu")
        for _ in range(MAX_ROUNDS):
            found = {int(line.split(":")[1]): line for line in errors if re.match(rf"(?:{re.escape(source.name)}|{re.escape(rest.name)}):\d+:", line)}
            if not found:
                break
            for number, error in found.items():
                begin, end = function_at(lines, number - 1)
                if begin < end:
                    refused["\n".join(lines[begin:end])] = error
                lines[begin:end] = [""] * (end - begin)
            rest.write_text("\n".join([*lines, ""]), encoding="utf-8")
            errors = self.errors(rest, ptx)
        return refused | ({"": errors[0]} if errors else {})


def function_at(lines, number):
    """The lines of the function or declaration that has a line: from one that is not indented to the next one that ends it."""
    begin = number
    while begin > 0 and (not lines[begin] or lines[begin][0] in " {}"):
        begin -= 1
    while begin > 0 and lines[begin - 1][:1].isalpha() and not lines[begin - 1].endswith((";", "}")):
        begin -= 1
    if lines[number] and lines[number].endswith(";") and lines[number][0] != " ":
        return begin, number + 1
    end = begin
    while end < len(lines) and not lines[end].startswith("}"):
        end += 1
    return begin, end + 1


# ---- Running

class Replays:
    """Runs recordings; results are kept by a hash of all that they depend on."""

    def __init__(self, library):
        self.library = library
        self.version = digest(library.read_bytes(), Path(device.__file__).read_bytes())
        self.folder = BUILT / "results"
        self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, recording, ptx, *options, **settings):
        """The launches with their counters, and the findings."""
        kept = self.folder / f"{digest(self.version, recording.read_bytes(), ptx.read_bytes() if ptx else '', options, sorted(settings.items()))}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        result = self.run_again(recording, ptx, options, settings)
        part = kept.with_suffix(f".{os.getpid()}-{hashlib.sha256(os.urandom(8)).hexdigest()[:8]}")
        part.write_text(json.dumps(result))
        part.rename(kept)
        return result

    def run_again(self, recording, ptx, options, settings):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            counters, findings = folder / "counters.csv", folder / "findings.json"
            environment = {"SIM_THREADS": "1", "SIM_CHECK": "0", "SIM_COUNTERS": str(counters), "SIM_FINDINGS": str(findings)} | settings
            words = [str(self.library), str(recording), *(["--ptx", str(ptx)] if ptx else []), *map(str, options)]
            child = PROCESSES.Process(target=replay, args=(words, environment, folder))
            child.start()
            child.join(TIME_LIMIT_S)
            if child.exitcode is None:
                child.kill()
                return {"launches": [], "error": f"no end after {TIME_LIMIT_S} s", "findings": []}
            line = (folder / "1").read_text(errors="replace").splitlines()[-1:]
            if not line or not line[0].startswith("{"):
                return {"launches": [], "error": f"status {child.exitcode}: {(folder / '2').read_text(errors='replace').strip()[-200:]}", "findings": []}
            result = json.loads(line[0])
            rows = list(csv.DictReader(counters.open(newline=""))) if counters.exists() else []
            for launch, row in zip(result["launches"], rows):
                launch["counters"] = {name: int(row[name]) for name in (INSTRUCTIONS, *COMPARED, *OTHERS)}
            result["findings"] = findings_in(findings)
            return result


def replay(words, environment, folder):
    """device.py in a process that a server forks, which is faster than to start Python. The simulator writes its files when C's exit ends the process."""
    os.environ.update(environment)
    for number in (1, 2):
        os.dup2(os.open(folder / str(number), os.O_WRONLY | os.O_CREAT), number)
    print(json.dumps(device.replay(device.options_of(words))), flush=True)
    ctypes.CDLL(None).exit(0)


def findings_in(path):
    """Each finding as its kind and the lines that it names."""
    found = json.loads(path.read_text())["findings"] if path.exists() else []
    return sorted({f"{one['kind']} {','.join(sorted(lines_of(one)))}" for one in found})


def lines_of(finding):
    """The source lines that a finding names, wherever they are in it."""
    if isinstance(finding, dict):
        return {str(finding["line"])} if isinstance(finding.get("line"), int) else {line for value in finding.values() for line in lines_of(value)}
    return {line for value in finding for line in lines_of(value)} if isinstance(finding, list) else set()


# ---- Comparing

def demangled(names):
    return dict(zip(names, subprocess.run(["c++filt", *names], capture_output=True, text=True, check=True).stdout.splitlines())) if names else {}


def short(name):
    """reduce<256>(float const*, float*, long long) as reduce<256>."""
    name, depth = re.sub(r"^void ", "", name).replace("(anonymous namespace)::", ""), 0
    for at, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            return name[:at]
    return name


def compared(program, command, replays):
    """The rows of a program, one for each of its own kernels."""
    folder = BUILT / "ptx" / f"{program.kind}-{program.name.replace('/', '-')}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    ptx = folder.with_suffix(".ptx") if "." not in folder.name else folder.with_name(folder.name + ".ptx")
    refused, rows = command.compile(program.source, ptx), {}
    for run in program.runs:
        for options in ([], ["--vary"]):
            compare_run(program, run, options, ptx, refused, replays, rows)
        compare_findings(program, run, ptx, replays, rows)
    for row in rows.values():
        finish(row)
    return sorted(rows.values(), key=lambda row: row.kernel)


def row_of(program, mangled, readable, rows):
    """The row of a kernel; None for a kernel of a library, or of a later step's harness."""
    name = program.kernel or short(readable)
    is_harness = program.kind in ("steps", "scan") and "step00" not in program.name and name in HARNESS_KERNELS
    if OTHER_KERNELS.search(readable) or is_harness:
        return None
    return rows.setdefault(mangled, Row(program.kind, program.name, name))


def compare_run(program, run, options, ptx, refused, replays, rows):
    """Bytes and counters of each launch; with other values in the arrays (--vary) only if nvcc's PTX runs with them, and the bytes alone."""
    reference = replays.run(run.recording, None, *options, **run.settings)
    varied = bool(options)
    if varied and reference["error"]:
        return
    names = demangled(sorted({launch["kernel"] for launch in reference["launches"]}))
    other = replays.run(run.recording, ptx, *options, *renames(program, ptx), **run.settings) if ptx.exists() else {"launches": [], "error": ""}
    excuses = excuses_for(program, run, options, reference, other, replays)
    were_same = True
    for number, launch in enumerate(reference["launches"]):
        row = row_of(program, launch["kernel"], names[launch["kernel"]], rows)
        one = other["launches"][number] if number < len(other["launches"]) else None
        inherited, were_same = not were_same, bool(one) and have_same_bytes(one, launch)
        if row is None:
            continue
        row.launches += not varied
        if not has_entry(ptx, program, launch["kernel"]):
            row.compiles, row.note = "no", why_missing(row.kernel, refused)
            continue
        row.compiles = "yes"
        if were_same or not inherited:  # else it begins with other memory
            compare_launch(row, launch, one, other["error"], varied, excuses[number])


@dataclass
class Excuse:
    """What nvcc's own kernels change in one launch, in another order or as another build."""
    counters: dict = field(default_factory=dict)  # the values of each counter that changes with the order
    bytes_by: str = ""  # order or build, if the bytes change, too


def excuses_for(program, run, options, reference, other, replays):
    """By launch. Other builds are only made if the order explains no difference of bytes."""
    found = [Excuse() for _ in reference["launches"]]
    pairs = list(zip(reference["launches"], other["launches"]))
    if all(launch.get("counters") == one.get("counters") and have_same_bytes(one, launch) for launch, one in pairs):
        return found
    for order in OTHER_ORDERS:
        again = replays.run(run.recording, None, *options, **run.settings | order)
        for excuse, launch, one in zip(found, reference["launches"], again["launches"]):
            for name, value in launch.get("counters", {}).items():
                if one.get("counters", {}).get(name, value) != value:
                    excuse.counters.setdefault(name, {value}).add(one["counters"][name])
            if not have_same_bytes(one, launch):
                excuse.bytes_by = "order"
    if all(excuse.bytes_by or have_same_bytes(one, launch) for excuse, (launch, one) in zip(found, pairs)):
        return found
    for build in program.builds():
        again = replays.run(run.recording, build, *options, *renames(program, build), **run.settings)
        for excuse, launch, one in zip(found, reference["launches"], again["launches"]):
            if not one["error"] and not have_same_bytes(one, launch):
                excuse.bytes_by = excuse.bytes_by or "build"
    return found


def what_findings_depend_on(program, run, expected, settings, replays):
    """order or build, if nvcc's own kernels give other findings in another order or as another build."""
    def differ(ptx, settings, *renamed):
        return replays.run(run.recording, ptx, "--checked", *renamed, **settings)["findings"] != expected
    if any(differ(None, settings | order) for order in OTHER_ORDERS):
        return "order"
    return "build" if any(differ(build, settings, *renames(program, build)) for build in program.builds()) else ""


def why_missing(kernel, refused):
    """The error in a kernel, or in something that it needs."""
    name = re.sub(r"<.*", "", kernel)
    return next((error for text, error in refused.items() if re.search(rf"\b{re.escape(name)}\(", text)), next(iter(refused.values()), "not in the PTX"))


def has_entry(ptx, program, mangled):
    return ptx.exists() and bool(judge.entry_of(ptx, program.kernel) if program.kernel else f".entry {mangled}(" in ptx.read_text(errors="replace"))


def renames(program, ptx):
    return ["--rename", f"{program.entry}={judge.entry_of(ptx, program.kernel)}"] if program.entry else []


def have_same_bytes(one, other):
    """Variables that only one has are not compared: the other one's compiler has removed them."""
    return one["digests"].keys() and all(other["digests"].get(name, value) == value for name, value in one["digests"].items())


def compare_launch(row, launch, other, why, varied, excuse):
    if launch["error"]:  # such as an address out of bounds: then the other must fail, too
        same = bool(other and other["error"] == launch["error"])
        row.note = row.note or launch["error"]
    else:
        same = bool(other and (have_same_bytes(other, launch) or (excuse.bytes_by and not other["error"])))
    if same and not launch["error"] and not have_same_bytes(other, launch):
        note_excuse(row, excuse.bytes_by, "bytes")
    if not same:
        row.same_bytes = "no"
        if other is None or other["error"] and not launch["error"]:
            row.note = row.note or (other or {}).get("error") or why or "it does not run"
    row.same_bytes = row.same_bytes or "yes"
    if varied or launch["error"] or not other or "counters" not in launch or "counters" not in other:
        return
    for name, value in launch["counters"].items():
        total, own = row.totals.setdefault(name, [0, 0, True]), other["counters"][name]
        if name == INSTRUCTIONS and name in excuse.counters:
            nearest = min(max(own, min(excuse.counters[name])), max(excuse.counters[name]))
            if abs(own - value) > LIMIT * value:
                note_excuse(row, "order", "instructions")
            value = nearest
        total[0] += value
        total[1] += own
        total[2] &= value == own or name in excuse.counters
        if value != own and name in excuse.counters and name in COMPARED:
            note_excuse(row, "order", "counters")


def note_excuse(row, by, word):
    column = f"depends_on_{by}"
    setattr(row, column, add_word(getattr(row, column), word))


def add_word(text, word):
    return text if word in text.split() else f"{text} {word}".strip()


def compare_findings(program, run, ptx, replays, rows):
    """The findings of a run, with the lines that they name, in the row of its first kernel. A kernel that does not compile runs as nvcc compiled it."""
    settings = run.settings | {"SIM_CHECK": "1"}
    reference = replays.run(run.recording, None, "--checked", **settings)
    row = next((rows[launch["kernel"]] for launch in reference["launches"] if launch["kernel"] in rows), None)
    if not row or program.kind in ("steps", "scan", "labs"):
        return
    expected = reference["findings"]
    row.findings = " ".join(sorted({one.split()[0] for one in expected} | set(row.findings.split())))
    if row.compiles == "yes":
        found = replays.run(run.recording, ptx, "--checked", *renames(program, ptx), **settings)["findings"]
        by = what_findings_depend_on(program, run, expected, settings, replays) if expected != found else ""
        if by:
            note_excuse(row, by, "findings")
        elif expected != found:
            row.same_findings = "no"
            row.note = row.note or f"findings {'; '.join(expected) or 'none'} / {'; '.join(found) or 'none'}"
        row.same_findings = row.same_findings or "yes"


def finish(row):
    """Fills the columns of counters."""
    if not row.totals:
        return
    apart = {name: total for name, total in row.totals.items() if not total[2] and name != INSTRUCTIONS}
    row.same_counters = "no" if apart.keys() & set(COMPARED) else "yes"
    row.differences = " ".join(f"{name}:{total[0]}/{total[1]}" for name, total in apart.items())
    row.instructions_nvcc, row.instructions, _ = row.totals[INSTRUCTIONS]
    row.ratio = f"{row.instructions / row.instructions_nvcc:.3f}" if row.instructions_nvcc else ""
