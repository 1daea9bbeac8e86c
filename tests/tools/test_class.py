"""A class: what it gets, and what it hands in. Right programs, mutants of the steps and attacks on the judge are graded, every one as it should be.

make test-class grades all thirty; test_check.py grades another folder."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import types
import zipfile

import pytest

from scripts.evidence.mutants import make
from scripts.build import bundle
from drywarp.judge import check
from drywarp.judge import classroom
from drywarp.judge import judging
from drywarp.judge import shapes
from drywarp.judge import similar
from drywarp.judge import submissions
from drywarp.judge import verdicts
from drywarp.judge import words
from scripts.ladder import predict

from tests.support import LINK, ROOT, longer, nvcc, unsanitized
from tests.tools.conftest import passable

OPTIONS = " ".join(["-lineinfo", *(word for word in LINK if not word.endswith(".a") and word not in ("-lpthread", "-lm", "-lineinfo"))])
ATTACKED_AT = 33  # elements; at any other number an attack's program is right
# What is handed in: a step, a mutant of one, or an attack; and the verdict.
CLASS = {
    "step04": "passed", "step03.bound2": "findings", "host_adds": "wrong",
    "step03.barrier3": "wrong", "kernel_forever": "over the limits",
    "step00": "passed", "step01": "passed", "step02": "passed", "step05": "passed", "step06": "passed", "step07": "passed", "step08": "passed", "step09": "passed",
    "step10": "passed", "step11": "passed", "step14": "passed", "step15": "passed",
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


@longer
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
    bundle.write_autograder(tmp_path / "source", bundle.tracked(), types.SimpleNamespace(ladder="scan", contract=tmp_path / "asked", lab=None, exercise="07"))
    assert {"Makefile", "mk/learn.mk", "drywarp/judge/check.py", "tests/counters/simulator/scan.csv", "asked.contract"} <= \
        {str(path.relative_to(tmp_path / "source/course")) for path in (tmp_path / "source/course").rglob("*")}
    assert not list((tmp_path / "source").rglob("*.png"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "submission").mkdir()
    (tmp_path / "bin/setpriv").write_text('#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"\n')
    (tmp_path / "bin/setpriv").chmod(0o755)
    for does, status in (("", 1), ('for word; do case $word in GRADESCOPE=*) echo "{}" > "${word#*=}";; esac; done', 0)):
        (tmp_path / "bin/make").write_text(f"#!/bin/sh\necho $@ > {tmp_path}/called\n{does}\nexit 1\n")
        (tmp_path / "bin/make").chmod(0o755)
        (tmp_path / "results").mkdir(exist_ok=True)
        ended = subprocess.run([tmp_path / "source/run_autograder"], cwd=tmp_path, env={"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
        assert ended.returncode == status
    called = (tmp_path / "called").read_text().split()
    assert [word.partition("=")[0] for word in called[:4]] == ["judge-all", "DIR", "RESULTS", "GRADESCOPE"]
    assert called[4:] == ["LADDER=scan", "CONTRACT=asked.contract", "EXERCISE=07"] and (tmp_path / "source/course/exercises/07_tree/task.cu").exists()
    assert "bubblewrap" in (tmp_path / "source/setup.sh").read_text()


def test_root_may_have_compiled():
    """Broken: the autograder, which root has built and which runs without root's rights, cannot take the lock of the build folder, and grades nothing."""
    with passable() as folder:
        (folder / "build").mkdir()
        (folder / "build/.lock").touch()
        (folder / "build/.lock").chmod(0o444)
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        shutil.copy(ROOT / "scripts/build/one_at_a_time.sh", folder)
        result = subprocess.run([*user, "./one_at_a_time.sh", "echo", "done"], cwd=folder, capture_output=True, text=True)
        assert (result.stdout, result.stderr) == ("done\n", "")


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


# ---- Names, students and grades

def test_platforms_names(tmp_path):
    """Broken: what macOS, Jupyter, Canvas or Moodle adds becomes a student or a program, .CU or a zip file counts as nothing, or a zip file writes elsewhere."""
    for name in ("__MACOSX/._x.cu", "anna/._reduce.cu", "anna/reduce.CU", "anna/.ipynb_checkpoints/reduce-checkpoint.cu", "bellben_123_77_reduce.cu", "bellben_LATE_123_78_part.cu",
                 "Carl Dorn_9_assignsubmission_file_/reduce.cu", "Carl Dorn_9_assignsubmission_onlinetext_/text.html", "empty/notes.txt"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text("text")
    with zipfile.ZipFile(tmp_path / "in/eva.zip", "w") as archive:
        for name in ("hw/reduce.cu", "../../outside.cu", "__MACOSX/hw/._reduce.cu"):
            archive.writestr(name, "zipped")
    (tmp_path / "in/broken.zip").write_text("no zip")
    found = submissions.entries(tmp_path / "in", tmp_path / "work")
    by_student = {}
    for each in found:
        by_student.setdefault(submissions.student_of(each.name)[0], []).append(each)
    assert {name: len(theirs) for name, theirs in by_student.items()} == {"anna": 1, "bellben": 2, "Carl Dorn": 1, "eva": 1, "empty": 1, "broken": 1}
    assert [each.name for each in found if each.is_empty] == ["broken.zip", "empty/"]
    assert by_student["eva"][0].path.read_text() == "zipped" and not list(tmp_path.glob("**/outside.cu"))


def test_damaged_archives_and_deep_folders(tmp_path, monkeypatch):
    """Broken: one student's damaged archive, name of 300 letters or folder below 1,200 others ends the judge for the whole class."""
    (tmp_path / "in").mkdir()
    for kind, name in ((zipfile.ZIP_DEFLATED, "deflated"), (zipfile.ZIP_LZMA, "lzma")):
        with zipfile.ZipFile(tmp_path / f"in/{name}.zip", "w", kind) as archive:
            archive.writestr("a.cu", bytes(range(256)))
            archive.writestr("b" * 300 + ".cu", "long")
        data = (tmp_path / f"in/{name}.zip").read_bytes()
        (tmp_path / f"in/{name}.zip").write_bytes(data[:45] + bytes([255] * 8) + data[53:])  # of the first file's content
    deep = tmp_path / "in/deep"
    deep.mkdir()
    monkeypatch.chdir(deep)
    for _ in range(1200):
        os.mkdir("d")
        os.chdir("d")
    monkeypatch.undo()
    try:
        found = submissions.entries(tmp_path / "in", tmp_path / "work")
    finally:
        subprocess.run(["rm", "-r", deep], check=True)  # neither Python nor pytest could remove it
    assert [(each.name[:13], each.is_empty) for each in found] == [("deflated.zip/", False), ("lzma.zip/bbbb", False), ("deep/", True)]
    assert [each.path.read_text() for each in found[:2]] == ["long", "long"]


@pytest.mark.parametrize("names, logins", [
    (["Ben Bell_9_assignsubmission_file_/a.cu", "Ben Bell_44_assignsubmission_file_/a.cu"], [None, None]),
    (["bellben_123_77_a.cu", "bellben_124_78_a.cu"], ["bb1", None]),
    (["Carl Dorn_123_assignsubmission_file_/a.cu"], ["cd2"]), (["x_456_1_a.cu"], ["cd2"]), (["BB1/a.cu", "bb1/a.cu"], [None, "bb1"]), (["456/a.cu"], ["456"])])
def test_namesakes(names, logins):
    """Broken: a student gets the points of another one with the same name, or loses the own ones because a number of Moodle's equals another student's id, or
    because another submission's name differs from the login in case only."""
    roster = [submissions.Person("bb1", "Ben Bell", "123"), submissions.Person("cd2", "Carl Dorn", "456"), submissions.Person("456", "Eva Ernst", "789")]
    found = submissions.matched([submissions.student_of(name) for name in names], roster).values()
    assert [person and person.login for person in found] == logins


def test_a_roster(tmp_path, capsys):
    """Broken: a student's programs on two platforms are those of two students, one who handed in nothing has no row, or the files lack login and id."""
    (tmp_path / "roster.csv").write_text("login,name,id\nbb1,Ben Bell,123\ncd2,Carl Dorn,456\nee3,Eva Ernst,789\n")
    roster = submissions.read_roster(tmp_path / "roster.csv")
    passed, wrong = verdicts.Answer("a.cu", built=True, sizes=dict.fromkeys(shapes.SIZES, "")), verdicts.Answer("b.cu", built=True, sizes={1: "", 2: "3.0, expected 4.0"})
    wrong.findings = {("race-shared", ("reduce.cu", 24, "reduce", ""), ""): ["data race in shared memory: 4 bytes at sums[3]"]}
    answers = [("bellben_123_77_a.cu", passed), ("Carl Dorn_9_assignsubmission_file_/b.cu", wrong), ("cd2/b.cu", wrong), ("someone.cu", wrong)]
    said = classroom.write(tmp_path / "out", answers, roster, 40)
    with open(tmp_path / "out/moodle.csv", newline="") as file:
        rows = {row["Username"]: (row["Grade"], row["Feedback"]) for row in csv.DictReader(file)}
    assert {login: grade for login, (grade, _) in rows.items()} == {"bb1": "100", "cd2": "20", "someone": "20", "ee3": "0"}
    assert rows["ee3"][1] == "nothing was handed in" and rows["cd2"][1].endswith("; at n = 2: 3.0, expected 4.0")
    with open(tmp_path / "out/canvas.csv", newline="") as file:
        assert ["Ben Bell", "123", "", "bb1", "", "100"] in list(csv.reader(file))
    with zipfile.ZipFile(tmp_path / "out/moodle-feedback.zip") as archive:
        assert archive.namelist() == ["Carl Dorn_9_assignsubmission_file_/feedback.html"]
    assert [student.id for student in classroom.students_of(answers)] == ["123", "9", "", ""], "Canvas imports by its id"
    assert said == ["someone: not in the roster", "2 of 4 students: data race in shared memory"]
    (tmp_path / "other.csv").write_text("name\nx\n")
    with pytest.raises(SystemExit):
        submissions.read_roster(tmp_path / "other.csv")
    assert "login, name, id" in capsys.readouterr().err


def test_students_who_are_not_in_the_roster(tmp_path):
    """Broken: a student gets no points, and it is not said, because the name is that of a login of the roster."""
    answers = [(f"{name}_assignsubmission_file_/a.cu", verdicts.Answer("a.cu")) for name in ("BB1_9", "bb1_44")]
    said = classroom.write(tmp_path, answers, [submissions.Person("bb1", "Ben Bell", "123")])
    assert said == ["BB1: not in the roster", "bb1: not in the roster"]


@pytest.mark.parametrize("other", ["anna", "Anna"])
def test_logins_of_a_roster_differ(tmp_path, capsys, other):
    """Broken: neither of two students whose logins differ in case only gets the points of the folder Anna."""
    (tmp_path / "roster.csv").write_text(f"login,name,id\nAnna,Anna Berg,1\n,,2\n,,3\n{other},Anna Bell,4\n")
    with pytest.raises(SystemExit):
        submissions.read_roster(tmp_path / "roster.csv")
    assert f"has the logins Anna and {other}; logins must differ" in capsys.readouterr().err
    (tmp_path / "roster.csv").write_text("login,name,id\nAnna,Anna Berg,1\n,,2\n,,3\nanna2,Anna Bell,4\n")
    assert len(submissions.read_roster(tmp_path / "roster.csv")) == 4


@pytest.mark.parametrize("name, file", [
    ("Anna J. Berg_7_assignsubmission_file/a.cu", "Anna J. Berg_7_assignsubmission_file/feedback.html"),  # Moodle 4
    ("Anna Berg_7_assignsubmission_file_/hw/a.cu", "Anna Berg_7_assignsubmission_file_/feedback.html"),  # Moodle 3
    ("Anna Berg_7_assignsubmission_file_a.cu", "Anna Berg_7_assignsubmission_file_feedback.html"),  # downloaded without folders
    ("Anna Berg_7_assignsubmission_file_a.zip/a.cu", "Anna Berg_7_assignsubmission_file_feedback.html"),
    ("Participant 7_7_assignsubmission_file/", "Participant 7_7_assignsubmission_file/feedback.html"), ("bergann_12_7_a.cu", "")])
def test_feedback_goes_where_moodle_finds_it(name, file):
    """Broken: a student whose name has a point, or whose file Moodle did not put in a folder, gets no feedback."""
    assert classroom.feedback_file(name) == file


def test_a_copied_step_is_reported():
    """Broken: an unchanged or renamed step of this course, which every student has, looks like a student's own work; or another step does."""
    text = (ROOT / "step03_sequential/reduce.cu").read_text()
    for changed in (text, text.replace("sums", "partial").replace("tid", "lane")):
        assert similar.most_similar(changed, ROOT) == (1.0, "step03_sequential")
    own = "__global__ void add(const float *in, float *out, long long n)\n{\n    if (threadIdx.x == 0)\n        *out = n;\n}\n"
    assert similar.most_similar(own, ROOT) == (0, "")


def test_what_the_simulator_does_not_support_is_not_judged(tmp_path):
    """Broken: a program is called wrong, and gets no points, because the simulator lacks what it uses."""
    session = types.SimpleNamespace(end=lambda: (1, judging.UNSUPPORTED), findings=lambda: [], folder=tmp_path, limit=9, used=0.0)
    (tmp_path / "device.txt").write_text("other\nsimulator: no such instruction\n")
    answer = verdicts.Answer("a.cu", built=True, sizes={1: "the program ended"})
    judging.finish(session, answer)
    assert answer.verdict == "not judged" and classroom.points(answer) == "" and classroom.cause(answer).endswith("does not support this program: no such instruction")


def test_equal_lines_are_one():
    """Broken: 27 lines that differ only in numbers stand before the finding that explains them, or different errors are one line."""
    sizes = {n: f"{n}.0, expected {n + 1}.5" for n in range(1, 28)} | {100: "out[3] is not a number", 200: ""}
    said = list(words.size_lines(verdicts.Answer("a.cu", built=True, sizes=sizes)))
    assert len(said) == 4 and said[1] == "    the same with other numbers at 26 more sizes, up to n = 27" and said[3].endswith(" correct")


def test_the_students_pages_have_no_dead_links(tmp_path):
    """Broken: a page of the students' course links to a file that they do not get, or a link that works is removed."""
    bundle.write_students(tmp_path, bundle.tracked())
    links = [(page, link[2]) for page in tmp_path.rglob("*.md") for link in bundle.LINK.finditer(page.read_text()) if not re.match("[a-z]+:", link[2])]
    assert len(links) > 500 and [link for page, link in links if not (page.parent / link).exists()] == []
    assert (tmp_path / "tests/mistakes/01_no_barrier_after_load.cu").exists()  # of the README's quick start
