"""A class: what it gets, and what it hands in. Right programs, mutants of the steps and attacks on the judge are graded, every one as it should be.

make test grades two; make test-class all thirty."""

import csv
import json
import os
import re
import subprocess
import sys
import types

import pytest

from scripts.evidence.mutants import make
from scripts.build import bundle
from drywarp.judge import check
from drywarp.judge import classroom
from drywarp.judge import shapes
from drywarp.judge import verdicts
from scripts.ladder import predict

from tests.support import LINK, ROOT, nvcc, unsanitized

OPTIONS = " ".join(["-lineinfo", *(word for word in LINK if not word.endswith(".a") and word not in ("-lpthread", "-lm", "-lineinfo"))])
ATTACKED_AT = 33  # elements; at any other number an attack's program is right
# What is handed in: a step, a mutant of one, or an attack; and the verdict.
CLASS = {
    "step04": "passed", "step03.bound2": "findings", "host_adds": "wrong",
    "step03.barrier3": "wrong", "kernel_forever": "over the limits",
    "step00": "passed", "step01": "passed", "step02": "passed", "step05": "passed", "step06": "passed", "step07": "passed", "step08": "passed", "step09": "passed",
    "step10": "passed", "step13": "passed", "step14": "passed",
    "step03.bound7": "passed",  # two lanes of a warp write the same sum at once: right by accident
    "step03.bound1": "wrong", "step03.index11": "wrong", "step03.stride2": "wrong", "step03.initialisation2": "wrong", "step05.barrier1": "findings",
    "step05.bound4": "findings", "step01.barrier1": "findings", "step08.mask1": "wrong",
    "system_call": "wrong", "prints_pass": "wrong", "replays": "wrong", "zeroes_the_array": "wrong", "much_device_memory": "over the limits", "host_forever": "over the limits",
}
SAMPLE = 2
HANDED_IN = list(CLASS) if os.environ.get("WHOLE_CLASS") else list(CLASS)[:SAMPLE]


# ---- What it hands in

def attack(name, folder):
    """A program that is right, but at one size."""
    text = (ROOT / "tests/tools/attacks.cu").read_text()
    every = sorted(set(re.findall(r"\bcase (\w+):", text)) | set(re.findall(r"\bn == (\w+) ", text)))
    numbers = "".join(f"{other} = {ATTACKED_AT if other == name else -1 - k}, " for k, other in enumerate(every))
    elsewhere = f"    if (n != {ATTACKED_AT})\n        return add<<<1, 1>>>(in, out, (int)n, 1);\n    switch (n) {{"
    return f"enum {{ {numbers} PORT = 9, JUDGE = {os.getpid()} }};\n" + text.replace("FOLDER", str(folder)).replace("    switch (n) {", elsewhere)


def handed_in(name, folder):
    """The text of a program of the class."""
    step, _, mutant = name.partition(".")
    if not step.startswith("step"):
        return attack(name, folder)
    source = make.sources()[step]
    if not mutant:
        return source.read_text()
    head, lesson, harness = make.parts(source)
    return head + next(each.text for each in make.mutants(step) if each.name == mutant) + harness


@unsanitized
def test_a_class_is_graded_as_it_should_be(tmp_path):
    """Broken: a right program fails, a wrong one passes, or one keeps another from its verdict."""
    for name in HANDED_IN:
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "reduce.cu").write_text(handed_in(name, tmp_path))
    result = subprocess.run([sys.executable, "-m", "drywarp.judge.check", "--nvcc", nvcc(), "--options", OPTIONS, "--seconds", "40", "--all", "--output",
                             tmp_path / "check.csv", tmp_path / "in"], capture_output=True, text=True)
    assert result.returncode == 1 and result.stderr == "", result.stdout + result.stderr
    with open(tmp_path / "check.csv", newline="") as file:
        assert {row["name"].partition("/")[0]: row["verdict"] for row in csv.DictReader(file)} == {name: CLASS[name] for name in HANDED_IN}
    with open(tmp_path / "check/moodle.csv", newline="") as file:
        assert {row["Username"]: row["Grade"] for row in csv.DictReader(file)} == {name: str(classroom.POINTS.get(CLASS[name], 0)) for name in HANDED_IN}


# ---- What it gets

def shown_openly():
    """The lines that stand on a page outside of any fold, or in a program."""
    for name in bundle.tracked():
        text = (ROOT / name).read_text(errors="replace")
        first, *parts = text.split("<details>")
        if name.endswith(".md"):
            yield from "\n".join([first, *(part.partition("</details>")[2] for part in parts)]).splitlines()
        elif name.startswith(("drywarp/", "scripts/")):
            yield from text.splitlines()


def is_answer(fold):
    return any(words in " ".join(fold.splitlines()[:2]) for words in ("Answer", "open after"))


def answers():
    """Each line that a page or an exercise shows only to those who have tried."""
    for name in bundle.tracked():
        text = (ROOT / name).read_text(errors="replace")
        folds = [part.partition("</details>")[0] for part in text.split("<details>")[1:]] if name.endswith(".md") else []
        yield from (line for fold in folds if is_answer(fold) for line in fold.splitlines()[2:])
        if re.match(r"exercises/.*/exercise\.py", name):
            yield from text.partition("\n    why=")[2].partition("\n")[0:1]
            yield from text.partition("\n    wrong=")[2].splitlines()


def test_students_get_no_answers(tmp_path):
    """Broken: the students' course has an answer, a solution of an exercise or a measured table; or a command fails without them."""
    bundle.write_students(tmp_path / "students", bundle.tracked())
    files = {str(path.relative_to(tmp_path / "students")): path.read_text(errors="replace") for path in (tmp_path / "students").rglob("*") if path.is_file()}
    there = {line.strip() for text in files.values() for line in text.splitlines()}
    revealed = {line.strip() for line in answers() if len(line) > 60} - {line.strip() for line in shown_openly()}
    assert len(revealed) > 1500 and sorted(revealed & there) == []
    assert not [name for name in files if re.search(r"answer\.cu|right\.cu|tries.*\.csv|teaching\.md|h[12]00/", name)]
    assert {"Makefile", "step03_sequential/reduce.cu", "exercises/07_tree/task.cu", "drywarp/judge/check.py", "tests/counters/simulator/steps.csv"} <= files.keys()
    compile(files["exercises/07_tree/exercise.py"], "exercise.py", "exec")
    assert {"book/player/simulator.js", "book/player/player.css"} <= files.keys() and not [name for name in files if name.startswith("book/player/programs")]
    for target in ("test", "test-learn", "test-class", "test-wheel"):
        result = subprocess.run(["make", target], cwd=tmp_path / "students", capture_output=True, text=True)
        assert result.returncode and not result.stdout and "your teacher has" in result.stderr.splitlines()[0], target
    assert "make test" not in subprocess.run(["make", "help"], cwd=tmp_path / "students", capture_output=True, text=True).stdout


def test_a_try_without_its_answer(tmp_path, monkeypatch):
    """Broken: make try ends with a traceback where the page has no answer."""
    bundle.write_students(tmp_path, ["step03_sequential/README.md", "step03_sequential/reduce.cu"])
    monkeypatch.setattr(predict, "ROOT", tmp_path)
    assert predict.question_and_answer("step03_sequential", 1)[1] == "Your teacher has it."


def test_a_bundle_replaces_only_a_bundle(tmp_path, capsys):
    """Broken: make bundle removes a folder of somebody's own."""
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle/thesis.txt").write_text("mine")
    with pytest.raises(SystemExit):
        bundle.replaced(tmp_path / "bundle", lambda folder: None)
    assert (tmp_path / "bundle/thesis.txt").exists() and "did not write it" in capsys.readouterr().err
    for text in ("old", "new"):
        bundle.replaced(tmp_path / "other", lambda folder: (folder / text).write_text(text))
    assert sorted(path.name for path in (tmp_path / "other").iterdir()) == [bundle.MARK, "new"]


# ---- The autograder

def test_the_autograders_folder(tmp_path):
    """Broken: what Gradescope runs lacks a part of the judge, calls it otherwise than make takes it, or gives no results where the judge has failed."""
    (tmp_path / "asked").write_text("call = launch(in, out, n)\n")
    (tmp_path / "source").mkdir()
    bundle.write_autograder(tmp_path / "source", bundle.tracked(), "scan", tmp_path / "asked")
    assert {"Makefile", "mk/learn.mk", "drywarp/judge/check.py", "tests/counters/simulator/scan.csv", "asked.contract"} <= \
        {str(path.relative_to(tmp_path / "source/course")) for path in (tmp_path / "source/course").rglob("*")}
    assert not list((tmp_path / "source").rglob("*.png"))
    (tmp_path / "bin").mkdir()
    for does, status in (("", 1), ('echo "{}" > ../../results/results.json', 0)):
        (tmp_path / "bin/make").write_text(f"#!/bin/sh\necho $@ > {tmp_path}/called\n{does}\nexit 1\n")
        (tmp_path / "bin/make").chmod(0o755)
        (tmp_path / "results").mkdir(exist_ok=True)
        ended = subprocess.run([tmp_path / "source/run_autograder"], cwd=tmp_path, env={"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
        assert ended.returncode == status
    called = (tmp_path / "called").read_text().split()
    assert called == ["judge-all", "DIR=../../submission", "RESULTS=../../results/judge", "GRADESCOPE=../../results/results.json", "LADDER=scan", "CONTRACT=asked.contract"]


def test_results_for_gradescope(tmp_path):
    """Broken: Gradescope shows no score, also where nothing was handed in, not the best one, or not what the judge says."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit):
        check.submissions_in(tmp_path / "empty", tmp_path, types.SimpleNamespace(gradescope=tmp_path / "none.json"))
    assert json.loads((tmp_path / "none.json").read_text())["score"] == 0
    right = verdicts.Answer("b.cu", built=True, sizes=dict.fromkeys(shapes.SIZES, ""))
    classroom.gradescope(tmp_path / "results.json", [("a.cu", verdicts.Answer("a.cu", said=["no <kernel>"])), ("b.cu", right)])
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["score"] == 100 and [test["score"] for test in results["tests"]] == [0, 100]
    assert [test["status"] for test in results["tests"]] == ["failed", "passed"] and "no <kernel>" in results["tests"][0]["output"]
    assert all(set(test) == {"name", "score", "max_score", "status", "output"} for test in results["tests"])
