// view.js: draws one step: warps and lanes with their values, shared memory by banks, device memory by lines; and an overview
// of the run along the time line.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {LANES, WORD, SECTOR, LINE, element} = Player;
const SECTORS = LINE / SECTOR, MAX_ROWS = 12, MAX_LINES = 48;

// Sets a class only if it changed: most cells stay the same from one step to the next.
function paint(cell, name) {
    if (cell.className !== name)
        cell.className = name;
}

const cells = (number) => Array.from({length: number}, () => element("i"));

// ---- Warps

const short = (opcode) => opcode.replace(/^barrier\./, "").split(".").filter((part) => !/^(to|rn|relaxed|release|acquire|aligned|[subf]\d+|[bp]red)$/.test(part)).join(".");

// isBrief: without the instruction's name.
function statusText({state, row}, isBrief) {
    if (state === "done")
        return "done";
    if (isBrief)
        return `${row && row.line ? `line ${row.line}` : ""} ${state === "runs" ? "" : state}`;
    return `${row && row.line ? row.line : ""} ${state === "runs" ? short(row.opcode) : state}`;
}

function warpRow(number) {
    const lanes = cells(LANES), status = element("span", {class: "pl-status", title: "source line, and the PTX instruction without its types (shl: shift left); "
        + "waits: at a barrier; ready: another warp runs; done: has exited"});
    const row = element("div", {class: "pl-warp"}, element("span", {class: "pl-name", title: `warp ${number}: threads ${number * LANES}–${number * LANES + LANES - 1}`},
        element("span", {class: "pl-wide"}, "warp "), String(number)),
        element("span", {class: "pl-lanes"}, lanes), status);
    return {row, lanes, status};
}

// The rows of the warps: show(launch, step, flagged, chosen); flagged: threads of a finding, chosen: the reader's thread.
function warpsView(box) {
    let rows = [];
    return function (launch, step, flagged, chosen) {
        const isBrief = box.closest(".pl-is-brief") !== null;
        if (rows.length !== launch.warps.length) {
            rows = launch.warps.map((_, k) => warpRow(k));
            box.replaceChildren(...rows.map(({row}) => row));
            box.classList.toggle("pl-many", rows.length > 8);
        }
        launch.warps.forEach((warp, k) => {
            const now = Player.warpAt(warp, step), {row, lanes, status} = rows[k];
            lanes.forEach((cell, lane) => paint(cell, "pl-" + Player.laneAt(warp, now, lane, step)
                + (flagged.has(k * LANES + lane) ? " pl-bad" : "") + (chosen === k * LANES + lane ? " pl-mine" : "")));
            status.textContent = statusText(now, isBrief);
            paint(row, "pl-warp pl-is-" + now.state);
        });
    };
}

// ---- Values

const isBad = (value) => value === "NaN" || value === "uninitialised";

// A value that fits into a cell: "uninit.", or a number of five digits; of a vector its first element.
function inCell(value) {
    const [first, ...others] = value.split(", ");
    const text = first === "uninitialised" ? "uninit." : first.length > 7 ? String(+Number(first).toPrecision(5)) : first;
    return (text + (others.length ? "…" : "")).replace("-", "−");
}

// Style sheets show a cell's value: screen readers read the chosen thread's.
function setValue(cell, text) {
    if (cell.dataset.value !== text)
        cell.dataset.value = text;
}

// The warp whose values are shown: the chosen thread's, or the first one; in executed order the one that runs.
function followed(launch, step, chosen) {
    const running = launch.warps.findIndex((warp) => warp.isExecuted && Player.warpAt(warp, step).state === "runs");
    return running >= 0 ? running : chosen === null ? 0 : Math.min(launch.warps.length - 1, Math.floor(chosen / LANES));
}

// The values of one warp's lanes: show(launch, step, chosen).
function valuesView(box) {
    const lanes = cells(LANES), name = element("p", {class: "pl-heading"});
    box.replaceChildren(name, element("div", {class: "pl-warp pl-valued"}, element("span", {class: "pl-name"}, "value"), element("span", {class: "pl-lanes"}, lanes)));
    return function (launch, step, chosen) {
        const number = followed(launch, step, chosen), warp = launch.warps[number];
        name.textContent = `Values in warp ${number}: what each lane last loaded, stored or computed`;
        lanes.forEach((cell, lane) => {
            const last = Player.lastValue(warp, lane, step), value = last ? last.value : "";
            setValue(cell, inCell(value));
            paint(cell, (isBad(value) ? "pl-nan" : last && last.row.step === step ? "pl-fresh" : "") + (chosen === number * LANES + lane ? " pl-mine" : ""));
        });
    };
}

// ---- Memory

// The accesses of a step's rows to each piece: Map(piece, "read" | "written").
function accessedNow(rows, size) {
    const found = new Map();
    for (const row of rows)
        for (const piece of Player.pieces(row, size))
            found.set(piece, Player.isLoad(row) && row.event === "run" ? found.get(piece) || "read" : "written");
    return found;
}

const isEarlier = (first, piece, step) => first.has(piece) && first.get(piece) < step;

// The start of the window of `max` lines: `begin` if all accessed lines are in it, else the first accessed line.
function windowOf(lines, accessed, max, begin) {
    const indices = accessed.map((line) => lines.indexOf(line)).filter((index) => index >= 0);
    const first = Math.min(lines.length, ...indices);
    const last = Math.max(-1, ...indices);
    const isIn = first >= begin && last < begin + max;
    return lines.length <= max ? 0 : isIn || last < 0 ? begin : Math.min(first, lines.length - max);
}

const linesOf = (pieces, size) => [...new Set([...pieces].map((piece) => Math.floor(piece / size)))].sort((a, b) => a - b);

// Lines of cells, of which a window is shown, and a count of the others. make(line, cells) returns the element of a line.
// show(pieces, accessed, colour): colour(piece, cell) is the class of each cell.
function linesView(box, {size, max, what, make}) {
    let begin = 0, key = "", placed = new Map();
    const layOut = (lines) => {
        placed = new Map();
        const parts = lines.slice(begin, begin + max).map((line) => {
            const row = cells(size);
            row.forEach((cell, k) => placed.set(line * size + k, cell));
            row.forEach((cell, k) => (cell.dataset.piece = line * size + k));
            return make(line, row);
        });
        const left = lines.length - parts.length;
        return [...parts, left > 0 && element("span", {class: "pl-more"}, `and ${left} ${what} more`)].filter(Boolean);
    };
    return function (pieces, accessed, colour) {
        const lines = linesOf(pieces, size);
        begin = windowOf(lines, linesOf(accessed, size), max, begin);
        if (key !== begin + ":" + lines.join()) {
            key = begin + ":" + lines.join();
            box.replaceChildren(...layOut(lines));
        }
        for (const [piece, cell] of placed)
            paint(cell, colour(piece, cell));
    };
}

// The class of a cell: the access to its piece now, or that it was accessed earlier; and its marks.
function cellClass(now, isAccessed, marks) {
    return (now ? "pl-" + now : isAccessed ? "pl-accessed" : "") + marks;
}

// The classes of a marked piece of memory; marks: [{memory, address, name}].
const markOf = (marks, memory, piece, size) => marks.filter((mark) => mark.memory === memory && Math.floor(mark.address / size) === piece)
    .map(({name}) => " " + name).join("");

const nothing = () => element("p", {class: "pl-more"}, "not used");

// Shared memory: a row for each 32 words. about(text) is called when a word is pointed at.
function banksView(box, about) {
    const make = (line, row) => element("div", {class: "pl-words"}, element("span", {class: "pl-name"},
        element("span", {class: "pl-wide"}, "word "), String(line * LANES)), element("span", {class: "pl-lanes"}, row));
    const rowsBox = element("div"), show = linesView(rowsBox, {size: LANES, max: MAX_ROWS, what: "rows of 32 words", make});
    let now = null;
    rowsBox.addEventListener("pointerover", ({target}) => now && target.dataset.piece && about(aboutWord(now, +target.dataset.piece)));
    return function (launch, step, rows, marks) {
        now = {launch, step};
        if (!launch.words.size)
            return box.replaceChildren(nothing());
        if (rowsBox.parentNode !== box)
            box.replaceChildren(rowsBox);
        const mine = rows.filter((row) => row.memory === "shared"), accessed = accessedNow(mine, WORD);
        const conflicting = new Set(mine.flatMap(Player.conflictingWords));
        show(launch.words.keys(), accessed.keys(), (word, cell) => {
            const {value} = Player.wordAt(launch, word, step);
            setValue(cell, inCell(value));
            return cellClass(conflicting.has(word) ? "conflict" : accessed.get(word), isEarlier(launch.words, word, step),
                (isBad(value) ? " pl-nan" : "") + markOf(marks, "shared", word, WORD));
        });
    };
}

const threadName = (thread) => `thread ${thread} (warp ${Math.floor(thread / LANES)}, lane ${thread % LANES})`;

function aboutWord({launch, step}, word) {
    const {value, by} = Player.wordAt(launch, word, step);
    return `word ${word}, bank ${word % LANES}: ${value || (by ? "a value that the trace lacks" : "not accessed yet")}`
        + (by ? `, written by ${threadName(by.row.warp * LANES + by.lane)}, line ${by.row.line}` : value ? ", no thread has written it" : "");
}

// The heading of an allocation: how the block uses it.
function useOf(launch, memory) {
    const mine = launch.rows.filter((row) => row.memory === memory), reads = (row) => Player.isLoad(row) && row.event === "run";
    const atomic = mine.some(Player.isAtomic), read = mine.some(reads);
    const written = mine.some((row) => !reads(row) && !Player.isAtomic(row));
    return atomic ? "atomics" : read && written ? "read and written" : read ? "read" : "written";
}

function allocationView(launch, memory) {
    const sectors = element("span", {class: "pl-sectors"});
    const make = (line, row) => element("b", {title: `bytes ${line * LINE} to ${line * LINE + LINE - 1}`}, row);
    const show = linesView(sectors, {size: SECTORS, max: MAX_LINES, what: "lines", make});
    const box = element("div", {class: "pl-allocation"}, element("span", {class: "pl-name"}, useOf(launch, memory)), sectors);
    return {box, memory, show};
}

// Device memory: each allocation that the block accesses, with a box for each 128 bytes.
function devicesView(box) {
    let shown = null, parts = [];
    return function (launch, step, rows, marks) {
        if (shown !== launch) {
            shown = launch;
            parts = Object.keys(launch.sectors).map((memory) => allocationView(launch, memory));
            box.replaceChildren(...(parts.length ? parts.map((part) => part.box) : [nothing()]));
        }
        for (const {memory, show} of parts) {
            const first = launch.sectors[memory], now = accessedNow(rows.filter((row) => row.memory === memory), SECTOR);
            show(first.keys(), now.keys(), (sector) => cellClass(now.get(sector), isEarlier(first, sector, step),
                markOf(marks, memory, sector, SECTOR)));
        }
    };
}

// ---- In words, for screen readers

function inWords(launch, step, states) {
    const by = new Map();
    states.forEach((now, k) => {
        const line = now.row ? now.row.line : "?";
        const what = {done: "done", waits: `waiting at line ${line}`, ready: "ready", runs: `in line ${line}`}[now.state];
        by.set(what, [...(by.get(what) || []), k]);
    });
    return [...by].map(([what, warps]) => `${warps.length === 1 ? "warp" : "warps"} ${Player.ranges(warps)} ${what}`).join("; ");
}

// The chosen thread, in words: its access, and its last value.
function aboutThread(launch, thread, step) {
    const warp = launch.warps[Math.floor(thread / LANES)], lane = thread % LANES, {state, row} = Player.warpAt(warp, step);
    const isRunning = state === "runs" && Player.isActive(row.mask, lane), last = Player.lastValue(warp, lane, step);
    const access = isRunning && Player.accesses(row).find((one) => one.lane === lane);
    const place = access ? ` ${row.memory === "shared" ? "word " + access.address / WORD : "byte " + access.address}` : "";
    const doing = isRunning ? `${row.opcode}${place}${Player.valueOf(row, lane) ? ": " + Player.valueOf(row, lane) : ""}`
        : state === "runs" ? "inactive" : state;
    return {mark: access && {memory: row.memory, address: access.address, name: "pl-mine"},
        text: `thread ${thread}: ${doing}` + (last && last.row !== row ? ` · its last ${warp.hasFloats ? "float" : "value"}: ${last.value}, line ${last.row.line}` : "")};
}

// ---- The order, and a finding's accesses in it

const ORDERS = {
    aligned: "Drawn: side by side, aligned at barriers. Executed: one warp after the other.",
    executed: "Drawn: as executed, because of the finding; a step is one instruction.",
};

const steps = (number) => `${number} ${number === 1 ? "step" : "steps"}`;
const when = (from, now) => (from === now ? "now" : from < now ? `${steps(now - from)} ago` : `in ${steps(from - now)}`);

// The finding's accesses, in the order in which they ran: "word 128 of shared memory: thread 0 (warp 0, lane 0), …".
function aboutFinding({places, rows, met, element}, step) {
    const accesses = places.map((place, k) => ({place, row: rows[k]})).filter(({row}) => row).sort((a, b) => a.row.step - b.row.step);
    const what = element ? `${element}: ` : !met ? "" : met.memory === "shared" ? `word ${Math.floor(met.address / WORD)} of shared memory: ` : `byte ${met.address} of an allocation: `;
    return accesses.length ? what + accesses.map(({place, row}) =>
        `${threadName(place.thread[0])}, ${place.access} in line ${row.line}, ${when(row.step, step)}`).join("; ") : "";
}

// Draws a step. Marks a finding's threads and their conflicting address, the chosen thread and its access. Returns the
// current lines, by warps (in executed order, of the warp that runs), and descriptions of the step and of the chosen thread.
Player.figure = function (boxes) {
    const warps = warpsView(boxes.warps), values = valuesView(boxes.values), lines = devicesView(boxes.lines);
    const banks = banksView(boxes.banks, (text) => (boxes.about.textContent = text));
    return function (model, step, flagged, chosen) {
        const launch = model.launchAt(step);
        const about = chosen !== null && chosen < launch.warps.length * LANES ? aboutThread(launch, chosen, step) : {text: ""};
        const marks = [flagged.met && {...flagged.met, name: "pl-met"}, about.mark].filter(Boolean);
        boxes.order.textContent = ORDERS[model.isExecuted ? "executed" : "aligned"];
        boxes.finding.textContent = aboutFinding(flagged, step);
        warps(launch, step, flagged.threads, chosen);
        values(launch, step, chosen);
        const rows = launch.rows.filter((row) => row.step === step);
        banks(launch, step, rows, marks);
        lines(launch, step, rows, marks);
        const states = launch.warps.map((warp) => Player.warpAt(warp, step)), lit = new Map();
        states.forEach(({state, row}, k) => row && (state === "runs" || !model.isExecuted) && lit.set(row.line, [...(lit.get(row.line) || []), k]));
        return {launch, lit, words: inWords(launch, step, states), about: about.text};
    };
};

// ---- Overview of the run

const COLOURS = ["plain", "shared", "device", "shuffle", "barrier", "waits"];

function colours(canvas) {
    const style = getComputedStyle(canvas);
    return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue("--pl-" + name).trim()]));
}

// Draws the rows of all warps; `length` steps fill the canvas, which is `width` pixels wide.
Player.drawSmall = function (canvas, width, model, length) {
    const warps = Math.max(1, ...model.launches.map((launch) => launch.warps.length));
    const rowHeight = Math.max(2, Math.min(16, Math.floor(60 / warps))), scale = window.devicePixelRatio || 1;
    canvas.style.height = `${warps * rowHeight + 2}px`;
    canvas.width = width * scale;
    canvas.height = (warps * rowHeight + 2) * scale;
    const pen = canvas.getContext("2d"), colour = colours(canvas), unit = width / length;
    pen.scale(scale, scale);
    for (const launch of model.launches)
        launch.warps.forEach((warp, k) => {
            pen.fillStyle = colour.waits;
            pen.fillRect(launch.begin * unit, 1 + k * rowHeight + rowHeight / 2 - 0.5, Math.max(0, warp.end + 1 - launch.begin) * unit, 1);
            for (const row of warp.rows) {
                pen.fillStyle = colour[Player.kind(row)];
                pen.globalAlpha = row.mask ? 1 : 0.4;
                pen.fillRect(row.step * unit, 1 + k * rowHeight, Math.max(unit, 0.6), Math.max(1, rowHeight - 1));
            }
            pen.globalAlpha = 1;
        });
};
})();
