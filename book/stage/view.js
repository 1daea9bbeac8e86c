// view.js: what the machine does at one moment: warps and lanes, shared memory by banks, device memory by lines; and
// the whole run in small, along the time line.
(function () {
    "use strict";
    const Stage = (window.Stage = window.Stage || {});
    const {LANES, WORD, SECTOR, LINE, element} = Stage;
    const SECTORS = LINE / SECTOR, MOST_ROWS = 16, MOST_LINES = 64;

    // Sets a class where it changed: most cells stay as they are from one moment to the next.
    function paint(cell, name) {
        if (cell.className !== name)
            cell.className = name;
    }

    const cells = (number) => Array.from({length: number}, () => element("i"));

    // ---- Warps

    const short = (opcode) => opcode.split(".").filter((part) => !/^(to|rn|relaxed|aligned|[subf]\d+|[bp]red)$/.test(part)).join(".");

    function statusText({state, row}) {
        if (state === "done")
            return "done";
        return `${row && row.line ? row.line : ""} ${state === "waits" ? "waits" : short(row.opcode)}`;
    }

    function warpRow(number) {
        const lanes = cells(LANES), status = element("span", {class: "st-status"});
        const row = element("div", {class: "st-warp"}, element("span", {class: "st-name"}, `warp ${number}`),
            element("span", {class: "st-lanes"}, lanes), status);
        return {row, lanes, status};
    }

    // The warps' rows: show(launch, moment, accused), accused being the threads of a finding.
    function warpsView(box) {
        let rows = [];
        return function (launch, moment, accused) {
            if (rows.length !== launch.warps.length) {
                rows = launch.warps.map((_, k) => warpRow(k));
                box.replaceChildren(...rows.map(({row}) => row));
                box.classList.toggle("st-many", rows.length > 8);
            }
            launch.warps.forEach((warp, k) => {
                const now = Stage.warpAt(warp, moment), {row, lanes, status} = rows[k];
                lanes.forEach((cell, lane) => paint(cell, "st-" + Stage.laneAt(warp, now, lane, moment)
                    + (accused.has(k * LANES + lane) ? " st-bad" : "")));
                status.textContent = statusText(now);
                paint(row, "st-warp st-is-" + now.state);
            });
        };
    }

    // ---- Memory

    // What rows of a moment do with each piece: Map(piece, "read" | "written").
    function touchedNow(rows, size) {
        const found = new Map();
        for (const row of rows)
            for (const piece of Stage.pieces(row, size))
                found.set(piece, Stage.isLoad(row) && row.event === "run" ? found.get(piece) || "read" : "written");
        return found;
    }

    const known = (first, piece, moment) => first.has(piece) && first.get(piece) < moment;

    // A grid of cells that is made anew when another launch comes on the stage.
    function gridView(box, layOut, colour) {
        let shown = null, laid = null;
        return function (launch, moment, rows, met) {
            if (shown !== launch) {
                shown = launch;
                laid = layOut(launch);
                box.replaceChildren(...laid.parts);
            }
            colour(laid, launch, moment, rows, met);
        };
    }

    // The rows of 32 words that the block ever touches, as many as there is room for.
    function layOutBanks(launch) {
        const lines = [...new Set([...launch.words.keys()].map((word) => Math.floor(word / LANES)))].sort((a, b) => a - b);
        const placed = new Map(), parts = [];
        for (const line of lines.slice(0, MOST_ROWS)) {
            const row = cells(LANES);
            row.forEach((cell, bank) => placed.set(line * LANES + bank, cell));
            parts.push(element("div", {class: "st-words"}, element("span", {class: "st-name"}, element("span", {class: "st-wide"}, "word "), String(line * LANES)),
                element("span", {class: "st-lanes"}, row)));
        }
        if (lines.length > MOST_ROWS)
            parts.push(element("p", {class: "st-more"}, `and ${lines.length - MOST_ROWS} more rows of 32 words`));
        if (!lines.length)
            parts.push(element("p", {class: "st-more"}, "not used"));
        return {parts, placed};
    }

    function colourBanks({placed}, launch, moment, rows, met) {
        const mine = rows.filter((row) => row.memory === "shared"), now = touchedNow(mine, WORD);
        const conflicting = new Set(mine.flatMap(Stage.conflictingWords));
        for (const [word, cell] of placed)
            paint(cell, (conflicting.has(word) ? "st-conflict" : now.has(word) ? "st-" + now.get(word)
                : known(launch.words, word, moment) ? "st-known" : "")
                + (met && met.memory === "shared" && Math.floor(met.address / WORD) === word ? " st-met" : ""));
    }

    // How an allocation is used by the block: what its heading says.
    function useOf(launch, memory) {
        const mine = launch.rows.filter((row) => row.memory === memory);
        const atomic = mine.some(Stage.isAtomic), read = mine.some(Stage.isLoad);
        const written = mine.some((row) => !Stage.isLoad(row) && !Stage.isAtomic(row));
        return atomic ? "shared by atomics" : read && written ? "read and written" : read ? "read" : "written";
    }

    function layOutLines(launch) {
        const placed = new Map(), parts = [];
        for (const [memory, first] of Object.entries(launch.sectors)) {
            const lines = [...new Set([...first.keys()].map((sector) => Math.floor(sector / SECTORS)))].sort((a, b) => a - b);
            const boxes = lines.slice(0, MOST_LINES).map((line) => {
                const sectors = cells(SECTORS);
                sectors.forEach((cell, k) => placed.set(memory + ":" + (line * SECTORS + k), cell));
                return element("b", {title: `bytes ${line * LINE} to ${line * LINE + LINE - 1}`}, sectors);
            });
            const left = lines.length - boxes.length;
            parts.push(element("div", {class: "st-allocation"},
                element("span", {class: "st-name"}, `${useOf(launch, memory)}`),
                element("span", {class: "st-sectors"}, boxes),
                left > 0 && element("span", {class: "st-more"}, `and ${left} lines more`)));
        }
        if (!parts.length)
            parts.push(element("p", {class: "st-more"}, "not used"));
        return {parts, placed};
    }

    function colourLines({placed}, launch, moment, rows, met) {
        const now = new Map();
        for (const row of rows.filter(Stage.isDevice))
            for (const [sector, what] of touchedNow([row], SECTOR))
                now.set(row.memory + ":" + sector, what);
        for (const [name, cell] of placed) {
            const [memory, sector] = name.split(":");
            paint(cell, (now.has(name) ? "st-" + now.get(name) : known(launch.sectors[memory], +sector, moment) ? "st-known" : "")
                + (met && met.memory === memory && Math.floor(met.address / SECTOR) === +sector ? " st-met" : ""));
        }
    }

    // ---- In words, for who does not see the picture

    function inWords(launch, moment, states) {
        const by = new Map();
        states.forEach((now, k) => {
            const what = now.state === "done" ? "done" : now.state === "waits" ? `waiting at line ${now.row ? now.row.line : "?"}`
                : `in line ${now.row.line}`;
            by.set(what, [...(by.get(what) || []), k]);
        });
        return [...by].map(([what, warps]) => `${warps.length === 1 ? "warp" : "warps"} ${Stage.ranges(warps)} ${what}`).join("; ");
    }

    // The picture of a moment, with what a finding is about: its threads, and where in memory they met. Returns the lines
    // that are lit, by warps, and the moment in words.
    Stage.picture = function (boxes) {
        const warps = warpsView(boxes.warps);
        const banks = gridView(boxes.banks, layOutBanks, colourBanks), lines = gridView(boxes.lines, layOutLines, colourLines);
        return function (model, moment, {threads, met}) {
            const launch = model.launchAt(moment);
            warps(launch, moment, threads);
            const rows = launch.rows.filter((row) => row.moment === moment);
            banks(launch, moment, rows, met);
            lines(launch, moment, rows, met);
            const states = launch.warps.map((warp) => Stage.warpAt(warp, moment)), lit = new Map();
            states.forEach(({state, row}, k) => state !== "done" && row && lit.set(row.line, [...(lit.get(row.line) || []), k]));
            return {launch, lit, words: inWords(launch, moment, states)};
        };
    };

    // ---- The whole run in small

    const COLOURS = ["plain", "shared", "device", "shuffle", "barrier", "waits"];

    function colours(canvas) {
        const style = getComputedStyle(canvas);
        return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue("--st-" + name).trim()]));
    }

    // Draws all warps' rows, a moment as wide as `length` of them fill the canvas.
    Stage.drawSmall = function (canvas, model, length) {
        const most = Math.max(1, ...model.launches.map((launch) => launch.warps.length));
        const wide = canvas.clientWidth, high = Math.max(2, Math.min(6, Math.floor(64 / most))), scale = window.devicePixelRatio || 1;
        canvas.style.height = `${most * high + 2}px`;
        canvas.width = wide * scale;
        canvas.height = (most * high + 2) * scale;
        const pen = canvas.getContext("2d"), colour = colours(canvas), unit = wide / length;
        pen.scale(scale, scale);
        for (const launch of model.launches)
            launch.warps.forEach((warp, k) => {
                pen.fillStyle = colour.waits;
                pen.fillRect(launch.begin * unit, 1 + k * high + high / 2 - 0.5, Math.max(0, warp.end + 1 - launch.begin) * unit, 1);
                for (const row of warp.rows) {
                    pen.fillStyle = colour[Stage.kind(row)];
                    pen.globalAlpha = row.mask ? 1 : 0.4;
                    pen.fillRect(row.moment * unit, 1 + k * high, Math.max(unit, 0.6), Math.max(1, high - 1));
                }
                pen.globalAlpha = 1;
            });
    };
})();
