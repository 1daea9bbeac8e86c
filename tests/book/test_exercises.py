"""The exercises' page and the playground in Chromium, from file://: verdicts as in the terminal, progress, the sheet, contracts."""

import base64
import csv
import gzip
import json
import os
import random
import shutil
import subprocess
import sys

import pytest

from drywarp.judge import contract
from drywarp.learn import exercise as exercises
from drywarp.learn import progress, transfer
from drywarp.learn.learn import Learner
from scripts.evidence import verdicts
from tests.support import ROOT

pytest.importorskip("sphinx", reason="sphinx is missing; book/requirements.txt names it")
pytest.importorskip("playwright.sync_api", reason="playwright is missing; book/requirements.txt names it")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing; book/requirements.txt names it")

NEEDED = [ROOT / "book/player/simulator.js", ROOT / "build/book/codemirror/codemirror.js"]
pytestmark = pytest.mark.skipif(not all(path.exists() for path in NEEDED), reason="make book makes the simulator and the editor")
EXTENSIONS = "myst_parser,sphinx_design,sphinx_copybutton,book.extensions.chapters,book.extensions.figures,book.extensions.exercises,book.extensions.policy"
TASKS = {task.number: task for task in exercises.every()}
SECONDS = 1000  # ms
PHONE, DESK = {"width": 390, "height": 800}, {"width": 1366, "height": 900}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A book of only these two pages."""
    folder = tmp_path_factory.mktemp("exercises")
    pages = folder / "pages"
    (pages / "book").mkdir(parents=True)
    names = ("exercises", "playground")
    (pages / "index.md").write_text("# Pages\n\n```{toctree}\n" + "".join(f"book/{name}\n" for name in names) + "```\n")
    for name in names:
        shutil.copy(ROOT / f"book/{name}.md", pages / "book")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", ROOT / "book", "-D", f"extensions={EXTENSIONS}", "-D", "suppress_warnings=myst.xref_missing",
               pages, folder / "html"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert result.returncode == 0, result.stderr
    return folder / "html"


@pytest.fixture
def opened(browser, site):
    """Opens a page of the site: opened("exercises", "#exercise-02", **settings). Each test has a browser profile of its own."""
    contexts, broken_pages = [], []

    def open_page(name, hash="", **settings):
        context = browser.new_context(**{"viewport": DESK, "bypass_csp": True, **settings})  # axe and wait_for_function use eval
        contexts.append(context)
        broken_pages.append([])
        page = context.new_page()
        broken, asked = broken_pages[-1], []
        page.on("pageerror", lambda error: broken.append(str(error)))
        if settings.get("bypass_csp") is False:
            page.on("console", lambda message: message.type == "error" and broken.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{(site / 'book' / name).as_uri()}.html{hash}")
        page.wait_for_selector(".ex-view .ex-headline", state="attached")
        assert all(address.startswith(("file:", "blob:", "data:")) for address in asked)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not any(broken_pages)


def write(page, text):
    page.evaluate("text => document.querySelector('.ex-code .CodeMirror').CodeMirror.setValue(text)", text)


def headline(page, kind):
    page.wait_for_selector(f".ex-headline.ex-{kind}", timeout=20 * SECONDS)
    return page.locator(".ex-headline").inner_text()


# ---- Verdicts

JUDGE = """async (variants) => {
    const found = [];
    for (const [name, texts] of variants) {
        await new Promise((resolve) => document.head.append(Player.element("script", {src: `../_static/exercises/data/${name}.js`, onload: resolve})));
        const data = await Exercises.unpacked(exerciseData[name]);
        for (const [variant, text] of texts) {
            const verdict = await Exercises.judge(data, text, {random: () => 0.3, seconds: 100});
            found.push([name, variant, Exercises.kindOf(verdict), [...new Set([...verdict.findings.values()].map(({kind}) => kind))].sort().join(" ")]);
        }
    }
    return found;
}"""


def test_each_verdict_is_the_terminals(opened):
    """Broken: a kernel that is wrong in the terminal is right in the page, or the other way round. After a change of exercises: make learn-verdicts."""
    with open(verdicts.FILE, newline="") as file:
        rows = list(csv.DictReader(file))
    texts = {(task.name, name): text for task in TASKS.values() for name, text in verdicts.texts_of(task).items()}
    assert {(row["exercise"], row["variant"]): row["text"] for row in rows} == {key: verdicts.hash_of(text) for key, text in texts.items()}, "make learn-verdicts"
    page = opened("exercises")
    variants = [[task.name, list(verdicts.texts_of(task).items())] for task in TASKS.values()]
    page.set_default_timeout(0)
    found = page.evaluate(JUDGE, variants)
    terminal = [[row["exercise"], row["variant"], row["verdict"], row["findings"]] for row in rows]
    apart = [f"{ours}, in the terminal {theirs}" for ours, theirs in zip(found, terminal, strict=True) if ours != theirs]
    assert not apart, "\n".join(apart)


def test_the_site_has_no_answers(site):
    """Broken: a learner reads a model answer in the page's files."""
    for task in TASKS.values():
        packed = (site / f"_static/exercises/data/{task.name}.js").read_text().split('"')[-2]
        script = gzip.decompress(base64.b64decode(packed)).decode()
        answers = [] if task.kind == "predict" else list(verdicts.variants.right_ones(task).values())
        assert all(json.dumps(text)[1:-1] not in script for text in answers), task.name
    assert sum(path.stat().st_size for path in (site / "_static/exercises").rglob("*.js")) < 2e6


# ---- Working on an exercise

def test_an_exercise_from_the_first_error_to_why(opened):
    """Broken: a learner gets no message, no hint, no reason, or loses the work when the page is opened again."""
    task = TASKS["02"]
    page = opened("exercises", "#exercise-02", bypass_csp=False)
    page.wait_for_selector(".ex-code .CodeMirror")
    assert page.locator(".ex-finding").count() == 0, "the help of an unedited task may be its answer"
    page.get_by_role("button", name="Run", exact=True).click()
    assert headline(page, "bad").startswith("Wrong at n = 1: ")
    assert "out-of-bounds access: in[1]: past the end, size 1" in page.locator(".ex-finding").inner_text()
    assert not page.locator(".ex-finding details pre").is_visible()
    assert page.locator(".ex-why").is_hidden() and task.why not in page.content()
    page.get_by_role("button", name="Hint 1 of 2").click()
    assert task.hints[0] in page.locator(".ex-hints").inner_text() and task.hints[1] not in page.locator(".ex-hints").inner_text()
    write(page, task.text("answer.cu").replace("int i", "in i"))
    page.wait_for_selector(".ex-code .pl-message")
    assert headline(page, "bad") == "It does not compile: 4 errors"
    write(page, task.text("answer.cu"))
    assert headline(page, "good") == "Solved" and task.why in page.locator(".ex-why").inner_text()
    assert page.locator(".ex-next").inner_text() == "Next: 03 Back to front"
    page.get_by_role("button", name="Watch this run").click()
    page.wait_for_selector(".ex-player figure.pl-is-live[aria-busy=false]")
    write(page, task.text("task.cu"))
    page.wait_for_selector(".ex-outdated")
    write(page, task.text("answer.cu"))
    page.get_by_role("button", name="Watch the new run").wait_for()
    page.reload()
    assert headline(page, "good") == "Solved" and "1 of 48 done" in page.locator(".ex-list").inner_text()


def test_goals_and_printed_lines(opened):
    """Broken: a correct kernel that misses its goal counts as solved, or the output of printf is lost."""
    page = opened("exercises", "#exercise-10")
    assert "Correct, but the goal is not reached yet" in headline(page, "nearly")
    assert "at most 25" in page.locator(".ex-view .ex-table").inner_text()
    write(page, TASKS["10"].text("answer.cu").replace("int tid = threadIdx.x;", 'int tid = threadIdx.x;\n    if (tid == 7)\n        printf("seven\\n");', 1))
    assert headline(page, "good") == "Solved" and page.locator(".pl-printed").inner_text().startswith("seven\nseven")


def test_predictions(opened):
    """Broken: a wrong number is accepted, or the page reveals the right one."""
    page = opened("exercises", "#exercise-09")
    page.get_by_label("shared loads per block").fill("25")
    page.get_by_label("barrier arrivals per block").fill("70")
    page.keyboard.press("Enter")
    assert headline(page, "bad") == "1 of 2 numbers is right"
    assert page.locator(".ex-details").inner_text().split("\n\n") == ["✓ shared loads per block: 25, as you predicted",
                                                                     "✗ barrier arrivals per block: you predicted 70; the simulator counts more"]
    assert "into the fields" in page.locator("#exercise-09").inner_text() and "equals" not in page.locator("#exercise-09").inner_text()
    page.get_by_label("barrier arrivals per block").fill("72")
    page.get_by_role("button", name="Count").click()
    assert headline(page, "good") == "Solved"
    assert page.evaluate("Exercises.progress.load().seen['09_count_the_tree']") == {"shared loads per block": [25, 25], "barrier arrivals per block": [70, 72]}


def test_a_slow_kernel_is_replaced_by_the_next_one(opened):
    """Broken: an endless loop blocks the page until its limit."""
    page = opened("exercises", "#exercise-02")
    write(page, TASKS["02"].text("answer.cu").replace("if (i < n)", "for (volatile int k = 0; k < 2000000000; k++) {}\n    if (i < n)"))
    page.wait_for_function("document.querySelector('.ex-view').getAttribute('aria-busy') === 'true'")
    write(page, TASKS["02"].text("answer.cu"))
    assert headline(page, "good") == "Solved"


def test_progress_goes_to_the_terminal_and_back(opened, tmp_path):
    """Broken: make learn cannot read the page's file, or the page make learn's."""
    page = opened("exercises", "#exercise-02")
    write(page, TASKS["02"].text("answer.cu"))
    headline(page, "good")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export progress").click()
    download.value.save_as(tmp_path / "exercises.json")
    learner = Learner(tmp_path / "learn", list(TASKS.values()))
    transfer.merge(learner, transfer.read(tmp_path / "exercises.json", [task.name for task in learner.tasks]))
    assert progress.load(learner.folder)["done"] == ["02_bounds"] and learner.content(TASKS["02"]).decode() == TASKS["02"].text("answer.cu")
    with progress.changing(learner.folder) as state:
        state["done"].append("01_own_element")
    transfer.write(learner, tmp_path / "back.json")
    other = opened("exercises")
    other.locator(".ex-app input[type=file]").set_input_files(tmp_path / "back.json")
    other.wait_for_function("document.querySelector('.ex-note').textContent.startsWith('imported: 2 solved, 1 kernels')")
    other.locator(".ex-app input[type=file]").set_input_files({"name": "x.json", "mimeType": "application/json", "buffer": b"[]"})
    other.wait_for_function("document.querySelector('.ex-note').textContent.startsWith('x.json cannot be imported: it is no export')")


def test_the_sheet_to_hand_in(opened):
    """Broken: the sheet lacks a verdict or a kernel, has a later attempt instead of the solution, or its buttons are printed."""
    page = opened("exercises", "#exercise-02")
    write(page, TASKS["02"].text("answer.cu"))
    headline(page, "good")
    write(page, TASKS["02"].text("task.cu"))
    headline(page, "bad")
    page.get_by_role("link", name="Sheet to hand in").click()
    page.wait_for_selector(".ex-handed")
    row = page.locator(".ex-sheet tr", has_text="02 More threads than elements").inner_text()
    assert "yes" in row and "Solved" in row
    assert page.locator(".ex-handed pre").inner_text() == TASKS["02"].text("answer.cu")
    page.emulate_media(media="print")
    assert page.locator(".ex-app").is_hidden() and page.locator(".ex-table").is_visible()


def test_firefox_keeps_progress_from_the_disk(firefox, site):
    """Broken: an exercise needs what only Chromium has, or Firefox forgets it."""
    address = (site / "book/exercises.html").as_uri()
    firefox.command("WebDriver:Navigate", url=f"{address}#exercise-02")
    assert firefox.wait_for("(document.querySelector('.ex-code .CodeMirror') || {}).textContent")
    firefox.value("[...document.querySelectorAll('.ex-bar button')].find(({textContent}) => textContent === 'Run').click()")
    assert firefox.wait_for("(document.querySelector('.ex-headline.ex-bad') || {}).textContent").startswith("Wrong at n = 1: ")
    firefox.value(f"document.querySelector('.ex-code .CodeMirror').CodeMirror.setValue({json.dumps(TASKS['02'].text('answer.cu'))})")
    assert firefox.wait_for("(document.querySelector('.ex-headline.ex-good') || {}).textContent") == "Solved"
    firefox.command("WebDriver:Navigate", url=f"{address}?again#exercise-03")
    assert firefox.wait_for("(document.querySelector('.ex-list summary') || {}).textContent") == "All exercises: 1 of 48 done"


# ---- Contracts

ADD = """call = add(in, in2, out, n)
grid = (n + 255) / 256 # blocks
block = 256
computes = sums of both
sizes = 1 31 32 300
at most = 20 load requests
"""
RIGHT = "__global__ void add(const float *a, const float *b, float *c, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        c[i] = a[i] + b[i];\n}\n"


def test_a_kernel_is_judged_by_a_dropped_contract(opened):
    """Broken: a teacher's contract does not open, or a wrong kernel passes."""
    page = opened("playground")
    assert headline(page, "good") == "The kernel ran, without findings"
    choose = page.locator("input[type=file]")
    choose.set_input_files({"name": "add.contract", "mimeType": "text/plain", "buffer": ADD.encode()})
    page.wait_for_selector(".pg-contract:visible")
    write(page, RIGHT + "// 1")
    assert headline(page, "good") == "Passed" and "load requests\t20\t20" in page.locator(".ex-details").inner_text()
    write(page, RIGHT.replace("+ b[i]", "- b[i]"))
    assert "Wrong" in headline(page, "bad") and ", expected " in page.locator(".ex-details").inner_text()
    write(page, RIGHT.replace("if (i < n)", ""))
    page.wait_for_selector(".ex-finding")
    assert "past the end" in page.locator(".ex-finding").first.inner_text()
    choose.set_input_files({"name": "x.contract", "mimeType": "text/plain", "buffer": b"ladder = scan"})
    page.wait_for_function("document.querySelector('.ex-view .ex-note').textContent.includes('judged only in the terminal')")


def test_what_a_contract_forbids_is_forbidden_at_all_sizes(opened):
    """Broken: a kernel uses a forbidden operation at a size at which no goal is checked, and passes in the page."""
    text = RIGHT.replace("a[i] + b[i];", "a[i] + b[i];\n    if (n == 31 && i == 0)\n        atomicAdd(&c[0], 0.0f);")
    missed = "async ([words, text]) => (await Exercises.judgeByContract(Exercises.contract(words), text)).missed"
    assert opened("playground").evaluate(missed, [ADD.replace("requests", "requests, 0 atomics"), text]) == ["1 atomics at n = 31, at most 0"]


def test_large_elements_stay_exact(opened):
    """Broken: an element that is drawn twice becomes larger than floats add exactly, and a right kernel is wrong at random."""
    judge = "async ([words, text]) => (await Exercises.judgeByContract(Exercises.contract(words), text, {random: () => 0.9})).sizes.map(({wrong}) => wrong)"
    assert set(opened("playground").evaluate(judge, [ADD, RIGHT])) == {""}


def test_operations_compute_what_make_check_expects(opened):
    """Broken: an operation of a contract has another result in the page than in the terminal."""
    page = opened("playground")
    draw = random.Random(1)
    with_numbers = {name: contract.operation(name) for name in ("sums of pieces of 5", "numbers below 5")}
    for name, operation in (contract.OPERATIONS | with_numbers).items():
        size = (3, 4) if operation.of_rows else 12
        numbers = [draw.choice((-1, 1)) * draw.randint(1, 16) for _ in range(12 * operation.inputs)]
        numbers = [0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 3, 4] * operation.keyed + numbers
        arguments = ", ".join(["keys"] * operation.keyed + ["in", "in2"][:operation.inputs] + list(operation.outputs))
        text = f"call = f({arguments})\ngrid = 1\nblock = 32\ncomputes = {name}\nsizes = {'3x4' if operation.of_rows else '12'}"
        got = page.evaluate("([text, numbers, size, limit]) => Exercises.contract(text).operation.of(numbers, size, limit)", [text, numbers, size, operation.limit])
        expected = operation.of(numbers, size, *[operation.limit] * bool(operation.limit))
        assert got == ([pytest.approx(output, rel=1e-12) for output in expected] if operation.within else expected), name


SELECTS = """__global__ void f(const float *in, float *out, float *count, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (in[i] < 256)
            out[kept++] = in[i];
    *count = kept;
}
"""
LARGEST = """__global__ void f(const float *in, float *out, int n)
{
    float most = in[0];
    for (int i = 0; i < n; i++)
        most = in[i] > most ? in[i] : most;
    *out = most;
}
"""


@pytest.mark.parametrize("computes, text, verdict", [
    ("numbers below 256", SELECTS, "passed"), ("numbers below 256", SELECTS.replace("256", "17"), "wrong"), ("numbers below 256", SELECTS.replace("] <", "] <="), "wrong"),
    ("max", LARGEST, "passed"), ("max", LARGEST.replace("in[0]", "0"), "wrong"), ("max", LARGEST.replace("in[0]", "-1e9f"), "wrong")])
def test_the_page_has_the_judges_data(opened, computes, text, verdict):
    """Broken: a kernel passes in the page that is right for the usual numbers only; or a right one is wrong for others."""
    words = f"call = f(in, out{', count' * ('count' in text)}, n)\ngrid = 1\nblock = 1\ncomputes = {computes}\nsizes = 1 2 3 33 1000\n"
    judges = """async ([words, text]) => {
        let state = 7; // the same data in each run of this test
        const random = () => (state = (16807 * state) % 2147483647) / 2147483647;
        return Exercises.contractVerdict(await Exercises.judgeByContract(Exercises.contract(words), text, {random}));
    }"""
    assert opened("playground").evaluate(judges, [words, text]) == verdict


BY_SHUFFLES = """__global__ void sum(const float *in, float *out, int n)
{
    int begin = blockIdx.x * blockDim.x + threadIdx.x;
    float own = 0;
    for (int i = begin; i < n; i += gridDim.x * blockDim.x)
        own += in[i];
    for (int s = 16; s > 0; s /= 2)
        own += __shfl_down_sync(MASK, own, s);
    if (begin % 32 == 0)
        out[begin / 32] = own;
}
"""


@pytest.mark.parametrize("mask, in_exercise, by_contract", [("~0u", "solved", "passed"), ("__activemask()", "wrong", "wrong")])
def test_the_lanes_of_a_warp_do_not_run_together(opened, mask, in_exercise, by_contract):
    """Broken: a kernel passes in the page that assumes that the lanes of a warp run in lockstep, which make learn and make judge refuse."""
    text = BY_SHUFFLES.replace("MASK", mask)
    alone = text.replace(", int n", "").replace("i < n", "i < begin + 1")
    assert opened("exercises").evaluate(JUDGE, [[TASKS["18"].name, [["alone", alone]]]])[0][2] == in_exercise
    words = "call = sum(in, out, n)\ngrid = 1\nblock = 32\ncomputes = sum\nsizes = 1 2 3 33 1000\n"
    judges = "async ([words, text]) => Exercises.contractVerdict(await Exercises.judgeByContract(Exercises.contract(words), text))"
    assert opened("playground").evaluate(judges, [words, text]) == by_contract


@pytest.mark.parametrize("text", ["call = f(out)", ADD.replace("n + 255", "m + 255"), ADD + "grid = 1", ADD.replace("256\n", "2048\n", 1), ADD.replace("sums of both", "sum of both"), ADD.replace("sums of both", "sums of pieces of 1000000"),
                                  ADD.replace("1 31", "1 x"), ADD.replace("load requests", "loads"), ADD.replace("in2", "in3"), ADD + "zeroed = in", ADD.replace("256 #", "0 #")])
def test_an_unusable_contract_is_refused_as_in_the_terminal(opened, text):
    """Broken: the page accepts a contract that make judge refuses."""
    with pytest.raises(contract.Unusable):
        contract.Contract("add.contract", contract.lines_of(text))
    page = opened("playground")
    assert page.evaluate("text => { try { Exercises.contract(text); return 'accepted'; } catch (error) { return error.message; } }", text) != "accepted"


# ---- How it looks

@pytest.mark.parametrize("name, hash", [("exercises", "#exercise-02"), ("exercises", "#exercise-09"), ("exercises", "#sheet"), ("playground", "")])
@pytest.mark.parametrize("scheme, window", [("light", DESK), ("dark", PHONE)])
def test_it_is_accessible_and_fits(opened, name, hash, scheme, window):
    """Broken: a colour, a label or a width that keeps somebody from reading the page."""
    page = opened(name, "" if hash == "#sheet" else hash, viewport=window, color_scheme=scheme)
    if hash == "#sheet":
        page.evaluate("location.hash = '#sheet'")
        page.wait_for_selector(".ex-sheet table")
    else:
        page.wait_for_timeout(SECONDS)
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
