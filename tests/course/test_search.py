"""The book's search (book/static/search.js) on a few pages, in node; tests/book tries it in the book itself."""

import json
import re
import shutil
import subprocess

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs node")
ROWS = re.findall(r"^\| (.+?) \| (.+?) \|$", (ROOT / "docs/words.md").read_text(encoding="utf-8").replace("`", ""), re.M)[2:]
GLOSSARY = {"page": "words.html", "title": "Glossary", "part": "Appendices", "lesson": False, "glossary": True, "worth": 0.15,
            "places": [["", "Glossary", "word means", []], *([f"row-{number}", names, f"{names} {means}", []] for number, (names, means) in enumerate(ROWS))]}
# A lesson that has every term in its title, its headings and its text, and often.
LESSON = {"page": "lesson.html", "title": " ".join(names for names, _ in ROWS), "part": "The sum", "lesson": True, "glossary": False, "worth": 1,
          "places": [["", names, f"{names} " * 20, [names]] for names, _ in ROWS]}
OTHER = {"page": "other.html", "title": "Other", "part": "The sum", "lesson": True, "glossary": False, "worth": 1, "places": [["", "Other", "nothing", []]]}
RUN = """
const location = { search: "" };
const document = { querySelectorAll: () => [], getElementById: () => ({}) };
%s
bookPages = %s;
console.log(JSON.stringify(%s.map((query) => search(termsOf(wordsOf(query))).map(({ page, place }) => [page.page, place[0]]))));
"""


def results(queries):
    """For each query the pages and anchors that the search finds, in order."""
    search, _ = (ROOT / "book/static/search.js").read_text(encoding="utf-8").split("\nunpack(packedPages)")  # which reads the book's own pages
    script = RUN % (search, json.dumps([LESSON, OTHER, GLOSSARY]), json.dumps(queries))
    return json.loads(subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=True).stdout)


def test_a_term_of_the_glossary_finds_its_definition_first():
    """Broken: a reader who searches for a term gets the pages that use it before the row that defines it."""
    terms = {name: f"row-{number}" for number, (names, _) in enumerate(ROWS) for name in names.split(", ")}
    assert {"threadIdx", "PTX", "__syncthreads()", "data race", "race", "host"} <= terms.keys()
    for (name, row), found in zip(terms.items(), results(list(terms)), strict=True):
        assert found[0] == ["words.html", row], name
        assert [page for page, _ in found].count("words.html") == 1, name


def test_a_term_is_found_in_the_plural_and_in_any_case():
    """Broken: only the exact spelling finds the definition."""
    rows = {names: f"row-{number}" for number, (names, _) in enumerate(ROWS)}
    for query, names in [("Data Races", "data race, race"), ("warps", "warp"), ("__syncthreads", "barrier, __syncthreads()"), ("THREADIDX", "threadIdx")]:
        assert results([query])[0][0] == ["words.html", rows[names]], query


def test_a_question_finds_a_lesson_first():
    """Broken: a query that is more than a term begins with the glossary, or does not have it second."""
    assert [page for page, _ in results(["how to remove a data race"])[0]][:2] == ["lesson.html", "words.html"]
