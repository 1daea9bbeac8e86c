#!/usr/bin/env python3
"""Puts the simulator's WebAssembly into the script that a page runs it with, beside a hash of the sources that it was built from."""

import base64
import hashlib
import sys
from pathlib import Path

from scripts import files

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "simulator/page/simulator.js"
# What the page's simulator is made of: mk/stage.mk.
FOLDERS = ["base", "front", "machine", "checker", "runtime/work", "page"]


def sources():
    """A hash of all sources; of the floors that a page has not, none."""
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
    text = text.replace("@MACHINE_CODE@", base64.b64encode(Path(machine_code).read_bytes()).decode()).replace("@SOURCES@", sources())
    with files.whole(script) as file:
        file.write(text)
    print(f"{script}: {len(text)} bytes")


if __name__ == "__main__":
    main()
