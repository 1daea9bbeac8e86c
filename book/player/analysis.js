// analysis.js: shows, in a fold below the counters, the PTX of each source line with execution counts, the occupancy, and the
// arithmetic intensity of the shown block in a roofline. It is filled only while open, because its tables take longer than a run.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element, grouped} = Player;

// ---- PTX

// The size in bytes of an element of a type, such as b8 or f32.
const bytesOf = (type) => +/\d+/.exec(type)[0] / 8;
const roundUp = (number, unit) => Math.ceil(number / unit) * unit;

// Adds a declared variable to the static shared memory of a function. An array without a size is the dynamic memory.
function declareShared(fn, line) {
    const [, align, type, sizes] = /\.shared(?: \.align (\d+))? \.(\w+)\s+[^[;]+([^;]*);/.exec(line) || [];
    if (!type || line.includes(".extern"))
        return;
    const lengths = [...sizes.matchAll(/\d+/g)].map(Number), bytes = lengths.reduce((product, length) => product * length, bytesOf(type));
    fn.shared = roundUp(fn.shared, +align || bytesOf(type)) + bytes;
}

// The functions of a PTX text: [{name, shared: bytes of its static variables, instructions: [{at: line of the PTX, line: of the source, text}]}].
// An instruction from a file other than `source`, such as a header, has the source line before it. A label is shown before its instruction.
Player.ptxFunctions = function (ptx, source) {
    const functions = [], files = [...ptx.matchAll(/^\s*\.file\s+(\d+)\s+"(?:[^"]*\/)?([^"/]+)"/gm)], own = files.find(([, , name]) => name === source.split("/").pop());
    let line = 0, label = "", isBody = false;
    ptx.split("\n").forEach((whole, k) => {
        const text = whole.trim().replace(/\s+/g, " "), [, name] = /\.(?:entry|func)\b[^;]*?([\w$]+) ?\($/.exec(text) || [], last = functions[functions.length - 1];
        const [, file, at] = /^\.loc (\d+) (\d+)/.exec(text) || [];
        if (name)
            functions.push({name, shared: 0, instructions: []});
        else if (text === "{" || whole === "}")
            isBody = text === "{";
        else if (!isBody)
            return;
        else if (text.startsWith(".shared"))
            declareShared(last, text);
        else if (file)
            line = own && file === own[1] ? +at : line;
        else if (/^[\w$]+:$/.test(text))
            label = text;
        else if (text && !text.startsWith(".") && !text.startsWith("//")) {
            last.instructions.push({at: k + 1, line, label, text});
            label = "";
        }
    });
    return functions;
};

// How often the warps of the traced block executed each line of the PTX: Map(line, times).
function executions({launches}) {
    const times = new Map();
    for (const {event, ptxLine} of launches.flatMap(({rows}) => rows))
        if (event === "run")
            times.set(ptxLine, (times.get(ptxLine) || 0) + 1);
    return times;
}

function instructionRow({at, label, text}, times) {
    return element("tr", {class: times ? "" : "pl-unused"}, element("td", {}, String(at)),
        element("td", {}, element("code", {}, label && element("span", {}, label + " "), text)), element("td", {}, grouped(times)));
}

// The instructions of a source line below it; a button moves the editor to the line.
function linePart(line, text, instructions, times, goTo) {
    const timesOf = ({at}) => times.get(at) || 0, sum = instructions.reduce((all, one) => all + timesOf(one), 0);
    return element("tbody", {}, element("tr", {class: "pl-group"},
        element("th", {scope: "rowgroup", colspan: 2}, element("button", {type: "button", title: `go to line ${line}`, onclick: () => goTo(line)}, element("span", {}, String(line)), ` ${text.trim()}`)),
        element("td", {}, grouped(sum))), instructions.map((one) => instructionRow(one, timesOf(one))));
}

// A kernel's name as the source has it: "reduce" of "_Z6reducePKfPfx"; templates keep no arguments.
const plainName = (name) => {
    const [, length, rest] = /^_Z(\d+)(\w+)/.exec(name) || [];
    return length ? rest.slice(0, +length) : name;
};

function ptxTable({name, instructions}, lines, times, goTo) {
    const byLine = new Map();
    for (const one of instructions) {
        if (!byLine.has(one.line))
            byLine.set(one.line, []);
        byLine.get(one.line).push(one);
    }
    const parts = [...byLine].sort(([a], [b]) => a - b).map(([line, some]) => linePart(line, lines[line - 1] || "", some, times, goTo));
    return element("table", {"data-kernel": name}, element("caption", {}, "PTX of ", element("code", {}, plainName(name))),
        element("thead", {}, element("tr", {}, ["PTX line", "instruction", "executed"].map((text) => element("th", {scope: "col"}, text)))), parts);
}

function ptxPart({result, model, text}, functions, goTo) {
    const times = executions(model), shown = functions.filter(({instructions}) => instructions.some(({at}) => times.has(at)));
    if (!shown.length)
        return [element("p", {}, "The page has no PTX of this run.")];
    return [element("p", {}, "Each line of the source, the PTX that the compiler made of it, and how many times the warps of the shown block executed an instruction"
        + (result.launches.length > 1 ? ", in all launches. " : ". ") + (model.isCut ? "The run is longer than the recorded part, so that the counts are too low. " : "")
        + "The GPU runs SASS, which ptxas makes of the PTX: its instructions and their order differ."),
        element("div", {class: "pl-ptx", tabindex: 0, role: "region", "aria-label": "PTX by source line"}, shown.map((one) => ptxTable(one, text.split("\n"), times, goTo)))];
}

// ---- Occupancy: the limits of an SM of sm_90, as in simulator/machine/memory/device.c; registers as in CUDA's cuda_occupancy.h

const SM = {warps: 64, blocks: 32, registers: 65536, parts: 4, sharedBytes: 233472, reservedBytes: 1024, sharedUnit: 128, registerUnit: 256};
const MAX_REGISTERS = 255; // per thread

// How many warps the registers allow: a warp's are allocated in units, in one of the SM's four parts. Without a number, they limit nothing.
const warpsByRegisters = (registers) => (registers ? Math.floor(SM.registers / SM.parts / roundUp(registers * Player.LANES, SM.registerUnit)) * SM.parts : Infinity);

// How many blocks fit an SM: {limits: [[Nsight Compute's name, blocks]], blocks, warps, percent, limiting: names}. registers: null if
// they are not known.
Player.occupancy = function ({threads, shared, registers}) {
    const warps = Math.ceil(threads / Player.LANES), sharedBytes = roundUp(shared + SM.reservedBytes, SM.sharedUnit);
    const limits = [["Block Limit Warps", Math.floor(SM.warps / warps)], ["Block Limit Registers", Math.floor(warpsByRegisters(registers) / warps)],
        ["Block Limit Shared Mem", Math.floor(SM.sharedBytes / sharedBytes)], ["Block Limit SM", SM.blocks]];
    const blocks = Math.min(...limits.map(([, limit]) => limit));
    return {limits, blocks, warps: blocks * warps, percent: (100 * blocks * warps) / SM.warps, limiting: limits.filter(([, limit]) => limit === blocks).map(([name]) => name)};
};

// The launches that differ in kernel, block or shared memory: [{name, threads, shared}].
function shapes({launches}, functions) {
    const found = new Map();
    for (const {kernel, block, shared} of launches) {
        const own = functions.find(({name}) => name === kernel), shape = {name: kernel, threads: block[0] * block[1] * block[2], own: own ? own.shared : 0, dynamic: shared};
        found.set(JSON.stringify(shape), shape);
    }
    return [...found.values()];
}

function occupancyTable({name, threads, own, dynamic}, registers) {
    const {limits, blocks, warps, percent, limiting} = Player.occupancy({threads, shared: own + dynamic, registers});
    const atMost = registers ? "" : "at most ", shown = (limit) => (Number.isFinite(limit) ? grouped(limit) : "not known");
    const row = (title, value, isLimit) => element("tr", {class: isLimit ? "pl-limits" : ""}, element("th", {scope: "row"}, title), element("td", {}, value + (isLimit ? " ← limits" : "")));
    return element("table", {}, element("caption", {}, element("code", {}, plainName(name))), element("tbody", {},
        row("threads of a block", grouped(threads)), row("shared memory of a block", `${grouped(own + dynamic)} bytes: ${grouped(own)} static, ${grouped(dynamic)} dynamic`),
        limits.map(([title, limit]) => row(title, shown(limit), limiting.includes(title))),
        row("resident blocks of an SM", atMost + grouped(blocks)), row("resident warps of an SM", `${atMost}${warps} of ${SM.warps}`),
        row("Theoretical Occupancy", `${atMost}${+percent.toFixed(1)} %`)));
}

// ---- Arithmetic intensity

const PEAK_GBS = 4814, PEAK_GFLOPS = 67000; // H200: memory as in docs/gpus.md; FP32 without tensor cores, from NVIDIA's data sheet
const RIDGE = PEAK_GFLOPS / PEAK_GBS; // FLOP/byte

const lanesIn = (mask) => mask.toString(2).replace(/0/g, "").length;

// The FP32 operations of the lanes and the bytes of the sectors that the shown block reads and writes.
Player.intensity = function ({launches, counts, length}) {
    let operations = 0;
    for (const {event, opcode, mask} of launches.flatMap(({rows}) => rows))
        if (event === "run" && /^(add|sub|mul|fma|mad)\b.*\.f32$/.test(opcode))
            operations += lanesIn(mask) * (/^(fma|mad)/.test(opcode) ? 2 : 1);
    const bytes = Player.SECTOR * (counts.global_load_sectors[length] + counts.global_store_sectors[length]);
    return {operations, bytes, ratio: bytes ? operations / bytes : 0};
};

const reachable = (ratio) => Math.min(PEAK_GFLOPS, ratio * PEAK_GBS);
const LEFT = 58, BOTTOM = 190, WIDTH = 380, HEIGHT = 170, X = [-2, 3], Y = [1, 5]; // decades
const xOf = (ratio) => LEFT + (WIDTH * (Math.min(X[1], Math.max(X[0], Math.log10(ratio))) - X[0])) / (X[1] - X[0]);
const yOf = (speed) => BOTTOM - (HEIGHT * (Math.min(Y[1], Math.max(Y[0], Math.log10(speed))) - Y[0])) / (Y[1] - Y[0]);

function drawn(name, attributes, ...children) {
    const created = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => created.setAttribute(key, value));
    created.append(...children);
    return created;
}

const decades = ([from, to]) => Array.from({length: to - from + 1}, (_, k) => 10 ** (from + k));

function roofline(ratio, words) {
    const shown = (number) => (number < 1 ? String(+number.toPrecision(1)) : grouped(number));
    const grid = (x1, y1, x2, y2) => drawn("line", {x1, y1, x2, y2, class: "pl-grid"}), label = (x, y, anchor, text) => drawn("text", {x, y, "text-anchor": anchor}, text);
    const corner = xOf(RIDGE), begin = 10 ** X[0];
    return drawn("svg", {viewBox: "0 0 460 232", role: "img", "aria-label": words, class: "pl-roof"},
        ...decades(X).flatMap((ratio) => [grid(xOf(ratio), BOTTOM, xOf(ratio), BOTTOM - HEIGHT), label(xOf(ratio), BOTTOM + 15, "middle", shown(ratio))]),
        ...decades(Y).flatMap((speed) => [grid(LEFT, yOf(speed), LEFT + WIDTH, yOf(speed)), label(LEFT - 6, yOf(speed) + 4, "end", shown(speed))]),
        label(LEFT + WIDTH / 2, BOTTOM + 34, "middle", "FLOP per byte of device memory"), label(LEFT - 50, 12, "start", "GFLOP/s"),
        drawn("polyline", {points: `${xOf(begin)},${yOf(reachable(begin))} ${corner},${yOf(PEAK_GFLOPS)} ${LEFT + WIDTH},${yOf(PEAK_GFLOPS)}`, class: "pl-roofline"}),
        drawn("circle", {cx: xOf(ratio), cy: yOf(reachable(ratio)), r: 6, class: "pl-point"}));
}

function intensityPart({model}) {
    const {operations, bytes, ratio} = Player.intensity(model), isMemory = ratio < RIDGE;
    const sum = `The shown block executes ${grouped(operations)} FP32 operations in PTX (add, sub and mul count 1 a lane, fma 2) and accesses ${grouped(bytes)} bytes of device memory (sectors read and written × 32).`;
    const left = " Atomics and copies by the TMA are not counted, nor are caches considered.";
    if (!bytes || !operations)
        return [element("p", {}, `${sum} An intensity needs both.${left}`)];
    const words = `Arithmetic intensity ${+ratio.toPrecision(3)} FLOP/byte, which is ${isMemory ? "memory-bound" : "compute-bound"} on an H200: `
        + `the roof has its corner at ${+RIDGE.toPrecision(3)} FLOP/byte.`;
    return [element("p", {}, element("strong", {}, words)), element("p", {}, sum + left),
        roofline(ratio, `Roofline of an H200. ${words} At this intensity at most ${grouped(Math.round(reachable(ratio)))} GFLOP/s are possible.`),
        element("p", {}, `The roof: ${grouped(PEAK_GBS)} GB/s, and ${PEAK_GFLOPS / 1000} TFLOP/s of FP32 in NVIDIA's data sheet. The point is on the roof, at the most that its intensity allows: the simulator measures no time.`)];
}

// ---- The fold

const heading = (text) => element("p", {class: "pl-heading"}, text);

// A field for the number of registers, which PTX does not contain. number(): null while it is empty.
function registersField(changed) {
    const field = element("input", {type: "number", min: 1, max: MAX_REGISTERS, "aria-label": "registers of a thread", oninput: () => changed()});
    return {field, number: () => (field.value ? Math.min(MAX_REGISTERS, Math.max(1, Math.floor(+field.value))) : null)};
}

function makeFold(player) {
    const box = player.boxes.analysis, occupancy = element("div", {class: "pl-occupancy"}), intensity = element("div"), ptx = element("div");
    const fold = {run: null, filled: null}, registers = registersField(() => fillOccupancy());
    let kinds = [];
    const fillOccupancy = () => occupancy.replaceChildren(...kinds.map((shape) => occupancyTable(shape, registers.number())));
    fold.fill = () => {
        if (!box.open || fold.filled === fold.run || !fold.run)
            return;
        const {run} = fold, functions = Player.ptxFunctions(run.result.ptx || "", run.file);
        fold.filled = run;
        kinds = shapes(run.result, functions);
        fillOccupancy();
        intensity.replaceChildren(...intensityPart(run));
        ptx.replaceChildren(...ptxPart(run, functions, (line) => player.source.goTo(line, 1)));
    };
    box.append(element("div", {class: "pl-parts"},
        element("div", {}, heading("Occupancy on an SM of an H100 or H200"), element("label", {}, "registers of a thread ", registers.field),
            element("p", {}, "The page does not know the registers of a thread: PTX has any number of virtual registers, and ptxas chooses how many a thread gets. Enter the number that ",
                element("code", {}, "nvcc -Xptxas -v"), " or Nsight Compute prints; without it, the occupancy is an upper bound."), occupancy),
        element("div", {}, heading("Arithmetic intensity of the shown block"), intensity)), element("div", {}, heading("PTX of each source line"), ptx));
    box.addEventListener("toggle", fold.fill);
    return fold;
}

// Keeps a side's run for the fold, with the text that ran, and fills the fold if it is open.
Player.analyse = function (player, {program, result, model, text, isStale}) {
    const fold = (player.fold = player.fold || makeFold(player));
    if (!isStale && (!fold.run || fold.run.result !== result))
        fold.run = {result, model, text, file: program.source.file};
    fold.fill();
};
})();
