// exercise.js: one exercise in the page: editor or predictions, verdict, hints, goals; once solved, the explanation.
(function (page) {
"use strict";
const Exercises = (page.Exercises = page.Exercises || {});
const {element} = page.Player, {progress, button} = Exercises;
const DELAY_MS = 300; // from the last change to the run
const BUSY_MS = 400; // after which a run is announced
const MAX_SHOWN = 1024; // the largest n that the player shows, unless the result is wrong at another
const paragraph = (text, name) => element("p", {class: name}, text);

// ---- The verdict in the page

function showVerdict(view, verdict) {
    const {task, boxes, editor} = view, kind = Exercises.kindOf(verdict);
    boxes.headline.textContent = Exercises.headline(verdict);
    boxes.headline.className = `ex-headline ex-${kind === "solved" ? "good" : kind === "missed goal" ? "nearly" : "bad"}`;
    editor.problems(verdict.diagnostics);
    editor.flag(Exercises.flaggedLines(verdict));
    const findings = [...verdict.findings.values()].map((one) => Exercises.findingBox(one, editor));
    boxes.details.replaceChildren(...Exercises.messageBoxes(verdict, editor), ...findings, ...page.Player.printed(verdict.printed),
        ...(["solved", "missed goal"].includes(kind) ? [paragraph(Exercises.tried(verdict), "ex-tried")] : []));
    showGoals(view, verdict.row, verdict.rowAt);
    boxes.watch.hidden = !verdict.last;
    Exercises.outdate(boxes.player, verdict.last && (() => watch(view)));
    if (verdict.row && task.goals.length && (verdict.good || !progress.load().done.includes(task.name))) // the counts stay those of the solution
        progress.saw(task.name, Object.fromEntries(task.goals.map((goal) => [goal.words, Array(2).fill(Exercises.count(goal, verdict.row))])));
    keepVerdict(view, Exercises.headline(verdict), verdict.good);
}

function keepVerdict(view, words, isGood) {
    progress.change((now) => { now.verdicts[view.task.name] = words; });
    if (isGood)
        progress.finish(view.task.name, view.text);
    view.changed();
    showWhy(view);
}

function showGoals({task, boxes}, row, n = task.counts_at) {
    const head = [`at n = ${n.toLocaleString("en-US")}`, "goal", ...(row ? ["yours"] : [])];
    boxes.goals.replaceChildren(...(task.goals.length ? [Exercises.table(Exercises.goalRows(task, row), head)] : []));
}

// The explanation, once the exercise is solved.
function showWhy({task, boxes, next}) {
    const isDone = progress.load().done.includes(task.name), address = `../${task.lesson.replace(/\.md$/, ".html")}`, to = next(task);
    boxes.why.hidden = !isDone;
    if (!isDone)
        return;
    const lesson = element("a", {href: address}, task.lesson_title);
    const onward = to ? element("a", {class: "ex-button ex-next", href: `#exercise-${to.number}`}, `Next: ${to.number} ${to.title}`) : "All exercises are done.";
    boxes.why.replaceChildren(element("p", {}, element("strong", {}, "Why: "), task.why), element("p", {}, "Read more: ", lesson), element("p", {}, onward));
}

// The last hint is the solution.
const hintName = ({hints}, k) => (k + 1 < hints.length ? `Hint ${k + 1} of ${hints.length - 1}` : "Solution");

function showHints({task, boxes}) {
    const shown = progress.load().hints[task.name] || 0;
    boxes.hints.replaceChildren(...task.hints.slice(0, shown).map((hint, k) => element("li", {}, element("span", {}, `${hintName(task, k)}: `), hint)));
    boxes.hintButton.textContent = shown < task.hints.length ? hintName(task, shown) : "No more hints";
    boxes.hintButton.disabled = shown >= task.hints.length;
}

// Shows a run in the player: where the result is wrong, else the largest small one.
function watch({task, boxes, verdict: {wrongAt, last}}) {
    const small = task.sizes.filter((n) => n <= MAX_SHOWN), n = wrongAt || (small.length ? Math.max(...small) : Math.min(...task.sizes));
    Exercises.watch(boxes.player, {title: `${task.number} ${task.title}`, n, last, recording: Exercises.callsAt(task, n, last.ptx)});
}

// ---- Kernels

async function run(view) {
    const {task, boxes} = view, text = view.text;
    const busy = setTimeout(() => {
        boxes.headline.textContent = "running …";
        boxes.headline.className = "ex-headline";
    }, BUSY_MS);
    boxes.view.setAttribute("aria-busy", "true");
    try {
        const verdict = await Exercises.newest((isOver) => Exercises.judge(task, text, {isOver}));
        if (!verdict)
            return;
        view.verdict = verdict;
        showVerdict(view, verdict);
    } catch (error) { // of the compiler or the simulator
        boxes.headline.textContent = error.message;
        boxes.headline.className = "ex-headline ex-bad";
    } finally {
        clearTimeout(busy);
    }
    boxes.view.setAttribute("aria-busy", "false");
}

function edited(view, text) {
    view.text = text;
    progress.change((now) => { now.code[view.task.name] = text; });
    clearTimeout(view.timer);
    view.timer = setTimeout(() => run(view), DELAY_MS);
}

function restore(view) {
    view.text = view.task.text;
    view.editor.set(view.text, false);
    edited(view, view.text);
}

// ---- Predictions

function predictionFields(view) {
    const {task} = view, numbers = Exercises.predicted(view.text);
    const field = ({words}) => element("input", {type: "text", inputmode: "decimal", autocomplete: "off", value: numbers[words] || "", oninput: ({target}) => {
        view.text = Exercises.withPrediction(view.text, words, target.value.trim());
        progress.change((now) => { now.code[task.name] = view.text; });
    }});
    return element("form", {class: "ex-predictions", onsubmit: (event) => {
        event.preventDefault();
        comparePredictions(view);
    }}, task.questions.map((question) => element("label", {}, element("span", {}, question.words), field(question))), element("button", {class: "ex-button"}, "Count"));
}

async function comparePredictions(view) {
    const {task, boxes} = view, numbers = Exercises.predicted(view.text);
    if (Exercises.comparePredictions(task, numbers, {grid: "1", block: "1"}).some(({number}) => number === null)) {
        boxes.headline.textContent = "Write a number for each question; then the simulator counts";
        boxes.headline.className = "ex-headline ex-nearly";
        return;
    }
    const verdict = await Exercises.newest((isOver) => Exercises.judge(task, task.text, {isOver}));
    if (!verdict)
        return;
    const answers = Exercises.comparePredictions(task, numbers, verdict.row), isGood = answers.every(({isRight}) => isRight);
    progress.saw(task.name, Object.fromEntries(answers.map(({words, number, counted}) => [words, [number, counted]])));
    const right = answers.filter(({isRight}) => isRight).length;
    boxes.headline.textContent = isGood ? "Solved" : `${right} of ${answers.length} numbers ${right === 1 ? "is" : "are"} right`;
    boxes.headline.className = `ex-headline ex-${isGood ? "good" : "bad"}`;
    boxes.details.replaceChildren(...answers.map(({text, isRight}) => paragraph(`${isRight ? "✓" : "✗"} ${text}`, isRight ? "" : "ex-wrong")));
    view.verdict = verdict;
    boxes.watch.hidden = !isGood;
    keepVerdict(view, boxes.headline.textContent, isGood);
}

// ---- The view

function makeBoxes(view) {
    const box = (name) => element("div", {class: name});
    const boxes = {view: box("ex-view"), goals: box("ex-goals"), code: box("ex-code"), details: box("ex-details"), why: box("ex-why"), player: box("ex-player"),
        headline: element("p", {class: "ex-headline", role: "status"}), hints: element("ol", {class: "ex-hints"})};
    boxes.hintButton = button("", () => {
        progress.change((now) => { now.hints[view.task.name] = (now.hints[view.task.name] || 0) + 1; });
        showHints(view);
    });
    boxes.watch = button("Watch this run", () => watch(view), {hidden: true});
    return boxes;
}

const actionsOf = (view) => [button("Run", () => run(view), {title: "Ctrl-Enter"}),
    button("Reset", () => restore(view), {title: "restores the task; undo in the editor brings your version back"})];

function makeEditor(view) {
    const {task, boxes} = view;
    const editor = Exercises.editor(boxes.code, `your kernel for exercise ${task.number}`, {changed: (text) => edited(view, text), run: () => run(view)});
    editor.set(view.text);
    return editor;
}

const noEditor = {problems() {}, flag() {}, goTo() {}};

// Shows an exercise in a place. next(task): the exercise to go on with; changed(): after each verdict.
Exercises.open = function (place, task, {next, changed}) {
    const kept = progress.load().code[task.name], isPrediction = task.kind === "predict";
    const view = {task, next, changed, text: kept === undefined ? task.text : kept, timer: 0, verdict: null}, boxes = (view.boxes = makeBoxes(view));
    const bar = element("div", {class: "ex-bar"}, isPrediction ? [] : actionsOf(view), boxes.hintButton, boxes.watch);
    boxes.view.append(boxes.goals, isPrediction ? predictionFields(view) : boxes.code, bar, boxes.hints, boxes.headline, boxes.details, boxes.why, boxes.player);
    place.replaceChildren(boxes.view);
    view.editor = isPrediction ? noEditor : makeEditor(view);
    showGoals(view, null);
    showHints(view);
    showWhy(view);
    if (!isPrediction && (task.kind === "optimise" || view.text !== task.text)) // the findings of an unedited task may be its answer
        run(view);
};
})(window);
