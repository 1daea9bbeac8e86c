// runs.js: runs a side of a player for a block, and the run with which it is compared.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {side, isChanged, shortName} = Player;

function requestOf(player, one, block) {
    return {n: player.n, data: player.data, block, order: player.order, together: false, values: true, rows: Player.MAX_ROWS, ...Player.textRequest(one)};
}

// Runs a side and traces this block; false if a later request has replaced it.
async function runSide(player, one, block) {
    const result = await Player.run(player, one.program, requestOf(player, one, block));
    if (!result)
        return false;
    one.problems = result.diagnostics || [];
    one.isStale = result.status === "errors";
    if (one.isStale)
        return true; // the results of the last text that compiled stay
    one.block = block;
    one.result = result;
    one.findings = Player.byPriority(result.findings || []).map((finding) => withElement(finding, result, one.text));
    setModel(one, one.findings.length > 0);
    return true;
}

function withElement(finding, {arrays = []}, text) {
    const [place] = finding.places;
    return place && place.launch ? Player.withElements(finding, Player.arraysOf(arrays, text, place.launch)) : finding;
}

// isExecuted: draw the run in executed order.
function setModel(one, isExecuted) {
    one.model = Player.modelOf(one.result, one.program.source.file, isExecuted);
}

// Two runs that share a time line are drawn in the same order: if one of them has a finding, in executed order.
function agree(player) {
    const both = [player.sides[player.side], player.beside && player.beside.one].filter(Boolean);
    const isExecuted = both.some(({findings}) => findings.length > 0);
    both.filter(({model}) => model.isExecuted !== isExecuted).forEach((one) => setModel(one, isExecuted));
    if (player.isExecuted !== isExecuted)
        player.step = null; // the same number is another step in the other order
    player.isExecuted = isExecuted;
}

// The run to compare with: a changed program with the lesson as written, else one step with the other.
function besideOf(player) {
    const one = player.sides[player.side], other = player.sides[1 - player.side];
    if (isChanged(one))
        return {label: "as written", short: "was", one: side(one.program)};
    const name = other && shortName(other.program);
    return other ? {label: name, short: name, one: isChanged(other) ? side(other.program) : other} : null;
}

async function runBeside(player) {
    const found = besideOf(player);
    if (!found || !(await runSide(player, found.one, player.block)) || !found.one.model.length)
        return null;
    return found;
}

// Runs a side. If the wanted block does not exist, runs and chooses the first or last one. False if a later request has
// replaced it.
async function runNearest(player, one, isOver) {
    const wanted = player.block, isWanted = async (block) => (await runSide(player, one, block)) && !isOver();
    let block = Math.max(0, wanted), noBlock = wanted < 0 ? `no block ${wanted}: they begin at 0` : "";
    if (!(await isWanted(block)))
        return false;
    if (!one.isStale && !one.model.length && block > 0) {
        if (!(await isWanted(0))) // shows how many blocks there are
            return false;
        if (one.model.length) { // else no block has steps
            block = Player.lastBlock(one);
            noBlock = `no block ${wanted}: 0–${block}`;
            if (block > 0 && !(await isWanted(block)))
                return false;
        }
    }
    Object.assign(player, {block, noBlock});
    return true;
}

Object.assign(Player, {requestOf, runNearest, runBeside, besideOf, agree});
})();
