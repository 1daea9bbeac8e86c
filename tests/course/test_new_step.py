"""A new step, in a copy of the repository: its skeleton, its entries in the tables, and the tests that it has to pass."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.ladder import step_check

from tests.support import ROOT, STEPS, some


LAST = STEPS[-1].name
NEW = f"step{int(LAST[4:6]) + 1:02}_newest"
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


# Markers whose content is not measured by a run or on a GPU: code, messages, settings, tables of suites and of attacks.
NOT_MEASURED = ("code", "settings", "finding", "suites", "disputed", "courses", "coursesleft", "found", "attacks", "figures")


@pytest.fixture
def tree(tmp_path):
    """A copy of the repository without build products."""
    ignored = shutil.ignore_patterns(".*", "build", "results", "site", "__pycache__", "reduce")
    return Path(shutil.copytree(ROOT, tmp_path / "tree", ignore=ignored))


def python(tree, *arguments, **environment):
    return subprocess.run([sys.executable, *arguments], cwd=tree, capture_output=True, encoding="utf-8",
                          env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | environment)


def new_step(tree, *arguments, **environment):
    return python(tree, "-m", "scripts.ladder.new_step", *arguments, **environment)


def make_tables(tree, *arguments, **environment):
    return python(tree, "plots/tables.py", *arguments, **environment)


def contents(tree):
    return {str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file()}


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


# ---- The skeleton

@pytest.mark.parametrize("environment", [{}, ASCII], ids=["", "ASCII"])
def test_a_new_step_follows_the_last(environment, tree):
    """Broken: the skeleton is not the last step's program, has another name or number, or the pages do not link to it."""
    before = contents(tree)
    result = new_step(tree, "newest", **environment)
    assert (result.returncode, result.stderr) == (0, "") and NEW in result.stdout
    after = contents(tree)
    assert {path for path in after if after[path] != before.get(path)} == {
        f"{NEW}/reduce.cu", f"{NEW}/README.md", f"{LAST}/README.md", "reference_cub/README.md"}
    old, new = ((tree / step / "reduce.cu").read_text().splitlines() for step in (LAST, NEW))
    differing = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert len(differing) == 3 and differing[2][1] == f'static const char STEP[] = "{NEW}";'
    assert differing[0][1].startswith(f"// Step {NEW[4:6]}: TODO") and "TODO" in differing[1][1] and max(map(len, new)) <= 92
    assert after[f"{LAST}/README.md"].decode().endswith(f"next: [{NEW}](../{NEW}/README.md)\n")
    assert not list(tree.glob(".new-step*"))


def test_a_bad_name_makes_nothing(tree):
    """Broken: a mistyped name is not explained in one line, or leaves a folder."""
    before = contents(tree)
    for arguments in ([], [""], ["Prefetch"], ["2fast"], ["two words"], ["two_words"], ["é"], ["../x"], ["a\nb"], ["a", "b"], ["--names"], ["a" * 300], [LAST[7:]]):
        result = new_step(tree, *arguments)
        assert (result.returncode, result.stdout) == (2, "") and len(result.stderr.splitlines()) == 1, arguments
    assert contents(tree) == before and not list(tree.glob(".new-step*"))


@pytest.mark.parametrize("page", [f"{LAST}/README.md", "reference_cub/README.md"])
def test_a_new_step_is_created_completely_or_not_at_all(page, tree):
    """Broken: if a page has no link to update, an incomplete step remains."""
    (tree / page).write_text("no links\n")
    before = contents(tree)
    result = new_step(tree, "newest")
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1 and page in result.stderr
    assert contents(tree) == before and not list(tree.glob(".new-step*"))


# ---- The tables

def test_a_new_step_is_measured_with_the_last(tree):
    """Broken: the commands that measure the last steps name them by hand, and a new one is not compared with CUB."""
    new_step(tree, "newest")
    shown = subprocess.run(["make", "-n", "build/against_cub_programs.h", "finish", "DEVICE=gpu", "NVCC=nvcc"], cwd=tree, capture_output=True, text=True)
    assert f"../{NEW}/reduce.cu" in shown.stdout and f'finish.csv" {NEW}' in shown.stdout, shown.stderr


def test_a_new_step_is_not_measured_yet(tree):
    """Broken: a new step is missing from the ladder, shows numbers of another step, or is not reported as not measured."""
    new_step(tree, "newest")
    page = tree / NEW / "README.md"
    edit(page, "2to30: make tables writes this -->\n", f"2to30: make tables writes this -->\n| | {NEW} |\n| ms, n = 2^26 | 0.1234 |\n")
    edit(page, "try 1: make tables writes this -->\n", "try 1: make tables writes this -->\nMeasured: 0.1234 ms.\n")
    edit(tree / "README.md", "\n## The steps\n", f"\n<!-- report {NEW}: make tables writes this -->\n<!-- end -->\n\n## The steps\n")
    result = make_tables(tree)
    line, = [line for line in result.stderr.splitlines() if NEW in line]
    assert result.returncode == 0 and "run-all.csv" in line
    text, first_page = page.read_text(encoding="utf-8"), (tree / "README.md").read_text(encoding="utf-8")
    assert "0.1234" not in text and "Not measured yet." in text
    assert re.search(r"^\| ms, n = 2\^26 \| .* \| not measured yet \|$", text, re.M)
    assert re.search(rf"^\| \[{NEW}\].* \| not measured yet \|$", first_page, re.M)
    assert f"<!-- report {NEW}: make tables writes this -->\nnot measured yet\n" in first_page


def test_a_missing_measurement_is_not_measured_yet(tree):
    """Broken: without a CSV, or without the output of a command, make tables crashes or writes empty tables."""
    for folder in [*tree.glob("plots/*/"), *tree.glob("scan/h*/")]:
        shutil.rmtree(folder)
    result = make_tables(tree)
    assert result.returncode == 0 and len(result.stderr.splitlines()) == len(STEPS) + 1
    for page in [tree / "README.md", *tree.glob("*/README.md"), *tree.glob("docs/*.md")]:
        text = page.read_text(encoding="utf-8")
        for kind, found in re.findall(r"<!-- (\w+).*: make tables writes this -->\n(.*?)<!-- end -->", text, re.S):
            assert kind in NOT_MEASURED or "not measured yet" in found.lower(), page


BROKEN = {  # (text in a marker, its replacement, the word that the message must contain)
    "no such kind": ("numbers ms", "number ms", "number"),
    "no such row": ("numbers ms", "numbers seconds", "seconds"),
    "no such function": ("code reduce", "code reduces", "reduces"),
    "no such step": ("numbers ms gb gb_2to30", "sizes step99_x", "step99_x"),
    "a word too many": ("try 1", "try 1 2", "try 1 2"),
    "no end": ("try 1: make tables writes this -->\n<!-- end -->", "try 1: make tables writes this -->", "try 1"),
    "no begin": ("<!-- try 1: make tables writes this -->\n", "", "end"),
    "misspelt": ("try 1: make tables writes this", "try 1: make tables writes it", "try 1"),
}


@pytest.mark.parametrize("fault", some(["no such row", "no end", "misspelt"], BROKEN))
def test_a_marker_that_cannot_be_filled_is_named(fault, tree):
    """Broken: the content of an invalid marker is kept without a message, or a page is written all the same."""
    old, new, named = BROKEN[fault]
    new_step(tree, "newest")
    edit(tree / NEW / "README.md", old, new)
    before = contents(tree)
    result = make_tables(tree)
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1
    assert f"{NEW}/README.md" in result.stderr and named in result.stderr
    assert contents(tree) == before


def test_tables_do_not_depend_on_the_locale(tree):
    """Broken: in an ASCII locale, make tables crashes or writes other characters; or where a step is new, a second run changes what the first has written."""
    new_step(tree, "newest")
    gain = re.search(r"[\d,]+× at 2\^26", (tree / "README.md").read_text(encoding="utf-8"))[0]
    edit(tree / "README.md", gain, "3×")
    assert make_tables(tree, **ASCII).returncode == 0
    here = contents(tree)
    assert make_tables(tree).returncode == 0 and contents(tree) == here and gain in here["README.md"].decode()


# ---- make step-check

def test_a_fresh_step_lists_what_is_to_be_written(tree):
    """Broken: make step-check generates results for an unfinished step, or does not say where its TODOs are."""
    new_step(tree, "newest")
    result = python(tree, "-m", "scripts.ladder.step_check", "reduce", NEW[4:6])
    lines = result.stderr.splitlines()
    assert result.returncode == 1 and lines[0] == "to be written first:"
    assert any(line.startswith(f"{NEW}/README.md:1: # Step") for line in lines) and any(line.startswith(f"{NEW}/reduce.cu:1: ") for line in lines)
    assert any("complete the line below the title" in line for line in lines)


def test_a_steps_rows_replace_its_old_ones(tmp_path):
    """Broken: make step-check duplicates the rows of a step, loses those of others, or puts a new step after reference_cub."""
    table = tmp_path / "steps.csv"
    table.write_text("step,count\nstep01_a,1\nstep02_b,2\nreference_cub,3\n")
    step_check.replace_rows(table, "step02_b", [["step02_b", "4"]])
    step_check.replace_rows(table, "step03_c", [["step03_c", "5"], ["step03_c", "6"]])
    assert table.read_text() == "step,count\nstep01_a,1\nstep02_b,4\nstep03_c,5\nstep03_c,6\nreference_cub,3\n"


def test_the_first_comment_names_the_lessons_lines(tmp_path):
    """Broken: make step-check leaves or writes wrong line numbers in line 4 of a program, or changes anything else."""
    program = tmp_path / "reduce.cu"
    right = (STEPS[3] / "reduce.cu").read_text(encoding="utf-8")
    for before in (right, re.sub(r"lesson: lines \d+ to \d+", "lesson: lines 1 to 2", right)):
        program.write_text(before, encoding="utf-8")
        step_check.write_lesson_lines(program)
        assert program.read_text(encoding="utf-8") == right


def test_a_missed_mutant_names_an_earlier_one_with_the_same_change(monkeypatch):
    """Broken: make step-check hides the reason of an earlier step, or lists a mutant that missed.csv explains."""
    columns = ("mutant", "step", "line", "before", "after", "verdict")
    rows = [("step01.bound1", "step01", "5", "i < n", "i <= n", "equivalent"), ("step02.bound1", "step02", "6", "i < n", "i <= n", "missed"),
            ("step02.bound2", "step02", "7", "j < n", "j <= n", "missed"), ("step02.fence1", "step02", "8", "fence();", ";", "missed")]
    monkeypatch.setattr(step_check.mutants, "joined", lambda: [dict(zip(columns, row)) for row in rows])
    monkeypatch.setattr(step_check.mutants, "reasons", {"equivalent.csv": {"step01.bound1": "it adds 0"}, "missed.csv": {"step02.fence1": "not modelled"}}.get)
    same, other = step_check.missed_mutants("step02")
    assert same.startswith("step02.bound1: ") and "the reason of step01.bound1" in same and same.endswith("it adds 0")
    assert other.startswith("step02.bound2: ") and "explain it" in other


def test_a_new_step_has_a_chapter(tree):
    """Broken: a step that book/contents.toml does not name is missing from the book."""
    new_step(tree, "newest")
    result = python(tree, "-c", "from book import contents; print([chapter.pages for chapter in contents.chapters()])")
    assert f"'{LAST}/README', '{NEW}/README'" in result.stdout, result.stderr
