// Step 07's sliders: a ring on the curve of bytes in flight shows the reader's choice of loads and threads.
"use strict";

for (const figure of document.querySelectorAll("figure.flight")) {
    const {curve, tries, loads, bytes, sms, axes} = JSON.parse(figure.dataset.known);
    const [loadsOf, threadsOf] = figure.querySelectorAll("input"), [loadsSaid, threadsSaid] = figure.querySelectorAll("output");
    const ring = figure.querySelector(".mine"), says = figure.querySelector(".flight-says");
    const grouped = (number) => number.toLocaleString("en-US", {maximumFractionDigits: 0, roundingMode: "halfEven"}); // as Python does

    // As in book/extensions/flight.py: interpolated linearly; after the last point, the peak.
    function rateAt(underWay) {
        const right = curve.findIndex(([place]) => underWay <= place);
        if (right < 0)
            return curve[curve.length - 1][1];
        const [[from, low], [to, high]] = [curve[right - 1], curve[right]];
        return low + ((high - low) * (underWay - from)) / (to - from);
    }

    function show() {
        const perThread = loads[loadsOf.value], threads = +threadsOf.value, underWay = perThread * threads * bytes, rate = rateAt(underWay);
        ring.setAttribute("cx", axes.left + (axes.width * Math.log2(Math.max(underWay, axes.least) / axes.least)) / Math.log2(axes.most / axes.least));
        ring.setAttribute("cy", axes.top + axes.height * (1 - rate / axes.rate));
        loadsSaid.textContent = perThread;
        threadsSaid.textContent = grouped(threads);
        loadsOf.setAttribute("aria-valuetext", perThread);
        const same = tries.filter((one) => one.bytes === underWay);
        const names = same.map(({name}) => (name === "as written" ? "the lesson" : name)).join(" and ");
        says.textContent = `${grouped(threads)} × ${perThread} × ${bytes} bytes = ${underWay / 1024} KiB under way on each SM: up to ${grouped(rate)} GB/s. `
            + `By the law a load then takes ${grouped((underWay * sms) / rate)} ns.`
            + (same.length ? ` As many as ${names}, measured: ${same.map((one) => grouped(one.rate)).join(" and ")} GB/s.` : "");
    }

    figure.querySelector(".flight-choices").hidden = false;
    ring.removeAttribute("hidden");
    for (const slider of [loadsOf, threadsOf])
        slider.addEventListener("input", show);
    show();
}
