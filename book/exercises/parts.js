// parts.js: parts of both pages, the exercises and the playground: tables, messages, findings, files, and a run in the player.
(function (page) {
"use strict";
const Exercises = (page.Exercises = page.Exercises || {});
const {element} = page.Player;
const PATIENCE_MS = 400; // for a run that a newer one replaces, before it is stopped

Exercises.button = (text, onclick, attributes = {}) => element("button", {type: "button", class: "ex-button", onclick, ...attributes}, text);

// A table of rows of words, of which the first is the row's heading.
Exercises.table = function (rows, head) {
    const headCell = (text) => element("th", {scope: "col"}, text);
    const cell = (text, k) => (k === 0 ? element("th", {scope: "row"}, text) : element("td", {}, text));
    const body = rows.map((words) => element("tr", {}, words.map(cell)));
    const table = element("table", {class: "ex-table"}, element("thead", {}, element("tr", {}, head.map(headCell))), element("tbody", {}, body));
    return element("div", {class: "ex-scroll"}, table);
};

const lineButton = (line, column, editor) => Exercises.button(`line ${line}`, () => editor.goTo(line, column), {class: "ex-link"});

Exercises.findingBox = function ({lines, places}, editor) {
    const line = (places || []).map((place) => place.line).find(Boolean), [title, ...more] = lines;
    const head = element("p", {}, element("strong", {}, title), " ", line && lineButton(line, 1, editor));
    const isHelp = (words) => /^(help|note): /.test(words), help = more.filter(isHelp);
    return element("div", {class: "ex-finding"}, head, element("pre", {}, more.filter((words) => !isHelp(words)).join("\n")),
        help.length > 0 && element("details", {}, element("summary", {}, "How to fix it"), element("pre", {}, help.join("\n"))));
};

const messageBox = ({line, column, severity, message, help}, editor) => element("p", {class: `ex-message ex-is-${severity}`},
    lineButton(line, column, editor), ` ${severity}: ${message}`, help && element("span", {class: "ex-help"}, `help: ${help}`));

// The compiler's messages that the editor does not show.
Exercises.messageBoxes = ({diagnostics}, editor) => (editor.showsProblems ? [] : diagnostics.map((one) => messageBox(one, editor)));

// The lines that findings name.
Exercises.flaggedLines = ({findings}) => [...findings.values()].flatMap(({places}) => (places || []).map(({line}) => line)).filter(Boolean);

// Saves a text as a file.
Exercises.save = function (name, text) {
    const address = URL.createObjectURL(new Blob([text], {type: "text/plain"}));
    element("a", {href: address, download: name}).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
};

// ---- One run at a time

let latest = 0, running = Promise.resolve();

// Calls job(isOver) after all earlier jobs; a later call makes it obsolete, and stops the simulator if it is slow. Resolves to null if
// it is obsolete.
Exercises.newest = function (job) {
    const number = ++latest, isOver = () => number !== latest, timer = setTimeout(() => isOver() || page.Simulator.stop(), PATIENCE_MS);
    const result = running.catch(() => null).then(() => {
        clearTimeout(timer);
        return isOver() ? null : job(isOver);
    }).then((value) => (isOver() ? null : value));
    running = result;
    return result;
};

// ---- The player

// Marks the run in a box as that of an earlier text; `again`, if given, shows the newest one.
Exercises.outdate = function (box, again) {
    if (!box.querySelector("figure"))
        return;
    box.classList.add("ex-outdated");
    box.querySelectorAll(".ex-note").forEach((note) => note.remove());
    box.prepend(element("p", {class: "ex-note"}, "Outdated: this is the run of an earlier text. ", again && Exercises.button("Watch the new run", again)));
};

let programs = 0; // each run is a program of its own, since the player keeps results by name

const base64 = (data) => btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(""));

// Shows a run in the player, whose source is not editable: the page has an editor. last: source and PTX; recording: calls and bytes of one launch. isOwn: the right result is not known.
Exercises.watch = function (box, {title, n, last, recording: {calls, bytes}, isOwn = false}) {
    const name = `run ${++programs}`, usual = {folder: "", harness: [], removable: [], tries: [], isFixed: true};
    const withoutStop = calls.split("\n").filter((line) => line !== "stop" && !line.startsWith("free ")).join("\n");
    const encoded = Object.fromEntries(Object.entries(bytes).map(([key, data]) => [key, base64(data)]));
    const program = {...usual, name, title, isOwn, source: last.source, sizes: [n], runs: {[n]: withoutStop}, ptx: [[0, last.ptx]], bytes: encoded};
    box.classList.remove("ex-outdated");
    page.playerPrograms = {...page.playerPrograms, [name]: program};
    const figure = element("figure", {class: "player", "data-program": name, "data-n": n});
    box.replaceChildren(figure);
    page.Player.choose(figure, {});
};
})(window);
