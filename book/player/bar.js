// bar.js: the choices above the figure: program, comparison, n, block, order, Try.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element} = Player;
const MAX_ELEMENTS = 1 << 20; // a larger input takes longer than readers wait

Player.shortName = (program) => (program.isOwn ? "this run" : program.name.replace(/^(step|scan)(\d+).*$/, "$1 $2").replace(/^ten0/, "program "));

Player.showBar = function (player) {
    Player.renew(player.boxes.bar, {program: programChoice(player), double: doubleButton(player), size: sizeChoice(player), data: dataChoice(player),
        block: blockField(player), order: orderChoice(player), attempt: tryChoice(player)});
};

// The handler of a list or a field; "" means none.
const changeOf = (player, name) => (value) => {
    player[name] = value === "" ? null : +value;
    player.rerun();
};

function programChoice(player) {
    const programs = player.sides.map(({program}, k) => ({value: k, text: Player.shortName(program), title: program.title}));
    return programs.length > 1 && Player.segment("program", programs, player.side, player.choose);
}

function doubleButton(player) {
    const beside = player.besideOf();
    return beside && element("button", {type: "button", class: "pl-toggle", "aria-pressed": String(player.wantsDouble), onclick: player.double,
        title: `${Player.nameOf(player.sides[player.side])} and ${beside.label}, at the same step`}, "side by side");
}

// The initial n: one block for the first steps; for later ones as many as their topic needs.
Player.sizeToBegin = function (figure, program) {
    const [, ladder, lesson] = /^(step|scan)(\d+)$/.exec(program.name) || [], isScan = ladder === "scan";
    const wanted = +figure.dataset.n || (!isScan && lesson >= 7 ? 65536 : lesson >= (isScan ? 6 : 4) ? 4096 : 256);
    return program.sizes.includes(wanted) ? wanted : program.sizes[0];
};

// Any number of elements; the list suggests those that show something at the lesson's topic.
function sizeChoice(player) {
    const sizes = Player.sizesOf(player.sides[player.side]);
    return sizes.length === 1 ? element("span", {}, `n = ${Player.grouped(sizes[0])}`) : Player.suggested("n", sizes, player.n, MAX_ELEMENTS, changeOf(player, "n"));
}

const DATA = [["lesson", "the lesson's"], ["ones", "ones"], ["ascending", "ascending"], ["alternating", "alternating"]];

// The input's values, for programs whose host code the page runs, unless they have an input of their own, of one size.
function dataChoice(player) {
    const change = (value) => {
        player.data = value;
        player.rerun();
    };
    const {host, sizes} = player.sides[player.side].program;
    return host && sizes.length > 1 && Player.choice("data", DATA, player.data, change);
}

Player.lastBlock = ({model}) => (model && model.launches.length ? Math.max(...model.launches.map(({grid}) => grid)) - 1 : 0);

// Shown also for a single block, so that nothing moves at another n.
function blockField(player) {
    return Player.number("block", Player.lastBlock(player.sides[player.side]), player.block, player.noBlock, changeOf(player, "block"));
}

function orderChoice(player) {
    const orders = [["", "by number"], ...[1, 2, 3, 7].map((seed) => [seed, `shuffled, seed ${seed}`])];
    return Player.choice("order", orders, player.order === null ? "" : player.order, changeOf(player, "order"),
        "the order in which the simulator runs blocks, warps and lanes: by number, or shuffled with a seed");
}

function tryChoice(player) {
    const one = player.sides[player.side], {program} = one, chosen = Player.isEdited(one) ? -1 : Player.tryOf(one);
    const tries = (program.tries || []).map(({number, text}) =>
        ({value: number, text: `Try ${number}`, title: text ? text.replace(/[*`]/g, "") : `Try ${number} of the lesson`}));
    return tries.length > 0 && Player.segment("Try", [{value: 0, text: "as written"}, ...tries], chosen, (number) => Player.attempt(player, number));
}
})();
