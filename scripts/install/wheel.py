"""The build backend of drywarp's wheel and source archive (PEP 517): packs the files that make install puts under a prefix.

The wheel is built in a copy of the clone, and runs on other machines, too. If there is no nvcc, the build uses the one from PyPI."""

import base64
import hashlib
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from drywarp import VERSION
from drywarp import compiler

ROOT = compiler.ROOT
COPIED = ("Makefile", "LICENSE", "mk", "scripts", "simulator", "drywarp", "book/player", "docs/findings.md")  # the inputs of make install
NAME = f"drywarp-{VERSION}"
METADATA = f"""Metadata-Version: 2.1
Name: drywarp
Version: {VERSION}
Summary: CUDA programs without a GPU: run, counted, and checked for races
License: MIT
Requires-Python: >=3.9
Provides-Extra: nvcc
"""
PROCESSOR = {"x86_64": "x86-64-v3"}.get(platform.machine(), "")  # with AVX2, common since 2013: without it the simulator takes twice as long
TAG = f"py3-none-linux_{platform.machine()}"


def toolkit():
    """The path of nvcc: from drywarp's search, from make toolkit in the clone, or from pip's build environment. None if there is none."""
    return compiler.find([ROOT / ".cuda/bin", *(f"{folder}/nvidia/cu13/bin" for folder in sys.path)])


def get_requires_for_build_wheel(config_settings=None):
    return [] if toolkit() else compiler.PACKAGES


def install(folder):
    """Runs make install into a folder."""
    copy = Path(folder) / "clone"
    for name in COPIED:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, copy / name)
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "DESTDIR")}
    made = subprocess.run(["make", "-s", "install", f"PREFIX={folder}/prefix", f"NVCC={toolkit()}", "TOOLKIT=", f"PROCESSOR={PROCESSOR}"],
                          cwd=copy, env=environment, stdout=sys.stderr)
    if made.returncode != 0:
        sys.exit(f"drywarp: make install ended with status {made.returncode}")
    return Path(folder) / "prefix"


def about():
    """The wheel's metadata files."""
    wanted = "".join(f"Requires-Dist: {package}; extra == 'nvcc'\n" for package in compiler.PACKAGES)
    return {"METADATA": METADATA + wanted, "LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
            "WHEEL": f"Wheel-Version: 1.0\nGenerator: drywarp\nRoot-Is-Purelib: false\nTag: {TAG}\n"}


def place(file):
    """The path of a file in the wheel: commands are separate, so that pip makes them executable."""
    return f"{NAME}.data/scripts/{file.name}" if file.parts[0] == "bin" else f"{NAME}.data/data/{file.as_posix()}"


def write(wheel, prefix):
    """Packs the files under the prefix, and their list with checksums."""
    contents = {place(path.relative_to(prefix)): (path.read_bytes(), path.stat().st_mode) for path in sorted(prefix.rglob("*")) if path.is_file()}
    contents |= {f"{NAME}.dist-info/{name}": (text.encode(), 0o100644) for name, text in about().items()}
    record = f"{NAME}.dist-info/RECORD"
    lines = [f"{record},,\n"]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, (content, mode) in contents.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}\n")
        packed.writestr(record, "".join(lines))


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = Path(metadata_directory) / f"{NAME}.dist-info"
    folder.mkdir()
    for name, text in about().items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{NAME}-{TAG}.whl"
    with tempfile.TemporaryDirectory() as folder:
        write(Path(wheel_directory) / name, install(folder))
    return name


def is_source(entry):
    return None if entry.name.endswith(("/__pycache__", ".pyc")) else entry


def build_sdist(sdist_directory, config_settings=None):
    """The source archive, from which the wheel can be built."""
    name = f"{NAME}.tar.gz"
    metadata = about()["METADATA"].encode()
    with tarfile.open(Path(sdist_directory) / name, "w:gz") as packed:
        for file in ("pyproject.toml", *COPIED):
            packed.add(ROOT / file, f"{NAME}/{file}", filter=is_source)
        entry = tarfile.TarInfo(f"{NAME}/PKG-INFO")
        entry.size = len(metadata)
        packed.addfile(entry, io.BytesIO(metadata))
    return name
