// playground.js: a kernel of one's own in the page: arrays for its parameters, a launch, results, findings and counters; or judged by a
// teacher's contract (contract.js). The kernel and the settings stay in the browser; the kernel can be saved as a file.
(function (page) {
"use strict";
const {Exercises} = page, {element} = page.Player, {button} = Exercises;
const KEY = "playground", DELAY_MS = 300, BUSY_MS = 400; // from the last change to the run; until a run is announced
const MAX_ELEMENTS = 1 << 20, MAX_SHOWN = 64; // elements of an array: allocated, and shown after the run
const MAX_INSTRUCTIONS = 4000000;
const TYPES = {"float": "f", "double": "d", "int": "i", "unsigned": "I", "unsigned int": "I", "signed int": "i"};
const VIEWS = {f: Float32Array, d: Float64Array, i: Int32Array, I: Uint32Array};
const sixteenth = () => (1 + Math.floor(16 * Math.random())) * (Math.random() < 0.5 ? -1 : 1) / 16; // sums of them are exact
const CONTENTS = {"0, 1, 2, …": (k) => k, "ones": () => 1, "zeros": () => 0, "random": sixteenth, "uninitialised": null};
const COUNTED = ["warp_instructions", "global_load_requests", "global_load_sectors", "global_store_sectors", "shared_loads", "shared_stores", "bank_conflicts",
    "block_barriers", "atomics"];
const EMPTY = `// c[i] = a[i] + b[i]
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
`;
const grouped = (number) => number.toLocaleString("en-US");

// ---- Settings

const usual = () => ({text: EMPTY, n: "1000", grid: "(n + 255) / 256", block: "256", shared: "0", kernel: "", parameters: {}, contract: null});

function load() {
    try {
        return {...usual(), ...JSON.parse(localStorage.getItem(KEY))};
    } catch (error) {
        return usual();
    }
}

function keep(state) {
    try {
        localStorage.setItem(KEY, JSON.stringify(state));
    } catch (error) {
        document.querySelector(".ex-note").textContent = "This browser keeps nothing for this page: save your kernel before you close it.";
    }
}

// ---- The kernels of a source

// [{name, parameters: [{name, type, isArray, isConst}]}]; type is null if arrays of it cannot be made here.
const kernelsOf = (text) => page.Player.kernelsIn(text).map(({name, parameters}) => ({name, parameters: parameters.map(parameterOf)}));

function parameterOf(text) {
    const words = text.replace(/__restrict__|\bvolatile\b/g, " ").replace(/\[\s*\w*\s*\]\s*$/, ""), [, rest, name] = /^(.*?)(\w+)\s*$/s.exec(words) || [0, words, "?"];
    const isArray = rest.includes("*") || /\]\s*$/.test(text), type = rest.replace(/\bconst\b|\*/g, " ").replace(/\s+/g, " ").trim();
    return {name, type: TYPES[type] || null, typeName: type, isArray, isConst: /\bconst\b/.test(rest)};
}

// What is chosen for a parameter: an array's count and contents, or a number.
const choiceFor = (state, {name, isConst}) => ({count: "n", contents: isConst ? "random" : "uninitialised", value: "n", ...state.parameters[name]});

// ---- Running

function numberOf(words, text, names) {
    const values = Exercises.evaluate(text, names);
    if (values.length !== 1)
        throw new Error(`${words} takes one number`);
    return values[0];
}

function argumentOf(state, parameter, names) {
    const {name, type, typeName, isArray, isConst} = parameter, choice = choiceFor(state, parameter);
    if (!isArray)
        return {name, value: numberOf(name, choice.value, names)};
    if (!type)
        throw new Error(`${name}: arrays of ${typeName} cannot be made here; float, double, int and unsigned can`);
    const count = numberOf(`the count of ${name}`, choice.count, names), View = VIEWS[type], fill = CONTENTS[choice.contents];
    if (count < 1 || count > MAX_ELEMENTS)
        throw new Error(`${name} has ${grouped(count)} elements; 1 to ${grouped(MAX_ELEMENTS)} are possible here`);
    return {name, type, count, isConst, before: fill && View.from({length: count}, (_, k) => fill(k)), after: isConst ? null : new View(count)};
}

// The launch that the settings describe; throws an Error that says which is wrong.
function launchOf(state, kernel) {
    const n = numberOf("n", state.n, {}), names = {n}, grid = Exercises.evaluate(state.grid, names), block = Exercises.evaluate(state.block, names);
    const threads = block.reduce((product, side) => product * side, 1), isShape = (numbers) => numbers.length <= 3 && numbers.every((number) => number >= 1);
    if (!isShape(grid) || !isShape(block) || threads > 1024)
        throw new Error(`grid ${grid.join(", ")} and block ${block.join(", ")}: one to three positive numbers each, and at most 1,024 threads in a block`);
    return {n, grid, block, shared: numberOf("shared", state.shared, names), values: kernel.parameters.map((parameter) => argumentOf(state, parameter, names))};
}

function chosenKernel({text, kernel}) {
    const kernels = kernelsOf(text);
    return kernels.find(({name}) => name === kernel) || kernels[0] || null;
}

// Runs the kernel once; returns a function that shows the result, or null if the run was stopped.
async function runKernel(view) {
    const {state, boxes} = view, kernel = chosenKernel(state), verdict = {diagnostics: [], said: [], findings: new Map(), last: null};
    const compiled = await Exercises.compileKernel(state.text, "kernel.cu", kernel ? kernel.name : "none", kernel ? kernel.parameters.length : 0, verdict);
    view.editor.problems(verdict.diagnostics);
    if (!compiled)
        return () => showSaid(view, !verdict.isCompiled ? "It does not compile" : kernel ? verdict.said[0] : "There is no kernel: a function with __global__", verdict, []);
    const launch = launchOf(state, kernel);
    const result = await page.Simulator.replay({...compiled.compiled, ...Exercises.callsOf(compiled, [launch]), trace: false, most: MAX_INSTRUCTIONS});
    if (result.status === "stopped")
        return null;
    Exercises.addFindings(result, launch.values, verdict);
    view.last = {compiled, launch};
    const isGood = !result.error && !verdict.findings.size;
    const headline = result.error ? `The kernel failed: ${result.error}` : `The kernel ran, ${isGood ? "without" : "with"} findings`;
    const arrays = result.error ? null : arraysBox(launch, result.contents);
    return () => {
        boxes.watch.hidden = false;
        Exercises.outdate(boxes.player, () => watch(view));
        showSaid(view, headline, verdict, [...page.Player.printed(result.printed), arrays, countersBox(Exercises.lastRow(result.counters))], isGood);
    };
}

// The same for a judgement by the contract.
async function judgeKernel(view, isOver) {
    const {state, contract} = view, verdict = await Exercises.judgeByContract(contract, state.text, {isOver});
    if (!verdict)
        return null;
    view.editor.problems(verdict.diagnostics);
    const words = Exercises.contractVerdict(verdict), {limits} = contract;
    const lines = verdict.sizes.map(({label, wrong}) => `${label} ${".".repeat(Math.max(3, 22 - label.length))} ${wrong || "correct"}`);
    const counters = Object.entries(verdict.counters || {}).map(([name, value]) => [name, grouped(value), limits[name] === undefined ? "" : grouped(limits[name])]);
    const boxes = [lines.length && element("pre", {}, lines.join("\n")), ...verdict.missed.map((goal) => element("p", {}, `goal missed: ${goal}`)),
        counters.length && Exercises.table(counters, ["counter", "yours", "at most"]), ...page.Player.printed(verdict.printed)];
    const headline = !verdict.isCompiled ? "It does not compile" : verdict.said[0] || words[0].toUpperCase() + words.slice(1);
    return () => showSaid(view, headline, verdict, boxes, words === "passed");
}

// Runs or judges the kernel; a later call replaces an earlier one.
async function run(view) {
    const {boxes} = view, busy = setTimeout(() => {
        boxes.headline.textContent = "running …";
        boxes.headline.className = "ex-headline";
    }, BUSY_MS);
    try {
        const show = await Exercises.newest((isOver) => (view.contract ? judgeKernel(view, isOver) : runKernel(view)));
        clearTimeout(busy);
        if (show)
            show();
    } catch (error) {
        clearTimeout(busy);
        boxes.headline.textContent = error.message;
        boxes.headline.className = "ex-headline ex-bad";
        boxes.details.replaceChildren();
    }
}

// ---- Showing

function showSaid({boxes, editor}, headline, verdict, more, isGood) {
    boxes.headline.textContent = headline;
    boxes.headline.className = `ex-headline ex-${isGood ? "good" : "bad"}`;
    editor.flag(Exercises.flaggedLines(verdict));
    const findings = [...verdict.findings.values()].map((one) => Exercises.findingBox(one, editor));
    boxes.details.replaceChildren(...Exercises.messageBoxes(verdict, editor), ...findings, ...more.filter(Boolean));
}

function arraysBox({values}, contents) {
    let begin = 0;
    const shown = values.filter(({after}) => after).map(({name, type, count}) => {
        const bytes = count * VIEWS[type].BYTES_PER_ELEMENT, got = new VIEWS[type](contents.slice(begin, begin += bytes).buffer);
        const numbers = Array.from(got.slice(0, MAX_SHOWN), (value) => `${+value.toPrecision(7)}`);
        return element("p", {}, element("strong", {}, `${name} after the run: `), element("code", {}, numbers.join(" ")), count > MAX_SHOWN ? ` … (${grouped(count)} elements)` : "");
    });
    return element("div", {class: "pg-arrays"}, shown);
}

const countersBox = (row) => row && Exercises.table(COUNTED.map((name) => [name.replace(/_/g, " "), grouped(+row[name])]), ["counter", "whole launch"]);

function watch(view) {
    const {compiled, launch} = view.last;
    Exercises.watch(view.boxes.player, {title: "your kernel", n: launch.n, last: compiled.compiled, recording: Exercises.callsOf(compiled, [launch]), isOwn: true});
}

// ---- Settings in the page

function settingField(view, key, words, title = "") {
    return element("label", {title}, element("span", {}, words), element("input", {type: "text", value: view.state[key], autocomplete: "off", spellcheck: "false", oninput: ({target}) => {
        view.state[key] = target.value;
        changed(view);
    }}));
}

function parameterRow(view, parameter) {
    const {state} = view, {name, isArray, typeName, isConst} = parameter, choice = choiceFor(state, parameter);
    const set = (key) => ({target}) => {
        state.parameters[name] = {...(state.parameters[name] || {}), [key]: target.value};
        changed(view);
    };
    const input = (key, words) => element("input", {type: "text", value: choice[key], "aria-label": `${words} of ${name}`, autocomplete: "off", oninput: set(key)});
    const select = element("select", {"aria-label": `contents of ${name}`, onchange: set("contents")}, Object.keys(CONTENTS).map((each) => element("option", {selected: each === choice.contents}, each)));
    return element("tr", {}, element("th", {scope: "row"}, element("code", {}, name)), element("td", {}, `${isConst ? "const " : ""}${typeName}${isArray ? " array" : ""}`),
        element("td", {}, input(isArray ? "count" : "value", isArray ? "count" : "value")), element("td", {}, isArray ? select : ""));
}

function parameterTable(view, kernel) {
    const head = ["parameter", "type", "count or value", "contents"].map((text) => element("th", {scope: "col"}, text));
    const rows = kernel.parameters.map((parameter) => parameterRow(view, parameter));
    return element("div", {class: "ex-scroll"}, element("table", {class: "ex-table"}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows)));
}

function kernelChoice(view, kernels, kernel) {
    const choose = ({target}) => {
        view.state.kernel = target.value;
        changed(view);
    };
    return element("label", {}, "kernel ", element("select", {onchange: choose}, kernels.map(({name}) => element("option", {selected: name === kernel.name}, name))));
}

// The kernel's parameters; made anew only if the signature has changed, so that a field keeps its focus.
function showParameters(view) {
    const kernels = kernelsOf(view.state.text), kernel = chosenKernel(view.state), signature = JSON.stringify([kernels.map(({name}) => name), kernel]);
    if (signature === view.signature)
        return;
    view.signature = signature;
    view.boxes.parameters.replaceChildren(...(kernels.length > 1 ? [kernelChoice(view, kernels, kernel)] : []),
        ...(kernel && kernel.parameters.length ? [parameterTable(view, kernel)] : []));
}

function changed(view) {
    keep(view.state);
    if (!view.contract)
        showParameters(view);
    clearTimeout(view.timer);
    view.timer = setTimeout(() => run(view), DELAY_MS);
}

// ---- Files

// A contract, or a kernel, that was chosen or dropped.
async function open(view, file) {
    const text = await file.text(), {state, boxes} = view;
    if (/\.(cu|cuh|txt)$/.test(file.name)) {
        state.text = text;
        view.editor.set(text, false);
        return changed(view);
    }
    try {
        setContract(view, {name: file.name, text});
    } catch (error) {
        boxes.note.textContent = `${file.name}: ${error.message}`;
    }
}

function setContract(view, given) {
    view.contract = given && Exercises.contract(given.text);
    view.state.contract = given;
    const {boxes, contract} = view, sizes = contract && contract.sizes.map((size) => [size].flat().join("x")).join(", ");
    boxes.settings.hidden = Boolean(contract);
    boxes.contract.hidden = !contract;
    boxes.note.textContent = boxes.headline.textContent = "";
    boxes.headline.className = "ex-headline";
    if (contract)
        boxes.contract.replaceChildren(element("p", {}, `Judged by ${given.name}: computes ${contract.computes}; sizes ${sizes} and two random ones, each twice.`),
            element("pre", {}, given.text.trim()), button("Without this contract", () => setContract(view, null)));
    changed(view);
}

function fileButton(text, accept, then) {
    const input = element("input", {type: "file", accept, hidden: true, onchange: () => input.files[0] && then(input.files[0])});
    return [button(text, () => input.click()), input];
}

function acceptDrops(view, box) {
    box.addEventListener("dragover", (event) => event.preventDefault());
    box.addEventListener("drop", (event) => {
        event.preventDefault();
        if (event.dataTransfer.files[0])
            open(view, event.dataTransfer.files[0]);
    });
}

// ---- Start

function makeBoxes(view) {
    const box = (name, attributes = {}) => element("div", {class: name, ...attributes});
    return {code: box("ex-code"), settings: box("pg-settings"), parameters: box("pg-parameters"), contract: box("pg-contract", {hidden: true}), details: box("ex-details"),
        player: box("ex-player"), headline: element("p", {class: "ex-headline", role: "status"}), note: element("p", {class: "ex-note", role: "status"}),
        watch: button("Watch this run", () => watch(view), {hidden: true})};
}

function renew(view) {
    view.state.text = EMPTY;
    view.editor.set(EMPTY, false);
    changed(view);
}

const actionsOf = (view) => [button("Run", () => run(view), {title: "Ctrl-Enter"}), view.boxes.watch,
    button("Save the kernel", () => Exercises.save("kernel.cu", view.state.text)),
    ...fileButton("Open a kernel or a contract", ".cu,.contract,.txt,text/plain", (file) => open(view, file)),
    button("New", () => renew(view), {title: "the vector addition; undo in the editor brings your kernel back"})];

const fieldsOf = (view) => [settingField(view, "n", "n"), settingField(view, "grid", "grid (blocks)", "up to three numbers, separated by commas; n may be used"),
    settingField(view, "block", "block (threads)"), settingField(view, "shared", "dynamic shared bytes")];

function start(place) {
    const state = load(), view = {state, contract: null, timer: 0, signature: ""}, boxes = (view.boxes = makeBoxes(view));
    boxes.settings.append(element("div", {class: "ex-predictions"}, fieldsOf(view)), boxes.parameters);
    place.classList.add("ex-view");
    place.replaceChildren(boxes.code, element("div", {class: "ex-bar"}, actionsOf(view)), boxes.note, boxes.contract, boxes.settings, boxes.headline, boxes.details, boxes.player);
    const typed = (text) => {
        state.text = text;
        changed(view);
    };
    view.editor = Exercises.editor(boxes.code, "your kernel", {changed: typed, run: () => run(view)});
    view.editor.set(state.text);
    acceptDrops(view, document.body);
    showParameters(view);
    if (state.contract)
        setContract(view, state.contract);
    else
        run(view);
}

document.querySelectorAll(".pg-app").forEach(start);
})(window);
