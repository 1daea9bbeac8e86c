// engine.js: loads the simulator and the recorded programs, executes one run at a time, and caches results and their models.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const folder = document.currentScript && document.currentScript.src.replace(/[^/]*$/, "");
const MAX_CACHED = 24;
const scripts = new Map(), cache = new Map(), models = new WeakMap();
const ahead = new Map(); // the runs started by runAhead that have not ended, by key
let last = Promise.resolve(), running = null;

// Loads a classic script from this folder, once.
function loadScript(name) {
    if (!scripts.has(name))
        scripts.set(name, new Promise((done, failed) => {
            const script = Player.element("script", {src: folder + name});
            script.onload = done;
            script.onerror = () => failed(new Error(`${name} is missing; make stage and make recordings write it`));
            document.head.append(script);
        }));
    return scripts.get(name);
}

// The program of this name; loads it unless the page contains it.
Player.program = async function (name) {
    if (!(window.playerPrograms && window.playerPrograms[name]))
        await loadScript(`programs/${name}.js`);
    return window.playerPrograms[name];
};

// Loads and starts the simulator before its first run.
Player.prepare = () => simulator().then(() => window.Simulator.start()).catch(() => {}); // the first run reports the error

const simulator = async () => window.Simulator || (await ownElement()) || loadScript("simulator.js");

// Waits for the page's own script element for the simulator, if it has one that is not loaded yet.
function ownElement() {
    const own = document.querySelector("script[data-start]");
    return own && document.readyState !== "complete" && new Promise((done) => {
        own.onload = own.onerror = () => done(window.Simulator);
        addEventListener("load", () => done(window.Simulator)); // it may have failed before
    });
}

// Runs a program for an owner, any object. A new request of the same owner stops or skips its earlier ones, whose result is
// then null; any request stops the run of an owner that yields. Results are cached.
Player.run = async function (owner, program, request) {
    const key = keyOf(program, request);
    owner.wanted = key;
    if (running && (running.owner === owner || running.owner.yields))
        window.Simulator.stop();
    const result = cache.get(key) || (await ahead.get(key)) || store(key, await queued(() => (owner.wanted === key ? cache.get(key) || runNow(owner, program, request) : null)));
    return owner.wanted === key ? result : null;
};

// Starts a run before the part that shows its result exists. The same request to Player.run takes its result, or its place if it failed.
Player.runAhead = function (program, request) {
    const key = keyOf(program, request);
    if (!ahead.has(key))
        ahead.set(key, Player.run({}, program, request).catch(() => null).finally(() => ahead.delete(key)));
};

const keyOf = (program, request) => JSON.stringify([program.name, request]);

// Whether the result of this run and a model of it are cached, so that it can be shown at once.
Player.isCached = (program, request) => models.has(cache.get(keyOf(program, request)));

// The model of a result (Player.model), which is cached with it.
Player.modelOf = function (result, file, isExecuted) {
    const ofResult = models.get(result) || {};
    models.set(result, ofResult);
    return (ofResult[isExecuted] = ofResult[isExecuted] || Player.model(result.trace || "", result.counters || "", file, isExecuted));
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

function store(key, result) {
    if (result)
        cache.set(key, result);
    if (cache.size > MAX_CACHED)
        cache.delete(cache.keys().next().value);
    return result;
}
})();
