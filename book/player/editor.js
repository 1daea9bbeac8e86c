// editor.js: a source that readers change: CodeMirror 5, with the marks of the player and the compiler's messages.
//
// CodeMirror is not part of the repository: make book gets it (book/editor.py). Without it, Player.source shows the text.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element} = Player;

Player.hasEditor = () => typeof window.CodeMirror === "function";

// ---- Language and keys

const CUDA = "__global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ __forceinline__ __noinline__ __align__ __cluster_dims__";

const PLAIN = new Set(["def", "number", "operator", "variable", "variable-2", "variable-3"]); // tokens without a colour

// Defines the mode "cuda": C++ with CUDA's words. Plain tokens get no elements of their own, of which a long text has thousands.
function defineMode() {
    const cpp = CodeMirror.resolveMode("text/x-c++src"), words = Object.fromEntries(CUDA.split(" ").map((word) => [word, true]));
    CodeMirror.defineMode("cuda", (options) => {
        const mode = CodeMirror.getMode(options, {...cpp, keywords: {...cpp.keywords, ...words}}), {token} = mode;
        return Object.assign(mode, {token(stream, state) {
            const kind = token(stream, state);
            return PLAIN.has(kind) ? null : kind;
        }});
    });
}

const OWN = "player"; // the origin of a change that the player makes

// Tab indents once the reader has typed, or clicked into the text; before, and after Escape, it leaves the editor.
function setKeys(code, run) {
    const keys = {"Ctrl-Enter": run, "Cmd-Enter": run, "Shift-Tab": "indentLess", "Ctrl-/": "toggleComment", "Cmd-/": "toggleComment",
        Tab: () => (code.somethingSelected() ? code.indentSelection("add") : code.execCommand("insertSoftTab"))};
    const leaving = {...keys, Tab: false, "Shift-Tab": false}, indenting = {...keys, Esc: () => code.setOption("extraKeys", leaving)};
    const set = (wanted) => code.getOption("extraKeys") !== wanted && code.setOption("extraKeys", wanted);
    set(leaving);
    code.on("blur", () => set(leaving));
    code.on("mousedown", () => set(indenting));
    code.on("changes", (_, changes) => code.hasFocus() && changes.some(({origin}) => origin !== OWN) && set(indenting));
}

function create(box, label, run) {
    defineMode();
    const code = CodeMirror(box, {mode: "cuda", lineNumbers: true, indentUnit: 4, matchBrackets: true, lineWrapping: true, viewportMargin: Infinity});
    const field = code.getInputField();
    field.setAttribute("aria-label", label);
    field.setAttribute("aria-multiline", "true");
    code.getScrollerElement().tabIndex = 0; // arrow keys scroll also while the cursor is elsewhere
    indentWrappedLines(code);
    setKeys(code, run);
    return code;
}

// A long line continues below its own indentation.
function indentWrappedLines(code) {
    code.on("renderLine", (_, {text}, {style}) => {
        const columns = CodeMirror.countColumn(text, null, code.getOption("tabSize")) + code.getOption("indentUnit");
        style.textIndent = `-${columns}ch`;
        style.paddingLeft = `calc(${columns}ch + 4px)`;
    });
}

// Reads out the line to which the cursor moves: CodeMirror's input field contains no text.
function readAloud(code, box, problems) {
    const voice = element("p", {class: "pl-voice", "aria-live": "polite"});
    let last = -1;
    box.append(voice);
    code.on("cursorActivity", () => {
        const {line} = code.getCursor();
        if (line === last || !code.hasFocus())
            return;
        last = line;
        const said = problems().filter((one) => one.line === line + 1).map(({severity, message}) => `, ${severity}: ${message}`).join("");
        voice.textContent = `line ${line + 1}: ${code.getLine(line) || "empty"}${said}`;
    });
}

// ---- Marks

// Gives a class to these lines, and takes it from all others.
function makeClasses(code) {
    const marked = new Map(); // line handles by class
    return (name, lines) => {
        const wanted = new Set(lines.map((line) => code.getLineHandle(line - 1)).filter(Boolean)), old = marked.get(name) || new Set();
        for (const handle of old)
            if (!wanted.has(handle))
                code.removeLineClass(handle, "wrap", name);
        for (const handle of wanted)
            if (!old.has(handle))
                code.addLineClass(handle, "wrap", name);
        marked.set(name, wanted);
    };
}

// Replaces the marks of a kind: `make` returns the new ones, which have a method clear().
function makeMarks() {
    const marks = new Map();
    return (kind, make) => {
        (marks.get(kind) || []).forEach((mark) => mark.clear());
        marks.set(kind, make());
    };
}

const below = (code, line, node, options) => code.addLineWidget(Math.max(0, Math.min(line, code.lineCount()) - 1), node, {noHScroll: true, ...options});

const atEnd = (code, line, widget) => code.setBookmark({line: line - 1}, {widget});

function cutButton({line, what, isCut}, toggle) {
    const name = Player.statementName(what);
    return element("button", {type: "button", class: "pl-cut", "data-line": line, "aria-pressed": String(isCut), onclick: () => toggle(line),
        "aria-label": `Line ${line}: ${isCut ? `restore ${name}` : `remove ${name}`}`, title: `${isCut ? "restore" : "remove"} ${name}, and run again`},
    isCut ? "restore" : "remove");
}

// The removed lines of a difference, above the lines that follow them.
function removedLines(code, rows) {
    const marks = [];
    let removed = [];
    const flush = (line, above) => {
        if (removed.length)
            marks.push(below(code, line, element("pre", {class: "pl-gone"}, removed.join("\n")), {above}));
        removed = [];
    };
    for (const {sign, text, line} of rows)
        if (sign === "-")
            removed.push(text);
        else
            flush(line, true);
    flush(code.lineCount(), false);
    return marks;
}

// Underlines the code that a message is about, at least one character.
function underline(code, {line, column, length, severity, message}) {
    const text = code.getLine(line - 1) || "", from = Math.min(Math.max(0, column - 1), Math.max(0, text.length - 1));
    return code.markText({line: line - 1, ch: from}, {line: line - 1, ch: Math.min(text.length, from + Math.max(1, length))},
        {className: `pl-${severity}`, attributes: {title: message}});
}

const messageOf = ({severity, message, help}) =>
    element("div", {class: `pl-message pl-is-${severity}`}, `${message} `, help && element("span", {class: "pl-hint"}, help));

// ---- The text

// Replaces the lines in which the text differs, as one edit that can be undone; cursor and marks elsewhere stay. Returns the
// number of the first line that differs.
function replace(code, text) {
    const {from, to, lines} = Player.changedRange(code.getValue(), text);
    if (to < code.lineCount())
        code.replaceRange(lines.map((line) => line + "\n").join(""), {line: from, ch: 0}, {line: to, ch: 0}, OWN);
    else if (from > 0)
        code.replaceRange(lines.map((line) => "\n" + line).join(""), {line: from - 1}, {line: to}, OWN);
    else
        code.replaceRange(lines.join("\n"), {line: 0, ch: 0}, {line: to}, OWN);
    return from + 1;
}

// The last line of the first change, or the line after removed lines.
function firstChange(rows) {
    const begin = rows.findIndex(({sign}) => sign !== " "), end = rows.findIndex(({sign}, k) => k > begin && sign === " ");
    const lines = rows.slice(begin, end < 0 ? rows.length : end).filter(({line}) => line);
    return (lines.pop() || rows[end] || rows[0]).line;
}

// ---- The editor: {code, box, setClass, setMarks, docs, problems, changedLine, remark, shown, lit, litDoc, litLine, isUpdating}

const lineHeight = ({code}) => code.defaultTextHeight();

// Scrolls the editor, not the page, until `height` pixels from a line on are visible; the line is then `above` pixels from the top.
function reveal({code}, line, above, height) {
    const top = code.heightAtLine(line - 1, "local"), {top: now, clientHeight} = code.getScrollInfo();
    if (top < now || top + height > now + clientHeight)
        code.scrollTo(null, top - above);
}

const revealInMiddle = (editor, line, lines) => reveal(editor, line, editor.code.getScrollInfo().clientHeight / 2, lines * lineHeight(editor));

// Shows an owner's text, with its own history of edits; true if it is shown for the first time.
function setText(editor, owner, text) {
    const {code, docs} = editor, isNew = !docs.has(owner);
    if (isNew)
        docs.set(owner, CodeMirror.Doc(text, "cuda"));
    if (code.getDoc() !== docs.get(owner))
        code.swapDoc(docs.get(owner));
    if (code.getValue() !== text)
        editor.changedLine = replace(code, text);
    return isNew;
}

function scrollToKernel({code}, rows) {
    const kernel = rows.find(({text, line}) => line && text.startsWith("__global__"));
    if (kernel)
        code.scrollTo(null, code.heightAtLine(kernel.line - 1, "local") - 4);
}

// Marks the changes and adds the buttons.
function mark({code, setClass, setMarks}, rows, removable, toggle) {
    code.operation(() => {
        setClass("pl-new", rows.filter(({sign}) => sign === "+").map(({line}) => line));
        setMarks("removed", () => removedLines(code, rows));
        setMarks("cuts", () => removable.map((one) => atEnd(code, one.line, cutButton(one, toggle))));
    });
}

const buttonOf = ({box}, line) => line && box.querySelector(`button[data-line="${line}"]`);

// Scrolls to the first line of a step that is to be followed, after an update, because it needs a layout.
function revealLit(editor) {
    if (editor.isUpdating)
        return;
    if (editor.litLine)
        revealInMiddle(editor, editor.litLine, 2);
    editor.litLine = 0;
}

// Calls a function that changes text and marks; the editor is laid out once, at the end. A button that is replaced keeps the focus.
function update(editor, change) {
    if (editor.isUpdating)
        return change();
    const focused = editor.box.contains(document.activeElement) && document.activeElement.dataset.line;
    editor.isUpdating = true;
    editor.code.operation(change);
    editor.isUpdating = false;
    revealLit(editor);
    if (buttonOf(editor, focused))
        buttonOf(editor, focused).focus({preventScroll: true});
}

function show(editor, {owner, text, rows, removable, toggle, isOther}) {
    const isNew = setText(editor, owner, text), key = JSON.stringify([text, rows, removable]);
    if (key !== editor.shown || isNew)
        mark(editor, rows, removable, toggle);
    editor.shown = key;
    if (isNew)
        scrollToKernel(editor, rows);
    if (isOther) {
        editor.changedLine = firstChange(rows);
        reveal(editor, editor.changedLine, 1.5 * lineHeight(editor), 3 * lineHeight(editor));
    }
}

// warpsOfLine: Map(line, [warps]) of a step. follows: scroll to the first of them, but not while the reader types. The same lines of the
// same text keep their marks, because new ones need a layout.
function light(editor, warpsOfLine, follows) {
    const {code, setClass, setMarks} = editor, lines = [...warpsOfLine.keys()].filter((line) => line >= 1 && line <= code.lineCount());
    const tag = (warps) => element("span", {class: "pl-tag", "aria-hidden": "true"}, element("span", {class: "pl-wide"}, warps.length === 1 ? "warp " : "warps "), Player.ranges(warps));
    const key = JSON.stringify([[...warpsOfLine], code.getValue()]), isNew = editor.lit !== key || editor.litDoc !== code.getDoc();
    Object.assign(editor, {lit: key, litDoc: code.getDoc()});
    if (isNew)
        code.operation(() => {
            setClass("pl-lit", lines);
            setMarks("warps", () => lines.map((line) => atEnd(code, line, tag(warpsOfLine.get(line)))));
        });
    editor.litLine = follows && !code.hasFocus() ? lines[0] || 0 : 0;
    revealLit(editor);
}

// Shows a remark below a line, or below the last change if `line` is 0; without nodes it removes the last one.
function remark(editor, line, said) {
    const {code, setMarks} = editor;
    editor.changedLine = line || editor.changedLine;
    editor.remark = said.length ? element("div", {class: "pl-remark"}, ...said) : null;
    setMarks("remark", () => (editor.remark && editor.changedLine ? [below(code, editor.changedLine, editor.remark)] : []));
}

function showProblems(editor, found) {
    const {code, setMarks} = editor;
    editor.problems = found.filter(({line}) => line >= 1 && line <= code.lineCount());
    code.operation(() => {
        setMarks("underlined", () => editor.problems.map((one) => underline(code, one)));
        setMarks("messages", () => editor.problems.map((one) => below(code, one.line, messageOf(one))));
    });
}

function goTo({code}, line, column) {
    code.focus();
    code.setCursor({line: line - 1, ch: Math.max(0, column - 1)});
}

// An editor in `box`. Calls changed(text) after each change by the reader, and run() at Ctrl-Enter. Has the methods of
// Player.source, and: problems([{line, column, length, severity, message, help}]) of the compiler, goTo(line, column), undo(), redo(),
// history(). show() also needs an owner: the object to which the text and its history of edits belong. update(change): as update() above.
Player.editor = function (box, label, {changed, run}) {
    const code = create(box, label, () => run());
    const editor = {code, box, setClass: makeClasses(code), setMarks: makeMarks(), docs: new WeakMap(), problems: [], changedLine: 0, remark: null, shown: "", lit: "", litDoc: null, litLine: 0, isUpdating: false};
    readAloud(code, box, () => editor.problems);
    code.on("changes", (_, changes) => changes.some(({origin}) => origin !== OWN) && changed(code.getValue()));
    return {
        isEditor: true,
        update: (change) => update(editor, change),
        show: (request) => update(editor, () => show(editor, request)),
        light: (warpsOfLine, follows) => light(editor, warpsOfLine, follows),
        remark: (line, ...said) => remark(editor, line, said),
        revealRemark: () => editor.remark && reveal(editor, editor.changedLine, 2 * lineHeight(editor), lineHeight(editor) + editor.remark.offsetHeight),
        flag: (lines) => editor.setClass("pl-flagged", lines),
        reveal: (line) => revealInMiddle(editor, line, 1),
        problems: (found) => showProblems(editor, found),
        goTo: (line, column) => goTo(editor, line, column),
        undo: () => code.undo(),
        redo: () => code.redo(),
        history: () => code.historySize(),
    };
};
})();
