// judge.js: judges a learner's kernel in the page as scripts/learn/judge.py does in the terminal: at the exercise's sizes and two
// drawn ones, with the race checker, in three orders of blocks, warps and lanes. Exercises.judge returns a verdict:
//
//   diagnostics   the compiler's; `said`: why the kernel was not run
//   sizes         n that were tried: "" if right, else the error
//   wrong, wrongAt, over   the first wrong result, its n, and the time limit that stopped the run
//   findings      by kind and places: the title, and lines about it
//   row, missed   counters at the exercise's own n, and the goals that they miss
//   printed       the first lines that the kernel printed
//   last          the source and the PTX of the kernel that was run
(function (page) {
"use strict";
const Exercises = (page.Exercises = page.Exercises || {});
const ORDERS = [{}, {order: 1}, {order: 2, together: true}];
const MOST_INSTRUCTIONS = 4000000; // of a block's warps; more count as an infinite loop
const SECONDS = 10; // for all runs of a kernel
const MOST_PRINTED = 8; // lines
const UNIT = 16; // floats are whole sixteenths (docs/check.md)
const FARTHEST = 1 << 20; // bytes from an array at which an address is still named by it
const TYPES = {f: Float32Array, i: Int32Array, I: Uint32Array};
const grouped = (number) => number.toLocaleString("en-US");

// ---- The arrays of a run

const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

// The values of packed data (data.py).
function unpack([width, base64], type) {
    const units = new {1: Int8Array, 2: Int16Array, 4: Int32Array}[width](bytesOf(base64).buffer);
    return TYPES[type].from(units, (unit) => (type === "f" ? unit / UNIT : unit));
}

// An argument with its contents before and after the run: null if uninitialised, or free.
function unpackArgument(name, value) {
    if (typeof value === "number")
        return {name, value};
    const before = value.before ? unpack(value.before, value.type) : null;
    return {name, type: value.type, count: value.count, before, after: value.after === true ? before : value.after ? unpack(value.after, value.type) : null};
}

const argumentsOf = (run) => Object.entries(run.arguments).map(([name, value]) => unpackArgument(name, value));
const rawBytes = (values) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

// ---- A launch as a recording (simulator/runtime/work/record.h)

const triple = (numbers) => [...[numbers].flat(), 1, 1].slice(0, 3).join(",");
const littleEndian = (value, bytes) => BigInt.asUintN(8 * bytes, BigInt(value)).toString(16).padStart(2 * bytes, "0");

// The calls that allocate and fill the arrays, launch the kernel once, and read the results.
Exercises.callsOf = function (entry, {grid, block, shared = 0}, parameters, values) {
    const calls = [], reads = [], words = [], bytes = {};
    const name = (content) => {
        const made = Object.keys(bytes).length.toString(16).padStart(16, "0");
        bytes[made] = rawBytes(content);
        return made;
    };
    let count = 0;
    values.forEach((value, k) => {
        if (value.value !== undefined)
            return words.push(littleEndian(value.value, parameters[k]));
        const number = count++, size = 4 * value.count, before = value.before && name(value.before);
        calls.push(`allocate ${number} device ${size} cudaMalloc`);
        if (before)
            calls.push(`write ${number}+0 ${size} ${before}`);
        if (value.after)
            reads.push(`read ${number}+0 ${size} ${value.after === value.before ? before : name(value.after)}`);
        words.push(`@${number}+0`);
    });
    calls.push(`launch 0 ${entry} ${triple(grid)} ${triple(block)} ${shared} 0,0,0 0${words.map((word) => ` ${word}`).join("")}`);
    return {calls: [...calls, ...reads].map((call) => `${call}\n`).join(""), bytes};
};

// The PTX name of a kernel, and the bytes of its parameters; null if there is none.
Exercises.entryOf = function (ptx, kernel) {
    const found = new RegExp(`\\.entry (_Z${kernel.length}${kernel}\\w*|${kernel})\\(([^)]*)\\)`).exec(ptx);
    return found && {entry: found[1], parameters: [...found[2].matchAll(/\.param\s+(?:\.align\s+\d+\s+)?\.[a-z](\d+)[^,[]*(?:\[(\d+)\])?/g)]
        .map(([, bits, length]) => (bits / 8) * (length || 1))};
};

// ---- Results

function shown(value, isFloat) {
    return isFloat ? (Number.isFinite(value) ? value.toFixed(4) : Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf") : `${value}`;
}

function differenceOf({name, type, count, before, after}, got) {
    const first = after.findIndex((expected, k) => got[k] !== expected);
    if (first < 0)
        return "";
    const isFloat = type === "f", more = after.reduce((sum, expected, k) => sum + (got[k] !== expected), 0) - 1;
    const isUninitialised = before === null && new Int32Array(got.buffer, got.byteOffset + 4 * first, 1)[0] === -1;
    return `${name}[${first}] ${isUninitialised ? "is uninitialised" : `is ${shown(got[first], isFloat)}`}, expected ${shown(after[first], isFloat)}`
        + (more ? `; ${more} more of ${count} are wrong` : "");
}

// The first wrong element, in words; "" if there is none. contents: the arrays that were read, concatenated.
function difference(values, contents) {
    let begin = 0;
    for (const value of values.filter(({after}) => after)) {
        const got = new TYPES[value.type](contents.slice(begin, begin + 4 * value.count).buffer);
        const wrong = differenceOf(value, got);
        if (wrong)
            return wrong;
        begin += 4 * value.count;
    }
    return "";
}

// ---- Addresses as elements

const SHARED_ARRAY = /__shared__\s+(?:alignas\(\d+\)\s*)?(?:const\s+|volatile\s+|unsigned\s+)*(\w+)\s+(\w+)((?:\[[^\]]*\])*)\s*;/g;
const ELEMENT_BYTES = {char: 1, bool: 1, short: 2, double: 8, float2: 8, float4: 16, int4: 16}; // 4: all others

// The shared arrays of a source; elements: 0 if the length is not a product of numbers.
function sharedArrays(text) {
    return [...text.matchAll(SHARED_ARRAY)].map(([, type, name, lengths]) => {
        const numbers = [...lengths.matchAll(/\[([^\]]*)\]/g)].map((found) => found[1].trim());
        return {name, bytes: ELEMENT_BYTES[type] || 4, elements: numbers.every((number) => /^\d+$/.test(number)) ? numbers.reduce((product, number) => product * number, 1) : 0};
    });
}

// An address as an element of an array, and where that is: "in[256]: past the end, size 256".
function elementAt(address, name, base, size, elementBytes) {
    const index = Math.floor((address - base) / elementBytes), elements = Math.floor(size / elementBytes);
    return `${name}[${index}]${index >= elements ? `: past the end, size ${elements}` : index < 0 ? ": before the beginning" : ""}`;
}

function nearest(address, arrays) {
    const distance = ({base, size}) => Math.max(base - address, address - (base + size - 1), 0);
    const found = arrays.reduce((best, array) => (best && distance(best) <= distance(array) ? best : array), null);
    return found && distance(found) <= FARTHEST ? found : null;
}

function elementOf(address, title, arrays, shared) {
    if (/shared/.test(title))
        return shared.length === 1 && shared[0].elements ? elementAt(address, shared[0].name, 0, shared[0].bytes * shared[0].elements, shared[0].bytes) : "";
    const array = nearest(address, arrays);
    return array ? elementAt(address, array.name, array.base, array.size, 4) : "";
}

// A finding about a bad address with the array's name and the index instead of the address; any other finding as it is.
function withElements(finding, arrays, shared) {
    const address = /\b0x([0-9a-f]+)/.exec(finding.title || "");
    const element = ["out-of-bounds", "misaligned"].includes(finding.kind) && address ? elementOf(parseInt(address[1], 16), finding.title, arrays, shared) : "";
    if (!element)
        return finding;
    const hint = (finding.hint || "").split("\n").filter((line) => !line.startsWith("note: allocated by")).join("\n"); // the exercise shows no cudaMalloc
    return {...finding, hint, title: finding.kind === "out-of-bounds" ? element : finding.title.replace(/\b0x[0-9a-f]+/g, element)};
}

// ---- Findings, one for each kind and pair of lines (scripts/judge/verdicts.py)

const withoutNumbers = (text) => text.replace(/0x[0-9a-f]+|\d+/g, "0");
const samePlace = ({file, line, kernel, access}) => [file, line, kernel, withoutNumbers(access || "")];
const placeLine = ({file, line, description, text}) => `${line ? `${file || ""}:${line}: ` : ""}${description || ""}${text ? `:  ${text.trim()}` : ""}`;
const advice = (finding) => (finding.hint || "").split("\n").filter(Boolean).map((line) => (/^(help|note): /.test(line) ? line : `help: ${line}`));

function addFindings(found, verdict) {
    for (const finding of found) {
        const places = finding.places || [], title = `${finding.name || finding.kind || ""}: ${finding.title || ""}`;
        const key = JSON.stringify([finding.kind, places.slice(0, 2).map(samePlace), places.some(({line}) => line) ? "" : withoutNumbers(title)]);
        if (!verdict.findings.has(key))
            verdict.findings.set(key, {...finding, lines: [title, ...places.map(placeLine), ...advice(finding)].filter(Boolean)});
    }
}

// ---- Counters

function lastRow(table) {
    const lines = table.trim().split("\n"), names = lines[0].split(","), values = lines[lines.length - 1].split(",");
    return lines.length > 1 ? Object.fromEntries(names.map((name, k) => [name, values[k]])) : null;
}

// The value of a counter in a row, for the whole launch or the average block.
Exercises.count = function ({counter, per_block: perBlock}, row) {
    const blocks = +row.grid, threads = row.block.split(/[x,]/).reduce((product, side) => product * side, 1);
    const value = {threads: blocks * threads, blocks}[counter] ?? +row[counter];
    return perBlock ? value / blocks : value;
};

const isMissed = (goal, row) => (goal.least ? Exercises.count(goal, row) < goal.least : Exercises.count(goal, row) > goal.most);

// ---- Judging

const runOf = (task, n) => task.runs.find((run) => run.n === n);

// The calls of a run of an exercise's kernel, and their bytes.
Exercises.callsAt = function (task, n, ptx) {
    const run = runOf(task, n), {entry, parameters} = Exercises.entryOf(ptx, task.kernel);
    return Exercises.callsOf(entry, {grid: run.grid, block: task.block}, parameters, argumentsOf(run));
};

// Runs the kernel once; returns whether the result is wrong.
async function runOnce(task, run, kernel, orders, verdict) {
    const values = argumentsOf(run), launch = {grid: run.grid, block: task.block};
    verdict.last = kernel.compiled;
    const result = await page.Simulator.replay({...kernel.compiled, ...Exercises.callsOf(kernel.entry, launch, kernel.parameters, values), ...orders, trace: false, most: MOST_INSTRUCTIONS});
    if (result.status === "stopped") {
        verdict.over = verdict.wrong = `stopped: it takes longer than ${SECONDS} seconds`;
        return true;
    }
    const arrays = values.filter(({type}) => type).map(({name, count}, k) => ({name, base: result.addresses[k], size: 4 * count}));
    addFindings(result.findings.map((finding) => withElements(finding, arrays, kernel.shared)), verdict);
    verdict.output = (verdict.output || "") + result.printed;
    verdict.counters = result.counters;
    const wrong = result.error ? `the kernel failed: ${result.error}` : difference(values, result.contents);
    verdict.sizes[run.n] = wrong;
    if (wrong)
        Object.assign(verdict, {wrong: `wrong at n = ${grouped(run.n)}: ${wrong}`, wrongAt: run.n});
    return Boolean(wrong);
}

// The n of a check: the exercise's sizes and two drawn ones.
function triesOf(task, random) {
    const drawn = task.runs.map(({n}) => n).filter((n) => !task.sizes.includes(n) && n !== task.counts_at);
    while (drawn.length > 2)
        drawn.splice(Math.floor(random() * drawn.length), 1);
    return [...task.sizes, ...drawn.sort(() => random() - 0.5)];
}

const isRight = (verdict) => !verdict.wrong && !verdict.findings.size;
const firstLines = (text) => (text ? text.replace(/\n$/, "").split("\n").slice(0, MOST_PRINTED) : []);

async function countGoals(task, kernel, verdict) {
    if (await runOnce(task, runOf(task, task.counts_at), kernel, ORDERS[0], verdict))
        return;
    verdict.row = lastRow(verdict.counters);
    verdict.missed = task.goals.filter((goal) => !verdict.row || isMissed(goal, verdict.row));
}

// Runs all sizes in the default order, and two of them in the others, until something is wrong.
async function runAll(task, kernel, verdict, {random, isOver}) {
    const tries = triesOf(task, random), again = [...new Set([Math.max(...tries), tries[tries.length - 1]])].sort((a, b) => a - b);
    for (const [number, orders] of ORDERS.entries()) {
        for (const n of number ? again : tries)
            if (isOver() || (await runOnce(task, runOf(task, n), kernel, orders, verdict)))
                break;
        if (number === 0 && !verdict.wrong && !isOver())
            await countGoals(task, kernel, verdict);
        verdict.printed = verdict.printed || firstLines(verdict.output);
        if (!isRight(verdict) || isOver())
            return;
    }
}

// Judges a text. isOver: whether the verdict is no longer wanted, which is asked between runs; then it is null.
Exercises.judge = async function (task, text, {random = Math.random, isOver = () => false} = {}) {
    const file = `${task.name}.cu`, verdict = {diagnostics: [], said: [], sizes: {}, over: "", wrong: "", wrongAt: 0, findings: new Map(), row: null, missed: [], printed: null, last: null};
    const {ptx, diagnostics} = await page.Simulator.compile(text, file);
    verdict.diagnostics = diagnostics;
    if (isOver())
        return null;
    const found = ptx && Exercises.entryOf(ptx, task.kernel), wanted = Object.keys(task.runs[0].arguments).length;
    if (ptx && !found)
        verdict.said = [`it defines no kernel ${task.kernel}; Reset restores the task`];
    else if (found && found.parameters.length !== wanted)
        verdict.said = [`${task.kernel} has ${found.parameters.length} parameters; the task's kernel has ${wanted}`];
    else if (found) {
        const timer = setTimeout(() => page.Simulator.stop(), 1000 * SECONDS);
        await runAll(task, {...found, compiled: {source: {file, text}, ptx}, shared: sharedArrays(text)}, verdict, {random, isOver});
        clearTimeout(timer);
    }
    return isOver() ? null : Object.assign(verdict, {isCompiled: Boolean(ptx), good: Boolean(ptx) && !verdict.said.length && isRight(verdict) && !verdict.missed.length});
};

// The verdict in one word, as the tests compare it with the terminal's.
Exercises.kindOf = (verdict) => (verdict.good ? "solved" : !verdict.isCompiled || verdict.said.length ? "does not build"
    : verdict.findings.size ? "finding" : verdict.wrong ? "wrong" : "missed goal");
})(typeof window === "object" ? window : globalThis);
