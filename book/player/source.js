// source.js: the lesson's source: highlighted, with changed lines marked, and with buttons that remove statements.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});

// An element with attributes and children; names that begin with "on" are listeners.
Player.element = function (name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {}))
        if (key.startsWith("on"))
            made.addEventListener(key.slice(2), value);
        else if (value === true)
            made.setAttribute(key, "");
        else if (value !== false && value !== undefined && value !== null)
            made.setAttribute(key, value);
    made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return made;
};
const element = Player.element;

// ---- Differences

// The lengths of the longest common subsequences of old[i..] and now[k..], for all i and k.
function commonLengths(old, now) {
    const length = Array.from({length: old.length + 1}, () => new Uint16Array(now.length + 1));
    for (let i = old.length - 1; i >= 0; i--)
        for (let k = now.length - 1; k >= 0; k--)
            length[i][k] = old[i] === now[k] ? 1 + length[i + 1][k + 1] : Math.max(length[i + 1][k], length[i][k + 1]);
    return length;
}

// [{sign: " " | "+" | "-", text, line}]: the lines of the new text and the removed ones; `line` counts from 1.
Player.difference = function (before, after) {
    const old = before.split("\n"), now = after.split("\n"), length = commonLengths(old, now), found = [];
    let i = 0, k = 0;
    while (i < old.length || k < now.length)
        if (i < old.length && k < now.length && old[i] === now[k]) {
            found.push({sign: " ", text: now[k], line: ++k});
            i++;
        } else if (i < old.length && (k === now.length || length[i + 1][k] >= length[i][k + 1]))
            found.push({sign: "-", text: old[i++], line: 0});
        else
            found.push({sign: "+", text: now[k], line: ++k});
    return found;
};

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

const WHAT = {
    barrier: {find: /__syncthreads\w*\([^;]*\);?|\b[\w.]*\bsync\([^;]*\);?/, name: "the barrier"},
    "warp barrier": {find: /__syncwarp\([^;]*\);?|\b[\w.]*\bsync\([^;]*\);?/, name: "the warp's barrier"},
    fence: {find: /__threadfence\w*\([^;]*\);?|\b\w*fence\w*\([^;]*\);?/, name: "the fence"},
    test: {find: /if \(.*\)|[\w\[\].]+(?: [+*] [\w.]+)* < [\w.]+ \?/, name: "the test"},
};

// The range of a removable statement in its line; the whole line if it is not found.
function placeOf(text, what) {
    const found = (WHAT[what] || WHAT.barrier).find.exec(text);
    const begin = text.search(/\S/);
    return found ? {from: found.index, to: found.index + found[0].length} : {from: Math.max(0, begin), to: text.length};
}

function cutButton(text, {line, what}, isCut, toggle) {
    const name = (WHAT[what] || WHAT.barrier).name;
    return element("button", {
        type: "button", class: "pl-cut", "aria-pressed": String(isCut), "data-line": line,
        "aria-label": `Line ${line}: ${text} ${isCut ? "is removed; restore it" : "remove " + name}`,
        title: isCut ? "restore it, and run again" : `remove ${name}, and run again`, onclick: () => toggle(line, what),
    }, text);
}

function lineText(text, removable, cuts, toggle) {
    if (!removable)
        return coloured(text);
    const {from, to} = placeOf(text, removable.what);
    return [...coloured(text.slice(0, from)), cutButton(text.slice(from, to), removable, cuts.has(removable.line), toggle),
        ...coloured(text.slice(to))];
}

// ---- The pane

const KINDS = {"+": " pl-new", "-": " pl-gone", was: " pl-was"};

// Shows lines (of Player.difference; "was": not in the other pane's text) in `pane`; returns the element of each line number.
function fill(pane, lines, program, cuts, toggle) {
    const rows = new Map();
    const removable = new Map((program.removable || []).map((one) => [one.line, one]));
    const list = element("div", {class: "pl-lines"});
    for (const {sign, text, line} of lines) {
        const row = element("div", {class: "pl-line" + (KINDS[sign] || "")},
            element("span", {class: "pl-no", "aria-hidden": "true"}, line ? String(line) : "−"),
            element("code", {}, ...(line ? lineText(text, removable.get(line), cuts, toggle) : coloured(text))),
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

// The source pane: show(...) for a new program or removed statement, light(...) at each step, flag(...) for a finding.
Player.source = function (pane) {
    const remark = element("div", {class: "pl-remark"});
    let rows = new Map(), lit = [], shown = "";
    return {
        // isOther: a different text, whose first changed line is scrolled into view. An unchanged text keeps its elements: a new
        // layout takes longer than most runs.
        show(lines, program, cuts, toggle, isOther) {
            const asked = JSON.stringify([lines, program.removable, [...cuts]]);
            if (asked === shown && !isOther) {
                remark.remove();
                this.light(new Map(), false);
                return;
            }
            shown = asked;
            const focused = pane.contains(document.activeElement) && document.activeElement.dataset.line;
            const top = pane.scrollTop, isFirst = rows.size === 0;
            rows = fill(pane, lines, program, cuts, toggle);
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
        // Shows a remark below a line, or below the first change if `line` is 0.
        remark(line, ...said) {
            let row = rows.get(line) || pane.querySelector(".pl-gone, .pl-new");
            while (!line && row && row.nextSibling && row.nextSibling.matches(".pl-gone, .pl-new"))
                row = row.nextSibling;
            remark.replaceChildren(...said);
            if (row)
                row.after(remark);
            else
                remark.remove();
        },
        // Scrolls to the changed line and its remark, near the top, so that a small pane also shows the lines that follow.
        revealRemark() {
            const changed = remark.previousSibling;
            if (changed)
                reveal(pane, changed, remark.offsetHeight, 1.5 * changed.offsetHeight);
        },
        flag(lines) {
            for (const [line, row] of rows)
                row.classList.toggle("pl-flagged", lines.includes(line));
        },
        reveal: (line) => rows.has(line) && reveal(pane, rows.get(line)),
    };
};
})();
