"""make learn: its verdicts and commands, and that no work is lost. make test-learn tries all exercises; here are two, by make test-long."""

import array
import base64
import contextlib
import html.parser
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from drywarp.learn import exercise as exercises
from drywarp.learn import judge, learn, page, progress
from scripts.evidence import variants

from tests.support import ROOT, longer, nvcc, unsanitized

pytestmark = [unsanitized, pytest.mark.builds("build/sim/libcuda.so.1", "build/sim/compile", "build/sim/replay")]  # which Python, that runs the device, is not
TASKS = exercises.every()
FIRST, SECOND = TASKS[:2]
WITHOUT_NVCC = judge.Tools("")  # nvcc takes a second for a kernel


def make_learn(folder, *arguments):
    """make learn without a terminal, and without nvcc."""
    return subprocess.run([sys.executable, "-m", "drywarp.learn.learn", "--folder", folder, "--nvcc", "", *arguments],
                          capture_output=True, text=True, cwd=ROOT, stdin=subprocess.DEVNULL, timeout=100)


@longer  # make test-learn tries every exercise; below, right and wrong kernels are judged one by one
@pytest.mark.parametrize("name", ["02_bounds", "21_side_by_side"])
def test_right_kernels_pass_and_planted_mistakes_do_not(name, capsys):
    assert variants.examined(exercises.read(exercises.FOLDER / name), judge.Tools(nvcc())), capsys.readouterr().out


def test_every_exercise_is_whole():
    """Numbers without gaps, all texts, and enough right solutions."""
    assert [task.number for task in TASKS] == [f"{number:02}" for number in range(1, len(TASKS) + 1)]
    for task in TASKS:
        assert task.text("task.cu") and task.title and task.task.endswith(".") and (ROOT / task.lesson).is_file(), task.name
        if task.kind == "predict":
            assert learn.predicted(task.text("task.cu")).keys() == {question.words for question in task.questions}, task.name
        else:
            assert task.text("answer.cu") != task.text("task.cu"), task.name
            assert len(variants.right_ones(task)) >= variants.RIGHT_ONES, task.name


def test_without_a_terminal_it_looks_once(tmp_path):
    before = make_learn(tmp_path)
    assert before.returncode == 1 and "01 not yet" in before.stdout and "wrong at n = " in before.stdout
    assert "finding: data race in global memory: " in before.stdout
    assert f"{FIRST.name}.cu:5: 4-byte write by thread (0,0,0) in block (0,0,0), kernel add_one:  out[i]" in before.stdout
    prints = '    __syncthreads();\n    if (threadIdx.x == 7)\n        printf("seven\\n");\n'
    (tmp_path / f"{FIRST.name}.cu").write_text("#include <cstdio>\n" + FIRST.text("answer.cu").replace("    int i", prints + "    int i"))
    after = make_learn(tmp_path)
    assert after.returncode == 0 and "01 done" in after.stdout and after.stdout.endswith(f"next: 02 {SECOND.title}\n")
    assert "your kernel printed" in after.stdout and "        seven\n" in after.stdout
    assert re.search("^    block barriers +128 +0$", after.stdout, re.M)
    assert "done  01" in make_learn(tmp_path, "--list", "1").stdout


class Scripts(html.parser.HTMLParser):
    """The scripts of a page, as a browser reads them, and how many images there are."""

    def __init__(self):
        super().__init__()
        self.texts, self.images = [], 0

    def handle_starttag(self, tag, attributes):
        self.images += tag == "img"

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.texts.append(data)


def test_a_full_disk_is_reported_in_one_line(tmp_path):
    """Broken: make learn ends in a traceback, or leaves a part of a file."""
    code = ("import resource, sys; from drywarp.learn import learn; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)); "
            f"sys.argv = ['learn.py', '--folder', {str(tmp_path)!r}, '--go', '1']; learn.main()")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 2 and result.stderr == f"learn.py: {tmp_path / progress.NAME} cannot be written: File too large\n" and not list(tmp_path.iterdir())


def judged(task, text, tools=WITHOUT_NVCC):
    return judge.judged(task, "kernel.cu", text.encode(), tools)


def test_a_kernel_that_knows_the_sizes_does_not_pass():
    """Two of them differ from run to run."""
    known = " || ".join(f"n == {n}" for n in SECOND.sizes)
    assert "is uninitialised" in judged(SECOND, SECOND.text("answer.cu").replace("i < n", f"i < n && ({known})")).wrong


def test_long_arrays_need_single_precision():
    """Broken: a kernel that copies the elements of a long array as half, which has 11 bits, solves an exercise."""
    copy = next(task for task in exercises.every() if task.name == "23_four_at_once")
    values = {value for _ in range(20) for value in copy.drawn(8192)["in"].before}
    assert any(abs(value.as_integer_ratio()[0]).bit_length() > 11 for value in values)


def test_two_sizes_are_unknown():
    """Broken: a random size may be one of those in exercise.py, and a kernel that knows those passes now and then."""
    for task in TASKS:
        assert task.kind == "predict" or all(len(set(task.tries()) - set(task.sizes)) == 2 for _ in range(40)), task.name


def test_a_variable_without_memory_is_reported():
    """Broken: the simulator crashes if there is no memory for a module's variable, and the report only says that the run was stopped."""
    verdict = judged(FIRST, "__device__ char large[1ull << 31];\n" + FIRST.text("answer.cu").replace("    out[", "    large[i] = 1;\n    out["))
    assert verdict.wrong == "wrong at n = 256: the simulator does not load it: a PTX JIT compilation failed"


OUTSIDE = [
    ("01_own_element", "in[i] + 1", "in[i + 1] + 1", r"out-of-bounds access: in\[(\d+)\]: past the end, size \1"),
    ("01_own_element", "in[i] + 1", "in[i - 1] + 1", r"out-of-bounds access: in\[-1\]: before the beginning"),
    ("05_reverse_block", "255 - threadIdx.x", "256 - threadIdx.x", r"out-of-bounds access: tile\[256\]: past the end, size 256"),
]


@pytest.mark.parametrize("name, old, new, title", OUTSIDE)
def test_an_address_is_reported_as_an_element(name, old, new, title):
    """Broken: the report names an address and an allocation of the simulator, which the exercise does not show."""
    task = exercises.read(exercises.FOLDER / name)
    (lines, *_), = judged(task, task.text("answer.cu").replace(old, new)).findings.values(),
    assert re.fullmatch(title, lines[0]), lines
    assert re.match(r"kernel\.cu:\d+: .* by thread \(\d+,0,0\) in block \(\d+,0,0\), kernel ", lines[1]), lines


def test_a_race_of_the_same_thread_of_two_blocks_names_the_index():
    """Broken: a learner who forgets blockIdx is first advised about flags."""
    (lines, *_), = judged(FIRST, FIRST.text("task.cu").replace("int i = 0;", "int i = threadIdx.x;")).findings.values(),
    assert [line for line in lines if line.startswith("help: ")][0].startswith("help: check whether the index depends on blockIdx"), lines


def test_elements_of_arrays():
    """Broken: an address between two arrays gets the name of the wrong one, or one far away a name at all."""
    arrays = [("in", 0x1000, 1024), ("out", 0x2000, 1024)]
    title = [judge.with_elements({"kind": kind, "title": title}, arrays, [("tile", 4, 256)])["title"] for kind, title in (
        ("out-of-bounds", "4 bytes at 0x1404: 4 bytes past the end"), ("out-of-bounds", "4 bytes at 0x1ffc: before"), ("out-of-bounds", "4 bytes at 0x7fff00000000"),
        ("misaligned", "16 bytes at 0x2004"), ("out-of-bounds", "0x404 of shared memory, of which the block has 1024"), ("leak", "0x1404"))]
    assert title == ["in[257]: past the end, size 256", "out[-1]: before the beginning", "4 bytes at 0x7fff00000000", "16 bytes at out[1]",
                     "tile[257]: past the end, size 256", "0x1404"]
    assert judge.shared_arrays("__shared__ float tile[32][33]; __shared__ float4 four[8];\n__shared__ int any[N];") == [
        ("tile", 4, 1056), ("four", 16, 8), ("any", 4, 0)]


def test_a_compiler_error_is_reported_with_its_line():
    misspelt = FIRST.text("answer.cu").replace("threadIdx", "threadIndex")
    assert judged(FIRST, misspelt, judge.Tools(nvcc())).said[0].startswith('kernel.cu(4): error: identifier "threadIndex"')
    assert "it defines no kernel add_one" in judged(FIRST, "__global__ void other() {}\n").said[0]
    assert "add_one has 1 parameters; the task's kernel has 2" in judged(FIRST, "__global__ void add_one(float *out) { *out = 1; }\n").said[0]


def test_without_nvcc_the_kernel_compiler_answers(tmp_path):
    """Broken: without nvcc there is no verdict, the compiler's advice is lost, or the report does not say which compiler answered."""
    file = tmp_path / f"{FIRST.name}.cu"
    file.write_text(FIRST.text("answer.cu").replace("threadIdx", "threadIndex"))
    said = make_learn(tmp_path).stdout
    assert f"    {file.name}:4:39: error: 'threadIndex' is not declared\n" in said and "help: did you mean 'threadIdx'?" in said
    file.write_text(FIRST.text("answer.cu"))
    assert re.search(r"^01 done \([\d.]+ s, compiled by drywarp compile\)$", make_learn(tmp_path).stdout, re.M)
    assert "compiled by nvcc)" in make_learn(tmp_path, "--nvcc", nvcc(), "--go", "1").stdout


@pytest.mark.parametrize("words, said", [
    (["NVCC=", "CUDA_HEADERS=there"], "--nvcc '' "), (["COMPILER=drywarp"], "--nvcc '' "), (["NVCC=my/nvcc"], "--nvcc 'my/nvcc'"), (["COMPILER=gcc"], "accepted are nvcc and drywarp"),
    (["NVCC=", "CUDA_HEADERS="], "make headers installs the headers"), (["NVCC=", "COMPILER=nvcc"], "nvcc was not found")])
def test_make_chooses_the_compiler(words, said):
    """Broken: make learn needs nvcc, takes another compiler than the learner's, or does not say what is missing."""
    result = subprocess.run(["make", "-n", "learn", *words], capture_output=True, text=True, cwd=ROOT, stdin=subprocess.DEVNULL)
    assert said in result.stdout + result.stderr


def test_an_unreadable_file_is_reported_in_one_line(tmp_path):
    (tmp_path / f"{FIRST.name}.cu").mkdir()
    result = make_learn(tmp_path)
    assert result.returncode == 2 and "cannot be read" in result.stderr and result.stderr.count("\n") == 1


def test_the_page_plays_a_run_beside_what_is_right():
    """Broken: the page compares with what a wrong kernel wrote, or with a scratch array."""
    task, = (task for task in TASKS if task.name == "30_last_block")
    wrong = task.text("answer.cu").replace("float all = 0", "float all = 1")
    made = page.played(task, wrong, judged(task, wrong), WITHOUT_NVCC)
    (n, run), = made["runs"].items()
    values, total = (array.array("f", base64.b64decode(made["bytes"][line.split()[-1]])) for line in run.splitlines() if line.startswith("read"))
    assert len(values) == n and list(total) == [sum(values)]


def test_the_page_plays_a_size_at_which_something_is_wrong():
    """Broken: a finding is reported, but the page plays a run without one."""
    outside = SECOND.text("answer.cu").replace("i < n", "i < n + (n == 257)")
    verdict = judged(SECOND, outside)
    assert verdict.findings and page.played(SECOND, outside, verdict, WITHOUT_NVCC)["sizes"] == [257]


def test_a_page_without_a_run_has_only_words(tmp_path):
    """Broken: a compiler error ends make learn, or its markup becomes part of the page."""
    (tmp_path / f"{FIRST.name}.cu").write_text("#error <b>mine</b>\n")
    assert make_learn(tmp_path).returncode == 1
    text = (tmp_path / page.NAME).read_text()
    assert "&lt;b&gt;mine&lt;/b&gt;" in text and "<b>mine" not in text and "<figure" not in text
    version, = re.findall('"(.*)"', (tmp_path / page.VERSION_NAME).read_text())
    assert f'=== "{version}"' in text


def test_a_comment_cannot_end_the_pages_script(tmp_path):
    """Broken: text after </SCRIPT> in a kernel becomes part of the page, and runs."""
    text = FIRST.text("answer.cu") + "// </ScRiPt><img src=x> </script> <!-- <script>\n"
    page.write(tmp_path, FIRST, "mine.cu", [], page.player_of(FIRST, text, judged(FIRST, text), WITHOUT_NVCC))
    scripts = Scripts()
    scripts.feed((tmp_path / page.NAME).read_text())
    assert not scripts.images and "</ScRiPt><img src=x> </script> <!-- <script>" in json.loads(re.search(r"\{.*\}", scripts.texts[0])[0])["page"]["source"]["text"]


def test_predictions_are_in_the_summary(tmp_path):
    """Broken: the first prediction is lost, or the summary explains an exercise that is not done."""
    task, = (task for task in TASKS if task.name == "04_spare_threads")
    text = task.text("task.cu").replace("launched =", "launched = 1,024").replace("sectors loaded =", "sectors loaded = 113")
    file = tmp_path / f"{task.name}.cu"
    for number, reported in (("", "no number yet"), (" 32", "you predicted 32; the simulator counts fewer"), (" 29", "04 done")):
        file.write_text(text.replace("requests =", f"requests ={number}"))
        assert reported in make_learn(tmp_path, "--go", "4").stdout
    sheet = (tmp_path / "chapter1.md").read_text()
    assert "| load requests | 32 | 29 |" in sheet and sheet.count("29 of 32 warps with a load") == 1
    assert FIRST.why not in sheet and "not done yet" in sheet


def test_a_done_exercise_that_is_chosen_stays(tmp_path):
    """Broken: GO to an exercise that is done moves on at once."""
    (tmp_path / f"{FIRST.name}.cu").write_text(FIRST.text("answer.cu"))
    assert make_learn(tmp_path).stdout.endswith(f"next: 02 {SECOND.title}\n")
    again = make_learn(tmp_path, "--go", "1")
    assert "01 done" in again.stdout and "01 was already done, and stays the current exercise; the next one: make learn GO=02" in again.stdout
    assert progress.load(tmp_path)["at"] == FIRST.name
    assert f"02 {SECOND.title}" in make_learn(tmp_path).stdout


def test_make_does_not_call_an_unsolved_exercise_an_error(tmp_path):
    """Broken: the verdict "not yet" ends with "make: *** Error 1"."""
    recipe = next(line for line in (ROOT / "mk/learn.mk").read_text().splitlines() if "drywarp.learn.learn" in line)
    assert recipe.endswith("|| [ $$? = 1 ]")


def test_reset_brings_the_task_back_and_keeps_what_was_written(tmp_path):
    file = tmp_path / f"{SECOND.name}.cu"
    file.write_text("mine")
    for _ in range(2):  # typed twice, it is still kept
        make_learn(tmp_path, "--reset", "2", "--hint", "1")
    assert file.read_text() == SECOND.text("task.cu") and file.with_suffix(".old.cu").read_text() == "mine"
    assert progress.load(tmp_path)["at"] == SECOND.name


def test_progress_and_kernels_travel_as_one_file(tmp_path):
    """Broken: what was done in the page or on another computer is lost, or a kernel here is overwritten."""
    there, here, file = tmp_path / "there", tmp_path / "here", tmp_path / "exercises.json"
    for folder, text in ((there, "// theirs\n"), (here, "// mine\n")):
        folder.mkdir()
        (folder / f"{SECOND.name}.cu").write_text(text)
    with progress.changing(there) as state:
        state |= {"done": [SECOND.name], "seen": {SECOND.name: {"threads": [1, 2]}}}
    assert make_learn(there, "--export", file).returncode == 0
    result = make_learn(here, "--import", file)
    assert result.returncode == 0 and result.stdout.startswith(f"imported from {file}: 1 solved exercises, 1 kernels"), result.stderr
    assert progress.load(here)["done"] == [SECOND.name] and progress.load(here)["seen"] == {SECOND.name: {"threads": [1, 2]}}
    assert [(here / f"{SECOND.name}{end}").read_text() for end in (".cu", ".old.cu")] == ["// theirs\n", "// mine\n"]
    for text in ("", "[1]", '{"format": "exercises 2"}', '{"format": "exercises 1", "done": 3, "seen": {}, "code": {}}'):
        file.write_text(text)
        refused = make_learn(here, "--import", file)
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "IMPORT=" in refused.stderr, text


def test_hints_have_three_levels(tmp_path):
    make_learn(tmp_path, "--go", "02", "--hint", "1")
    assert [make_learn(tmp_path, "--hint", level).stdout.split(": ", 1)[1].strip() for level in "123"] == list(SECOND.hints)


@pytest.mark.parametrize("arguments, reported", [(("--go", "99"), "GO='99' is not an exercise"), (("--hint", "4"), "HINT='4' is not a level"),
                                             (("--reset", "../x"), "RESET='../x' is not an exercise")])
def test_an_unusable_argument_is_reported_in_one_line(tmp_path, arguments, reported):
    result = make_learn(tmp_path, *arguments)
    assert result.returncode == 2 and reported in result.stderr and result.stderr.count("\n") == 1


def test_a_damaged_progress_is_reported_in_one_line(tmp_path):
    (tmp_path / progress.NAME).write_text('{"at": 3')
    result = make_learn(tmp_path, "--list", "1")
    assert result.returncode != 0 and "move it away" in result.stderr and result.stderr.count("\n") == 1
    assert (tmp_path / progress.NAME).read_text() == '{"at": 3'


def test_killed_in_the_middle_of_writing_it_loses_nothing(tmp_path):
    """The child writes once, and is killed when it has written half of the second state."""
    code = """import os, signal, sys; from pathlib import Path; from drywarp.learn import progress
def half(state, file, **_):
    file.write('{"at": "02')
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
for writes in (progress.json.dump, half):
    progress.json.dump = writes
    with progress.changing(Path(sys.argv[1])) as state:
        state["done"].append("01_own_element")"""
    assert subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT).returncode == -signal.SIGKILL
    assert progress.load(tmp_path)["done"] == [FIRST.name]
    with progress.changing(tmp_path) as state:  # the lock is free
        state["at"] = SECOND.name
    assert progress.load(tmp_path)["at"] == SECOND.name


def test_predictions_in_several_notations():
    """Broken: Windows line endings spoil a number, or a number of 5,000 digits ends make learn."""
    assert learn.predicted("// threads launched =  1,024 \r\n// load requests =\n") == {"threads launched": "1024", "load requests": ""}
    assert list(map(learn.is_number, ("29", "1.5", "", "3 * 7", "9" * 5000))) == [True, True, False, False, False]


def test_a_comment_of_blanks_is_read_at_once():
    """Broken: one file keeps the judge busy for days."""
    code = "from drywarp.learn import learn; print(learn.predicted('//' + ' ' * 60000 + 'x'))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=100).stdout == "{}\n"


def read_until(terminal, text, seconds=100):
    """The terminal's output, up to a text."""
    shown, end = "", time.monotonic() + seconds
    while text not in shown:
        assert select.select([terminal], [], [], max(0, end - time.monotonic()))[0], shown
        shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


@contextlib.contextmanager
def on_a_terminal(folder, *arguments):
    """make learn on a terminal of its own, and its process."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ROOT)
        os.environ.pop("DISPLAY", None)  # no browser in tests
        os.environ.pop("WAYLAND_DISPLAY", None)
        os.execv(sys.executable, [sys.executable, "-m", "drywarp.learn.learn", "--folder", str(folder), "--nvcc", "", *arguments])
    try:
        yield terminal, child
    finally:
        os.close(terminal)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)


def test_on_a_terminal_it_waits_for_each_save(tmp_path):
    """Broken: a save is missed, for instance by an editor that replaces the file; or Ctrl-C is an error."""
    file = tmp_path / f"{FIRST.name}.cu"
    with on_a_terminal(tmp_path) as (terminal, child):
        read_until(terminal, "a hint: make learn HINT=1")
        file.write_text(FIRST.text("answer.cu").replace("+ 1", "+ 2"))
        assert "wrong at n = " in read_until(terminal, "01 not yet")
        replaced = tmp_path / "as editors do"
        replaced.write_text(FIRST.text("answer.cu"))
        os.replace(replaced, file)
        assert "01 done" in read_until(terminal, SECOND.title)
        os.write(terminal, b"\x03")  # Ctrl-C
        assert "are kept" in read_until(terminal, "make learn continues here")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_one_watches_and_other_terminals_move_it(tmp_path):
    """Broken: GO in another terminal has no effect here, a second make learn watches, too, or a missing file is not reported."""
    with on_a_terminal(tmp_path) as (terminal, _):
        read_until(terminal, "a hint: make learn HINT=1")
        with on_a_terminal(tmp_path) as (second, child):
            read_until(second, "already running in another terminal")
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        with on_a_terminal(tmp_path, "--go", "07") as (second, child):
            read_until(second, "in your other terminal is now at 07")
        read_until(terminal, "a hint: make learn HINT=1")
        (tmp_path / f"{TASKS[6].name}.cu").unlink()
        read_until(terminal, "make learn RESET=07 in another terminal restores the task")
        assert "<h1>07 " in (tmp_path / page.NAME).read_text()
        make_learn(tmp_path, "--reset", "07", "--hint", "1")
        assert "wrong at n = " in read_until(terminal, "07 not yet")
