// Small optional features of the pages.
"use strict";

// Makes elements that are wider than the page scrollable with the keyboard; figures say that they scroll (book.css).
function reachScrollers() {
    const boxes = [...document.querySelectorAll(".table-wrapper, .highlight pre, figure.drawn, .pl-still")];
    const areWide = boxes.map((box) => box.scrollWidth > box.clientWidth); // all reads first: one after a change needs a layout
    boxes.forEach((box, k) => {
        box.classList.toggle("scrolls", areWide[k]);
        if (areWide[k])
            box.tabIndex = 0;
        else
            box.removeAttribute("tabindex");
    });
}

// Opens a closed fold that a link leads into.
function openFold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details:not([open])");
    if (fold) {
        fold.open = true;
        target.scrollIntoView();
    }
}

// Adds to the glossary's words what they mean (chapters.js), and to the switch of the colours its icons.
function fillMeaningsAndIcons() {
    for (const word of document.querySelectorAll("a.word"))
        word.dataset.means = bookWords[word.hash.slice(1)];
    const icons = [["auto-light", "sun-with-moon"], ["auto-dark", "moon-with-sun"], ["dark", "moon"], ["light", "sun"]];
    for (const button of document.querySelectorAll("button.theme-toggle"))
        button.innerHTML = icons.map(([when, name]) => `<svg class="theme-icon-when-${when}"><use href="#svg-${name}"></use></svg>`).join("");
}

// Keeps the explanation of a word, which appears when the word is pointed at or has the focus, within the window.
function turnMeaning({target}) {
    const word = target.closest && target.closest("a.word");
    if (word)
        word.classList.toggle("to-the-left", word.getBoundingClientRect().left > document.documentElement.clientWidth / 2);
}

// Opens folds for printing, for browsers whose style sheet cannot.
function openAll() {
    for (const fold of document.querySelectorAll("details"))
        fold.open = true;
}

// Labels Furo's two side columns, and moves its back-to-top link into the main part.
function namePlaces() {
    document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Chapters");
    document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
    const up = document.querySelector(".back-to-top");
    if (up)
        document.querySelector("[role=main]")?.append(up);
}

// A Try that the player can run has a button for it.
function offerTries() {
    const figure = document.querySelector("figure.player");
    if (!figure || !window.Player || !Player.choose)
        return;
    for (const button of document.querySelectorAll("button.run-try")) {
        button.hidden = false;
        button.setAttribute("aria-label", `Run Try ${button.dataset.try} in the player`);
        button.addEventListener("click", () => Player.choose(figure, {try: Number(button.dataset.try)}));
    }
}

document.addEventListener("DOMContentLoaded", () => { fillMeaningsAndIcons(); namePlaces(); offerTries(); reachScrollers(); openFold(); });
window.addEventListener("resize", reachScrollers);
window.addEventListener("hashchange", openFold);
window.addEventListener("beforeprint", openAll);
document.addEventListener("toggle", reachScrollers, true);
document.addEventListener("pointerover", turnMeaning);
document.addEventListener("focusin", turnMeaning);
