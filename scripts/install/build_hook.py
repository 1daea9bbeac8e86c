"""hatchling's build hook for drywarp: compiles what the package reads at run time, and puts it into the wheel.

A wheel is built in a copy of the sources, in build/wheels, so that the clone's own build stays as it is. By default gcc compiles it, and the wheel's tag names this
machine's glibc. DRYWARP_TARGET=x86_64 or aarch64 compiles it with Zig for that processor and for glibc 2.28 (make wheels)."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from scripts.install import contents  # noqa: E402

HEADERS = ["nvidia-cuda-runtime==13.0.*", "nvidia-cuda-crt==13.0.*"]
COMPILER = "ziglang==0.17.*"
GLIBC = "2.28"  # of Debian 10, Ubuntu 18.10 and Red Hat 8
TARGET = os.environ.get("DRYWARP_TARGET", "")
BASELINES = {"x86_64": "x86-64-v2"}  # the oldest processor of a wheel; faster code is chosen at run time (simulator/machine/ops/lanes.h)


def is_source_archive() -> bool:
    return (ROOT / "PKG-INFO").exists()


def make(folder: Path, *words: str) -> None:
    """Runs make there, with nothing of pip's environment; its output goes to stderr."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "DESTDIR", "PYTHONPATH")}
    made = subprocess.run(["make", "-s", *words], cwd=folder, env=environment, stdout=sys.stderr)
    if made.returncode != 0:
        sys.exit(f"drywarp: make {words[0]} ended with status {made.returncode}")


def headers() -> Path:
    """CUDA's headers, which pip has installed for this build."""
    folders = [Path(folder) / "nvidia/cu13/include" for folder in sys.path]
    return next((folder for folder in folders if (folder / "cuda_runtime_api.h").exists()), None) or sys.exit(f"drywarp: the build needs {' and '.join(HEADERS)}")


def compilers(folder: Path) -> list[str]:
    """make's variables for the compiler and the processor. folder: for Zig's cache, and scripts that call it."""
    processor = BASELINES.get(TARGET or platform.machine(), "")
    if not TARGET:
        return [f"PROCESSOR={processor}"]
    folder.mkdir(parents=True, exist_ok=True)
    # After make's own, so that -Wall does not turn these warnings on again.
    flags = f"-target {TARGET}-linux-gnu.{GLIBC} -fno-sanitize=all -Wno-unknown-warning-option -Wno-unknown-pragmas -Wno-bitwise-instead-of-logical -Wno-uninitialized-const-pointer"
    for name in ("cc", "c++", "ar"):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR="{folder}/cache" ZIG_LOCAL_CACHE_DIR="{folder}/cache"\n'
                          f'PYTHONPATH="{os.pathsep.join(sys.path)}" exec "{sys.executable}" -m ziglang {name} "$@" {flags if name != "ar" else ""}\n')
        script.chmod(0o755)
    return [f"CC={folder}/cc", f"CXX={folder}/c++", f"AR={folder}/ar", f"PROCESSOR={processor.replace('-', '_')}"]


def platform_tag() -> str:
    if TARGET:
        return f"manylinux_{GLIBC.replace('.', '_')}_{TARGET}"
    library, version = platform.libc_ver()
    return f"{'manylinux_' + version.replace('.', '_') if library == 'glibc' else 'linux'}_{platform.machine()}"


class NativeFiles(BuildHookInterface):
    def dependencies(self) -> list[str]:
        return [*HEADERS, *([COMPILER] if TARGET else [])] if self.target_name == "wheel" else []

    def initialize(self, version: str, build_data: dict) -> None:
        """Called before files are collected. version: standard or editable."""
        if self.target_name == "wheel" and version == "editable":
            make(ROOT, "native")
            return
        if not is_source_archive():
            make(ROOT, "stage")
        if self.target_name == "wheel":
            self.add_native_files(ROOT / "build/wheels" / (TARGET or "here"), build_data)

    def add_native_files(self, folder: Path, build_data: dict) -> None:
        copy = folder / "sources"
        for name in contents.SOURCES:
            if (ROOT / name).is_dir():
                shutil.rmtree(copy / name, ignore_errors=True)
                shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "programs"))
            else:
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
        # pip's folder has another name in each build, and make compiles everything again if its name changes.
        shutil.copytree(headers(), folder / "include", dirs_exist_ok=True)
        make(copy, "native", "NVCC=", "BY_HEADERS=1", f"CUDA_HEADERS={folder}/include", *compilers(folder))
        build_data["force_include"].update({str(file): name for name, file in contents.native_files(copy).items()})
        build_data["shared_data"][str(copy / contents.MANUAL)] = "share/man/man1/drywarp.1"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"
