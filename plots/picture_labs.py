#!/usr/bin/env python3
"""Draws the figures of the labs from runs of their programs on the simulator: picture.svg in the folder of a lab or of a step.

make picture LAB=coalescing builds the programs and calls this. (labs/bankconflicts/banks.py draws the figures of that lab.)"""

import argparse
import re
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace

from drawing import LEFT, SPAN, Picture, columns, count, middle, save
from picture import plain, tree
from picture_scan import traffic
from traced import LANES, ROOT, WORD, element_loads, fail, trace


def launches(lab, number, *arguments, kernels, **environment):
    """The launches of these kernels in a step of a lab, in order, each with its trace rows."""
    folder, = (ROOT / "labs" / lab).glob(f"step{number}_*")
    rows = trace(ROOT / "build/sim/labs" / lab / folder.name / lab, *arguments, kernels=kernels, **environment)
    return [described(folder.name, list(mine)) for _, mine in groupby(rows, lambda row: row.launch)] or fail(f"{lab}: step {number} launches none of {kernels}")


def described(step, rows):
    number, _, name = step.removeprefix("step").partition("_")
    return SimpleNamespace(step=step, number=number, name=name, block=0, elements=0, rows=rows, passes=[rows], grid=rows[0].grid,
                           warps=1 + max(row.warp for row in rows))


def of_size(one, elements):
    one.elements = elements
    return one


def accuracy(picture):
    """The chain of one thread, and the tree of a block."""
    tree(picture, *(of_size(launches("accuracy", number, 256, kernels={"reduce"})[-1], 256) for number in ("00", "02")))


def first(one, kind, memory):
    """The word addresses of warp 0's first access of a kind."""
    row = next((row for row in one.rows if row.warp == 0 and row.opcode.startswith(kind) and row.memory.startswith(memory)), None)
    return [address // WORD for address in row.addresses] if row else []


def coalescing(picture):
    """The elements that warp 0 accesses in the matrix, in the tile and in the transpose."""
    edge, tile, size = 40, 32, 4
    picture.title("Coalesced load, coalesced store: shared memory transposes the tile")
    for number in ("02", "03"):
        one = of_size(launches("coalescing", number, edge, kernels={"transpose"})[0], edge)
        picture.head(one, "the first load and the first store of warp 0, in the block of the upper left corner")
        panels = [("a: loaded", first(one, "ld.", "device"), edge, "work"),
                  ("tile: written", first(one, "st.", "shared"), tile, "work"), ("tile: read", first(one, "ld.", "shared"), tile, "other"),
                  ("c: stored", first(one, "st.", "device"), edge, "work" if number == "02" else "other")]
        x = 0
        for words, elements, wide, css in panels:
            if elements:
                picture.text(x, picture.y + 8, words, "note")
                picture.boxes("faint", [(x, picture.y + 14 + row * size, wide * size - 1, size - 0.6) for row in range(wide)])
                picture.boxes(css, [(x + word % wide * size, picture.y + 14 + word // wide * size, size - 0.6, size - 0.6) for word in elements])
            x += wide * size + 26
        picture.y += 14 + edge * size
    picture.legend(one, ("work", "loaded by warp 0"), ("other", "stored by warp 0"), ("faint", "other elements"),
                   sizes=f"{edge} × {edge}")


def rowscale(picture):
    """The row on which each thread of a block works."""
    picture.title("A block, a warp or a part of a warp processes a row")
    for number, wide, at in (("00", 128, -1), ("04", 128, -1), ("05", 7, -21)):  # the program launches each shape three times, rows of 128 last
        one = launches("rowscale", number, 64, kernels={"scale_rows"}, SIM_TRACE_ROWS="4000")[at]
        threads = [[] for _ in range(1 + max(max(row.addresses) for row in element_loads(one)) // WORD // wide)]
        for row in element_loads(one):
            for lane, address in zip(row.lanes, row.addresses):
                threads[address // WORD // wide].append(row.warp * LANES + lane)
        idle = set(range(one.warps * LANES)).difference(*threads)
        picture.head(one, f"rows of {wide} numbers: a block of {one.warps * LANES} threads scales {count(len(threads), 'row')}")
        picture.boxes("idle", columns(one, idle, picture.y, 20))
        for row, mine in enumerate(threads):
            picture.boxes(("work", "other", "third")[row % 3], columns(one, set(mine), picture.y, 20))
            if len(threads) <= 4:
                picture.text((middle(one, min(mine)) + middle(one, max(mine))) / 2, picture.y + 34, f"row {row}", "note mid")
        picture.y += 34 if len(threads) <= 4 else 22
    picture.legend(of_size(one, 64 * 128), *((css, f"row {k}, {k + 3} …") for k, css in enumerate(("work", "other", "third"))), ("idle", "loads nothing"))


def launch(picture):
    """The elements that the first blocks add."""
    elements, colours = 4096, ("work", "other", "third")
    picture.title("The same elements, distributed to blocks in three ways")
    for number in ("00", "01", "02"):
        one = of_size(launches("launch", number, elements, kernels={"add"}, block="all", SIM_SMS="1")[0], elements)
        loads = [row for row in element_loads(one) if row.block < len(colours)]
        wide, most = SPAN / elements, max(sum(row.block == block and row.warp == 0 for row in loads) for block in range(3))
        picture.head(one, f"{count(one.grid, 'block')} of 32 threads; a thread adds {count(most, 'element')}")
        for k in range(most):
            picture.label(picture.y + 10, f"load {k + 1}")
            picture.boxes("faint", [(LEFT, picture.y, SPAN, 11)])
            for block, css in enumerate(colours):
                mine = [row for row in loads if row.block == block][k:k + 1]
                picture.boxes(css, [(LEFT + address // WORD * wide, picture.y, row.bytes // WORD * wide, 11) for row in mine for address in row.addresses])
            picture.y += 15
        picture.text(LEFT, picture.y + 8, "element 0", "note")
        picture.text(LEFT + SPAN, picture.y + 8, f"element {elements - 1:,}", "note end")
        picture.y += 8
    picture.legend(one, ("work", "block 0"), ("other", "block 1"), ("third", "block 2"), ("faint", "other blocks"), blocks="all blocks")


def operators(picture):
    """The instructions with which a warp, and then the block, computes one value."""
    runs = [of_size(launches("operators", number, 32, kernels={"reduce"})[2], 32) for number in ("02", "03")]
    shown = r"(shfl|redux|bar|st\.shared|ld\.shared)"
    parts = [[row for before, row in zip(one.rows, one.rows[1:]) if row.warp == 0 and row.event == "run"
              and (re.match(shown, row.opcode) or before.opcode.startswith("shfl"))] for one in runs]
    picture.title("One redux instruction replaces the shuffles and additions of a warp")
    for one, rows in zip(runs, parts):
        picture.head(one, f"warp 0 computes the sum of a block: {count(len(rows), 'PTX instruction')}")
        picture.y += 16
        picture.chips(LEFT, [("third" if re.match("shfl|redux", row.opcode) else "other" if "shared" in row.opcode else
                              "ink" if row.opcode.startswith("bar") else "work", plain(row.opcode)) for row in rows])
    picture.legend(runs[1], ("third", "shuffle or redux"), ("work", "addition"), ("other", "shared memory"), ("ink", "barrier"))


def wide(picture):
    """The elements that one load instruction loads for each lane of a warp."""
    elements, shown, half = 512, 320, 2
    size, tall = SPAN / shown, 18
    picture.title("One instruction loads eight halves for each lane")
    found = {number: launches("operators", number, elements, kernels={"reduce"}, SIM_TRACE_ROWS="1000000") for number in ("04", "05")}
    of_halves = [element_loads(one)[0].bytes == half and element_loads(one)[0].lanes == list(range(LANES)) for one in found["04"]].index(True)
    for number, mine in found.items():
        one = of_size(mine[of_halves], elements)
        load = next(row for row in element_loads(one) if len(set(row.addresses)) == LANES)  # skips loads past the end, which share an address
        picture.head(one, f"a load of warp 0: {load.bytes} bytes per lane, {LANES * load.bytes} in all")
        picture.label(picture.y + 13, "halves")
        picture.boxes("faint", [(LEFT + k * size, picture.y, size - 0.4, tall) for k in range(shown)])
        for lane, address in zip(load.lanes, load.addresses):
            first, many = address // half, load.bytes // half
            picture.boxes(("work", "other", "third")[lane % 3], [(LEFT + k * size, picture.y, size - 0.4, tall) for k in range(first, first + many)])
            if lane in (0, LANES - 1):
                at = LEFT + (first + many / 2) * size
                picture.text(LEFT if lane == 0 else at, picture.y + tall + 13, f"lane {lane}", "note" if lane == 0 else "note mid")
        picture.y += tall + 10
    picture.legend(one, ("work", "lane 0, 3 …"), ("other", "lane 1, 4 …"), ("third", "lane 2, 5 …"), ("faint", "for later loads"))


def segmented(picture):
    """The threads that store the sums of segments."""
    one = of_size(launches("segmented", "03", 4096, kernels={"scan_tiles"})[4], 4096)  # launch 4: the first with segments of 100; those before have segments of 8
    stores = [(row.warp * LANES + lane, address // WORD) for row in one.rows if row.opcode.startswith("st.global")
              for lane, address in zip(row.lanes, row.addresses)]
    threads, ends = range(512), {thread for thread, _ in stores}
    narrow, drop = SPAN / len(stores), 90
    block = SimpleNamespace(warps=len(threads) // LANES)
    picture.title("The thread that reaches the end of a segment stores its sum")
    picture.head(one, f"a tile of {one.elements:,} elements, eight for each of {len(threads)} threads, and the sums of its segments")
    picture.label(picture.y + 12, "threads")
    picture.boxes("faint", columns(block, set(threads) - ends, picture.y, 16))
    picture.boxes("work", columns(block, ends, picture.y, 16))
    picture.lines([(middle(block, thread), picture.y + 17, LEFT + (segment + 0.5) * narrow, picture.y + drop) for thread, segment in sorted(stores)])
    picture.y += drop
    picture.label(picture.y + 12, "sums")
    picture.boxes("other", [(LEFT + segment * narrow, picture.y, narrow - 2, 16) for _, segment in sorted(stores)])
    picture.y += 18
    picture.legend(one, ("work", "reaches the end of a segment"), ("faint", "within a segment"), ("other", "sum of a segment"))


def sort(picture):
    """The words that one store instruction of a warp writes, before and after a tile is sorted in shared memory."""
    elements, shown, tall = 6144, 3, 16
    wide = SPAN / elements
    picture.title("A tile that is sorted first is written in runs")
    for number in ("10", "11"):
        one = of_size(launches("sort", number, elements, kernels={"scatter"}, SIM_TRACE_ROWS="4000000")[-4], elements)  # random keys, first pass
        stores = [row for row in one.rows if row.warp == 0 and row.opcode.startswith("st.global")][:shown]
        start = min(address for row in one.rows if row.opcode.startswith("st.global") for address in row.addresses)
        picture.head(one, f"the output of one tile of {elements:,} keys, and the words that warp 0 writes first")
        for k, row in enumerate(stores):
            picture.label(picture.y + 12, f"store {k + 1}")
            picture.boxes("faint", [(LEFT, picture.y, SPAN, tall)])
            sectors = {(address - start) // 32 for address in row.addresses}
            picture.boxes("other", [(LEFT + sector * 8 * wide, picture.y, 8 * wide, tall) for sector in sorted(sectors)])
            picture.text(LEFT + SPAN, picture.y + tall + 11, count(len(sectors), "sector"), "note end")
            picture.y += tall + 16
    picture.legend(one, ("other", "sectors that the store writes to"), ("faint", "other words of the output"))


def rows_of(one, wide):
    """For each row of `wide` numbers, the threads of the grid that load it."""
    threads = {}
    for row in element_loads(one):
        for lane, address in zip(row.lanes, row.addresses):
            threads.setdefault(address // WORD // wide, set()).add((row.block * one.warps + row.warp) * LANES + lane)
    return threads


def rows(picture):
    """The threads whose registers hold a row: a warp, a block or a cluster."""
    found = launches("rows", "06", 257, kernels={"softmax"}, block="all", SIM_REPEAT="1")
    picture.title("A warp, a block or a cluster holds a row in registers")
    for wide, at in ((128, 14), (8192, 26), (32769, 13)):  # the launches with these columns; those before 14 check other lengths
        one = found[at]
        drawn = min(one.grid, 4)
        threads = {row: mine for row, mine in rows_of(one, wide).items() if min(mine) < drawn * one.warps * LANES}
        picture.head(one, f"rows of {wide:,} numbers: {count(drawn, 'block')} of {one.warps * LANES} threads, {count(len(threads), 'row')}")
        block = SPAN / drawn
        for row, mine in sorted(threads.items()):
            warps = sorted({thread // LANES for thread in mine})
            narrow = block / one.warps
            picture.boxes(("work", "other", "third")[row % 3], [(LEFT + warp * narrow, picture.y, narrow - (4 if (warp + 1) % one.warps == 0 else 1), 20) for warp in warps])
        for number in range(drawn):
            picture.text(LEFT + (number + 0.5) * block, picture.y + 34, f"block {number}", "note mid")
        picture.y += 34
    picture.legend(of_size(one, 257 * 128), *((css, f"row {k}, {k + 3} …") for k, css in enumerate(("work", "other", "third"))), blocks="all blocks")


def thrust(picture):
    """The words that each kernel of one call reads and writes."""
    runs = []
    for number in ("02", "03"):
        found = launches("thrust", number, 65536, kernels={"square", "DeviceReduceKernel", "DeviceReduceSingleTileKernel"}, block="all")
        call = [one.rows for k, one in enumerate(found) if one.rows[0].launch == found[0].rows[0].launch + k]
        runs.append(of_size(found[0], 65536))
        runs[-1].launches = call
    picture.title("Fused: the squares are not stored before they are added")
    traffic(picture, runs, "4-byte words")
    picture.legend(runs[1], ("work", "read"), ("other", "written"), blocks="all blocks")


# Folder of the figure below labs/ -> function that draws it.
LABS = {"accuracy": accuracy, "coalescing": coalescing, "launch": launch, "operators": operators, "operators/step05_wide": wide, "rows": rows, "rowscale": rowscale,
        "segmented": segmented, "sort": sort, "thrust": thrust}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lab", help="a lab, for all its figures, or one figure, such as operators/step05_wide")
    parser.add_argument("--output", type=Path, help="for one figure; default: picture.svg in its folder")
    arguments = parser.parse_args()
    names = [arguments.lab] if arguments.output else [name for name in LABS if arguments.lab in (name, name.split("/")[0])]
    if not names or names[0] not in LABS:
        fail(f"LAB='{arguments.lab}' has no such figure; choose {', '.join(LABS)}", 2)
    for name in names:
        picture = Picture()
        LABS[name](picture)
        save(picture.svg(), arguments.output or ROOT / f"labs/{name}/picture.svg")


if __name__ == "__main__":
    main()
