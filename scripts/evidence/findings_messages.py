#!/usr/bin/env python3
"""Runs the mistakes that docs/findings.md shows, and keeps what the simulator says of each: make findings.

findings_messages.py FOLDER   in which make sim has built the programs"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "plots"))
import tables


def main():
    tables.MESSAGES.mkdir(exist_ok=True)
    for name in tables.shown_mistakes():
        source = tables.MISTAKES / f"{name}.cu"
        settings = dict(re.findall(r"^// with: (\w+)=(.*)$", source.read_text(encoding="utf-8"), re.M))
        run = subprocess.run([Path(sys.argv[1]) / name], capture_output=True, text=True, env=os.environ | settings, cwd=ROOT)
        if run.returncode != 88:
            sys.exit(f"findings_messages.py: {name}: exit status {run.returncode}, not 88")
        (tables.MESSAGES / f"{name}.txt").write_text(tables.kept_message(run.stderr), encoding="utf-8")


if __name__ == "__main__":
    main()
