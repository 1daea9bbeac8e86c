// A source file's page: numbers its lines, colours its words, and shows the line that a link such as #L12 names.
(function () {
"use strict";
const WORDS = {
    c: "alignas|auto|bool|break|case|char|class|const|constexpr|continue|default|do|double|else|enum|extern|false|float|for|if|inline|int|long|namespace|nullptr|return|short|signed|sizeof|static|static_assert|struct|switch|template|true|typedef|typename|unsigned|using|void|volatile|while|__\\w+__|u?int(?:8|16|32|64)_t|size_t",
    py: "and|as|assert|break|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|in|is|lambda|None|not|or|pass|raise|return|True|try|while|with|yield",
    sh: "case|do|done|elif|else|esac|export|fi|for|function|if|in|local|then|while",
    dockerfile: "ARG|CMD|COPY|ENTRYPOINT|ENV|FROM|RUN|WORKDIR",
};
const STRINGS = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'`, NUMBERS = "\\b(?:0x[\\da-fA-F]+|\\d[\\d.]*(?:e[-+]?\\d+)?)\\w*";
const COMMENTS = {c: "//.*|/\\*[^]*?\\*/", py: `#.*|"""[^]*?"""`, sh: "(?<!\\S)#.*", dockerfile: "(?<!\\S)#.*"};
const DIRECTIVES = {c: "^[ \\t]*#[ \\t]*\\w+"};
const NOTHING = "(?!)";

// The expression whose groups are named as the classes of the book's style sheet for code.
function expressionOf(language) {
    const kind = ["cu", "cuh", "h", "cpp"].includes(language) ? "c" : language;
    if (!WORDS[kind])
        return null;
    const parts = {c1: COMMENTS[kind], cp: DIRECTIVES[kind] || NOTHING, s: STRINGS, k: `\\b(?:${WORDS[kind]})\\b`, m: NUMBERS};
    return new RegExp(Object.entries(parts).map(([name, part]) => `(?<${name}>${part})`).join("|"), "gm");
}

// [class, text] pairs of a text; the class is "" for what has no colour.
function tokens(text, expression) {
    const found = [];
    let end = 0;
    for (const match of expression ? text.matchAll(expression) : []) {
        found.push(["", text.slice(end, match.index)], [Object.keys(match.groups).find((name) => match.groups[name] !== undefined), match[0]]);
        end = match.index + match[0].length;
    }
    return [...found, ["", text.slice(end)]];
}

// The lines as elements. A token may go over several lines.
function linesOf(text, expression) {
    const lines = [[]];
    for (const [name, whole] of tokens(text, expression))
        whole.split("\n").forEach((part, k) => {
            if (k)
                lines.push([]);
            if (part)
                lines[lines.length - 1].push(name ? Object.assign(document.createElement("span"), {className: name, textContent: part}) : part);
        });
    return lines.map((parts, k) => {
        const line = Object.assign(document.createElement("span"), {className: "line", id: `L${k + 1}`});
        line.append(...parts, "\n");
        return line;
    });
}

for (const block of document.querySelectorAll("pre.source")) {
    const text = block.textContent + (block.dataset.harness ? bookHarness : "");
    block.replaceChildren(...linesOf(text.replace(/\n$/, ""), expressionOf(block.dataset.language)));
}
// The browser has looked for the line before it was an element, and stops a smooth movement at the end of loading.
addEventListener("load", () => {
    if (/^#L\d+$/.test(location.hash))
        document.getElementById(location.hash.slice(1))?.scrollIntoView({behavior: "instant"});
});
})();
