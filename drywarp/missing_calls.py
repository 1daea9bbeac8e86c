"""Why a program cannot be linked: the calls that the simulator lacks, and duplicate definitions, in lines that a learner can act on."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator

# NVIDIA's libraries: the prefix of their calls, their name, and the alternative without a GPU.
LIBRARIES = {"cublas": ("cuBLAS", "a library for the CPU, such as OpenBLAS"), "cufft": ("cuFFT", "a library for the CPU, such as FFTW"),
             "curand": ("cuRAND's host calls", "curand_kernel.h in your kernels, which works"),
             "cusparse": ("cuSPARSE", "a library for the CPU, such as Eigen"), "cusolver": ("cuSOLVER", "a library for the CPU, such as LAPACK"),
             "cudnn": ("cuDNN", "a library for the CPU, such as oneDNN"), "nccl": ("NCCL", "MPI between processes"),
             "npp": ("NPP", "a library for the CPU, such as OpenCV")}
DEVICE_RUNTIME = "cuda_device_runtime"  # part of the name of what launches kernels from kernels


def library_of(name: str) -> str | None:
    """The prefix of the library to which a call or a header belongs; None for others."""
    return next((prefix for prefix in LIBRARIES if name.startswith(prefix)), None)


def about_library(prefix: str, how: str) -> str:
    name, instead = LIBRARIES[prefix]
    if prefix in ("cublas", "curand"):
        return f"the simulator has the usual calls of {name}, in simulator/libraries/include, but not all ({how}): write the kernel yourself, or use {instead}"
    return f"the simulator has no {name} ({how}): write the kernel yourself, or use {instead}"


def undefined_in(file: str) -> set[str]:
    """The undefined names of an object or a library."""
    found = subprocess.run(["nm", "-u", file], capture_output=True, text=True)
    return {line.split()[-1] for line in found.stdout.splitlines() if line.startswith(" ")}


def defined_in(file: str) -> set[str]:
    """The names that an object or a library defines."""
    found = subprocess.run(["nm", "-g", "--defined-only", file], capture_output=True, text=True)
    return {line.split()[-1] for line in found.stdout.splitlines() if len(line.split()) == 3}


def demangled(name: str) -> str:
    return subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip() or name


def line_about(name: str, where: str) -> str:
    if DEVICE_RUNTIME in name:
        return "the simulator launches kernels from kernels itself: link the device code without NVIDIA's part, nvcc -dlink -cudadevrt none"
    if name.startswith(("cuda", "__cuda")):
        return f"the simulator has no {name}{where}"
    if re.match(r"cu[A-Z]", name):
        return f"the simulator has no {name}{where}; simulator/covers.md lists the calls of the driver that it has"
    return f"undefined: {demangled(name)}{where}: is a file missing in FILE, or a library in FLAGS?"


def lines_about(names: Iterable[str], objects: dict[str, str]) -> list[str]:
    """One line for each undefined name, and one for all of a library. objects: the object of each source, or {} if the callers are unknown."""
    undefined = {source: undefined_in(file) for source, file in objects.items()}
    of_library: dict[str, tuple[list[str], dict[str, None]]] = {}
    lines = []
    for name in names:
        sources = [source for source, wanted in undefined.items() if name in wanted]
        library = library_of(name)
        if library:
            calls, callers = of_library.setdefault(library, ([], {}))
            calls.append(name)
            callers.update(dict.fromkeys(sources))
        else:
            lines.append(line_about(name, f" (called in {', '.join(sources)})" if sources else ""))
    for prefix, (calls, callers) in of_library.items():
        lines.append(about_library(prefix, ", ".join(calls) + (f", called in {', '.join(callers)}" if callers else "")))
    return list(dict.fromkeys(lines))


def lines_about_twins(names: Iterable[str], objects: dict[str, str]) -> Iterator[str]:
    """One line for all names that the same files define. objects: the object of each source."""
    defined = {source: defined_in(file) for source, file in objects.items()}
    of_files: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        of_files.setdefault(tuple(source for source, has in defined.items() if name in has), []).append(name)
    for sources, twins in of_files.items():
        said = " and ".join(demangled(name) for name in twins if "__device_stub_" not in name)
        advice = "a program has one main: leave a file out of FILE" if "main" in twins else "rename one, or declare it static"
        yield f"{' and '.join(sources)} define the same: {said}; {advice}"
