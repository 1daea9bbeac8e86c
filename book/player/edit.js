// edit.js: the text of a side (as written, a Try's or the reader's), the tools above the source, and the compiler's messages.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element} = Player;
const MAX_COMPARED = 1500; // lines; in a longer text changes are not marked
const PAUSE_MS = 300; // after the last keystroke

// ---- The text of a side

// base: the number of the Try from which the text was made, 0: the lesson. isStale: result and model are of an earlier text, because
// this one does not compile.
Player.side = (program) => ({program, text: program.source.text, base: 0, isStale: false, problems: [], result: null, findings: [], model: null, block: 0});

const variantOf = ({program, base}) => program.tries.find(({number}) => number === base) || program;
const sourceOf = (one) => (one.base ? variantOf(one).source : one.program.source.text);

Player.variantOf = variantOf;
Player.sizesOf = (one) => variantOf(one).sizes || one.program.sizes;
Player.isChanged = (one) => one.text !== one.program.source.text;
// The number of the Try whose text it is, or 0.
Player.tryOf = (one) => (one.base && one.text === sourceOf(one) ? one.base : 0);
Player.isEdited = (one) => Player.isChanged(one) && !Player.tryOf(one);

// Sets the text, and the base if the text equals the lesson's or a Try's.
Player.setText = function (one, text) {
    const found = one.program.tries.find(({source}) => source === text);
    one.text = text;
    one.base = text === one.program.source.text ? 0 : found ? found.number : one.base;
};

// The removed statements if nothing else was edited; else null.
function onlyRemoved(one) {
    const removed = Player.statementsOf(one).filter(({isCut}) => isCut);
    return removed.reduce(Player.toggleStatement, one.text) === sourceOf(one) ? removed : null;
}

// The part of a request for the simulator that names the text. A recorded program may be more than the page's compiler knows, so its
// statements are removed from its recorded instructions.
Player.textRequest = function (one) {
    if (!Player.isEdited(one))
        return {try: one.base};
    const removed = one.program.host ? null : onlyRemoved(one);
    return removed ? {without: removed.map(({line, what}) => (what === "test" ? {line, what} : line))} : {text: one.text};
};

// The removable statements of a side; each Try has its own.
Player.statementsOf = function (one) {
    return Player.removableIn(sourceOf(one), variantOf(one).removable || [], one.text);
};

// ---- Display

// The lines to show; keepOld: also those of the base that the text lacks.
Player.linesOf = function (text, base, keepOld) {
    const plain = () => text.split("\n").map((line, k) => ({sign: " ", text: line, line: k + 1}));
    if (!base || base.split("\n").length > MAX_COMPARED)
        return plain();
    return Player.difference(base, text).filter(({sign}) => keepOld || sign !== "-");
};

// The text below the source: a Try's question (bold in the lesson), or what can be done.
Player.hintOf = function (one, isEditor) {
    const question = Player.tryOf(one) && /\*\*(?:\d+\.\s*)?([^*]+)\*\*/.exec(variantOf(one).text || "");
    if (question)
        return `Try ${Player.tryOf(one)}: ${question[1].replace(/`/g, "")}`;
    if (isEditor)
        return "Edit the code: it runs as you type. Ctrl-Enter runs it at once. Escape, then Tab leaves the editor.";
    return (variantOf(one).removable || []).length ? "Click an underlined statement to remove it and run the program again." : "";
};

// An n at which a removed bounds test has an effect, if it has none at this n because each thread has an element; else 0.
Player.sizeWithEffect = function (one, n) {
    const tests = (text) => text.replace(/\/\*.*?\*\/|\/\/.*/g, "").match(/< n\b|$/g).length;
    if (!Player.isChanged(one) || tests(one.text) >= tests(one.program.source.text) || !one.result || one.result.status || !one.model.length)
        return 0;
    const {threads} = one.model.launches[0];
    return (n % threads === 0 && Player.sizesOf(one).find((size) => size > threads && size % threads)) || 0;
};

// A suggested n at which this changed text has not run yet: a wrong program may be right at one n. 0: none, or the text is as written.
Player.untriedSize = function (one, n) {
    if (!Player.isChanged(one))
        return 0;
    one.tried = one.tried && one.tried.text === one.text ? one.tried : {text: one.text, sizes: new Set()};
    one.tried.sizes.add(n);
    const left = Player.sizesOf(one).filter((size) => !one.tried.sizes.has(size)), larger = left.filter((size) => size > n);
    return larger[0] || left[0] || 0;
};

// ---- Tools

// Buttons above the source. act: {undo, redo, reset, changes, share}, and leave, called if the focused button becomes disabled.
function tools(hasEditor, act) {
    const button = (name, text, title) => element("button", {type: "button", class: "pl-toggle", title, onclick: act[name]}, text);
    const undo = button("undo", "undo", "undo the last edit (Ctrl-Z)"), redo = button("redo", "redo", "redo the edit (Ctrl-Y)");
    const reset = button("reset", "reset", "the text as written; can be undone");
    const changes = button("changes", "changes", "show the lines that differ from the lesson, and those that are gone");
    const share = button("share", "share", "a link that opens this page with this text"), link = element("span", {class: "pl-link"});
    return {
        box: element("div", {class: "pl-tools", role: "group", "aria-label": "edits"}, hasEditor && [undo, redo], reset, changes, share, link),
        update({history, isChanged, showsChanges}) {
            const focused = document.activeElement;
            undo.disabled = !history.undo;
            redo.disabled = !history.redo;
            reset.disabled = changes.disabled = !isChanged;
            if (focused && focused.disabled && focused.parentNode === this.box)
                act.leave();
            changes.setAttribute("aria-pressed", String(isChanged && showsChanges));
            link.replaceChildren();
        },
        // Shows a link, selected so that it can be copied. isCopied: the clipboard already contains it.
        showLink(address, isCopied) {
            const field = element("input", {readonly: true, "aria-label": "link to this text", value: address});
            link.replaceChildren(field, element("span", {role: "status"}, isCopied ? "copied" : "copy it"));
            field.select();
        },
    };
}

// ---- Messages of the compiler

const isError = ({severity}) => severity === "error";

// "✗ line 20: expected ';'", of the first error.
Player.errorVerdict = function (problems) {
    const errors = problems.filter(isError), [first] = errors;
    if (!first)
        return "✗ it does not compile";
    return `✗ ${errors.length > 1 ? `${errors.length} errors; ` : ""}line ${first.line}: ${first.message}`;
};

// Shows the messages below the source; go(line, column) is called when the reader chooses one.
Player.listProblems = function (box, problems, go) {
    const key = JSON.stringify(problems);
    if (box.dataset.shown === key)
        return; // a screen reader does not read them again
    box.dataset.shown = key;
    box.replaceChildren(...problems.map(({line, column, severity, message, help}) => element("li", {class: `pl-is-${severity}`},
        element("button", {type: "button", title: "go to the line", onclick: () => go(line, column)}, `line ${line}`),
        ` ${severity}: ${message}`, help && element("span", {class: "pl-hint"}, ` ${help}`))));
};
// ---- Edits

// Replaces the text by a Try's, or by the lesson's; the reader can undo that.
Player.attempt = async function (player, number, n = player.n) {
    const one = player.sides[player.side], found = one.program.tries.find((each) => each.number === number);
    player.showsChanges = number > 0;
    player.remarkAt = 0;
    Player.setText(one, found ? found.source : one.program.source.text);
    player.n = [n, player.n, Player.sizesOf(one)[0]].find((size) => one.program.host || Player.sizesOf(one).includes(size));
    await runEdit(player);
};

// Runs an edit that was made for the reader, and shows what it causes.
async function runEdit(player) {
    player.own.boxes.restored.hidden = true;
    keepText(player);
    if (await player.rerun())
        await player.showFinding();
}

const keepText = ({sides: [one]}) => Player.keepText(one.program, one.text);

// The reader has changed the text: it runs after a pause. An older run is abandoned.
Player.typed = function (player, text) {
    Player.setText(player.sides[player.side], text);
    player.own.boxes.restored.hidden = true;
    keepText(player);
    player.remarkAt = null;
    player.request++;
    player.figure.setAttribute("aria-busy", "true");
    clearTimeout(player.timer);
    player.timer = setTimeout(() => player.rerun(), PAUSE_MS);
    player.showTools();
};

// The handlers of the buttons above the source.
Player.toolsOf = (player) => tools(player.source.isEditor, {
    undo: () => player.source.undo(),
    redo: () => player.source.redo(),
    reset: () => Player.attempt(player, 0),
    changes() {
        player.showsChanges = !player.showsChanges;
        player.show();
    },
    share: () => share(player),
    leave: () => player.boxes.source.focus({preventScroll: true}),
});

// Puts the text into the page's address, and the address into the clipboard.
async function share(player) {
    const {program, text} = player.sides[player.side], {n, data} = player;
    const address = location.href.replace(/#.*/, "") + await Player.fragmentOf({program: program.name, n, data, text});
    history.replaceState(null, "", address);
    const isCopied = await Promise.resolve(navigator.clipboard && navigator.clipboard.writeText(address).then(() => true)).catch(() => false);
    player.tools.showLink(address, isCopied);
}

// Shows the text in the page's address, or the one that the browser has stored.
Player.restoreText = async function (player) {
    const content = await Player.contentOf(location.hash), number = content ? player.sides.findIndex(({program}) => program.name === content.program) : -1;
    const text = number < 0 ? Player.keptText(player.sides[0].program) : content.text;
    if (number >= 0)
        Object.assign(player, {side: number, n: content.n, data: content.data, showsChanges: true});
    if (text === null)
        return;
    player.own.boxes.restored.hidden = number >= 0;
    Player.setText(player.sides[player.side], text);
    await (Player.isWaiting(player.figure) ? player.show() : player.rerun());
};

// Removes a line's statement, or restores it.
Player.cut = async function (player, line) {
    const one = player.sides[player.side];
    player.remarkAt = line;
    Player.setText(one, Player.toggleStatement(one.text, Player.statementsOf(one).find((found) => found.line === line)));
    await runEdit(player);
};
})();
