// elements.js: an invalid address in device memory as an element of a kernel's array, as in "in[1000]: past the end, size 1000", because
// readers of a page see neither addresses nor the calls of cudaMalloc. (The simulator names the elements of shared arrays.)
(function () {
"use strict";
const Player = (window.Player = window.Player || {});
const FARTHEST = 1 << 20; // bytes from an array at which an address is still named by it
const BYTES = {char: 1, bool: 1, void: 1, uint8_t: 1, short: 2, half: 2, __half: 2, __nv_bfloat16: 2, double: 8, "long long": 8, "unsigned long long": 8, int64_t: 8, uint64_t: 8, size_t: 8,
    float2: 8, int2: 8, float4: 16, int4: 16, uint4: 16, double2: 16}; // of an element; all others: 4
const KERNEL = /__global__[^;{(]*?(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:void\s+)?([A-Za-z_]\w*)\s*\(([^)]*)\)\s*\{/g;

// [{name, parameters: [the declaration of each]}] of the kernels in a source.
Player.kernelsIn = function (text) {
    const found = text.replace(/\/\*[^]*?\*\/|\/\/.*/g, "").matchAll(KERNEL);
    return [...found].map(([, name, list]) => ({name, parameters: list.split(",").map((word) => word.trim()).filter(Boolean)}));
};

// The name and the bytes of an element of a parameter that is a pointer.
function elementsOf(declaration) {
    const [, type, name] = /^(.*?)(\w+)\s*(?:\[\s*\])?$/s.exec(declaration) || [0, "", ""];
    const plain = type.replace(/__restrict__|\bconst\b|\bvolatile\b|[*&]/g, " ").replace(/\s+/g, " ").trim();
    return {name, bytes: BYTES[plain] || 4, isConst: /\bconst\b/.test(type)};
}

// The arrays to which the parameters of a launch point: [{name, base, size, bytes, isConst}]. arrays: of Simulator.run.
Player.arraysOf = function (arrays, text, launch) {
    const kernels = Player.kernelsIn(text), found = [];
    for (const {base, bytes, launches} of arrays)
        for (const {kernel, parameter, offset} of launches.filter((one) => one.launch === launch)) {
            const {parameters} = kernels.find(({name}) => kernel.includes(`${name.length}${name}`) || kernel === name) || {parameters: []};
            if (parameters[parameter])
                found.push({...elementsOf(parameters[parameter]), base: base + offset, size: bytes - offset});
        }
    return found;
};

// Of several arrays in one allocation, a read is rather of the one that is const.
function nearest(address, arrays, isRead) {
    const distance = ({base, size}) => Math.max(base - address, address - (base + size - 1), 0);
    const near = arrays.filter((array) => distance(array) <= FARTHEST);
    return near.sort((a, b) => distance(a) - distance(b) || (b.isConst === isRead) - (a.isConst === isRead) || b.base - a.base)[0];
}

// The element at an address, and where it is: {element: "in[256]", where: "past the end, size 256"}; where: "" in the array.
function elementAt(address, {name, base, size, bytes}) {
    const index = Math.floor((address - base) / bytes), elements = Math.floor(size / bytes);
    return {element: `${name}[${index}]`, where: index >= elements ? `past the end, size ${elements}` : index < 0 ? "before the beginning" : ""};
}

// A page has no environment variables, which a title may name: "... ($SIM_MAX_INSTRUCTIONS sets the limit)".
const withoutSettings = (title) => title.replace(/ \(\$SIM_[^)]*\)/, "");

// A finding as a page shows it: one about a bad address has `element`, and a title that names the element.
Player.withElements = function (given, arrays) {
    const finding = {...given, title: withoutSettings(given.title || "")}, {kind, title, hint = "", places = []} = finding, [named, shared] = /^(\w+\[-?\d+\]): /.exec(title) || [], address = /\b0x([0-9a-f]+)/.exec(title);
    if (kind === "out-of-bounds" && named)
        return {...finding, element: shared};
    const isRead = !/\bwrites?\b|\bupdates?\b/.test(places.length ? places[0].access : "");
    const array = ["out-of-bounds", "misaligned"].includes(kind) && address && !/of (shared|local) memory/.test(title) && nearest(parseInt(address[1], 16), arrays, isRead);
    if (!array)
        return finding;
    const {element, where} = elementAt(parseInt(address[1], 16), array), words = where ? `${element}: ${where}` : element;
    return {...finding, element, hint: hint.split("\n").filter((line) => !line.startsWith("note: allocated by")).join("\n"),
        title: kind === "out-of-bounds" ? words : title.replace(/\b0x[0-9a-f]+/, words)};
};
})();
