"""Compiles and runs the mutants, on the simulator or on a GPU under compute-sanitizer.

The environment: NVCC is the compiler, JOBS how many run at once."""

import csv
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drywarp import files
from scripts.evidence.mutants import make

NVCC = os.environ.get("NVCC", "nvcc")
JOBS = int(os.environ.get("JOBS", os.cpu_count()))
FOR_SIMULATOR = "-gencode arch=compute_90,code=compute_90 -cudart none --no-compress".split()
FOR_DEBUGGER = [*FOR_SIMULATOR, "-G"]
LIBRARIES = [make.ROOT / "build/sim/libsimulator.a", "-lpthread", "-lm"]
TIME_LIMIT_S = 60  # on the simulator a program takes a tenth of a second, some seconds with the most elements, and more on a busy machine
CHECKED_LIMIT_S = 300  # hundreds of blocks that wait in vain for 100 million instructions take 30 s to 90 s, and twice that where all processors are busy
# A limit of warp instructions ends infinite loops early, so that the findings are printed; step 00's one thread needs more for millions of elements. With one
# host thread a race between blocks has the same result in every run.
ALWAYS = {"SIM_MAX_INSTRUCTIONS": "10000000", "SIM_THREADS": "1", "SIM_STRICT": "1"}
SIZES = ("1", "33", "258", "1000", "40003", "100003")
# How a mutant runs on the simulator: at all sizes as if 3 blocks filled the GPU; with so many that a kernel for small arrays has several tiles (a debugger's
# programs run until here); with blocks in other orders; and with more blocks, each with a tile, than a block has threads.
FIRST_RUNS = [(size, {"BLOCKS": "3"}) for size in SIZES] + [("40003", {"BLOCKS": "16"})]
RUNS = FIRST_RUNS + [(SIZES[-1], {"BLOCKS": "3", "SIM_BLOCK_ORDER": order}) for order in "123"] + [("5000003", {"BLOCKS": "600", "SIM_MAX_INSTRUCTIONS": "100000000"})]
# Mutants that are not found by then, in kernels whose blocks synchronise: an array for one block, with several loads per thread; one of whole tiles, also for a
# single block; time-sliced blocks, few and many of them, so that several share the work; blocks in another order, few of them resident, so that some start late; an
# array of one whole tile; a GPU that holds more blocks than the status words that a warp polls at once.
TOGETHER = {"SIM_TOGETHER": "1", "SIM_MAX_INSTRUCTIONS": "100000000"}
LAST_RUNS = [("4003", {"BLOCKS": "3"}), ("40960", {"BLOCKS": "3"}), ("40960", {"BLOCKS": "1"}), (SIZES[-1], {"BLOCKS": "3"} | TOGETHER),
             ("400003", {"BLOCKS": "400", "SIM_BLOCK_ORDER": "7", "SIM_SMS": "1"} | TOGETHER), ("1100003", {"BLOCKS": "300"} | TOGETHER),
             ("1100003", {"BLOCKS": "300", "SIM_BLOCK_ORDER": "7"} | TOGETHER), ("5000003", {"BLOCKS": "600"} | TOGETHER), ("4096", {"BLOCKS": "3"}),
             ("5000003", {"BLOCKS": "600", "SIM_SMS": "300"} | TOGETHER)]
COLUMNS = ["mutant", "step", "operator", "line", "before", "after", "own_check", "findings", "size"]

# Each tool's options. initcheck covers shared memory from compute-sanitizer 2025.4 on.
SHARED_TOO = ["--initcheck-address-space", "all"]
TOOLS = {"alone": None, "memcheck": [], "racecheck": [], "initcheck": SHARED_TOO, "synccheck": []}
GPU_TIME_LIMIT_S = 25
HUNG_TIME_LIMIT_S = 8  # of a program that hung alone
GPU_COLUMNS = ["mutant", "tool", "elements", "ended", "errors", "message", "seconds"]


def run(words, environment, limit):
    """Exit status, None for one that did not end, and what was printed."""
    child = subprocess.Popen(words, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", start_new_session=True)
    try:
        printed, _ = child.communicate(timeout=limit)
        return child.returncode, printed
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # compute-sanitizer starts others
        return None, child.communicate()[0]


def programs(directory, steps):
    """Each program with many mutants, and their names."""
    found = {}
    for step in steps:
        every = [mutant.name for mutant in make.mutants(step)]
        for number, begin in enumerate(range(0, len(every), make.IN_ONE_PROGRAM)):
            first = ["original"] if number == 0 else []
            found[directory / f"{step}-{number}"] = first + every[begin:begin + make.IN_ONE_PROGRAM]
    return found


def newer(path, than):
    """Whether a file was made after others."""
    return path.exists() and all(path.stat().st_mtime > other.stat().st_mtime for other in than)


def compiled(directory, steps, options, libraries, wanted=None):
    """The programs with many mutants, or those of them that are wanted, made and compiled where they are not; without those that do not compile,
    which it names."""
    make.write_programs(directory, steps)
    found = {program: names for program, names in programs(directory, steps).items() if wanted is None or program.name in wanted}

    def compile_one(program):
        source, compiled_one = program.with_suffix(".cu"), program.with_suffix(".o")
        commands = []  # -O0 is for the host's code: the kernels are optimised as ever
        if not newer(compiled_one, [source]):
            commands = [["-O0", "-std=c++17", "-w", "-lineinfo", *options, "-c", "-o", compiled_one, source]]
        if commands or not newer(program, [compiled_one, *libraries[:1]]):
            commands += [[*options, "-o", program, compiled_one, *libraries]]
        for command in commands:
            status, printed = run([NVCC, *command], {}, 600)
            if status != 0:
                print(f"{source} does not compile: {printed.strip()[:2000]}", flush=True)
                return False
        return True

    with ThreadPoolExecutor(JOBS) as pool:
        return {program: names for good, (program, names) in zip(pool.map(compile_one, found), found.items()) if good}


def own_check(status, printed):
    """What a program's own check says, in few words."""
    if status is None:
        return "hangs"
    lines = [line for line in printed.splitlines() if line and not line.startswith(("simulator:", "====="))]
    for line in reversed(lines):
        if line.startswith("FAIL"):
            return "wrong result"
        if re.match(r"\S+\.cu:\d+: ", line):
            return "error: " + line.rsplit(": ", 1)[1]
    return "passes" if status in (0, 88) else f"ends with status {status}"


# ---- On the simulator

def kinds(path):
    """The kinds of the findings in a file that the simulator wrote."""
    if not path.exists():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))["findings"]
    path.unlink()
    return sorted({finding["kind"] for finding in found})


def simulated(program, name):
    """The result of a mutant's own check, the simulator's findings, and the size at which they appear."""
    says, found, where = "passes", [], ""
    report = program.with_name(f"{program.name}.{name}.json")
    last = LAST_RUNS if "atomic" in program.with_suffix(".cu").read_text(encoding="utf-8") else []
    for number, (size, environment) in enumerate(RUNS + last):
        if number >= len(RUNS) and (says != "passes" or found):
            break
        words, environment = [program, "--csv", "--warm", size], ALWAYS | environment | {"MUTANT": name}
        if says == "passes":
            says = own_check(*run(words, environment | {"SIM_CHECK": "0"}, TIME_LIMIT_S if number < len(RUNS) else CHECKED_LIMIT_S))
        if not found:
            run(words, environment | {"SIM_FINDINGS": str(report)}, CHECKED_LIMIT_S)
            found, where = kinds(report), size
        if says != "passes" and (found or number >= len(SIZES) - 1):
            break
    return says, found, where if found else ""


def simulated_for_debugger(program, name):
    """The findings of a mutant compiled for a debugger, and the size at which they appear. The compiler then keeps code with undefined behaviour, such as a store
    past the end of a thread's array."""
    report = program.with_name(f"{program.name}.{name}.json")
    for size, environment in FIRST_RUNS:
        run([program, "--csv", "--warm", size], ALWAYS | environment | {"MUTANT": name, "SIM_FINDINGS": str(report)}, CHECKED_LIMIT_S)
        found = kinds(report)
        if found:
            return found, size
    return [], ""


def look_again(directory, step, jobs, rows):
    """The rows; undetected mutants have been compiled for a debugger, too."""
    left = {(program.name, name): number for number, ((program, name), row) in enumerate(zip(jobs, rows))
            if name != "original" and row[6] == "passes" and not row[7]}
    found = compiled(directory / "debugger", [step], FOR_DEBUGGER, LIBRARIES, {program for program, _ in left}) if left else {}
    again = [(program, name) for program, names in found.items() for name in dict.fromkeys(["original", *names]) if name == "original" or (program.name, name) in left]
    with ThreadPoolExecutor(JOBS) as pool:
        for (program, name), (kinds_found, size) in zip(again, pool.map(lambda job: simulated_for_debugger(*job), again)):
            if name == "original" and kinds_found:
                sys.exit(f"mutants: {program}, for a debugger, has findings without an error: {kinds_found}")
            if kinds_found:
                print(f"{step}.{name}: for a debugger; {' '.join(kinds_found)}", flush=True)
                rows[left[program.name, name]][7:] = [" ".join(kinds_found), f"{size} -G"]
    return rows


def digest(directory, output, step):
    """Of everything that the rows of a step in the output depend on, and of these rows."""
    make.write_programs(directory, [step])
    sources = [program.with_suffix(".cu") for program in programs(directory, [step])]
    rows = [list(row.values()) for row in read(output) if row["step"] == step]
    return hashlib.sha256(b"".join(path.read_bytes() for path in [*sources, Path(__file__), LIBRARIES[0]]) + repr(rows).encode()).hexdigest()


def on_simulator(directory, output, steps):
    """Writes the rows of the steps; skips a step whose mutants, simulator and rows are those of its last run in this directory."""
    def last_run(step):
        return directory / f"{step}.digest"

    done = {step for step in steps if last_run(step).exists() and last_run(step).read_text(encoding="utf-8") == digest(directory, output, step)}
    if done:
        print(f"unchanged since their last run: {' '.join(sorted(done))}", flush=True)
    steps = [step for step in steps if step not in done]
    described = {(mutant.step, mutant.name): mutant[:6] for step in steps for mutant in make.mutants(step)}
    found = compiled(directory, steps, FOR_SIMULATOR, LIBRARIES)

    def row(job):
        program, name = job
        step = program.name.rsplit("-", 1)[0]
        says, kinds_found, size = simulated(program, name)
        _, _, operator, line, before, after = described.get((step, name), ("", "", "", "", "", ""))
        print(f"{step}.{name}: {says}; {' '.join(kinds_found)}", flush=True)
        return [f"{step}.{name}", step, operator, line, before, after, says, " ".join(kinds_found), size]

    for step in steps:
        jobs = [(program, name) for program, names in found.items() if program.name.rsplit("-", 1)[0] == step for name in names]
        with ThreadPoolExecutor(JOBS) as pool:
            rows = look_again(directory, step, jobs, list(pool.map(row, jobs)))
        order = list(make.sources())
        kept = [[old[column] for column in COLUMNS] for old in read(output) if old["step"] != step]
        with files.whole(output) as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *sorted(kept + rows, key=lambda each: order.index(each[1]))])
        last_run(step).write_text(digest(directory, output, step), encoding="utf-8")


# ---- On a GPU

def read(path):
    """The rows of a CSV; none where it is missing."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sanitizer_says(printed):
    """How many errors and warnings compute-sanitizer counted, '' where it gave no summary, and the first things that it said with their lines."""
    said = []
    for line, after in zip(printed.splitlines(), [*printed.splitlines()[1:], ""]):
        if re.match(r"========= (?!COMPUTE-SANITIZER|Target application|LEAK SUMMARY|\w+ SUMMARY)\S", line):
            where = re.search(r"\S+\.cu:\d+", line + after)
            said.append(re.sub(r" (access )?at .*", "", line[10:]) + (f" at {where[0]}" if where else ""))
    summary = re.search(r"SUMMARY: (\d+) (?:errors?\b|hazards? displayed)", printed)
    return summary[1] if summary else "", " | ".join(list(dict.fromkeys(said))[:3])


def sizes_on_gpu(step):
    """The numbers of elements of a GPU's runs: one more for a step that launches another kernel for fewer elements."""
    _, lesson, _ = make.parts(make.sources()[step])
    chooses_by_size = re.search(r"^ +(?:else )?if \(.*\bn <= ", make.without_comments(lesson).partition(" launch(const float")[2], re.M)
    return ("100003", "40003") if chooses_by_size else ("100003",)


def gpu_jobs(found, done):
    """All runs that are left: first those of all mutants alone, then those under the tools; the first ladder first."""
    jobs = []
    for program, names in found.items():
        step = program.name.rsplit("-", 1)[0]
        for number, size in enumerate(sizes_on_gpu(step)):
            jobs += [((step.startswith("scan-"), number, place), program, name, tool, size) for name in names for place, tool in enumerate(TOOLS)]
    jobs = sorted(jobs, key=lambda job: job[0])
    return [job[1:] for job in jobs if (f"{job[1].name.rsplit('-', 1)[0]}.{job[2]}", job[3], job[4]) not in done]


def under(tool):
    """What stands before a program's name."""
    return [] if tool == "alone" else ["compute-sanitizer", "--tool", tool, "--check-exit-code", "no", "--max-connections", "200", *TOOLS[tool]]


def on_gpu(directory, output, steps, seconds):
    began = time.monotonic()
    if not shutil.which("compute-sanitizer"):
        sys.exit("mutants: compute-sanitizer was not found; it comes with the CUDA toolkit")
    if SHARED_TOO[0] not in run(["compute-sanitizer", "--help"], {}, 60)[1]:
        print("this compute-sanitizer cannot look for uninitialised shared memory", flush=True)
        TOOLS["initcheck"] = []
    rows = read(output)
    hung = {(row["mutant"], row["elements"]) for row in rows if row["tool"] == "alone" and row["ended"] == "hangs"}
    found = compiled(directory, steps, ["-arch=native"], [])
    print(f"compiled: {time.monotonic() - began:.0f} s", flush=True)
    for tool in TOOLS:
        status, printed = run([*under(tool), next(iter(found)), "--csv", "--warm", SIZES[-1]], {}, 60)
        if own_check(status, printed) != "passes" or tool != "alone" and sanitizer_says(printed)[0] != "0":
            sys.exit(f"mutants: a program without an error, {tool}: {printed.strip()[-1000:]}")

    def row(job):
        program, name, tool, size = job
        if time.monotonic() - began > seconds:
            return
        mutant = f"{program.name.rsplit('-', 1)[0]}.{name}"
        start = time.monotonic()
        limit = HUNG_TIME_LIMIT_S if tool == "alone" or (mutant, size) in hung else GPU_TIME_LIMIT_S
        status, printed = run([*under(tool), program, "--csv", "--warm", size], {"MUTANT": name}, limit)
        errors, message = sanitizer_says(printed) if tool != "alone" else ("", "")
        says = own_check(status, printed)
        if tool == "alone" and says == "hangs":
            hung.add((mutant, size))
        rows.append(dict(zip(GPU_COLUMNS, [mutant, tool, size, says, errors, message, f"{time.monotonic() - start:.1f}"])))

    jobs = gpu_jobs(found, {(row["mutant"], row["tool"], row["elements"]) for row in rows})
    with ThreadPoolExecutor(JOBS) as pool:
        for number, _ in enumerate(pool.map(row, jobs)):
            if number % 200 == 199 or number == len(jobs) - 1:
                write_gpu(output, rows)
                print(f"{number + 1} of {len(jobs)} runs: {time.monotonic() - began:.0f} s", flush=True)
    left = gpu_jobs(found, {(row["mutant"], row["tool"], row["elements"]) for row in rows})
    print(f"{len(left)} runs are left", flush=True)


def write_gpu(output, rows):
    order = {step: place for place, step in enumerate(make.sources())}
    sizes = list(SIZES)
    with files.whole(output) as file:
        writer = csv.DictWriter(file, GPU_COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in sorted(list(rows), key=lambda row: (order[row["mutant"].split(".")[0]], row["mutant"], sizes.index(row["elements"]), list(TOOLS).index(row["tool"]))):
            writer.writerow(row)

