#!/usr/bin/env python3
"""Draws the look-back of the prefix sum's step 07, from a run on the simulator: which tiles each tile looked at.

lookback.py PROGRAM OUTPUT.svg: the program is built for the simulator, which runs eight blocks side by side."""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import plot
from plot import GREY, LINE_COLOURS, REFERENCE_COLOUR, STEP_COLOUR, plt, sized

TILE, SHOWN = 512 * 16, 28  # elements of a tile; so many tiles are drawn
SMS = 2                     # of the simulated GPU; four blocks fit on each
WORD = 8                    # bytes; the first word counts the tiles drawn
TOTAL, PREFIX = 1, 2        # how often a tile's word has been written: what it holds


def trace(program):
    """The accesses of the first scan to device memory, in the order in which the simulator made them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.csv"
        result = subprocess.run([program, str(SHOWN * TILE)], capture_output=True, text=True,
                                env=os.environ | {"SIM_TOGETHER": "1", "SIM_SMS": str(SMS), "SIM_TRACE": str(path), "SIM_TRACE_BLOCK": "all"})
        if result.returncode != 0:
            sys.exit(f"lookback.py: {program}: {result.stderr.strip()}")
        with open(path, newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["kernel"] == "scan_tiles"]
    return [row for row in rows if row["launch"] == rows[0]["launch"]]


def looks(rows):
    """(the tile that looks, the tile looked at, what its word held) in order."""
    tile_of, held, found = {}, {}, []
    for row in rows:
        tiles = [int(address) // WORD - 1 for address in row["addresses"].split(";")]
        if row["opcode"].startswith("st.relaxed"):
            tile_of.setdefault(row["block"], tiles[0])
            held[tiles[0]] = held.get(tiles[0], 0) + 1
        elif row["opcode"].startswith("ld.relaxed"):
            found += [(tile_of[row["block"]], tile, held.get(tile, 0)) for tile in tiles]
    return found


def draw(found):
    """The figure: a row for each tile that looks, a column for each that it looked at."""
    last = {looker: max(tile for who, tile, held in found if who == looker and held == PREFIX)
            for looker, _, held in found if held == PREFIX}  # where each look-back ended
    figure, axes = plt.subplots(figsize=(10, 7.4))
    meanings = {"a total, added up": LINE_COLOURS[2], "a prefix: here it ends": REFERENCE_COLOUR, "looked at, not needed": GREY, "the tile itself": STEP_COLOUR}
    colours = list(meanings.values())
    cells = {(looker, looker): colours[3] for looker in range(SHOWN)}
    for looker, tile, held in found:
        end = last.get(looker, -1)
        if held:
            cells[looker, tile] = colours[0] if tile > end else colours[1] if tile == end else colours[2]
    for (looker, tile), colour in cells.items():
        axes.add_patch(plt.Rectangle((tile - 0.45, looker - 0.45), 0.9, 0.9, color=colour, linewidth=0))
    for meaning, colour in meanings.items():
        axes.plot([], [], "s", color=colour, markersize=sized(10), label=meaning)
    axes.set_xlim(-0.7, SHOWN - 0.3)
    axes.set_ylim(SHOWN - 0.3, -0.7)
    axes.set_aspect("equal")
    axes.set_xlabel("tile looked at")
    axes.set_ylabel("tile that looks back")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    axes.set_title(f"Nobody waits for a prefix: a tile adds up totals until it meets one\n(on the simulator, {4 * SMS} blocks side by side)")
    return figure


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    output = Path(sys.argv[2])
    plot.save(draw(looks(trace(sys.argv[1]))), output.parent, output.stem)
