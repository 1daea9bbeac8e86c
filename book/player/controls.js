// controls.js: the controls around the figure: choices, time line, counters, findings.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element, grouped} = Player;

// ---- Choices

// Buttons of which one is pressed: [{value, text, title}].
Player.segment = function (label, choices, chosen, choose) {
    return element("span", {class: "pl-segment", role: "group", "aria-label": label},
        choices.map(({value, text, title}) => element("button", {
            type: "button", title, "aria-pressed": String(value === chosen), onclick: () => choose(value),
        }, text)));
};

// A labelled list: [[value, text]].
Player.choice = function (label, choices, chosen, choose, title) {
    const list = element("select", {"aria-label": label, title, onchange: () => choose(list.value)},
        choices.map(([value, text]) => element("option", {value, selected: String(value) === String(chosen)}, text)));
    return element("label", {}, element("span", {}, label), list);
};

// A labelled number, with the hint 0 to `max`; calls choose(number) with any whole number when the reader has finished typing.
Player.number = function (label, max, chosen, note, choose) {
    const done = () => {
        if (!isTyped(field))
            return;
        field.defaultValue = field.value;
        choose(Math.floor(+field.value) || 0);
    };
    const field = element("input", {type: "number", "aria-label": label, min: 0, max: max, value: chosen, onchange: done, onblur: done,
        onkeydown: ({key}) => key === "Enter" && done()});
    return element("label", {}, element("span", {}, label), field, element("span", {role: "status"}, note || `of 0–${grouped(max)}`));
};

// A labelled number from 1 to `max`, next to a list of suggestions.
Player.suggested = function (label, suggestions, chosen, max, choose) {
    const take = (number) => {
        field.value = field.defaultValue = Math.min(max, Math.max(1, Math.floor(number) || 1));
        choose(field.value);
    };
    const done = () => isTyped(field) && take(+field.value);
    const field = element("input", {type: "number", "aria-label": label, min: 1, max: max, value: chosen, title: `1 to ${grouped(max)}`,
        onchange: done, onblur: done, onkeydown: ({key}) => key === "Enter" && done()});
    const list = element("select", {"aria-label": `suggestions for ${label}`, onchange: () => take(+list.value)},
        element("option", {value: "", hidden: true}), suggestions.map((number) => element("option", {value: number}, grouped(number))));
    list.addEventListener("change", () => (list.value = ""));
    return element("span", {class: "pl-suggested"}, element("label", {}, element("span", {}, label), field), list);
};

// Whether a number is being typed and not chosen yet: the default value is the chosen one.
const isTyped = (field) => field.value !== field.defaultValue;

// Replaces the parts of a box, {name: part or nothing}, by name. Unchanged parts stay, so that a button can be pressed and a
// number typed during runs; the keyboard focus is kept.
Player.renew = function (box, parts) {
    const fields = (part) => [part, ...part.querySelectorAll("*")].filter((one) => one.matches("button, select, input"));
    const focused = [...box.children].find((part) => part.contains(document.activeElement));
    const index = focused ? fields(focused).indexOf(document.activeElement) : 0;
    const old = new Map([...box.children].map((part) => [part.dataset.name, part])), wanted = [];
    for (const [name, created] of Object.entries(parts).filter(([, part]) => part)) {
        created.dataset.name = name;
        wanted.push(reusable(old.get(name), created) || created);
    }
    [...box.children].filter((part) => !wanted.includes(part)).forEach((part) => part.remove());
    wanted.forEach((part, k) => part !== box.children[k] && box.insertBefore(part, box.children[k] || null));
    if (focused && !wanted.includes(focused)) {
        const now = wanted.find((part) => part.dataset.name === focused.dataset.name) || box;
        (fields(now)[index] || fields(now)[0]).focus({preventScroll: true});
    }
};

// The old part if it can be reused: it equals the new one and shows the same value, or a number is being typed in it.
function reusable(old, created) {
    const [was, is] = [old, created].map((part) => part && part.querySelector("input, select"));
    if (was && was.type === "number" && (isTyped(was) || (was === document.activeElement && was.value === is.value))) {
        Object.assign(was, {max: is.max, defaultValue: is.defaultValue});
        old.lastChild.replaceWith(created.lastChild);
        return old;
    }
    return old && old.isEqualNode(created) && (!was || was.value === is.value) ? old : null;
}

// ---- Time

const KEYS = {ArrowLeft: "previous", ArrowRight: "next", ArrowDown: "previous", ArrowUp: "next", PageDown: "barrier", PageUp: "barrierBack",
    Home: "begin", End: "end"};

const PLAY = "▶\ufe0e"; // as text, not as a coloured picture
const SPEEDS = [[2, "¼×"], [8, "1×"], [32, "4×"], [128, "16×"]]; // steps a second

function transport(act) {
    const button = (name, text, title) => element("button", {type: "button", title, "aria-label": title, onclick: () => act(name)}, text);
    const play = button("play", PLAY, "play (space)");
    const row = element("span", {class: "pl-segment", role: "group", "aria-label": "time"},
        button("begin", "|‹", "to the beginning (Home)"), button("barrierBack", "«", "to where the previous barrier was passed (Page Up)"),
        button("previous", "‹", "one step back (←)"), play,
        button("next", "›", "one step forward (→)"),
        button("barrier", "»", "to where the next barrier is passed (Page Down)"));
    return {row, play};
}

// The slider: an overview of this side's run above, the other's below, on one scale.
function track(act) {
    const own = element("canvas"), other = element("canvas"), head = element("span", {class: "pl-head"});
    const names = [element("span", {class: "pl-name"}), element("span", {class: "pl-name"})];
    const slider = element("div", {class: "pl-track", role: "slider", tabindex: 0, "aria-label": "step of the run",
        "aria-valuemin": 0, "aria-valuemax": 0, "aria-valuenow": 0}, own, other, head);
    const seek = (event) => {
        const box = slider.getBoundingClientRect();
        act("seek", (event.clientX - box.left) / box.width);
    };
    slider.addEventListener("pointerdown", (event) => {
        slider.setPointerCapture(event.pointerId);
        seek(event);
    });
    slider.addEventListener("pointermove", (event) => event.buttons && seek(event));
    const line = {own, other, head, names, slider, box: element("div", {class: "pl-runs"}, element("div", {class: "pl-names"}, names), slider)};
    new ResizeObserver(() => (line.width = slider.clientWidth)).observe(slider); // to ask for it after a change would need a layout
    return line;
}

// Parts of the figure that use these keys themselves.
const OWN_KEYS = "select, input, textarea, summary, .pl-source, .pl-ptx, .pl-tiles";

// Handles a key anywhere in the figure; the space bar plays unless a button has the focus.
function pressed(event, act) {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented && !event.target.closest(OWN_KEYS);
    const name = isPlain && (KEYS[event.key] || (event.key === " " && event.target.tagName !== "BUTTON" && "play"));
    if (name) {
        event.preventDefault();
        act(name);
    }
}

// Draws both runs; length: the steps that fill the width, last: the last step that can be chosen.
function drawRuns(line, models, titles, length, last) {
    const {own, other, names, slider} = line;
    const wide = line.width || slider.clientWidth;
    [own, other].forEach((canvas, k) => {
        canvas.hidden = !models[k];
        names[k].textContent = models[k] ? titles[k] : "";
        if (models[k])
            Player.drawSmall(canvas, wide, models[k], length);
        names[k].style.minHeight = canvas.hidden ? "0" : canvas.style.height;
    });
    slider.setAttribute("aria-valuemax", last);
}

const placeOf = (step, length) => `${((step + 0.5) / length) * 100}%`;

// Marks the steps of a finding's accesses.
function markSteps({slider}, steps, length) {
    slider.querySelectorAll(".pl-mark").forEach((mark) => mark.remove());
    slider.append(...steps.map((step) => element("span", {class: "pl-mark", style: `left: ${placeOf(step, length)}`})));
}

// The time line. act(name, number): "play", "next", "previous", "barrier", "barrierBack", "begin", "end", "seek", "speed".
Player.timeLine = function (act) {
    const {row, play} = transport(act), line = track(act), {slider, head} = line, where = element("span", {class: "pl-where",
        title: "A step is one instruction of each warp, or in executed order of one warp. A barrier is passed when all warps of the block have arrived."});
    const speed = Player.choice("speed", SPEEDS, 8, (value) => act("speed", +value));
    const whole = element("div", {class: "pl-time"}, element("div", {class: "pl-bar"}, row, speed, where), line.box);
    return {
        whole,
        pressed: (event) => pressed(event, act),
        draw: (...runs) => drawRuns(line, ...runs),
        mark: (steps, length) => markSteps(line, steps, length),
        show(step, length, text, words, isPlaying) {
            head.style.left = placeOf(step, length);
            where.textContent = text;
            slider.setAttribute("aria-valuenow", step);
            slider.setAttribute("aria-valuetext", `${text}. ${words}`);
            play.textContent = isPlaying ? "❚❚" : PLAY;
            play.title = isPlaying ? "pause (space)" : "play (space)";
            play.setAttribute("aria-label", play.title);
        },
    };
};

// ---- Counters

const NAMES = {
    warp_instructions: "instructions", shared_loads: "shared loads", shared_stores: "shared stores",
    bank_conflicts: "bank conflicts", global_load_requests: "load requests", global_load_sectors: "load sectors",
    global_store_requests: "store requests", global_store_sectors: "store sectors", atomics: "atomics",
    shuffles: "shuffles", block_barriers: "barrier waits", warp_barriers: "warp barriers",
};
// Nsight Compute's names for the same counts (simulator/counters.md says what was compared).
const METRICS = {
    warp_instructions: "smsp__inst_executed.sum, which counts SASS and not PTX",
    shared_loads: "smsp__sass_inst_executed_op_shared_ld.sum", shared_stores: "smsp__sass_inst_executed_op_shared_st.sum",
    bank_conflicts: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    global_load_requests: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", global_load_sectors: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    global_store_requests: "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", global_store_sectors: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    atomics: "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum and …_op_red.sum, in device memory",
    shuffles: "sass__inst_executed_per_opcode: SHFL", block_barriers: "sass__inst_executed_per_opcode: BAR",
    warp_barriers: "sass__inst_executed_per_opcode: WARPSYNC",
};
// Shows counters that are not 0 in one of the programs, and always the bank conflicts.
const isShown = (name, whole, other) => name === "bank_conflicts" || whole[name] > 0 || (other && other[name] > 0);

// Colours fewer as good and more as bad, but only if the run is right.
function compared(now, before, label, isRight) {
    const sign = now < before ? "fewer" : now > before ? "more" : "same";
    const mark = {fewer: "▾", more: "▴", same: "="}[sign];
    return element("span", {class: "pl-" + (isRight ? sign : "same"), title: `compared with ${label}: ${grouped(before)} in all blocks`}, `${mark} ${label} ${grouped(before)}`);
}

// The number of columns that makes the rows of cells equally long.
const columns = (cells, max) => Math.ceil(cells / Math.ceil(cells / max));

// A counter's value up to a step, of its total.
function counting(model, name, label) {
    const number = element("b");
    const all = model.isCut ? "" : ` of ${grouped(model.counts[name][model.length])}`;
    return {box: element("span", {class: "pl-now", title: "this block: up to this step, of its total"}, label && [element("span", {class: "pl-of"}, label), " "], number, all),
        show: (step) => (number.textContent = grouped(model.counts[name][Math.min(step + 1, model.length)]))};
}

// What the numbers of a cell mean, and a button that shows the metrics' names.
function howToRead(box, other) {
    const button = element("button", {type: "button", class: "pl-toggle", "aria-pressed": String(box.classList.contains("pl-named")),
        onclick: () => button.setAttribute("aria-pressed", String(box.classList.toggle("pl-named")))}, "names in Nsight Compute");
    return element("p", {class: "pl-how"}, "Bold: this block's count up to the step, of its total. All blocks: of the whole run. "
        + (other ? `▾ fewer, ▴ more, = equal, compared with ${other.label === "as written" ? "the text as written" : other.label}. ` : ""), button);
}

// Builds the counter cells of a run; the returned function updates them at each step. other: {one, short, label} or
// null; label: the name of this run if the other's numbers are shown next to its own, or false.
Player.counters = function (box, model, other, isRight, label) {
    const shown = Player.COUNTED.filter((name) => isShown(name, model.whole, other && other.one.model.whole));
    const numbers = shown.map((name) => [counting(model, name, label), ...(label && other ? [counting(other.one.model, name, other.label)] : [])]);
    box.style.setProperty("--pl-columns", columns(shown.length, 6));
    box.style.setProperty("--pl-fewer-columns", columns(shown.length, 4));
    box.replaceChildren(...shown.map((name, k) => element("div", {},
        element("span", {class: "pl-name", title: `in Nsight Compute: ${METRICS[name]}`}, NAMES[name]),
        element("code", {class: "pl-metric"}, METRICS[name]),
        numbers[k].map((number) => number.box),
        element("span", {class: "pl-whole", title: "the simulator's count for all blocks and launches"}, `all blocks ${grouped(model.whole[name])}`),
        other && compared(model.whole[name], other.one.model.whole[name], other.short, isRight))), howToRead(box, other));
    return (step) => numbers.flat().forEach((number) => number.show(step));
};

// ---- Results

const SHOWN_ELEMENTS = 4, MOST_RESULTS = 32; // of a long array, and of one that is shown in full
const MOST_PRINTED = 20; // lines
const UNINITIALISED = 0xffffffff; // the simulator's fill pattern: a NaN that arithmetic does not produce

// The value of four bytes that a program copied to the host: a whole number unless both values are plausible floats.
function value({float, int}, beside) {
    const asFloat = (number) => number === 0 || Number.isNaN(number) || Math.abs(number) > 1e-30;
    if (!asFloat(float) || !asFloat(beside.float))
        return String(int);
    return int === UNINITIALISED ? "an uninitialised value" : String(float);
}

const counted = (number, what) => (number ? `${number} ${what}${number === 1 ? "" : "s"}` : "");

// Whether the result is an array, and not a sum.
const isArray = ({bytes}) => bytes > 4;

// The first result that differs, or "". A reader's own program has no known right result: its results are compared with those
// of the recorded run.
function difference(result, program) {
    const wrong = (result.checks || []).find((check) => !check.equal && check.got);
    if (!wrong)
        return result.status === 1 ? "wrong" : "";
    const got = value(wrong.got, wrong.expected), expected = value(wrong.expected, wrong.got);
    if (program.isOwn)
        return `the result differs from the recorded run: ${got}, not ${expected}`;
    return `wrong: ${isArray(wrong) ? `element ${wrong.at / 4} is ` : ""}${got}, expected ${expected}`;
}

// Why a run ended early. A removed statement may be in a kernel that is not launched at this n.
function reason({output}) {
    const absent = /'\D?(\d+)[^']*' names no line/.exec(output);
    return absent ? `line ${absent[1]} does not run at this n; choose another n` : "the run ended early: " + (output || "").trim().split("\n").pop();
}

// The result of a lesson's program: "the sum is 14.4375", or the elements of an array, of a long one the first; "" if it is not known.
function resultOf({result, program}) {
    const [check] = result.checks || [], {results = []} = result;
    if (program.isOwn || !check || !results.length)
        return "";
    if (!isArray(check))
        return `the sum is ${value(results[0], check.expected)}`;
    const count = check.bytes / 4, shown = results.slice(0, count > MOST_RESULTS ? SHOWN_ELEMENTS : count);
    return shown.map((each) => value(each, each)).join(", ") + (shown.length < count ? ", …" : "");
}

// The verdict on a side's run with n elements: {isRight, text}. onlyAt: another n, if the removed statement has no effect at this one, or 0.
Player.verdict = function (one, n, onlyAt) {
    const {result, program} = one, at = ` at n = ${grouped(n)}`, known = resultOf(one);
    if (result.status === 0)
        return {isRight: true, text: onlyAt ? `✓ right${at}` : program.isOwn ? "✓ no findings" : `✓ right${at}${known && `: ${known}`}, no findings`};
    const found = counted((result.findings || []).length, "finding"), differs = difference(result, program);
    const isCompared = !program.isOwn && (result.checks || []).length > 0; // after a failed launch nothing is compared
    const both = [differs || (found && isCompared ? `right this time${known && `: ${known}`}` : ""), found].filter(Boolean).join(", ");
    return {isRight: false, text: "✗ " + (both || reason(result))};
};

// What the kernels printed, the first lines of it; nothing if they printed nothing.
Player.printed = function (text) {
    const lines = text ? text.replace(/\n$/, "").split("\n") : [], isCut = lines.length > MOST_PRINTED;
    return lines.length ? [element("p", {}, `The kernel printed${isCut ? ` (the first ${MOST_PRINTED} of ${grouped(lines.length)} lines)` : ""}:`),
        element("pre", {class: "pl-printed"}, lines.slice(0, MOST_PRINTED).join("\n"))] : [];
};

const KINDS = {
    "race-shared": "data race in shared memory", "race-global": "data race in global memory", "race-operations": "data race between unordered operations",
    "out-of-bounds": "out-of-bounds access", misaligned: "misaligned address", "use-after-free": "use after free", "invalid-free": "invalid free",
    leak: "memory leak", uninitialised: "uninitialised read", barrier: "barrier divergence", lanes: "invalid warp-level operation",
    mbarrier: "invalid mbarrier operation", "kernel-fault": "kernel fault", "unchecked-error": "unchecked CUDA error",
};

const kindOf = (finding) => finding.name || KINDS[finding.kind] || finding.kind.replace(/-/g, " ");
const threadOf = ({thread}) => `thread ${thread[0]}${thread[1] || thread[2] ? `,${thread[1]},${thread[2]}` : ""}`;

// An access in words: "writes 4 bytes", of "writes 4 bytes of shared memory" or "4-byte write".
function accessWords({access}) {
    const [, bytes, what] = /^(\d+)-byte (read|write)/.exec(access) || [];
    return bytes ? `${what}s ${bytes} bytes` : access.replace(/ of \w+ memory$/, "");
}

// A finding in one sentence, for the source: "data race in shared memory: thread 128 writes 4 bytes (line 19), …".
Player.inShort = function (finding, launches = 1) {
    const areApart = new Set(finding.places.map(({block}) => block[0])).size > 1;
    const actor = (place) => (place.kernel ? threadOf(place) + (areApart ? ` of block ${place.block[0]} ` : " ") : "");
    const accesses = finding.places.map((place) => `${actor(place)}${accessWords(place)} (line ${place.line})`);
    return `${kindOf(finding)}${inLaunch(finding.places[0], launches)}: ${finding.element ? `${finding.element}, ` : ""}${accesses.join(", ")}`;
};

// Named only if the run has several.
const inLaunch = (place, launches) => (place && place.launch && launches > 1 ? ` in launch ${place.launch}` : "");

function placeItem(place, launches, go) {
    const actor = place.kernel ? `${threadOf(place)} of block ${place.block[0]}${inLaunch(place, launches)}: ` : "";
    return element("li", {}, element("button", {type: "button", title: "show this step", onclick: () => go(place)}, `line ${place.line}`),
        ` ${actor}`, element("em", {}, place.access), element("code", {}, place.text));
}

// Shows the findings of a run with this number of launches below the figure; go(place) is called when the reader chooses an access.
Player.findings = function (box, findings, launches, go) {
    box.hidden = findings.length === 0;
    box.replaceChildren(...findings.map((finding) => element("div", {class: "pl-finding"},
        element("p", {}, element("strong", {}, kindOf(finding)), `: ${finding.title}`),
        element("ul", {}, finding.places.map((place) => placeItem(place, launches, go))),
        finding.hint && element("p", {class: "pl-hint"}, finding.hint),
        finding.count > 1 && element("p", {class: "pl-hint"}, `${grouped(finding.count)} occurrences; the first is shown`))));
};
})();
