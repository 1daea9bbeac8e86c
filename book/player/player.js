// player.js: turns a lesson's figure into a player: <figure class="player" data-program="step03" data-before="step02">.
//
// A player has one or two sides: the lesson's program, and that of the step before. Each side holds its removed statements
// and the results of its last run; the player holds what both share: n, the block, the order, the step. The first of two
// panes shows one side; side by side, the other pane shows the run with which the counters are compared.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element} = Player;
const MOST_COMPARED = 1500; // lines; in a longer text changes are not marked

// ---- The parts of a player

const part = (name, attributes = {}, ...children) => element("div", {class: "pl-" + name, ...attributes}, ...children);
const heading = (...content) => element("p", {class: "pl-heading"}, content);

// Shows the values of the words in their cells, or hides them.
function valuesButton(banks) {
    const button = element("button", {type: "button", class: "pl-toggle", "aria-pressed": "false", title: "the value of each word, in its cell",
        onclick: () => button.setAttribute("aria-pressed", String(banks.classList.toggle("pl-valued")))}, "values");
    return button;
}

function skeleton() {
    return {bar: part("bar pl-choices"), counters: part("counters"), findings: part("findings"), columns: part("columns"),
        said: element("p", {class: "pl-said", role: "status", "aria-live": "polite"}), verdict: element("span", {class: "pl-verdict"}),
        state: part("state"), look: part("look", {hidden: true})};
}

// A program's source and machine view. `of` distinguishes its parts from the other pane's for screen readers.
function makePane(of) {
    const boxes = {warps: part("warps", {tabindex: 0, role: "group", "aria-label": `warps and lanes${of}; the arrow keys choose a lane and show its value`}),
        source: part("source", {tabindex: 0, role: "region", "aria-label": `the kernel's source${of}`}), about: element("p", {class: "pl-about", "aria-live": "polite"}),
        name: element("p", {class: "pl-which"}), hint: element("p", {class: "pl-invite"}), title: heading(""), banks: part("banks"), lines: part("devices"),
        order: element("p", {class: "pl-order"}), finding: element("p", {class: "pl-accesses"}), values: part("values")};
    const text = part("text", {}, boxes.name, boxes.source, boxes.hint);
    const machine = part("machine", {}, boxes.title, boxes.order, boxes.finding, boxes.warps, boxes.about, boxes.values,
        heading("Shared memory: 32 banks", valuesButton(boxes.banks)), boxes.banks, heading("Device memory: lines of 128 bytes, 4 sectors each"), boxes.lines);
    return {boxes, text, machine, source: Player.source(boxes.source), draw: Player.figure(boxes)};
}

const note = () => part("key", {}, legend(),
    element("p", {class: "pl-more"}, "Instructions are PTX, as the simulator runs them; the GPU's machine code may differ (a short if may become predicated instructions)."));

function legend() {
    const entries = [["plain", "computes"], ["shared", "shared memory"], ["device", "device memory"], ["shuffle", "shuffle"],
        ["inactive", "inactive", "the warp runs an instruction without this lane"], ["waits", "waits", "at a barrier or another synchronisation"],
        ["ready", "ready", "could run; another warp runs (in executed order)"],
        ["done", "done", "has exited"], ["written", "written now"], ["accessed", "accessed earlier"], ["conflict", "bank conflict"], ["nan", "NaN or uninitialised"],
        ["bad", "flagged by a finding"]];
    return element("p", {class: "pl-legend"}, entries.map(([name, text, title]) => element("span", {title}, element("i", {class: "pl-" + name}), text)));
}

const side = (program) => ({program, attempt: 0, cuts: new Map(), result: null, findings: [], model: null, block: 0});
const variant = (one) => (one.attempt ? one.program.tries.find((found) => found.number === one.attempt) : one.program);
const sizesOf = (one) => variant(one).sizes || one.program.sizes;
const textOf = (one) => (one.attempt ? variant(one).source : one.program.source.text);
const isChanged = (one) => one.attempt > 0 || one.cuts.size > 0;
const shortName = (program) => (program.isOwn ? "this run" : program.name.replace(/^(step|scan)(\d+).*$/, "$1 $2"));

// ---- Running

function requestOf(player, {attempt, cuts}, block) {
    const without = [...cuts].map(([line, what]) => (what === "test" ? {line, what} : line)).sort();
    return {n: player.n, try: attempt, block, order: player.order, together: false, values: true, rows: Player.MOST_ROWS, without};
}

// Runs a side and traces this block; false if a later request has replaced it.
async function runSide(player, one, block) {
    const result = await Player.run(player, one.program, requestOf(player, one, block));
    if (!result)
        return false;
    one.block = block;
    one.result = result;
    one.findings = Player.byPriority(result.findings || []);
    setModel(one, one.findings.length > 0);
    return true;
}

// isExecuted: draw the run in executed order.
function setModel(one, isExecuted) {
    one.model = Player.model(one.result.trace || "", one.result.counters || "", one.program.source.file, isExecuted);
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

// Whether both panes are shown, also while the second run is in progress.
const isDouble = (player) => player.wantsDouble && besideOf(player) !== null;

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

// Runs a side. If the wanted block does not exist, runs and chooses the first or last one. False if a later request has
// replaced it.
async function runNearest(player, one, isOver) {
    const wanted = player.block, isWanted = async (block) => (await runSide(player, one, block)) && !isOver();
    let block = Math.max(0, wanted), noBlock = wanted < 0 ? `no block ${wanted}: they begin at 0` : "";
    if (!(await isWanted(block)))
        return false;
    if (!one.model.length && block > 0) {
        if (!(await isWanted(0))) // shows how many blocks there are
            return false;
        if (one.model.length) { // else no block has steps
            block = lastBlock(one);
            noBlock = `no block ${wanted}: 0–${block}`;
            if (block > 0 && !(await isWanted(block)))
                return false;
        }
    }
    Object.assign(player, {block, noBlock});
    return true;
}

// Runs and shows the chosen side, then the run to compare with. A later request makes this one end silently. True if this
// run is shown.
async function rerun(player) {
    const one = player.sides[player.side], request = ++player.request, isOver = () => request !== player.request;
    let isShown = false;
    player.figure.setAttribute("aria-busy", "true");
    player.error = player.noBlock = "";
    showBar(player); // at once, so that nothing in the bar moves later, when it may be clicked
    try {
        if (!(await runNearest(player, one, isOver)))
            return false;
        player.beside = null;
        agree(player);
        show(player);
        isShown = true;
        reveal(player.figure);
        const beside = await runBeside(player);
        if (isOver())
            return false;
        player.beside = beside;
        agree(player);
    } catch (error) {
        if (isOver())
            return false;
        player.error = error.message;
    }
    player.figure.setAttribute("aria-busy", "false");
    show(player);
    if (!player.error)
        lookBack(player, one);
    return isShown;
}

const mayLookBack = (program) => /look_?back|wait_for/i.test(program.source.text);

// For programs with look-back: traces all blocks, interleaved, at the largest n, of the program as written, and once.
async function lookBack(player, {program}) {
    const {look} = player.boxes, n = Math.max(...program.sizes);
    if (player.looked === program)
        return;
    player.looked = program;
    look.hidden = !mayLookBack(program);
    if (look.hidden)
        return;
    const request = {...requestOf(player, side(program), "all"), n, together: true, check: false};
    try {
        const result = await Player.run(look, program, request);
        if (player.looked !== program)
            return;
        const found = result && Player.looksBack(Player.rows(result.trace));
        look.hidden = !found;
        if (found)
            Player.showLookBack(look, found, n);
    } catch (error) {
        if (player.looked === program)
            look.replaceChildren(failed("The tiles", error));
    }
}

// ---- Findings in the figure

const NONE = {places: [], rows: [], met: null, threads: new Set()};

// What the figure marks of the first finding: its threads, their common address, and a row for each place.
function flaggedBy(player) {
    const {findings, model, block} = player.sides[player.side], places = findings.length ? findings[0].places : [];
    const {rows, met} = Player.meeting(model, block, places);
    return {places, rows, met, threads: new Set(places.filter((_, k) => rows[k]).map(({thread}) => thread[0]))};
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
    const one = player.sides[player.side], chosen = variant(one);
    showBar(player);
    const isBoth = isDouble(player);
    const isOther = one.attempt > 0 && player.shown !== chosen;
    player.shown = chosen;
    player.boxes.source.classList.toggle("pl-diff", one.attempt > 0);
    player.source.show(linesOf(textOf(one), baseOf(player, one), one.attempt > 0 && !isBoth), chosen, new Set(one.cuts.keys()), (line, what) => cut(player, line, what), isOther);
    player.boxes.hint.textContent = hintOf(one, chosen);
    player.boxes.name.textContent = nameOf(one);
    showBeside(player, one, isBoth);
    const {findings} = one;
    player.source.flag(findings.length ? findings[0].places.map(({line}) => line) : []);
    Player.findings(player.boxes.findings, findings, (place) => {
        toSource(player);
        goTo(player, place);
    });
    const {isRight} = showVerdict(player, one);
    player.flagged = NONE;
    if (!hasSteps(player))
        return endTime(player);
    player.tick = Player.counters(player.boxes.counters, one.model, player.beside, isRight, isBoth && nameOf(one));
    player.flagged = flaggedBy(player);
    drawTime(player);
    seek(player, player.step === null ? firstOfInterest(one.model) : player.step);
    if (isOther)
        player.source.revealRemark();
}

const nameOf = (one) => (one.attempt ? `Try ${one.attempt}` : one.cuts.size ? "changed" : shortName(one.program));

// The text with which the lines are compared: side by side, the other pane's; else for a Try the lesson's, for a lesson that
// of the step before.
function baseOf(player, one) {
    if (isDouble(player))
        return textOf(besideOf(player).one);
    return one.attempt ? one.program.source.text : player.side === 0 && player.sides[1] && player.sides[1].program.source.text;
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
    const lines = linesOf(textOf(beside.one), textOf(one), false).map((line) => (line.sign === "+" ? {...line, sign: "was"} : line));
    other.boxes.name.textContent = beside.label;
    other.source.show(lines, {}, new Set(), null, false);
}

// The lines to show: for a Try also the removed ones; for the lesson only those of its text.
function linesOf(text, base, keepOld) {
    const plain = () => text.split("\n").map((line, k) => ({sign: " ", text: line, line: k + 1}));
    if (!base || base.split("\n").length > MOST_COMPARED)
        return plain();
    return Player.difference(base, text).filter(({sign}) => keepOld || sign !== "-");
}

// The text below the source: a Try's question (bold in the lesson), or what can be clicked.
function hintOf(one, {removable, text}) {
    const question = one.attempt && /\*\*(?:\d+\.\s*)?([^*]+)\*\*/.exec(text || "");
    const invitation = (removable || []).length ? "Click an underlined statement to remove it and run the program again." : "";
    return question ? `Try ${one.attempt}: ${question[1].replace(/`/g, "")}` : invitation;
}

// The step to begin with: the first load of a float from shared memory, or the first access.
function firstOfInterest(model) {
    const rows = model.launches.flatMap((launch) => launch.rows);
    const row = rows.find((found) => found.memory === "shared" && Player.isLoad(found) && found.opcode.endsWith("f32")) || rows.find((found) => found.addresses);
    return row ? row.step : 0;
}

// An n at which a removed bounds test has an effect, if this n has none: each thread has an element. Else 0.
function sizeWithEffect(player, one) {
    const tests = (text) => text.match(/< n\b|$/g).length, base = one.program.source.text;
    const isOpen = [...one.cuts.values()].includes("test") || (one.attempt > 0 && tests(variant(one).source) < tests(base));
    if (!isChanged(one) || !isOpen || !one.result || one.result.status || !one.model.length)
        return 0;
    const {threads} = one.model.launches[0];
    return (player.n % threads === 0 && sizesOf(one).find((n) => n > threads && n % threads)) || 0;
}

// Shows the verdict above, and a sentence at the changed line; returns the verdict.
function showVerdict(player, one) {
    const better = sizeWithEffect(player, one), verdict = player.error ? {isRight: false, text: player.error}
        : one.result ? Player.verdict(one.result, one.program, better && player.n) : {text: "…"};
    const {isRight, text} = verdict;
    player.boxes.verdict.textContent = text;
    const retry = () => better && element("button", {type: "button", class: "pl-button", onclick: () => resize(player, better)},
        `try n = ${better.toLocaleString("en-US")}`);
    const restoreAll = one.cuts.size > 0 && element("button", {type: "button", class: "pl-button", onclick: () => restore(player)}, "restore all");
    const [finding] = one.findings;
    const toFinding = finding && hasSteps(player) && element("button", {type: "button", class: "pl-button", onclick: () => goToFinding(player)},
        isRace(finding) ? "step to the race" : "step to the finding");
    player.boxes.state.replaceChildren(...[player.boxes.verdict, toFinding, retry(), restoreAll].filter(Boolean));
    player.boxes.verdict.classList.toggle("pl-wrong", !isRight);
    const details = finding && element("button", {type: "button", onclick: () => player.boxes.findings.scrollIntoView({block: "center"})}, "details below");
    if (isChanged(one))
        player.source.remark([...one.cuts.keys()].pop() || (finding && !isRace(finding) ? finding.places[0].line : 0), element("span", {class: isRight ? "pl-right" : "pl-wrong"},
            finding ? `✗ ${Player.inShort(finding)} ` : text + " "), retry() || details || "");
    const said = finding ? `${text}. ${Player.inShort(finding)}. ${finding.hint || ""}` : text;
    if (player.boxes.said.textContent !== said)
        player.boxes.said.textContent = said;
    return verdict;
}

function showBar(player) {
    Player.renew(player.boxes.bar, {program: programChoice(player), double: doubleButton(player), size: sizeChoice(player),
        block: blockField(player), order: orderChoice(player), attempt: tryChoice(player)});
}

// The handler of a list or a field; "" means none.
const changeOf = (player, name) => (value) => {
    player[name] = value === "" ? null : +value;
    rerun(player);
};

function programChoice(player) {
    const programs = player.sides.map(({program}, k) => ({value: k, text: shortName(program), title: program.title}));
    return programs.length > 1 && Player.segment("program", programs, player.side, (k) => choose(player, k));
}

function doubleButton(player) {
    const beside = besideOf(player);
    return beside && element("button", {type: "button", class: "pl-toggle", "aria-pressed": String(player.wantsDouble), onclick: () => double(player),
        title: `${nameOf(player.sides[player.side])} and ${beside.label}, at the same step`}, "side by side");
}

function sizeChoice(player) {
    const sizes = sizesOf(player.sides[player.side]).map((n) => [n, n.toLocaleString("en-US")]);
    return sizes.length > 1 && Player.choice("n", sizes, player.n, changeOf(player, "n"));
}

const lastBlock = ({model}) => (model && model.launches.length ? Math.max(...model.launches.map(({grid}) => grid)) - 1 : 0);

// Shown also for a single block, so that nothing moves at another n.
function blockField(player) {
    return Player.number("block", lastBlock(player.sides[player.side]), player.block, player.noBlock, changeOf(player, "block"));
}

function orderChoice(player) {
    const orders = [["", "by number"], ...[1, 2, 3, 7].map((seed) => [seed, `shuffled, ${seed}`])];
    return Player.choice("order", orders, player.order === null ? "" : player.order, changeOf(player, "order"),
        "the order in which the simulator runs blocks, warps and lanes: by number, or shuffled with a seed");
}

function tryChoice(player) {
    const {program, attempt: chosen} = player.sides[player.side];
    const tries = (program.tries || []).map(({number, text}) =>
        ({value: number, text: `Try ${number}`, title: text ? text.replace(/[*`]/g, "") : `Try ${number} of the lesson`}));
    return tries.length > 0 && Player.segment("Try", [{value: 0, text: "as written"}, ...tries], chosen, (number) => attempt(player, number));
}

function drawTime(player) {
    const one = player.sides[player.side], {beside} = player;
    player.length = Math.max(1, one.model.length, beside ? beside.one.model.length : 0);
    player.time.mark(player.flagged.rows.filter(Boolean).map(({step}) => step), player.length);
    player.time.draw([one.model, beside && beside.one.model], [isChanged(one) ? "changed" : shortName(one.program), beside ? beside.label : ""],
        player.length, lastStep(player));
}

// Draws a side's step in a pane; returns it in words. follows: scroll the source to the current lines.
function drawPane(player, {boxes, machine, source, draw}, {model, block}, flagged, follows) {
    const {launch, lit, words, about} = draw(model, player.step, flagged, player.thread);
    boxes.about.setAttribute("aria-live", player.playing ? "off" : "polite"); // do not read out each step
    boxes.about.textContent = about || "Point at a lane to see its value.";
    const isMany = model.launches.length > 1, number = 1 + model.launches.indexOf(launch);
    boxes.title.textContent = (isDouble(player) ? `${boxes.name.textContent}: warps` : "Warps") + ` of block ${block}` + (isMany ? `, launch ${number} of ${model.launches.length}` : "");
    source.light(lit, follows);
    keepHeight(machine);
    return words;
}

// Keeps the content below from moving when launches and banks change.
function keepHeight(box) {
    box.style.minHeight = `${Math.max(parseFloat(box.style.minHeight) || 0, box.offsetHeight)}px`;
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
}

// Forgets the heights kept for another width.
function layOut({own, other}) {
    [own, other].forEach(({machine}) => (machine.style.minHeight = ""));
}

async function attempt(player, number, n = player.n) {
    const one = player.sides[player.side];
    one.attempt = number;
    one.cuts.clear();
    const sizes = sizesOf(one);
    player.n = [n, player.n, sizes[0]].find((size) => sizes.includes(size));
    if (await rerun(player))
        await showFinding(player);
}

// Moves the focus to the source: the run removes the button that had it.
const toSource = (player) => player.boxes.source.focus({preventScroll: true});

function resize(player, n) {
    player.n = n;
    toSource(player);
    return rerun(player).then((isShown) => isShown && showFinding(player));
}

// Removes a line's statement, or restores it; then shows the finding's access.
async function cut(player, line, what) {
    const {cuts} = player.sides[player.side];
    if (!cuts.delete(line))
        cuts.set(line, what);
    if (await rerun(player))
        await showFinding(player);
}

async function showFinding(player) {
    const {places} = player.flagged;
    if (places.length)
        await goToFinding(player);
    places.forEach(({line}) => player.source.reveal(line));
    player.source.revealRemark();
}

function restore(player) {
    player.sides[player.side].cuts.clear();
    toSource(player);
    rerun(player);
}

const LANE_KEYS = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -Player.LANES, ArrowDown: Player.LANES};

// Pointing at a lane, or the arrow keys in the warps, choose it; side by side, in both panes.
function chooseLanes(player, warps) {
    const choose = (thread) => {
        if (!hasSteps(player))
            return;
        const most = player.sides[player.side].model.launchAt(player.step).warps.length * Player.LANES;
        player.thread = Math.max(0, Math.min(most - 1, thread));
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

// The initial n: one block for the first steps; for later ones as many as their topic needs.
function sizeToBegin(figure, program) {
    const [, ladder, lesson] = /^(step|scan)(\d+)$/.exec(program.name) || [], isScan = ladder === "scan";
    const wanted = +figure.dataset.n || (!isScan && lesson >= 7 ? 65536 : lesson >= (isScan ? 6 : 4) ? 4096 : 256);
    return program.sizes.includes(wanted) ? wanted : program.sizes[0];
}

// Shows the player instead of the still figure after the first run, so that the page moves at most once. The still figure
// stays available in a fold, and for printing.
function reveal(figure) {
    if (figure.classList.contains("pl-is-live"))
        return;
    figure.classList.add("pl-is-live");
    const still = [...figure.childNodes].slice(1), name = figure.querySelector("img, svg") ? "the still figure" : "the source as text";
    if (still.some((node) => node.nodeType === Node.ELEMENT_NODE))
        figure.append(element("details", {class: "pl-still"}, element("summary", {}, name), ...still));
}

async function begin(figure) {
    const {program, before} = figure.dataset;
    const second = before && (await Player.program(before).catch(() => null)); // one side is enough
    const programs = [await Player.program(program), second].filter(Boolean);
    const own = makePane(""), other = makePane(" of the second pane"), boxes = {...skeleton(), ...own.boxes};
    const player = {figure, boxes, own, other, source: own.source, sides: programs.map(side), side: 0, n: sizeToBegin(figure, programs[0]), block: 0, order: null,
        step: null, thread: null, playing: null, speed: 8, flagged: NONE, beside: null, isExecuted: false, wantsDouble: false, error: "", noBlock: "", request: 0};
    [own, other].forEach((pane) => chooseLanes(player, pane.boxes.warps));
    boxes.columns.append(own.text, own.machine);
    player.time = Player.timeLine((name, number) => act(player, name, number));
    boxes.look.hidden = !mayLookBack(programs[0]);
    figure.prepend(element("div", {class: "pl-live"}, boxes.bar, boxes.state, boxes.columns, note(), player.time.whole, boxes.findings, boxes.counters, boxes.look, boxes.said));
    await rerun(player);
    if (!player.sides[0].model)
        throw new Error(player.error);
    redrawWhenChanged(player);
    return player;
}

// Redraws the canvas when its width or the page's colours change.
function redrawWhenChanged(player) {
    const redraw = () => player.sides[player.side].model && drawTime(player);
    let width = player.figure.clientWidth;
    new ResizeObserver(() => {
        if (player.figure.clientWidth !== width)
            layOut(player);
        width = player.figure.clientWidth;
        redraw();
    }).observe(player.time.whole);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    new MutationObserver(redraw).observe(document.body, {attributes: true, attributeFilter: ["data-theme"]});
}

// If the player fails, the still figure stays, and a line gives the reason.
function fail(figure, error) {
    figure.classList.add("pl-has-failed");
    figure.append(failed("The player", error));
}

const failed = (what, error) => element("p", {class: "pl-failed"}, `${what} cannot be shown: ${error.message}`);

const players = new WeakMap(); // the promise of each started figure's player

function playerOf(figure) {
    if (!players.has(figure)) {
        players.set(figure, begin(figure));
        players.get(figure).catch((error) => fail(figure, error));
    }
    return players.get(figure);
}

function whenSeen(figure) {
    const watch = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting))
            return;
        watch.disconnect();
        playerOf(figure);
    }, {rootMargin: "400px"});
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
    await attempt(player, number, n);
};

function start() {
    document.querySelectorAll("figure.player").forEach(whenSeen);
    addEventListener("beforeprint", () => document.querySelectorAll(".pl-still").forEach((still) => (still.open = true)));
}

if (document.readyState === "loading")
    document.addEventListener("DOMContentLoaded", start);
else
    start();
})();
