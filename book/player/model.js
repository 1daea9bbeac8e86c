// model.js: converts the rows of a trace (simulator/counters.md) to steps that can be drawn.
//
// The simulator runs one warp until it waits, then the next. A run without findings is drawn with the warps side by side: a
// step is one instruction of each warp, and after a block barrier all its warps continue in the same step. Between two
// barriers the order of the warps is undefined, and without a race it has no effect. A run with a finding is drawn in
// executed order: a step is the one instruction that ran next, so that the figure shows what led to the result.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const MAX_ROWS = 50000; // of a trace, also for the simulator: a spinning thread produces millions
const LANES = 32, WORD = 4, SECTOR = 32, LINE = 128;
const UNINITIALISED = 0xffffffff, ALL_LANES = 0xffffffff;
const COUNTED = ["warp_instructions", "shared_loads", "shared_stores", "bank_conflicts", "global_load_requests",
    "global_load_sectors", "global_store_requests", "global_store_sectors", "atomics", "shuffles", "block_barriers",
    "warp_barriers"]; // columns of the simulator's counters

// ---- Reading

function readRow(text) {
    const field = text.split(",");
    return {
        launch: +field[0], kernel: field[1], grid: +field[2], block: +field[3], warp: +field[4], order: +field[5], event: field[6],
        opcode: field[7], ptxLine: +field[8], file: field[9], line: +field[10], mask: parseInt(field[11], 16) >>> 0,
        memory: field[12] || "", bytes: +field[13], addresses: field[14] || "", values: field[15] || "",
    };
}

// A CSV with a header as a list of objects; no field contains a comma.
function readTable(text) {
    const [header, ...lines] = text.trim().split("\n").map((line) => line.split(","));
    return lines.map((fields) => Object.fromEntries(fields.map((field, k) => [header[k], field])));
}

const isActive = (mask, lane) => (mask >>> lane) & 1;

function lanesOf(mask) {
    const lanes = [];
    for (let rest = mask; rest; rest &= rest - 1)
        lanes.push(31 - Math.clz32(rest & -rest));
    return lanes;
}

// [{lane, address}] of the active lanes; addresses are offsets in the row's memory.
function accesses(row) {
    if (!row.found) {
        const list = row.addresses ? row.addresses.split(";") : [], lanes = lanesOf(row.mask);
        row.found = list.map((text, k) => ({lane: lanes[k], address: +text.slice(text.indexOf("+") + 1)}));
    }
    return row.found;
}

// The value that an active lane loaded, stored or computed, as text; "" if the trace has none.
function valueOf(row, lane) {
    return bitsOf(row, lane).map((bits) => asNumber(bits, row.opcode)).join(", ");
}

// The register contents of an active lane, in hexadecimal: one for each element of a vector, none if the trace has none.
function bitsOf(row, lane) {
    return row.values ? listedBits(row, lanesOf(row.mask).indexOf(lane)) : [];
}

// The register contents of the k-th active lane.
function listedBits(row, k) {
    row.lists = row.lists || row.values.split(";");
    return row.lists[k] ? row.lists[k].split(" ") : [];
}

// The bits of a register as a number of the instruction's type: its last part, as in ld.shared.f32; for cvt the one before.
// Memory that no thread wrote is filled with UNINITIALISED: a NaN that arithmetic does not produce.
function asNumber(bits, opcode) {
    const type = opcode.split(".").slice(opcode.startsWith("cvt") ? -2 : -1)[0], view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt("0x" + bits));
    if (type === "f32" && view.getUint32(4) === UNINITIALISED)
        return "uninitialised";
    return String(type === "f32" ? view.getFloat32(4) : type === "f64" ? view.getFloat64(0) : type === "s32" ? view.getInt32(4)
        : view.getBigUint64(0));
}

const isLoad = (row) => /^(ld|cp)\b/.test(row.opcode);
const isAtomic = (row) => /^(atom|red)\b/.test(row.opcode);
const isBlockBarrier = (row) => row.memory.startsWith("barrier") && !isClusterBarrier(row); // a release has its last block barrier's number
const isClusterBarrier = (row) => row.opcode.startsWith("barrier.cluster");
const barrierOf = (row) => (isClusterBarrier(row) ? "cluster" : isBlockBarrier(row) ? row.memory : "");
const isDevice = (row) => row.memory.startsWith("device");

// The kind of an instruction, which selects its colour in the figure.
function kind(row) {
    return row.memory === "shared" ? "shared" : isDevice(row) ? "device" : barrierOf(row) ? "barrier"
        : /^shfl|^redux|^vote|^match/.test(row.opcode) ? "shuffle" : "plain";
}

// The numbers of the pieces of `size` bytes that a row accesses.
function pieces(row, size) {
    const found = new Set(), bytes = Math.max(row.bytes, 1);
    for (const {address} of accesses(row))
        for (let piece = Math.floor(address / size); piece * size < address + bytes; piece++)
            found.add(piece);
    return found;
}

// ---- Banks: the simulator's rule, which was measured (machine/ops/memory.c)

// The words that these accesses use.
function wordsOf(row, some) {
    const words = new Set();
    for (const {address} of some)
        for (let byte = 0; byte < Math.max(row.bytes, WORD); byte += WORD)
            words.add(Math.floor((address + byte) / WORD));
    return words;
}

// The largest number of words in one bank.
function wavefronts(row, some) {
    const used = new Uint16Array(LANES);
    let most = 0;
    for (const word of wordsOf(row, some))
        most = Math.max(most, ++used[word % LANES]);
    return most;
}

// Wavefronts beyond those that the bytes need; 8 bytes a lane are served for half a warp at a time, 16 for a quarter.
function bankConflicts(row) {
    const words = Math.max(1, row.bytes / WORD), together = LANES / words;
    const groupLanes = words === 4 ? LANES / 2 : LANES;
    const between = (from, to) => accesses(row).filter(({lane}) => lane >= from && lane < to);
    let conflicts = 0;
    for (let first = 0; first < LANES; first += groupLanes) {
        const needed = Math.ceil((between(first, first + groupLanes).length * words * WORD) / LINE);
        let taken = 0;
        for (let piece = first; piece < first + groupLanes; piece += together)
            taken += wavefronts(row, between(piece, piece + together));
        conflicts += Math.max(0, taken - needed);
    }
    return conflicts;
}

// The words of a row that share a bank with another of its words.
function conflictingWords(row) {
    if (row.memory !== "shared" || bankConflicts(row) === 0)
        return [];
    const words = [...wordsOf(row, accesses(row))], inBank = (bank) => words.filter((word) => word % LANES === bank);
    return words.filter((word) => inBank(word % LANES).length > 1);
}

// ---- Counting

// Calls add(name, number) for each counter of a row. The work of the TMA and of mbarriers is no access of a warp.
function count(row, add) {
    add("warp_instructions", 1);
    if (!row.mask || /^(cp\.async\.bulk|mbarrier)/.test(row.opcode))
        return;
    if (isAtomic(row))
        add("atomics", 1);
    else if (row.memory === "shared") {
        add(isLoad(row) ? "shared_loads" : "shared_stores", 1);
        add("bank_conflicts", bankConflicts(row));
    } else if (isDevice(row)) {
        const name = isLoad(row) ? "global_load" : "global_store";
        add(name + "_requests", 1);
        add(name + "_sectors", pieces(row, SECTOR).size);
    } else if (isBlockBarrier(row))
        add("block_barriers", 1);
    else if (row.opcode.startsWith("bar.warp"))
        add("warp_barriers", 1);
    else if (row.opcode.startsWith("shfl"))
        add("shuffles", 1);
}

// For each counter a list: its value before each step, and at the end.
function countAll(rows, length) {
    const sums = Object.fromEntries(COUNTED.map((name) => [name, new Float64Array(length + 1)]));
    for (const row of rows)
        if (row.event === "run")
            count(row, (name, number) => (sums[name][row.step + 1] += number));
    for (const list of Object.values(sums))
        for (let step = 0; step < length; step++)
            list[step + 1] += list[step];
    return sums;
}

// The simulator's own counters of all blocks and launches, added up.
function countersOf(csv) {
    const table = readTable(csv);
    return Object.fromEntries(COUNTED.map((name) => [name, table.reduce((sum, row) => sum + (+row[name] || 0), 0)]));
}

// ---- Steps

// Replaces lines of other files, such as CUDA's headers, by the line of `file` that the warp came from.
function stayIn(file, rows) {
    const last = [];
    for (const row of rows)
        if (row.file === file)
            last[row.warp] = row.line;
        else
            row.line = last[row.warp] || 0;
}

// Both schedules give each row its step, from `begin` on, and return the steps at which barriers are passed, and the end.

// The warps side by side, aligned at barriers.
function alignWarps(rows, begin) {
    const clock = [], arrived = {}, open = {}, opened = new Set();
    for (const row of rows) {
        const now = clock[row.warp] || begin, barrier = barrierOf(row);
        if (row.event === "release") { // all have arrived: the last one determines the step
            clock[row.warp] = Math.max(now, arrived[barrier] + 1);
            opened.add(clock[row.warp]);
            open[barrier] = true;
            continue;
        }
        row.step = row.event === "run" ? now : now - 1; // "target": what the copy just before writes
        if (row.event === "run")
            clock[row.warp] = now + 1;
        if (barrier) {
            arrived[barrier] = open[barrier] ? now : Math.max(arrived[barrier] || 0, now);
            open[barrier] = false;
        }
    }
    return {opened: [...opened], end: Math.max(begin, ...clock.filter(Boolean))};
}

// In executed order: a step is one row. A barrier's row keeps the step at which its warp was released.
function asExecuted(rows, begin) {
    const last = [], opened = new Set();
    let end = begin;
    for (const row of rows) {
        if (row.event === "release") {
            opened.add(end);
            last[row.warp].released = end;
            continue;
        }
        row.step = row.event === "run" ? end++ : end - 1; // "target": what the copy just before writes
        last[row.warp] = row;
    }
    return {opened: [...opened], end};
}

// Gives each row the number of barriers that its warp has passed: between equal numbers no barrier orders two warps.
function countPassed(rows) {
    const passed = [];
    for (const row of rows) {
        if (row.event === "release")
            passed[row.warp] = (passed[row.warp] || 0) + 1;
        row.passed = passed[row.warp] || 0;
    }
}

// One warp of a launch: its rows, and the last step of each lane.
function warpOf(rows, begin, threads, isExecuted) {
    const last = Array(LANES).fill(-1);
    for (let k = rows.length - 1, missing = ALL_LANES; k >= 0 && missing; missing &= ~rows[k--].mask)
        for (const lane of lanesOf(rows[k].mask & missing))
            last[lane] = rows[k].step;
    const end = rows.length ? rows[rows.length - 1].step : begin - 1;
    return {rows, last, end, isExecuted, lanes: Math.max(0, Math.min(LANES, threads))};
}

// The step at which these rows first access each piece of a memory: {memory: Map(piece, step)}.
function firstAccesses(rows, size, wanted) {
    const first = {};
    for (const row of rows.filter(wanted)) {
        const known = (first[row.memory] = first[row.memory] || new Map());
        for (const piece of pieces(row, size))
            if (!(known.get(piece) <= row.step)) // rows come warp by warp
                known.set(piece, row.step);
    }
    return first;
}

function launchOf(rows, begin, threads, isExecuted) {
    const {opened, end} = (isExecuted ? asExecuted : alignWarps)(rows, begin);
    countPassed(rows);
    const runs = rows.filter((row) => row.event !== "release");
    const warps = [];
    const lastWarp = runs.reduce((warp, row) => Math.max(warp, row.warp), Math.ceil(threads / LANES) - 1);
    const byWarp = Array.from({length: lastWarp + 1}, () => []);
    runs.filter(({event}) => event === "run").forEach((row) => byWarp[row.warp].push(row));
    byWarp.forEach((own, k) => warps.push(warpOf(own, begin, threads - k * LANES, isExecuted)));
    return {
        kernel: rows[0].kernel, grid: rows[0].grid, number: rows[0].launch, threads, begin, end, opened, warps, rows: runs,
        words: firstAccesses(runs, WORD, (row) => row.memory === "shared").shared || new Map(),
        sectors: firstAccesses(runs, SECTOR, isDevice),
    };
}

// The rows of each launch, in the order of the launches.
function byLaunch(rows) {
    const groups = new Map();
    for (const row of rows) {
        if (!groups.has(row.launch))
            groups.set(row.launch, []);
        groups.get(row.launch).push(row);
    }
    return [...groups.values()];
}

// The model of a run, from its trace and counters (CSV) and the program's `file`. isExecuted: in executed order, else with the
// warps side by side. launches: in order; counts: of this block before each step; whole: of all blocks; barriers: the steps at
// which barriers are passed; stops: these, and the starts of launches; isCut: whether rows are missing.
Player.model = function (trace, counters, file, isExecuted) {
    const rows = Player.rows(trace);
    const threads = new Map(readTable(counters).map((row) => [+row.launch, +row.block]));
    const launches = [];
    for (const group of byLaunch(rows)) {
        stayIn(file, group);
        launches.push(launchOf(group, launches.length ? launches[launches.length - 1].end : 0,
            threads.get(group[0].launch) || LANES, isExecuted));
    }
    const length = launches.length ? launches[launches.length - 1].end : 0;
    return {
        launches, length, isExecuted, whole: countersOf(counters), isCut: rows.length === MAX_ROWS,
        counts: countAll(launches.flatMap((launch) => launch.rows), length),
        stops: [...new Set(launches.flatMap((launch) => [launch.begin, ...launch.opened]))].sort((a, b) => a - b),
        barriers: launches.flatMap((launch) => launch.opened),
        launchAt: (step) => launches.find((launch) => step < launch.end) || launches[launches.length - 1],
    };
};

// The rows of a trace, in the order in which they ran, at most MAX_ROWS.
Player.rows = (trace) => trace.trim().split("\n", 1 + MAX_ROWS).slice(1).map(readRow);

// ---- Findings

// The priority of a finding: races first, and races between warps or blocks before those within a warp, which today's
// GPUs may hide. (In a block with several rows of threads, each row counts as a warp.)
function priorityOf({kind, places}) {
    const warps = new Set(places.map(({block, thread: [x, y, z]}) => [block, Math.floor(x / LANES), y, z].join()));
    return kind.startsWith("race") ? Math.min(2, warps.size) : 0;
}

// Findings by priority: the figure shows the first one.
Player.byPriority = (findings) => [...findings].sort((one, other) => priorityOf(other) - priorityOf(one));

// A finding names a kernel with its template arguments, a trace without.
const isOf = (launch, kernel) => launch.kernel.replace(/<.*/, "") === kernel.replace(/<.*/, "");

// A finding counts launches from 1, a trace from 0.
const isIn = (launch, place) => !place.launch || launch.number === place.launch - 1;

// The rows in which a finding's thread, if it is of this block, ran the finding's line; only those with such an access, if there are any.
function rowsOf(model, block, place) {
    if (!place || !place.kernel || place.block[0] !== block)
        return [];
    const thread = place.thread[0], warp = Math.floor(thread / LANES);
    const rows = model.launches.filter((launch) => isOf(launch, place.kernel) && isIn(launch, place) && launch.warps[warp])
        .flatMap((launch) => launch.warps[warp].rows).filter((row) => row.line === place.line && isActive(row.mask, thread % LANES));
    const accessing = rows.filter((row) => row.addresses && /\bwrites?\b/.test(place.access) !== isLoad(row));
    return accessing.length ? accessing : rows;
}

// The launch, memory and address that a finding's thread accesses in a row: "" if none.
function whereOf(row, place) {
    const found = accesses(row).find(({lane}) => lane === place.thread[0] % LANES);
    return found ? `${row.launch} ${row.memory} ${found.address}` : "";
}

// Whether a row shows what its finding names: a shuffle without all lanes, or an uninitialised value.
const showsFault = (row, {access, thread}) => (/\binactive\b/.test(access) && kind(row) === "shuffle" && row.mask !== ALL_LANES)
    || (/^uninitialised/.test(access) && valueOf(row, thread[0] % LANES).includes("uninitialised"));

// The two conflicting accesses of a race: a row for each place, and {memory, address}; if no common address is found, a row of
// each, and the first one's address or null. Of several pairs the first one that no barrier separates.
Player.meeting = function (model, block, [first, second]) {
    const mine = rowsOf(model, block, first), theirs = rowsOf(model, block, second).filter((row) => whereOf(row, second));
    const pairOf = (key) => {
        const known = new Map([...mine].reverse().map((row) => [key(row, first), row]));
        const other = theirs.find((row) => known.has(key(row, second)));
        return other && [known.get(key(other, second)), other];
    };
    const rows = pairOf((row, place) => `${whereOf(row, place)} ${row.passed}`) || pairOf(whereOf)
        || [mine.find((row) => showsFault(row, first)) || mine[0], rowsOf(model, block, second)[0]];
    const [, memory, address] = rows[0] ? whereOf(rows[0], first).split(" ") : [];
    return {rows, met: memory ? {memory, address: +address} : null};
};

// The index of a warp's last row up to a step, or -1.
function lastUpTo(rows, step) {
    let from = 0, to = rows.length;
    while (from < to) {
        const middle = (from + to) >> 1;
        if (rows[middle].step <= step)
            from = middle + 1;
        else
            to = middle;
    }
    return from - 1;
}

// Whether a warp that runs no instruction now could run one: in executed order, unless a barrier holds it.
const isReady = (warp, row, step) => warp.isExecuted && (!row || !barrierOf(row) || /arrive/.test(row.opcode) || row.released <= step);

// The state of a warp at a step: {state: "runs" | "waits" | "ready" | "done", row: the current row, or the last one}.
Player.warpAt = function (warp, step) {
    const row = warp.rows[lastUpTo(warp.rows, step)] || null;
    const state = row && row.step === step ? "runs" : step > warp.end ? "done" : isReady(warp, row, step) ? "ready" : "waits";
    return {state, row: state === "done" ? null : row};
};

// The last value that a lane loaded, stored or computed up to a step: {value, row} or null. In a kernel with floats, the last
// float; else what the lane last loaded or stored.
Player.lastValue = function (warp, lane, step) {
    warp.hasFloats = warp.hasFloats ?? warp.rows.some((row) => row.opcode.endsWith("f32"));
    for (let k = lastUpTo(warp.rows, step); k >= 0; k--) {
        const row = warp.rows[k];
        if (row.values && isActive(row.mask, lane) && (warp.hasFloats ? row.opcode.endsWith("f32") : row.addresses))
            return {value: valueOf(row, lane), row};
    }
    return null;
};

// For each word of shared memory its accesses, in the order of the steps: [{step, bits, row, lane, isWrite}]; without bits the trace
// lacks the value. Bits become numbers where they are shown: a run has far more accesses than a step has words.
function wordHistory(launch) {
    const history = new Map();
    for (const row of launch.rows.filter(({memory}) => memory === "shared")) {
        const isWrite = !isLoad(row) || row.event !== "run", hasValues = row.event === "run" && !isAtomic(row) && row.bytes >= WORD;
        accesses(row).forEach(({lane, address}, k) => {
            const values = hasValues ? listedBits(row, k) : [];
            for (let byte = 0; byte < row.bytes; byte += WORD) {
                const word = Math.floor((address + byte) / WORD), bits = values[(byte / row.bytes) * values.length];
                if (!history.has(word))
                    history.set(word, []);
                history.get(word).push({step: row.step, bits, row, lane, isWrite});
            }
        });
    }
    for (const list of history.values())
        list.sort((a, b) => a.step - b.step);
    return history;
}

// The value of a word of shared memory after a step: {value, by: the last write, or null}. If the trace lacks the value of a
// write, it is that of the next load.
Player.wordAt = function (launch, word, step) {
    launch.history = launch.history || wordHistory(launch);
    let from = null, by = null; // from: the access that has the value
    for (const one of launch.history.get(word) || []) {
        if (one.step > step && (from || !by || one.isWrite))
            break;
        from = one.isWrite ? one.bits && one : from || (one.bits && one);
        by = one.isWrite ? one : by;
    }
    return {value: from ? asNumber(from.bits, from.row.opcode) : "", by};
};

// The state of a lane at a step: a kind of instruction, "inactive", "waits", "done", or "none" for a lane without a thread.
Player.laneAt = function (warp, {state, row}, lane, step) {
    if (lane >= warp.lanes)
        return "none";
    if (state === "done" || step > warp.last[lane])
        return "done";
    if (state === "waits")
        return row && isActive(row.mask, lane) ? "waits" : "inactive";
    if (state === "ready")
        return "ready";
    return isActive(row.mask, lane) ? kind(row) : "inactive";
};

Object.assign(Player, {MAX_ROWS, LANES, WORD, SECTOR, LINE, COUNTED, accesses, pieces, kind, isLoad, isAtomic, isDevice, conflictingWords, valueOf,
    readTable, isActive});
})();
