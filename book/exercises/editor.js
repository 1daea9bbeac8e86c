// editor.js: the editor of a kernel, with a small interface: the player's editor if the page has it, else a text field.
(function (page) {
"use strict";
const Exercises = (page.Exercises = page.Exercises || {});
const {element} = page.Player;

function textField(box, label, {changed, run}) {
    const field = element("textarea", {class: "ex-field", "aria-label": label, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off",
        oninput: () => changed(field.value)});
    field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey))
            return;
        event.preventDefault();
        run();
    });
    box.append(field);
    const place = (line, column) => field.value.split("\n").slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    return {
        set(text) {
            field.value = text;
            field.rows = Math.max(8, text.split("\n").length + 1);
        },
        problems() {},
        flag() {},
        goTo(line, column) {
            field.focus();
            field.setSelectionRange(place(line, column), place(line, column));
        },
    };
}

function fullEditor(box, label, calls) {
    const source = element("div", {class: "pl-source"});
    box.append(element("div", {class: "pl-colours pl-live"}, source));
    const editor = page.Player.editor(source, label, calls);
    let owner = {};
    return {
        // isNew: the history of edits begins anew
        set(text, isNew = true) {
            owner = isNew ? {} : owner;
            editor.show({owner, text, rows: [], removable: [], toggle() {}, isOther: false});
        },
        showsProblems: true,
        problems: editor.problems,
        flag: editor.flag,
        goTo: editor.goTo,
    };
}

// An editor in a box. Calls changed(text) after each change by the reader, and run() at Ctrl-Enter. Its methods: set(text),
// problems(diagnostics), flag(lines), goTo(line, column); showsProblems: whether it shows what problems() was given.
Exercises.editor = function (box, label, calls) {
    const hasEditor = page.Player.editor && page.Player.hasEditor && page.Player.hasEditor();
    return (hasEditor ? fullEditor : textField)(box, label, calls);
};
})(window);
