"""One run of a program under the checker: what it found, and how the program ended."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

NO_END = "no end"


def run(program, arguments, settings, folder, seconds, said=subprocess.DEVNULL):
    """The kinds of findings of one run, and its status as text, or NO_END. What it prints goes into the file said.

    The time limit is kept by timeout(1): it ends what the program has started, too, and does so where nobody waits for it any more."""
    with tempfile.TemporaryDirectory() as directory:
        path, begun = Path(directory) / "findings.json", time.monotonic()
        status = subprocess.run(["timeout", "-s", "KILL", str(seconds), program, *arguments], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                                cwd=folder, env=os.environ | settings | {"SIM_FINDINGS": str(path), "SIM_STRICT": "1"}).returncode
        kinds = {found["kind"] for found in json.loads(path.read_text())["findings"]} if path.exists() else set()
    return kinds, NO_END if time.monotonic() - begun >= seconds else str(status)
