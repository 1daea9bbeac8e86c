#!/usr/bin/env python3
"""Inserts the simulator's WebAssembly into the script that runs it in a page, with a hash of its sources."""

import base64
import gzip
import hashlib
import sys
from pathlib import Path

from drywarp import files

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "simulator/page/simulator.js"
# The folders of the page's simulator, as in mk/stage.mk.
FOLDERS = ["base", "compiler", "front", "machine", "checker", "runtime/work", "page"]


def sources():
    """A hash of the sources, without the layers that a page does not need."""
    paths = [path for folder in FOLDERS for path in (ROOT / "simulator" / folder).rglob("*") if path.suffix in (".c", ".h", ".js")]
    whole = hashlib.sha256()
    for path in [*sorted(paths), ROOT / "mk/stage.mk"]:
        whole.update(f"{path.relative_to(ROOT)} {path.stat().st_size}\n".encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: stage.py MACHINE_CODE.wasm SCRIPT.js")
    machine_code, script = sys.argv[1:]
    text = SCRIPT.read_text(encoding="utf-8")
    compressed = gzip.compress(Path(machine_code).read_bytes(), mtime=0)
    text = text.replace("@MACHINE_CODE@", base64.b64encode(compressed).decode()).replace("@SOURCES@", sources())
    with files.whole(script) as file:
        file.write(text)
    print(f"{script}: {len(text)} bytes")


if __name__ == "__main__":
    main()
