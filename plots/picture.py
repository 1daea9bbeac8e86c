#!/usr/bin/env python3
"""Draws what a step does, beside the step before it, from a run of both on the simulator: picture.svg in the step's folder.

make picture STEP=03 builds both and calls this, and make picture STEP=03 LADDER=scan those of the prefix sum; a program that you have changed
is drawn as it now is."""

import argparse
import os
import re
from difflib import SequenceMatcher
from pathlib import Path

import picture_scan
from drawing import LEFT, SPAN, Picture, columns, count, middle, save
from traced import (LANES, LINE, ROOT, WORD, adding_intervals, additions, all_blocks, element_loads, fail, intervals,
                   loaded_elements, needed, rounds, run, timeline)


def plain(opcode):
    """An opcode as a label: what it does, without the type unless that is float."""
    parts = opcode.split(".")
    return ".".join(parts[:2]) if parts[0] in ("ld", "st", "bar") or parts[-1] == "f32" else parts[0]


# ---- The lessons: each draws what the step before did, and this one

def one_thread(picture, _, now):
    """Which element is loaded when, and by how many lanes."""
    rows = element_loads(now)
    on = max(len(row.lanes) for row in rows)
    picture.title(f"{'One thread' if on == 1 else count(on, 'thread')}: {len(rows)} loads, one after the other")
    picture.y += 26
    right = LEFT + 400
    picture.text(LEFT, picture.y, "the 128-byte line that a load asks for: 32 elements", "note")
    picture.text(right, picture.y, f"the warp's 32 lanes: {on} on", "note")
    for k, row in enumerate(rows):
        y = picture.y + 6 + 11 * k
        if k == 0 or k % 8 == 7:
            picture.label(y + 9, f"load {k + 1}")
        for x, marked in ((LEFT, {address % LINE // WORD for address in row.addresses}), (right, row.lanes)):
            picture.boxes("faint", [(x, y, 32 * 11 - 1, 10)])
            picture.boxes("work", [(x + 11 * mark, y, 10, 10) for mark in marked])
    picture.y += 6 + 11 * len(rows)
    picture.legend(now, ("work", "the element that is used; the lane that works"),
                   ("faint", "the rest of the line; lanes without a thread"))


def chain(picture, one):
    """One load after the other: to the right the element, downwards the time."""
    rows = element_loads(one)
    picture.head(one, f"one thread adds {len(rows)} elements, each to the sum of all before it")
    high, wide = 180, SPAN / one.elements
    picture.boxes("faint", [(LEFT, picture.y, SPAN, high)])
    picture.boxes("work", [(LEFT + address // WORD * wide, picture.y + k * high / len(rows), wide, 3)
                           for k, row in enumerate(rows) for address in row.addresses])
    picture.label(picture.y + 9, "load 1")
    picture.label(picture.y + high + 2, f"load {len(rows)}")
    picture.y += high


def tree(picture, before, now):
    """A chain of additions, and the tree of a block."""
    threads, pitch, high = range(now.warps * LANES), 26, 7
    picture.title(f"A tree: {len(loaded_elements(now))} elements in {count(len(rounds(now)), 'round')}, in place of "
                  f"{count(len(element_loads(before)), 'addition')} one after the other")
    chain(picture, before)
    picture.head(now, f"{count(len(threads), 'thread')} load an element each; then sums are added in pairs, many at once")
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
    picture.legend(now, ("third", "loads an element"), ("work", "adds"), ("faint", "idles"))


def differing(one, other):
    """The rows of one that the other has no match for."""
    opcodes = [[row.opcode for row in rows] for rows in (one, other)]
    pairs = SequenceMatcher(None, *opcodes, False).get_matching_blocks()
    matched = {k for begin, _, size in pairs for k in range(begin, begin + size)}
    return [row for k, row in enumerate(one) if k not in matched]


def remainder(picture, before, now):
    """The instructions of one round, by source line; what only one of the two steps has stands out."""
    parts = [adding_intervals(one, 0)[:2][-1] for one in (before, now)]
    gone, new = differing(*parts), differing(*parts[::-1])
    names = [" + ".join(plain(row.opcode) for row in rows) or "nothing" for rows in (new, gone)]
    same = additions(before) == additions(now)
    picture.title(f"{'The same additions' if same else 'Other additions'}, with {names[0]} in place of {names[1]}")
    for one, rows, special, colour in ((before, parts[0], gone, "other"), (now, parts[1], new, "work")):
        source = (ROOT / one.step / "reduce.cu").read_text().splitlines()
        picture.head(one, f"what warp 0 runs in the second round: {count(len(rows), 'PTX instruction')}, by source line")
        for line in dict.fromkeys(row.line for row in rows if row.file == "reduce.cu"):
            picture.y += 22
            picture.text(0, picture.y, source[line - 1].strip()[:48], "code")
            picture.chips(330, [(colour if row in special else "faint", plain(row.opcode))
                                for row in rows if row.line == line])
    if any(row.opcode.startswith(("rem.", "div.")) for row in gone):
        picture.y += 26
        picture.text(0, picture.y, "PTX is not yet machine code: a GPU has no instruction for rem, it runs a sequence of others.")
    picture.legend(now, ("other", f"only in step {before.number}"), ("work", f"only in step {now.number}"), ("faint", "in both"))


def packed(picture, before, now):
    """Who adds in each round. How many warps that keeps busy, the lesson lets its readers count."""
    picture.title("The threads that add stand side by side, and fill whole warps")
    for one in (before, now):
        picture.head(one, "who adds in which round")
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
    picture.legend(now, ("work", "adds"), ("idle", "idles while its warp adds"), ("faint", "its whole warp has nothing to add"))


def first_add(picture, before, now):
    """Which elements a block loads, and how many blocks the array takes."""
    found = {one.step: loaded_elements(one) for one in (before, now)}
    each = {one.step: len(found[one.step]) // (one.warps * LANES) for one in (before, now)}
    picture.title(f"Each thread loads {count(each[now.step], 'element')} and adds them at once: "
                  f"{count(now.grid, 'block')}, not {before.grid}")
    wide, unit = SPAN / now.elements, SPAN / max(map(len, found.values()))
    for one in (before, now):
        picture.head(one, f"block {one.block} loads {count(len(found[one.step]), 'element')}, {each[one.step]} a thread")
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
    picture.legend(now, ("work", f"block {now.block}: its elements and threads"), ("faint", "of other blocks"))


def last_warp(picture, before, now):
    """What the warps do between the barriers."""
    colours = {"loads": "third", "adds": "work", "tests": "other"}
    times = [timeline(one) for one in (before, now)]
    picture.title("The last rounds need one warp: it no longer stops the block")
    scale = SPAN / max(begin + length for stretches, _ in times for mine in stretches for begin, length, _ in mine)
    for one, (stretches, barriers) in zip((before, now), times):
        picture.head(one, "to the right: PTX instructions that a warp runs")
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
    """The instructions of the rounds at whose end the block waits."""
    parts = [adding_intervals(one, 0) for one in (before, now)]
    overhead = [sum(kind(row) == "other" for rows in part for row in rows) for part in parts]
    picture.title(f"Without the loop: {count(overhead[1], 'instruction')} for tests and indices in "
                  f"{count(len(parts[1]), 'round')}, not {overhead[0]}")
    for one, part in zip((before, now), parts):
        picture.head(one, f"what warp 0 runs in these rounds: {count(sum(map(len, part)), 'PTX instruction')}")
        for k, rows in enumerate(part, 1):
            picture.y += 22
            picture.label(picture.y, f"round {k}")
            picture.chips(LEFT, [(kind(row), plain(row.opcode)) for row in rows])
        picture.y += 6
    picture.legend(now, *((css, words) for css, words, _ in KINDS))


def stride(picture, before, now):
    """Where in the array a block reads, load after load."""
    parts = [[[row for row in element_loads(one) if row.warp == warp] for warp in range(one.warps)] for one in (before, now)]
    turns = [max(map(len, part)) for part in parts]
    picture.title(f"A block goes through the whole array: {count(turns[1], 'load')} a thread, not {turns[0]}, "
                  f"and {count(now.grid, 'block')}, not {before.grid}")
    wide = SPAN / now.elements
    for one, part, most in zip((before, now), parts, turns):
        picture.head(one, f"{count(one.grid, 'block')} of {one.warps * LANES} threads; a thread loads {count(most, 'element')}")
        for turn in range(most):
            picture.label(picture.y + 10, f"load {turn + 1}")
            picture.boxes("faint", [(LEFT, picture.y, SPAN, 11)])
            picture.boxes("work", [(LEFT + address // WORD * wide, picture.y, row.bytes // WORD * wide, 11)
                                   for rows in part for row in rows[turn:turn + 1] for address in row.addresses])
            picture.y += 15
        picture.text(LEFT, picture.y + 10, "element 0", "note")
        picture.text(LEFT + SPAN, picture.y + 10, f"element {one.elements - 1:,}", "note end")
        picture.y += 12
    picture.legend(now, ("work", f"block {now.block} reads"), ("faint", "the array: other blocks read it"))


EVENTS = (("shared stores", "work", r"st\.shared"), ("shared loads", "work", r"ld\.shared"), ("shuffles", "third", r"shfl\."),
          ("block barriers", "other", r"bar\.sync"), ("warp barriers", "other", r"bar\.warp"))


def shuffles(picture, before, now):
    """The words of shared memory that are touched, and how often warps do what."""
    words = [{address // WORD for row in one.rows if row.memory == "shared" for address in row.addresses}
             for one in (before, now)]
    picture.title(f"Lanes hand each other registers: {count(len(words[1]), 'word')} of shared memory, not {len(words[0])}")
    times = [[sum(row.event == "run" and bool(re.match(pattern, row.opcode)) for row in one.rows) for _, _, pattern in EVENTS]
             for one in (before, now)]
    scale = 200 / max(map(max, times))
    high = max(needed(words[0] | words[1], before, "touches shared memory")) // LANES + 1
    for one, touched, often in zip((before, now), words, times):
        picture.head(one, f"{count(len(touched), 'word')} of shared memory")
        picture.text(LEFT, picture.y + 8, "bank 0", "note")
        picture.text(LEFT + 351, picture.y + 8, "bank 31", "note end")
        picture.text(580, picture.y + 8, "how often a warp runs one", "note")
        picture.y += 14
        cells = [(LEFT + word % LANES * 11, picture.y + word // LANES * 11, 10, 10) for word in range(high * LANES)]
        picture.boxes("faint", [cell for word, cell in enumerate(cells) if word not in touched])
        picture.boxes("work", [cell for word, cell in enumerate(cells) if word in touched])
        for k, ((what, css, _), number) in enumerate(zip(EVENTS, often)):
            y = picture.y + 18 * k
            picture.text(570, y + 10, what, "end")
            picture.boxes(css, [(580, y, number * scale, 12)])
            picture.text(586 + number * scale, y + 10, str(number))
        picture.y += max(11 * high, 18 * len(EVENTS))
    picture.legend(now, ("work", "shared memory, touched"), ("faint", "not touched"), ("third", "shuffles"), ("other", "barriers"))


def vectors(picture, before, now):
    """The bytes that each lane of a request gets, and the lines that it covers."""
    first = element_loads(now)[0]
    begin, end = min(first.addresses) // LINE * LINE, max(first.addresses) + first.bytes
    parts = [[row for row in element_loads(one) if any(begin <= address < end for address in row.addresses)]
             for one in (before, now)]
    needed(parts[0], before, "loads these elements")
    picture.title(f"A lane loads {first.bytes} bytes at once: {count(len(parts[1]), 'request')}, not {len(parts[0])}, "
                  f"for the same {(end - begin) // WORD} elements")
    wide, lines = SPAN / (end - begin), range((end - begin) // LINE)
    for one, rows in zip((before, now), parts):
        picture.head(one, f"{rows[0].bytes} bytes a lane: {count(len(rows), 'request')}")
        for k in lines:
            picture.text(LEFT + (k + 0.5) * LINE * wide, picture.y + 6, "128-byte line", "note mid")
        picture.y += 12
        for row in rows:
            covered = len({address // LINE for address in row.addresses})
            picture.label(picture.y + 13, f"warp {row.warp}")
            picture.boxes("faint", [(LEFT + k * LINE * wide, picture.y, LINE * wide - 2, 18) for k in lines])
            picture.boxes("work", [(LEFT + (address - begin) * wide, picture.y + 3, row.bytes * wide - 0.8, 12)
                                   for address in row.addresses])
            picture.text(LEFT + SPAN + 8, picture.y + 13, count(covered, "line"), "note")
            picture.y += 24
    picture.legend(now, ("work", "what a lane gets"), ("faint", "a line of device memory"))


def deeds(one, rows):
    """What a block does with device memory, in order, as labels."""
    array = element_loads(one)[0].memory
    tickets = {row.memory for row in rows if row.opcode.startswith(("atom.", "red."))}
    found = []
    for row in rows:
        if not row.memory.startswith("device") or row.event != "run":
            continue
        if row.memory in tickets:
            what = ("ink", "writes the counter" if row.opcode.startswith("st.") else "takes a ticket")
        elif row.opcode.startswith("st."):
            what = ("other", "stores {}")
        else:
            what = ("work", "loads {:,} elements") if row.memory == array else ("third", "loads {} sums")
        if not found or found[-1][0] != what:
            found.append([what, 0])
        found[-1][1] += len(row.lanes) * row.bytes // WORD
    return [(css, words.format(number)) for (css, words), number in found]


def single_pass(picture, before, now):
    """Which block does what with device memory, in which launch."""
    picture.title(f"The last block adds the sums of all: {count(len(now.passes), 'launch')}, not {len(before.passes)}")
    for one in (before, now):
        blocks = all_blocks(one)
        picture.head(one, "what each block does with device memory, in order")
        for k, rows in enumerate(one.passes):
            for other in blocks[:rows[0].grid]:
                picture.y += 22
                picture.text(0, picture.y, f"launch {k + 1}, block {other.block}", "note")
                picture.chips(116, deeds(one, other.passes[k]))
            picture.y += 6
    picture.legend(now, ("work", "elements"), ("third", "partial sums"), ("other", "stores a sum"), ("ink", "tickets"),
                   blocks="all blocks")


def between_loads(one, most):
    """Warp 0's rows from each of its first loads of elements to the next."""
    parts, elements = [], element_loads(one)
    for row in one.rows:
        if row.warp == 0 and row.event == "run":
            if any(row is load for load in elements):
                parts.append([])
            if parts:
                parts[-1].append(row)
    if len(parts) < most:
        fail(f"{one.step}: a thread of block {one.block} loads only {count(len(parts), 'time')}, this picture shows {most}")
    return parts[:most - 1] + [parts[most - 1][:1]]


def whole_tiles(picture, before, now):
    """What stands between the loads of a thread."""
    kinds = (("third", r"ld\."), ("other", r"(setp|bra)"), ("work", r"add\.f32"), ("faint", ""))
    found = [between_loads(one, 4) for one in (before, now)]
    tests = [sum(row.opcode.startswith("bra") for rows in part for row in rows) for part in found]
    picture.title(f"Four loads with {count(tests[1], 'branch')} between them, not {tests[0]}")
    for one, part in zip((before, now), found):
        picture.head(one, "what warp 0 runs from its first load to its fourth, in PTX")
        for k, rows in enumerate(part, 1):
            picture.y += 22
            picture.label(picture.y, f"load {k}")
            picture.chips(LEFT, [(next(css for css, pattern in kinds if re.match(pattern, row.opcode)), plain(row.opcode))
                                 for row in rows])
    picture.y += 26
    picture.text(0, picture.y, "Where no branch stands between loads, machine code can ask for all before it waits for the first.")
    picture.legend(now, ("third", "load"), ("other", "test and branch"), ("work", "addition"), ("faint", "index"))


def launch_shape(picture, before, now):
    """How many blocks of how many threads are started, for some numbers of elements."""
    sizes = [now.elements << k for k in range(6)]
    shapes = {one.step: [run(one.step, size, 0) for size in sizes] for one in (before, now)}
    wide = SPAN / max(shape.grid * shape.warps for step in shapes.values() for shape in step)
    old, new = max(zip(*shapes.values()), key=lambda pair: pair[0].grid / pair[1].grid)
    picture.title(f"{new.elements:,} elements start {count(new.grid, 'block')} of {new.warps * LANES} threads, "
                  f"not {old.grid} of {old.warps * LANES}")
    for one in (before, now):
        picture.head(one, "the blocks that are started for n elements, as wide as they have threads")
        for shape in shapes[one.step]:
            picture.label(picture.y + 11, f"{shape.elements:,}")
            picture.boxes("work", [(LEFT + block * shape.warps * wide, picture.y, shape.warps * wide - 1, 14)
                                   for block in range(shape.grid)])
            picture.text(LEFT + shape.grid * shape.warps * wide + 8, picture.y + 11, str(shape.grid), "note")
            picture.y += 19
    picture.legend(now, ("work", "a block; the number is how many there are"), sizes=f"{sizes[0]:,} to {sizes[-1]:,}")


def drawn_from(one):
    """The elements that a block loads before its threads first meet, and those that it loads later."""
    early = {id(row) for warp in range(one.warps) for row in intervals(one, warp)[0]}
    parts = ([], [])
    for row in element_loads(one):
        parts[id(row) not in early].extend((address, row.bytes) for address in row.addresses)
    return parts


def queue(picture, before, now):
    """Which block reads what, and what of it a block has drawn."""
    found = {one.step: [drawn_from(other) for other in all_blocks(one)] for one in (before, now)}
    drawn = needed([address for _, part in found[now.step] for address, _ in part], now, "loads what it has drawn")
    dealt = 1 - len(drawn) * 4 / now.elements
    picture.title(f"A tile for each block, {dealt:.0%} of the array, is dealt out; free blocks draw the rest")
    wide = SPAN / (now.elements * WORD)
    for one in (before, now):
        picture.head(one, f"what each of {count(one.grid, 'block')} reads")
        for block, parts in enumerate(found[one.step]):
            picture.label(picture.y + 11, f"block {block}")
            picture.boxes("faint", [(LEFT, picture.y, SPAN, 14)])
            for css, part in zip(("work", "other"), parts):
                picture.boxes(css, [(LEFT + address * wide, picture.y, size * wide, 14) for address, size in sorted(part)])
            picture.y += 19
        picture.text(LEFT, picture.y + 8, "element 0", "note")
        picture.text(LEFT + SPAN, picture.y + 8, f"element {one.elements - 1:,}", "note end")
        picture.y += 8
    picture.y += 26
    picture.text(0, picture.y, "On the simulator one block runs after the other, so the first draws all; on a GPU whichever is free draws next.")
    picture.legend(now, ("work", "dealt out"), ("other", "drawn from the queue"), ("faint", "the array"),
                   blocks="all blocks")


LESSONS = {  # the step's number: what draws it, with how many elements, on a GPU of how many SMs if that matters
    "00": (one_thread, 32), "01": (tree, 256), "02": (remainder, 4096), "03": (packed, 4096), "04": (first_add, 4096),
    "05": (last_warp, 4096), "06": (unrolled, 4096), "07": (stride, 16384), "08": (shuffles, 4096), "09": (vectors, 16384),
    "10": (single_pass, 16384), "11": (whole_tiles, 65536), "12": (launch_shape, 4096), "13": (queue, 2359296, 1),
}


def draw(ladder, steps, number, block):
    """The picture of a step; steps: the folders of its ladder, by number."""
    picture, before, now = Picture(), steps.get(f"{int(number) - 1:02}"), steps[number]
    if ladder == "scan":
        picture_scan.LESSONS[number](picture, before, now)
        return picture.svg()
    lesson, elements, *sm_count = LESSONS[number]
    if sm_count:
        os.environ["SIM_SMS"] = str(sm_count[0])
    lesson(picture, *(step and run(step, elements, block) for step in (before, now)))
    return picture.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", help="its number, as in 03")
    parser.add_argument("--ladder", default="reduce", choices=("reduce", "scan"))
    parser.add_argument("--block", default="0", help="the block to draw, of the first ladder")
    parser.add_argument("--output", type=Path, help="in place of picture.svg in the step's folder")
    arguments = parser.parse_args()
    folder, lessons, option = (ROOT / "scan", picture_scan.LESSONS, " LADDER=scan") if arguments.ladder == "scan" else (ROOT, LESSONS, "")
    steps = {path.name[4:6]: path.name for path in sorted(folder.glob("step[0-9][0-9]_*"))}
    drawn = [number for number in steps if number in lessons]
    if arguments.step not in drawn:
        fail(f"STEP='{arguments.step}' has no picture; {drawn[0]} to {drawn[-1]} have, as in: make picture STEP=03{option}", 2)
    if not re.fullmatch("[0-9]{1,9}", arguments.block):
        fail(f"BLOCK='{arguments.block}' is no block's number, from 0 on", 2)
    svg = draw(arguments.ladder, steps, arguments.step, int(arguments.block))
    save(svg, arguments.output or folder / steps[arguments.step] / "picture.svg")


if __name__ == "__main__":
    main()
