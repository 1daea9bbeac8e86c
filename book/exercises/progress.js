// progress.js: the learner's progress, in the browser's localStorage; as one file that make learn reads and writes, too
// (drywarp/learn/progress.py):
//
//   at, done, seen   as in make learn's progress.json: the current exercise, the solved ones, counts by exercise and words
//   code             the learner's kernels, by exercise: of a solved one the last that solves it
//
// The page also keeps `hints`, the number of hints that were shown, `verdicts`, the last verdict in words, and `solved`, the last kernel
// that solves each exercise; there `code` is what the editor shows.
(function (page) {
"use strict";
const Exercises = (page.Exercises = page.Exercises || {});
const KEY = "exercises", FORMAT = "exercises 1";
const empty = () => ({at: "", done: [], seen: {}, code: {}, solved: {}, hints: {}, verdicts: {}});
let state = null, isKept = true;

function stored() {
    try {
        return {...empty(), ...JSON.parse(localStorage.getItem(KEY))};
    } catch (error) {
        return null; // there is no storage, or its content is damaged
    }
}

// The progress; another tab may have changed it.
function load() {
    state = (isKept && stored()) || state || empty();
    return state;
}

// Changes the progress, and keeps it if the browser does so.
function change(edit) {
    edit(load());
    try {
        localStorage.setItem(KEY, JSON.stringify(state));
    } catch (error) {
        isKept = false;
    }
}

// The exercise is solved, by this kernel.
function finish(name, kernel) {
    change((now) => {
        now.solved[name] = kernel;
        if (!now.done.includes(name))
            now.done.push(name);
    });
}

// The kernels to hand in.
const handedIn = ({code, solved}) => ({...code, ...solved});

// Keeps the first and the last value of each count.
function saw(name, values) {
    change((now) => {
        const seen = (now.seen[name] = now.seen[name] || {});
        for (const [words, [first, last]] of Object.entries(values))
            seen[words] = [(seen[words] || [first])[0], last];
    });
}

// ---- As a file

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function exported() {
    const {at, done, seen, ...kernels} = load();
    return `${JSON.stringify({format: FORMAT, at, done, seen, code: handedIn(kernels)}, null, 1)}\n`;
}

// The progress in a file's text, limited to known exercises; throws an Error that says what is wrong.
function parse(text, names) {
    let found;
    try {
        found = JSON.parse(text);
    } catch (error) {
        throw new Error("it is not JSON, as an export is");
    }
    if (!isObject(found) || found.format !== FORMAT || !Array.isArray(found.done) || !isObject(found.seen) || !isObject(found.code))
        throw new Error(`it is no export of exercises, which has format = "${FORMAT}", done, seen and code`);
    const known = (values) => Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
    const code = Object.fromEntries(Object.entries(known(found.code)).filter(([, kernel]) => typeof kernel === "string"));
    return {at: names.includes(found.at) ? found.at : "", done: found.done.filter((name) => names.includes(name)), seen: known(found.seen), code};
}

// The exercises whose kernel here differs from the imported one.
const replaced = ({code}) => Object.keys(code).filter((name) => load().code[name] !== undefined && load().code[name] !== code[name]);

// Adds imported progress: solved exercises stay solved, and imported kernels replace those here.
function merge({at, done, seen, code}) {
    change((now) => {
        now.at = at || now.at;
        now.done = [...new Set([...now.done, ...done])];
        Object.assign(now.seen, seen);
        Object.assign(now.code, code);
        for (const name of Object.keys(code)) {
            delete now.verdicts[name];
            delete now.solved[name]; // the page has not judged this kernel
        }
    });
}

Exercises.progress = {load, change, finish, saw, handedIn, exported, parse, replaced, merge, isKept: () => isKept};
change(() => {}); // whether the browser keeps it
})(typeof window === "object" ? window : globalThis);
