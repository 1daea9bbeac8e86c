// engine.js: loads the simulator and the recorded programs, executes one run at a time, and keeps results and their models.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const folder = document.currentScript && document.currentScript.src.replace(/[^/]*$/, "");
const MOST_KEPT = 24;
const coming = new Map(), kept = new Map(), models = new WeakMap();
let last = Promise.resolve(), running = null;

// Loads a classic script from this folder, once.
function script(name) {
    if (!coming.has(name))
        coming.set(name, new Promise((done, failed) => {
            const made = Player.element("script", {src: folder + name});
            made.onload = done;
            made.onerror = () => failed(new Error(`${name} is missing; make stage and make recordings write it`));
            document.head.append(made);
        }));
    return coming.get(name);
}

// The program of this name; loads it unless the page contains it.
Player.program = async function (name) {
    if (!(window.playerPrograms && window.playerPrograms[name]))
        await script(`programs/${name}.js`);
    return window.playerPrograms[name];
};

// Loads and starts the simulator before its first run.
Player.prepare = () => simulator().then(() => window.Simulator.start()).catch(() => {}); // the first run reports the error

const simulator = () => (window.Simulator ? Promise.resolve() : script("simulator.js"));

// Runs a program for an owner, any object. A new request of the same owner stops or skips its earlier ones, whose result is
// then null; any request stops the run of an owner that yields. Results are cached.
Player.run = async function (owner, program, request) {
    const key = keyOf(program, request);
    owner.wanted = key;
    if (running && (running.owner === owner || running.owner.yields))
        window.Simulator.stop();
    const result = kept.get(key) || keep(key, await queued(() => (owner.wanted === key ? kept.get(key) || runNow(owner, program, request) : null)));
    return owner.wanted === key ? result : null;
};

const keyOf = (program, request) => JSON.stringify([program.name, request]);

// Whether the result of this run is kept.
Player.isKept = (program, request) => kept.has(keyOf(program, request));

// The model of a result (Player.model); each result keeps its own.
Player.modelOf = function (result, file, isExecuted) {
    const made = models.get(result) || {};
    models.set(result, made);
    return (made[isExecuted] = made[isExecuted] || Player.model(result.trace || "", result.counters || "", file, isExecuted));
};

// Runs after all earlier runs have ended or failed.
function queued(run) {
    const result = last.then(run);
    last = result.catch(() => null);
    return result;
}

async function runNow(owner, program, request) {
    await simulator();
    running = {owner};
    try {
        const result = await window.Simulator.run(program, request);
        return result.status === "stopped" ? null : result;
    } finally {
        running = null;
    }
}

function keep(key, result) {
    if (result)
        kept.set(key, result);
    if (kept.size > MOST_KEPT)
        kept.delete(kept.keys().next().value);
    return result;
}
})();
