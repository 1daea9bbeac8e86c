// controls.js: what the reader moves and reads around the picture: choices, time, counters, findings.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element} = Player;

// ---- Choices

// Buttons of which one is pressed: [{value, text, title}].
Player.segment = function (label, choices, chosen, choose) {
    return element("span", {class: "pl-segment", role: "group", "aria-label": label},
        choices.map(({value, text, title}) => element("button", {
            type: "button", title, "aria-pressed": String(value === chosen), onclick: () => choose(value),
        }, text)));
};

// A labelled list: [[value, text]].
Player.choice = function (label, choices, chosen, choose) {
    const list = element("select", {"aria-label": label, onchange: () => choose(list.value)},
        choices.map(([value, text]) => element("option", {value, selected: String(value) === String(chosen)}, text)));
    return element("label", {}, element("span", {}, label), list);
};

// A labelled number, said to be from 0 to `most`; choose(wanted) is told any whole number, once the reader is done with it.
Player.number = function (label, most, chosen, note, choose) {
    const done = () => {
        if (!isTyped(field))
            return;
        field.defaultValue = field.value;
        choose(Math.floor(+field.value) || 0);
    };
    const field = element("input", {type: "number", "aria-label": label, min: 0, max: most, value: chosen, onchange: done, onblur: done,
        onkeydown: ({key}) => key === "Enter" && done()});
    return element("label", {}, element("span", {}, label), field, element("span", {role: "status"}, note || `of 0–${grouped(most)}`));
};

// Whether a number is being typed and not chosen yet: the default value is what is chosen.
const isTyped = (field) => field.value !== field.defaultValue;

// Puts parts into a box, {name: part or nothing}, each in the place of the one of that name. One that is what it was stays,
// so that a button can be pressed and a number typed while runs come and go; who used the keyboard goes on where they were.
Player.renew = function (box, parts) {
    const fields = (part) => [part, ...part.querySelectorAll("*")].filter((one) => one.matches("button, select, input"));
    const focused = [...box.children].find((part) => part.contains(document.activeElement));
    const index = focused ? fields(focused).indexOf(document.activeElement) : 0;
    const old = new Map([...box.children].map((part) => [part.dataset.name, part])), wanted = [];
    for (const [name, made] of Object.entries(parts).filter(([, part]) => part)) {
        made.dataset.name = name;
        wanted.push(kept(old.get(name), made) || made);
    }
    [...box.children].filter((part) => !wanted.includes(part)).forEach((part) => part.remove());
    wanted.forEach((part, k) => part !== box.children[k] && box.insertBefore(part, box.children[k] || null));
    if (focused && !wanted.includes(focused)) {
        const now = wanted.find((part) => part.dataset.name === focused.dataset.name) || box;
        (fields(now)[index] || fields(now)[0]).focus({preventScroll: true});
    }
};

// The old part where it may stay: it looks like the new one and shows the same value, or a number is, or is going to be,
// typed in it.
function kept(old, made) {
    const [was, is] = [old, made].map((part) => part && part.querySelector("input, select"));
    if (was && was.type === "number" && (isTyped(was) || (was === document.activeElement && was.value === is.value))) {
        Object.assign(was, {max: is.max, defaultValue: is.defaultValue});
        old.lastChild.replaceWith(made.lastChild);
        return old;
    }
    return old && old.isEqualNode(made) && (!was || was.value === is.value) ? old : null;
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
        button("begin", "|‹", "to the beginning (Home)"), button("barrierBack", "«", "to where the barrier before opened (Page Up)"),
        button("previous", "‹", "one instruction back (←)"), play, button("next", "›", "one instruction on (→)"),
        button("barrier", "»", "to where the next barrier opens (Page Down)"));
    return {row, play};
}

// The slider's picture: the run of this side above, the other below, on one scale.
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
    return {own, other, head, names, slider, box: element("div", {class: "pl-runs"}, element("div", {class: "pl-names"}, names), slider)};
}

// What a key does anywhere on the time line; the space bar plays where no button wants it.
function pressed(event, slider, act) {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && event.target.tagName !== "SELECT";
    const name = isPlain && (KEYS[event.key] || (event.key === " " && event.target === slider && "play"));
    if (name) {
        event.preventDefault();
        act(name);
    }
}

// Draws both runs; length: steps that the width stands for, last: the last that can be chosen.
function drawRuns({own, other, names, slider}, models, titles, length, last) {
    [own, other].forEach((canvas, k) => {
        canvas.hidden = !models[k];
        names[k].textContent = models[k] ? titles[k] : "";
        if (models[k])
            Player.drawSmall(canvas, models[k], length);
        names[k].style.minHeight = canvas.hidden ? "0" : canvas.style.height;
    });
    slider.setAttribute("aria-valuemax", last);
}

const placeOf = (step, length) => `${((step + 0.5) / length) * 100}%`;

// Marks steps: where the threads of a finding met.
function markMoments({slider}, steps, length) {
    slider.querySelectorAll(".pl-mark").forEach((mark) => mark.remove());
    slider.append(...steps.map((step) => element("span", {class: "pl-mark", style: `left: ${placeOf(step, length)}`})));
}

// The time line. act(name, number): "play", "step", "back", "barrier", "barrierBack", "begin", "end", "seek", "speed".
Player.timeLine = function (act) {
    const {row, play} = transport(act), line = track(act), {slider, head} = line, where = element("span", {class: "pl-where"});
    const speed = Player.choice("speed", SPEEDS, 8, (value) => act("speed", +value));
    const whole = element("div", {class: "pl-time"}, element("div", {class: "pl-bar"}, row, speed, where), line.box);
    whole.addEventListener("keydown", (event) => pressed(event, slider, act));
    return {
        whole,
        draw: (...runs) => drawRuns(line, ...runs),
        mark: (steps, length) => markMoments(line, steps, length),
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
const grouped = (number) => Math.round(number).toLocaleString("en-US");

// Only what the program or the one beside it counts at all; conflicts always, for that there are none is news.
const isShown = (name, whole, other) => name === "bank_conflicts" || whole[name] > 0 || (other && other[name] > 0);

// Fewer is good, more is bad: only of a run that is right.
function compared(now, before, label, isRight) {
    const sign = now < before ? "fewer" : now > before ? "more" : "same";
    const mark = {fewer: "▾", more: "▴", same: "="}[sign];
    return element("span", {class: "pl-" + (isRight ? sign : "same"), title: `${label}, all blocks: ${grouped(before)}`}, `${mark} ${label} ${grouped(before)}`);
}

// In how many columns so many cells stand, so that the rows are as long as each other.
const columns = (cells, most) => Math.ceil(cells / Math.ceil(cells / most));

// How much of a counter there is up to a step, of so much in all.
function counting(model, name, label) {
    const number = element("b");
    const all = model.isCut ? "" : ` of ${grouped(model.counts[name][model.length])}`;
    return {box: element("span", {class: "pl-now"}, label && [element("span", {class: "pl-of"}, label), " "], number, all),
        show: (step) => (number.textContent = grouped(model.counts[name][Math.min(step + 1, model.length)]))};
}

// The cells, made anew for each run; tick(step) changes their numbers. other: {model, whole, short, label} or null;
// label: how this run is called where the other's numbers tick beside its own, or false.
Player.counters = function (box, model, other, isRight, label) {
    const shown = Player.COUNTED.filter((name) => isShown(name, model.whole, other && other.whole));
    const numbers = shown.map((name) => [counting(model, name, label), ...(label && other ? [counting(other.model, name, other.label)] : [])]);
    box.style.setProperty("--pl-columns", columns(shown.length, 6));
    box.style.setProperty("--pl-fewer-columns", columns(shown.length, 4));
    box.replaceChildren(...shown.map((name, k) => element("div", {},
        element("span", {class: "pl-name"}, NAMES[name]),
        numbers[k].map((number) => number.box),
        element("span", {class: "pl-whole"}, `all blocks ${grouped(model.whole[name])}`),
        other && compared(model.whole[name], other.whole[name], other.short, isRight))));
    return (step) => numbers.flat().forEach((number) => number.show(step));
};

// ---- What the run came to

const UNWRITTEN = 0xffffffff; // fresh memory: as a float a NaN, but none that arithmetic makes

// The value of four bytes that a program copied to the host: a float that is no float is taken as a whole number.
function value({float, int}, beside) {
    const asFloat = (number) => number === 0 || Number.isNaN(number) || Math.abs(number) > 1e-30;
    if (!asFloat(float) || !asFloat(beside.float))
        return String(int);
    return int === UNWRITTEN ? "a value that nobody wrote" : String(float);
}

const counted = (number, what) => (number ? `${number} ${what}${number === 1 ? "" : "s"}` : "");

// What came of it: the first result that differs, or "". A scan's check counts wrong elements. Of a reader's own program
// nobody knows what is right: its results stand beside those that it had when it was recorded.
function difference(result, program) {
    const wrong = (result.checks || []).find((check) => !check.equal && check.got);
    if (!wrong)
        return result.status === 1 ? "wrong" : "";
    const got = value(wrong.got, wrong.expected), expected = value(wrong.expected, wrong.got);
    if (program.isOwn)
        return `another result than before: ${got}, not ${expected}`;
    return program.name.startsWith("scan") ? `wrong: ${counted(+got, "element")}` : `wrong: ${got}, expected ${expected}`;
}

// Why a run ended early. What is left out may stand in a kernel that is not launched at this n.
function reason({output}) {
    const absent = /'\D?(\d+)[^']*' names no line/.exec(output);
    return absent ? `line ${absent[1]} is not run at this n; choose another n` : "the run ended early: " + (output || "").trim().split("\n").pop();
}

// In a few words whether the run is right: {isRight, text}. onlyAt: the n that cannot tell what was left out, or 0.
Player.verdict = function (result, program, onlyAt) {
    if (result.status === 0)
        return {isRight: true, text: onlyAt ? `✓ right at n = ${grouped(onlyAt)}` : program.isOwn ? "✓ no findings" : "✓ right, no findings"};
    const found = counted((result.findings || []).length, "finding"), differs = difference(result, program);
    const isCompared = !program.isOwn && (result.checks || []).length > 0; // behind a launch that failed nothing is
    const both = [differs || (found && isCompared ? "right this time" : ""), found].filter(Boolean).join(", ");
    return {isRight: false, text: "✗ " + (both || reason(result))};
};

const KINDS = {"race-shared": "race in shared memory", "race-global": "race in global memory"};

const kindOf = (finding) => KINDS[finding.kind] || finding.kind.replace(/-/g, " ");
const threadOf = ({thread}) => `thread ${thread[0]}${thread[1] || thread[2] ? `,${thread[1]},${thread[2]}` : ""}`;

// A finding in one sentence, to stand in the source: "race in shared memory: thread 128 writes 4 bytes (line 19), …".
Player.inShort = function (finding) {
    const areApart = new Set(finding.places.map(({block}) => block[0])).size > 1;
    const who = (place) => (place.kernel ? threadOf(place) + (areApart ? ` of block ${place.block[0]} ` : " ") : "");
    const told = finding.places.map((place) => `${who(place)}${place.access.replace(/ of \w+ memory$/, "")} (line ${place.line})`);
    return `${kindOf(finding)}: ${told.join(", ")}`;
};

function placeItem(place, go) {
    const who = place.kernel ? `${threadOf(place)} of block ${place.block[0]} ` : "";
    return element("li", {}, element("button", {type: "button", title: "show this step", onclick: () => go(place)}, `line ${place.line}`),
        ` ${who}`, element("em", {}, place.access), element("code", {}, place.text));
}

// The findings of a run below the picture; go(place) is called where the reader wants to see one.
Player.findings = function (box, findings, go) {
    box.hidden = findings.length === 0;
    box.replaceChildren(...findings.map((finding) => element("div", {class: "pl-finding"},
        element("p", {}, element("strong", {}, kindOf(finding)), `: ${finding.title}`),
        element("ul", {}, finding.places.map((place) => placeItem(place, go))),
        finding.hint && element("p", {class: "pl-hint"}, finding.hint),
        finding.count > 1 && element("p", {class: "pl-hint"}, `found ${grouped(finding.count)} times; this is the first`))));
};
})();
