// The full-text search of all pages (bookPages, which book/extensions/search.py packs into texts.js), in the page, without a server.
"use strict";

let bookPages = [];

const MOST = 40;                     // results
const BEFORE = 80, AFTER = 170;     // characters of an excerpt
const IN_HEADING = 8, EXPLAINED = 8; // weights of a word there (a heading's words share it); elsewhere 1
const IN_TITLE = 4;                  // additional weight of a page whose title is the word
const LIKE = 4000;                   // characters: in longer pages a word has less weight
const TOO_COMMON = 0.7;              // share of the pages: a word on more of them does not distinguish pages
const FIRST_LESSON = 2;              // factor for the first lesson that has a word

// Matches a word also with other endings, and in code before an underscore.
function patternOf(word) {
    const stem = word.replace(/(?<=[a-z]{3})(?:ing|ed|es|(?<!s)s|e)$/, "");
    return new RegExp(`(?<![a-z0-9])${escaped(stem)}(?:ing|ed|es|er|e|s)?(?![a-z0-9])`, "gi");
}

function escaped(word) {
    return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/[\s-]+/g, "[\\s-]+");
}

// A word's pattern, and the share of pages that match. For a word that no page has, the pattern matches its beginning.
function term(word) {
    for (let left = word, pattern = patternOf(word); ; left = left.slice(0, -1), pattern = new RegExp(`(?<![a-z0-9])${escaped(left)}\\w*`, "gi")) {
        const share = bookPages.filter((page) => page.places.some((place) => weight(place, pattern))).length / bookPages.length;
        if (share || left.length <= 0.65 * word.length)
            return { pattern, share };
    }
}

// The words of a query, without punctuation around them: __syncthreads() is __syncthreads.
function wordsOf(query) {
    const words = query.toLowerCase().split(/\s+/).map((word) => word.replace(/^[^\w]+|[^\w]+$/g, ""));
    return [...new Set(words.filter(Boolean))];
}

// The search terms: each word that distinguishes pages, or all if none does; for several words also the whole phrase.
function termsOf(words) {
    const terms = words.map(term), distinctive = terms.filter(({ share }) => share < TOO_COMMON);
    return { words, single: distinctive.length ? distinctive : terms, row: words.length > 1 ? [{ pattern: patternOf(words.join(" ")), share: 0 }] : [] };
}

function count(text, pattern) {
    return (text.match(pattern) || []).length;
}

// The share of a heading's words that a pattern finds.
function shareOf(heading, pattern) {
    return count(heading, pattern) / heading.split(" ").length;
}

// The weight of a pattern in a section.
function weight([, heading, text, explained], pattern) {
    return count(text, pattern) + IN_HEADING * shareOf(heading, pattern) + EXPLAINED * explained.filter((words) => count(words, pattern)).length;
}

function weightOfPage(page, pattern) {
    const length = page.places.reduce((sum, place) => sum + place[2].length, 0);
    const inTitle = IN_TITLE * shareOf(page.title, pattern);
    return (1 + inTitle) * page.places.reduce((sum, place) => sum + weight(place, pattern), 0) / (length + LIKE);
}

// The score of each page for one term; rare terms count more.
function scores({ pattern, share }) {
    const weights = bookPages.map((page) => page.worth * weightOfPage(page, pattern));
    const first = bookPages.findIndex((page, number) => page.lesson && weights[number] > 0);
    if (first >= 0)
        weights[first] *= FIRST_LESSON;
    return weights.map((one) => one * rarity(share));
}

function rarity(share) {
    return -Math.log(0.01 + 0.98 * share);
}

// The matching pages, best first: {page, place}. Pages with more of the words come first, then those with higher scores. For a
// glossary term, its definition comes first.
function search({ single, row, words }) {
    const all = [...single, ...row], scored = all.map(scores);
    const found = bookPages.map((page, number) => {
        const has = scored.slice(0, single.length).filter((one) => one[number] > 0).length;
        return { page, has, score: scored.reduce((sum, one) => sum + one[number], 0) };
    });
    found.sort((one, other) => other.has - one.has || other.score - one.score);
    const ranked = explainedSecond(found.filter(({ has }) => has), single).map(({ page }) => ({ page, place: best(page, all) }));
    const defined = definition(words);
    return (defined ? [defined, ...ranked.filter(({ page }) => !page.glossary)] : ranked).slice(0, MOST);
}

// The glossary's entry for exactly these words, in the singular or plural: {page, place}, or nothing.
function definition(words) {
    const page = bookPages.find((one) => one.glossary), asked = new RegExp(`^${patternOf(words.join(" ")).source}$`);
    const place = page?.places.find(([, names]) => names.split(", ").some((name) => asked.test(wordsOf(name).join(" "))));
    return place && { page, place };
}

// For other queries the first lesson comes first, then the glossary; without a lesson the glossary is first.
function explainedSecond(found, terms) {
    const explains = ({ page }) => page.glossary && page.places.some(([, heading]) => terms.some(({ pattern }) => count(heading, pattern)));
    const glossary = found.filter(explains), others = found.filter((one) => !explains(one));
    const lesson = others.findIndex(({ page }) => page.lesson);
    return lesson < 0 ? [...glossary, ...others] : [others[lesson], ...glossary, ...others.filter((_, number) => number !== lesson)];
}

// The best matching section of a page.
function best(page, terms) {
    const weights = page.places.map((place) => terms.reduce((sum, { pattern, share }) => sum + weight(place, pattern) * rarity(share), 0));
    return page.places[weights.indexOf(Math.max(...weights))];
}

// The text around the first match.
function excerpt(text, patterns) {
    const places = patterns.map((pattern) => text.search(pattern)).filter((place) => place >= 0);
    const from = text.lastIndexOf(" ", Math.max(0, Math.min(...places, text.length) - BEFORE)) + 1;
    const end = text.indexOf(" ", from + BEFORE + AFTER);
    return (from ? "… " : "") + (end < 0 ? text.slice(from) : text.slice(from, end) + " …");
}

function element(name, className, ...content) {
    const made = document.createElement(name);
    made.className = className;
    made.append(...content);
    return made;
}

// A text with all matches marked.
function marked(text, patterns) {
    const parts = [], ends = [0];
    const found = patterns.flatMap((pattern) => [...text.matchAll(pattern)]).sort((one, other) => one.index - other.index);
    for (const { index, 0: { length } } of found) {
        if (index < ends.at(-1))
            continue;
        parts.push(text.slice(ends.at(-1), index), element("mark", "", text.slice(index, index + length)));
        ends.push(index + length);
    }
    return [...parts, text.slice(ends.at(-1))];
}

function shown({ page, place: [anchor, heading, text] }, patterns) {
    const link = element("a", "", page.title);
    link.href = anchor ? `${page.page}#${anchor}` : page.page;
    const where = [page.part, heading].filter((words) => words && words !== page.title).join(" · ");
    return element("li", "", link, element("span", "where", where), element("p", "excerpt", ...marked(excerpt(text, patterns), patterns)));
}

function answer() {
    const query = new URLSearchParams(location.search).get("q") || "";
    for (const input of document.querySelectorAll("input[name=q]"))
        input.value = query;
    const words = wordsOf(query), status = document.getElementById("search-status");
    if (!words.length) {
        status.textContent = "Type a word, such as warp, race or __syncthreads().";
        return;
    }
    const terms = termsOf(words), found = search(terms);
    status.textContent = found.length ? `${found.length === MOST ? "The first " : ""}${found.length} ${found.length === 1 ? "page" : "pages"} about: ${query}`
                                      : `No page has: ${query}.`;
    document.getElementById("search-results").append(...found.map((one) => shown(one, terms.single.map(({ pattern }) => pattern))));
}

async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

unpack(packedPages).then((pages) => { bookPages = pages; answer(); });
