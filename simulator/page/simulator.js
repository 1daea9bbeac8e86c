// simulator.js: window.Simulator, which compiles kernels and replays recordings in a page. `make stage` puts the machine code into it.
//
// Each run is a new instance of the simulator in a Worker, so that the page stays responsive and an endless run can be stopped.
// Without Workers, as in node, it runs on this thread.
"use strict";
(function (page) {

const MACHINE_CODE = "@MACHINE_CODE@"; // WebAssembly, compressed by gzip, in base64
const MAX_INSTRUCTIONS = 20000000; // warp instructions of a block; above that it counts as an infinite loop
const scriptFolder = page.document && page.document.currentScript ? page.document.currentScript.src.replace(/[^/]*$/, "") : "";

// ---- One execution. makeMachine may use only decodeBase64, because a Worker receives the text of these two functions.

function makeMachine() {
    class Exit extends Error {
        constructor(status) {
            super("exit");
            this.status = status;
        }
    }

    // Makes the WASI functions that the simulator imports: clock, environment, output and exit.
    function makeSystem(settings, output) {
        const environment = Object.entries(settings).map(([name, value]) => new TextEncoder().encode(`${name}=${value}\0`));
        const system = {memory: null};
        const view = () => new DataView(system.memory.buffer);
        const succeed = () => 0, BAD_FILE = 8; // WASI's error number
        const wasi = {
            clock_time_get(clock, precision, at) {
                view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
                return 0;
            },
            environ_sizes_get(count, bytes) {
                view().setUint32(count, environment.length, true);
                view().setUint32(bytes, environment.reduce((sum, text) => sum + text.length, 0), true);
                return 0;
            },
            environ_get(pointers, at) {
                environment.forEach((text, k) => {
                    view().setUint32(pointers + 4 * k, at, true);
                    new Uint8Array(system.memory.buffer).set(text, at);
                    at += text.length;
                });
                return 0;
            },
            fd_write(file, parts, count, written) {
                let bytes = 0;
                for (let k = 0; k < count; k++) {
                    const at = view().getUint32(parts + 8 * k, true), length = view().getUint32(parts + 8 * k + 4, true);
                    output.push({file, bytes: new Uint8Array(system.memory.buffer).slice(at, at + length)});
                    bytes += length;
                }
                view().setUint32(written, bytes, true);
                return 0;
            },
            fd_close: succeed,
            fd_seek: succeed,
            fd_fdstat_get: () => BAD_FILE, // the output is no terminal
            proc_exit(status) {
                throw new Exit(status);
            },
        };
        system.imports = {wasi_snapshot_preview1: wasi};
        return system;
    }

    // Copies bytes into the instance's memory, NUL-terminated; returns their address.
    function copyToInstance(instance, bytes) {
        const at = instance.exports.allocate(bytes.length + 1);
        const memory = new Uint8Array(instance.exports.memory.buffer);
        memory.set(bytes, at);
        memory[at + bytes.length] = 0;
        return at;
    }

    function fileBytes(instance, name) {
        const at = copyToInstance(instance, new TextEncoder().encode(name));
        const begin = instance.exports.file_text(at), length = instance.exports.file_length(at);
        return new Uint8Array(instance.exports.memory.buffer, begin, length).slice();
    }

    function decodeParts(parts) {
        const decoder = new TextDecoder();
        return parts.map(({bytes}) => decoder.decode(bytes, {stream: true})).join("");
    }

    function giveInput(instance, {source, host, recording, without}) {
        const copy = (bytes) => copyToInstance(instance, bytes), encode = (text) => new TextEncoder().encode(text);
        if (source) {
            const text = encode(source.text);
            instance.exports.set_source(copy(encode(source.file)), copy(text), text.length);
            if (host)
                instance.exports.set_host(...[host.file, host.text, host.defines, without].map((word) => copy(encode(word))));
        } else {
            instance.exports.set_recording(copy(recording), recording.length, copy(encode(without)));
        }
    }

    // Returns the exit status, or a text "trap: ...".
    function runInstance(instance, input) {
        try {
            giveInput(instance, input);
            instance.exports._start();
            return 0;
        } catch (error) {
            if (error instanceof Exit)
                return error.status;
            return `trap: ${error.message}`;
        }
    }

    // Resolves to the module of compressed machine code in base64. (In Firefox, compileStreaming takes longer.)
    async function compileMachine(base64) {
        const bytes = new Blob([decodeBase64(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
        return WebAssembly.compile(await new Response(bytes).arrayBuffer());
    }

    // Compiles a source ({file, text}) and runs its host code, if there is a harness ({file, text, defines}); or replays a recording
    // (bytes). Resolves to status, output and files.
    async function execute(module, {source, host, recording, without, settings}) {
        const startTime = performance.now(), parts = [];
        const system = makeSystem(settings, parts);
        const instance = await WebAssembly.instantiate(module, system.imports);
        system.memory = instance.exports.memory;
        const status = runInstance(instance, {source, host, recording, without});
        const files = {}, isRun = host || recording;
        for (const name of [...(source ? ["ptx", "diagnostics", "calls"] : []), ...(isRun ? ["report", "trace", "counters", "findings"] : [])])
            files[name] = new TextDecoder().decode(fileBytes(instance, name));
        if (isRun)
            files.contents = fileBytes(instance, "contents");
        const printed = decodeParts(parts.filter(({file}) => file === 1)); // by kernels; messages go to file 2
        return {status, output: decodeParts(parts), printed, ...files, ms: performance.now() - startTime};
    }

    return {compileMachine, execute};
}

function decodeBase64(base64) {
    if (Uint8Array.fromBase64) // browsers since 2025; the loop takes 30 ms when it first runs
        return Uint8Array.fromBase64(base64);
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++)
        bytes[k] = text.charCodeAt(k);
    return bytes;
}

// ---- The Worker

let worker = null, pendingJobs = new Map(), lastJobNumber = 0; // pendingJobs: maps a number to the job and its Promise's resolve and reject
let workerUrl = null; // URL of the Worker's text; shared by all Workers, because it is freed only with the page
let compiledModule = null; // compiled by the first Worker, for the Workers that replace a stopped one
let localMachine = null, localModule = null, hasWorkers = typeof page.Worker === "function" && typeof page.Blob === "function";

function startWorker() {
    const text = `${decodeBase64} const {compileMachine, execute} = (${makeMachine})(); let machine;
        onmessage = async ({data}) => {
            if (data.code || data.module) {
                machine = data.module ? Promise.resolve(data.module) : compileMachine(data.code);
                machine.then((module) => postMessage({module})).catch(() => {});
                return;
            }
            try { postMessage({number: data.number, result: await execute(await machine, data.job)}); }
            catch (error) { postMessage({number: data.number, error: String(error)}); }
        };`;
    workerUrl = workerUrl || URL.createObjectURL(new Blob([text], {type: "text/javascript"}));
    worker = new page.Worker(workerUrl);
    worker.onmessage = ({data}) => {
        if (data.module) {
            compiledModule = data.module;
            return;
        }
        const {resolve, reject} = pendingJobs.get(data.number);
        pendingJobs.delete(data.number);
        data.error ? reject(new Error(data.error)) : resolve(data.result);
    };
    worker.onerror = abandonWorker;
    worker.postMessage(compiledModule ? {module: compiledModule} : {code: MACHINE_CODE});
}

// Runs the pending jobs on this thread: a page's content security policy may forbid Workers, which is reported asynchronously.
function abandonWorker() {
    hasWorkers = false;
    worker = null;
    const remaining = [...pendingJobs.values()];
    pendingJobs = new Map();
    for (const {job, resolve, reject} of remaining)
        executeOnThisThread(job).then(resolve, reject);
}

async function executeOnThisThread(job) {
    localMachine = localMachine || makeMachine();
    localModule = localModule || localMachine.compileMachine(MACHINE_CODE);
    return localMachine.execute(await localModule, job);
}

// Starts the Worker, which compiles the machine code, before its first job; else a run does. A script element with data-start calls it.
function start() {
    if (!hasWorkers || worker)
        return;
    try {
        startWorker();
    } catch (error) {
        hasWorkers = false; // the page allows no Workers
    }
}

function execute(job) {
    start();
    if (!hasWorkers)
        return executeOnThisThread(job);
    return new Promise((resolve, reject) => {
        pendingJobs.set(++lastJobNumber, {job, resolve, reject});
        worker.postMessage({number: lastJobNumber, job});
    });
}

// Ends the pending runs, with the status "stopped". A new Worker starts at once for the run that follows.
function stop() {
    if (worker) {
        worker.terminate();
        worker = null;
        start();
    }
    const stopped = [...pendingJobs.values()];
    pendingJobs = new Map();
    for (const {resolve} of stopped)
        resolve({status: "stopped", output: "", printed: "", report: "", trace: "", counters: "", findings: "", contents: new Uint8Array(), ms: 0});
}

// ---- Recordings

// Loads a script from the folder of programs; returns a Promise.
function load(file) {
    return new Promise((resolve, reject) => {
        const script = page.document.createElement("script");
        script.src = `${scriptFolder}programs/${file}`;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`cannot load ${script.src}`));
        page.document.head.append(script);
    });
}

const embeddedBytes = (program, name) => (program.bytes || {})[name] || (page.playerBytes || {})[name];

async function findBytes(program, name) {
    if (!embeddedBytes(program, name))
        await api.load(`bytes-${name}.js`);
    return decodeBase64(embeddedBytes(program, name));
}

function concatenate(parts) {
    const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        result.set(part, at);
        at += part.length;
    }
    return result;
}

// Writes a recording in the native simulator's format (simulator/runtime/work/record.h). ptx: pairs of a binary and a text;
// bytes: by name; calls: lines.
function writeRecording({source, ptx, bytes, calls}) {
    const encoder = new TextEncoder(), parts = [encoder.encode("recording 1\n")];
    const add = (head, data) => parts.push(encoder.encode(`${head} ${data.length}\n`), data, encoder.encode("\n"));
    add(`source ${source.file}`, encoder.encode(source.text));
    for (const [binary, text] of ptx) // several texts of one binary are linked
        add(`ptx ${binary}`, encoder.encode(text));
    for (const [name, data] of Object.entries(bytes))
        add(`bytes ${name}`, data);
    parts.push(encoder.encode(calls));
    return concatenate(parts);
}

async function assemble(program, variant, n) {
    const calls = variant.runs[n], bytes = {}, {file} = program.source;
    if (calls === undefined)
        throw new Error(`${program.name} has no recording for n = ${n}`);
    for (const name of new Set([...calls.matchAll(/^(?:write|read) .* ([0-9a-f]{16})$/gm)].map((match) => match[1])))
        bytes[name] = await findBytes(program, name);
    return writeRecording({source: {file, text: textOf(variant)}, ptx: variant.ptx, bytes, calls});
}

function settingsOf(request) {
    const settings = {SIM_COUNTERS: "counters", SIM_FINDINGS: "findings", SIM_CHECK: request.check === false ? 0 : 1,
                      SIM_MAX_INSTRUCTIONS: request.most || MAX_INSTRUCTIONS, SIM_TOGETHER: request.together ? 1 : 0};
    if (request.trace !== false)
        Object.assign(settings, {SIM_TRACE: "trace", SIM_TRACE_BLOCK: request.block || 0, SIM_TRACE_VALUES: request.values ? 1 : 0});
    if (request.trace !== false && request.rows)
        settings.SIM_TRACE_ROWS = request.rows;
    if (request.atomicLoads)
        settings.SIM_ATOMIC_LOADS = 1;
    if (Number.isInteger(request.order))
        settings.SIM_BLOCK_ORDER = request.order;
    if (request.lanesApart) // the checker's rules for the threads of a warp assume that they are not
        Object.assign(settings, {SIM_LANES_APART: 1, SIM_CHECK: 0});
    return settings;
}

const formatRemovedLines = (lines) =>
    (lines || []).map((line) => typeof line === "number" ? `${line}` : `${line.what === "test" ? "t" : ""}${line.line}`).join(",");

function interpretBits(bits) {
    const view = new DataView(new ArrayBuffer(4));
    view.setUint32(0, bits);
    return {float: view.getFloat32(0), int: bits};
}

const MAX_RESULTS = 32;

// The first words that the program copied to the host, each as a float and as a whole number.
function firstWords(contents) {
    const view = new DataView(contents.buffer, contents.byteOffset, contents.length), count = Math.min(MAX_RESULTS, contents.length >> 2);
    return Array.from({length: count}, (_, k) => interpretBits(view.getUint32(4 * k, true)));
}

const withNumbers = (check) => ({...check, got: interpretBits(check.got), expected: interpretBits(check.expected)});

const DATA = ["lesson", "ones", "ascending", "alternating"]; // kinds of input; "lesson": docs/check.md

// The job of running a source: its kernels are compiled, and its host code is evaluated.
function jobOfSource(program, variant, request) {
    const {file} = program.source, n = request.n || sizeOf(variant.sizes), data = DATA.indexOf(request.data || "lesson");
    if (!Number.isSafeInteger(n) || n < 1 || data < 0)
        throw new Error(`${program.name} cannot run for n = ${n} with the data ${request.data}`);
    const text = request.text === undefined ? textOf(variant) : request.text;
    return {source: {file, text}, host: {...program.host, defines: `HARNESS_N=${n}\nHARNESS_DATA=${data}`}};
}

// The job of replaying recorded calls. The kernels of an edited text are launched like the program's own.
async function jobOfRecording(program, variant, request) {
    const n = request.n || sizeOf(variant.sizes);
    if (request.text === undefined)
        return {recording: await assemble(program, variant, n), ptx: variant.ptx.map(([, text]) => text).join("\n"), calls: variant.runs[n]};
    const {ptx, diagnostics} = await compile(request.text, program.source.file);
    const kernels = {...variant, source: {text: request.text}, ptx: [[variant.ptx[0][0], ptx]]};
    return {recording: ptx && await assemble(program, kernels, n), ptx, diagnostics, calls: variant.runs[n]};
}

const sizeOf = (sizes) => sizes.includes(256) ? 256 : sizes[0];
const textOf = ({source}) => typeof source === "string" ? source : source.text;

// [{kernel, grid, block, shared, cluster}] of the lines of a recording; kernel is the name in the PTX, cluster null if there is none.
function launchesIn(calls) {
    const size = (text) => text.split(",").map(Number);
    return calls.split("\n").filter((line) => line.startsWith("launch ")).map((line) => {
        const [, , kernel, grid, block, shared, cluster] = line.split(" ");
        return {kernel, grid: size(grid), block: size(block), shared: +shared, cluster: cluster === "0,0,0" ? null : size(cluster)};
    });
}

// [{base, bytes, launches: [{launch, kernel, parameter, offset}]}] of the allocations: the launches, from 1, and their parameters, from 0,
// that point to a byte of it.
function arraysIn(calls, addresses) {
    const arrays = new Map();
    let launch = 0;
    for (const [what, number, ...words] of calls.split("\n").map((line) => line.split(" ")))
        if (what === "allocate")
            arrays.set(number, {base: addresses[number], bytes: +words[1], launches: []});
        else if (what === "launch" && ++launch)
            words.slice(6).forEach((word, parameter) => {
                const [, to, offset] = /^@(\d+)\+(\d+)$/.exec(word) || [];
                if (arrays.has(to))
                    arrays.get(to).launches.push({launch, kernel: words[0], parameter, offset: +offset});
            });
    return [...arrays.values()].filter(({base}) => base);
}

const withoutRun = (diagnostics) => ({status: "errors", output: "", printed: "", results: [], checks: [], trace: "", counters: "", findings: [], launches: [], arrays: [], diagnostics, ptx: "", ms: 0});

// Runs the program, its Try number request.try, or request.text, an edited source. request.n is the number of elements, request.data
// one of DATA. The status "errors" means that the text cannot be compiled or its host code not be evaluated; `diagnostics` say why.
async function run(program, request = {}) {
    const variant = request.try ? program.tries[request.try - 1] : program;
    const job = program.host ? jobOfSource(program, variant, request) : await jobOfRecording(program, variant, request);
    if (!job.source && !job.recording)
        return withoutRun(job.diagnostics);
    const made = await execute({...job, without: formatRemovedLines(request.without), settings: settingsOf(request)});
    const diagnostics = job.diagnostics || JSON.parse(made.diagnostics || "[]");
    if (diagnostics.some(({severity}) => severity === "error"))
        return {...withoutRun(diagnostics), ms: made.ms};
    const {status, output, printed, report, trace, counters, findings, ms} = made, calls = job.calls || made.calls;
    const trapped = typeof status === "string" && status.startsWith("trap"), {checks = [], addresses = []} = trapped || !report ? {} : JSON.parse(report);
    return {
        status: trapped ? "trap" : status,
        output: trapped ? `${output}${status}\n` : output,
        printed,
        results: firstWords(made.contents),
        checks: checks.map(withNumbers),
        trace,
        counters,
        findings: findings ? JSON.parse(findings).findings : [],
        launches: launchesIn(calls),
        arrays: arraysIn(calls, addresses),
        diagnostics,
        ptx: job.ptx || made.ptx,
        ms,
    };
}

// Runs calls, lines of a recording, with the kernels of a PTX text (as binary 0). Resolves to the bytes of all copies to the host
// (`contents`), the addresses of the allocations, the error of a failed launch, what kernels printed, counters, findings, trace.
async function replay({source, ptx, calls, bytes = {}, ...request}) {
    const recording = writeRecording({source, ptx: [[0, ptx]], bytes, calls});
    const {report, findings, ...result} = await execute({recording, without: "", settings: settingsOf(request)});
    const isTrap = typeof result.status === "string" && result.status.startsWith("trap");
    const {addresses = [], error = ""} = isTrap || !report ? {} : JSON.parse(report);
    return {...result, addresses, error: isTrap ? result.status : error, findings: findings ? JSON.parse(findings).findings : []};
}

// Compiles a source; resolves to its PTX ("" if it has errors) and the diagnostics (simulator/page/compile.h).
async function compile(text, file = "kernel.cu") {
    const {status, output, ptx, diagnostics, ms} = await execute({source: {file, text}, settings: {}});
    if (status !== 0 && status !== 1)
        throw new Error(`the compiler failed: ${status} ${output}`);
    return {ptx, diagnostics: JSON.parse(diagnostics), ms};
}

const api = {compile, run, replay, start, stop, load};
page.Simulator = api;
if (page.document && page.document.currentScript && "start" in page.document.currentScript.dataset)
    start();
if (typeof module === "object" && module.exports)
    module.exports = api;

})(typeof window === "object" ? window : globalThis);
