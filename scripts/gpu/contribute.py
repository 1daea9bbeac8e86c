#!/usr/bin/env python3
"""Checks the results of make contribute, and writes them and a page about the GPU into a folder of plots/.

contribute.py name [NAME]                     prints the folder's name, before anything is measured
contribute.py write FOLDER FIRST SECOND       writes the folder from two results of make run-all, in FIRST and SECOND, and of make sweep, in FIRST"""

import argparse
import csv
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from drywarp.errors import Parser, fail
from scripts.ladder import sweep

ROOT = Path(__file__).resolve().parents[2]
PLOTS = ROOT / "plots"
ELEMENTS = str(2**26)
SENT = "run-all.csv", "run-all.txt", "sweep.csv"
UNEQUAL = 5  # per cent: smaller differences are noise (docs/measuring.md)
ASKED = {"power.limit": "power limit", "power.default_limit": "default power limit", "clocks.max.sm": "maximum SM clock", "display_active": "display attached"}


def asked(question):
    """nvidia-smi's answer about the first GPU, or 'unknown'."""
    try:
        answer = subprocess.run(["nvidia-smi", "-i", "0", f"--query-gpu={question}", "--format=csv,noheader"], capture_output=True, text=True)
    except OSError:
        return "unknown"
    return answer.stdout.strip() if answer.returncode == 0 and answer.stdout.strip() else "unknown"


# ---- The folder's name

def folder_named(device):
    """rtx-4090 for NVIDIA GeForce RTX 4090."""
    words = re.findall(r"[a-z0-9]+", device.lower())
    return "-".join(word for word in words if word not in ("nvidia", "geforce"))


def choose(name):
    """The folder's name, which must be new; checked before the long measurement."""
    device = asked("name")
    if device == "unknown" and not name:
        fail("nvidia-smi does not report this GPU's name; name the folder, as in: make contribute NAME=rtx-4090")
    chosen = name or folder_named(device)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", chosen):
        fail(f"NAME='{chosen}' is not a valid folder name: use lower-case letters, digits and dashes, as in: make contribute NAME=rtx-4090")
    if (PLOTS / chosen).exists():
        fail(f"plots/{chosen} already exists; choose another name, as in: make contribute NAME={chosen}-laptop")
    return chosen


# ---- Checks

def rows_of(path):
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path} cannot be read: {error}")


def passed(rows):
    return {row["step"]: row for row in rows if row.get("status") == "PASS"}


def check_whole(runs, sweep_rows):
    """Exits if a step or a size is missing."""
    steps = {path.parent.name for path in ROOT.glob("*/reduce.cu")}
    lacking = steps - {row["step"] for row in runs}
    if lacking:
        fail(f"the first run has no row for {', '.join(sorted(lacking))}")
    done = {(row["elements"], row["step"]) for row in sweep_rows}
    sizes = [n for n in sweep.SIZES for step in steps if sweep.is_run(step, n) and (str(n), step) not in done]
    if sizes:
        fail(f"the sweep lacks rows for n = {sizes[0]}: run make contribute again to resume it")


def checked(first, second):
    """The passed rows of both runs, by step. Exits if the results are not valid."""
    sweep_rows = rows_of(first / "sweep.csv")
    runs = [passed(rows_of(folder / "run-all.csv")) for folder in (first, second)]
    if not all(runs):
        fail(f"no step passed in {first} or in {second}: make run-all shows why")
    check_whole(rows_of(first / "run-all.csv"), sweep_rows)
    devices = {row["device"] for rows in (*(run.values() for run in runs), passed(sweep_rows).values()) for row in rows}
    if len(devices) != 1:
        fail(f"the results must be from exactly one GPU, but are from: {', '.join(sorted(devices))}")
    if {row["elements"] for run in runs for row in run.values()} != {ELEMENTS}:
        fail(f"GPUs are compared at n = {ELEMENTS}, but these results have another n")
    for row in (row for run in runs for row in run.values()):
        if 0 < float(row["peak_gb_per_s"]) < float(row["gb_per_s"]):
            fail(f"{row['step']} exceeds the GPU's peak bandwidth, which is impossible: {row['gb_per_s']} of {row['peak_gb_per_s']} GB/s")
    return runs


def farthest(first, second):
    """The step whose two runs differ most, and the difference in per cent."""
    apart = {step: 100 * abs(float(second[step]["median_ms"]) / float(first[step]["median_ms"]) - 1) for step in first if step in second}
    if not apart:
        fail("no step passed in both runs")
    step = max(apart, key=apart.get)
    return step, apart[step]


# ---- The page

def git(*words):
    """git's output; empty if git or the checkout is missing."""
    if not shutil.which("git"):
        return ""
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout.rstrip()


def source():
    """The commit of the course, and the programs or harness files changed since; unknown in an unpacked archive, also inside another repository."""
    commit = git("rev-parse", "--short", "HEAD")
    if not commit or Path(git("rev-parse", "--show-toplevel")).resolve() != ROOT:
        return "unknown"
    changed = [line[3:] for line in git("status", "--porcelain", "--", "step*", "reference_cub", "drywarp", "scripts/ladder", "mk/compile.mk").splitlines()]
    return f"{commit}, {'changed since: ' + ', '.join(changed) if changed else 'unchanged'}"


def page(device, rows, run, apart, about):
    failed = dict.fromkeys(f"{row['step']} ({row['status']})" for row in rows if row["status"] != "PASS")
    best = max(run.values(), key=lambda row: float(row["gb_per_s"]))
    facts = [("GPU", device), *(line.split(": ", 1) for line in about.splitlines() if line.startswith(("date: ", "driver: ", "toolkit: "))), ("commit", source()),
             *((words, asked(question)) for question, words in ASKED.items()),
             ("fastest", f"{best['step']}, {float(best['gb_per_s']):,.0f} of {float(best['peak_gb_per_s']):,.0f} GB/s"),
             ("failed", ", ".join(failed) or "none"),
             ("second run", f"largest difference from the first: {apart[0]}, {apart[1]:.1f} %")]
    table = "\n".join(f"| {what} | {fact} |" for what, fact in facts)
    return (f"# {device}\n\n`make contribute` wrote this page and measured the files in this folder.\n\n| | |\n| --- | --- |\n{table}\n\n"
            "Please fill in:\n\n- desktop, laptop, server or cloud: \n- fixed clocks or another power limit, if any: \n\n"
            "[How GPUs are compared](../../docs/gpus.md) · [Glossary](../../docs/words.md)\n")


def write(folder, first, second):
    runs = checked(first, second)
    apart = farthest(*runs)
    rows = rows_of(first / "run-all.csv") + rows_of(first / "sweep.csv")
    device = next(iter(runs[0].values()))["device"]
    about = (first / "run-all.txt").read_text(encoding="utf-8") if (first / "run-all.txt").exists() else fail(f"{first}/run-all.txt is missing")
    with tempfile.TemporaryDirectory(prefix=".contribution-", dir=folder.parent) as unfinished:
        whole = Path(unfinished) / folder.name
        whole.mkdir()
        for name in SENT:
            shutil.copyfile(first / name, whole / name)
        (whole / "README.md").write_text(page(device, rows, runs[0], apart, about), encoding="utf-8")
        try:
            whole.rename(folder)
        except OSError as error:
            fail(f"{folder} cannot be written: {error.strerror}")
    print(f"written: {folder}, of this {device}; the two runs differ by at most {apart[1]:.1f} % ({apart[0]})")
    if apart[1] > UNEQUAL:
        print(f"that is more than {UNEQUAL} %: did another program use the GPU? Remove {folder} and measure again, or explain the difference in its README")
    print(f"next: make compare A=plots/h200 B={folder}; fill in the two open lines of {folder}/README.md")
    print("then: make tables and make compare RESULTS=plots, which add this GPU to docs/gpus.md; then open a pull request with all changed files")


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    naming, writing = commands.add_parser("name"), commands.add_parser("write")
    naming.add_argument("name", nargs="?", default="")
    for word in ("folder", "first", "second"):
        writing.add_argument(word, type=Path)
    options = parser.parse_args()
    if options.command == "name":
        print(choose(options.name))
    else:
        write(options.folder, options.first, options.second)


if __name__ == "__main__":
    main()
