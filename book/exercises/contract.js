// contract.js: a teacher's contract (docs/judge.md) in the page: reads it, draws data, and judges a kernel by it, as
// drywarp/judge/contract.py and judging.py do. A host function as `call`, `scratch`, `harness`, `forbid`, `ladder`, template arguments and the
// program's constants are for `make judge`: Exercises.contract says so.
(function (page) {
"use strict";
const Exercises = (page.Exercises = page.Exercises || {});
const KEYS = ["at most", "block", "call", "computes", "elements", "forbid", "grid", "harness", "ladder", "shared", "sizes", "zeroed"];
const NEEDED = ["call", "computes", "sizes"];
const ONLY_IN_TERMINAL = "is judged only in the terminal, by make judge";
const CODES = {float: "f", double: "d", int: "i", unsigned: "I"};
const UNIT = 16; // most floats that are added are whole sixteenths, -1 to 1 without 0
const LARGE_ONES = 3, MANY = 64; // elements of an array of more than MANY that use most of a sum's bits
// All finite values, for elements that are not added: mantissas times powers of two, in units of the least one (of doubles, not all powers).
const MANTISSA = {float: 24, double: 53}, EXPONENTS = {float: 254, double: 700}, ALL_UNITS = {float: 2 ** 149, double: 2 ** 200};
const ENDS = {int: [-(2 ** 31), 2 ** 31 - 1], unsigned: [0, 2 ** 32 - 1]}; // the least and the greatest value
const MAX_ELEMENTS = {1: 1 << 20, 2: 1 << 16}; // by an operation's power
const RUNS = 2; // of each size, with different data
const MORE_SIZES = 2, DRAWS = 40; // random sizes; the draws made to get them
const ORDERS = [["with interleaved blocks", {together: true}], ["with blocks, warps and lanes in another order", {order: 1}], ["with blocks, warps and lanes in another order", {order: 2}],
    ["with the lanes of a warp apart", {order: 1, lanesApart: true}]];
// Of a launch: the least number, how many at most, their product at most, and all that in words.
const SHAPE = {grid: [1, 3, 2 ** 31 - 1, "one to three positive numbers"], block: [1, 3, 1024, "one to three positive numbers, at most 1,024 threads in all"],
    shared: [0, 1, 48 << 10, "one number, at most 49,152"]};
const COUNTERS = {"launches": null, "blocks": ["grid"], "threads": ["threads"], "warp instructions": ["warp_instructions"], "load requests": ["global_load_requests"],
    "load sectors": ["global_load_sectors"], "shared loads and stores": ["shared_loads", "shared_stores"], "bank conflicts": ["bank_conflicts"], "block barriers": ["block_barriers"],
    "warp barriers": ["warp_barriers"], "atomics": ["atomics"], "shuffles": ["shuffles"]};
const INPUT_CHANGED = "no result: the program changed an input array; it may only read it"; // as in drywarp/judge/check_device.py
const GOAL_UNIT = 32; // elements
const grouped = (number) => number.toLocaleString("en-US");
const refuse = (message) => { throw new Error(message); };
const product = (numbers) => numbers.reduce((result, number) => result * number, 1);

// ---- Arithmetic of a launch: numbers, names, + - * / % and brackets, in whole numbers as in C

Exercises.evaluate = function (text, names) {
    const tokens = text.match(/\d+|[A-Za-z_]\w*|\S/g) || [];
    let at = 0;
    const factor = () => {
        const token = tokens[at++];
        if (token === "-" || token === "+")
            return token === "-" ? -factor() : factor();
        if (token === "(") {
            const value = sum();
            return tokens[at++] === ")" ? value : refuse(`${text} lacks a )`);
        }
        if (/^\d/.test(token || ""))
            return +token;
        return Object.hasOwn(names, token) ? names[token] : refuse(`${text} has '${token || "nothing"}' where a number is expected; names are ${Object.keys(names).join(", ")}`);
    };
    const chain = (next, operators) => {
        let value = next();
        while (operators[tokens[at]])
            value = operators[tokens[at++]](value, next());
        return value;
    };
    const divisor = (b) => b || refuse(`${text} divides by 0`);
    const term = () => chain(factor, {"*": (a, b) => a * b, "/": (a, b) => Math.trunc(a / divisor(b)), "%": (a, b) => a % divisor(b)});
    const sum = () => chain(term, {"+": (a, b) => a + b, "-": (a, b) => a - b});
    const values = [sum()];
    while (tokens[at] === ",") {
        at++;
        values.push(sum());
    }
    return at === tokens.length ? values : refuse(`${text} has '${tokens[at]}', where it should end`);
};

// ---- Operations on whole numbers: [outputs, each a list]

const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
const prefixes = (numbers) => {
    let sum = 0;
    return numbers.map((number) => (sum += number));
};
const prefixesBefore = (numbers) => [0, ...prefixes(numbers).slice(0, -1)];
const halves = (numbers) => [numbers.slice(0, numbers.length / 2), numbers.slice(numbers.length / 2)];
const pairs = (numbers, operation) => halves(numbers)[0].map((a, k) => operation(a, halves(numbers)[1][k]));
const pieces = (numbers, length) => Array.from({length: Math.ceil(numbers.length / length)}, (_, k) => numbers.slice(k * length, (k + 1) * length));
const rows = (numbers, size) => pieces(numbers, size[1]);
const columns = (numbers, size) => Array.from({length: size[1]}, (_, k) => rows(numbers, size).map((row) => row[k]));
const largest = (numbers) => numbers.reduce((most, number) => Math.max(most, number), -Infinity);

// The lists of those neighbours that have the same key; the keys come first in numbers.
function segments(numbers) {
    const [keys, values] = halves(numbers), found = [];
    values.forEach((value, k) => (k && keys[k] === keys[k - 1] ? found[found.length - 1].push(value) : found.push([value])));
    return found;
}

// The powers e^x of a row, divided by their sum.
function softmax(row) {
    const most = largest(row), powers = row.map((number) => Math.exp(number - most)), total = sumOf(powers);
    return powers.map((power) => power / total);
}

// The largest accepted error of a float (drywarp/judge/contract.py derives it).
const softmaxError = (expected, size) => (size[1] / 16 + 64 - 3 * Math.log(Math.max(expected, 2 ** -149))) * 2 ** -24 * expected + 2 ** -126;

// within: the largest accepted difference; of() gets real numbers then, not units. moved: elements are only moved or compared. sign: of all elements in
// the second run. limit: with which elements are compared; of() gets it as a third argument, in units.
const OPERATIONS = {
    "sum": {of: (numbers) => [[sumOf(numbers)]]},
    "max": {of: (numbers) => [[largest(numbers)]], sign: -1, moved: true},
    "min": {of: (numbers) => [[-largest(numbers.map((number) => -number))]], sign: 1, moved: true},
    "argmax": {of: (numbers) => [[numbers.indexOf(largest(numbers))]], kinds: ["int"], sign: -1, moved: true},
    "scan": {of: (numbers) => [prefixes(numbers)]},
    "exclusive scan": {of: (numbers) => [prefixesBefore(numbers)]},
    "copy": {of: (numbers) => [numbers], moved: true},
    "sort": {of: (numbers) => [numbers.toSorted((a, b) => a - b)], moved: true},
    "sums of both": {of: (numbers) => [pairs(numbers, (a, b) => a + b)], inputs: 2},
    "dot product": {of: (numbers) => [[sumOf(pairs(numbers, (a, b) => a * b))]], inputs: 2, power: 2},
    "compaction": {of: (numbers) => [numbers.filter((number) => number > 0), [numbers.filter((number) => number > 0).length]], outputs: ["out", "count"], kinds: ["", "int"], leavesRoom: true, moved: true},
    "scan of segments": {of: (numbers) => [segments(numbers).flatMap(prefixes)], keyed: true},
    "exclusive scan of segments": {of: (numbers) => [segments(numbers).flatMap(prefixesBefore)], keyed: true},
    "sums of segments": {of: (numbers) => [segments(numbers).map(sumOf)], keyed: true},
    "sums of rows": {of: (numbers, size) => [rows(numbers, size).map(sumOf)], ofRows: true},
    "sums of columns": {of: (numbers, size) => [columns(numbers, size).map(sumOf)], ofRows: true},
    "transpose": {of: (numbers, size) => [columns(numbers, size).flat()], ofRows: true, moved: true},
    "rows by their largest": {of: (numbers, size) => [rows(numbers, size).flatMap((row) => row.map((number) => Math.fround(number / largest(row.map(Math.abs)))))], kinds: ["float"], ofRows: true, nonzero: true},
    "softmax of rows": {of: (numbers, size) => [rows(numbers, size).flatMap(softmax)], kinds: ["float"], ofRows: true, within: softmaxError},
};

// An operation whose name ends with a number.
function withNumber(name, number) {
    const below = (numbers, limit) => numbers.filter((each) => each < limit);
    return name === "numbers below"
        ? {of: (numbers, size, limit) => [below(numbers, limit), [below(numbers, limit).length]], outputs: ["out", "count"], kinds: ["", ""], leavesRoom: true, moved: true, limit: number}
        : {of: (numbers) => [pieces(numbers, number).map(sumOf)]};
}

function operationOf(text) {
    const found = /^(sums of pieces of) ([1-9]\d{0,5})$|^(numbers below) ([1-9]\d{0,9})$/.exec(text)?.filter(Boolean), usual = {outputs: ["out"], kinds: [""], inputs: 1, power: 1};
    if (!found && !Object.hasOwn(OPERATIONS, text))
        refuse(`computes = ${text}; accepted are ${Object.keys(OPERATIONS).join(", ")}, sums of pieces of 256 and numbers below 256 (or another number)`);
    return {...usual, ...(found ? withNumber(found[1], +found[2]) : OPERATIONS[text])};
}

// ---- Reading a contract

function linesOf(text) {
    const found = {};
    text.split(/\r?\n/).forEach((whole, k) => {
        const line = whole.split("#")[0].trim(), at = line.indexOf("="), key = line.slice(0, at).trim(), value = line.slice(at + 1).trim();
        if (line && (at < 0 || !KEYS.includes(key) || Object.hasOwn(found, key) || !value))
            refuse(`line ${k + 1} is '${line}'; accepted are lines such as sizes = 1 31 32, each once, of ${KEYS.join(", ")}`);
        if (line)
            found[key] = value;
    });
    for (const key of ["ladder", "harness", "forbid"])
        if (found[key])
            refuse(`a contract with ${key} ${ONLY_IN_TERMINAL}`);
    const missing = NEEDED.find((key) => !found[key]);
    if (missing)
        refuse(`no line ${missing} = ...`);
    if (!found.grid || !found.block)
        refuse(`a host function as call, without grid and block, ${ONLY_IN_TERMINAL}`);
    return found;
}

const countOf = (size) => product([size].flat());
const label = (size) => (Array.isArray(size) ? size.map(grouped).join("x") : `n = ${grouped(size)}`);
const sidesOf = (size, isOfRows) => (isOfRows ? {rows: size[0], columns: size[1]} : {n: size});

function sizesOf(text, isOfRows) {
    const words = [...new Set(text.split(/\s+/))], wrong = words.find((word) => !(isOfRows ? /^[1-9]\d*x[1-9]\d*$/ : /^[1-9]\d*$/).test(word));
    if (wrong)
        refuse(`sizes has '${wrong}'; accepted are ${isOfRows ? "rows x columns, as in 3x5 32x33" : "whole numbers, as in 1 31 32"}`);
    return words.map((word) => (isOfRows ? word.split("x").map(Number) : +word)).sort((a, b) => countOf(a) - countOf(b));
}

// A random number, uniform in its logarithm.
function between(low, high, random) {
    const bits = Math.floor(random() * (Math.floor(Math.log2(high - low + 1)) + 1));
    return Math.min(high, low + Math.floor(random() * 2 ** (bits + 1)));
}

// A random size at which the goals are checked, too: half to seven eighths of the largest (drywarp/judge/contract.py).
function goalSize(largest, random) {
    const drawn = (side) => {
        const unit = side % GOAL_UNIT ? 1 : GOAL_UNIT;
        return Math.max(1, unit * (Math.floor(Math.floor(side / 2) / unit) + Math.floor(random() * (Math.floor(Math.floor(side * 3 / 8) / unit) + 1))));
    };
    const sides = [largest].flat(), lengths = sides[0] === sides[1] ? Array(2).fill(drawn(sides[0])) : sides.map(drawn);
    return lengths.length > 1 ? lengths : lengths[0];
}

// These sizes and random ones between the least and the greatest, with at most as many elements as the last; squares if all are squares.
function moreSizes(sizes, random) {
    const sides = sizes.map((size) => [size].flat()), squares = sides.every((size) => size.length === 2 && size[0] === size[1]), known = new Set(sizes.map(String)), drawn = [];
    for (let k = 0; k < DRAWS && drawn.length < MORE_SIZES; k++) {
        const lengths = sides[0].map((_, d) => between(Math.min(...sides.map((size) => size[d])), Math.max(...sides.map((size) => size[d])), random));
        const size = squares ? [lengths[0], lengths[0]] : lengths.length > 1 ? lengths : lengths[0];
        if (!known.has(String(size)) && countOf(size) <= countOf(sizes[sizes.length - 1]))
            drawn.push(size);
        known.add(String(size));
    }
    return [...sizes, ...drawn].sort((a, b) => countOf(a) - countOf(b));
}

function limitsOf(text = "") {
    return Object.fromEntries(text.split(",").map((part) => part.trim()).filter(Boolean).map((part) => {
        const [, most, name] = /^(\d+) (.+)$/.exec(part) || [];
        return COUNTERS[name] !== undefined ? [name, +most] : refuse(`at most = ${part}; accepted are numbers of ${Object.keys(COUNTERS).join(", ")}`);
    }));
}

// The kernel's name and arguments: names of `known`, or numbers.
function callOf(text, known) {
    const [, kernel, list] = /^([A-Za-z_]\w*)\s*\(([^()]*)\)$/.exec(text) || [];
    if (!kernel)
        refuse(text.includes("<") ? `call = ${text}: a kernel with template arguments ${ONLY_IN_TERMINAL}` : `call = ${text}; write it as in call = add(in, out, n)`);
    const values = list.split(",").map((word) => word.trim()), wrong = values.find((word) => !known.includes(word) && !/^\d+$/.test(word));
    if (wrong)
        refuse(`call has the argument '${wrong}'; accepted here are ${known.join(", ")} and numbers; others ${ONLY_IN_TERMINAL.replace("is", "are")}`);
    return {kernel, values};
}

// Refuses a launch that is impossible at one of the sizes.
function checkShape(contract) {
    for (const size of contract.sizes)
        for (const [key, [least, most, limit, words]] of Object.entries(SHAPE)) {
            const numbers = Exercises.evaluate(contract[key], sidesOf(size, contract.isOfRows));
            if (numbers.length > most || numbers.some((number) => number < least) || product(numbers) > limit)
                refuse(`${key} = ${contract[key]} is ${numbers.join(", ")} at ${label(size)}; it takes ${words}`);
        }
}

// The contract in a file's text; throws an Error that says what is wrong.
Exercises.contract = function (text) {
    const lines = linesOf(text), elements = lines.elements || "float", operation = operationOf(lines.computes);
    if (!CODES[elements])
        refuse(`elements = ${elements}; accepted are ${Object.keys(CODES).join(", ")}`);
    const isOfRows = Boolean(operation.ofRows || lines.sizes.includes("x")), sizes = sizesOf(lines.sizes, isOfRows), most = MAX_ELEMENTS[operation.power];
    if (countOf(sizes[sizes.length - 1]) > most)
        refuse(`sizes contains ${label(sizes[sizes.length - 1])}; the maximum is ${grouped(most)} elements`);
    const zeroed = (lines.zeroed || "").split(/[\s,]+/).filter(Boolean);
    if (!zeroed.every((name) => operation.outputs.includes(name)))
        refuse(`zeroed = ${lines.zeroed}; accepted are ${operation.outputs.join(", ")}`);
    const inputs = [...(operation.keyed ? ["keys"] : []), "in", "in2"].slice(0, operation.inputs + (operation.keyed ? 1 : 0));
    const call = callOf(lines.call, [...Object.keys(sidesOf([1, 1], isOfRows)), ...inputs, ...operation.outputs]);
    const made = {...call, elements, operation, isOfRows, sizes, zeroed, inputs, computes: lines.computes, grid: lines.grid, block: lines.block, shared: lines.shared || "0", limits: limitsOf(lines["at most"])};
    checkShape(made);
    return made;
};

// ---- One run

const TYPES = {f: Float32Array, d: Float64Array, i: Int32Array, I: Uint32Array};
const isReal = (elements) => elements === "float" || elements === "double";

const below = (limit, random) => Math.floor(random() * limit);

// Small elements, in units.
const drawn = (count, elements, random) => Array.from({length: count}, () => (1 + below(UNIT, random)) * (elements === "unsigned" || random() < 0.5 ? 1 : -1));

// Elements that are added. In a long array a few are large: lower precision does not hold them, and the sums still are exact.
function withLargeOnes(numbers, random, power) {
    const most = Math.floor((2 ** 22 / LARGE_ONES) ** (1 / power));
    for (let k = 0; numbers.length > MANY && k < LARGE_ONES; k++) {
        const at = below(numbers.length, random);
        numbers[at] = Math.sign(numbers[at]) * (1 + below(most, random));
    }
    return numbers;
}

// A function that draws finite numbers, in units of ALL_UNITS: of floats in a random range of exponents, which often is that of the greatest.
function numbersOf(elements, random) {
    if (!isReal(elements))
        return () => below(2 ** 32, random) + ENDS[elements][0];
    const span = [1, 16, EXPONENTS[elements]][below(3, random)], rest = EXPONENTS[elements] - span, first = random() < 0.5 ? rest : below(rest + 1, random);
    return () => below(2 ** MANTISSA[elements], random) * 2 ** (first + below(span, random)) * (random() < 0.5 ? 1 : -1);
}

// Elements that are moved or compared, and the number of units in 1. isRepeated: whether few are different; else they have all bits. sign: of all
// of them; 0: any, and some are 0. limit: some are near it.
function drawnValues(count, elements, random, isRepeated, sign, limit = 0) {
    const unit = !isReal(elements) ? 1 : isRepeated ? UNIT : ALL_UNITS[elements], middle = limit * unit < 2 ** 23 || !isReal(elements) ? limit * unit : 0;
    const spread = middle && random() < 0.5 ? middle : UNIT, [low, high] = ENDS[elements] || [-Infinity, Infinity], own = elements === "unsigned" ? Math.abs(sign) : sign;
    const draw = isRepeated ? () => middle + below(2 * spread + 1, random) - spread : numbersOf(elements, random);
    const numbers = Array.from({length: count}, () => {
        const number = draw();
        return own ? (number * own > 0 ? number : -number || own) : below(UNIT, random) ? number : 0;
    });
    return [numbers.map((number) => Math.min(Math.max(number, low), high)), unit];
}

// Segment numbers: in the first run of short or long segments, in the second of a single one, or one for each element.
function drawnKeys(count, random, run) {
    const share = (run ? [0, 0, 256] : [1, 16, 128])[below(3, random)] / 256;
    let key = 0;
    return Array.from({length: count}, (_, k) => (k && random() < share ? ++key : key));
}

const array = (name, numbers, elements, unit) => withoutChange({name, type: CODES[elements], count: numbers.length, before: TYPES[CODES[elements]].from(numbers, (number) => number / unit)});

// An input, which the kernel must not change.
function withoutChange(value) {
    return {...value, after: value.before};
}

// Elements that are added, in units. In some second runs the first ones are 0: a kernel must not take 0 for "not ready" or for the end.
function added(operation, count, elements, run, random) {
    const numbers = withLargeOnes(drawn(count, elements, random), random, operation.power);
    return run === 1 && !operation.nonzero && random() < 0.5 ? numbers.fill(0, 0, below(count, random)) : numbers;
}

// A run at a size: launch, arguments in the kernel's order, and the outputs with their expected numbers in units.
function runAt(contract, size, run, isRepeated, random) {
    const {operation, elements} = contract, count = countOf(size), sides = sidesOf(size, contract.isOfRows);
    const [numbers, unit] = operation.moved ? drawnValues(count, elements, random, isRepeated, run * (operation.sign || 0), operation.limit)
        : operation.within ? [drawn(count, elements, random), random() < 0.5 ? 1 / 8 : 4] // powers: of numbers up to 128, or up to 4
        : [added(operation, count * operation.inputs, elements, run, random), isReal(elements) ? UNIT : 1];
    const keys = operation.keyed ? drawnKeys(count, random, run) : [];
    const parts = pieces(numbers, count), inputs = contract.inputs.map((name) => (name === "keys" ? array(name, keys, "int", 1) : array(name, parts.shift(), elements, unit)));
    const given = operation.within ? numbers.map((number) => number / unit) : [...keys, ...numbers];
    const outputs = operation.of(given, size, operation.limit * unit).map((expected, k) => {
        const kind = operation.kinds[k] || elements, name = operation.outputs[k], type = CODES[kind], length = operation.leavesRoom && k === 0 ? count : expected.length;
        const blank = new TYPES[type](length);
        return {name, type, count: length, before: contract.zeroed.includes(name) ? blank : null, after: expected.length ? blank : null, isRead: true, expected, scale: operation.kinds[k] || k ? 1 : unit ** operation.power,
            within: operation.within ? (number) => operation.within(number, size) : () => 0};
    });
    const named = Object.fromEntries([...inputs, ...outputs].map((value) => [value.name, value]));
    const values = contract.values.map((word) => named[word] || {value: sides[word] === undefined ? +word : sides[word]});
    const [grid, block, [shared]] = ["grid", "block", "shared"].map((key) => Exercises.evaluate(contract[key], sides));
    return {size, grid, block, shared, values, outputs: outputs.filter(({name}) => contract.values.includes(name)), unread: outputs.find(({name}) => !contract.values.includes(name))};
}

// ---- Results in words

const shown = (number, scale) => (scale > 1 ? (Math.abs(number / scale) < 2 ** 24 && scale <= 2 ** 16 ? (number / scale).toFixed(4) : (number / scale).toPrecision(9)) : `${number}`);

function wrongIn({name, expected, scale, within}, got) {
    const wrong = expected.map((_, k) => k).filter((k) => !(Math.abs(got[k] * scale - expected[k]) <= within(expected[k]))), isSingle = expected.length === 1;
    if (!wrong.length)
        return "";
    const first = wrong[0], more = `${grouped(wrong.length)} of ${grouped(expected.length)} are wrong`;
    if (!Number.isFinite(got[first])) {
        const what = Number.isNaN(got[first]) ? "it is uninitialised, or computed from an uninitialised value" : "it is not finite";
        return isSingle ? `no result: ${what}` : `${name}[${first}] is not a number: ${what}; ${more}`;
    }
    const pair = `${shown(got[first] * scale, scale)}, expected ${shown(expected[first], scale)}`;
    return isSingle ? (name === "out" ? pair : `${name} is ${pair}`) : `${name}[${first}] is ${pair}; ${more}`;
}

// The first wrong output of a run; contents: its outputs, in the order of the arguments.
function wrongOf(run, contents) {
    let begin = 0;
    for (const value of run.values.filter(({after}) => after)) {
        const Type = TYPES[value.type], bytes = value.count * Type.BYTES_PER_ELEMENT, got = new Type(contents.slice(begin, begin + bytes).buffer);
        const wrong = value.isRead ? wrongIn(value, got) : got.some((number, k) => number !== value.before[k]) ? INPUT_CHANGED : "";
        if (wrong)
            return wrong;
        begin += bytes;
    }
    return run.unread ? `the kernel has no argument ${run.unread.name}` : "";
}

function totals(row) {
    const threads = +row.grid * product(row.block.split(/[x,]/).map(Number)), of = {...row, threads};
    return Object.fromEntries(Object.entries(COUNTERS).map(([name, keys]) => [name, keys ? sumOf(keys.map((key) => +of[key])) : 1]));
}

// ---- Judging

async function runOnce(contract, kernel, {size, number, isRepeated}, orders, verdict, random) {
    const run = runAt(contract, size, number, isRepeated, random);
    const result = await page.Simulator.replay({...kernel.compiled, ...Exercises.callsOf(kernel, [run]), ...orders, atomicLoads: Object.keys(contract.limits).length > 0, trace: false});
    if (result.status === "stopped")
        return "stopped";
    Exercises.addFindings(result, run.values, verdict);
    verdict.printed = verdict.printed || result.printed;
    return {wrong: result.error ? `no result: the kernel failed: ${result.error}` : wrongOf(run, result.contents), counters: result.counters};
}

// Adds the counters of the largest size's first run to the verdict, and the goals that a run misses. What is forbidden, by a limit of 0, is so at any size.
function addCounters(contract, size, number, counters, isLargest, isGoal, verdict) {
    verdict.counters = isLargest && number === 0 ? counters : verdict.counters;
    if (!(isGoal && number === 0) && verdict.missed.length)
        return;
    verdict.missed.push(...Object.entries(contract.limits).filter(([name, most]) => (isGoal || most === 0) && counters[name] > most)
        .map(([name, most]) => `${grouped(counters[name])} ${name}${isLargest ? "" : ` at ${label(size)}`}, at most ${grouped(most)}`));
}

// All runs of a kernel: [{size, wrong}] in `sizes`; the same findings as in judge.js; counters at the largest size, and goals missed.
Exercises.judgeByContract = async function (contract, text, {random = Math.random, isOver = () => false} = {}) {
    const verdict = {diagnostics: [], said: [], sizes: [], findings: new Map(), counters: null, missed: [], printed: ""}, largestSize = contract.sizes[contract.sizes.length - 1];
    const kernel = await Exercises.compileKernel(text, "kernel.cu", contract.kernel, contract.values.length, verdict);
    if (!kernel)
        return verdict;
    const goalAt = goalSize(largestSize, random), sizes = moreSizes(contract.sizes, random), again = sizes.find((size) => !contract.sizes.includes(size)) || largestSize;
    for (const size of [...sizes.filter((each) => String(each) !== String(goalAt)), goalAt]) {
        let wrong = "";
        const first = random() < 0.5; // in one of the runs elements repeat
        for (let number = 0; number < RUNS && !wrong; number++) {
            const result = await runOnce(contract, kernel, {size, number, isRepeated: first === (number === 0)}, {}, verdict, random);
            if (result === "stopped" || isOver())
                return null;
            wrong = result.wrong;
            if (!wrong) {
                const [isLargest, isGoal] = [largestSize, goalAt].map((each) => String(each) === String(size));
                addCounters(contract, size, number, totals(Exercises.lastRow(result.counters)), isLargest, isLargest || isGoal, verdict);
            }
        }
        verdict.sizes.push({label: label(size), wrong});
    }
    for (const [words, orders] of verdict.sizes.some(({wrong}) => wrong) ? [] : ORDERS)
        for (const size of new Set([largestSize, again])) {
            const result = await runOnce(contract, kernel, {size, number: below(RUNS, random), isRepeated: random() < 0.5}, orders, verdict, random);
            if (result === "stopped" || isOver())
                return null;
            if (result.wrong)
                verdict.sizes.push({label: label(size), wrong: `${result.wrong}, ${words}`});
        }
    return verdict;
};

// The verdict in words, as make judge ends.
Exercises.contractVerdict = (verdict) => (verdict.said.length || !verdict.sizes.length ? "does not build" : verdict.sizes.some(({wrong}) => wrong) ? "wrong"
    : verdict.findings.size ? "findings" : verdict.missed.length ? "misses the goal" : "passed");
})(typeof window === "object" ? window : globalThis);
