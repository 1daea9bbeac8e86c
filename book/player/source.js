// source.js: a source as text: highlighted, with changed lines marked, and with buttons that remove statements. The second pane shows one;
// the first one, too, where the page has no editor (editor.js).
(function () {
"use strict";
const Player = (window.Player = window.Player || {});

// An element with attributes and children; names that begin with "on" are listeners.
Player.element = function (name, attributes, ...children) {
    const created = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {}))
        if (key.startsWith("on"))
            created.addEventListener(key.slice(2), value);
        else if (value === true)
            created.setAttribute(key, "");
        else if (value !== false && value !== undefined && value !== null)
            created.setAttribute(key, value);
    created.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return created;
};
const element = Player.element;

// A whole number as in "65,536". (The first toLocaleString of a page is slow.)
Player.grouped = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",");

// ---- Highlighting

const WORDS = /(\/\/.*|"[^"]*")|\b(__\w+__|alignas|auto|bool|break|case|char|const|continue|do|double|else|enum|false|float4?|for|if|inline|int|long|return|short|sizeof|static|struct|switch|template|true|typename|unsigned|using|void|volatile|while)\b|\b(\d[\w.]*)/g;

function coloured(text) {
    const parts = [];
    let end = 0;
    for (const found of text.matchAll(WORDS)) {
        parts.push(text.slice(end, found.index));
        parts.push(element("span", {class: found[1] ? "pl-note" : found[2] ? "pl-word" : "pl-number"}, found[0]));
        end = found.index + found[0].length;
    }
    return [...parts, text.slice(end)];
}

// ---- Removable statements

// The range {from, to} of a line's removable statement, or of what replaces a removed one; the whole line if neither is found.
function rangeOf(text, what) {
    const found = (what === "test" ? /(?:true|false) \/\*.*?\*\/|if \(.*\)|[\w\[\].]+(?: [+*] [\w.]+)* < [\w.]+ \?/ : /[\w:.]*(?:sync|fence|wait)\w*\([^;]*\);?/).exec(text);
    const begin = text.search(/\S/);
    return found ? {from: found.index, to: found.index + found[0].length} : {from: Math.max(0, begin), to: text.length};
}

function cutButton(text, {line, what, isCut}, toggle) {
    const name = Player.statementName(what);
    return element("button", {
        type: "button", class: "pl-cut", "aria-pressed": String(isCut), "data-line": line,
        "aria-label": `Line ${line}: ${text} ${isCut ? "is removed; restore it" : "remove " + name}`,
        title: isCut ? "restore it, and run again" : `remove ${name}, and run again`, onclick: () => toggle(line),
    }, text);
}

function lineText(text, statement, toggle) {
    if (!statement)
        return coloured(text);
    const {from, to} = rangeOf(text, statement.what);
    return [...coloured(text.slice(0, from)), cutButton(text.slice(from, to), statement, toggle), ...coloured(text.slice(to))];
}

// ---- The pane

const KINDS = {"+": " pl-new", "-": " pl-gone", was: " pl-was"};

// Shows rows (of Player.difference; "was": not in the other pane's text) in `pane`; returns the element of each line number.
function fill(pane, lines, removable, toggle) {
    const rows = new Map(), statements = new Map(removable.map((one) => [one.line, one])), list = element("div", {class: "pl-lines"});
    for (const {sign, text, line} of lines) {
        const row = element("div", {class: "pl-line" + (KINDS[sign] || "")},
            element("span", {class: "pl-no", "aria-hidden": "true"}, line ? String(line) : "−"),
            element("code", {}, ...lineText(text, statements.get(line), toggle)),
            element("span", {class: "pl-tag", "aria-hidden": "true"}));
        if (line)
            rows.set(line, row);
        list.append(row);
    }
    pane.replaceChildren(list);
    return rows;
}

// Numbers as ranges: "0–3, 7".
Player.ranges = function (numbers) {
    const parts = [];
    for (const n of numbers)
        if (parts.length && parts[parts.length - 1][1] === n - 1)
            parts[parts.length - 1][1] = n;
        else
            parts.push([n, n]);
    return parts.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
};

// Scrolls the pane, not the page, until a line and `below` pixels after it are visible; if it scrolls, the line is `above`
// pixels from the top.
function reveal(pane, row, below = 0, above = pane.clientHeight / 2) {
    const top = row.offsetTop, bottom = top + row.offsetHeight + below;
    if (top < pane.scrollTop || bottom > pane.scrollTop + pane.clientHeight)
        pane.scrollTop = top - above;
}

// A source that cannot be edited: show(...) for a text, light(...) at each step, flag(...) for a finding.
Player.source = function (pane) {
    const remark = element("div", {class: "pl-remark"});
    let rows = new Map(), lit = [], shown = "";
    return {
        update: (change) => change(),
        // rows: of Player.difference; removable: of Player.removableIn. isOther: scroll to the first changed line. An unchanged
        // text keeps its elements: a new layout takes longer than most runs.
        show({rows: lines, removable = [], toggle, isOther}) {
            const key = JSON.stringify([lines, removable]);
            if (key === shown && !isOther) {
                remark.remove();
                this.light(new Map(), false);
                return;
            }
            shown = key;
            const focused = pane.contains(document.activeElement) && document.activeElement.dataset.line;
            const top = pane.scrollTop, isFirst = rows.size === 0;
            rows = fill(pane, lines, removable, toggle);
            lit = [];
            const kernel = lines.find(({text, line}) => line && text.startsWith("__global__"));
            const changed = pane.querySelector(".pl-gone, .pl-new");
            pane.scrollTop = isFirst && kernel ? rows.get(kernel.line).offsetTop - 4 : top;
            if (isOther && changed)
                pane.scrollTop = changed.offsetTop - changed.offsetHeight;
            if (focused && pane.querySelector(`[data-line="${focused}"]`))
                pane.querySelector(`[data-line="${focused}"]`).focus({preventScroll: true});
        },
        // warpsOfLine: Map(line, [warps]) of a step. follows: scroll to the first of them.
        light(warpsOfLine, follows) {
            for (const row of lit) {
                row.classList.remove("pl-lit");
                row.lastChild.textContent = "";
            }
            lit = [...warpsOfLine.keys()].map((line) => rows.get(line)).filter(Boolean);
            for (const [line, warps] of warpsOfLine)
                if (rows.has(line)) {
                    rows.get(line).classList.add("pl-lit");
                    rows.get(line).lastChild.textContent = (warps.length === 1 ? "warp " : "warps ") + Player.ranges(warps);
                }
            if (lit.length && follows)
                reveal(pane, lit[0], lit[0].offsetHeight);
        },
        // Shows a remark below a line, or below the first change if `line` is 0; without nodes it removes the last one.
        remark(line, ...said) {
            let row = rows.get(line) || pane.querySelector(".pl-gone, .pl-new");
            while (!line && row && row.nextSibling && row.nextSibling.matches(".pl-gone, .pl-new"))
                row = row.nextSibling;
            remark.replaceChildren(...said);
            if (row && said.length)
                row.after(remark);
            else
                remark.remove();
        },
        // Scrolls to the changed line and its remark, near the top, so that a small pane also shows the lines that follow.
        revealRemark() {
            const changed = remark.isConnected && remark.previousSibling;
            if (changed)
                reveal(pane, changed, remark.offsetHeight, 1.5 * changed.offsetHeight);
        },
        flag(lines) {
            for (const [line, row] of rows)
                row.classList.toggle("pl-flagged", lines.includes(line));
        },
        reveal: (line) => rows.has(line) && reveal(pane, rows.get(line)),
        problems() {},
        goTo(line) {
            this.reveal(line);
        },
    };
};
})();
