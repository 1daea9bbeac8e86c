"""The figures of the steps of the prefix sum, some of them compared with the previous step.

make picture STEP=03 LADDER=scan"""

import re
from itertools import groupby
from types import SimpleNamespace

from drawing import LEFT, SPAN, columns, count, middle
from traced import LANES, ROOT, WORD, element_loads, ends_at_barrier, fail, intervals, needed, trace

TILE = 4096  # elements, from step 07 on
VECTOR, SECTOR, TAKEN = 16, 32, 8  # bytes, bytes, and the lanes whose vectors one wavefront reads
HARNESS = {"fill", "prepare", "compare"}  # kernels of the harness, launched before and after each scan


def scans(step, elements, block=0, **environment):
    """Runs a step and returns the trace of each scan: `rows` of the first kernel, `launches` with the rows of each launch."""
    rows = trace(ROOT / "build/sim/scan" / step / "scan", elements, block=block, **environment)
    number, _, name = step.removeprefix("step").partition("_")
    found = []
    for harness, mine in groupby(rows, lambda row: row.kernel in HARNESS):
        if not harness:
            launches = [list(each) for _, each in groupby(mine, lambda row: row.launch)]
            found.append(SimpleNamespace(step=step, number=number, name=name, elements=elements, block=block, launches=launches,
                                         rows=launches[0], warps=1 + max(row.warp for row in launches[0])))
    return found or fail(f"{step} has no block {block} at n = {elements}")


def scan(*arguments, **environment):
    return scans(*arguments, **environment)[0]


def together(step, elements, sms):
    """A scan traced for all blocks, resident together on `sms` SMs, in one interleaved order."""
    return scan(step, elements, "all", SIM_TOGETHER="1", SIM_SMS=str(sms))


def one_thread(picture, _, step):
    """The loaded elements and the stored sums, in order."""
    now, right = scan(step, 32), LEFT + 370
    rows = [row for row in now.rows if row.memory.startswith("device")]
    picture.title(f"One thread: a load and a store for each of {now.elements} elements")
    picture.y += 26
    picture.text(LEFT, picture.y, "in: the loaded element", "note")
    picture.text(right, picture.y, "out: the stored sum", "note")
    for k, row in enumerate(rows):
        y, stores = picture.y + 6 + 6 * k, row.opcode.startswith("st.")
        if k % 16 == 0:
            picture.label(y + 7, f"load {k // 2 + 1}")
        picture.boxes("faint", [(x, y, now.elements * 10 - 1, 5) for x in (LEFT, right)])
        picture.boxes("other" if stores else "work", [((right if stores else LEFT) + address // WORD * 10, y, 9, 5) for address in row.addresses])
    picture.y += 6 + 6 * len(rows)
    picture.legend(now, ("work", "loaded"), ("other", "stored"), ("faint", "the rest of the arrays"), blocks="the thread")


def distances(one):
    """For each round of Hillis and Steele: (thread, word) of the reads from shared memory before the additions."""
    found = {}
    for warp in range(one.warps):
        for number, rows in enumerate(intervals(one, warp)):
            shared = [row for row in rows if row.memory == "shared"]
            if ends_at_barrier(rows) and not any(row.opcode.startswith("st.") for row in shared):
                found.setdefault(number, []).extend((warp * LANES + lane, address // WORD) for row in shared
                                                    for lane, address in zip(row.lanes, row.addresses))
    return [found[number] for number in sorted(needed(found, one, "reads the sums of other threads"))]


def hillis_steele(picture, _, step):
    """The adding threads of each round, and the distance of their operands."""
    now, pitch, high = scan(step, 512), 30, 8
    threads = range(now.warps * LANES)
    picture.title("All threads add at the same time; the distance to the left doubles each round")
    picture.head(now, f"a block of {len(threads)} threads; lines for lanes 0 and 16 of each warp")
    picture.label(picture.y + 8, "load")
    picture.boxes("third", columns(now, threads, picture.y, high))
    for reads in distances(now):
        picture.y += pitch
        picture.label(picture.y + 8, f"{reads[0][0] - reads[0][1]} left")
        picture.lines([(middle(now, word), picture.y - pitch + high, middle(now, thread), picture.y)
                       for thread, word in reads if thread % 16 == 0])
        picture.boxes("faint", columns(now, threads, picture.y, high))
        picture.boxes("work", columns(now, [thread for thread, _ in reads], picture.y, high))
    picture.y += high
    picture.legend(now, ("third", "stores an element in shared memory"), ("work", "adds"), ("faint", "its sum is complete"))


TICKS = (("work", "addition", r"add\.f32"), ("third", "shared memory", r"(ld|st)\.shared"), ("other", "shuffle", r"shfl\."))


def ticks(one):
    """(warp, tick, instruction) with one instruction per tick, the ticks at which barriers are passed, and the end."""
    parts, begin, found, passed = [intervals(one, warp) for warp in range(one.warps)], 0, [], []
    for number in range(max(map(len, parts))):
        present = [(warp, part[number]) for warp, part in enumerate(parts) if number < len(part)]
        found += [(warp, begin + k, row) for warp, rows in present for k, row in enumerate(rows)]
        begin += max(len(rows) for _, rows in present)
        passed += [begin] if any(ends_at_barrier(rows) for _, rows in present) else []
    return found, passed, begin


def warp_scans(picture, before, step):
    """The instructions of a block's warps over time."""
    runs = [scan(each, 512) for each in (before, step)]
    times = [ticks(one) for one in runs]
    picture.title("Warps scan in registers, with two block barriers" if len(times[1][1]) == 2 else "The instructions of a block's warps")
    scale, high = SPAN / max(end for *_, end in times), 9
    for one, (found, passed, _) in zip(runs, times):
        picture.head(one, f"horizontal: PTX instructions executed by a warp; {count(len(passed), 'barrier')}")
        boxes = {css: [] for css, *_ in TICKS} | {"idle": []}
        for warp, at, row in found:
            css = next((css for css, _, pattern in TICKS if re.match(pattern, row.opcode)), "idle")
            boxes[css].append((LEFT + at * scale, picture.y + warp * (high + 2), scale, high))
        picture.boxes("faint", [(LEFT, picture.y + warp * (high + 2), passed[-1] * scale, high) for warp in range(one.warps)])
        for css, mine in boxes.items():
            picture.boxes(css, mine)
        picture.boxes("ink", [(LEFT + at * scale - 0.75, picture.y - 3, 1.5, one.warps * (high + 2) + 4) for at in passed])
        for warp in (0, one.warps - 1):
            picture.label(picture.y + warp * (high + 2) + 9, f"warp {warp}")
        picture.y += one.warps * (high + 2)
    picture.legend(runs[1], *((css, words) for css, words, _ in TICKS), ("idle", "index, test, move"), ("faint", "waits"), ("ink", "barrier"))


def first_load(one):
    """The first load of warp 0 from the array, and the sectors that it accesses."""
    row = element_loads(one)[0]
    return row, {address // SECTOR for address in row.addresses}


def requests(picture, before, step):
    """The sectors accessed by the first load of a warp."""
    runs = [scan(each, 8192) for each in (before, step)]
    (_, few), (row, many) = map(first_load, runs)
    picture.title(f"The first load of a warp accesses {count(len(many), 'sector')}, not {len(few)}, and uses {100 * row.bytes // SECTOR} % of their bytes")
    sectors_of(picture, runs)


def sectors_of(picture, runs):
    """A panel for each run: the sectors that the first load of a warp accesses, and the bytes that it uses."""
    rows, accessed = zip(*map(first_load, runs))
    sectors = max(map(max, accessed)) + 2
    wide = SPAN / (sectors * SECTOR)
    for one, row, mine in zip(runs, rows, accessed):
        picture.head(one, f"the first load of warp 0: {count(len(mine), 'sector')} of {SECTOR} bytes")
        for css, chosen in (("faint", set(range(sectors)) - mine), ("idle", mine)):
            picture.boxes(css, [(LEFT + k * SECTOR * wide, picture.y, SECTOR * wide - 1, 22) for k in sorted(chosen)])
        picture.boxes("work", [(LEFT + address * wide, picture.y, row.bytes * wide - ((address + row.bytes) % SECTOR == 0), 22) for address in sorted(row.addresses)])
        picture.text(LEFT, picture.y + 36, "element 0", "note")
        picture.text(LEFT + SPAN, picture.y + 36, f"element {sectors * SECTOR // WORD - 1}", "note end")
        picture.y += 36
    picture.legend(runs[1], ("work", "loaded by a lane"), ("idle", "unused rest of the accessed sectors"), ("faint", "not accessed"))


def slots(one, pattern):
    """The vector slots in shared memory that the first lanes of warp 0 access with its first such instruction."""
    row = next(row for row in one.rows if row.warp == 0 and re.match(pattern, row.opcode))
    return [address // VECTOR - min(stored_slots(one)) for address in row.addresses[:TAKEN]]


def stored_slots(one):
    """The vector slots in shared memory that all warps store to."""
    return needed({address // VECTOR for row in one.rows if row.opcode.startswith("st.shared.v4") for address in row.addresses},
                  one, "stores vectors in shared memory")


def exchange(picture, _, step):
    """The shared-memory slots of vectors at the store (striped) and at the load (blocked)."""
    now = scan(step, 8192)
    used = {slot - min(stored_slots(now)) for slot in stored_slots(now)}
    ways = [("stored as loaded: striped arrangement", "work", slots(now, r"st\.shared\.v4")),
            ("loaded by the threads: first vector of each blocked part", "other", slots(now, r"ld\.shared\.v4"))]
    rows, wide = max(max(lanes) for *_, lanes in ways) // 8 + 1, 78
    picture.title("Shared memory converts a striped into a blocked arrangement")
    for what, css, lanes in ways:
        picture.head(now, f"vectors of lanes 0 to {TAKEN - 1}, {what}")
        for row in range(rows):
            picture.label(picture.y + 22 * row + 14, f"slot {8 * row}")
        for slot in range(8 * rows):
            x, y = LEFT + slot % 8 * wide, picture.y + slot // 8 * 22
            picture.boxes(css if slot in lanes else "faint" if slot in used else "idle", [(x, y, wide - 2, 19)])
            words = f"lane {lanes.index(slot)}" if slot in lanes else "" if slot in used else "unused"
            if words:
                picture.text(x + wide / 2, y + 14, words, "on mid" if slot in lanes else "mid")
        picture.y += 22 * rows
    picture.legend(now, ("work", "stored"), ("other", "loaded"), ("faint", "other vectors; one row of eight slots spans all 32 banks"))


def moved(rows, what):
    """The number of distinct words of device memory that the loads (ld) or stores (st) of these rows access."""
    return len({(row.memory, address + byte) for row in rows if row.opcode.startswith(what) and row.memory.startswith("device")
                for address in row.addresses for byte in range(0, row.bytes, WORD)})


def traffic(picture, runs, what="floats"):
    """The floats (or words) that each launch of some runs reads and writes; a run has `launches`, the rows of all blocks."""
    scale = SPAN / max(moved(rows, "ld") + moved(rows, "st") for one in runs for rows in one.launches) * 0.8
    for one in runs:
        picture.head(one, f"{count(len(one.launches), 'launch')}: the {what} that each reads and writes")
        for rows in one.launches:
            read, written = moved(rows, "ld"), moved(rows, "st")
            picture.text(0, picture.y + 11, rows[0].kernel[:22], "note")
            picture.boxes("work", [(LEFT + 80, picture.y, read * scale, 14)])
            picture.boxes("other", [(LEFT + 80 + read * scale, picture.y, written * scale, 14)])
            picture.text(LEFT + 88 + (read + written) * scale, picture.y + 11, f"{read:,} + {written:,}", "note")
            picture.y += 19


def fewer_bytes(picture, before, step):
    """The floats that each launch reads and writes."""
    runs = [scan(each, 65536, "all") for each in (before, step)]
    totals = [sum(moved(rows, "ld") + moved(rows, "st") for rows in one.launches) / one.elements for one in runs]
    picture.title(f"Aggregates first: {totals[1]:.0f} floats of memory traffic per element, not {totals[0]:.0f}")
    traffic(picture, runs)
    picture.legend(runs[1], ("work", "read"), ("other", "written"), blocks="all blocks")


def looks(one):
    """(polling tile, polled tile, number of writes to its word so far) in order. A block's tile is the one that it publishes."""
    published = [(row.block, row.addresses[0] // 8) for row in one.rows if row.opcode.startswith("st.relaxed")]
    tile_of, held, found = dict(reversed(published)), {}, []
    for row in one.rows:
        tiles = [address // 8 for address in row.addresses]
        if row.opcode.startswith("st.relaxed"):
            tile_of[row.block] = tiles[0]
            held[tiles[0]] = held.get(tiles[0], 0) + 1
        elif row.opcode.startswith("ld.relaxed"):
            found += [(tile_of[row.block], tile, held.get(tile, 0)) for tile in tiles]
    return found


def cells(found, prefix):
    """{(polling tile, polled tile): colour}; a word that was written `prefix` times contains a prefix."""
    last = {poller: max(tile for other, tile, held in found if other == poller and held >= prefix)
            for poller, _, held in found if held >= prefix}  # where each look-back ended
    return {(poller, tile): "third" if tile > last.get(poller, -1) else "other" if tile == last[poller] else "idle" for poller, tile, held in found if held}


def look_back(picture, title, *panels):
    """The tiles that each tile polled. A panel is (run, number of writes after which a word contains a prefix)."""
    picture.title(title)
    picture.y += 30
    tiles, size = 28, 12
    for x, (one, prefix) in zip((LEFT, 478), panels):
        picture.text(x, picture.y, f"step {one.number}, {one.name}", "step")
        picture.text(x, picture.y + 18, "horizontal: the polled tile", "note")
        shown = cells(looks(one), prefix) | {(tile, tile): "work" for tile in range(tiles)}
        for css in ("faint", "third", "other", "idle", "work"):
            picture.boxes(css, [(x + tile * size, picture.y + 26 + poller * size, size - 1.5, size - 1.5) for poller in range(tiles)
                                for tile in range(poller + 1) if shown.get((poller, tile), "faint") == css])
        for tile in (0, tiles - 1):
            picture.text(x - 8, picture.y + 36 + tile * size, f"tile {tile}", "note end")
    picture.y += 26 + tiles * size
    picture.legend(panels[-1][0], ("work", "the polling tile"), ("third", "aggregate (added)"), ("other", "prefix: look-back ends"),
                   ("idle", "read, not needed"), ("faint", "not read"), blocks="all blocks")


def decoupled(picture, _, step):
    look_back(picture, "Decoupled look-back: a tile adds aggregates until it finds a prefix", (together(step, 28 * 2 * TILE, 2), 2))


REGISTER_STATES = (r"atom", r"st\.relaxed", r"ld\.relaxed", r"st\.global")  # taken, published, looks back, stored


def in_registers(picture, _, step):
    """The states of each tile of a block, which are in registers, from its ticket to its store."""
    now, tiles, time = scan(step, 24 * TILE, SIM_TOGETHER="1", SIM_SMS="1"), [], 0  # of a tile: when each state begins
    for row in [row for row in now.rows if row.event == "run" and row.warp == 0]:
        state = next((state for state, pattern in enumerate(REGISTER_STATES) if re.match(pattern, row.opcode)), None)
        if state == 0:
            tiles.append([])
        tile = next((tile for tile in tiles if len(tile) == state or state == 3 and len(tile) == 2), None)  # the first tile needs no look-back
        if tile is not None:
            tile.extend([time] * (1 + state - len(tile)))
            time += 1
    picture.title("A tile is added up as early as possible, and scanned two tiles later")
    picture.head(now, "the tiles of the block; horizontal: order of the events")
    for k, tile in enumerate([tile for tile in tiles if len(tile) == 4]):
        picture.label(picture.y + 11, f"tile {k}")
        for css, begin, until in zip(("faint", "idle", "work"), tile, tile[1:]):
            picture.boxes(css, [(LEFT + begin * SPAN / time, picture.y, (until - begin) * SPAN / time, 14)])
        picture.boxes("ink", [(LEFT + tile[1] * SPAN / time - 1, picture.y - 1, 3, 16)])
        picture.y += 18
    picture.legend(now, ("faint", "loaded and added up"), ("ink", "aggregate published"), ("idle", "waits in registers"), ("work", "look-back, scan, store"))


BETWEEN = (("faint", "copied in"), ("third", "added up"), ("idle", "published"), ("work", "scanned"))  # colour of the time after a state
STATES = (("copied in", "target", r"cp\.async\.bulk\.shared"), ("added up", "run", r"ld\.shared\.v4"), ("published", "run", r"st\.relaxed"),
          ("scanned", "run", r"st\.shared\.v4"), ("stored", "run", r"st\.global"))


def state_times(one):
    """For each tile of the block, in order of arrival: when each state begins. Times are indices in the order of these events."""
    tiles, here, latest, time = [], {}, {}, 0  # here: buffer -> its current tile; latest: state -> the last tile that reached it
    for row in one.rows:
        state = next((state for state, event, pattern in STATES if row.event == event and re.match(pattern, row.opcode)), None)
        buffer = row.addresses[0] // (TILE * WORD) if state and row.memory == "shared" else None
        if state == "copied in":
            here[buffer] = {}
            tiles.append(here[buffer])
        tile = latest.get("added up") if state == "published" else latest.get("scanned") if state == "stored" else here.get(buffer)
        if tile is not None and state not in tile:
            tile[state], latest[state], time = time, tile, time + 1
    return tiles, time


def ahead(picture, _, step):
    """The states of each tile of a block, from its arrival in shared memory on."""
    now = scan(step, 16 * TILE, SIM_TOGETHER="1", SIM_SMS="1")
    tiles, end = state_times(now)
    picture.title("A tile is added up as early as possible, and scanned three tiles later")
    picture.head(now, "the tiles of the block; horizontal: order of the events")
    for k, tile in enumerate(tiles):
        picture.label(picture.y + 11, f"tile {k}")
        for (css, begin), until in zip(BETWEEN, [state for _, state in BETWEEN[1:]] + ["stored"]):
            picture.boxes(css, [(LEFT + tile[begin] * SPAN / end, picture.y, (tile[until] - tile[begin]) * SPAN / end, 14)])
        picture.boxes("ink", [(LEFT + tile["published"] * SPAN / end - 1, picture.y - 1, 3, 16)])
        picture.y += 18
    picture.legend(now, ("faint", "loaded, not added up yet"), ("third", "being added up"), ("ink", "aggregate published"), ("idle", "waits"),
                   ("work", "being scanned"))


WARP_ACTIVITIES = (("ink", "takes ticket", r"atom"), ("third", "TMA load", r"cp\.async\.bulk\.shared"), ("third", "TMA store", r"cp\.async\.bulk\.global"),
                   ("third", "stores", r"st\.global"), ("ink", "warp barrier", r"bar\.warp"), ("ink", "barrier", r"bar\.|barrier\."), ("faint", "waits", r"mbarrier\.try|cp\.async\.bulk\.wait"),
                   ("ink", "arrives", r"mbarrier\.arrive"), ("work", "reads tile", r"ld\.shared\.v4"), ("work", "writes tile", r"st\.shared\.v4"),
                   ("other", "publishes", r"st\.relaxed"), ("other", "polls", r"ld\.relaxed"))


def warp_activities(one, warp, last):
    """The activities of a warp for one tile, in order: (css, words). An instruction `last` ends a tile; the first seven tiles fill the pipeline."""
    done, found = 0, []
    for row in [row for row in one.rows if row.warp == warp and row.event == "run"]:
        activity = next(((css, words) for css, words, pattern in WARP_ACTIVITIES if re.match(pattern, row.opcode)), None)
        again = activity in found[-1:] and activity[0] == "faint" or activity in found[-2:] and activity[0] in ("work", "third")
        if activity and done == 7 and not again:
            found.append(activity)
        done += bool(re.match(last, row.opcode))
    return found


def specialised_warps(picture, title, *steps):
    """The activities of each kind of warp for a tile."""
    picture.title(title)
    for step, kinds in steps:
        one = scan(step, 32 * TILE, SIM_TOGETHER="1", SIM_SMS="1")
        picture.head(one, "the activities of a block's warps for one tile, in order")
        for what, warp, last in kinds:
            picture.y += 20
            picture.label(picture.y, what)
            picture.chips(LEFT, warp_activities(one, warp, last))
        picture.y += 4
    picture.legend(one, ("work", "shared memory"), ("third", "device memory"), ("other", "status words"), ("ink", "tickets and barriers"), ("faint", "waits"))


ARRIVES, LOADS = r"mbarrier\.arrive", r"cp\.async\.bulk\.shared"


def producer(picture, before, step):
    specialised_warps(picture, "A producer warp loads and stores; the consumer warps only scan",
                      (before, [("all", 0, LOADS)]), (step, [("consumers", 0, ARRIVES), ("producer", 16, LOADS)]))


def one_warp_looks(picture, before, step):
    specialised_warps(picture, "One warp looks back while the others scan",
                      (before, [("consumers", 0, ARRIVES), ("producer", 16, LOADS)]),
                      (step, [("consumers", 0, ARRIVES), ("look-back", 16, ARRIVES), ("producer", 17, LOADS)]))


BLOCK_ACTIVITIES = (("ink", "takes a ticket", r"atom"), ("third", "TMA load", r"cp\.async\.bulk\.shared"), ("third", "loads", r"ld\.global"),
         ("ink", "barrier", r"(bar\.|barrier)"), ("ink", "mbarrier", r"mbarrier\.try"), ("work", "reads shared memory", r"ld\.shared\.v4"),
         ("other", "publishes", r"st\.relaxed"), ("other", "polls", r"ld\.relaxed"), ("work", "writes shared memory", r"st\.shared\.v4"),
         ("third", "TMA store", r"cp\.async\.bulk\.global"), ("third", "stores", r"st\.global"))


def short_way(picture, before, step):
    """The activities of a block for a small array, in order of their first occurrence."""
    picture.title("A small array: from device memory straight to registers, and back")
    for each in (before, step):
        one = scan(each, 16 * 4096, 1, SIM_TOGETHER="1", SIM_SMS="8")
        found = [next(((css, words) for css, words, pattern in BLOCK_ACTIVITIES if re.match(pattern, row.opcode)), None) for row in one.rows if row.event == "run"]
        picture.head(one, "the block's activities, in order of first occurrence")
        picture.y += 16
        picture.chips(LEFT, [activity for activity in dict.fromkeys(found) if activity])
        picture.y += 4
    picture.legend(one, ("third", "device memory"), ("work", "shared memory"), ("other", "status words"), ("ink", "tickets and barriers"))


def shapes(picture, before, step):
    """The blocks of small arrays: one box per block, as wide as its warps."""
    sizes = (2**14, 2**16)
    picture.title("A small array: more blocks, fewer elements per thread")
    for elements in sizes:
        for each in (before, step):
            one = scan(each, elements, "all", SIM_TOGETHER="1", SIM_SMS="8")
            blocks = one.rows[0].grid
            picture.head(one, f"{elements:,} elements: {blocks} blocks of {32 * one.warps} threads, {elements // (32 * one.warps * blocks)} elements per thread")
            picture.boxes("work", [(LEFT + k * (one.warps + 2), picture.y, one.warps, 12) for k in range(blocks)])
            picture.y += 14
    picture.legend(one, ("work", "a block; its width: its warps"), blocks="all blocks", sizes=" and ".join(f"{size:,}" for size in sizes))
