// judge.js: judges a learner's kernel in the page as drywarp/learn/judge.py does in the terminal: at the exercise's sizes and two
// drawn ones, with the race checker, in four orders of blocks, warps and lanes. Exercises.judge returns a verdict:
//
//   diagnostics   the compiler's; `said`: why the kernel was not run
//   sizes         n that were tried: "" if right, else the error
//   wrong, wrongAt, over   the first wrong result, its n, and the time limit that stopped the run
//   findings      by kind and places: the title, and lines about it
//   row, rowAt, missed   counters at the exercise's own n or, if goals are missed at others only, at one of these; that n; these goals
//   printed       what the kernel printed
//   last          the source and the PTX of the kernel that was run
(function (page) {
"use strict";
const Exercises = (page.Exercises = page.Exercises || {});
const ORDERS = [{}, {order: 1}, {order: 2, together: true}, {order: 1, lanesApart: true}];
const MAX_INSTRUCTIONS = 4000000; // of a block's warps; more count as an infinite loop
const SECONDS = 10; // for all runs of a kernel, unless the caller of Exercises.judge gives another number
const TYPES = {f: Float32Array, d: Float64Array, i: Int32Array, I: Uint32Array};
const grouped = (number) => number.toLocaleString("en-US");

// ---- The arrays of a run

const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

// What data.py knows of an exercise, from what its script adds to the page.
Exercises.unpacked = (packed) => new Response(new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("gzip"))).json();

// The values of packed data (data.py).
function unpack([width, base64, units], type) {
    const elements = new {1: Int8Array, 2: Int16Array, 4: Int32Array}[width](bytesOf(base64).buffer);
    return TYPES[type].from(elements, (element) => element / units);
}

// An argument with its contents before and after the run: null if uninitialised, or free.
function unpackArgument(name, value) {
    if (typeof value === "number")
        return {name, value};
    const before = value.before ? unpack(value.before, value.type) : null;
    return {name, type: value.type, count: value.count, before, after: value.after === true ? before : value.after ? unpack(value.after, value.type) : null};
}

const argumentsOf = (given) => Object.entries(given).map(([name, value]) => unpackArgument(name, value));
const sizeOf = ({type, count}) => count * TYPES[type].BYTES_PER_ELEMENT;
const rawBytes = (values) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

// ---- A launch as a recording (simulator/runtime/work/record.h)

const triple = (numbers) => [...[numbers].flat(), 1, 1].slice(0, 3).join(",");
const littleEndian = (value, bytes) => BigInt.asUintN(8 * bytes, BigInt(value)).toString(16).padStart(2 * bytes, "0");

// Recordings name bytes by 16 digits.
const bytesName = (index) => index.toString(16).padStart(16, "0");

// The calls that allocate and fill the arrays of each run, launch the kernel, read the arrays that have contents `after`, stop if one
// is wrong, and free the arrays; and the bytes that they name. runs: {grid, block, shared, values}.
Exercises.callsOf = function ({entry, parameters}, runs) {
    const bytes = {}, calls = [];
    const name = (content) => {
        const made = bytesName(Object.keys(bytes).length);
        bytes[made] = rawBytes(content);
        return made;
    };
    let count = 0; // of allocations
    for (const {grid, block, shared = 0, values} of runs) {
        const first = count, reads = [], words = [];
        values.forEach((value, k) => {
            if (!value.type)
                return words.push(littleEndian(value.value, parameters[k]));
            const number = count++, size = sizeOf(value), before = value.before && name(value.before);
            calls.push(`allocate ${number} device ${size} cudaMalloc`);
            if (before)
                calls.push(`write ${number}+0 ${size} ${before}`);
            if (value.after)
                reads.push(`read ${number}+0 ${size} ${value.after === value.before ? before : name(value.after)}`);
            words.push(`@${number}+0`);
        });
        const frees = Array.from({length: count - first}, (_, k) => `free ${first + k}`);
        calls.push(`launch 0 ${entry} ${triple(grid)} ${triple(block)} ${shared} 0,0,0 0${words.map((word) => ` ${word}`).join("")}`, ...reads, "stop", ...frees);
    }
    return {calls: calls.map((call) => `${call}\n`).join(""), bytes};
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

// Compares the arrays that were read of each run, concatenated in `contents`, until one is wrong: [{n, wrong}] of the runs that ended,
// where `wrong` is "" or the first wrong element in words.
function compare(runs, contents) {
    const found = [];
    let begin = 0;
    for (const {n, values} of runs) {
        const read = values.filter(({after}) => after), size = read.reduce((sum, value) => sum + sizeOf(value), 0);
        if (begin + size > contents.length)
            break;
        let wrong = "";
        for (const value of read) {
            const got = new TYPES[value.type](contents.slice(begin, begin + sizeOf(value)).buffer);
            wrong = wrong || differenceOf(value, got);
            begin += sizeOf(value);
        }
        found.push({n, wrong});
        if (wrong)
            break;
    }
    return found;
}

// ---- Findings, one for each kind and pair of lines (drywarp/judge/verdicts.py)

const withoutNumbers = (text) => text.replace(/0x[0-9a-f]+|\d+/g, "0");
const samePlace = ({file, line, kernel, access}) => [file, line, kernel, withoutNumbers(access || "")];
const placeLine = ({line, description, text}) => `${line ? `line ${line}: ` : ""}${(description || "").replace(/\((\d+),0,0\)/g, "$1")}${text ? `:  ${text.trim()}` : ""}`;
const advice = (finding) => (finding.hint || "").split("\n").filter(Boolean).map((line) => (/^(help|note): /.test(line) ? line : `help: ${line}`));

// Adds the findings of a replay to the verdict; values: the arguments of its last run.
Exercises.addFindings = function ({findings, addresses}, values, verdict) {
    const last = values.filter(({type}) => type), bases = addresses.slice(-last.length);
    const arrays = last.map((value, k) => ({name: value.name, base: bases[k], size: sizeOf(value), bytes: TYPES[value.type].BYTES_PER_ELEMENT, isConst: value.after === value.before}));
    for (const finding of findings.map((found) => page.Player.withElements(found, arrays))) {
        const places = finding.places || [], title = `${finding.name || finding.kind || ""}: ${finding.title || ""}`;
        const key = JSON.stringify([finding.kind, places.slice(0, 2).map(samePlace), places.some(({line}) => line) ? "" : withoutNumbers(title)]);
        if (!verdict.findings.has(key))
            verdict.findings.set(key, {...finding, lines: [title, ...places.map(placeLine), ...advice(finding)].filter(Boolean)});
    }
};

// ---- Counters

// The rows of a table of counters, one for each launch.
function rowsOf(table) {
    const [names, ...rows] = table.trim().split("\n").map((line) => line.split(","));
    return rows.map((values) => Object.fromEntries(names.map((name, k) => [name, values[k]])));
}

Exercises.lastRow = (table) => rowsOf(table).pop() || null;

// The value of a counter in a row, for the whole launch or the average block.
Exercises.count = function ({counter, per_block: perBlock}, row) {
    const blocks = +row.grid, threads = row.block.split(/[x,]/).reduce((product, side) => product * side, 1);
    const value = {threads: blocks * threads, blocks}[counter] ?? +row[counter];
    return perBlock ? value / blocks : value;
};

const isMissed = (goal, row) => (goal.least ? Exercises.count(goal, row) < goal.least : Exercises.count(goal, row) > goal.most);

// The goals that a run at n misses (drywarp/learn/exercise.py).
const missedAt = ({goals, counts_at: own}, n, row) => goals.filter((goal) => (goal.per_block || n === own || (n < own && !goal.least)) && isMissed(goal, row));

// Adds to the verdict the counters of the launches at these n, of which the last is the exercise's own, and the goals that they miss.
function addCounters(task, launched, counters, verdict) {
    const rows = rowsOf(counters), runs = rows.length === launched.length ? launched.map((n, k) => ({n, row: rows[k]})).reverse() : [{n: task.counts_at, row: null}];
    const {n, row} = runs.find((run) => run.row && missedAt(task, run.n, run.row).length) || runs[0];
    Object.assign(verdict, {row, rowAt: n, missed: row ? missedAt(task, n, row) : task.goals});
}

// ---- Judging

// A run of an exercise at n: its launch and its arguments.
function runAt(task, n) {
    const {grid, arguments: given} = task.runs.find((run) => run.n === n);
    return {n, grid, block: task.block, values: argumentsOf(given)};
}

// The calls of one run of an exercise's kernel, and their bytes.
Exercises.callsAt = (task, n, ptx) => Exercises.callsOf(Exercises.entryOf(ptx, task.kernel), [runAt(task, n)]);

// Where a negative zero was read instead of a zero, which is equal, the replay stopped: the expected bytes become those that were read.
function acceptNegativeZeros(runs, contents) {
    let begin = 0, isChanged = false;
    for (const value of runs.flatMap(({values}) => values.filter(({after}) => after))) {
        const got = contents.slice(begin, begin += sizeOf(value));
        if (got.length < sizeOf(value))
            break;
        if (got.some((byte, k) => byte !== rawBytes(value.after)[k]))
            [value.after, isChanged] = [new TYPES[value.type](got.buffer), true];
    }
    return isChanged;
}

// Replays the runs in one process, as the terminal does, until one is wrong.
async function replay(kernel, runs, orders) {
    const {compiled} = kernel, result = await page.Simulator.replay({...compiled, ...Exercises.callsOf(kernel, runs), ...orders, trace: false, most: MAX_INSTRUCTIONS});
    const ended = compare(runs, result.contents), isCut = result.status !== "stopped" && !result.error && ended.length < runs.length && ended.every(({wrong}) => !wrong);
    return isCut && acceptNegativeZeros(runs, result.contents) ? replay(kernel, runs, orders) : {...result, ended};
}

// A session: the runs in one order, whose results and findings are added to the verdict.
async function session(task, kernel, sizes, orders, verdict) {
    const runs = sizes.map((n) => runAt(task, n)), result = await replay(kernel, runs, {...orders, atomicLoads: task.goals.length > 0});
    if (result.status === "stopped") {
        verdict.over = verdict.wrong = `stopped: it takes longer than ${SECONDS} seconds`;
        return result;
    }
    if (result.error)
        result.ended.push({n: sizes[result.ended.length], wrong: `the kernel failed: ${result.error}`});
    for (const {n, wrong} of result.ended) {
        verdict.sizes[n] = wrong;
        if (wrong)
            Object.assign(verdict, {wrong: `wrong at n = ${grouped(n)}: ${wrong}`, wrongAt: n});
    }
    Exercises.addFindings(result, runs[Math.max(0, result.ended.length - 1)].values, verdict);
    return result;
}

// The n of a check: the exercise's sizes and two drawn ones.
function triesOf(task, random) {
    const drawn = task.runs.map(({n}) => n).filter((n) => !task.sizes.includes(n) && n !== task.counts_at);
    while (drawn.length > 2)
        drawn.splice(Math.floor(random() * drawn.length), 1);
    return [...task.sizes, ...(random() < 0.5 ? drawn : drawn.reverse())];
}

const isRight = (verdict) => !verdict.wrong && !verdict.findings.size;

// Runs all sizes in the default order, then the exercise's own n; and two sizes in the other orders; until
// something is wrong.
async function runAll(task, kernel, verdict, {random, isOver}) {
    const tries = triesOf(task, random), again = [...new Set([Math.max(...tries), tries[tries.length - 1]])].sort((a, b) => a - b);
    for (const [number, orders] of ORDERS.entries()) {
        const sizes = number ? again : [...tries, task.counts_at], {printed, counters} = await session(task, kernel, sizes, orders, verdict);
        if (number === 0) {
            verdict.printed = printed;
            if (!verdict.wrong)
                addCounters(task, sizes, counters, verdict);
        }
        if (!isRight(verdict) || isOver())
            return;
    }
}

// Compiles a text that must define a kernel with this number of parameters; null, with reasons in the verdict, if it does not.
Exercises.compileKernel = async function (text, file, name, count, verdict) {
    const {ptx, diagnostics} = await page.Simulator.compile(text, file), found = ptx && Exercises.entryOf(ptx, name);
    Object.assign(verdict, {diagnostics, isCompiled: Boolean(ptx)});
    if (ptx && !found)
        verdict.said = [`it defines no kernel ${name}`];
    else if (found && found.parameters.length !== count)
        verdict.said = [`${name} has ${found.parameters.length} parameters; the task's kernel has ${count}`];
    verdict.last = found && !verdict.said.length ? {source: {file, text}, ptx} : null;
    return verdict.last && {...found, compiled: verdict.last};
};

// Judges a text. isOver: whether the verdict is no longer wanted, which is asked between sessions; then it is null.
Exercises.judge = async function (task, text, {random = Math.random, isOver = () => false, seconds = SECONDS} = {}) {
    const verdict = {diagnostics: [], said: [], sizes: {}, over: "", wrong: "", wrongAt: 0, findings: new Map(), row: null, rowAt: task.counts_at, missed: [], printed: null, last: null};
    const kernel = await Exercises.compileKernel(text, `${task.name}.cu`, task.kernel, Object.keys(task.runs[0].arguments).length, verdict);
    if (kernel && !isOver()) {
        const timer = setTimeout(() => page.Simulator.stop(), 1000 * seconds);
        await runAll(task, kernel, verdict, {random, isOver});
        clearTimeout(timer);
    }
    return isOver() ? null : Object.assign(verdict, {good: Boolean(kernel) && isRight(verdict) && !verdict.missed.length});
};

// The verdict in one word, as the tests compare it with the terminal's.
Exercises.kindOf = (verdict) => (verdict.good ? "solved" : !verdict.isCompiled || verdict.said.length ? "does not build"
    : verdict.findings.size ? "finding" : verdict.wrong ? "wrong" : "missed goal");
})(typeof window === "object" ? window : globalThis);
