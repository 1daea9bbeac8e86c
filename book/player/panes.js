// panes.js: creates the empty parts of a player: boxes by name, and its two panes of source and machine.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const {element} = Player;

const part = (name, attributes = {}, ...children) => element("div", {class: "pl-" + name, ...attributes}, ...children);
const heading = (...content) => element("p", {class: "pl-heading"}, content);

// A button that shows the words' values in their cells, or hides them.
function valuesButton(banks) {
    const button = element("button", {type: "button", class: "pl-toggle", "aria-pressed": "false", title: "the value of each word, in its cell",
        onclick: () => button.setAttribute("aria-pressed", String(banks.classList.toggle("pl-valued")))}, "values");
    return button;
}

Player.boxes = function () {
    return {bar: part("bar pl-choices"), counters: part("counters"), analysis: element("details", {class: "pl-analysis"}, element("summary", {}, "PTX, occupancy, arithmetic intensity")),
        findings: part("findings"), printed: part("output"), columns: part("columns"),
        said: element("p", {class: "pl-said", role: "status", "aria-live": "polite"}), print: element("pre", {class: "pl-print"}), verdict: element("span", {class: "pl-verdict"}),
        state: part("state"), look: part("look", {hidden: true})};
};

// A program's source and machine view. `suffix` distinguishes its parts from the other pane's for screen readers.
Player.pane = function (suffix) {
    const boxes = {warps: part("warps", {tabindex: 0, role: "group", "aria-label": `warps and lanes${suffix}; the arrow keys choose a lane and show its value`}),
        source: part("source", {tabindex: 0, role: "region", "aria-label": `the kernel's source${suffix}`}), about: element("p", {class: "pl-about", "aria-live": "polite"}),
        name: element("p", {class: "pl-which"}), tools: part("tools"), restored: element("p", {class: "pl-restored", role: "status", hidden: true}), hint: element("p", {class: "pl-invite"}), title: heading(""), banks: part("banks"), lines: part("devices"),
        problems: element("ul", {class: "pl-problems", "aria-live": "polite", "aria-label": "messages of the compiler"}),
        outdated: element("p", {class: "pl-outdated", hidden: true}, "Outdated: this figure is of the last run that had steps."),
        order: element("p", {class: "pl-order"}), finding: element("p", {class: "pl-accesses"}), values: part("values")};
    const text = part("text", {}, boxes.name, boxes.tools, boxes.restored, boxes.source, boxes.problems, boxes.hint);
    const machine = part("machine", {}, boxes.outdated, boxes.title, boxes.order, boxes.finding, boxes.warps, boxes.about, boxes.values,
        heading("Shared memory: 32 banks", valuesButton(boxes.banks)), boxes.banks, heading("Device memory: lines of 128 bytes, 4 sectors each"), boxes.lines);
    return {boxes, text, machine, source: Player.source(boxes.source), draw: Player.figure(boxes)};
};

// Shows the player instead of the still figure, after the first run or when it begins to wait, so that the page's layout shifts
// at most once. The still figure stays available in a fold, and for printing.
Player.reveal = function (figure) {
    if (figure.classList.contains("pl-is-live"))
        return;
    figure.classList.add("pl-is-live");
    const still = [...figure.childNodes].filter((node) => !node.matches?.(".pl-live, .pl-print")), name = figure.querySelector("img, svg") ? "the still figure" : "the source as text";
    if (still.some((node) => node.nodeType === Node.ELEMENT_NODE))
        figure.append(element("details", {class: "pl-still"}, element("summary", {}, name), ...still));
};

// A figure with data-wait shows nothing of a run before the reader has run the program: the page asks for a prediction.
Player.wait = (figure, isWaiting) => figure.classList.toggle("pl-is-waiting", isWaiting);
Player.isWaiting = (figure) => figure.classList.contains("pl-is-waiting");

Player.failed = (what, error) => element("p", {class: "pl-failed"}, `${what} cannot be shown: ${error.message}`);

const heights = new ResizeObserver((entries) => entries.forEach(({target: {style, offsetHeight}}) => {
    style.minHeight = Math.max(parseFloat(style.minHeight) || 0, offsetHeight) + "px";
}));

// From now on a machine's height never shrinks, so that the content below does not move when launches and banks change. (An observer is
// called after the browser's own layout; to ask for the height at each step would cost one more.)
Player.keepHeight = function (machine) {
    machine.style.minHeight = "";
    heights.unobserve(machine); // it is then called for the next height, also if that is the same
    heights.observe(machine);
};

// The parts that a waiting figure shows instead of the verdict. The focus moves to the source, because the run removes the button.
Player.runParts = function ({figure, boxes, rerun}) {
    const run = () => {
        boxes.source.focus({preventScroll: true});
        rerun();
    };
    return Player.isWaiting(figure) ? [element("button", {type: "button", class: "pl-run", onclick: run}, "Run"), element("span", {}, "Answer the question first.")] : [];
};

Player.note = () => part("key", {}, legend(),
    element("p", {class: "pl-more"}, "Instructions are PTX, as the simulator runs them; the GPU's machine code may differ (a short if may become predicated instructions)."));

function legend() {
    const entries = [["plain", "computes"], ["shared", "shared memory"], ["device", "device memory"], ["shuffle", "shuffle"],
        ["inactive", "inactive", "the warp runs an instruction without this lane"], ["waits", "waits", "at a barrier or another synchronisation"],
        ["ready", "ready", "could run; another warp runs (in executed order)"],
        ["done", "done", "has exited"], ["written", "written now"], ["accessed", "accessed earlier"], ["conflict", "bank conflict"], ["nan", "NaN or uninitialised"],
        ["bad", "flagged by a finding"]];
    return element("p", {class: "pl-legend"}, entries.map(([name, text, title]) => element("span", {title, class: "pl-means-" + name}, element("i", {class: "pl-" + name}), text)));
}
})();
