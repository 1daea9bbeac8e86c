"""All steps of both ladders and all their Tries, run in the book's page by its simulator: the results are those of their pages."""

import csv
import re
from pathlib import Path

import pytest

pytest.importorskip("tomllib", reason="the book needs Python 3.11")
from scripts.ladder import lesson_programs, tries

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "site/index.html"
LESSONS = sorted([*ROOT.glob("step[0-9][0-9]_*"), *ROOT.glob("scan/step[0-9][0-9]_*")])
NAMES = {lesson_programs.step_name(str(path.relative_to(ROOT))): path for path in LESSONS}
SIZES = (1000, 65536)  # some mistakes need an end that no warp fills, others many blocks

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="make test-book has the book and the browser")

# Of each step, as it stands (0) and with each Try, at each size: what came of it, without its trace.
RUN_ALL = """async ([names, sizes]) => {
    const results = {};
    for (const name of names) {
        const program = await Player.program(name);
        results[name] = [];
        for (let attempt = 0; attempt <= program.tries.length; attempt++) {
            const runs = await Promise.all(sizes.map((n) => Simulator.run(program, {n, try: attempt, trace: false})));
            results[name].push(runs.map(({trace, ...rest}) => rest));
        }
    }
    return results;
}"""


@pytest.fixture(scope="module")
def results(browser):
    """Of each step a list, by the number of the Try, of what came of it at each size."""
    tab, asked = browser.new_page(), []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(PAGE.as_uri())
    tab.wait_for_selector("figure.pl-is-live[aria-busy=false]")
    yield tab.evaluate(RUN_ALL, [list(NAMES), SIZES])
    assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:"))], "a run asks for something"
    tab.close()


def marked(kind, page):
    """The texts between a page's markers of a kind, by number."""
    return dict(re.findall(rf"<!-- {kind} (\d+):[^>]*-->\n(.*?)<!-- end -->", (page / "README.md").read_text(encoding="utf-8"), re.S))


def is_right(run):
    return bool(run["checks"]) and all(check["equal"] for check in run["checks"])


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_right_in_the_page(results, name):
    """Broken: a step's result is wrong in the page, or something is found that is no mistake."""
    for run in results[name][0]:
        assert (run["status"], run["output"], run["findings"]) == (0, "", []) and is_right(run)


@pytest.mark.parametrize("name", NAMES)
def test_a_try_comes_out_as_its_page_says(results, name):
    """Broken: a page says that a Try goes wrong, or what is found, and the player beside it shows something else."""
    later = tries.later(NAMES[name])
    said, outcomes = marked("said", NAMES[name]), marked("try", NAMES[name])
    for number, runs in enumerate(results[name][1:], 1):
        finding, outcome = said.get(str(number)), outcomes.get(str(number), "")
        if "Not measured yet" in outcome:
            continue
        found = [each["title"] for run in runs for each in run["findings"]]
        if finding and number not in later:
            race = finding.split("\n")[1].replace(" of a warp", "")  # which two threads are met first depends on n
            assert any(race.endswith(title.replace(" of a warp", "")) for title in found), number
        elif not re.search(r"(memcheck|racecheck): \d", outcome):
            assert not found, number
        goes_wrong = "**wrong**" in outcome and number not in later
        # With a data race, whether the sum is wrong depends on the compiler, too.
        assert goes_wrong == (not all(map(is_right, runs))) or found, number


LOADS = slice(6, 8)  # the columns of global loads in a row of rows()
POLL = ("scan10", "scan11", "scan12")  # how often a warp reads a status word in vain depends on the others' instructions


def rows(text, name):
    """For each launch: its kernel, and the columns after the launch's number without instructions, lanes and branches: the page compiles the lesson."""
    found = [[row[1], *row[3:5], *row[8:-1]] for row in csv.reader(text.splitlines()) if row[1] != "kernel"]
    for row in found if name in POLL else []:
        del row[LOADS]
    return found


@pytest.mark.parametrize("ladder, table", [("step", "steps"), ("scan", "scan")])
def test_the_page_counts_what_is_committed(results, ladder, table):
    """Broken: a count in the page differs from the native simulator's, which other tests compare with a GPU's."""
    committed = (ROOT / f"tests/counters/simulator/{table}.csv").read_text(encoding="utf-8").splitlines()
    for name, page in NAMES.items():
        if name.startswith(ladder):
            own = "\n".join(row for row in committed if row.startswith(f"{page.name},"))
            counted = rows(results[name][0][SIZES.index(65536)]["counters"], name)
            assert counted == rows(own, name)[:len(counted)] and counted, name
