#!/usr/bin/env python3
"""Which of CUDA's calls the simulator has: the toolkit's headers beside the names in the library, as a CSV on stdout.

coverage_calls.py LIBRARY FOLDER: build/sim/libsimulator.a, and the folder with cuda_runtime_api.h and cuda.h."""

import csv
import re
import subprocess
import sys
from pathlib import Path

from drywarp import missing_calls

# Of each programming interface its header, and how a declaration in it begins.
INTERFACES = {"runtime": ("cuda_runtime_api.h", r"CUDARTAPI\s+(cuda[A-Z]\w*)\s*\("), "driver": ("cuda.h", r"CUDAAPI\s+(cu[A-Z]\w*)\s*\(")}
VERSION = re.compile(r"(_v\d+|_pt[sd][sz])+$")  # cuMemAlloc_v2 is cuMemAlloc to a program


def plain(names):
    return {VERSION.sub("", name) for name in names}


def had_by(library):
    """The calls that the library defines, without versions: those that work, and those that it always refuses (refused.c)."""
    listed = subprocess.run(["nm", "-A", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    found = re.findall(r":(\w+)\.o:\S+ T (cu(?:da)?[A-Z]\w*)", listed)
    return tuple(plain(name for file, name in found if (file == "refused") == refused) for refused in (False, True))


def main():
    if sys.argv[1:] == ["--help"]:
        print(__doc__)
        return
    if len(sys.argv) != 3 or not Path(sys.argv[1]).is_file() or not Path(sys.argv[2], "cuda.h").is_file():
        sys.exit(__doc__)
    works, refused = had_by(sys.argv[1])
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["interface", "call", "state"])
    for interface, (header, declaration) in INTERFACES.items():
        declared = plain(re.findall(declaration, Path(sys.argv[2], header).read_text(encoding="utf-8", errors="replace")))
        writer.writerows([interface, name, "works" if name in works else "refused" if name in refused else "absent"] for name in sorted(declared))
    writer.writerows(["library", name, "absent"] for name, _ in missing_calls.LIBRARIES.values() if name not in ("cuBLAS", "cuRAND's host calls"))


if __name__ == "__main__":
    main()
