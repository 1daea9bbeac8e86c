#!/usr/bin/env python3
"""One Try of a lesson: shows its change, asks for a prediction, runs the step without and with it, and prints the page's answer.

Prediction and result become a row of a CSV. The change is made in a copy under build/."""

import argparse
import csv
import datetime
import difflib
import fcntl
import io
import os
import re
import sys
from pathlib import Path

from drywarp import execute
from scripts.ladder import before_after, labs, tries

ROOT = tries.ROOT
# changed_program: faster, slower, same, wrong; right if nothing was timed; not finished.
COLUMNS = ["time", "step", "try", "diff", "device", "elements", "unit", "prediction", "changed_program", "before", "after", "status"]
WORDS = ("faster", "slower", "same", "wrong")
INSTRUCTIONS = "warp_instructions"  # the unit of a predicted number without times


def refuse(message):
    print(f"make try: {message}", file=sys.stderr)
    sys.exit(2)


# ---- Which Try

def folder_of(ladder, lab, number):
    """The step, as tries.py names it; exits if there is none."""
    if lab and lab not in labs.labs():
        refuse(f"LAB='{lab}' is no lab; there are {', '.join(labs.labs())}, as in: make try LAB=rowscale STEP=00 TRY=1")
    place = f"labs/{lab}/" if lab else "" if ladder == "reduce" else f"{ladder}/"
    steps = {path.name[4:6]: place + path.name for path in sorted(ROOT.glob(f"{place}step[0-9][0-9]_*/"))}
    if number not in steps:
        named = f"LAB={lab} " if lab else "" if ladder == "reduce" else f"LADDER={ladder} "
        refuse(f"STEP='{number}' is no step; there are {' '.join(steps)}, as in: make try {named}STEP={list(steps)[-1]} TRY=1")
    return steps[number]


def section(step):
    """The section "Try" of the step's page."""
    return (ROOT / step / "README.md").read_text(encoding="utf-8").partition("\n## Try")[2]


def number_of(step, text):
    """The number of a Try with a diff; exits if there is none."""
    last = len(tries.tries(step))
    there = f"those with a diff are {' '.join(map(str, range(1, last + 1)))}"
    if text.isdecimal() and 1 <= int(text) <= last:
        return int(text)
    if re.fullmatch("[1-9][0-9]*", text) and f"\n**{text}. " in section(step):
        refuse(f"Try {text} of {step} has no diff: you write the change yourself; {there}")
    refuse(f"TRY='{text}' is no Try of {step}; {there}")


def question_and_answer(step, number):
    """The page's text before a Try's diff, and its answer."""
    text = section(step)
    question = re.search(rf"^(\*\*{number}\. .*?)^```diff", text, re.M | re.S)
    answer = re.compile(r"<summary>Answer</summary>\n(.*?)</details>", re.S).search(text, question.end())
    return question[1].strip(), re.sub(r"^<!-- .* -->\n", "", answer[1], flags=re.M).strip()


def patch(step, number):
    """The Try as a diff of the current program, including the learner's edits, in the format of git apply."""
    source = tries.source_of(step)
    name = source.relative_to(ROOT)
    before, after = source.read_text(encoding="utf-8"), tries.changed(step, number)
    return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}"))


# ---- The prediction

def prediction(text):
    """A typed prediction in the form in which it is kept; None if it is invalid."""
    text = text.strip().lower()
    if re.fullmatch(r"\d{1,3}(,\d{3})+", text):  # the format of the table
        return text.replace(",", "")
    if text in ("", *WORDS) or re.fullmatch(r"\d+(\.\d+)?", text):
        return text
    return None


def asked(unit):
    """The learner's prediction; '' if there is none."""
    choice = f"a number ({unit} after the change), {', '.join(WORDS[:-1])} or {WORDS[-1]}"
    print(f"What do you predict? {choice}; Enter skips: ", end="", flush=True)
    for line in sys.stdin:
        if prediction(line) is not None:
            return prediction(line)
        print(f"'{line.strip()}' is none of: {choice}; again: ", end="", flush=True)
    print()
    return ""


def ready(path):
    """Creates the file of predictions if necessary; exits, before asking, if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError as error:
        refuse(f"{path} cannot be written: {error.strerror}")


def keep(path, row):
    """Appends a row, to an empty file with the header, in a single write: if killed, it leaves whole rows."""
    with open(path, "ab+", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        before = file.read()
        lines = io.StringIO("" if before.endswith(b"\n") or not before else "\n")  # a full disk may have cut the last row
        lines.seek(0, os.SEEK_END)
        csv.writer(lines, lineterminator="\n").writerows([row] if before else [COLUMNS, row])
        file.write(lines.getvalue().encode())


# ---- The result

def on_the_gpu(row):
    """The Try's result on the GPU of the course, as (word, what was measured); None if it was not measured."""
    lab = re.match(r"labs/([^/]+)/", row["step"])
    table = ROOT / (f"plots/h200/labs/{lab[1]}-tries.csv" if lab else "scan/h200/tries.csv" if row["step"].startswith("scan/") else "plots/h200/tries.csv")
    try:
        with open(table, newline="", encoding="utf-8") as file:
            measured = [one for one in csv.DictReader(file) if (one["step"].split("/")[-1], one["try"], one["diff"])
                        == (row["step"].split("/")[-1], str(row["try"]), row["diff"])]
        before, after = (float(measured[0][side]) for side in ("before_ms", "after_ms"))
    except (OSError, KeyError, IndexError, ValueError):
        return None
    return before_after.compared(before, after), f"{before:.4f} ms before, {after:.4f} ms after"


def comparison(predicted, outcome, unit, after, gpu=None):
    """Compares a prediction with the result, in one line. gpu: of on_the_gpu(), if nothing was timed here."""
    if not predicted:
        return "No prediction was made."
    if predicted[0].isdigit():
        what = f"{after[unit]:,} {unit.replace('_', ' ')}" if unit in after else outcome
        return f"You predicted {predicted} {unit.replace('_', ' ')}; it was: {what}."
    if outcome == "right" and predicted != "wrong":
        if not gpu:
            return f"You predicted {predicted}. The result stays correct; nothing was timed here, so this run cannot confirm your prediction."
        return f"Your prediction was {'right' if predicted == gpu[0] else 'wrong'}: you predicted {predicted}; on an H200 it is {gpu[0]} ({gpu[1]})."
    verdict = "Your prediction was right" if predicted == outcome else "Your prediction was wrong"
    return f"{verdict}: you predicted {predicted}; {'the result stays correct' if outcome == 'right' else f'it was {outcome}'}."


def try_it(step, number, options, row):
    """Builds, runs and shows both programs; fills the row."""
    unit, simulated = row["unit"], row["unit"] == INSTRUCTIONS
    row["elements"] = size = before_after.size_for(step, number, options)
    before, after = before_after.measured(before_after.built(step, number, options), step, size, tries.columns(step)[number - 1], options, simulated)
    row |= {"changed_program": before_after.outcome_of(before, after), "status": after.outcome.status,
            "before": before.figures.get(unit, ""), "after": after.figures.get(unit, "")}
    print(f"\n{step}, Try {number}" + (f", {size} elements" if size else "") + (", simulated: counts of PTX instructions, not of the GPU's machine code" if simulated else ""))
    print(*before_after.table(before, after), sep="\n")
    print(comparison(row["prediction"], row["changed_program"], unit, after.figures, on_the_gpu(row)))


def new_row(step, number, simulated):
    """The initial row, before the question and the runs."""
    source = tries.source_of(step)
    on_simulator = labs.runs_simulated(source, simulated)
    return dict.fromkeys(COLUMNS, "") | {
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "step": step, "try": number,
        "diff": tries.digest(tries.tries(step)[number - 1][0]), "device": "simulator" if on_simulator else "cpu" if source.suffix == ".c" else "gpu",
        "unit": INSTRUCTIONS if on_simulator else "ms", "changed_program": "not finished"}


def arguments():
    """The options that make passes; exits if N or TIME_LIMIT is no number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("ladder", "reduce"), ("lab", ""), ("step", ""), ("try", ""), ("elements", ""), ("usual", ""), ("time-limit", "300"),
                        ("build", "make -s"), ("nvcc", "nvcc"), ("compiler", "nvcc -O3 -arch=native"), ("libraries", "")):
        parser.add_argument(f"--{name}", default=usual)
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--output", type=Path, default=Path("results/predictions.csv"))
    options = parser.parse_args()
    for value, what in ((options.elements or "1", "N"), (options.time_limit, "TIME_LIMIT")):
        if not re.fullmatch("[1-9][0-9]{0,17}", value):
            refuse(f"{what}='{value}' is no whole number of 1 or more, in digits")
    options.time_limit = int(options.time_limit)
    return options


def main():
    options = arguments()
    step = folder_of(options.ladder, options.lab, options.step)
    number = number_of(step, getattr(options, "try"))
    obstacle = tries.is_of_a_lab(step) and labs.obstacle(tries.source_of(step), options.simulated, options.nvcc)
    if obstacle:
        refuse(f"{step} cannot be built here: {obstacle}")
    ready(options.output)
    question, answer = question_and_answer(step, number)
    print(f"{question}\n\n{patch(step, number)}", flush=True)
    row = new_row(step, number, options.simulated)
    try:
        row["prediction"] = asked(row["unit"].replace("_", " "))
    except KeyboardInterrupt:  # a way to leave the question, not an error
        print("\nmake try: nothing was run, and nothing is kept")
        return
    try:
        try_it(step, number, options, row)
    finally:
        keep(options.output, row.values())
    print(f"\nThe page's answer:\n\n{answer}\n\nkept: {options.output}")


if __name__ == "__main__":
    execute.run_main(main, "make try: interrupted")
