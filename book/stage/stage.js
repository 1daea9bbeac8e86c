// stage.js: a figure of a lesson becomes a stage: <figure class="stage" data-program="step03" data-before="step02">.
//
// A stage has one or two sides: the lesson's program, and that of the step before. Each side knows what is left out of
// it and what its last run came to; the stage knows what both have in common: n, the block, the order, the moment. One
// side is shown, in the first of two panes; side by side the other pane shows what the counters compare it with.
(function () {
"use strict";
const Stage = (window.Stage = window.Stage || {});
const {element} = Stage;
const MOST_COMPARED = 1500; // lines; a longer text is shown without what is new in it

// ---- The parts of a stage

const part = (name, attributes = {}, ...children) => element("div", {class: "st-" + name, ...attributes}, ...children);
const heading = (text) => element("p", {class: "st-heading"}, text);

function skeleton() {
    return {bar: part("bar st-choices"), counters: part("counters"), findings: part("findings"), columns: part("columns"),
        said: element("p", {class: "st-said", role: "status", "aria-live": "polite"}), verdict: element("span", {class: "st-verdict"}),
        state: part("state"), look: part("look", {hidden: true})};
}

// A program's source, and what the machine does with it. `of` tells its parts from the other pane's for who hears the page.
function makePane(of) {
    const boxes = {warps: part("warps", {tabindex: 0, role: "group", "aria-label": `warps and lanes${of}; the arrow keys choose a lane, to see what it holds`}),
        source: part("source", {tabindex: 0, role: "region", "aria-label": `the kernel's source${of}`}), about: element("p", {class: "st-about", "aria-live": "polite"}),
        name: element("p", {class: "st-which"}), hint: element("p", {class: "st-invite"}), title: heading(""), banks: part("banks"), lines: part("devices")};
    const text = part("text", {}, boxes.name, boxes.source, boxes.hint);
    const machine = part("machine", {}, boxes.title, boxes.warps, boxes.about, heading("Shared memory: 32 banks"), boxes.banks,
        heading("Device memory: lines of 128 bytes, 4 sectors each"), boxes.lines);
    return {boxes, text, machine, source: Stage.source(boxes.source), picture: Stage.picture(boxes)};
}

const note = () => part("key", {}, legend(),
    element("p", {class: "st-more"}, "Instructions are PTX as the simulator runs them; the GPU's own code may differ (a short if becomes a predicate)."));

function legend() {
    const entries = [["plain", "computes"], ["shared", "shared memory"], ["device", "device memory"], ["shuffle", "shuffle"],
        ["off", "off"], ["waits", "waits"], ["done", "done"], ["written", "written now"], ["known", "touched before"], ["conflict", "conflict"], ["bad", "race"]];
    return element("p", {class: "st-legend"}, entries.map(([name, text]) => element("span", {}, element("i", {class: "st-" + name}), text)));
}

const side = (program) => ({program, attempt: 0, cuts: new Map(), result: null, findings: [], model: null, block: 0});
const variant = (one) => (one.attempt ? one.program.tries.find((found) => found.number === one.attempt) : one.program);
const sizesOf = (one) => variant(one).sizes || one.program.sizes;
const textOf = (one) => (one.attempt ? variant(one).source : one.program.source.text);
const isChanged = (one) => one.attempt > 0 || one.cuts.size > 0;
const shortName = (program) => (program.isOwn ? "this run" : program.name.replace(/^(step|scan)(\d+).*$/, "$1 $2"));

// ---- Running

function requestOf(stage, {attempt, cuts}, block) {
    const without = [...cuts].map(([line, what]) => (what === "test" ? {line, what} : line)).sort();
    return {n: stage.n, try: attempt, block, order: stage.order, together: false, values: true, rows: Stage.MOST_ROWS, without};
}

// Runs a side, and records this block; false where it is no longer wanted. Of what a stage wants only the last is.
async function runSide(stage, one, block) {
    const result = await Stage.run(stage, one.program, requestOf(stage, one, block));
    if (!result)
        return false;
    one.block = block;
    one.result = result;
    one.findings = Stage.tellingFirst(result.findings || []);
    one.model = Stage.model(result.trace || "", result.counters || "", one.program.source.file);
    return true;
}

// What the counters and the time line stand beside: a changed program beside itself as it was, else one step beside the other.
function besideOf(stage) {
    const one = stage.sides[stage.side], other = stage.sides[1 - stage.side];
    if (isChanged(one))
        return {label: "as written", short: "was", one: side(one.program)};
    const name = other && shortName(other.program);
    return other ? {label: name, short: name, one: isChanged(other) ? side(other.program) : other} : null;
}

async function runBeside(stage) {
    const found = besideOf(stage);
    if (!found || !(await runSide(stage, found.one, stage.block)) || !found.one.model.length)
        return null;
    return {...found, model: found.one.model, whole: found.one.model.whole};
}

// Whether both panes are to be seen: also while what stands beside is still being run.
const isDouble = (stage) => stage.wantsDouble && besideOf(stage) !== null;

// Whether there is anything to see: a side may not have run yet, or its run ended before the kernel began.
function hasMoments(stage) {
    const {model} = stage.sides[stage.side];
    return model !== null && model.length > 0;
}

// The last moment that the time line reaches: side by side that of the longer run.
function lastMoment(stage) {
    const {model} = stage.sides[stage.side], {beside} = stage;
    return Math.max(model.length, isDouble(stage) && beside ? beside.model.length : 0) - 1;
}

// Runs a side; where there is no such block, the first or the last one that there is, which is the stage's then. False where it
// is no longer wanted.
async function runNearest(stage, one, isOver) {
    const wanted = stage.block, isWanted = async (block) => (await runSide(stage, one, block)) && !isOver();
    let block = Math.max(0, wanted), noBlock = wanted < 0 ? `no block ${wanted}: they begin at 0` : "";
    if (!(await isWanted(block)))
        return false;
    if (!one.model.length && block > 0) {
        if (!(await isWanted(0))) // it tells how many there are
            return false;
        if (one.model.length) { // else such a run has no moments, of whatever block
            block = lastBlock(one);
            noBlock = `no block ${wanted}: 0–${block}`;
            if (block > 0 && !(await isWanted(block)))
                return false;
        }
    }
    Object.assign(stage, {block, noBlock});
    return true;
}

// Runs what is on the stage and shows it, then what stands beside it. Who chooses something else meanwhile begins the
// next turn, and an earlier one says nothing more: neither what it came to nor that the stage is ready. True where what
// was run is shown.
async function rerun(stage) {
    const one = stage.sides[stage.side], turn = ++stage.turn, isOver = () => turn !== stage.turn;
    let isShown = false;
    stage.figure.setAttribute("aria-busy", "true");
    stage.error = stage.noBlock = "";
    showBar(stage); // what is chosen shows at once: nothing in the bar is replaced later, under somebody's finger
    try {
        if (!(await runNearest(stage, one, isOver)))
            return false;
        stage.beside = null;
        show(stage);
        isShown = true;
        reveal(stage.figure);
        const beside = await runBeside(stage);
        if (isOver())
            return false;
        stage.beside = beside;
    } catch (error) {
        if (isOver())
            return false;
        stage.error = error.message;
    }
    stage.figure.setAttribute("aria-busy", "false");
    show(stage);
    if (!stage.error)
        lookBack(stage, one);
    return isShown;
}

const mayLookBack = (program) => /look_?back|wait_for/i.test(program.source.text);

// Where blocks look at each other's words, as those of the later scans do: all of them, taking turns, at the largest n.
// Of the program as written, and once: its space is kept from the beginning.
async function lookBack(stage, {program}) {
    const {look} = stage.boxes, n = Math.max(...program.sizes);
    if (stage.looked === program)
        return;
    stage.looked = program;
    look.hidden = !mayLookBack(program);
    if (look.hidden)
        return;
    const request = {...requestOf(stage, side(program), "all"), n, together: true, check: false};
    try {
        const result = await Stage.run(look, program, request);
        if (stage.looked !== program)
            return;
        const found = result && Stage.looksBack(Stage.rows(result.trace));
        look.hidden = !found;
        if (found)
            Stage.showLookBack(look, found, n);
    } catch (error) {
        if (stage.looked === program)
            look.replaceChildren(failed("The tiles", error));
    }
}

// ---- Findings in the picture

const NOBODY = {places: [], rows: [], met: null, threads: new Set()};

// What the picture marks of the first finding: its threads, where they met, and a row for each place.
function accusedOf(stage) {
    const {findings, model, block} = stage.sides[stage.side], places = findings.length ? findings[0].places : [];
    const {rows, met} = Stage.meeting(model, block, places);
    return {places, rows, met, threads: new Set(places.filter((_, k) => rows[k]).map(({thread}) => thread[0]))};
}

// Goes to a finding's place; where it happened in another block, that block is put on the stage first.
async function goTo(stage, place) {
    stopPlaying(stage);
    if (place.kernel && place.block[0] !== stage.block) {
        stage.block = place.block[0];
        if (!(await rerun(stage)))
            return;
    }
    const {places, rows} = stage.accused;
    const row = rows[places.indexOf(place)] || Stage.meeting(stage.sides[stage.side].model, stage.block, [place]).rows[0];
    if (row)
        seek(stage, row.moment);
    stage.source.reveal(place.line);
}

// ---- Showing

function show(stage) {
    const one = stage.sides[stage.side], chosen = variant(one);
    showBar(stage);
    const isBoth = isDouble(stage);
    const isOther = one.attempt > 0 && stage.shown !== chosen;
    stage.shown = chosen;
    stage.boxes.source.classList.toggle("st-diff", one.attempt > 0);
    stage.source.show(linesOf(textOf(one), baseOf(stage, one), one.attempt > 0 && !isBoth), chosen, new Set(one.cuts.keys()), (line, what) => cut(stage, line, what), isOther);
    stage.boxes.hint.textContent = hintOf(one, chosen);
    stage.boxes.name.textContent = nameOf(one);
    showBeside(stage, one, isBoth);
    const {findings} = one;
    stage.source.accuse(findings.length ? findings[0].places.map(({line}) => line) : []);
    Stage.findings(stage.boxes.findings, findings, (place) => {
        toSource(stage);
        goTo(stage, place);
    });
    const {isRight} = showVerdict(stage, one);
    stage.accused = NOBODY;
    if (!hasMoments(stage))
        return endTime(stage);
    stage.tick = Stage.counters(stage.boxes.counters, one.model, stage.beside, isRight, isBoth && nameOf(one));
    stage.accused = accusedOf(stage);
    drawTime(stage);
    seek(stage, stage.moment === null ? firstOfInterest(one.model) : stage.moment);
    if (isOther)
        stage.source.revealRemark();
}

const nameOf = (one) => (one.attempt ? `Try ${one.attempt}` : one.cuts.size ? "changed" : shortName(one.program));

// The text that the lines are compared with: side by side that which stands beside; else of a Try the lesson's, of the
// lesson that of the step before.
function baseOf(stage, one) {
    if (isDouble(stage))
        return textOf(besideOf(stage).one);
    return one.attempt ? one.program.source.text : stage.side === 0 && stage.sides[1] && stage.sides[1].program.source.text;
}

// The second pane: what stands beside, with those of its lines marked that the first pane's text has not.
function showBeside(stage, one, isBoth) {
    const {beside, own, other} = stage;
    stage.boxes.columns.classList.toggle("st-double", isBoth);
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
    return Stage.difference(base, text).filter(({sign}) => keepOld || sign !== "-");
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
    const row = rows.find((found) => found.memory === "shared" && Stage.isLoad(found) && found.opcode.endsWith("f32")) || rows.find((found) => found.addresses);
    return row ? row.moment : 0;
}

// Where each thread has its element, a bounds test that is left out is not missed: the n at which it would be; 0 where
// this n tells, or none does.
function sizeThatTells(stage, one) {
    const tests = (text) => text.match(/< n\b|$/g).length, base = one.program.source.text;
    const isOpen = [...one.cuts.values()].includes("test") || (one.attempt > 0 && tests(variant(one).source) < tests(base));
    if (!isChanged(one) || !isOpen || !one.result || one.result.status || !one.model.length)
        return 0;
    const {threads} = one.model.launches[0];
    return (stage.n % threads === 0 && sizesOf(one).find((n) => n > threads && n % threads)) || 0;
}

// The verdict above, and where something is changed a sentence at the changed line; returns the verdict.
function showVerdict(stage, one) {
    const better = sizeThatTells(stage, one), verdict = stage.error ? {isRight: false, text: stage.error}
        : one.result ? Stage.verdict(one.result, one.program, better && stage.n) : {text: "…"};
    const {isRight, text} = verdict;
    stage.boxes.verdict.textContent = text;
    const retry = () => better && element("button", {type: "button", class: "st-button", onclick: () => resize(stage, better)},
        `try n = ${better.toLocaleString("en-US")}`);
    const mendAll = one.cuts.size > 0 && element("button", {type: "button", class: "st-button", onclick: () => mend(stage)}, "mend all");
    stage.boxes.state.replaceChildren(...[stage.boxes.verdict, retry(), mendAll].filter(Boolean));
    stage.boxes.verdict.classList.toggle("st-wrong", !isRight);
    const [finding] = one.findings;
    const details = finding && element("button", {type: "button", onclick: () => stage.boxes.findings.scrollIntoView({block: "center"})}, "details below");
    if (isChanged(one))
        stage.source.remark([...one.cuts.keys()].pop() || 0, element("span", {class: isRight ? "st-right" : "st-wrong"},
            finding ? `✗ ${Stage.inShort(finding)} ` : text + " "), retry() || details || "");
    const said = finding ? `${text}. ${finding.title}: ${finding.places.map(({line}) => "line " + line).join(" and ")}. ${finding.hint || ""}` : text;
    if (stage.boxes.said.textContent !== said)
        stage.boxes.said.textContent = said;
    return verdict;
}

function showBar(stage) {
    Stage.renew(stage.boxes.bar, {program: programChoice(stage), double: doubleButton(stage), size: sizeChoice(stage),
        block: blockField(stage), order: orderChoice(stage), attempt: tryChoice(stage)});
}

// What a list or a field does when another value is chosen in it; "" stands for none.
const changeOf = (stage, name) => (value) => {
    stage[name] = value === "" ? null : +value;
    rerun(stage);
};

function programChoice(stage) {
    const programs = stage.sides.map(({program}, k) => ({value: k, text: shortName(program), title: program.title}));
    return programs.length > 1 && Stage.segment("program", programs, stage.side, (k) => choose(stage, k));
}

function doubleButton(stage) {
    const beside = besideOf(stage);
    return beside && element("button", {type: "button", class: "st-toggle", "aria-pressed": String(stage.wantsDouble), onclick: () => double(stage),
        title: `${nameOf(stage.sides[stage.side])} and ${beside.label}, in the same moments`}, "side by side");
}

function sizeChoice(stage) {
    const sizes = sizesOf(stage.sides[stage.side]).map((n) => [n, n.toLocaleString("en-US")]);
    return sizes.length > 1 && Stage.choice("n", sizes, stage.n, changeOf(stage, "n"));
}

const lastBlock = ({model}) => (model && model.launches.length ? Math.max(...model.launches.map(({grid}) => grid)) - 1 : 0);

// Also of one block: nothing moves at another n.
function blockField(stage) {
    return Stage.number("block", lastBlock(stage.sides[stage.side]), stage.block, stage.noBlock, changeOf(stage, "block"));
}

function orderChoice(stage) {
    const orders = [["", "by number"], ...[1, 2, 3, 7].map((seed) => [seed, `shuffled, ${seed}`])];
    return Stage.choice("order", orders, stage.order === null ? "" : stage.order, changeOf(stage, "order"));
}

function tryChoice(stage) {
    const {program, attempt: chosen} = stage.sides[stage.side];
    const tries = (program.tries || []).map(({number, text}) =>
        ({value: number, text: `Try ${number}`, title: text ? text.replace(/[*`]/g, "") : `Try ${number} of the lesson`}));
    return tries.length > 0 && Stage.segment("Try", [{value: 0, text: "as written"}, ...tries], chosen, (number) => attempt(stage, number));
}

function drawTime(stage) {
    const one = stage.sides[stage.side], {beside} = stage;
    stage.length = Math.max(1, one.model.length, beside ? beside.model.length : 0);
    stage.time.mark(stage.accused.rows.filter(Boolean).map(({moment}) => moment), stage.length);
    stage.time.draw([one.model, beside && beside.model], [isChanged(one) ? "changed" : shortName(one.program), beside ? beside.label : ""],
        stage.length, lastMoment(stage));
}

// Draws a side's moment in a pane; returns it in words. follows: its source is scrolled to the lines that are lit.
function drawPane(stage, {boxes, machine, source, picture}, {model, block}, accused, follows) {
    const {launch, lit, words, about} = picture(model, stage.moment, accused, stage.thread);
    boxes.about.setAttribute("aria-live", stage.playing ? "off" : "polite"); // nobody wants each moment read out
    boxes.about.textContent = about || "Point at a lane to see what it holds.";
    const isMany = model.launches.length > 1, number = 1 + model.launches.indexOf(launch);
    boxes.title.textContent = (isDouble(stage) ? `${boxes.name.textContent}: warps` : "Warps") + ` of block ${block}` + (isMany ? `, launch ${number} of ${model.launches.length}` : "");
    source.light(lit, follows);
    keepHeight(machine);
    return words;
}

// What stands below does not move up and down while launches and banks come and go.
function keepHeight(box) {
    box.style.minHeight = `${Math.max(parseFloat(box.style.minHeight) || 0, box.offsetHeight)}px`;
}

// isOther: it was another moment before.
function drawMoment(stage, isOther = false) {
    const one = stage.sides[stage.side], {model} = one, {beside} = stage;
    const words = drawPane(stage, stage.own, one, stage.accused, isOther);
    if (isDouble(stage) && beside)
        drawPane(stage, stage.other, beside.one, NOBODY, true);
    stage.tick(stage.moment);
    const opened = model.barriers.filter((barrier) => barrier <= stage.moment).length;
    stage.time.show(stage.moment, stage.length, `moment ${stage.moment + 1} of ${model.isCut ? "the first " : ""}${lastMoment(stage) + 1}`
        + (model.barriers.length ? ` · ${opened} of ${model.barriers.length} barriers open` : ""), words, !!stage.playing);
}

function seek(stage, moment) {
    if (!hasMoments(stage))
        return;
    const before = stage.moment;
    stage.moment = Math.max(0, Math.min(lastMoment(stage), Math.round(moment)));
    drawMoment(stage, stage.moment !== before);
}

// ---- What the reader does

function choose(stage, number) {
    stage.side = number;
    stage.beside = null; // that is what stood beside the other one
    rerun(stage);
}

function double(stage) {
    stage.wantsDouble = !stage.wantsDouble;
    layOut(stage);
    show(stage);
}

// In another width other heights are kept.
function layOut({own, other}) {
    [own, other].forEach(({machine}) => (machine.style.minHeight = ""));
}

async function attempt(stage, number, n = stage.n) {
    const one = stage.sides[stage.side];
    one.attempt = number;
    one.cuts.clear();
    const sizes = sizesOf(one);
    stage.n = [n, stage.n, sizes[0]].find((size) => sizes.includes(size));
    if (await rerun(stage))
        await showFinding(stage);
}

// Who pressed a button that goes with the run is put where its lines are.
const toSource = (stage) => stage.boxes.source.focus({preventScroll: true});

function resize(stage, n) {
    stage.n = n;
    toSource(stage);
    return rerun(stage).then((isShown) => isShown && showFinding(stage));
}

// Leaves a line's barrier out, or puts it back; a finding is shown where it happened.
async function cut(stage, line, what) {
    const {cuts} = stage.sides[stage.side];
    if (!cuts.delete(line))
        cuts.set(line, what);
    if (await rerun(stage))
        await showFinding(stage);
}

async function showFinding(stage) {
    const {places} = stage.accused;
    if (places.length)
        await goTo(stage, places[places.length - 1]);
    stage.source.revealRemark();
}

function mend(stage) {
    stage.sides[stage.side].cuts.clear();
    toSource(stage);
    rerun(stage);
}

const STEPS = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -Stage.LANES, ArrowDown: Stage.LANES};

// A lane is chosen by pointing at it, or by arrow keys in the warps; side by side, the same in both panes.
function chooseLanes(stage, warps) {
    const choose = (thread) => {
        if (!hasMoments(stage))
            return;
        const most = stage.sides[stage.side].model.launchAt(stage.moment).warps.length * Stage.LANES;
        stage.thread = Math.max(0, Math.min(most - 1, thread));
        drawMoment(stage);
    };
    warps.addEventListener("pointerover", ({target}) => {
        if (target.tagName === "I")
            choose([...warps.querySelectorAll("i")].indexOf(target));
    });
    warps.addEventListener("keydown", (event) => {
        if (!STEPS[event.key])
            return;
        event.preventDefault();
        choose(stage.thread === null ? 0 : stage.thread + STEPS[event.key]);
    });
}

function stopPlaying(stage) {
    clearInterval(stage.playing);
    stage.playing = null;
}

// Nothing moves in a run without moments.
function endTime(stage) {
    stopPlaying(stage);
    stage.time.show(0, 1, "no moments", "", false);
}

function play(stage) {
    if (stage.playing) {
        stopPlaying(stage);
        return drawMoment(stage);
    }
    if (stage.moment >= lastMoment(stage))
        stage.moment = 0;
    stage.playing = setInterval(() => {
        if (!hasMoments(stage) || stage.moment + 1 >= lastMoment(stage))
            stopPlaying(stage);
        seek(stage, stage.moment + 1);
    }, 1000 / stage.speed);
    drawMoment(stage);
}

function stopsOf(stage) {
    const others = isDouble(stage) && stage.beside ? stage.beside.model.stops : [];
    return [...stage.sides[stage.side].model.stops, ...others].sort((a, b) => a - b);
}

// What the time line asks for.
function act(stage, name, number) {
    if (!hasMoments(stage))
        return;
    if (name === "speed")
        changeSpeed(stage, number);
    else if (name === "play")
        play(stage);
    else {
        stopPlaying(stage);
        seek(stage, momentOf(stage, name, number));
    }
}

function changeSpeed(stage, speed) {
    stage.speed = speed;
    if (stage.playing) {
        stopPlaying(stage);
        play(stage);
    }
}

// The moment that a key or a button leads to; number: the share of the time line that was pointed at.
function momentOf(stage, name, number) {
    const {moment, length} = stage, stops = stopsOf(stage);
    switch (name) {
    case "step": return moment + 1;
    case "back": return moment - 1;
    case "begin": return 0;
    case "barrier": return stops.find((stop) => stop > moment) ?? lastMoment(stage);
    case "barrierBack": return stops.findLast((stop) => stop < moment) ?? 0;
    case "seek": return number * length - 0.5;
    default: return lastMoment(stage);
    }
}

// ---- The beginning

// The n with which a stage begins: one block's worth of the first steps; of later ones as much as shows what they are about.
function sizeToBegin(figure, program) {
    const [, ladder, step] = /^(step|scan)(\d+)$/.exec(program.name) || [], isScan = ladder === "scan";
    const wanted = +figure.dataset.n || (!isScan && step >= 7 ? 65536 : step >= (isScan ? 6 : 4) ? 4096 : 256);
    return program.sizes.includes(wanted) ? wanted : program.sizes[0];
}

// The stage takes the place of what stands there without JavaScript when it has something to show: so the page moves once
// at most. Print, and who wants it, find the still picture again.
function reveal(figure) {
    if (figure.classList.contains("st-is-live"))
        return;
    figure.classList.add("st-is-live");
    const still = [...figure.childNodes].slice(1), name = figure.querySelector("img, svg") ? "the still picture" : "the source as text";
    if (still.some((node) => node.nodeType === Node.ELEMENT_NODE))
        figure.append(element("details", {class: "st-still"}, element("summary", {}, name), ...still));
}

async function begin(figure) {
    const {program, before} = figure.dataset;
    const second = before && (await Stage.program(before).catch(() => null)); // one side is enough
    const programs = [await Stage.program(program), second].filter(Boolean);
    const own = makePane(""), other = makePane(" of what stands beside"), boxes = {...skeleton(), ...own.boxes};
    const stage = {figure, boxes, own, other, source: own.source, sides: programs.map(side), side: 0, n: sizeToBegin(figure, programs[0]), block: 0, order: null,
        moment: null, thread: null, playing: null, speed: 8, accused: NOBODY, beside: null, wantsDouble: false, error: "", noBlock: "", turn: 0};
    [own, other].forEach((pane) => chooseLanes(stage, pane.boxes.warps));
    boxes.columns.append(own.text, own.machine);
    stage.time = Stage.timeLine((name, number) => act(stage, name, number));
    boxes.look.hidden = !mayLookBack(programs[0]);
    figure.prepend(element("div", {class: "st-live"}, boxes.bar, boxes.state, boxes.columns, note(), stage.time.whole, boxes.findings, boxes.counters, boxes.look, boxes.said));
    await rerun(stage);
    if (!stage.sides[0].model)
        throw new Error(stage.error);
    redrawWhenChanged(stage);
    return stage;
}

// The canvas has no style of its own: it is drawn anew when its width or the page's colours change.
function redrawWhenChanged(stage) {
    const redraw = () => stage.sides[stage.side].model && drawTime(stage);
    let width = stage.figure.clientWidth;
    new ResizeObserver(() => {
        if (stage.figure.clientWidth !== width)
            layOut(stage);
        width = stage.figure.clientWidth;
        redraw();
    }).observe(stage.time.whole);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    new MutationObserver(redraw).observe(document.body, {attributes: true, attributeFilter: ["data-theme"]});
}

// Where a stage cannot be had, the picture stays, and a line says why.
function fail(figure, error) {
    figure.classList.add("st-has-failed");
    figure.append(failed("The stage", error));
}

const failed = (what, error) => element("p", {class: "st-failed"}, `${what} cannot be shown: ${error.message}`);

const stages = new WeakMap(); // of each figure that has begun, the promise of its stage

function stageOf(figure) {
    if (!stages.has(figure)) {
        stages.set(figure, begin(figure));
        stages.get(figure).catch((error) => fail(figure, error));
    }
    return stages.get(figure);
}

function whenSeen(figure) {
    const watch = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting))
            return;
        watch.disconnect();
        stageOf(figure);
    }, {rootMargin: "400px"});
    watch.observe(figure);
}

// For other scripts: brings a figure into view and runs the lesson's program there, with the Try of this number
// (0: as written), at n where that was recorded.
Stage.choose = async function (figure, {try: number = 0, n}) {
    figure.scrollIntoView();
    const stage = await stageOf(figure);
    stopPlaying(stage);
    stage.side = 0;
    stage.boxes.source.focus({preventScroll: true});
    await attempt(stage, number, n);
};

function start() {
    document.querySelectorAll("figure.stage").forEach(whenSeen);
    addEventListener("beforeprint", () => document.querySelectorAll(".st-still").forEach((still) => (still.open = true)));
}

if (document.readyState === "loading")
    document.addEventListener("DOMContentLoaded", start);
else
    start();
})();
