#!/usr/bin/env python3
"""The change that makes a step, and the reader's own edit of it.

edits.py diff NN [LAB]   shows, in colour on a terminal, what makes step NN out of the step before it; then the reader's own edit of step NN
edits.py undo NN [LAB]   takes back the edits of step NN, and of no other: its program, page and picture are as they were committed

The steps are those of the ladder that the environment's LADDER names, or of a lab."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.ladder import labs

ROOT = Path(__file__).resolve().parents[2]


def refuse(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)


def place(command, lab):
    """The folder of the steps, and what make calls it."""
    if not lab:
        ladder = os.environ.get("LADDER", "reduce")
        return (ROOT, "") if ladder == "reduce" else (ROOT / ladder, f"LADDER={ladder} ")
    if lab not in labs.labs():
        refuse(f"{command}: LAB='{lab}' is no lab; there are {' '.join(labs.labs())}, as in: make {command} LAB=rowscale STEP=01")
    return ROOT / "labs" / lab, f"LAB={lab} "


def chosen(command, number, lab):
    """The folders of all steps, the place of the one of this number among them, and what make calls the ladder."""
    folder, named = place(command, lab)
    steps = sorted(folder.glob("step[0-9][0-9]_*"))
    numbers = [step.name[4:6] for step in steps]
    if re.fullmatch("[0-9]", number):
        refuse(f"{command}: steps have two digits, as in: make {command} {named}STEP=0{number}")
    first, what = (1, "step with one before it") if command == "diff" else (0, "step")
    if number not in numbers[first:]:
        refuse(f"{command}: STEP='{number}' is no {what}; there are {numbers[first]} to {numbers[-1]}, as in: make {command} {named}STEP={numbers[-1]}")
    return steps, numbers.index(number), named


def program(step):
    """The program of a step, as a path in the repository."""
    return next(path for ending in ("cu", "c") for path in sorted(step.glob(f"*.{ending}"))).relative_to(ROOT)


def committed(path):
    """Its text without the reader's edits, where git knows the file."""
    found = git("show", f"HEAD:./{path}")
    return (ROOT / path).read_text(encoding="utf-8") if found.returncode else found.stdout


def show_difference(before, after, *labels):
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, side) for side in ("before", "after")]
        for file, text in zip(files, (before, after)):
            file.write_text(text, encoding="utf-8")
        colour = "always" if sys.stdout.isatty() else "never"
        subprocess.run(["diff", "-u", f"--color={colour}", *(f"--label={label}" for label in labels), *files])


def diff(steps, k, named):
    before, after = program(steps[k - 1]), program(steps[k])
    show_difference(committed(before), committed(after), before, after)
    own = (ROOT / after).read_text(encoding="utf-8")
    if own != committed(after):
        step = steps[k].relative_to(ROOT)
        print(f"\nYour edit of {step} (make undo {named}STEP={steps[k].name[4:6]} takes it back):", flush=True)
        show_difference(committed(after), own, f"{after} as it was", after)


def undo(steps, k, _):
    step = steps[k].relative_to(ROOT)
    if git("rev-parse", "--quiet", "--verify", "HEAD").returncode:
        refuse("undo: this folder is no git checkout, so there is nothing to take it back to")
    if not git("diff", "--quiet", "HEAD", "--", step).returncode:
        print(f"{step} is as in the last commit; there is nothing to undo")
        return
    print(git("--no-pager", "diff", "--stat", "HEAD", "--", step).stdout, end="")
    back = git("checkout", "--quiet", "HEAD", "--", step)
    if back.returncode:
        sys.exit(back.stderr.rstrip("\n"))
    print(f"{step} is as it was again")


def main():
    commands = {"diff": diff, "undo": undo}
    if sys.argv[1:] == ["--help"]:
        print(__doc__)
    elif len(sys.argv) not in (3, 4) or sys.argv[1] not in commands:
        refuse("usage: edits.py diff|undo NN [LAB] (make diff and make undo name them)")
    else:
        command, number, *lab = sys.argv[1:]
        commands[command](*chosen(command, number, "".join(lab)))


if __name__ == "__main__":
    main()
