// page.js: the page of the exercises: the list with progress, one exercise at a time (chosen by the address's hash), export and import,
// and the sheet to hand in. Without scripts the page shows all tasks.
(function (page) {
"use strict";
const {Exercises} = page, {element} = page.Player, {progress, button, save} = Exercises;
const folder = document.currentScript.src.replace(/[^/]*$/, "");
const scripts = new Map(); // by address, its promise

function script(address) {
    if (!scripts.has(address))
        scripts.set(address, new Promise((resolve, reject) => {
            const onerror = () => reject(new Error(`${address} is missing`));
            document.head.append(element("script", {src: address, onload: resolve, onerror}));
        }));
    return scripts.get(address);
}

async function dataOf({name}) {
    await script(`${folder}data/${name}.js`);
    return Exercises.unpacked(page.exerciseData[name]);
}

// ---- The list

const tasksOf = (places) => places.map((place) => ({...place.dataset, place, section: place.closest("section")}));
const isDone = ({name}) => progress.load().done.includes(name);

// The next exercise that is not solved: after a task, else from the beginning.
function nextOf(tasks, task) {
    const at = tasks.findIndex(({name}) => name === task.name);
    return [...tasks.slice(at + 1), ...tasks.slice(0, at)].find((other) => !isDone(other));
}

function listOf(tasks, current) {
    const chapters = [...new Set(tasks.map(({chapter}) => chapter))];
    const link = (task) => element("a", {href: `#exercise-${task.number}`, "aria-current": task === current ? "page" : null}, `${task.number} ${task.title}`);
    const entry = (task) => element("li", {}, link(task), element("span", {class: "ex-kind"}, ` ${task.kind}`), isDone(task) && element("span", {class: "ex-done"}, " done"));
    const entries = (chapter) => tasks.filter((task) => task.chapter === chapter).map(entry);
    return chapters.map((chapter) => element("div", {}, element("p", {class: "ex-chapter"}, chapter), element("ul", {}, entries(chapter))));
}

function showBar({bar, tasks}, current) {
    const at = tasks.indexOf(current), done = tasks.filter(isDone).length;
    const link = (task, text) => task && element("a", {class: "ex-button", href: `#exercise-${task.number}`, title: `${task.number} ${task.title}`}, text);
    const isOpen = bar.querySelector("details") ? bar.querySelector("details").open : false;
    const summary = element("summary", {}, `All exercises: ${done} of ${tasks.length} done`);
    bar.replaceChildren(element("details", {class: "ex-list", open: isOpen}, summary, element("div", {class: "ex-chapters"}, listOf(tasks, current))),
        element("nav", {class: "ex-bar", "aria-label": "exercises"}, link(tasks[at - 1], "‹ previous"), link(tasks[at + 1], "next ›"),
            element("a", {class: "ex-button", href: "#sheet"}, "Sheet to hand in"), button("Export progress", () => save("exercises.json", progress.exported())), importButton(tasks)),
        element("p", {class: "ex-note", role: "status"}, progress.isKept() ? "" : "This browser keeps nothing for this page: export your progress before you close it."));
}

// ---- Files

function importButton(tasks) {
    const input = element("input", {type: "file", accept: ".json,application/json", hidden: true, "aria-label": "a file with progress"});
    input.addEventListener("change", async () => {
        const note = document.querySelector(".ex-note");
        try {
            const found = progress.parse(await input.files[0].text(), tasks.map(({name}) => name)), lost = progress.replaced(found);
            if (lost.length && !confirm(`The file replaces your kernels of ${lost.length} exercises here. Continue?`))
                return;
            progress.merge(found);
            await show();
            document.querySelector(".ex-note").textContent = `imported: ${found.done.length} solved, ${Object.keys(found.code).length} kernels`;
        } catch (error) {
            note.textContent = `${input.files[0].name} cannot be imported: ${error.message}`;
        }
    });
    return [button("Import", () => input.click(), {title: "a file that Export, or make learn EXPORT=..., has written"}), input];
}

// ---- The sheet to hand in

function kernelOf({title, number}, kernel, verdict) {
    return element("section", {class: "ex-handed"}, element("h3", {}, `${number} ${title}`), element("p", {}, verdict), element("pre", {}, kernel));
}

function sheetOf(tasks) {
    const {verdicts, seen, ...kernels} = progress.load(), code = progress.handedIn(kernels), done = tasks.filter(isDone).length;
    const verdictOf = (task) => (isDone(task) ? "Solved" : verdicts[task.name] || (code[task.name] ? "not judged" : "not begun"));
    const pair = ([words, [first, last]]) => `${words}: ${first === last ? last : `${first}, then ${last}`}`;
    const counts = ({name}) => Object.entries(seen[name] || {}).map(pair).join("; ");
    const rows = tasks.map((task) => [`${task.number} ${task.title}`, isDone(task) ? "yes" : "", verdictOf(task), counts(task)]);
    const name = element("label", {}, "Name ", element("input", {type: "text", autocomplete: "name"}));
    return [element("h2", {}, "Sheet to hand in"), element("p", {class: "ex-who"}, name, ` Date: ${new Date().toISOString().slice(0, 10)}. Solved: ${done} of ${tasks.length}.`),
        element("p", {class: "ex-bar"}, button("Print, or save as PDF", () => print())), Exercises.table(rows, ["exercise", "solved", "verdict", "counts: first, then last"]),
        ...tasks.filter((task) => code[task.name]).map((task) => kernelOf(task, code[task.name], verdictOf(task)))];
}

// ---- One exercise at a time

let app = null, shown = 0; // counts the calls of show, since an exercise's data may come late

// The exercise that the address or the progress names; null: the sheet.
function chosen(tasks) {
    if (location.hash === "#sheet")
        return null;
    const named = tasks.find(({number}) => location.hash === `#exercise-${number}`), {at} = progress.load();
    return named || tasks.find(({name}) => name === at) || tasks.find((task) => !isDone(task)) || tasks[0];
}

function hideOthers({tasks, root, sheet}, current) {
    tasks.forEach((task) => {
        task.section.hidden = task !== current;
        task.place.replaceChildren();
    });
    root.querySelectorAll(":scope > section").forEach((chapter) => { chapter.hidden = !current || !chapter.contains(current.section); });
    sheet.hidden = Boolean(current);
}

async function show() {
    const {tasks, sheet} = app, current = chosen(tasks), number = ++shown;
    showBar(app, current);
    hideOthers(app, current);
    sheet.replaceChildren(...(current ? [] : sheetOf(tasks)));
    if (!current)
        return;
    progress.change((now) => { now.at = current.name; });
    try {
        const data = await dataOf(current);
        if (number !== shown)
            return;
        Exercises.open(current.place, data, {next: (task) => nextOf(tasks, task), changed: () => showBar(app, current)});
        current.section.classList.toggle("ex-has-editor", data.kind !== "predict");
    } catch (error) {
        current.place.replaceChildren(element("p", {class: "ex-bad"}, `This exercise cannot be shown: ${error.message}`));
    }
}

function start() {
    const bar = document.querySelector(".ex-app");
    if (!bar)
        return;
    const sheet = element("div", {class: "ex-sheet", hidden: true});
    app = {bar, sheet, tasks: tasksOf([...document.querySelectorAll(".ex-place")]), root: bar.closest("section")};
    bar.after(sheet);
    document.body.classList.add("ex-live");
    addEventListener("hashchange", () => {
        const list = bar.querySelector("details");
        if (list)
            list.open = false;
        show();
    });
    show();
}

if (document.readyState === "loading")
    document.addEventListener("DOMContentLoaded", start);
else
    start();
})(window);
