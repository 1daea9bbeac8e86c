#!/usr/bin/env python3
"""Draws the figure of a step, compared with the previous step: picture.svg in the step's folder.

make picture STEP=03 builds both steps and calls this; LADDER=scan selects the prefix sum. The figure shows the program as you have edited it.
The simulator has no times and no SASS: the figures of 00, 02 and 10 use files in plots/h200."""

import argparse
import csv
import re
import sys
from difflib import SequenceMatcher
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import picture_scan
from drawing import LEFT, SPAN, Picture, columns, count, middle, save
from traced import (LANES, LINE, ROOT, WORD, adding_intervals, additions, all_blocks, element_loads, fail, intervals, loaded_elements, named,
                    needed, rounds, run, timeline)
from scripts.ladder import step_pages


def plain(opcode):
    """An opcode as a label, without the type unless it is float."""
    parts = opcode.split(".")
    return ".".join(parts[:2]) if parts[0] in ("ld", "st", "bar") or parts[-1] == "f32" else parts[0]


# ---- Measurements and SASS in plots/h200

MEASURED = ROOT / "plots/h200"


def measurements(name):
    with open(MEASURED / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def machine_code(name):
    """A loop's instructions in order, from make sass: text, mnemonic, colour."""
    rows = []
    for text in (MEASURED / "sass" / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        opcode, *parts = re.sub(r"^@!?\w+ ", "", text).split()[0].split(".")
        name = parts[0] if parts and parts[0] in ("MOV", "SHL", "IADD") else opcode  # IMAD.MOV is a copy
        rows.append(SimpleNamespace(text=text, name=name, kind={"LDG": "third", "FADD": "work"}.get(opcode, "faint")))
    return rows


def waiting(code):
    """The first instruction that uses a loaded register, at which the warp stalls."""
    loaded = set()
    for row in code:
        registers = [int(number) for number in re.findall(r"\bR(\d+)\b", row.text)]
        if row.kind == "third":
            loaded |= set(range(registers[0], registers[0] + (4 if ".128" in row.text else 1)))
        elif loaded & set(registers[1:]):
            return row
    return None


# ---- The lessons: each function compares the previous step with the step

def one_thread(picture, *_):
    """The timeline of two loop iterations: the issued instructions and the stall between them."""
    code = machine_code("step00")
    measured, profiled, gpu = ([row for row in measurements(name) if row.get("step", "step00_baseline") == "step00_baseline"][0]
                               for name in ("run-all.csv", "profile.csv", "limits.csv"))
    loads = sum(row.kind == "third" for row in code)
    cycles = float(measured["median_ms"]) * 1e-3 / int(measured["elements"]) * loads * float(gpu["clock_mhz"]) * 1e6  # per iteration
    wait = float(profiled["load_wait_cycles"]) * len(code)
    issue, scale = (cycles - wait) / len(code), SPAN / (2 * cycles)
    picture.title(f"Two loop iterations of {loads} elements: {wait:.0f} of the {cycles:.0f} cycles of each are a stall")
    picture.y += 40
    x = LEFT
    for number in (1, 2):
        picture.text(x, picture.y - 6, f"iteration {number}: {len(code)} instructions, {cycles:.0f} cycles", "note")
        for row in code:
            if row is waiting(code):
                picture.hatched([(x, picture.y, wait * scale, 26)])
                picture.text(x + wait * scale / 2, picture.y + 42, f"stalls {wait:.0f} cycles on its {loads} loads", "note mid")
                x += wait * scale
            picture.boxes(row.kind, [(x, picture.y, issue * scale - 0.6, 26)])
            x += issue * scale
    picture.label(picture.y + 17, "the warp")
    picture.y += 76
    picture.colours(("third", "load issued"), ("work", "addition"), ("faint", "index, test, branch"), ("hatched", "stall"))
    picture.source(f"Source: SASS (make sass) and measurements on an {gpu['device']}: run-all.csv, profile.csv.")


def chain(picture, one):
    """Loads one after the other: element to the right, time downwards."""
    rows = element_loads(one)
    picture.head(one, f"one thread adds {len(rows)} elements, one after the other")
    high, wide = 180, SPAN / one.elements
    picture.boxes("faint", [(LEFT, picture.y, SPAN, high)])
    picture.boxes("work", [(LEFT + address // WORD * wide, picture.y + k * high / len(rows), wide, 3)
                           for k, row in enumerate(rows) for address in row.addresses])
    picture.label(picture.y + 9, "load 1")
    picture.label(picture.y + high + 2, f"load {len(rows)}")
    picture.y += high


def tree(picture, before, now):
    """A chain of additions, and the reduction tree of a block."""
    threads, pitch, high = range(now.warps * LANES), 26, 7
    picture.title(f"A tree: {len(loaded_elements(now))} elements in {count(len(rounds(now)), 'round')}, not "
                  f"{count(len(element_loads(before)), 'addition')} one after the other")
    chain(picture, before)
    picture.head(now, f"{count(len(threads), 'thread')} load one element each, then add sums in pairs, in parallel")
    picture.label(picture.y + 8, "load")
    picture.boxes("third", columns(now, {thread for _, thread in loaded_elements(now)}, picture.y, high))
    for k, found in enumerate(rounds(now), 1):
        picture.y += pitch
        adding = {thread for _, thread, _, _ in found}
        picture.label(picture.y + 8, f"round {k}")
        picture.text(LEFT + SPAN + 8, picture.y + 8, f"{len(adding)} add{'' if len(adding) > 1 else 's'}", "note")
        picture.lines([(middle(now, source), picture.y - pitch + high, middle(now, thread), picture.y)
                       for _, thread, word, added in found for source in (word, *added)])
        picture.boxes("faint", columns(now, threads, picture.y, high))
        picture.boxes("work", columns(now, adding, picture.y, high))
    picture.y += high
    picture.legend(now, ("third", "loads an element"), ("work", "adds"), ("faint", "idle"))


def differing(one, other):
    """The instructions of one without a match in the other."""
    names = [[row.name for row in rows] for rows in (one, other)]
    pairs = SequenceMatcher(None, *names, False).get_matching_blocks()
    matched = {k for begin, _, size in pairs for k in range(begin, begin + size)}
    return [row for k, row in enumerate(one) if k not in matched]


def remainder(picture, before, now):
    """The SASS of one iteration; instructions that only one of the steps has are highlighted."""
    codes = [machine_code(f"step{one.number}") for one in (before, now)]
    same = "the same additions" if additions(before) == additions(now) else "other additions"
    picture.title(f"One loop iteration: {len(codes[0])} SASS instructions, then {len(codes[1])}, for {same}")
    for one, code, other in ((before, *codes), (now, *codes[::-1])):
        picture.head(one, "the instructions of one loop iteration, in order")
        picture.y += 22
        alone = differing(code, other)
        picture.chips(0, [("other" if row in alone else "faint", row.name) for row in code])
        picture.y += 6
    picture.y += 26
    picture.colours(("other", "only in this step"), ("faint", "in both steps"))
    picture.source("Source: SASS for an H200 (make sass).")


def packed(picture, before, now):
    """The adding threads of each round. The figure gives no warp counts, because the lesson asks for them."""
    picture.title("The adding threads are contiguous and fill whole warps")
    for one in (before, now):
        picture.head(one, "the adding threads of each round")
        for k, found in enumerate(rounds(one)):
            adding = {thread for _, thread, _, _ in found}
            busy = {thread // LANES for thread in adding}
            picture.label(picture.y + 10, f"round {k + 1}")
            picture.boxes("faint", columns(one, range(one.warps * LANES), picture.y, 11))
            picture.boxes("idle", columns(one, {w * LANES + lane for w in busy for lane in range(LANES)}, picture.y, 11))
            picture.boxes("work", columns(one, adding, picture.y, 11))
            picture.y += 15
        for warp in range(one.warps):
            words = f"warp {warp}" if one.warps <= 8 else str(warp)
            picture.text(middle(one, warp * LANES + LANES // 2), picture.y + 10, words, "note mid")
        picture.y += 10
    picture.legend(now, ("work", "adds"), ("idle", "idle in a warp that adds"), ("faint", "in a warp without additions"))


def first_add(picture, before, now):
    """The elements that a block loads, and the number of blocks."""
    found = {one.step: loaded_elements(one) for one in (before, now)}
    each = {one.step: len(found[one.step]) // (one.warps * LANES) for one in (before, now)}
    picture.title(f"Each thread loads {count(each[now.step], 'element')} and adds them at once: "
                  f"{count(now.grid, 'block')}, not {before.grid}")
    wide, unit = SPAN / now.elements, SPAN / max(map(len, found.values()))
    for one in (before, now):
        picture.head(one, f"block {one.block} loads {count(len(found[one.step]), 'element')}, {each[one.step]} per thread")
        picture.label(picture.y + 13, "array")
        for other in all_blocks(one):
            numbers = [element for element, _ in loaded_elements(other)]
            x, end = LEFT + min(numbers) * wide, LEFT + (max(numbers) + 1) * wide - 1.5
            picture.boxes("work" if other is one else "faint", [(x, picture.y, end - x, 18)])
            picture.text((x + end) / 2, picture.y + 13, str(other.block), "note mid on" if other is one else "note mid")
        picture.text(LEFT + SPAN + 8, picture.y + 13, count(one.grid, "block"), "note")
        top, bottom, start = picture.y + 34, picture.y + 100, min(found[one.step])[0]
        picture.label(top + 9, "elements")
        picture.label(bottom + 9, "threads")
        picture.boxes("faint", [(LEFT, top, SPAN, 10)])
        picture.boxes("work", [(LEFT + (element - start) * unit, top, unit, 10) for element, _ in found[one.step]])
        picture.boxes("work", [(LEFT + t * unit, bottom, unit, 10) for t in sorted({t for _, t in found[one.step]})])
        picture.lines([(LEFT + (element - start + 0.5) * unit, top + 10, LEFT + (thread + 0.5) * unit, bottom)
                       for element, thread in found[one.step] if thread % 8 == 4])
        picture.text(LEFT + SPAN, bottom + 9, "lines for every eighth thread", "note end")
        picture.y = bottom + 10
    picture.legend(now, ("work", f"block {now.block}: its elements and threads"), ("faint", "other blocks"))


def last_warp(picture, before, now):
    """The activity of the warps between the barriers."""
    colours = {"loads": "third", "adds": "work", "tests": "other"}
    times = [timeline(one) for one in (before, now)]
    picture.title("The last rounds need one warp and no block barrier")
    scale = SPAN / max(begin + length for stretches, _ in times for mine in stretches for begin, length, _ in mine)
    for one, (stretches, barriers) in zip((before, now), times):
        picture.head(one, "horizontal: PTX instructions executed by a warp")
        top = picture.y
        for warp, mine in enumerate(stretches):
            picture.label(picture.y + 10, f"warp {warp}")
            for begin, length, doing in mine:
                end = min((barrier for barrier in barriers if barrier > begin), default=begin)
                picture.boxes("faint", [(LEFT + begin * scale, picture.y, (end - begin) * scale, 12)])
                picture.boxes(colours[doing], [(LEFT + begin * scale, picture.y, length * scale, 12)])
            picture.y += 16
        picture.boxes("ink", [(LEFT + barrier * scale - 0.75, top - 3, 1.5, picture.y - top + 2) for barrier in barriers])
    picture.legend(now, ("third", "loads"), ("work", "adds"), ("other", "only tests, or stores the result"), ("faint", "waits"),
                   ("ink", "barrier"))


KINDS = (("work", "addition", r"add\.f32"), ("third", "shared memory", r"(ld|st)\.shared"), ("ink", "barrier", r"bar\."),
         ("other", "loop, test, index", r""))


def kind(row):
    """The colour of an instruction."""
    return next(css for css, _, pattern in KINDS if re.match(pattern, row.opcode))


def unrolled(picture, before, now):
    """The instructions of the rounds that end at a block barrier."""
    parts = [adding_intervals(one, 0) for one in (before, now)]
    overhead = [sum(kind(row) == "other" for rows in part for row in rows) for part in parts]
    picture.title(f"Without the loop: {count(overhead[1], 'instruction')} for tests and indices in "
                  f"{count(len(parts[1]), 'round')}, not {overhead[0]}")
    for one, part in zip((before, now), parts):
        picture.head(one, f"warp 0 in these rounds: {count(sum(map(len, part)), 'PTX instruction')}")
        for k, rows in enumerate(part, 1):
            picture.y += 22
            picture.label(picture.y, f"round {k}")
            picture.chips(LEFT, [(kind(row), plain(row.opcode)) for row in rows])
        picture.y += 6
    picture.legend(now, *((css, words) for css, words, _ in KINDS))


def stride(picture, before, now):
    """The part of the array that each block reads, for each load."""
    found = {one.step: all_blocks(one) for one in (before, now)}
    times = {one.step: max(len([row for row in element_loads(one) if row.warp == 0]), 1) for one in (before, now)}
    picture.title(f"{count(now.grid, 'block')}, not {before.grid}: each strides through the whole array")
    wide, colours = SPAN / now.elements, ("work", "other", "third", "ink")
    for one in (before, now):
        most = times[one.step]
        picture.head(one, f"{count(one.grid, 'block')} of {one.warps * LANES} threads; each thread loads {count(most, 'element')}")
        for k in range(most):
            picture.label(picture.y + 10, f"load {k + 1}")
            picture.boxes("faint", [(LEFT, picture.y, SPAN, 11)])
            for block, css in zip(found[one.step], colours):
                mine = [[row for row in element_loads(block) if row.warp == warp] for warp in range(block.warps)]
                picture.boxes(css, [(LEFT + address // WORD * wide, picture.y, row.bytes // WORD * wide, 11)
                                    for rows in mine for row in rows[k:k + 1] for address in row.addresses])
            picture.y += 15
        picture.text(LEFT, picture.y + 10, "element 0", "note")
        picture.text(LEFT + SPAN, picture.y + 10, f"element {one.elements - 1:,}", "note end")
        picture.y += 12
    shown = [(css, f"block {block} reads") for block, css in zip(range(now.grid), colours)]
    picture.legend(now, *shown, ("faint", "other blocks, or not read"), blocks="all blocks")


def shuffles(picture, _, now):
    """The tree of one warp in registers, and the sums in shared memory. Each shuffle has half the distance of the previous one."""
    mine = [row for row in now.rows if row.warp == now.warps - 1 and row.event == "run"]
    moves = needed([row for row in mine if row.opcode.startswith("shfl.sync.down")], now, "shuffles down")
    words = {address // WORD for row in now.rows if row.memory == "shared" and row.opcode.startswith("st.") for address in row.addresses}
    picture.title(f"A warp adds its {LANES} sums in {count(len(moves), 'shuffle')} between registers")
    picture.head(now, f"warp {now.warps - 1}: each lane has a sum, and reads the sum of a lane to its right")
    picture.y += 12
    wide, pitch, high, half = SPAN / LANES, 34, 12, LANES // 2
    picture.label(picture.y + 10, "lanes")
    picture.boxes("third", [(LEFT + lane * wide, picture.y, wide - 2, high) for lane in range(LANES)])
    for lane in range(LANES):
        picture.text(LEFT + (lane + 0.5) * wide - 1, picture.y - 3, str(lane), "note mid")
    for _ in moves:
        picture.lines([(LEFT + (source + 0.5) * wide - 1, picture.y + high, LEFT + (lane + 0.5) * wide - 1, picture.y + pitch)
                       for lane in range(half) for source in (lane, lane + half)])
        picture.y += pitch
        picture.label(picture.y + 10, f"s = {half}")
        picture.boxes("faint", [(LEFT + lane * wide, picture.y, wide - 2, high) for lane in range(half, LANES)])
        picture.boxes("work", [(LEFT + lane * wide, picture.y, wide - 2, high) for lane in range(half)])
        half //= 2
    picture.lines([(LEFT + wide / 2 - 1, picture.y + high, LEFT + (max(words) + 0.5) * wide - 1, picture.y + pitch)])
    picture.y += pitch
    picture.label(picture.y + 10, "shared")
    picture.boxes("other", [(LEFT + word * wide, picture.y, wide - 2, high) for word in sorted(words)])
    picture.text(LEFT + (max(words) + 1) * wide + 8, picture.y + 10,
                 f"one word of shared memory per warp ({now.warps}); the first warp adds these in the same way", "note")
    picture.y += high
    picture.legend(now, ("third", "the lane's own sum"), ("work", "a sum that is used later"), ("faint", "an unused sum"),
                   ("other", "shared memory"))


def vectors(picture, before, now):
    """The bytes that each lane loads in a warp's first request."""
    first = {one.step: element_loads(one)[0] for one in (before, now)}
    begin = min(first[now.step].addresses) // LINE * LINE
    end = max(first[now.step].addresses) + first[now.step].bytes
    picture.title(f"A lane loads {first[now.step].bytes} bytes with one instruction, not {first[before.step].bytes}")
    wide, lines = SPAN / (end - begin), range((end - begin) // LINE)
    for one in (before, now):
        row = first[one.step]
        picture.head(one, "the first request of warp 0: the bytes of its 32 lanes")
        for k in lines:
            picture.text(LEFT + (k + 0.5) * LINE * wide, picture.y + 6, "128-byte line", "note mid")
        picture.y += 12
        picture.boxes("faint", [(LEFT + k * LINE * wide, picture.y, LINE * wide - 2, 24) for k in lines])
        picture.boxes("work", [(LEFT + (address - begin) * wide, picture.y + 3, row.bytes * wide - 0.8, 18) for address in row.addresses])
        picture.label(picture.y + 16, "request 1")
        if row.bytes * wide > 16:
            for lane, address in zip(row.lanes, row.addresses):
                picture.text(LEFT + (address - begin + row.bytes / 2) * wide, picture.y + 16, str(lane), "note mid on")
        picture.y += 26
    picture.legend(now, ("work", "bytes of a lane, with its number"), ("faint", "not part of this request"))


def memory_activities(one, rows):
    """A block's accesses to device memory, in order, as labels."""
    array = element_loads(one)[0].memory
    tickets = {row.memory for row in rows if row.opcode.startswith(("atom.", "red."))}
    found = []
    for row in rows:
        if not row.memory.startswith("device") or row.event != "run":
            continue
        if row.memory in tickets:
            what = ("ink", "writes the counter" if row.opcode.startswith("st.") else "takes a ticket")
        elif row.opcode.startswith("st.") and row.bytes == 2 * WORD:
            loaded = any(css == "third" for (css, _), _ in found)
            what = ("ink", "resets {} words") if loaded else ("other", "stores {} word")
        elif row.opcode.startswith("st."):
            what = ("other", "stores {}")
        else:
            of_others = "loads {} words" if row.bytes == 2 * WORD else "loads {} sums"
            what = ("work", "loads {:,} elements") if row.memory == array else ("third", of_others)
        if not found or found[-1][0] != what:
            found.append([what, 0])
        found[-1][1] += len(row.lanes) * (1 if row.bytes == 2 * WORD else row.bytes // WORD)
    return [(css, words.format(number)) for (css, words), number in found]


def single_pass(picture, before, now):
    """The accesses of each block to device memory, in each launch."""
    picture.title(f"The last block adds all partial sums: {count(len(now.passes), 'launch')}, not {len(before.passes)}")
    for one in (before, now):
        blocks = all_blocks(one)
        picture.head(one, "each block's accesses to device memory, in order")
        for k, rows in enumerate(one.passes):
            for other in blocks[:rows[0].grid]:
                picture.y += 22
                picture.text(0, picture.y, f"launch {k + 1}, block {other.block}", "note")
                picture.chips(116, memory_activities(one, other.passes[k]))
            picture.y += 6
    picture.legend(now, ("work", "elements"), ("third", "partial sums"), ("other", "stores a sum"), ("ink", "tickets"),
                   blocks="all blocks")


LOOP_COLOURS = (("third", "load"), ("ink", "stall on the loads"), ("work", "addition"), ("other", "test and branch"), ("faint", "index"))


def whole_tiles(picture, before, now):
    """The loads and stalls of a thread, for four vectors."""
    codes = {before.step: machine_code("step09-loop"), now.step: machine_code("step10-loop")}
    loads = {step: sum(row.kind == "third" for row in code) for step, code in codes.items()}
    iterations = {step: loads[now.step] // loads[step] for step in codes}
    picture.title(f"{count(loads[now.step], 'vector')}: {count(iterations[now.step], 'stall')} on memory, not {iterations[before.step]}")
    for one in (before, now):
        picture.head(one, f"a warp with {count(loads[now.step], 'vector')} per thread: {count(iterations[one.step], 'iteration')} of its loop")
        for k in range(iterations[one.step]):
            picture.y += 22
            picture.label(picture.y, f"iter. {k + 1}")
            labels = []
            for row in codes[one.step]:
                if row is waiting(codes[one.step]):
                    labels.append(("ink", "stall"))
                labels.append(("other" if row.name in ("ISETP", "BRA") else row.kind, row.name))
            picture.chips(LEFT, labels)
            picture.y += 6
    picture.y += 26
    picture.colours(*LOOP_COLOURS)
    picture.source("Source: SASS for an H200 (make sass).")


CHAIN = (("third", "shuffle", r"shfl\."), ("work", "addition", r"add\.f32"), ("other", "shared memory", r"ld\.shared"), ("faint", "other instructions", r""))


def second_tree(picture, before, now):
    """The instructions of warp 0 from the block barrier to the end."""
    parts = [needed(intervals(one, 0)[1:], one, "waits at a barrier of the block")[-1] for one in (before, now)]
    rows = [[(next(css for css, _, pattern in CHAIN if re.match(pattern, row.opcode)), plain(row.opcode)) for row in part] for part in parts]
    shuffles = [sum(css == "third" for css, _ in labels) for labels in rows]
    picture.title(f"After the barrier: {count(shuffles[1], 'shuffle')}, not {shuffles[0]}")
    for one, labels in zip((before, now), rows):
        picture.head(one, f"warp 0 from the block barrier to the end: {count(len(labels), 'PTX instruction')}")
        picture.y += 22
        picture.chips(0, labels)
        picture.y += 6
    picture.legend(now, *((css, words) for css, words, _ in CHAIN))


def launch_shape(picture, before, now):
    """The launch configurations for several array sizes."""
    sizes = [now.elements << k for k in range(5)]
    shapes = {one.step: [run(one.step, size, 0) for size in sizes] for one in (before, now)}
    wide = SPAN / max(shape.grid * shape.warps for step in shapes.values() for shape in step)
    old, new = max(zip(*shapes.values()), key=lambda pair: pair[0].grid / pair[1].grid)
    picture.title(f"{new.elements:,} elements: {count(new.grid, 'block')} of {new.warps * LANES} threads, "
                  f"not {old.grid} of {old.warps * LANES}")
    for one in (before, now):
        picture.head(one, "the blocks launched for n elements; width: threads per block")
        for shape in shapes[one.step]:
            picture.label(picture.y + 11, f"{shape.elements:,}")
            boxes = [(LEFT + block * shape.warps * wide, picture.y, shape.warps * wide - 1, 14) for block in range(shape.grid)]
            picture.boxes("work", boxes)
            picture.text(LEFT + shape.grid * shape.warps * wide + 8, picture.y + 11, str(shape.grid), "note")
            picture.y += 19
    picture.legend(now, ("work", "a block; right: number of blocks"),
                   blocks="all blocks", sizes=f"{sizes[0]:,} to {sizes[-1]:,}")


def cluster(picture, _, now):
    """The elements that each block of a cluster adds, and the destinations of the sums."""
    blocks = all_blocks(now)
    senders = needed([one.block for one in blocks if any(row.opcode.startswith("st.async") for row in one.rows)], now, "sends with st.async")
    picture.title(f"{count(len(senders), 'block')} send their sums to the shared memory of the first block")
    picture.head(now, f"one cluster of {count(now.grid, 'block')} of {now.warps * LANES} threads, n = {now.elements:,}")
    wide, array, block, shared = SPAN / now.grid, picture.y, picture.y + 46, picture.y + 130
    picture.label(array + 13, "array")
    picture.label(block + 18, "sums")
    picture.label(shared + 15, "shared")
    for one in blocks:
        x, centre = LEFT + one.block * wide, LEFT + (one.block + 0.5) * wide - 2
        picture.boxes("work", [(x, array, wide - 4, 18)])
        picture.text(centre, array + 13, f"{len(loaded_elements(one)):,}", "note mid on")
        picture.boxes("third", [(x, block, wide - 4, 28)])
        picture.text(centre, block + 18, f"block {one.block}", "note mid on")
        picture.lines([(centre, array + 18, centre, block)])
    word = 40
    picture.boxes("faint", [(LEFT, shared - 6, len(blocks) * word + 6, 34)])
    picture.boxes("other", [(LEFT + sender * word + 4, shared, word - 6, 22) for sender in senders])
    for sender in senders:
        x = LEFT + (sender + 0.5) * word + 1
        picture.text(x, shared + 15, str(sender), "note mid on")
        picture.lines([(LEFT + (sender + 0.5) * wide - 2, block + 28, x, shared)])
    picture.text(LEFT + len(blocks) * word + 18, shared + 9, f"of block 0: its mbarrier phase completes after {len(senders) * WORD} bytes;", "note")
    picture.text(LEFT + len(blocks) * word + 18, shared + 23, "then block 0 adds them to its own, in block order, and stores the sum", "note")
    picture.y = shared + 28
    picture.legend(now, ("work", "a tile and its number of elements"), ("third", "a block"), ("other", "a sum sent with st.async"), blocks="all blocks")


def words(picture, before, now):
    """The accesses of some blocks to device memory, with tickets and with flagged words."""
    picture.title("Sum and ready flag in one word: no block takes a ticket")
    for one in (before, now):
        last = one.grid - 1
        picture.head(one, f"accesses to device memory, in order; {one.grid} blocks in all")
        for block in (0, 1, last - 1, last):
            picture.y += 22
            picture.label(picture.y, f"block {block}")
            picture.chips(LEFT, memory_activities(one, (one if block == one.block else run(one.step, one.elements, block)).rows))
        picture.y += 6
    picture.legend(now, ("work", "elements"), ("other", "stores a sum, or a word"), ("third", "all sums, or all words"), ("ink", "tickets; resets words"),
                   blocks="these blocks")


def function_of(ladder, folder):
    """The drawing function that a step's page names, and the number of elements."""
    try:
        page = step_pages.about(folder)
    except ValueError as error:
        fail(error)
    return getattr(picture_scan if ladder == "scan" else sys.modules[__name__], page.figure, None) or fail(
        f"{folder.name}/README.md names the figure '{page.figure}', which {'picture_scan' if ladder == 'scan' else 'picture'}.py does not have"), page.elements


def draw(ladder, steps, number, block):
    """The figure of a step as SVG; steps: the folders of its ladder, by number."""
    picture, before, now = Picture(), steps.get(f"{int(number) - 1:02}"), steps[number]
    lesson, elements = function_of(ladder, (ROOT / "scan" if ladder == "scan" else ROOT) / now)
    if ladder == "scan":
        lesson(picture, before, now)
    else:
        lesson(picture, *(step and (run(step, elements, block) if elements else named(step)) for step in (before, now)))
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", help="the step's number, such as 03")
    parser.add_argument("--ladder", default="reduce", choices=("reduce", "scan"))
    parser.add_argument("--block", default="0", help="the block to draw, in the reduction")
    parser.add_argument("--output", type=Path, help="default: picture.svg in the step's folder")
    arguments = parser.parse_args()
    folder, option = (ROOT / "scan", " LADDER=scan") if arguments.ladder == "scan" else (ROOT, "")
    steps = {path.name[4:6]: path.name for path in sorted(folder.glob("step[0-9][0-9]_*"))}
    if arguments.step not in steps:
        fail(f"STEP='{arguments.step}' has no figure; choose {min(steps)} to {max(steps)}, as in: make picture STEP=03{option}", 2)
    if not re.fullmatch("[0-9]{1,9}", arguments.block):
        fail(f"BLOCK='{arguments.block}' is not a block number", 2)
    svg = draw(arguments.ladder, steps, arguments.step, int(arguments.block))
    save(svg, arguments.output or folder / steps[arguments.step] / "picture.svg")


if __name__ == "__main__":
    main()
