"""The programs that are compared, each with recordings of its device calls, made with nvcc's PTX.

A whole program is compiled by nvcc and run on the simulator, which writes a recording (simulator/runtime/work/record.h). For a variant of an exercise the
recording is made from exercise.py's data. Both are kept in build/compare-nvcc, by a hash of what they are made of."""

import hashlib
import os
import random
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from scripts.evidence import labelled, variants
from scripts.ladder import labs
from drywarp.learn import exercise as exercises
from drywarp.learn import judge

ROOT = Path(__file__).resolve().parents[3]
BUILT = ROOT / "build/compare-nvcc"
SIZES = ("1000", "100003")  # elements: less than a block's in some steps, and many blocks with a ragged end
TIME_LIMIT_S = 300
OTHER_KERNELS = re.compile(r"\b(?:cub|thrust)::")  # of NVIDIA's libraries
# nvcc's options: compiled fast, thus hardly optimised. Of the labelled programs this excuses 11 kernels (column depends_on_build). The same 11 would be
# excused by -Xcicc -O0, and 8 of them by -Xcicc -O1: neither alone excuses one.
OTHER_BUILDS = (("-Ofc=max",),)
HARNESS_KERNELS = ("prepare", "fill", "compare")  # the same in each step: compared once
UNSUPPORTED = {  # programs whose device code is not in one PTX text, or whose calls cannot be recorded
    "labelled/children": "dynamic parallelism", "labs/several_gpus": "several devices", "labs/thrust": "Thrust's kernels", "scan/reference_cub": "CUB's kernels",
}


@dataclass
class Run:
    """One recording."""
    recording: Path
    settings: dict = field(default_factory=dict)  # the simulator's


@dataclass
class Program:
    kind: str
    name: str
    source: Path  # what is compiled
    runs: list = field(default_factory=list)
    entry: str = ""  # exercises: the kernel's name in nvcc's PTX; "": all kernels have the same names
    kernel: str = ""  # exercises: its readable name
    ptx: Path = None  # exercises: nvcc's PTX, for the entry
    obstacle: str = ""  # why there is no recording
    compiler: "Compiler" = None

    def builds(self):
        """PTX by nvcc at other optimisation levels, compiled when it is first asked for."""
        made = [self.compiler.other_build(self.source, options) for options in OTHER_BUILDS]
        return [ptx for ptx in made if ptx]


def digest(*parts):
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part if isinstance(part, bytes) else str(part).encode())
        whole.update(b"\0")
    return whole.hexdigest()[:16]


def with_includes(source):
    """The text of a source and of the files next to it that it includes."""
    text = source.read_text(encoding="utf-8")
    return text + "".join(with_includes(source.parent / name) for name in re.findall(r'^#include "(.+)"', text, re.M) if (source.parent / name).is_file())


# ---- Whole programs

@dataclass(frozen=True)
class Compiler:
    """nvcc, for programs that run on the simulator."""
    nvcc: str
    options: str
    libraries: str

    def build(self, source, program):
        words = [self.nvcc, *shlex.split(self.options), *build_options(source), "-o", str(program), str(source), *shlex.split(self.libraries)]
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True)


    def other_build(self, source, options):
        """The PTX, or None if nvcc does not make it."""
        key = digest(with_includes(source), self.options, options)
        ptx = BUILT / "builds" / f"{source.stem}-{key}.ptx"
        if not ptx.exists():
            ptx.parent.mkdir(parents=True, exist_ok=True)
            part = ptx.with_suffix(".part.ptx")
            words = [self.nvcc, *device_options(self.options), *build_options(source), *options, "-ptx", "-o", str(part), str(source)]
            if subprocess.run(words, cwd=ROOT, capture_output=True).returncode == 0:
                part.rename(ptx)
        return ptx if ptx.exists() else None


def device_options(options):
    """nvcc's options without those of the host's code, and with one architecture, as -ptx requires."""
    text = re.sub(r"-gencode arch=(compute_\w+),code=\w+", r"-arch=\1", options)
    return [word for word in shlex.split(re.sub(r"-Xcompiler \S+|-cudart none|--no-compress|-O\d", "", text))]


def build_options(source):
    """The options of a lab's build line."""
    line = re.search(r"^// Build and run: nvcc (.*?) -o ", source.read_text(encoding="utf-8"), re.M)
    return [word for word in shlex.split(line[1]) if not re.match(r"-O3|-arch=", word)] if line else []


def recorded(compiler, source, calls):
    """Runs for each of these (arguments, settings); and why there is none, or ""."""
    key = digest(with_includes(source), compiler.options, calls)
    folder = BUILT / "recordings" / f"{source.stem}-{key}"
    runs = [Run(folder / f"{number}.recording", settings) for number, (_, settings) in enumerate(calls)]
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        built = compiler.build(source, folder / "program")
        if built.returncode:
            return [], "nvcc: " + (built.stderr.strip().splitlines() or ["no message"])[0]
        for run, (arguments, settings) in zip(runs, calls):
            record(folder / "program", run, arguments, settings)
        (folder / "program").unlink()
        (folder / "done").touch()
    runs = [run for run in runs if run.recording.exists()]
    return runs, "" if runs else "no recording is made"


def record(program, run, arguments, settings):
    """One recording; none if the program cannot be recorded, or launches nothing."""
    environment = os.environ | settings | {"SIM_RECORD": str(run.recording), "SIM_THREADS": "1", "SIM_CHECK": "0", "SIM_MAX_INSTRUCTIONS": "20000000"}
    try:
        said = subprocess.run([program, *arguments], capture_output=True, env=environment, timeout=TIME_LIMIT_S).stderr
    except subprocess.TimeoutExpired:
        said = b"cannot write the recording"
    if b"cannot write the recording" in said or not run.recording.exists() or b"\nlaunch " not in run.recording.read_bytes():
        run.recording.unlink(missing_ok=True)


def sources_of(kind):
    """The sources of a kind, with the calls that are recorded of each."""
    if kind == "steps":
        return [(path, [(["--warm", n], {}) for n in SIZES]) for path in sorted(ROOT.glob("step[0-9][0-9]_*/reduce.cu"))]
    if kind == "scan":
        return [(path, [(["--warm", n], {}) for n in SIZES]) for path in sorted(ROOT.glob("scan/step[0-9][0-9]_*/scan.cu"))]
    if kind == "labs":
        return [(path, [([labs.small_size(lab)], {})]) for lab in labs.labs() for path in labs.sources(lab) if path.suffix == ".cu"]
    if kind == "mistakes":
        return [(path, [([], dict(re.findall(r"^// with: (\w+)=(.*)$", path.read_text(encoding="utf-8"), re.M)))])
                for path in sorted(ROOT.glob("tests/mistakes/[0-9][0-9]_*.cu"))]
    cases = {}
    for row in labelled.labels():
        cases.setdefault(row["program"], []).append(([row["case"]], labelled.settings_of(row)))
    return [(ROOT / f"tests/labelled/{name}.cu", calls) for name, calls in sorted(cases.items())]


def name_of(kind, source):
    """steps/step03_sequential, labs/rowscale/step01_vector, mistakes/01_no_barrier_after_load, labelled/warp."""
    return {"labs": "/".join(source.parts[-3:-1]), "steps": source.parent.name, "scan": source.parent.name}.get(kind, source.stem)


def whole_program(compiler, kind, source, calls):
    name = name_of(kind, source)
    reason = next((why for prefix, why in UNSUPPORTED.items() if f"{kind}/{name}".startswith(prefix)), "")
    runs, obstacle = ([], reason) if reason else recorded(compiler, source, calls)
    return Program(kind, name, source, runs, obstacle=obstacle, compiler=compiler)


# ---- Exercises

def exercise_recording(task, ptx, entry, n):
    """The recording of one launch of an exercise's kernel."""
    random.seed(f"{task.name} {n}")
    lines, contents, arguments = [b"recording 1\n", b"ptx 0 %d\n" % len(ptx), ptx, b"\n"], [], []
    for number, (name, value) in enumerate(task.data(n).items()):
        if not isinstance(value, exercises.Array):
            arguments.append(value)
            continue
        packed = value.packed()
        contents.append(f"allocate {number} device {4 * value.count} cudaMalloc\n".encode())
        if packed:
            lines += [f"bytes {name} {len(packed)}\n".encode(), packed, b"\n"]
            contents.append(f"write {number}+0 {len(packed)} {name}\n".encode())
        arguments.append(f"@{number}+0")
    sizes = parameter_bytes(ptx.decode(), entry)
    words = [value if isinstance(value, str) else value.to_bytes(size, "big", signed=True).hex() for value, size in zip(arguments, sizes)]
    launch = f"launch 0 {entry} {task.grid(n)},1,1 {task.block},1,1 0 0,0,0 0 {' '.join(words)}\n"
    return b"".join([*lines, *contents, launch.encode()])


def parameter_bytes(ptx, entry):
    """The sizes of a kernel's parameters."""
    header = re.search(rf"\.entry {re.escape(entry)}\((.*?)\)", ptx, re.S)[1]
    return [int(bits) // 8 for bits in re.findall(r"\.param \.[a-z](\d+)", header)]


def texts_of(task):
    """The right and wrong variants, and the task itself."""
    return variants.right_ones(task) | variants.planted(task) | {"task": task.text("task.cu")}


def exercise_programs(task, compiler, tools):
    """A program for each variant of an exercise that nvcc compiles."""
    texts = texts_of(task)
    folder = BUILT / "exercises" / f"{task.name}-{digest(sorted(texts.items()), task.text('exercise.py'))}"
    folder.mkdir(parents=True, exist_ok=True)
    ptx = folder / "kernels.ptx"
    if not ptx.exists():
        found, texts, said = variants.compiled(texts, folder, tools)
        if not found:
            return [Program("exercises", task.name, task.folder / "answer.cu", obstacle=f"nvcc: {said}", compiler=compiler)]
    made = []
    for name, text in texts.items():
        entry = judge.entry_of(ptx, task.kernel, name)
        if entry:
            made.append(variant(task, compiler, folder, ptx, name, text, entry))
    return made


def variant(task, compiler, folder, ptx, name, text, entry):
    source = folder / f"{name}.cu"
    if not source.exists() or source.read_text(encoding="utf-8") != text:
        source.write_text(text, encoding="utf-8")
    runs = []
    for n in sorted({min(task.sizes), max(task.sizes), task.counts_at}):
        run = Run(folder / f"{name}-{n}.recording", {"SIM_MAX_INSTRUCTIONS": str(judge.MAX_INSTRUCTIONS)})
        if not run.recording.exists():
            run.recording.write_bytes(exercise_recording(task, ptx.read_bytes(), entry, n))
        runs.append(run)
    return Program("exercises", f"{task.name}/{name}", source, runs, entry, task.kernel, ptx, compiler=compiler)


def exercise_tasks():
    return [task for task in exercises.every() if task.kind != "predict"]
