// words.js: the verdict of judge.js for a learner, worded as in the terminal (drywarp/learn/learn.py).
(function (page) {
"use strict";
const Exercises = (page.Exercises = page.Exercises || {});
const NUMBER = /^\d{1,18}(\.\d{1,18})?$/; // a prediction
const grouped = (number) => number.toLocaleString("en-US");
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// The verdict in a line.
Exercises.headline = function (verdict) {
    const errors = verdict.diagnostics.filter(({severity}) => severity === "error").length;
    if (!verdict.isCompiled)
        return `It does not compile: ${plural(errors, "error")}`;
    if (verdict.said.length)
        return verdict.said[0];
    if (verdict.wrong)
        return verdict.wrong[0].toUpperCase() + verdict.wrong.slice(1);
    if (verdict.findings.size)
        return `The results are right, but the checker has ${plural(verdict.findings.size, "finding")}`;
    return verdict.missed.length ? "Correct, but the goal is not reached yet" : "Solved";
};

// How a kernel without mistakes was tried.
Exercises.tried = (verdict) => `right at n = ${Object.keys(verdict.sizes).map(Number).sort((a, b) => a - b).map(grouped).join(", ")}, in four orders of blocks, warps and lanes`;

// The goals as rows of words: the counter, the goal, and the value if there is one.
Exercises.goalRows = (task, row) => task.goals.map((goal) => [goal.words, goal.limit, ...(row ? [grouped(Exercises.count(goal, row))] : [])]);

// ---- Predictions: the words after the last equals sign of each comment, by the words before the sign

Exercises.predicted = function (text) {
    const found = {};
    for (const line of text.split("\n").filter((each) => each.startsWith("//"))) {
        const at = line.lastIndexOf("="), value = line.slice(at + 1).trim();
        if (at > 0 && value.split(/\s+/).length < 2)
            found[line.slice(2, at).trim()] = value.replace(/[,_]/g, "");
    }
    return found;
};

// The text with a prediction after its equals sign.
Exercises.withPrediction = (text, words, value) => text.split("\n").map((line) =>
    (line.startsWith("//") && line.slice(2, line.lastIndexOf("=")).trim() === words ? `${line.slice(0, line.lastIndexOf("=") + 1)} ${value}`.trimEnd() : line)).join("\n");

// Compares predictions with the counts: [{words, number, counted, isRight, text}]; counted only if a number was given.
Exercises.comparePredictions = function (task, numbers, row) {
    return task.questions.map((question) => {
        const {words} = question, number = numbers[words] || "", counted = Exercises.count(question, row);
        if (!NUMBER.test(number))
            return {words, number: null, isRight: false, text: `${words}: no number yet`};
        const isRight = +number === counted;
        return {words, number: +number, counted, isRight, text: isRight ? `${words}: ${grouped(counted)}, as you predicted`
            : `${words}: you predicted ${number}; the simulator counts ${counted > +number ? "more" : "fewer"}`};
    });
};
})(typeof window === "object" ? window : globalThis);
