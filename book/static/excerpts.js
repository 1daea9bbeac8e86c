// Under each page that the search finds: the words around the first place where one of those that were looked for stands.
"use strict";

const BEFORE = 80, BEHIND = 160; // characters

function excerpt(text, words) {
    const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
    if (!places.length)
        return "";
    const from = text.lastIndexOf(" ", Math.max(0, Math.min(...places) - BEFORE)) + 1;
    const end = text.indexOf(" ", from + BEFORE + BEHIND);
    return (from ? "… " : "") + (end < 0 ? text.slice(from) : text.slice(from, end) + " …");
}

function addExcerpt(entry, words) {
    const link = entry.querySelector("a");
    const page = link && link.getAttribute("href").split(/[?#]/)[0];
    const shown = page && excerpt(bookTexts[page] || "", words);
    if (!shown || entry.querySelector(".search-results-excerpt"))
        return;
    const line = document.createElement("p");
    line.className = "search-results-excerpt";
    line.textContent = shown;
    entry.append(line);
}

document.addEventListener("DOMContentLoaded", () => {
    const words = (new URLSearchParams(location.search).get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    const results = document.getElementById("search-results");
    new MutationObserver(() => results.querySelectorAll("ul.search li").forEach((entry) => addExcerpt(entry, words)))
        .observe(results, { childList: true, subtree: true });
});
