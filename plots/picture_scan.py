"""The pictures of the prefix sum's steps: each draws what a step does, beside the step before it where that helps.

make picture STEP=03 LADDER=scan"""

import re
from itertools import groupby
from types import SimpleNamespace

from drawing import LEFT, SPAN, columns, count, middle
from traced import LANES, ROOT, WORD, element_loads, ends_at_barrier, fail, intervals, needed, trace

VECTOR, SECTOR, TAKEN = 16, 32, 8  # bytes; lanes whose vectors are read in one turn
HARNESS = {"fill", "prepare", "compare"}  # its kernels, which run before and after each scan


def scans(step, elements, block=0, **environment):
    """Runs a step and returns what it did in each of its scans: all rows of the first kernel, and those of each launch."""
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
    """A scan seen from all blocks, side by side on a GPU of so many SMs: what they do with device memory, in one order."""
    return scan(step, elements, "all", SIM_TOGETHER="1", SIM_SMS=str(sms))


def one_thread(picture, _, step):
    """Which element is loaded, and which sum stored, one below the other."""
    now, right = scan(step, 32), LEFT + 370
    rows = [row for row in now.rows if row.memory.startswith("device")]
    picture.title(f"One thread: a load and a store for each of {now.elements} elements")
    picture.y += 26
    picture.text(LEFT, picture.y, "in: the element that is loaded", "note")
    picture.text(right, picture.y, "out: the sum that is stored", "note")
    for k, row in enumerate(rows):
        y, stores = picture.y + 6 + 6 * k, row.opcode.startswith("st.")
        if k % 16 == 0:
            picture.label(y + 7, f"load {k // 2 + 1}")
        picture.boxes("faint", [(x, y, now.elements * 10 - 1, 5) for x in (LEFT, right)])
        picture.boxes("other" if stores else "work", [((right if stores else LEFT) + address // WORD * 10, y, 9, 5) for address in row.addresses])
    picture.y += 6 + 6 * len(rows)
    picture.legend(now, ("work", "loaded"), ("other", "stored"), ("faint", "the rest of the arrays"), blocks="the thread")


def distances(one):
    """For each round of Hillis and Steele: (thread, word) of what the threads read in shared memory before they add."""
    found = {}
    for warp in range(one.warps):
        for number, rows in enumerate(intervals(one, warp)):
            shared = [row for row in rows if row.memory == "shared"]
            if ends_at_barrier(rows) and not any(row.opcode.startswith("st.") for row in shared):
                found.setdefault(number, []).extend((warp * LANES + lane, address // WORD) for row in shared
                                                    for lane, address in zip(row.lanes, row.addresses))
    return [found[number] for number in sorted(needed(found, one, "reads the sums of others"))]


def hillis_steele(picture, _, step):
    """Which threads add in each round, and from how far to the left."""
    now, pitch, high = scan(step, 512), 30, 8
    threads = range(now.warps * LANES)
    picture.title("All threads add at the same time, each time what stands twice as far to the left")
    picture.head(now, f"a block of {len(threads)} threads; lines for the first and the middle thread of each warp")
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
    picture.legend(now, ("third", "puts an element into shared memory"), ("work", "adds"), ("faint", "its sum is complete"))


TICKS = (("work", "addition", r"add\.f32"), ("third", "shared memory", r"(ld|st)\.shared"), ("other", "shuffle", r"shfl\."))


def ticks(one):
    """(warp, when it runs, instruction), an instruction a tick; at a barrier a warp waits for the last. And when barriers open."""
    parts, begin, found, opened = [intervals(one, warp) for warp in range(one.warps)], 0, [], []
    for number in range(max(map(len, parts))):
        present = [(warp, part[number]) for warp, part in enumerate(parts) if number < len(part)]
        found += [(warp, begin + k, row) for warp, rows in present for k, row in enumerate(rows)]
        begin += max(len(rows) for _, rows in present)
        opened += [begin] if any(ends_at_barrier(rows) for _, rows in present) else []
    return found, opened, begin


def warp_scans(picture, before, step):
    """What the warps of a block do, instruction by instruction."""
    runs = [scan(each, 512) for each in (before, step)]
    times = [ticks(one) for one in runs]
    picture.title("Warps scan in registers, and meet twice" if len(times[1][1]) == 2 else "What the warps of a block do")
    scale, high = SPAN / max(end for *_, end in times), 9
    for one, (found, opened, _) in zip(runs, times):
        picture.head(one, f"to the right: PTX instructions that a warp runs; {count(len(opened), 'barrier')}")
        boxes = {css: [] for css, *_ in TICKS} | {"idle": []}
        for warp, at, row in found:
            css = next((css for css, _, pattern in TICKS if re.match(pattern, row.opcode)), "idle")
            boxes[css].append((LEFT + at * scale, picture.y + warp * (high + 2), scale, high))
        picture.boxes("faint", [(LEFT, picture.y + warp * (high + 2), opened[-1] * scale, high) for warp in range(one.warps)])
        for css, mine in boxes.items():
            picture.boxes(css, mine)
        picture.boxes("ink", [(LEFT + at * scale - 0.75, picture.y - 3, 1.5, one.warps * (high + 2) + 4) for at in opened])
        for warp in (0, one.warps - 1):
            picture.label(picture.y + warp * (high + 2) + 9, f"warp {warp}")
        picture.y += one.warps * (high + 2)
    picture.legend(runs[1], *((css, words) for css, words, _ in TICKS), ("idle", "index, test, move"), ("faint", "waits"), ("ink", "barrier"))


def first_load(one):
    """The first load of warp 0 from the array, and the sectors that it touches."""
    row = element_loads(one)[0]
    return row, {address // SECTOR for address in row.addresses}


def requests(picture, before, step):
    """The sectors that the first load of a warp touches."""
    runs = [scan(each, 8192) for each in (before, step)]
    (_, few), (row, many) = map(first_load, runs)
    picture.title(f"A warp asks for {len(row.lanes)} elements: they lie in {count(len(many), 'sector')}, not {len(few)}")
    sectors_of(picture, runs)


def wider_requests(picture, before, step):
    """The same, where a lane asks for more."""
    runs = [scan(each, 8192) for each in (before, step)]
    (one, _), (four, _) = map(first_load, runs)
    picture.title(f"As many sectors, and {four.bytes // one.bytes} times as many elements taken from them")
    sectors_of(picture, runs)


def sectors_of(picture, runs):
    """A panel for each run: the sectors that the first load of a warp touches, and what it takes of them."""
    rows, touched = zip(*map(first_load, runs))
    sectors = max(map(max, touched)) + 2
    wide = SPAN / (sectors * SECTOR)
    for one, row, mine in zip(runs, rows, touched):
        picture.head(one, f"the first load of warp 0: {count(len(mine), 'sector')} of {SECTOR} bytes")
        for css, chosen in (("faint", set(range(sectors)) - mine), ("idle", mine)):
            picture.boxes(css, [(LEFT + k * SECTOR * wide, picture.y, SECTOR * wide - 1, 22) for k in sorted(chosen)])
        picture.boxes("work", [(LEFT + address * wide, picture.y, row.bytes * wide - ((address + row.bytes) % SECTOR == 0), 22) for address in sorted(row.addresses)])
        picture.text(LEFT, picture.y + 36, "element 0", "note")
        picture.text(LEFT + SPAN, picture.y + 36, f"element {sectors * SECTOR // WORD - 1}", "note end")
        picture.y += 36
    picture.legend(runs[1], ("work", "what a lane gets"), ("idle", "the rest of the sectors that come with it"), ("faint", "not asked for"))


def places(one, pattern):
    """The places of the tile in shared memory, a vector each, that the first lanes of warp 0 touch with its first such instruction."""
    row = next(row for row in one.rows if row.warp == 0 and re.match(pattern, row.opcode))
    return [address // VECTOR - min(put(one)) for address in row.addresses[:TAKEN]]


def put(one):
    """Where vectors are put into shared memory, by all warps."""
    return needed({address // VECTOR for row in one.rows if row.opcode.startswith("st.shared.v4") for address in row.addresses},
                  one, "puts vectors into shared memory")


def exchange(picture, _, step):
    """Where vectors are put into shared memory, and from where a thread's run is taken."""
    now = scan(step, 8192)
    used = {place - min(put(now)) for place in put(now)}
    ways = [("put as they were loaded, lane beside lane", "work", places(now, r"st\.shared\.v4")),
            ("taken by the threads: the first vector of each run", "other", places(now, r"ld\.shared\.v4"))]
    rows, wide = max(max(lanes) for *_, lanes in ways) // 8 + 1, 78
    picture.title("In lane beside lane, out in runs: shared memory stands between the two")
    for what, css, lanes in ways:
        picture.head(now, f"vectors of lanes 0 to {TAKEN - 1}, {what}")
        for row in range(rows):
            picture.label(picture.y + 22 * row + 14, f"place {8 * row}")
        for place in range(8 * rows):
            x, y = LEFT + place % 8 * wide, picture.y + place // 8 * 22
            picture.boxes(css if place in lanes else "faint" if place in used else "idle", [(x, y, wide - 2, 19)])
            words = f"lane {lanes.index(place)}" if place in lanes else "" if place in used else "empty"
            if words:
                picture.text(x + wide / 2, y + 14, words, "on mid" if place in lanes else "mid")
        picture.y += 22 * rows
    picture.legend(now, ("work", "put there"), ("other", "taken from there"), ("faint", "other vectors; eight places side by side are all 32 banks"))


def moved(rows, what):
    """How many words of device memory the loads (ld) or stores (st) of these rows touch."""
    return len({(row.memory, address + byte) for row in rows if row.opcode.startswith(what) and row.memory.startswith("device")
                for address in row.addresses for byte in range(0, row.bytes, WORD)})


def traffic(picture, runs, what="floats"):
    """How many floats, or words, each launch of some runs reads and writes; a run has launches, rows of all blocks."""
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
    """What each launch reads and writes."""
    runs = [scan(each, 65536, "all") for each in (before, step)]
    totals = [sum(moved(rows, "ld") + moved(rows, "st") for rows in one.launches) / one.elements for one in runs]
    picture.title(f"The totals first: {totals[1]:.0f} floats an element through memory, not {totals[0]:.0f}")
    traffic(picture, runs)
    picture.legend(runs[1], ("work", "read"), ("other", "written"), blocks="all blocks")


def clocked(rows):
    """(block, when, its rows) of each turn of a block: one later than its last, and than the sum from another block that it read."""
    last, told, found = {}, {}, []
    for block, mine in groupby(rows, lambda row: row.block):
        mine = list(mine)
        words = {kind: {row.addresses[0] for row in mine if row.opcode.startswith(f"{kind}.relaxed")} for kind in ("ld", "st")}
        when = 1 + max([last.get(block, -1), *(told[word] for word in words["ld"] if word in told)])
        last[block] = when
        told.update(dict.fromkeys(words["st"], when))
        found.append((block, when, mine))
    return found


def chain(picture, _, step):
    """When each block loads, hands on and stores: as early as the sum that it waits for allows."""
    now = together(step, 12 * 8192, 6)
    turns = clocked(now.rows)
    wide = SPAN / (1 + max(when for _, when, _ in turns))
    picture.title("Loads run side by side; the sums go from block to block, one after the other")
    picture.head(now, "12 blocks; to the right: turns, each as early as what it waits for allows")
    for block in range(12):
        picture.label(picture.y + 11, f"tile {block}")
        times = [[when for mine, when, rows in turns if mine == block and any(row.opcode.startswith(kind) for row in rows)]
                 for kind in ("ld.global", "st.relaxed", "st.global")]
        (load, *_, loaded), (hands_on,), (store, *_, stored) = times
        for css, begin, end in (("third", load, loaded + 1), ("idle", loaded + 1, hands_on), ("ink", hands_on, hands_on + 1), ("work", store, stored + 1)):
            picture.boxes(css, [(LEFT + begin * wide, picture.y, (end - begin) * wide - 1, 14)] if end > begin else [])
        picture.y += 18
    picture.legend(now, ("third", "loads"), ("idle", "waits for the sum"), ("ink", "hands its sum on"), ("work", "scans and stores"), blocks="all blocks")


def looks(one):
    """(tile that looks, tile looked at, how often its word had been written) in order. A block's tile is the one that it publishes."""
    published = [(row.block, row.addresses[0] // 8 - 1) for row in one.rows if row.opcode.startswith("st.relaxed")]
    tile_of, held, found = dict(reversed(published)), {}, []
    for row in one.rows:
        tiles = [address // 8 - 1 for address in row.addresses]
        if row.opcode.startswith("st.relaxed"):
            tile_of[row.block] = tiles[0]
            held[tiles[0]] = held.get(tiles[0], 0) + 1
        elif row.opcode.startswith("ld.relaxed"):
            found += [(tile_of[row.block], tile, held.get(tile, 0)) for tile in tiles]
    return found


def cells(found, prefix):
    """{(tile that looks, tile looked at): colour}; a word that was written `prefix` times holds a prefix."""
    last = {who: max(tile for looker, tile, held in found if looker == who and held >= prefix)
            for who, _, held in found if held >= prefix}  # where each look-back ended
    return {(who, tile): "third" if tile > last.get(who, -1) else "other" if tile == last[who] else "idle" for who, tile, held in found if held}


def look_back(picture, title, *panels):
    """Which tiles each tile looked at; a panel is a run, and how often a word is written until it holds a prefix."""
    picture.title(title)
    picture.y += 30
    tiles, size = 28, 12
    for x, (one, prefix) in zip((LEFT, 478), panels):
        picture.text(x, picture.y, f"step {one.number}, {one.name}", "step")
        picture.text(x, picture.y + 18, "to the right: the tile that is looked at", "note")
        shown = cells(looks(one), prefix) | {(tile, tile): "work" for tile in range(tiles)}
        for css in ("faint", "third", "other", "idle", "work"):
            picture.boxes(css, [(x + tile * size, picture.y + 26 + who * size, size - 1.5, size - 1.5) for who in range(tiles)
                                for tile in range(who + 1) if shown.get((who, tile), "faint") == css])
        for who in (0, tiles - 1):
            picture.text(x - 8, picture.y + 36 + who * size, f"tile {who}", "note end")
    picture.y += 26 + tiles * size
    picture.legend(panels[-1][0], ("work", "the tile itself"), ("third", "a total, added up"), ("other", "a prefix: all before it is in there"),
                   ("idle", "read, not needed"), ("faint", "not read"), blocks="all blocks")


def decoupled(picture, before, step):
    runs = [together(each, 28 * 8192, 2) for each in (before, step)]
    look_back(picture, "Nobody waits for a prefix: a tile adds up totals until it meets one", (runs[0], 1), (runs[1], 2))


def resident(picture, before, step):
    runs = [together(each, 28 * 8192, 2) for each in (before, step)]
    look_back(picture, "A block that stays adds up the totals since its own last tile", (runs[0], 2), (runs[1], 3))


def one_place(one):
    """For each tile of the block: when it is asked for, published and stored. Times are the places in the order of all that begins."""
    tiles, time = [], 0
    for row in [row for row in one.rows if row.event == "run"]:
        free = not tiles or "stored" in tiles[-1]
        if row.opcode.startswith("cp.async.bulk.shared") or free and row.opcode.startswith("ld.global"):
            tile, state = {}, "asked"
            tiles.append(tile)
        elif row.opcode.startswith("st.relaxed"):
            tile, state = next(tile for tile in tiles if "published" not in tile), "published"
        elif row.opcode.startswith("st.global"):
            tile, state = next((tile for tile in tiles if "published" in tile and "stored" not in tile), {"stored": 0}), "stored"
        else:
            continue
        if state not in tile:
            tile[state], time = time, time + 1
    return tiles, time


def beside(picture, before, step):
    """Which of a block's tiles comes while another waits."""
    runs = [scan(each, 12 * 8192, SIM_TOGETHER="1", SIM_SMS="1") for each in (before, step)]
    picture.title("The next tile is asked for while this one waits")
    for one in runs:
        tiles, end = one_place(one)
        picture.head(one, "the tiles of the block; to the right: the order in which things begin")
        free = 0  # when the tile before was stored
        for k, tile in enumerate(tiles):
            picture.label(picture.y + 11, f"tile {k}")
            turn = max(tile["asked"], free)
            for css, begin, until in (("faint", tile["asked"], turn), ("third", turn, tile["published"]), ("idle", tile["published"], tile["stored"]),
                                      ("work", tile["stored"], tile["stored"] + 1)):
                picture.boxes(css, [(LEFT + begin * SPAN / (end + 1), picture.y, (until - begin) * SPAN / (end + 1), 14)] if until > begin else [])
            picture.boxes("ink", [(LEFT + tile["published"] * SPAN / (end + 1) - 1, picture.y - 1, 3, 16)])
            free = tile["stored"] + 1
            picture.y += 18
    picture.legend(runs[-1], ("faint", "comes, or has come"), ("third", "comes and is added up"), ("ink", "its total is published"), ("idle", "waits"),
                   ("work", "is stored"))


TILE = 4096  # elements, from step 11 on
BETWEEN = (("faint", "copied in"), ("third", "added up"), ("idle", "published"), ("work", "scanned"))  # what follows a state
STATES = (("copied in", "target", r"cp\.async\.bulk\.shared"), ("added up", "run", r"ld\.shared\.v4"), ("published", "run", r"st\.relaxed"),
          ("scanned", "run", r"st\.shared\.v4"), ("stored", "run", r"st\.global"))


def moments(one):
    """For each tile of the block, in the order in which they come: when each state begins. Times are the places in the order of all that begins."""
    tiles, here, latest, time = [], {}, {}, 0  # here: the tile that has a place of shared memory now; latest: the tile that came to a state last
    for row in one.rows:
        state = next((state for state, event, pattern in STATES if row.event == event and re.match(pattern, row.opcode)), None)
        place = row.addresses[0] // (TILE * WORD) if state and row.memory == "shared" else None
        if state == "copied in":
            here[place] = {}
            tiles.append(here[place])
        tile = latest.get("added up") if state == "published" else latest.get("scanned") if state == "stored" else here.get(place)
        if tile is not None and state not in tile:
            tile[state], latest[state], time = time, tile, time + 1
    return tiles, time


def ahead(picture, _, step):
    """What becomes of each tile of a block, from the moment at which it lies in shared memory."""
    now = scan(step, 16 * TILE, SIM_TOGETHER="1", SIM_SMS="1")
    tiles, end = moments(now)
    picture.title("A tile is added up as soon as it can be, and scanned three tiles later")
    picture.head(now, "the tiles of the block; to the right: the order in which things begin")
    for k, tile in enumerate(tiles):
        picture.label(picture.y + 11, f"tile {k}")
        for (css, begin), until in zip(BETWEEN, [state for _, state in BETWEEN[1:]] + ["stored"]):
            picture.boxes(css, [(LEFT + tile[begin] * SPAN / end, picture.y, (tile[until] - tile[begin]) * SPAN / end, 14)])
        picture.boxes("ink", [(LEFT + tile["published"] * SPAN / end - 1, picture.y - 1, 3, 16)])
        picture.y += 18
    picture.legend(now, ("faint", "loaded, its total unknown"), ("third", "is added up"), ("ink", "its total is published"), ("idle", "waits"),
                   ("work", "is scanned"))


DUTIES = (("ink", "draws", r"atom"), ("third", "engine: load", r"cp\.async\.bulk\.shared"), ("third", "engine: store", r"cp\.async\.bulk\.global"),
          ("third", "stores", r"st\.global"), ("ink", "the warp's barrier", r"bar\.warp"), ("ink", "barrier", r"bar\.|barrier\."), ("faint", "waits", r"mbarrier\.try|cp\.async\.bulk\.wait"),
          ("ink", "arrives", r"mbarrier\.arrive"), ("work", "reads runs", r"ld\.shared\.v4"), ("work", "writes runs", r"st\.shared\.v4"),
          ("other", "publishes", r"st\.relaxed"), ("other", "looks at words", r"ld\.relaxed"))


def duties(one, warp, last):
    """What a warp does for one tile, in order: (css, words). With an instruction `last` it is done with a tile; the first seven fill the places."""
    done, found = 0, []
    for row in [row for row in one.rows if row.warp == warp and row.event == "run"]:
        deed = next(((css, words) for css, words, pattern in DUTIES if re.match(pattern, row.opcode)), None)
        again = deed in found[-1:] and deed[0] == "faint" or deed in found[-2:] and deed[0] in ("work", "third")
        if deed and done == 7 and not again:
            found.append(deed)
        done += bool(re.match(last, row.opcode))
    return found


def roles(picture, title, *steps):
    """What each kind of warp does for a tile."""
    picture.title(title)
    for step, kinds in steps:
        one = scan(step, 32 * TILE, SIM_TOGETHER="1", SIM_SMS="1")
        picture.head(one, "what a block's warps do for one tile, in order")
        for what, warp, last in kinds:
            picture.y += 20
            picture.label(picture.y, what)
            picture.chips(LEFT, duties(one, warp, last))
        picture.y += 4
    picture.legend(one, ("work", "shared memory"), ("third", "device memory"), ("other", "words of the tiles"), ("ink", "tickets and barriers"), ("faint", "waits"))


ARRIVES, LOADS = r"mbarrier\.arrive", r"cp\.async\.bulk\.shared"


def copier(picture, before, step):
    roles(picture, "Who scans does not store, and does not wait for who stores",
          (before, [("scans", 0, LOADS)]), (step, [("scans", 0, ARRIVES), ("copies", 16, LOADS)]))


def one_warp_looks(picture, before, step):
    roles(picture, "One warp looks back, while the others scan",
          (before, [("scans", 0, ARRIVES), ("copies", 16, LOADS)]), (step, [("scans", 0, ARRIVES), ("looks", 16, ARRIVES), ("copies", 17, LOADS)]))


def old_words(picture, _, step):
    """The numbers of the launch that the words carry, after each publication of the second launch."""
    runs = scans(step, 8 * 4096, "all", SIM_TOGETHER="1", SIM_SMS="1", SIM_TRACE_VALUES="1")
    now, wide = runs[1], 80
    words, rows = {}, [[row for row in one.rows if row.opcode.startswith("st.relaxed")] for one in runs[:2]]
    for row in rows[0]:
        words[row.addresses[0] // 8] = row.values[0] >> 32
    first = max(words.values())
    picture.title("A word says in which launch it was written, so an old one needs no clearing")
    picture.head(now, "the words of the tiles, from top to bottom: after each total that the second launch publishes")
    for k, row in enumerate([None, *rows[1]]):
        if row:
            words[row.addresses[0] // 8] = row.values[0] >> 32
        picture.label(picture.y + 14, f"{k} new" if k else "before")
        for tile, number in sorted(words.items()):
            picture.boxes("other" if number == first else "work", [(LEFT + tile * wide, picture.y, wide - 3, 18)])
            picture.text(LEFT + tile * wide + wide / 2, picture.y + 13, f"launch {number}", "on mid")
        picture.y += 22
    picture.legend(now, ("other", "an old total: not there yet"), ("work", "a total of this launch"), blocks="all blocks")


DEEDS = (("ink", "draws a tile", r"atom"), ("third", "copy engine: in", r"cp\.async\.bulk\.shared"), ("third", "loads", r"ld\.global"),
         ("ink", "barrier", r"(bar\.|barrier)"), ("ink", "mbarrier", r"mbarrier\.try"), ("work", "reads shared memory", r"ld\.shared\.v4"),
         ("other", "publishes", r"st\.relaxed"), ("other", "looks at words", r"ld\.relaxed"), ("work", "writes shared memory", r"st\.shared\.v4"),
         ("third", "copy engine: out", r"cp\.async\.bulk\.global"), ("third", "stores", r"st\.global"))


def short_way(picture, before, step):
    """What a block of a small array does, each thing where it does it first."""
    picture.title("A small array: from device memory straight to registers, and back")
    for each in (before, step):
        one = scan(each, 16 * 4096, 1, SIM_TOGETHER="1", SIM_SMS="8")
        found = [next(((css, words) for css, words, pattern in DEEDS if re.match(pattern, row.opcode)), None) for row in one.rows if row.event == "run"]
        picture.head(one, "what the block does, in the order in which it does each thing first")
        picture.y += 16
        picture.chips(LEFT, [deed for deed in dict.fromkeys(found) if deed])
        picture.y += 4
    picture.legend(one, ("third", "device memory"), ("work", "shared memory"), ("other", "words of the tiles"), ("ink", "tickets and barriers"))


def helped(picture, _, step):
    """Which totals each block found, and which tiles it added up itself: blocks that begin one after the other, in a shuffled order."""
    now, wide, high = scan(step, 16 * TILE, "all", SIM_BLOCK_ORDER="1"), 42, 16
    added, looked = {}, {}  # the tiles of each block, in the order in which blocks begin
    for row in now.rows:
        tiles = [address // 8 for address in row.addresses]
        if row.opcode.startswith("st.relaxed"):
            added.setdefault(row.block, []).extend(tiles)
        elif row.opcode.startswith("ld.relaxed"):
            looked.setdefault(row.block, set()).update(tiles)
    picture.title("A block adds up the tiles whose blocks have not begun")
    picture.head(now, "blocks from top to bottom as they begin, one after the other; to the right: tiles 0 to 15")
    for block, (own, *others) in added.items():
        picture.label(picture.y + 12, f"block {block}")
        for css, tiles in (("work", {own}), ("other", set(others)), ("third", looked.get(block, set()) - set(others)),
                           ("faint", set(range(16)) - {own, *looked.get(block, [])})):
            picture.boxes(css, [(LEFT + tile * wide, picture.y, wide - 2, high - 2) for tile in sorted(tiles)])
        picture.y += high
    picture.legend(now, ("work", "its own tile"), ("third", "its total was there"), ("other", "was late: the block adds it up"), ("faint", "comes later"), blocks="all blocks")


def shapes(picture, before, step):
    """Who scans the tiles of arrays of several sizes, on a GPU of two SMs."""
    sizes, found = [1 << power for power in range(13, 19)], []
    picture.title("A tile of more registers: the small kernel goes twice as far")
    for each in (before, step):
        runs = [scan(each, n, "all", SIM_TOGETHER="1", SIM_SMS="2") for n in sizes]
        picture.head(runs[0], "the tiles of arrays of several sizes, and who scans them; two SMs of 2048 threads")
        for one in runs:
            tiles = sum(row.opcode.startswith("st.relaxed") for row in one.rows)
            pipeline = any(row.opcode.startswith("cp.async.bulk") for row in one.rows)
            wide = SPAN * one.elements / sizes[-1] / tiles
            picture.label(picture.y + 12, f"2^{one.elements.bit_length() - 1}")
            picture.boxes("third" if pipeline else "work" if one.warps == 8 else "other",
                          [(LEFT + tile * wide, picture.y, wide - 1, 14) for tile in range(tiles)])
            picture.y += 18
    picture.legend(runs[0], ("work", "small kernel, 256 threads a tile"), ("other", "small kernel, 512 threads a tile"), ("third", "the pipeline"),
                   blocks="all blocks", sizes=f"{sizes[0]:,} to {sizes[-1]:,}")


LESSONS = {"00": one_thread, "01": hillis_steele, "02": warp_scans, "03": requests, "04": wider_requests, "05": exchange, "06": fewer_bytes, "07": chain,
           "08": decoupled, "09": resident, "10": beside, "11": ahead, "12": copier, "13": one_warp_looks, "14": old_words, "15": short_way,
           "16": helped, "17": shapes}
