// engine.js: brings the simulator and the recorded programs into the page when they are wanted, and runs one at a time.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const folder = document.currentScript && document.currentScript.src.replace(/[^/]*$/, "");
const MOST_KEPT = 24;
const coming = new Map(), kept = new Map();
let last = Promise.resolve(), running = null;

// A classic script beside this one; once, however often it is asked for.
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

// The program of this name; a page that holds it in itself loads nothing.
Player.program = async function (name) {
    if (!(window.playerPrograms && window.playerPrograms[name]))
        await script(`programs/${name}.js`);
    return window.playerPrograms[name];
};

// Runs a program; `who` is told apart only by identity. A run that the same `who` no longer wants is stopped or left
// out, and its result is null. Results are kept, for a reader goes to and fro.
Player.run = async function (who, program, request) {
    const key = JSON.stringify([program.name, request]);
    who.wanted = key;
    if (running && running.who === who)
        window.Simulator.stop();
    const result = kept.get(key) || keep(key, await inTurn(() => (who.wanted === key ? kept.get(key) || runNow(who, program, request) : null)));
    return who.wanted === key ? result : null;
};

// One at a time, whatever becomes of those before.
function inTurn(run) {
    const result = last.then(run);
    last = result.catch(() => null);
    return result;
}

async function runNow(who, program, request) {
    if (!window.Simulator)
        await script("simulator.js");
    running = {who};
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
