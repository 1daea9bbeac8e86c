#!/usr/bin/env python3
"""Draws the shared-memory banks that a warp accesses in each round, from a run of the programs on the simulator: picture.svg in each step's folder.

Build the programs first: make lab NAME=bankconflicts DEVICE=sim."""

import argparse
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "plots"))
from drawing import LEFT, Picture, count, save  # noqa: E402  (needs plots/ on the path)
from traced import WORD, first_run, intervals, needed, trace  # noqa: E402

FOLDER = Path(__file__).resolve().parent
BANKS, ELEMENTS, HIGH = 32, 256, 4  # ELEMENTS: of a block; HIGH: of a word's box


def run(step):
    """Runs a step with one block, and returns the block's trace."""
    passes = first_run(trace(ROOT / "build/sim/labs/bankconflicts" / step / "bankconflicts", ELEMENTS))
    number, _, name = step.removeprefix("step").partition("_")
    return SimpleNamespace(step=step, number=number, name=name, elements=ELEMENTS, block=0, rows=passes[0],
                           warps=1 + max(row.warp for row in passes[0]))


def words(row):
    return {address // WORD for address in row.addresses}


def wavefronts(row):
    """The wavefronts of a shared-memory access: the largest number of its words in one bank."""
    return max(Counter(word % BANKS for word in words(row)).values())


def conflicts(rows):
    return sum(wavefronts(row) - 1 for row in rows)


def rounds(one):
    """For each round, and for each warp that adds in it, the warp's accesses to shared memory."""
    parts = [[[row for row in rows if row.memory == "shared"] for rows in intervals(one, warp)] for warp in range(one.warps)]
    numbers = [number for number, rows in enumerate(parts[0]) if any(row.opcode.startswith("ld.") for row in rows) and number + 1 < len(parts[0])]
    return [[mine[number] for mine in parts if mine[number:number + 1] not in ([], [[]])] for number in needed(numbers, one, "adds in shared memory")]


def panel(picture, one, x, wide):
    """The words of shared memory, 32 to a row so that a column is a bank, once for each round; x: left edge, wide: width of a word."""
    used = {word for row in one.rows if row.memory == "shared" for word in words(row)}
    high = (max(used) // BANKS + 1) * HIGH
    picture.text(x, picture.y, "bank 0", "note")
    picture.text(x + BANKS * wide, picture.y, "bank 31", "note end")
    y = picture.y + 6
    for number, warps in enumerate(rounds(one), 1):
        first, rows = warps[0], [row for mine in warps for row in mine]
        places = {word: (x + word % BANKS * wide, y + word // BANKS * HIGH) for word in sorted(used)}
        picture.boxes("faint", [(*place, wide, HIGH - 1) for place in places.values()])
        for css, load in zip(("work", "other"), (row for row in first if row.opcode.startswith("ld."))):
            picture.boxes(css, [(*places[word], wide - 1, HIGH - 1) for word in sorted(words(load))])
        if x == LEFT:
            picture.label(y + high / 2, f"round {number}")
            picture.label(y + high / 2 + 13, count(len(warps), "warp"))
        most = max(map(wavefronts, first))
        picture.text(x + BANKS * wide + 6, y + high / 2, count(most, "wavefront"), "note")
        if conflicts(rows):
            picture.text(x + BANKS * wide + 6, y + high / 2 + 13, count(conflicts(rows), "conflict"), "note")
        y += 9 * HIGH + 10
    return y


def draw(before, now):
    """The figure of a step, with the previous step beside it, if there is one."""
    picture = Picture()
    totals = [conflicts(row for row in one.rows if row.memory == "shared") for one in (before, now) if one]
    compared = "" if not before else f", as in step {before.number}" if totals[0] == totals[1] else f", not {totals[0]}"
    picture.title(f"The banks that a warp accesses: {count(totals[-1], 'bank conflict')} in a block{compared}")
    picture.y += 30
    shown = [(now, LEFT, 21)] if not before else [(before, LEFT, 9), (now, 460, 9)]
    for one, x, wide in shown:
        picture.text(x, picture.y, f"step {one.number}, {one.name}", "step")
    picture.y += 20
    picture.y = max([panel(picture, *each) for each in shown])
    picture.legend(now, ("work", "the first load of warp 0"), ("other", "its second load"), ("faint", "other words of the block"))
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=FOLDER, help="the folder that contains the steps' folders; default: the lab's")
    options = parser.parse_args()
    runs = [run(path.name) for path in sorted(FOLDER.glob("step[0-9][0-9]_*"))]
    for before, now in zip([None, *runs], runs):
        output = options.output / now.step / "picture.svg"
        output.parent.mkdir(parents=True, exist_ok=True)
        save(draw(before, now), output)


if __name__ == "__main__":
    main()
