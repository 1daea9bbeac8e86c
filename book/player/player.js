// player.js: a figure of a lesson becomes a player: <figure class="player" data-program="step03" data-before="step02">.
//
// A player has one or two sides: the lesson's program, and that of the step before. Each side knows what is left out of
// it and what its last run came to; the player knows what both have in common: n, the block, the order, the step. One
// side is shown, in the first of two panes; side by side the other pane shows what the counters compare it with.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element} = Player;
const MOST_COMPARED = 1500; // lines; a longer text is shown without what is new in it

// ---- The parts of a player

const part = (name, attributes = {}, ...children) => element("div", {class: "pl-" + name, ...attributes}, ...children);
const heading = (text) => element("p", {class: "pl-heading"}, text);

function skeleton() {
    return {bar: part("bar pl-choices"), counters: part("counters"), findings: part("findings"), columns: part("columns"),
        said: element("p", {class: "pl-said", role: "status", "aria-live": "polite"}), verdict: element("span", {class: "pl-verdict"}),
        state: part("state"), look: part("look", {hidden: true})};
}

// A program's source, and what the machine does with it. `of` tells its parts from the other pane's for who hears the page.
function makePane(of) {
    const boxes = {warps: part("warps", {tabindex: 0, role: "group", "aria-label": `warps and lanes${of}; the arrow keys choose a lane, to see what it holds`}),
        source: part("source", {tabindex: 0, role: "region", "aria-label": `the kernel's source${of}`}), about: element("p", {class: "pl-about", "aria-live": "polite"}),
        name: element("p", {class: "pl-which"}), hint: element("p", {class: "pl-invite"}), title: heading(""), banks: part("banks"), lines: part("devices")};
    const text = part("text", {}, boxes.name, boxes.source, boxes.hint);
    const machine = part("machine", {}, boxes.title, boxes.warps, boxes.about, heading("Shared memory: 32 banks"), boxes.banks,
        heading("Device memory: lines of 128 bytes, 4 sectors each"), boxes.lines);
    return {boxes, text, machine, source: Player.source(boxes.source), picture: Player.picture(boxes)};
}

const note = () => part("key", {}, legend(),
    element("p", {class: "pl-more"}, "Instructions are PTX as the simulator runs them; the GPU's own code may differ (a short if becomes a predicate)."));

function legend() {
    const entries = [["plain", "computes"], ["shared", "shared memory"], ["device", "device memory"], ["shuffle", "shuffle"],
        ["off", "off"], ["waits", "waits"], ["done", "done"], ["written", "written now"], ["known", "touched before"], ["conflict", "conflict"], ["bad", "race"]];
    return element("p", {class: "pl-legend"}, entries.map(([name, text]) => element("span", {}, element("i", {class: "pl-" + name}), text)));
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

// Runs a side, and records this block; false where it is no longer wanted. Of what a player wants only the last is.
async function runSide(player, one, block) {
    const result = await Player.run(player, one.program, requestOf(player, one, block));
    if (!result)
        return false;
    one.block = block;
    one.result = result;
    one.findings = Player.tellingFirst(result.findings || []);
    one.model = Player.model(result.trace || "", result.counters || "", one.program.source.file);
    return true;
}

// What the counters and the time line stand beside: a changed program beside itself as it was, else one step beside the other.
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
    return {...found, model: found.one.model, whole: found.one.model.whole};
}

// Whether both panes are to be seen: also while what stands beside is still being run.
const isDouble = (player) => player.wantsDouble && besideOf(player) !== null;

// Whether there is anything to see: a side may not have run yet, or its run ended before the kernel began.
function hasSteps(player) {
    const {model} = player.sides[player.side];
    return model !== null && model.length > 0;
}

// The last step that the time line reaches: side by side that of the longer run.
function lastStep(player) {
    const {model} = player.sides[player.side], {beside} = player;
    return Math.max(model.length, isDouble(player) && beside ? beside.model.length : 0) - 1;
}

// Runs a side; where there is no such block, the first or the last one that there is, which is the player's then. False where it
// is no longer wanted.
async function runNearest(player, one, isOver) {
    const wanted = player.block, isWanted = async (block) => (await runSide(player, one, block)) && !isOver();
    let block = Math.max(0, wanted), noBlock = wanted < 0 ? `no block ${wanted}: they begin at 0` : "";
    if (!(await isWanted(block)))
        return false;
    if (!one.model.length && block > 0) {
        if (!(await isWanted(0))) // it tells how many there are
            return false;
        if (one.model.length) { // else such a run has no steps, of whatever block
            block = lastBlock(one);
            noBlock = `no block ${wanted}: 0–${block}`;
            if (block > 0 && !(await isWanted(block)))
                return false;
        }
    }
    Object.assign(player, {block, noBlock});
    return true;
}

// Runs what is on the player and shows it, then what stands beside it. Who chooses something else meanwhile begins the
// next turn, and an earlier one says nothing more: neither what it came to nor that the player is ready. True where what
// was run is shown.
async function rerun(player) {
    const one = player.sides[player.side], turn = ++player.turn, isOver = () => turn !== player.turn;
    let isShown = false;
    player.figure.setAttribute("aria-busy", "true");
    player.error = player.noBlock = "";
    showBar(player); // what is chosen shows at once: nothing in the bar is replaced later, under somebody's finger
    try {
        if (!(await runNearest(player, one, isOver)))
            return false;
        player.beside = null;
        show(player);
        isShown = true;
        reveal(player.figure);
        const beside = await runBeside(player);
        if (isOver())
            return false;
        player.beside = beside;
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

// Where blocks look at each other's words, as those of the later scans do: all of them, taking turns, at the largest n.
// Of the program as written, and once: its space is kept from the beginning.
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

// ---- Findings in the picture

const NOBODY = {places: [], rows: [], met: null, threads: new Set()};

// What the picture marks of the first finding: its threads, where they met, and a row for each place.
function accusedOf(player) {
    const {findings, model, block} = player.sides[player.side], places = findings.length ? findings[0].places : [];
    const {rows, met} = Player.meeting(model, block, places);
    return {places, rows, met, threads: new Set(places.filter((_, k) => rows[k]).map(({thread}) => thread[0]))};
}

// Goes to a finding's place; where it happened in another block, that block is put on the player first.
async function goTo(player, place) {
    stopPlaying(player);
    if (place.kernel && place.block[0] !== player.block) {
        player.block = place.block[0];
        if (!(await rerun(player)))
            return;
    }
    const {places, rows} = player.accused;
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
    player.source.accuse(findings.length ? findings[0].places.map(({line}) => line) : []);
    Player.findings(player.boxes.findings, findings, (place) => {
        toSource(player);
        goTo(player, place);
    });
    const {isRight} = showVerdict(player, one);
    player.accused = NOBODY;
    if (!hasSteps(player))
        return endTime(player);
    player.tick = Player.counters(player.boxes.counters, one.model, player.beside, isRight, isBoth && nameOf(one));
    player.accused = accusedOf(player);
    drawTime(player);
    seek(player, player.step === null ? firstOfInterest(one.model) : player.step);
    if (isOther)
        player.source.revealRemark();
}

const nameOf = (one) => (one.attempt ? `Try ${one.attempt}` : one.cuts.size ? "changed" : shortName(one.program));

// The text that the lines are compared with: side by side that which stands beside; else of a Try the lesson's, of the
// lesson that of the step before.
function baseOf(player, one) {
    if (isDouble(player))
        return textOf(besideOf(player).one);
    return one.attempt ? one.program.source.text : player.side === 0 && player.sides[1] && player.sides[1].program.source.text;
}

// The second pane: what stands beside, with those of its lines marked that the first pane's text has not.
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

// The lines to show: of a Try the old ones, too; of the lesson only what is new in it.
function linesOf(text, base, keepOld) {
    const plain = () => text.split("\n").map((line, k) => ({sign: " ", text: line, line: k + 1}));
    if (!base || base.split("\n").length > MOST_COMPARED)
        return plain();
    return Player.difference(base, text).filter(({sign}) => keepOld || sign !== "-");
}

// What stands below the source: a Try's question (in the lesson it is bold), and what can be done.
function hintOf(one, {removable, text}) {
    const question = one.attempt && /\*\*(?:\d+\.\s*)?([^*]+)\*\*/.exec(text || "");
    const invitation = (removable || []).length ? "Click what is underlined: it is left out, and the program runs again." : "";
    return question ? `Try ${one.attempt}: ${question[1].replace(/`/g, "")}` : invitation;
}

// Where something can be seen: the first load of a float from shared memory, or the first access of all.
function firstOfInterest(model) {
    const rows = model.launches.flatMap((launch) => launch.rows);
    const row = rows.find((found) => found.memory === "shared" && Player.isLoad(found) && found.opcode.endsWith("f32")) || rows.find((found) => found.addresses);
    return row ? row.step : 0;
}

// Where each thread has its element, a bounds test that is left out is not missed: the n at which it would be; 0 where
// this n tells, or none does.
function sizeThatTells(player, one) {
    const tests = (text) => text.match(/< n\b|$/g).length, base = one.program.source.text;
    const isOpen = [...one.cuts.values()].includes("test") || (one.attempt > 0 && tests(variant(one).source) < tests(base));
    if (!isChanged(one) || !isOpen || !one.result || one.result.status || !one.model.length)
        return 0;
    const {threads} = one.model.launches[0];
    return (player.n % threads === 0 && sizesOf(one).find((n) => n > threads && n % threads)) || 0;
}

// The verdict above, and where something is changed a sentence at the changed line; returns the verdict.
function showVerdict(player, one) {
    const better = sizeThatTells(player, one), verdict = player.error ? {isRight: false, text: player.error}
        : one.result ? Player.verdict(one.result, one.program, better && player.n) : {text: "…"};
    const {isRight, text} = verdict;
    player.boxes.verdict.textContent = text;
    const retry = () => better && element("button", {type: "button", class: "pl-button", onclick: () => resize(player, better)},
        `try n = ${better.toLocaleString("en-US")}`);
    const mendAll = one.cuts.size > 0 && element("button", {type: "button", class: "pl-button", onclick: () => mend(player)}, "mend all");
    player.boxes.state.replaceChildren(...[player.boxes.verdict, retry(), mendAll].filter(Boolean));
    player.boxes.verdict.classList.toggle("pl-wrong", !isRight);
    const [finding] = one.findings;
    const details = finding && element("button", {type: "button", onclick: () => player.boxes.findings.scrollIntoView({block: "center"})}, "details below");
    if (isChanged(one))
        player.source.remark([...one.cuts.keys()].pop() || 0, element("span", {class: isRight ? "pl-right" : "pl-wrong"},
            finding ? `✗ ${Player.inShort(finding)} ` : text + " "), retry() || details || "");
    const said = finding ? `${text}. ${finding.title}: ${finding.places.map(({line}) => "line " + line).join(" and ")}. ${finding.hint || ""}` : text;
    if (player.boxes.said.textContent !== said)
        player.boxes.said.textContent = said;
    return verdict;
}

function showBar(player) {
    Player.renew(player.boxes.bar, {program: programChoice(player), double: doubleButton(player), size: sizeChoice(player),
        block: blockField(player), order: orderChoice(player), attempt: tryChoice(player)});
}

// What a list or a field does when another value is chosen in it; "" stands for none.
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
        title: `${nameOf(player.sides[player.side])} and ${beside.label}, in the same steps`}, "side by side");
}

function sizeChoice(player) {
    const sizes = sizesOf(player.sides[player.side]).map((n) => [n, n.toLocaleString("en-US")]);
    return sizes.length > 1 && Player.choice("n", sizes, player.n, changeOf(player, "n"));
}

const lastBlock = ({model}) => (model && model.launches.length ? Math.max(...model.launches.map(({grid}) => grid)) - 1 : 0);

// Also of one block: nothing moves at another n.
function blockField(player) {
    return Player.number("block", lastBlock(player.sides[player.side]), player.block, player.noBlock, changeOf(player, "block"));
}

function orderChoice(player) {
    const orders = [["", "by number"], ...[1, 2, 3, 7].map((seed) => [seed, `shuffled, ${seed}`])];
    return Player.choice("order", orders, player.order === null ? "" : player.order, changeOf(player, "order"));
}

function tryChoice(player) {
    const {program, attempt: chosen} = player.sides[player.side];
    const tries = (program.tries || []).map(({number, text}) =>
        ({value: number, text: `Try ${number}`, title: text ? text.replace(/[*`]/g, "") : `Try ${number} of the lesson`}));
    return tries.length > 0 && Player.segment("Try", [{value: 0, text: "as written"}, ...tries], chosen, (number) => attempt(player, number));
}

function drawTime(player) {
    const one = player.sides[player.side], {beside} = player;
    player.length = Math.max(1, one.model.length, beside ? beside.model.length : 0);
    player.time.mark(player.accused.rows.filter(Boolean).map(({step}) => step), player.length);
    player.time.draw([one.model, beside && beside.model], [isChanged(one) ? "changed" : shortName(one.program), beside ? beside.label : ""],
        player.length, lastStep(player));
}

// Draws a side's step in a pane; returns it in words. follows: its source is scrolled to the lines that are lit.
function drawPane(player, {boxes, machine, source, picture}, {model, block}, accused, follows) {
    const {launch, lit, words, about} = picture(model, player.step, accused, player.thread);
    boxes.about.setAttribute("aria-live", player.playing ? "off" : "polite"); // nobody wants each step read out
    boxes.about.textContent = about || "Point at a lane to see what it holds.";
    const isMany = model.launches.length > 1, number = 1 + model.launches.indexOf(launch);
    boxes.title.textContent = (isDouble(player) ? `${boxes.name.textContent}: warps` : "Warps") + ` of block ${block}` + (isMany ? `, launch ${number} of ${model.launches.length}` : "");
    source.light(lit, follows);
    keepHeight(machine);
    return words;
}

// What stands below does not move up and down while launches and banks come and go.
function keepHeight(box) {
    box.style.minHeight = `${Math.max(parseFloat(box.style.minHeight) || 0, box.offsetHeight)}px`;
}

// isOther: it was another step before.
function drawStep(player, isOther = false) {
    const one = player.sides[player.side], {model} = one, {beside} = player;
    const words = drawPane(player, player.own, one, player.accused, isOther);
    if (isDouble(player) && beside)
        drawPane(player, player.other, beside.one, NOBODY, true);
    player.tick(player.step);
    const opened = model.barriers.filter((barrier) => barrier <= player.step).length;
    player.time.show(player.step, player.length, `step ${player.step + 1} of ${model.isCut ? "the first " : ""}${lastStep(player) + 1}`
        + (model.barriers.length ? ` · ${opened} of ${model.barriers.length} barriers open` : ""), words, !!player.playing);
}

function seek(player, step) {
    if (!hasSteps(player))
        return;
    const before = player.step;
    player.step = Math.max(0, Math.min(lastStep(player), Math.round(step)));
    drawStep(player, player.step !== before);
}

// ---- What the reader does

function choose(player, number) {
    player.side = number;
    player.beside = null; // that is what stood beside the other one
    rerun(player);
}

function double(player) {
    player.wantsDouble = !player.wantsDouble;
    layOut(player);
    show(player);
}

// In another width other heights are kept.
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

// Who pressed a button that goes with the run is put where its lines are.
const toSource = (player) => player.boxes.source.focus({preventScroll: true});

function resize(player, n) {
    player.n = n;
    toSource(player);
    return rerun(player).then((isShown) => isShown && showFinding(player));
}

// Leaves a line's barrier out, or puts it back; a finding is shown where it happened.
async function cut(player, line, what) {
    const {cuts} = player.sides[player.side];
    if (!cuts.delete(line))
        cuts.set(line, what);
    if (await rerun(player))
        await showFinding(player);
}

async function showFinding(player) {
    const {places} = player.accused;
    if (places.length)
        await goTo(player, places[places.length - 1]);
    player.source.revealRemark();
}

function mend(player) {
    player.sides[player.side].cuts.clear();
    toSource(player);
    rerun(player);
}

const LANE_KEYS = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -Player.LANES, ArrowDown: Player.LANES};

// A lane is chosen by pointing at it, or by arrow keys in the warps; side by side, the same in both panes.
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

// Nothing moves in a run without steps.
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
    const others = isDouble(player) && player.beside ? player.beside.model.stops : [];
    return [...player.sides[player.side].model.stops, ...others].sort((a, b) => a - b);
}

// What the time line asks for.
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

// The step that a key or a button leads to; number: the share of the time line that was pointed at.
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

// ---- The beginning

// The n with which a player begins: one block's worth of the first steps; of later ones as much as shows what they are about.
function sizeToBegin(figure, program) {
    const [, ladder, lesson] = /^(step|scan)(\d+)$/.exec(program.name) || [], isScan = ladder === "scan";
    const wanted = +figure.dataset.n || (!isScan && lesson >= 7 ? 65536 : lesson >= (isScan ? 6 : 4) ? 4096 : 256);
    return program.sizes.includes(wanted) ? wanted : program.sizes[0];
}

// The player takes the place of what stands there without JavaScript when it has something to show: so the page moves once
// at most. Print, and who wants it, find the still picture again.
function reveal(figure) {
    if (figure.classList.contains("pl-is-live"))
        return;
    figure.classList.add("pl-is-live");
    const still = [...figure.childNodes].slice(1), name = figure.querySelector("img, svg") ? "the still picture" : "the source as text";
    if (still.some((node) => node.nodeType === Node.ELEMENT_NODE))
        figure.append(element("details", {class: "pl-still"}, element("summary", {}, name), ...still));
}

async function begin(figure) {
    const {program, before} = figure.dataset;
    const second = before && (await Player.program(before).catch(() => null)); // one side is enough
    const programs = [await Player.program(program), second].filter(Boolean);
    const own = makePane(""), other = makePane(" of what stands beside"), boxes = {...skeleton(), ...own.boxes};
    const player = {figure, boxes, own, other, source: own.source, sides: programs.map(side), side: 0, n: sizeToBegin(figure, programs[0]), block: 0, order: null,
        step: null, thread: null, playing: null, speed: 8, accused: NOBODY, beside: null, wantsDouble: false, error: "", noBlock: "", turn: 0};
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

// The canvas has no style of its own: it is drawn anew when its width or the page's colours change.
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

// Where a player cannot be had, the picture stays, and a line says why.
function fail(figure, error) {
    figure.classList.add("pl-has-failed");
    figure.append(failed("The player", error));
}

const failed = (what, error) => element("p", {class: "pl-failed"}, `${what} cannot be shown: ${error.message}`);

const players = new WeakMap(); // of each figure that has begun, the promise of its player

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

// For other scripts: brings a figure into view and runs the lesson's program there, with the Try of this number
// (0: as written), at n where that was recorded.
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
