"""One run of a program under the checker: its findings and its status. Warnings count as errors."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

NO_END = "no end"


def run(program, arguments, settings, folder, seconds, said=subprocess.DEVNULL):
    """The kinds of findings of one run, and its status as text, or NO_END. Its output goes to the file `said`.

    timeout(1) enforces the time limit: it also kills the program's children, and works if this process has been killed."""
    with tempfile.TemporaryDirectory() as directory:
        path, begun = Path(directory) / "findings.json", time.monotonic()
        status = subprocess.run(["timeout", "-s", "KILL", str(seconds), program, *arguments], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                                cwd=folder, env=os.environ | settings | {"SIM_FINDINGS": str(path), "SIM_STRICT": "1"}).returncode
        kinds = {found["kind"] for found in json.loads(path.read_text())["findings"]} if path.exists() else set()
    return kinds, NO_END if time.monotonic() - begun >= seconds else str(status)
