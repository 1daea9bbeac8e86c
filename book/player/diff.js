// diff.js: differences between two texts, and the statements of a text that a click removes and restores.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});

// ---- Differences

// The lengths of the longest common subsequences of old[i..] and now[k..], for all i and k.
function commonLengths(old, now) {
    const length = Array.from({length: old.length + 1}, () => new Uint16Array(now.length + 1));
    for (let i = old.length - 1; i >= 0; i--)
        for (let k = now.length - 1; k >= 0; k--)
            length[i][k] = old[i] === now[k] ? 1 + length[i + 1][k + 1] : Math.max(length[i + 1][k], length[i][k + 1]);
    return length;
}

// The number of equal lines at the start of both lists, and at the end of the remaining lines.
function commonEnds(old, now) {
    const shorter = Math.min(old.length, now.length);
    let begin = 0, end = 0;
    while (begin < shorter && old[begin] === now[begin])
        begin++;
    while (end < shorter - begin && old[old.length - 1 - end] === now[now.length - 1 - end])
        end++;
    return {begin, end};
}

// The rows between the common ends: {sign, old, now} with indices of lines; removed lines come before the new ones.
function middle(old, now) {
    const length = commonLengths(old, now), rows = [];
    let i = 0, k = 0;
    while (i < old.length || k < now.length)
        if (i < old.length && k < now.length && old[i] === now[k])
            rows.push({sign: " ", old: i++, now: k++});
        else if (i < old.length && (k === now.length || length[i + 1][k] >= length[i][k + 1]))
            rows.push({sign: "-", old: i++, now: k});
        else
            rows.push({sign: "+", old: i, now: k++});
    return rows;
}

// Aligns two lists of lines: [{sign: " " | "+" | "-", old, now}], with the index of the row's line in each list.
function align(old, now) {
    const {begin, end} = commonEnds(old, now), rows = [];
    for (let k = 0; k < begin; k++)
        rows.push({sign: " ", old: k, now: k});
    for (const row of middle(old.slice(begin, old.length - end), now.slice(begin, now.length - end)))
        rows.push({...row, old: row.old + begin, now: row.now + begin});
    for (let k = end; k > 0; k--)
        rows.push({sign: " ", old: old.length - k, now: now.length - k});
    return rows;
}

// [{sign, text, line}]: the lines of the new text and the removed ones; `line` counts from 1, and is 0 for a removed line.
Player.difference = function (before, after) {
    const old = before.split("\n"), now = after.split("\n");
    return align(old, now).map((row) => (row.sign === "-" ? {sign: "-", text: old[row.old], line: 0} : {sign: row.sign, text: now[row.now], line: row.now + 1}));
};

// The range of lines in which the texts differ: {from, to, lines}; lines from..to-1 of `before` are replaced by `lines`.
Player.changedRange = function (before, after) {
    const old = before.split("\n"), now = after.split("\n"), {begin, end} = commonEnds(old, now);
    return {from: begin, to: old.length - end, lines: now.slice(begin, now.length - end)};
};

// ---- Removable statements

const CALL = /[\w:.]*(?:sync|fence|wait)\w*\([^;]*\);/;
const BOUND = /[\w\[\].]+(?: [+*] [\w.]+)* < [\w.]+(?= \?)/g;
const CONSTANT = /(?:true|false) \/\* (.*?) \*\//g;
const NAMES = {barrier: "the barrier", "warp barrier": "the warp's barrier", fence: "the fence", test: "the test"};
Player.statementName = (what) => NAMES[what] || NAMES.barrier;

// The condition of an if in this line: {from, to}; null if it has none or continues in the next line.
function conditionOf(text) {
    const begin = text.indexOf("if (") + 4;
    let depth = 1, end = begin;
    for (; begin > 3 && end < text.length && depth; end++)
        depth += text[end] === "(" ? 1 : text[end] === ")" ? -1 : 0;
    return begin > 3 && !depth ? {from: begin, to: end - 1} : null;
}

const constant = (condition) => `${condition.includes(">=") ? "false" : "true"} /* ${condition} */`;

function withoutTest(text) {
    const found = conditionOf(text);
    return found ? text.slice(0, found.from) + constant(text.slice(found.from, found.to)) + text.slice(found.to) : text.replace(BOUND, constant);
}

// The line without its statement, which becomes a comment. A lone body of an if or a loop leaves an empty statement.
function lineWithout(text, what, previous) {
    if (what === "test")
        return withoutTest(text);
    const found = CALL.exec(text) || /\S.*/.exec(text);
    const isBody = /(\)|\belse|\bdo)\s*$/.test(previous);
    return found ? `${text.slice(0, found.index)}${isBody ? "; " : ""}// ${text.slice(found.index)}` : text;
}

// The line with its statement restored.
function lineWith(text, what) {
    return what === "test" ? text.replace(CONSTANT, "$1") : text.replace(/(?:; )?\/\/ (?=[\w:.]*(?:sync|fence|wait)\w*\()/, "");
}

// The removable statements of an edited text: [{line, what, isCut}]. `removable` lists those of the text as written.
Player.removableIn = function (written, removable, text) {
    const old = written.split("\n"), now = text.split("\n"), whatOf = new Map(removable.map(({line, what}) => [line - 1, what]));
    const restored = now.map((line) => lineWith(lineWith(line, "test"), "barrier"));
    return align(old, restored).filter(({sign, old: k}) => sign === " " && whatOf.has(k))
        .map((row) => ({line: row.now + 1, what: whatOf.get(row.old), isCut: now[row.now] !== old[row.old]}));
};

// The text with this statement removed, or restored.
Player.toggleStatement = function (text, {line, what, isCut}) {
    const lines = text.split("\n");
    lines[line - 1] = isCut ? lineWith(lines[line - 1], what) : lineWithout(lines[line - 1], what, (lines[line - 2] || ""));
    return lines.join("\n");
};
})();
