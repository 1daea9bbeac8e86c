#!/usr/bin/env python3
"""Inserts the simulator's WebAssembly into the script that runs it in a page."""

import base64
import gzip
import sys
from pathlib import Path

from drywarp import files

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "simulator/page/simulator.js"

def main():
    if len(sys.argv) != 3:
        sys.exit("usage: stage.py MACHINE_CODE.wasm SCRIPT.js")
    machine_code, script = sys.argv[1:]
    text = SCRIPT.read_text(encoding="utf-8")
    compressed = gzip.compress(Path(machine_code).read_bytes(), mtime=0)
    text = text.replace("@MACHINE_CODE@", base64.b64encode(compressed).decode())
    with files.whole(script) as file:
        file.write(text)
    print(f"{script}: {len(text)} bytes")


if __name__ == "__main__":
    main()
