"""nvcc for the simulator: with all of its options, except those that choose a GPU."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from drywarp import missing_calls, program
from drywarp.errors import fail
from drywarp.paths import ROOT

LIBRARIES = ROOT / "build/sim/lib"  # the simulator, by the names of NVIDIA's libraries: nvcc looks here first
OPTIONS = ROOT / "build/sim/options"  # nvcc's options for the simulator; make writes them
# The simulator accepts only one PTX target, and replaces the runtime.
WITH_VALUE = re.compile(r"--?(arch|gpu-architecture|gencode|generate-code|code|gpu-code|cudart|cudadevrt|compress-mode)(=.*)?")
ALONE = re.compile(r"--?(lineinfo|generate-line-info|no-compress|dlto|dlink-time-opt)")
MACHINE_CODE = re.compile(r"--?cubin")
# NVIDIA's libraries, as -l and as files, except those that the simulator has.
NEEDS_GPU = re.compile(rf"(?:-l|.*/lib)((?:{'|'.join(missing_calls.LIBRARIES.keys() - {'curand'})})\w*)(?:\.(?:so|a)[.\d]*)?")


def find(others: Iterable[str | Path]) -> str | None:
    """nvcc from $CUDA_HOME, the PATH, the default folder, or other folders; None if there is none. A link to drywarp-nvcc is not nvcc."""
    home = os.environ.get("CUDA_HOME")
    places = [*([f"{home}/bin"] if home else []), *os.get_exec_path(), "/usr/local/cuda/bin", *others]
    found = (shutil.which("nvcc", path=str(place)) for place in places)
    return next((path for path in found if path and Path(path).resolve().name != "drywarp-nvcc"), None)


def nvcc() -> str:
    """The compiler: nvcc as found, that of make toolkit, or that of PyPI's packages in this Python's environment."""
    found = find([ROOT / "toolkit/bin", ROOT / ".cuda/bin", *(Path(folder) / "nvidia/cu13/bin" for folder in sys.path)])
    return found or fail("nvcc was not found: install the CUDA toolkit (developer.nvidia.com/cuda-downloads) or set CUDA_HOME; "
                         "or, if pip has installed drywarp: pip install 'drywarp[nvcc]'")


def without_device(words: list[str]) -> list[str]:
    """nvcc's words without those that choose a GPU, the runtime or the form of machine code."""
    kept, rest = [], iter(words)
    for word in rest:
        match = WITH_VALUE.fullmatch(word)
        if match and not match[2]:
            next(rest, None)
        elif MACHINE_CODE.fullmatch(word):
            fail(f"{word} makes machine code, which only a GPU runs: -ptx and -fatbin make what runs here")
        elif not match and not ALONE.fullmatch(word):
            kept.append(word)
    return kept


def command(words: list[str]) -> list[str | Path]:
    """nvcc's command for the simulator. The user's options come first, except for libraries, of which the first one is linked."""
    own = [word for word in shlex.split(OPTIONS.read_text()) if word != "-lineinfo" or not {"-G", "--device-debug"} & set(words)]
    return [nvcc(), f"-L{LIBRARIES}", *own, *without_device(words), "-isystem", ROOT / "simulator/libraries/include"]


def say_missing(said: str) -> None:
    """A line for each call that NVIDIA's libraries have and the simulator lacks, after the linker's messages."""
    names = dict.fromkeys(re.findall(r"undefined reference to `(\w+)'", said))
    if any(name.startswith("cublas") for name in names):
        print("drywarp: cuBLAS is not installed with drywarp; where drywarp was made, make run has the usual calls", file=sys.stderr)
    others = [name for name in names if not name.startswith("cublas") and (re.match(r"cu[A-Z]|_*cuda", name) or missing_calls.library_of(name))]
    for line in missing_calls.lines_about(others, {}):
        print(f"drywarp: {line}", file=sys.stderr)


def needing_gpu(words: list[str]) -> list[str]:
    """NVIDIA's libraries among these words. If linked, they find no GPU and return errors that few programs check."""
    return [match[1] for match in map(NEEDS_GPU.fullmatch, words) if match]


def compile(words: list[str]) -> int:
    """Runs nvcc with these words, and returns its status. Kernels that launch kernels get -rdc=true automatically."""
    result = program.call(command(words), shown=False)
    if program.needs_device_link(result.stderr) and not program.wants_device_link(words):
        result = program.call(command([*words, "-rdc=true"]), shown=False)
    sys.stderr.write(result.stderr)
    if result.returncode != 0:
        say_missing(result.stderr)
    elif needing_gpu(words):
        print(f"drywarp: {', '.join(needing_gpu(words))}: of NVIDIA's, which finds no GPU here: its calls do nothing but return errors", file=sys.stderr)
    return result.returncode
