// share.js: keeps a reader's text: in the address, so that a link shares it, and in the browser, so that a reload does not lose it.
//
// The part of the address after # is "play=" and base64url: "1" and the deflated, or "0" and the plain JSON of
// {program, n, data, text}.
// Browsers do not send it to a server.
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const MARK = "#play=";

// ---- Links

async function piped(bytes, transform) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(transform)).arrayBuffer());
}

function toBase64(bytes) {
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

function fromBase64(text) {
    return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
}

// The fragment of an address that encodes this content.
Player.fragmentOf = async function (content) {
    const plain = new TextEncoder().encode(JSON.stringify(content));
    const canDeflate = typeof CompressionStream === "function";
    return MARK + (canDeflate ? "1" + toBase64(await piped(plain, new CompressionStream("deflate-raw"))) : "0" + toBase64(plain));
};

const isContent = ({program, n, data, text}) => [program, data, text].every((each) => typeof each === "string") && Number.isInteger(n) && n > 0;

// The content of such a fragment; null if there is none or it is invalid.
Player.contentOf = async function (fragment) {
    if (!fragment.startsWith(MARK))
        return null;
    try {
        const bytes = fromBase64(fragment.slice(MARK.length + 1));
        const plain = fragment[MARK.length] === "1" ? await piped(bytes, new DecompressionStream("deflate-raw")) : bytes;
        const content = JSON.parse(new TextDecoder().decode(plain));
        return isContent(content) ? content : null;
    } catch {
        return null;
    }
};

// ---- Session storage: the tab keeps it until it is closed; the browser may forbid it

// Each page keeps its own texts: a lesson must not begin with an edit of the home page.
const keyOf = (program) => `player ${location.pathname} ${program.name}`;

// Stores a program's edited text; removes it if it equals the original or a Try's.
Player.keepText = function (program, text) {
    try {
        if ([program, ...program.tries].some(({source}) => (source.text || source) === text))
            sessionStorage.removeItem(keyOf(program));
        else
            sessionStorage.setItem(keyOf(program), text);
    } catch {
        // the text lasts as long as the page
    }
};

Player.keptText = function (program) {
    try {
        return sessionStorage.getItem(keyOf(program));
    } catch {
        return null;
    }
};
})();
