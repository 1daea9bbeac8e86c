// How the search ranks what it finds: the glossary, then lessons, then the rest. Sphinx adds its own points for words in titles.
"use strict";

var Scorer = { // not const: Sphinx declares it, too
    score: ([page, , , , points]) => points + (page === "docs/words" ? 200 : /(^|\/)step\d\d_\w+\/README$/.test(page) ? 100 : 0),
    objNameMatch: 11, objPartialMatch: 6, objPrio: {}, objPrioDefault: 0, title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
