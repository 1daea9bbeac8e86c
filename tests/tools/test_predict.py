"""make try: what it takes as a prediction, what it shows, and what it keeps."""

import csv
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from scripts.ladder import before_after, predict, tries

from tests.support import LINK, ROOT, needs_simulator, nvcc

STEPS = sorted(path.parent.relative_to(ROOT).as_posix() for place in ("", "scan/", "labs/*/") for path in ROOT.glob(f"{place}step[0-9][0-9]_*/README.md"))
COMMAND = [sys.executable, "-m", "scripts.ladder.predict"]


def test_a_prediction_is_a_number_or_a_word():
    """Broken: what cannot be compared is kept as a prediction, or one is refused."""
    assert [predict.prediction(text) for text in ("\n", " Faster\n", "wrong", "0.37", "400000", "400,000")] == ["", "faster", "wrong", "0.37", "400000", "400000"]
    assert [predict.prediction(text) for text in ("quick", "-1", "nan", "1e", "0,37")] == [None] * 5


@pytest.mark.parametrize("status, before, after, outcome", [
    ("PASS", {"ms": 0.3144}, {"ms": 0.3711}, "slower"), ("PASS", {"ms": 0.3711}, {"ms": 0.3144}, "faster"),
    ("PASS", {"ms": 0.3144}, {"ms": 0.3145}, "same"), ("FAIL", {"ms": 1}, {}, "wrong"), ("FINDING", {"loads": 1}, {"loads": 1}, "wrong"),
    ("PASS", {"loads": 2}, {"loads": 1}, "right")])
def test_only_a_time_makes_a_change_faster(status, before, after, outcome):
    """Broken: noise, or fewer loads on the simulator, counts as faster, or a wrong result as right."""
    sides = [before_after.Side(SimpleNamespace(status=word), figures) for word, figures in (("PASS", before), (status, after))]
    assert before_after.outcome_of(*sides) == outcome


@pytest.mark.parametrize("predicted, outcome, gpu, line", [
    ("faster", "right", ("slower", "1 ms before, 2 ms after"), "Your prediction was wrong: you predicted faster; on an H200 it is slower (1 ms before, 2 ms after)."),
    ("faster", "right", None, "You predicted faster. The result stays correct; nothing was timed here, so this run cannot confirm your prediction."),
    ("wrong", "right", None, "Your prediction was wrong: you predicted wrong; the result stays correct."),
    ("wrong", "wrong", None, "Your prediction was right: you predicted wrong; it was wrong."), ("10", "right", None, "You predicted 10 loads; it was: 12 loads.")])
def test_a_prediction_gets_a_verdict(predicted, outcome, gpu, line):
    """Broken: a correct sum reads as a correct prediction."""
    assert predict.comparison(predicted, outcome, "loads", {"loads": 12}, gpu) == line


def test_rows_are_appended_whole(tmp_path):
    """Broken: a second header, or a row that hangs on one that a full disk has cut."""
    path = tmp_path / "predictions.csv"
    predict.keep(path, ["a", 1])
    with open(path, "a", encoding="utf-8") as file:
        file.write("cut")
    predict.keep(path, ["b", 2])
    assert path.read_text(encoding="utf-8") == ",".join(predict.COLUMNS) + "\na,1\ncut\nb,2\n"


@pytest.mark.parametrize("arguments, said", [
    (["--lab", "cpu", "--step", "03", "--try", "3"], "Try 3 of labs/cpu/step03_padded has no diff"), (["--step", "03", "--try", "9"], "those with a diff are 1 2 3"),
    (["--ladder", "scan", "--step", "77"], "there are 00 01"), (["--lab", "none"], "there are accuracy, ")])
def test_what_is_no_try_is_refused_in_one_line(arguments, said):
    """Broken: a mistyped STEP or TRY ends in a traceback, or does not say which there are."""
    result = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 2 and said in result.stderr and result.stderr.count("\n") == 1


def test_every_try_has_its_question_and_its_answer():
    """Broken: a page's Try is not found by its number, or the answer shown is another's."""
    for step in STEPS:
        page = predict.section(step)
        for number in range(1, len(tries.tries(step)) + 1):
            question, answer = predict.question_and_answer(step, number)
            assert question.startswith(f"**{number}. ") and "\n**" not in question and answer and "<" + "!--" not in answer and answer.split("\n")[0] in page
            assert page.index(question) < page.index(answer.split("\n\n")[-1])


def test_the_shown_diff_is_a_patch():
    """Broken: git apply does not take what make try shows."""
    patches = "".join(predict.patch(step, 1) for step in STEPS if tries.tries(step))
    result = subprocess.run(["git", "apply", "--check", "-"], input=patches, text=True, capture_output=True, cwd=ROOT)
    assert result.returncode == 0 and patches, result.stderr


def test_the_pages_diffs_are_patches(tmp_path):
    """Broken: git apply does not take a diff as it stands on a page, or makes another program of it than make try."""
    for step in STEPS:
        page, name = (ROOT / step / "README.md").read_text(encoding="utf-8"), tries.source_of(step).relative_to(ROOT)
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        for number, found in enumerate(tries.PATCH.finditer(page), 1):
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
            result = subprocess.run(["git", "apply", "-"], input=found["diff"], text=True, capture_output=True, cwd=tmp_path)
            assert result.returncode == 0 and (tmp_path / name).read_text(encoding="utf-8") == tries.changed(step, number), (step, number, result.stderr)


@needs_simulator
def test_a_try_is_predicted_run_and_answered(tmp_path):
    """Broken: the prediction is not kept, before and after are not shown beside the answer, or the learner's own file changes."""
    source = ROOT / "step03_sequential/reduce.cu"
    program = source.read_bytes()
    libraries = [word for word in LINK if word.endswith(".a") or word in ("-lpthread", "-lm")]
    compiler = " ".join([nvcc(), "-lineinfo", *(word for word in LINK if word not in libraries)])
    result = subprocess.run([*COMMAND, "--step", "03", "--try", "1", "--simulated", "--elements", "1000", "--build", "true", "--compiler", compiler,
                             "--libraries", " ".join(libraries), "--output", tmp_path / "predictions.csv"],
                            input="soon\nfaster\n", capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    counts = [line.split() for line in result.stdout.splitlines() if line.startswith("warp instructions")]
    with open(tmp_path / "predictions.csv", newline="", encoding="utf-8") as file:
        row, = csv.DictReader(file)
    assert (row["step"], row["try"], row["prediction"], row["changed_program"], row["status"]) == ("step03_sequential", "1", "faster", "right", "PASS")
    assert [f"{int(row[side]):,}" for side in ("before", "after")] == counts[0][2:] and row["before"] != row["after"]
    with open(ROOT / "plots/h200/tries.csv", newline="", encoding="utf-8") as file:
        measured = next(row for row in csv.DictReader(file) if (row["step"], row["try"]) == ("step03_sequential", "1"))
    assert f"{float(measured['after_ms']):.4f} ms after" in result.stdout and "Your prediction was wrong: you predicted faster; on an H200 it is slower" in result.stdout and source.read_bytes() == program


def test_a_prediction_outlives_a_run_that_does_not_end_well(tmp_path):
    """Broken: what was predicted is lost where the step does not compile, or the run is interrupted."""
    result = subprocess.run([*COMMAND, "--step", "03", "--try", "1", "--build", "false", "--output", tmp_path / "predictions.csv"],
                            input="0.4\n", capture_output=True, text=True, cwd=ROOT)
    row = (tmp_path / "predictions.csv").read_text(encoding="utf-8").splitlines()[1]
    assert result.returncode == 1 and row.endswith(",ms,0.4,not finished,,,")


def test_the_question_may_be_left(tmp_path):
    """Broken: Ctrl-C at the question is an error of make's, or leaves a row without a run."""
    process = subprocess.Popen([*COMMAND, "--step", "03", "--try", "1", "--simulated", "--output", tmp_path / "predictions.csv"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    shown = b""
    while b"Enter skips: " not in shown:
        shown += process.stdout.read1() or pytest.fail("it did not ask")
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate()
    assert (process.returncode, errors, said.count(b"\n")) == (0, b"", 2) and (tmp_path / "predictions.csv").read_bytes() == b""


@pytest.mark.parametrize("printed, columns, expected", [
    ("step,n,median_ms\na,1,0.5\na,2,0.25\n", "", 0.25),
    ("from a kernel, 1\nstep,columns,median_ms,status\na,128,0.5,PASS\na,512,0.25,PASS\na,1024,0.125,PASS\n", "512", 0.25),
    ("a,GPU,1024,1,0.75,0.7\n", "", 0.75),
])
def test_the_time_of_a_row(printed, columns, expected):
    """Broken: a Try is timed by another row than the last, or than the one that its page names."""
    assert tries.milliseconds_of(printed, columns) == expected
