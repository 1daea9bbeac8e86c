#!/usr/bin/env python3
"""Builds a CUDA program of one or several files, for the simulator or a GPU: make sim and make run call it.

FILE and FLAGS come from the environment: names of files, and options of nvcc, quoted as in a shell."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from drywarp import counters_table, missing_calls
from drywarp.errors import Parser, fail
from drywarp.paths import ROOT

SOURCES = {".cu", ".c", ".cc", ".cpp", ".cxx"}
OBJECTS = {".o", ".a"}  # linked as they are
# Options that make sets itself, and those that do not make a program.
REFUSED = re.compile(r"(-o|--output-file|-arch|--gpu-architecture|-gencode|--generate-code|-code|--gpu-code|--?cudart|-c|-dc|-dw|--?ptx|"
                     r"--?cubin|--?fatbin|--compile|--device-[cw]|-E|--preprocess|-M|--?lib|-dlink|--?dryrun|--?run|-h|--help|-V|--version)(=.*)?")
# The simulator replaces the runtime, and NVIDIA's libraries need a GPU. None is linked: each missing call is reported.
NOT_LINKED = re.compile(rf"-l(cudart|cudadevrt|cuda\b|nvidia-ml|{'|'.join(missing_calls.LIBRARIES)}).*")

# Replacements of NVIDIA's libraries, built on demand: their names, and what else they need. Their headers are for toolkits without these.
OPENBLAS = ROOT / "build/openblas/scipy_openblas32/lib"
STAND_INS = {"cublas": ("cuBLAS: the simulator's own, done by OpenBLAS on the host", [f"-L{OPENBLAS}", "-lscipy_openblas", f"-Xlinker=-rpath={OPENBLAS}"]),
             "curand": ("cuRAND's host calls: the simulator's own, done on the host", []), "nvml": ("NVML: the simulator's own", [])}
ARCHIVES = {"nvml": "nvidia-ml"}  # names of archives that are not those of the calls
OWN_HEADERS = ["-Xcompiler", f"-idirafter,{ROOT}/simulator/libraries/include"]


# ---- FILE and FLAGS

def words(variable: str) -> list[str]:
    """The words of an environment variable, as a shell splits them."""
    try:
        return shlex.split(os.environ.get(variable, ""))
    except ValueError:
        fail(f"{variable}='{os.environ[variable]}': a quotation mark without its partner")


def files() -> list[str]:
    """The files that FILE names. A single name with a blank needs no quotation marks."""
    text = os.environ.get("FILE", "")
    names = [text] if os.path.isfile(text) else words("FILE")
    if not names:
        fail("FILE is missing; name a program, as in: FILE=any.cu, or: FILE='a.cu b.cu'")
    for name in names:
        if not os.path.isfile(name):
            fail(f"FILE: '{name}' is no file; name a program, as in: FILE=any.cu, or: FILE='a.cu b.cu'")
        if Path(name).suffix not in SOURCES | OBJECTS:
            fail(f"FILE: '{name}' is neither a source ({', '.join(sorted(SOURCES))}) nor an object ({', '.join(sorted(OBJECTS))})")
    if Path(names[0]).suffix in OBJECTS:
        fail(f"FILE: '{names[0]}' stands first, where the source stands that gives the program its name")
    return names


def flags() -> list[str]:
    """nvcc's options: FLAGS, and the defaults that it does not set."""
    given: list[str] = []
    for word in words("FLAGS"):
        if given and given[-1] == "-l":
            given[-1] += word
        else:
            given.append(word)
    for word in given:
        if REFUSED.fullmatch(word):
            fail(f"FLAGS: leave out {word}: make itself says what is built, and for which device")
    usual = {"-O3": "-O", "-std=c++17": "-std"}
    return [option for option, kind in usual.items() if not any(word.startswith((kind, "-" + kind)) for word in given)] + given


def wants_device_link(options: list[str]) -> bool:
    """Whether -rdc=true is among them, in one of nvcc's spellings."""
    return re.search(r"(^| )(-rdc|--relocatable-device-code)[= ]true( |$)", " ".join(options)) is not None


def program_of(name: str, folder: Path) -> Path:
    """The program's path: the source's own path within a folder, so that each source has its own program."""
    path = Path(os.path.abspath(name))
    inside = path.is_relative_to(ROOT)
    return folder / ("programs" if inside else "elsewhere") / path.relative_to(ROOT if inside else path.anchor).with_suffix("")


# ---- Building

def call(command: list[str | Path], shown: bool) -> subprocess.CompletedProcess[str]:
    """Runs the compiler; returns its messages, in English."""
    if shown:
        print(shlex.join(str(word) for word in command))
    return subprocess.run(command, stdout=sys.stdout, stderr=subprocess.PIPE, text=True, errors="replace", env=os.environ | {"LC_ALL": "C"})


def needs_device_link(message: str) -> bool:
    """Whether nvcc rejects a program because its kernels launch kernels or call the device runtime."""
    return "separate compilation mode" in message


def compile_to_objects(names: list[str], compiler: list[str], folder: str, shown: bool) -> dict[str, str] | None:
    """The object of each source, by the source's name; an object is its own. None if they need -rdc=true."""
    objects = {}
    for number, name in enumerate(names):
        objects[name] = name if Path(name).suffix in OBJECTS else f"{folder}/{number}.o"
        if objects[name] == name:
            continue
        result = call([*compiler, "-c", "-o", objects[name], name], shown)
        if needs_device_link(result.stderr) and not wants_device_link(compiler):
            return None
        sys.stderr.write(result.stderr)
        if result.returncode != 0:
            header = re.search(r"fatal error: (\w+)\S*: No such file", result.stderr)
            library = header and missing_calls.library_of(header[1])
            sys.exit(missing_calls.about_library(library, f"whose header {name} includes") if library else 1)
    return objects


def link_device_code(objects: dict[str, str], compiler: list[str], folder: str, shown: bool) -> str:
    """The object that registers the device code of all others. The simulator links that code itself."""
    linked = f"{folder}/device.o"
    without_runtime = shlex.split(shlex.join(compiler).replace(" -cudart none", " -cudadevrt none"))  # -cudart none leaves this step out
    result = call([*without_runtime, "-dlink", "-o", linked, *objects.values()], shown)
    sys.stderr.write(result.stderr)
    return linked if result.returncode == 0 else sys.exit(1)


def link(objects: dict[str, str], compiler: list[str], libraries: list[str | Path], program: Path, shown: bool) -> int:
    """Links the program; on failure prints a line for each undefined name, and for each name with several definitions."""
    result = call([*compiler, "-o", program, "-Xlinker", "--no-demangle", *objects.values(), *libraries], shown)
    missing = dict.fromkeys(re.findall(r"undefined reference to `(\w+)'", result.stderr))
    twins = dict.fromkeys(re.findall(r"multiple definition of `(\w+)'", result.stderr))
    if result.returncode == 0 or not (missing or twins):
        sys.stderr.write(result.stderr)
        return result.returncode
    for line in [*missing_calls.lines_about(missing, objects), *missing_calls.lines_about_twins(twins, objects)]:
        print(line, file=sys.stderr)
    return 1


def stand_ins(objects: dict[str, str]) -> list[str | Path]:
    """The linker options for NVIDIA's libraries of which the simulator has its own version, which is compiled first."""
    wanted = set().union(*(missing_calls.undefined_in(file) for file in objects.values()))
    linked: list[str | Path] = []
    for library, (said, others) in STAND_INS.items():
        if not any(name.startswith(library) for name in wanted):
            continue
        archive = f"build/sim/lib{ARCHIVES.get(library, library)}.a"
        made = subprocess.run([ROOT / "scripts/build/one_at_a_time.sh", "make", "--no-print-directory", "-s", archive], cwd=ROOT, env=os.environ | {"COMPILING": "1"})
        if made.returncode != 0:
            fail(f"{archive} could not be made")
        print(f"{said} (simulator/libraries/{library}.c)", flush=True)
        linked += [ROOT / archive, *others]
    return linked


def build_for_simulator(names: list[str], options: argparse.Namespace, program: Path) -> int:
    """Compiles each file to an object, so that an undefined name can be attributed to its file, and links them."""
    given = [word for word in flags() if not NOT_LINKED.fullmatch(word)]
    compiler = [options.nvcc, *(word for word in shlex.split(options.options) if word != "-lineinfo" or "-G" not in given)]
    with tempfile.TemporaryDirectory() as folder:
        objects = compile_to_objects(names, [*compiler, *given, *OWN_HEADERS], folder, options.show)
        if objects is None:
            given.append("-rdc=true")
            objects = compile_to_objects(names, [*compiler, *given, *OWN_HEADERS], folder, options.show) or {}
        if wants_device_link(given):
            objects["-rdc=true"] = link_device_code(objects, compiler, folder, options.show)
        return link(objects, compiler, [*given, *stand_ins(objects), *shlex.split(options.libraries)], program, options.show)


def build_for_gpu(names: list[str], options: argparse.Namespace, program: Path) -> int:
    return subprocess.run([options.nvcc, *flags(), *shlex.split(options.options), "-o", program, *names]).returncode


def build(names: list[str], options: argparse.Namespace, program: Path) -> int:
    if program.is_dir():
        fail(f"FILE: {names[0]} and the folder {Path(names[0]).with_suffix('')} have one name in {program.parent}; give one another name")
    try:
        program.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        fail(f"FILE: the folder {Path(names[0]).parent} and a program have one name in {program.parent.parent}; give one another name")
    status = (build_for_simulator if options.libraries else build_for_gpu)(names, options, program)
    if status == 0:
        print(f"built: {program}", flush=True)
    return status


def run(program: Path, options: argparse.Namespace) -> int:
    """Runs it with ARGS, then prints its counters, if there are any. Returns its exit status."""
    arguments = words("ARGS")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(os.environ.setdefault("SIM_COUNTERS", f"{folder}/counters.csv"))
        status = subprocess.run([program, *arguments]).returncode
        if options.libraries:
            print(counters_table.of(path))
    if status < 0:
        print(f"{program}: {signal.Signals(-status).name}", file=sys.stderr)
    return status if status >= 0 else 128 - status


def main() -> None:
    parser = Parser(description=__doc__)
    parser.add_argument("what", choices=["check", "build", "run"], help="look at FILE, FLAGS and ARGS only; build; build and run with ARGS")
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--options", required=True, help="of nvcc, for the device")
    parser.add_argument("--libraries", help="the simulator's; without them the program is for a GPU")
    parser.add_argument("--folder", type=Path, required=True, help="where programs go")
    parser.add_argument("--show", action="store_true", help="show the compiler's lines")
    options = parser.parse_args()
    names, _, _ = files(), flags(), words("ARGS")
    program = program_of(names[0], options.folder)
    status = 0 if options.what == "check" else build(names, options, program)
    sys.exit(run(program, options) if options.what == "run" and status == 0 else status)


if __name__ == "__main__":
    main()
