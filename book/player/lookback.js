// lookback.js: shows the scan's decoupled look-back: tiles that publish a total, then a prefix, and which tiles poll which. The
// figure is made from a run with interleaved blocks, whose trace has all blocks' accesses to device memory.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element} = Player;
const WORD_BYTES = 8, SPACING = 66, WIDTH = 56, HEIGHT = 30; // pixels of a tile
const HOLDS = ["nothing", "a total", "a prefix"];
const NOTHING = {held: 0, sums: []};

// ---- Events in the trace

const isPublish = (row) => /^st\.(relaxed|release|volatile|mmio)/.test(row.opcode) && row.bytes === WORD_BYTES;
const isPoll = (row) => /^ld\.(relaxed|acquire|volatile|mmio)/.test(row.opcode) && row.bytes === WORD_BYTES;

const tilesOf = (row, first) => Player.accesses(row).map(({address}) => address / WORD_BYTES - first);

// The float that a lane published or read: the lower half of its word.
function sumOf(row, lane) {
    const view = new DataView(new ArrayBuffer(4));
    view.setUint32(0, Number(BigInt("0x" + (row.values.split(";")[lane] || "0")) & 0xffffffffn));
    return view.getFloat32(0);
}

const short = (sum) => String(+sum.toPrecision(5)).replace("-", "−");

// The events of the tiles, in order: [{tile, published: 1 (a total) or 2 (a prefix), sum} or {tile, looks: [{tile, held}]}], and
// the number of tiles; null if no block polls. A block publishes its own tile. A block that publishes once publishes a prefix
// if blocks poll only the tile before theirs, else a total.
Player.looksBack = function (rows) {
    const polled = new Set(rows.filter(isPoll).map((row) => row.memory)), publishes = rows.filter((row) => polled.has(row.memory) && isPublish(row));
    const words = publishes.flatMap((row) => tilesOf(row, 0)), first = Math.min(...words), tiles = Math.max(...words) - first + 1;
    const tileOf = new Map([...publishes].reverse().map((row) => [row.block, tilesOf(row, first)[0]]));
    const isChain = rows.every((row) => !isPoll(row) || tilesOf(row, first).every((tile) => tile === tileOf.get(row.block) - 1));
    const known = isChain && new Set(words).size === words.length ? 1 : 0, held = new Map(), events = [];
    for (const row of rows.filter((one) => polled.has(one.memory) && tileOf.has(one.block))) {
        const tile = tileOf.get(row.block);
        if (isPublish(row)) {
            held.set(tile, Math.min(2, (held.get(tile) || known) + 1));
            events.push({tile, published: held.get(tile), sum: sumOf(row, 0)});
        } else if (isPoll(row)) {
            const looks = tilesOf(row, first).filter((one) => one >= 0 && one < tiles).map((one) => ({tile: one, held: held.get(one) || 0}));
            const event = {tile, looks}, previous = events[events.length - 1];
            if (looks.length && JSON.stringify(previous) !== JSON.stringify(event)) // a waiting block polls repeatedly
                events.push(event);
        }
    }
    return events.some((event) => event.looks) ? {events, tiles} : null;
};

// What each tile has published up to a time: {held, sums: [[1 or 2, its sum]]}.
function statesAt(events, at) {
    const states = new Map();
    for (const {tile, published, sum} of events.slice(0, at + 1))
        if (published)
            states.set(tile, {held: published, sums: [...(states.get(tile) || NOTHING).sums, [published, sum]]});
    return states;
}

const publishedBy = ({sums}) => sums.map(([held, sum]) => `${HOLDS[held]}, ${short(sum)}`).join(", and then ") || HOLDS[0];

const list = (looks, held) => Player.ranges(looks.filter((one) => one.held === held).map(({tile}) => tile).sort((a, b) => a - b));

function inWords({tile, published, sum, looks}) {
    if (published)
        return `tile ${tile} publishes ${HOLDS[published]}: ${short(sum)}`;
    const seen = [2, 1, 0].filter((held) => looks.some((look) => look.held === held));
    return `tile ${tile} looks back: ` + seen.map((held) => `${HOLDS[held]} in ${list(looks, held)}`).join(", ");
}

// ---- The figure

const draw = (name, attributes, ...children) => {
    const created = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => created.setAttribute(key, value));
    created.append(...children);
    return created;
};

const middle = (tile) => tile * SPACING + SPACING / 2;

const height = (distance) => 14 + 7 * Math.min(distance, 12);

function arc(from, {tile, held}, isNow, base) {
    const high = height(Math.abs(from - tile));
    const name = `pl-arc pl-holds-${held}` + (isNow ? " pl-arc-now" : "");
    const path = draw("path", {d: `M${middle(from)} ${base} Q${middle((from + tile) / 2)} ${base - 2 * high} ${middle(tile)} ${base}`, class: name});
    return isNow ? [path, arrowhead(middle(tile), base, Math.atan2(2 * high, middle(tile) - middle((from + tile) / 2)), name)] : [path];
}

// The head of an arrow that ends at x, y with this angle.
const arrowhead = (x, y, angle, name) => draw("path", {d: "M0 0 L-9 -4.5 L-9 4.5 Z", class: name.replace("pl-arc ", "pl-arrow "),
    transform: `translate(${x} ${y}) rotate(${(angle * 180) / Math.PI})`});

// A tile, with the last sum that it published. Calls describe(text) when the pointer enters the tile or it is focused.
function tileBox(tile, state, isActing, top, describe) {
    const {held, sums} = state, x = middle(tile) - WIDTH / 2, text = `tile ${tile} has published ${publishedBy(state)}`;
    const box = draw("g", {tabindex: 0, role: "img", "aria-label": text},
        draw("rect", {x, y: top, width: WIDTH, height: HEIGHT, rx: 5, class: `pl-holds-${held}` + (isActing ? " pl-acting" : "")}),
        draw("text", {x: middle(tile), y: top + 20, class: "pl-sum"}, held ? short(sums[sums.length - 1][1]) : ""),
        draw("text", {x: middle(tile), y: top + HEIGHT + 15}, String(tile)));
    ["focus", "pointerenter"].forEach((name) => box.addEventListener(name, () => describe(text)));
    return box;
}

function figure({events, tiles}, at, describe) {
    const event = events[at], states = statesAt(events, at), top = height(tiles - 1) + 8;
    const svg = draw("svg", {viewBox: `0 0 ${tiles * SPACING} ${top + HEIGHT + 20}`, role: "group", "aria-label": inWords(event)});
    svg.style.maxWidth = `${tiles * SPACING * 1.25}px`;
    svg.style.minWidth = `${tiles * SPACING * 0.85}px`; // keeps the sums legible; the box scrolls
    for (const {tile, looks} of events.slice(0, at))
        svg.append(...(looks || []).flatMap((look) => arc(tile, look, false, top - 4)));
    svg.append(...(event.looks || []).flatMap((look) => arc(event.tile, look, true, top - 4)));
    for (let tile = 0; tile < tiles; tile++)
        svg.append(tileBox(tile, states.get(tile) || NOTHING, tile === event.tile, top, describe));
    return svg;
}

// ---- The panel

// Scrolls the figure, if it is wider than its box, to the tile that acts.
function followActing(place) {
    const tile = place.querySelector(".pl-acting").getBoundingClientRect(), {left, right} = place.getBoundingClientRect();
    place.scrollLeft += Math.max(0, tile.right - right + 4) + Math.min(0, tile.left - left - 4);
}

// Shows the look-back found at n in `box`, with its own time line; name: whose run it is, such as "Try 1".
Player.showLookBack = function (box, found, n, name) {
    const place = element("div", {class: "pl-tiles"}), words = element("span", {class: "pl-where"});
    const range = element("input", {type: "range", min: 0, max: found.events.length - 1, value: 0, "aria-label": "time of the look-back",
        oninput: () => show()});
    const move = (by) => () => {
        range.value = +range.value + by;
        show();
    };
    const button = (text, title, by) => element("button", {type: "button", title, "aria-label": title, onclick: move(by)}, text);
    function show() {
        place.replaceChildren(figure(found, +range.value, (text) => (words.textContent = text)));
        followActing(place);
        words.textContent = inWords(found.events[+range.value]);
        range.setAttribute("aria-valuetext", words.textContent);
    }
    const swatch = (held) => element("span", {}, element("i", {class: `pl-holds-${held}`}), HOLDS[held]);
    box.replaceChildren(element("p", {class: "pl-heading"}, `The tiles of all blocks at n = ${Player.grouped(n)}, ${name}: the sum that each has published, and which tiles each polls`), place,
        element("p", {class: "pl-legend"}, [0, 1, 2].map(swatch)), element("div", {class: "pl-bar"}, element("span", {class: "pl-segment"},
            button("‹", "one event back", -1), button("›", "one event on", 1)), range, words));
    range.value = found.events.findLastIndex((event) => event.looks); // the last poll ends all waiting
    show();
};

Player.mayLookBack = (program) => /look_?back|wait_for/i.test(program.source.text);

// For programs with look-back: traces a run of a side's text at the largest n, with all blocks interleaved. It runs once for each
// text, and only when no other run is pending, because it takes longer than the others.
Player.lookBack = async function (player, one, request) {
    const {look} = player.boxes, {program} = one, n = Math.max(...Player.sizesOf(one)), key = `${program.name} ${one.base} ${one.text}`;
    if (player.looked === key || one.isStale)
        return;
    player.looked = key;
    look.hidden = !Player.mayLookBack(program);
    look.yields = true;
    if (look.hidden)
        return;
    try {
        const result = await Player.run(look, program, {...request, n, together: true, check: false});
        if (player.looked !== key)
            return;
        if (!result) {
            player.looked = ""; // it was stopped; the next run tries again
            return;
        }
        const found = result && Player.looksBack(Player.rows(result.trace));
        look.hidden = !found;
        if (found)
            Player.showLookBack(look, found, n, Player.isChanged(one) ? Player.nameOf(one) : "as written");
    } catch (error) {
        if (player.looked === key)
            look.replaceChildren(Player.failed("The tiles", error));
    }
};
})();
