// player.js: turns a lesson's figure into a player: <figure class="player" data-program="step03" data-before="step02">.
//
// A player has one or two sides: the lesson's program, and that of the step before. Each side (edit.js) holds its text and the
// results of its last run; the player holds what both share: n, the block, the order, the step. The first of two panes shows
// one side, whose text can be edited; side by side, the other pane shows the run with which the counters are compared.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element, side, isChanged, tryOf, shortName, requestOf, runNearest, runBeside, besideOf, agree} = Player;

// ---- Running

// Whether both panes are shown, also while the second run is in progress.
const isDouble = (player) => player.wantsDouble && besideOf(player) !== null;

const launchesOf = ({model}) => (model ? model.launches.length : 0);

// Whether there are steps: a side may not have run yet, or its run ended before the kernel started.
function hasSteps(player) {
    const {model} = player.sides[player.side];
    return model !== null && model.length > 0;
}

// The last step of the time line: side by side, that of the longer run.
function lastStep(player) {
    const {model} = player.sides[player.side], {beside} = player;
    return Math.max(model.length, isDouble(player) && beside ? beside.one.model.length : 0) - 1;
}

// Shows the chosen side's run; then runs the one to compare with, and shows the comparison, unless a later request has replaced
// this one. If that run is cached, it shows both at once.
async function showBoth(player, isOver) {
    const found = besideOf(player), isCached = found && Player.isCached(found.one.program, requestOf(player, found.one, player.block));
    player.beside = null;
    Player.wait(player.figure, false);
    if (!isCached) {
        agree(player);
        Player.reveal(player.figure); // before what needs a layout, which would be another one than the hidden player's
        show(player);
        await new Promise((done) => setTimeout(done)); // lets the browser paint the figure before the next model is made
    }
    const beside = await runBeside(player);
    if (isOver())
        return;
    player.beside = beside;
    const wasExecuted = player.isExecuted;
    agree(player);
    Player.reveal(player.figure);
    if (isCached || player.isExecuted !== wasExecuted)
        show(player);
    else if (beside) {
        showComparison(player);
        drawTime(player);
    }
}

// Runs and shows the chosen side, then the run to compare with. A later request makes this one end silently. True if this
// run is shown.
async function rerun(player) {
    const one = player.sides[player.side], request = ++player.request, isOver = () => request !== player.request;
    let isShown = false;
    clearTimeout(player.timer);
    player.figure.setAttribute("aria-busy", "true");
    player.error = player.noBlock = "";
    Player.showBar(player); // at once, so that nothing in the bar moves later, when it may be clicked
    try {
        if (!(await runNearest(player, one, isOver)))
            return false;
        isShown = !one.isStale;
        if (isShown)
            await showBoth(player, isOver);
        if (isOver())
            return false;
    } catch (error) {
        if (isOver())
            return false;
        player.error = error.message;
    }
    player.figure.setAttribute("aria-busy", "false");
    if (!isShown || player.error)
        show(player);
    if (!player.error)
        Player.lookBack(player, one, requestOf(player, one, "all"));
    return isShown;
}

// ---- Findings in the figure

const NONE = {places: [], rows: [], met: null, element: "", threads: new Set()};

// What the figure marks of the first finding: its threads, their common address, and a row for each place.
function flaggedBy(player) {
    const {findings, model, block} = player.sides[player.side], places = findings.length ? findings[0].places : [];
    const {rows, met} = Player.meeting(model, block, places);
    return {places, rows, met, element: findings.length ? findings[0].element : "", threads: new Set(places.filter((_, k) => rows[k]).map(({thread}) => thread[0]))};
}

const isRace = ({kind}) => kind.startsWith("race");

// The access of the first finding to show: of a race the one that ran last, in this block if there is one; else the first,
// which is the mistake.
function accessToShow(player) {
    const {flagged: {places, rows}} = player, [finding] = player.sides[player.side].findings;
    const stepOf = (place) => rows[places.indexOf(place)].step;
    const here = places.filter((_, k) => rows[k]).sort((a, b) => stepOf(a) - stepOf(b));
    return isRace(finding) ? here.pop() || places[places.length - 1] : places[0];
}

const goToFinding = (player) => goTo(player, accessToShow(player));

// Goes to a finding's access; if it is in another block, shows that block first.
async function goTo(player, place) {
    stopPlaying(player);
    if (place.kernel && place.block[0] !== player.block) {
        player.block = place.block[0];
        if (!(await rerun(player)))
            return;
    }
    const {places, rows} = player.flagged;
    const row = rows[places.indexOf(place)] || Player.meeting(player.sides[player.side].model, player.block, [place]).rows[0];
    if (row)
        seek(player, row.step);
    player.source.reveal(place.line);
}

// ---- Showing

function show(player) {
    const one = player.sides[player.side], number = tryOf(one), isOther = number > 0 && player.shown !== number;
    player.shown = number;
    player.source.update(() => showAll(player, one, isOther));
    drawTime(player); // after the editor's layout, because it needs one
    if (isOther && hasSteps(player))
        player.source.revealRemark();
}

// isOther: scroll to the first changed line.
function showAll(player, one, isOther) {
    Player.showBar(player);
    showText(player, one, isOther);
    showState(player, one);
    const {findings} = one, isOutdated = isStale(player, one);
    player.source.flag(findings.length && !isOutdated ? findings[0].places.map(({line}) => line) : []);
    Player.findings(player.boxes.findings, findings, launchesOf(one), (place) => {
        toSource(player);
        goTo(player, place);
    });
    player.boxes.printed.replaceChildren(...Player.printed(one.result && !isOutdated ? one.result.printed : ""));
    player.isRight = showVerdict(player, one).isRight;
    player.flagged = isOutdated || !hasSteps(player) ? NONE : flaggedBy(player);
    showComparison(player);
}

// Shows what changes when the run to compare with arrives: the other pane, the counters, the time line.
function showComparison(player) {
    const one = player.sides[player.side], isBoth = isDouble(player);
    showBeside(player, one, isBoth);
    if (!hasSteps(player))
        return endTime(player);
    player.tick = Player.counters(player.boxes.counters, one.model, player.beside, player.isRight, isBoth && Player.nameOf(one));
    Player.analyse(player, one);
    setLength(player);
    seek(player, player.step === null ? firstOfInterest(one.model) : player.step);
}

// What does not depend on the run. isOther: scroll to the first changed line.
function showText(player, one, isOther) {
    const showsChanges = player.showsChanges && isChanged(one);
    player.boxes.source.classList.toggle("pl-diff", showsChanges);
    player.source.show({owner: one, text: one.text, rows: Player.linesOf(one.text, baseOf(player, one), showsChanges && !isDouble(player)),
        removable: Player.statementsOf(one), toggle: (line) => Player.cut(player, line), isOther});
    player.boxes.hint.textContent = Player.hintOf(one, player.source.isEditor);
    player.boxes.name.textContent = Player.nameOf(one);
    player.boxes.print.textContent = isChanged(one) ? one.text : "";
}

Player.nameOf = (one) => (tryOf(one) ? `Try ${tryOf(one)}` : isChanged(one) ? "yours" : shortName(one.program));

// Whether the shown results are of an earlier text.
const isStale = (player, one) => one.isStale || player.error !== "";

// What belongs to the text and not to its run: the tools, the compiler's messages, and whether the figure is of an earlier run.
function showState(player, one) {
    showTools(player);
    const isOutdated = isStale(player, one) || !hasSteps(player);
    player.figure.classList.toggle("pl-is-stale", isOutdated);
    player.boxes.findings.classList.toggle("pl-is-old", isStale(player, one));
    player.own.boxes.outdated.hidden = !isOutdated;
    player.source.problems(one.problems);
    Player.listProblems(player.own.boxes.problems, one.problems, (line, column) => player.source.goTo(line, column));
}

function showTools(player) {
    player.tools.update({history: player.source.history ? player.source.history() : {}, isChanged: isChanged(player.sides[player.side]), showsChanges: player.showsChanges});
}

// The text with which the lines are compared: side by side, the other pane's; else for a changed text the lesson's, for a
// lesson that of the step before.
function baseOf(player, one) {
    if (isDouble(player))
        return besideOf(player).one.text;
    return isChanged(one) ? one.program.source.text : player.side === 0 && player.sides[1] && player.sides[1].program.source.text;
}

// The second pane; lines that the first pane's text lacks are marked.
function showBeside(player, one, isBoth) {
    const {beside, own, other} = player;
    player.boxes.columns.classList.toggle("pl-double", isBoth);
    own.boxes.name.hidden = !isBoth;
    if (!isBoth)
        [other.text, other.machine].forEach((box) => box.remove());
    else if (!other.text.isConnected) {
        own.text.after(other.text);
        own.machine.after(other.machine);
    }
    if (!isBoth || !beside)
        return;
    const lines = Player.linesOf(beside.one.text, one.text, false).map((line) => (line.sign === "+" ? {...line, sign: "was"} : line));
    other.boxes.name.textContent = beside.label;
    other.source.show({rows: lines});
}

// The step to begin with: the first load of a float from shared memory, or the first access.
function firstOfInterest(model) {
    const rows = model.launches.flatMap((launch) => launch.rows);
    const row = rows.find((found) => found.memory === "shared" && Player.isLoad(found) && found.opcode.endsWith("f32")) || rows.find((found) => found.addresses);
    return row ? row.step : 0;
}

// Where the verdict is written in the source: at the line of a click; at a finding that is no race; below a Try's first change (0).
// null: nowhere, because a reader who types knows where.
function remarkLine({remarkAt}, finding) {
    if (finding && !remarkAt && (remarkAt === null || !isRace(finding)))
        return finding.places[isRace(finding) ? finding.places.length - 1 : 0].line;
    return remarkAt;
}

// Shows the verdict above, and a sentence at the changed line; returns the verdict.
function showVerdict(player, one) {
    const better = isStale(player, one) ? 0 : Player.sizeWithEffect(one, player.n), verdict = player.error ? {isRight: false, text: player.error}
        : one.isStale ? {isRight: false, text: Player.errorVerdict(one.problems)} : one.result ? Player.verdict(one, player.n, better) : {isRight: true, text: ""};
    const {isRight, text} = verdict;
    player.boxes.verdict.textContent = text;
    const size = better || (isRight && !isStale(player, one) && one.result && Player.untriedSize(one, player.n));
    const retry = () => size && element("button", {type: "button", class: "pl-button", onclick: () => resize(player, size)},
        `try n = ${Player.grouped(size)}`);
    const [finding] = isStale(player, one) ? [] : one.findings;
    const toFinding = finding && hasSteps(player) && element("button", {type: "button", class: "pl-button", onclick: () => goToFinding(player)},
        isRace(finding) ? "step to the race" : "step to the finding");
    player.boxes.state.replaceChildren(...Player.runParts(player), ...[player.boxes.verdict, toFinding, retry()].filter(Boolean));
    player.boxes.verdict.classList.toggle("pl-wrong", !isRight);
    const details = finding && element("button", {type: "button", onclick: () => player.boxes.findings.scrollIntoView({block: "center"})}, "details below");
    const line = remarkLine(player, finding);
    if (isChanged(one) && line !== null && !isStale(player, one))
        player.source.remark(line, element("span", {class: isRight ? "pl-right" : "pl-wrong"},
            finding ? `✗ ${Player.inShort(finding, launchesOf(one))} ` : text + " "), retry() || details || "");
    else
        player.source.remark(0);
    const said = finding ? `${text}. ${Player.inShort(finding, launchesOf(one))}. ${finding.hint || ""}` : text;
    if (player.boxes.said.textContent !== said)
        player.boxes.said.textContent = said;
    return verdict;
}

// The time line has the steps of the longer run.
function setLength(player) {
    const {model} = player.sides[player.side], {beside} = player;
    player.length = Math.max(1, model.length, beside ? beside.one.model.length : 0);
}

function drawTime(player) {
    if (!hasSteps(player))
        return;
    const one = player.sides[player.side], {beside} = player;
    player.time.mark(player.flagged.rows.filter(Boolean).map(({step}) => step), player.length);
    player.time.draw([one.model, beside && beside.one.model], [Player.nameOf(one), beside ? beside.label : ""], player.length, lastStep(player));
}

// Draws a side's step in a pane; returns it in words. follows: scroll the source to the current lines.
function drawPane(player, {boxes, source, draw}, {model, block}, flagged, follows) {
    const {launch, lit, words, about} = draw(model, player.step, flagged, player.thread);
    boxes.about.setAttribute("aria-live", player.playing ? "off" : "polite"); // do not read out each step
    boxes.about.textContent = about || "Point at a lane to see its value.";
    const {launches} = model;
    boxes.title.textContent = (isDouble(player) ? `${boxes.name.textContent}: warps` : "Warps") + ` of block ${block}` + (launches.length > 1 ? `, launch ${1 + launches.indexOf(launch)} of ${launches.length}` : "");
    source.light(source === player.source && isStale(player, player.sides[player.side]) ? new Map() : lit, follows);
    return words;
}

// isOther: whether the step has changed.
function drawStep(player, isOther = false) {
    const one = player.sides[player.side], {model} = one, {beside} = player;
    const words = drawPane(player, player.own, one, player.flagged, isOther);
    if (isDouble(player) && beside)
        drawPane(player, player.other, beside.one, NONE, true);
    player.tick(player.step);
    const passed = model.barriers.filter((barrier) => barrier <= player.step).length;
    player.time.show(player.step, player.length, `step ${player.step + 1} of ${model.isCut ? "the first " : ""}${lastStep(player) + 1}`
        + (model.barriers.length ? ` · ${passed} of ${model.barriers.length} barriers passed` : ""), words, !!player.playing);
}

function seek(player, step) {
    if (!hasSteps(player))
        return;
    const before = player.step;
    player.step = Math.max(0, Math.min(lastStep(player), Math.round(step)));
    drawStep(player, player.step !== before);
}

// ---- Input

function choose(player, number) {
    player.side = number;
    player.beside = null; // belonged to the other side
    rerun(player);
}

function double(player) {
    player.wantsDouble = !player.wantsDouble;
    layOut(player);
    show(player);
    if (hasSteps(player))
        drawStep(player, true); // in a smaller pane, the step's lines may be out of view
}

// Clears the heights that were kept for another width.
function layOut({own, other}) {
    [own, other].forEach(({machine}) => Player.keepHeight(machine));
}

// Moves the focus to the source: the run removes the button that had it.
const toSource = (player) => player.boxes.source.focus({preventScroll: true});

function resize(player, n) {
    player.n = n;
    toSource(player);
    return rerun(player).then((isShown) => isShown && showFinding(player));
}

async function showFinding(player) {
    const {places} = player.flagged;
    if (places.length)
        await goToFinding(player);
    places.forEach(({line}) => player.source.reveal(line));
    player.source.revealRemark();
}

const LANE_KEYS = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -Player.LANES, ArrowDown: Player.LANES};

// Pointing at a lane, or the arrow keys in the warps, choose it; side by side, in both panes.
function chooseLanes(player, warps) {
    const choose = (thread) => {
        if (!hasSteps(player))
            return;
        const threads = player.sides[player.side].model.launchAt(player.step).warps.length * Player.LANES;
        player.thread = Math.max(0, Math.min(threads - 1, thread));
        drawStep(player);
    };
    warps.addEventListener("pointerover", ({target}) => {
        if (target.tagName === "I")
            choose([...warps.querySelectorAll("i")].indexOf(target));
    });
    warps.addEventListener("keydown", (event) => {
        if (!LANE_KEYS[event.key])
            return;
        event.preventDefault();
        choose(player.thread === null ? 0 : player.thread + LANE_KEYS[event.key]);
    });
}

function stopPlaying(player) {
    clearInterval(player.playing);
    player.playing = null;
}

// The time line of a run without steps.
function endTime(player) {
    stopPlaying(player);
    player.time.show(0, 1, "no steps", "", false);
}

function play(player) {
    if (player.playing) {
        stopPlaying(player);
        return drawStep(player);
    }
    if (player.step >= lastStep(player))
        player.step = 0;
    player.playing = setInterval(() => {
        if (!hasSteps(player) || player.step + 1 >= lastStep(player))
            stopPlaying(player);
        seek(player, player.step + 1);
    }, 1000 / player.speed);
    drawStep(player);
}

function stopsOf(player) {
    const others = isDouble(player) && player.beside ? player.beside.one.model.stops : [];
    return [...player.sides[player.side].model.stops, ...others].sort((a, b) => a - b);
}

// Handles an action of the time line.
function act(player, name, number) {
    if (!hasSteps(player))
        return;
    if (name === "speed")
        changeSpeed(player, number);
    else if (name === "play")
        play(player);
    else {
        stopPlaying(player);
        seek(player, stepOf(player, name, number));
    }
}

function changeSpeed(player, speed) {
    player.speed = speed;
    if (player.playing) {
        stopPlaying(player);
        play(player);
    }
}

// The target step of an action; number: the relative position on the time line.
function stepOf(player, name, number) {
    const {step, length} = player, stops = stopsOf(player);
    switch (name) {
    case "next": return step + 1;
    case "previous": return step - 1;
    case "begin": return 0;
    case "barrier": return stops.find((stop) => stop > step) ?? lastStep(player);
    case "barrierBack": return stops.findLast((stop) => stop < step) ?? 0;
    case "seek": return number * length - 0.5;
    default: return lastStep(player);
    }
}

// ---- Start

// A figure's player before it has parts. Its first runs start, unless it waits.
async function load(figure) {
    const {program, before} = figure.dataset;
    const second = before && Player.program(before).catch(() => null); // one side is enough
    const programs = [await Player.program(program), await second].filter(Boolean);
    const player = {figure, sides: programs.map(side), side: 0, n: Player.sizeToBegin(figure, programs[0]), block: 0, order: null, step: null, thread: null,
        playing: null, speed: 8, flagged: NONE, beside: null, isExecuted: false, wantsDouble: false, error: "", noBlock: "", request: 0, timer: 0, data: "lesson", showsChanges: false, remarkAt: null, shown: 0};
    if (!("wait" in figure.dataset))
        player.sides.forEach((one) => Player.runAhead(one.program, Player.requestOf(player, one, player.block)));
    return player;
}

const loaded = new WeakMap(); // the promise of each figure's player before it has parts

function playerToBegin(figure) {
    if (!loaded.has(figure))
        loaded.set(figure, load(figure));
    return loaded.get(figure);
}

async function begin(figure) {
    const player = await playerToBegin(figure), [{program}] = player.sides;
    const own = Player.pane(document.querySelectorAll("figure.player").length > 1 ? `, ${program.title}` : ""), other = Player.pane(" of the second pane"), boxes = {...Player.boxes(), ...own.boxes};
    Object.assign(player, {own, other, boxes, source: own.source, rerun: () => rerun(player), show: () => show(player), showTools: () => showTools(player), showFinding: () => showFinding(player),
        besideOf: () => besideOf(player), choose: (number) => choose(player, number), double: () => double(player)});
    if ("wait" in figure.dataset)
        foldCounts(player);
    addEditor(player);
    [own, other].forEach((pane) => chooseLanes(player, pane.boxes.warps));
    boxes.columns.append(own.text, own.machine);
    layOut(player);
    player.time = Player.timeLine((name, number) => act(player, name, number));
    figure.addEventListener("keydown", player.time.pressed);
    boxes.look.hidden = !Player.mayLookBack(program);
    figure.prepend(element("div", {class: "pl-live"}, boxes.bar, boxes.state, boxes.columns, Player.note(), player.time.whole, boxes.findings, boxes.printed, boxes.folded || boxes.counters, boxes.analysis, boxes.look, boxes.said), boxes.print);
    showText(player, player.sides[0], false); // while the first run is in progress
    await showFirst(player);
    redrawWhenChanged(player);
    await Player.restoreText(player);
    return player;
}

// A figure that waits for an answer is in an introduction: its page does not explain counters or PTX.
function foldCounts({figure, boxes}) {
    figure.classList.add("pl-is-brief");
    boxes.folded = element("details", {class: "pl-analysis"}, element("summary", {}, "Counters"), boxes.counters);
    boxes.analysis.hidden = true;
}

// Runs the program, or shows only its source if the figure waits.
async function showFirst(player) {
    const {figure} = player;
    Player.wait(figure, "wait" in figure.dataset);
    if (Player.isWaiting(figure)) {
        figure.setAttribute("aria-busy", "false");
        Player.reveal(figure);
        show(player);
    } else if (!(await rerun(player)) && !player.sides[0].model)
        throw new Error(player.error);
}

// Makes the first pane's source editable, if the page has an editor; and the tools above it.
function addEditor(player) {
    const {boxes} = player.own;
    if (Player.hasEditor() && !player.sides[0].program.isFixed) {
        boxes.source.tabIndex = -1; // the editor has the focus
        boxes.source.classList.add("pl-has-editor");
        player.source = player.own.source = Player.editor(boxes.source, "the kernel's source", {changed: (text) => Player.typed(player, text), run: () => rerun(player)});
    }
    player.own.text.classList.add("pl-has-tools");
    player.tools = Player.toolsOf(player);
    boxes.tools.replaceWith(player.tools.box);
    boxes.restored.replaceChildren("This is your edited program from last time. ", element("button", {type: "button", class: "pl-toggle", onclick: () => Player.attempt(player, 0)}, "back to the original"));
    player.other.boxes.tools.remove();
    player.other.boxes.restored.remove();
    player.other.boxes.problems.remove();
}

// Redraws the canvas when its width or the page's colours change.
function redrawWhenChanged(player) {
    const redraw = () => drawTime(player);
    let width = player.figure.clientWidth;
    new ResizeObserver(() => {
        if (player.figure.clientWidth === width)
            return;
        layOut(player);
        width = player.figure.clientWidth;
        redraw();
    }).observe(player.time.whole);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    new MutationObserver(redraw).observe(document.body, {attributes: true, attributeFilter: ["data-theme"]});
}

const players = new WeakMap(); // the promise of each started figure's player

function playerOf(figure) {
    if (!players.has(figure)) {
        players.set(figure, begin(figure));
        players.get(figure).catch((error) => { // the still figure stays, and a line gives the reason
            figure.classList.add("pl-has-failed");
            figure.append(Player.failed("The player", error));
        });
    }
    return players.get(figure);
}

// A figure below the part of the page that is seen begins at once, unless it waits: the reader will scroll to it. One far above would move
// what is being read.
function whenSeen(figure) {
    const watch = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting))
            return;
        watch.disconnect();
        playerOf(figure);
    }, {rootMargin: "wait" in figure.dataset ? "400px" : "400px 0px 1000000px"});
    watch.observe(figure);
}

// For other scripts: scrolls to a figure and runs the lesson's program with this Try (0: as written), at n if that was
// recorded.
Player.choose = async function (figure, {try: number = 0, n}) {
    figure.scrollIntoView();
    const player = await playerOf(figure);
    stopPlaying(player);
    player.side = 0;
    player.boxes.source.focus({preventScroll: true});
    await Player.attempt(player, number, n);
};

// Goes to the figure whose text is in the page's address, and shows that text.
async function openLink(isOpen) {
    const content = await Player.contentOf(location.hash);
    const figure = content && [...document.querySelectorAll("figure.player")].find(({dataset}) => [dataset.program, dataset.before].includes(content.program));
    if (!figure)
        return;
    figure.scrollIntoView();
    const player = await playerOf(figure);
    if (isOpen)
        await Player.restoreText(player);
}

// The simulator starts, the programs load, and the first runs start while the page is laid out.
function start() {
    const figures = [...document.querySelectorAll("figure.player")];
    if (figures.some(({dataset}) => !("wait" in dataset)))
        Player.prepare();
    figures.forEach((figure) => {
        playerToBegin(figure).catch(() => null); // begin() reports the error
        whenSeen(figure);
    });
    openLink(false);
    addEventListener("hashchange", () => openLink(true));
    addEventListener("beforeprint", () => document.querySelectorAll(".pl-still").forEach((still) => (still.open = true)));
}

if (document.readyState === "loading")
    document.addEventListener("DOMContentLoaded", start);
else
    start();
})();
