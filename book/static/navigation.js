// Puts the list of chapters and the icons, which chapters.js holds once for all pages, into the page.
(function () {
"use strict";
const root = document.documentElement.dataset.content_root, tree = document.querySelector(".sidebar-tree");

// Marks the link of the open page, and unfolds the chapters that contain it.
function markCurrent(link) {
    link.classList.add("current");
    link.setAttribute("href", "#");
    link.setAttribute("aria-current", "page");
    link.closest("li").classList.add("current-page");
    for (let item = link.closest("li"); item; item = item.parentElement.closest("li")) {
        item.classList.add("current");
        const box = item.querySelector(":scope > input");
        if (box)
            box.checked = true;
    }
}

document.body.insertAdjacentHTML("afterbegin", bookIcons);
tree.innerHTML = bookChapters;
const links = [...tree.querySelectorAll("a")], current = links.find((link) => link.getAttribute("href") === tree.dataset.page);
for (const link of links)
    link.setAttribute("href", root + link.getAttribute("href"));
if (current)
    markCurrent(current);
})();
