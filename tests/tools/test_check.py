"""make judge: what the judge says, of a program and of a folder of them; and its sandbox. test_attacks.py has what it does not believe."""

import csv
import dataclasses
import encodings.idna  # noqa: F401 (for socket.create_connection, before a test drops root's rights to read Python's files)
import os
import re
import socket
import signal
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

import pytest


from drywarp.judge import cgroup
from drywarp.judge import check
from drywarp.judge import check_device
from drywarp.judge import classroom
from drywarp.judge import judging
from drywarp.judge import means
from drywarp.judge import sandbox
from drywarp.judge import scratch
from drywarp.judge import shapes
from drywarp.judge import verdicts
from drywarp.judge import words
from drywarp.judge.table import Table

from tests.support import LINK, ROOT, SIM, nvcc, unsanitized

OPTIONS = " ".join(["-lineinfo", *(word for word in LINK if not word.endswith(".a") and word not in ("-lpthread", "-lm", "-lineinfo"))])
PARTS = [SIM / "check_program.o", SIM / "libcuda.so.1"]
pytestmark = [unsanitized, pytest.mark.builds("build/sim/check_program.o", "build/sim/libcuda.so.1")]  # which Python, that runs the device, is not
DRAWN = len(shapes.SIZES) + 4  # with the random sizes
NOTHING = types.SimpleNamespace(read=[], run=[], write=[], alone=True, strict=True)
landlock = pytest.mark.skipif(not means.works(means.restrict_files, NOTHING), reason="this machine has no Landlock")

RIGHT = (ROOT / "step03_sequential/reduce.cu").read_text()
WRONG = """
static const char STEP[] = "step00_baseline";
__global__ void reduce(const float *in, float *out, long long n)
{
    int unused_variable;
    float sum = 0.0f;
    for (long long i = 0; i < n - (n == 257) + (n == 513); i++)
        sum += in[i];
    *out = sum;
}
static long long partial_count(long long) { return 1; }
static void launch(const float *in, float *out, long long n)
{
    reduce<<<1, 1>>>(in, out, n);
    CHECK(cudaGetLastError());
}
"""
# Right, but two warps write to one place, the same value.
RACY = WRONG.replace(" - (n == 257) + (n == 513)", "").replace("reduce<<<1, 1>>>", "reduce<<<1, 64>>>")
# Right where the first block draws all tiles; else two blocks may add to one place at a time.
QUEUE = """
static const char STEP[] = "step15_notickets";
__device__ unsigned drawn;
__global__ void start(float *out) { *out = drawn = 0; }
__global__ void reduce(const float *in, float *out, long long n)
{
    float sum = 0.0f;
    bool some = false;
    for (long long i; (i = 256ll * atomicAdd(&drawn, 1)) < n; some = true)
        for (int k = 0; k < 256 && i + k < n; k++)
            sum += in[i + k];
    if (some)
        *out += sum;
}
static long long partial_count(long long) { return 1; }
static void launch(const float *in, float *out, long long n)
{
    start<<<1, 1>>>(out);
    reduce<<<4, 1>>>(in, out, n);
    CHECK(cudaGetLastError());
}
"""
# Two warps take a lock; the one that comes first in the default order has no fence after it.
LOCKED = """
static const char STEP[] = "step15_notickets";
__device__ int taken;
__global__ void start(float *out) { *out = taken = 0; }
__global__ void reduce(const float *in, float *out, long long n)
{
    float sum = 0.0f;
    if (threadIdx.x % 32 != 0)
        return;
    for (long long i = threadIdx.x / 32; i < n; i += 2)
        sum += in[i];
    while (atomicCAS(&taken, 0, 1) != 0)
        continue;
    if (threadIdx.x > 0)
        __threadfence();
    *out += sum;
    __threadfence();
    atomicExch(&taken, 0);
}
static long long partial_count(long long) { return 1; }
static void launch(const float *in, float *out, long long n)
{
    start<<<1, 1>>>(out);
    reduce<<<1, 64>>>(in, out, n);
    CHECK(cudaGetLastError());
}
"""


def options(**changed):
    """What check.py is called with."""
    return types.SimpleNamespace(**{"nvcc": nvcc(), "options": OPTIONS, "object": PARTS[0], "library": PARTS[1], "threads": None, "seconds": 30,
                                    "shape": shapes.REDUCE, **changed})


def run(*arguments, **environment):
    return subprocess.run([sys.executable, "-m", "drywarp.judge.check", "--nvcc", nvcc(), "--options", OPTIONS, *map(str, arguments)],
                          capture_output=True, text=True, env=os.environ | environment, timeout=200)


FEW = dataclasses.replace(shapes.REDUCE, sizes=(257, 513, 4097, shapes.COUNTED_AT))


def judged(folder, text, *arguments):
    (folder / "reduce.cu").write_text(text)
    result = run(folder / "reduce.cu", *arguments)
    assert result.stderr == ""
    return result.returncode, result.stdout


# ---- Right and wrong

def test_a_right_step_passes(tmp_path):
    """Broken: the judge finds fault with a step of the course, or counts it otherwise than tests/counters does."""
    status, said = judged(tmp_path, RIGHT)
    assert status == 0, said
    assert said.count(" correct\n") == DRAWN and "\nbuilds ............... yes\n" in said and "\nfindings ............. none\n" in said
    assert re.search(r"load sectors +8,224 +8,224 ", said) and re.search(r"warp instructions +([\d,]+) +\1 ", said), said
    assert said.splitlines()[-1].startswith(f"passed: correct at {DRAWN} of {DRAWN} sizes, findings 0, ")
    assert "\nsandbox: limits of time" in said and "\nnot covered: " in said


def test_fewer_instructions_do_not_mean_less_time():
    """Broken: a slow kernel of one thread looks better than the last step, or its few threads are not reported."""
    last = list(words.step_counters(shapes.REDUCE).items())[-1]
    few = {**last[1], "blocks": 2, "threads": 64, "warp instructions": 100}
    remark = f"fewer warp instructions do not mean less time: 64 threads in 2 blocks here, {last[1]['threads']:,} threads in {last[1]['blocks']} blocks in {last[0]}; make mine measures"
    said = [[line.strip() for line in words.counter_lines(verdicts.Answer("reduce.cu", counters=counters))] for counters in (few, last[1])]
    assert remark in said[0] and remark not in said[1] and any(line.split()[:2] == ["threads", "64"] for line in said[0])


def test_a_mistake_in_another_order_is_reported(tmp_path):
    """Broken: warps come in one order only, so that a fence is not missed that is missing in the first one; or where none is, one is missed."""
    for text, findings in ((LOCKED, 1), (LOCKED.replace("if (threadIdx.x > 0)", ""), 0)):
        (tmp_path / "reduce.cu").write_text(text)
        answer = judging.checked(tmp_path / "reduce.cu", options(shape=FEW))
        assert answer.built and answer.right == len(FEW.sizes) and len(answer.findings) == findings, list(words.lines_about(answer, "reduce.cu"))


def test_a_wrong_size_is_named(tmp_path):
    """Broken: an error at one size is missed, its reason not guessed, an out-of-bounds access not reported, or it hides later errors."""
    (tmp_path / "reduce.cu").write_text(WRONG)
    answer = judging.checked(tmp_path / "reduce.cu", options(shape=FEW))
    said = "\n".join(words.lines_about(answer, "reduce.cu"))
    lines = dict(re.findall(r"^n = ([\d,]+) \.+ (.*)$", said, re.M))
    assert answer.status == verdicts.WRONG and len(lines) == len(FEW.sizes)
    assert re.fullmatch(r"wrong: [-+.e\d]+, expected [-+.e\d]+: the last element is missing", lines.pop("257"))
    assert lines.pop("513").startswith("wrong: ") and "reduce.cu:8" in said  # out of bounds
    assert set(lines.values()) == {"correct"}
    assert "builds ............... yes (1 warning)\n    reduce.cu(5): warning " in said


def test_reasons_are_guessed_only_where_they_are_sure():
    """Broken: the judge says why a sum is wrong, and it is not so."""
    values = [3, -5, 7, 11]
    assert shapes.wrong_sums(values, [5]) == {"the last element is missing"}
    assert shapes.wrong_sums(values, [13]) == {"the first element is missing"}
    assert shapes.wrong_sums(values, [-2]) == {"only the first 2 elements were added"}
    assert shapes.wrong_sums(values, [32]) == {"every element was added twice"}
    assert shapes.wrong_sums(values, [100]) == set()
    # One run may look like it; the next does not.
    other = types.SimpleNamespace(shape=shapes.REDUCE, counted=lambda reply: [], try_case=lambda case: {"outputs": [[1e9]], "launches": 0, "note": ""})
    case = shapes.Case(4, {}, b"", values, shapes.SUM, "float")
    assert judging.guess(other, 4, 0, case, [5]) == ""
    other.try_case = lambda case: {"outputs": [[sum(case.numbers[:-1])]], "launches": 0, "note": ""}
    assert judging.guess(other, 4, 0, case, [5]) == ": the last element is missing"


def test_the_data_are_new_each_time():
    """Broken: a program can know the data before it has seen them, or an element is 0 and can go missing."""
    data = [shapes.drawn(4096) for _ in range(2)]
    assert data[0] != data[1] and all(0 not in values and min(values) < 0 < max(values) for values in data)


# ---- The device

DEVICE = """
import ctypes, sys
from drywarp.judge import check_device
device = check_device.Device(sys.argv[1], None)
ours = ctypes.create_string_buffer(b"untouched")
at = ctypes.addressof(ours)
_, (theirs,), _ = device.allocate([16], b"")
answers = [device.fill([at, 1, 8], b""), device.write([at], b"reached"), device.copy([at, theirs, 8], b""), device.copy([theirs, at, 8], b""),
           device.fill([theirs, 1, 17], b""), device.write([theirs + 1], bytes(16)), device.allocate([1 << 31], b""), device.kernel([7], b"x"),
           device.load([], bytes(16)), device.load([], b"\\x50\\xed\\x55\\xba\\x01\\x00\\x10\\x00" + b"\\xff" * 7 + b"\\x00"), device.launch([3] + [1] * 8, b"")]
assert all(error for error, _, _ in answers), answers
assert ours.value == b"untouched"
assert [device.fill([theirs, 1, 16], b"")[0], device.write([theirs], bytes(16))[0]] == [0, 0]
"""


def test_the_device_gives_only_what_is_the_programs():
    """Broken: a hostile question reaches memory of the device's process, takes all memory, or ends it."""
    result = subprocess.run([sys.executable, "-c", DEVICE, PARTS[1]], capture_output=True, text=True, cwd=ROOT,
                            env=os.environ | {"SIM_CHECK": "0"}) # its calls are wrong on purpose
    assert result.returncode == 0, result.stderr


def test_sums_that_are_none():
    """Broken: an uninitialised sum and one computed from uninitialised values are not distinguished, or pass as sums."""
    notes, one, nan = [], b"\0\0\x80\x3f", b"\0\0\xc0\x7f"
    device = types.SimpleNamespace(remember=notes.append)
    check_device.Device.look_at(device, one + check_device.UNINITIALISED + one + check_device.UNINITIALISED, 1)
    assert notes[0] == "nothing was written to out[1] and 1 more, of 4 in pass 1"
    notes.clear()
    check_device.Device.look_at(device, one + nan, 2)
    assert len(notes) == 1 and notes[0].startswith("out[1] is NaN after pass 2")
    check_device.Device.look_at(device, one, 1)
    assert len(notes) == 1


def test_findings_are_reported():
    """Broken: findings of the simulator's checker are not shown, shown twice, or do not count."""
    answer = verdicts.Answer("reduce.cu", built=True, sizes=dict.fromkeys(shapes.SIZES, ""))
    place = {"access": "4-byte write", "description": "4-byte write by thread (3,0,0) in block (0,0,0), kernel reduce", "file": "reduce.cu", "line": 21,
             "text": "  sums[i] = 1;", "kernel": "reduce", "thread": [3, 0, 0], "block": [0, 0, 0]}
    finding = {"kind": "race-shared", "name": "data race in shared memory", "title": "two threads write\x1b[2J", "count": 3, "places": [place, {**place, "line": 24}], "hint": "a barrier"}
    of_the_host = {"kind": "out-of-bounds", "name": "out-of-bounds access", "title": "cudaMemset writes 8 bytes: 4 too many",
                   "places": [{"access": "cudaMemset", "description": "cudaMemset, called by the host", "file": "", "line": 0, "kernel": ""}]}
    outside = {"kind": "memory", "title": "4 bytes at 0x7f3e2c000400, 12 bytes past the end of an array", "places": [{**place, "line": 30}]}
    verdicts.add_findings([finding], answer)
    for title, address in (("96 bytes past the end of an array", "0x7b00ae"), ("unallocated", "0x10")):
        verdicts.add_findings([{**outside, "title": title, "places": [{**place, "line": 30, "access": f"write of 4 bytes at {address}"}]}], answer)
    assert len(answer.findings) == 2
    verdicts.add_findings([{**outside, "places": [{**place, "line": 31}]}], answer)
    assert len(answer.findings) == 3
    answer.findings = dict(list(answer.findings.items())[:1])
    verdicts.add_findings([finding, of_the_host, {**of_the_host, "title": "cudaMemset writes 16 bytes: 12 too many"}], answer)
    said = list(words.lines_about(answer, "reduce.cu"))
    at = said.index("findings ............. 2")
    assert said[at + 1:at + 6] == ["    reduce.cu:21", "        data race in shared memory: two threads write?[2J",
                                   "            reduce.cu:21: 4-byte write by thread (3,0,0) in block (0,0,0), kernel reduce:  sums[i] = 1;",
                                   "            reduce.cu:24: 4-byte write by thread (3,0,0) in block (0,0,0), kernel reduce:  sums[i] = 1;", "            help: a barrier"]
    assert said[at + 6].startswith("        explanation: docs/findings.md#race-shared; example: make try STEP=01 TRY=2, and ")
    assert said[at + 7:at + 10] == ["    host code", "        out-of-bounds access: cudaMemset writes 8 bytes: 4 too many", "            cudaMemset, called by the host"]
    assert answer.status == verdicts.FINDINGS and verdicts.VERDICTS[answer.status] == "findings"


def test_findings_are_grouped_by_line():
    """Broken: the findings of one line are apart, or the same lesson is repeated below each."""
    answer = verdicts.Answer("reduce.cu", built=True, sizes=dict.fromkeys(shapes.SIZES, ""))
    place = {"access": "write", "description": "write", "file": "reduce.cu", "line": 21, "text": "sums[i] = 1;", "kernel": "reduce"}
    names = {"race-shared": "data race in shared memory", "out-of-bounds": "out-of-bounds access"}
    for kind, line in (("race-shared", 21), ("race-shared", 30), ("out-of-bounds", 21)):
        verdicts.add_findings([{"kind": kind, "name": names[kind], "title": f"{kind} at {line}", "places": [{**place, "line": line}]}], answer)
    said = [line.strip() for line in words.finding_lines(answer.findings) if "write" not in line]
    race, outside = "data race in shared memory: race-shared at", "out-of-bounds access: out-of-bounds at 21"
    assert said[0] == "reduce.cu:21: 2 findings" and said[1:3] == [f"{race} 21", outside] and "#out-of-bounds; example: make try STEP=03 TRY=2" in said[3]
    assert said[4:6] == ["reduce.cu:30", f"{race} 30"] and "#race-shared; example: make try STEP=01 TRY=2" in said[6] and len(said) == 7


def test_lessons_about_findings_exist():
    """Broken: the judge names a Try or a section that does not exist, or is about something else."""
    kinds = re.findall(r'^<a id="(.*)"></a>$', (ROOT / "docs/findings.md").read_text(), re.M)
    for kind, (step, number) in words.TRIES.items():
        page = (ROOT / step / "README.md").read_text().partition("\n## Try")[2]
        found = re.search(rf"^\*\*{number}\. .*?(?=^\*\*\d+\. |\Z)", page, re.M | re.S)
        assert kind in kinds and found and re.search({"out-of-bounds": "(after|past) the (end of the array|array's end)", "misaligned": "misaligned"}.get(
            kind, "^error: " + {"race-shared": "(data )?race in shared", "race-global": "(data )?race in global", "lanes": "(invalid warp-level operation|misuse of .*lanes)"}.get(kind, "-")),
            found[0], re.M), kind


def test_a_students_grade():
    """Broken: of two programs the worse one counts, one that was not judged counts as 0, two students of one name are one, or a page shows markup of a student's own."""
    passed, wrong = verdicts.Answer("b.cu", built=True, sizes=dict.fromkeys(shapes.SIZES, "")), verdicts.Answer("a.cu", built=True, sizes={1: "<script>"})
    unjudged = verdicts.Answer("c.cu", unjudged="full")
    assert classroom.best([("a.cu", wrong), ("b.cu", passed), ("c.cu", unjudged)])[0] == "b.cu"
    assert classroom.best([("c.cu", unjudged), ("a.cu", wrong)])[0] == "a.cu" and classroom.points(unjudged) == ""
    names = ("Anna B_12_assignsubmission_file/x.cu", "ben/y/x.cu", "carl.cu", "Anna B_7_assignsubmission_file/x.cu", "Dora_3_assignsubmission_file_x.cu")
    assert [student.title for student in classroom.students_of([(name, wrong) for name in names])] == ["Anna B_12", "ben", "carl", "Anna B_7", "Dora"]  # two have one name
    assert "<script>" not in classroom.page("<b>", [("a.cu", wrong)]).replace("<b>", "<script>") and "/" not in classroom.page_name(1, "../../x")


# ---- A folder of them, and bad input

def test_a_folder(tmp_path, capsys):
    """Broken: the table of a class lacks a program, or a student who handed in none, says something else than the single answers, or blocks never share what they draw."""
    programs = {"anna/reduce.cu": RIGHT, "em\nil\udcff.cu": RACY, "=ben.cu": RIGHT.replace("sums[tid] = i < n", "sums[tid] = i < m"),
                "carl.cu": '#include "/etc/passwd"\n' + RIGHT, "dora.cu": "int main() {}\n", "fritz.cu": QUEUE}
    for name, text in programs.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(text)
    (tmp_path / "in/link.cu").symlink_to(ROOT / "step03_sequential/reduce.cu")
    (tmp_path / "in/gina").mkdir()
    (tmp_path / "in/gina/reduce.cpp").write_text(RIGHT)
    ours = options(shape=FEW, threads=1, seconds=150, jobs=2, judge=judging.whole_program, output=tmp_path / "out/check.csv", roster=None, gradescope=None, partial=0)
    status, said = check.check_all(tmp_path / "in", ours), capsys.readouterr()
    assert status == 1 and said.err == "" and said.out.splitlines()[-1] == "1 passed, 6 failed", said.out
    with open(tmp_path / "out/check.csv", newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"anna/reduce.cu", "'=ben.cu", "carl.cu", "dora.cu", "em?il?.cu", "fritz.cu", "gina/"}
    anna, emil = rows.pop("anna/reduce.cu"), rows.pop("em?il?.cu")
    assert rows.pop("fritz.cu")["verdict"] in ("findings", "wrong")
    assert [emil[key] for key in ("verdict", "sizes_passed", "findings")] == ["findings", str(len(FEW.sizes)), "1"]
    assert [anna[key] for key in ("verdict", "built", "sizes_passed", "sizes", "findings", "load_sectors")] == ["passed", "yes", *[str(len(FEW.sizes))] * 2, "0", "8224"]
    assert float(anna["seconds"]) > 0
    with open(tmp_path / "out/check/moodle.csv", newline="") as file:
        grades = {row["Username"]: (row["Grade"], row["Feedback"]) for row in csv.DictReader(file)}
    assert list(grades)[:4] == ["'=ben", "anna", "carl", "dora"] and [grades[name][0] for name in list(grades)[:4]] == ["0", "100", "0", "0"]
    assert grades["gina"][0] == "0" and grades["gina"][1].endswith("; there is no readable file whose name ends in .cu")
    with open(tmp_path / "out/check/canvas.csv", newline="") as file:
        header, possible, *students = csv.reader(file)
    assert header[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"] and possible[0] == "Points Possible" and possible[5] == "100"
    assert ["em?il?", "", "", "em?il?", "", "50"] in students and len(students) == 7
    pages = {path.name: path.read_text() for path in (tmp_path / "out/check/students").iterdir()}
    assert len(pages) == 7 and "findings ............. none" in pages["002-anna.html"] and "anna" not in "".join(text for name, text in pages.items() if "anna" not in name)
    assert all(row["verdict"] == "does not build" and row["built"] == "no" and row["sizes_passed"] == "0" for row in rows.values())


def test_a_folder_for_an_exercise(tmp_path):
    """Broken: a teacher cannot grade what a class wrote for an exercise, or the best program is not the right one."""
    for name, text in (("anna", "answer.cu"), ("ben", "task.cu")):
        (tmp_path / f"{name}.cu").write_text((ROOT / "exercises/07_tree" / text).read_text())
    result = run("--exercise", "07", "--all", "--output", tmp_path / "out/check.csv", tmp_path)
    assert result.returncode == 1 and result.stdout.splitlines()[-1] == "1 passed, 1 failed", result.stdout + result.stderr
    with open(tmp_path / "out/check.csv", newline="") as file:
        assert [(row["name"], row["step"], row["verdict"]) for row in csv.DictReader(file)] == [("anna.cu", "07_tree", "passed"), ("ben.cu", "07_tree", "wrong")]
    with open(tmp_path / "out/check/moodle.csv", newline="") as file:
        assert [row["Grade"] for row in csv.DictReader(file)] == ["100", "0"]


def test_rows_are_written_as_they_come(tmp_path, capsys):
    """Broken: a judge that is stopped leaves nothing, or one that cannot write ends with a traceback and without the other verdicts."""
    table = Table(tmp_path / "out/check.csv")
    with pytest.raises(BlockingIOError):  # another make judge-all would mix its rows with these
        Table(table.path)
    table.add(["anna", 1])
    assert (tmp_path / "out/check.part.csv").read_text().splitlines()[1] == "anna,1" and not table.path.exists()
    assert table.finish() and table.path.read_text().endswith("anna,1\n") and not table.part.exists()
    (tmp_path / "check.part.csv").symlink_to("/dev/full")
    table = Table(tmp_path / "check.csv")
    table.add(["ben", 2])
    reported = capsys.readouterr().err
    assert not table.finish() and len(reported.splitlines()) == 1 and "check.csv cannot be written: No space left on device; the results are printed here only" in reported


def test_ctrl_c_is_one_line(tmp_path):
    """Broken: Ctrl-C gives a traceback, continues with the other files, or leaves processes and folders."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/nvcc").write_text("#!/bin/sh\nsleep 600\n")
    (tmp_path / "bin/nvcc").chmod(0o755)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "in").mkdir()
    for name in ("anna.cu", "ben.cu", "carl.cu"):
        (tmp_path / "in" / name).write_text(RIGHT)
    judge = subprocess.Popen([sys.executable, "-m", "drywarp.judge.check", "--nvcc", tmp_path / "bin/nvcc", "--options", "", "--jobs", "2", "--all", "--output",
                              tmp_path / "check.csv", tmp_path / "in"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=os.environ | {"TMPDIR": str(tmp_path / "tmp")})
    try:
        while len(list((tmp_path / "tmp").glob("*/program/whole/program.cu"))) < 2:
            assert judge.poll() is None
        judge.send_signal(signal.SIGINT)
        said, errors = judge.communicate(timeout=20)
    finally:
        judge.kill()
    assert (judge.returncode, said, errors) == (128 + signal.SIGINT, "", "check.py: stopped by Ctrl-C\n")
    assert list((tmp_path / "tmp").iterdir()) == [] and (tmp_path / "check.part.csv").exists()


def test_a_killed_runs_folder_is_removed_by_the_next(tmp_path, monkeypatch):
    """Broken: folders of killed runs fill the disk; or one in which somebody is at work is removed, or one that is not the judge's."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held = [subprocess.Popen([sys.executable, "-c", "import time; from drywarp.judge import scratch\nwith scratch.folder() as path:\n    print(path, flush=True); time.sleep(99)"],
                             cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(tmp_path)}) for _ in range(2)]
    left, busy = (Path(process.stdout.readline().strip()) for process in held)
    notes = tmp_path / "cuda-check-my-notes"
    notes.mkdir()
    try:
        held[0].kill()
        held[0].wait()
        for path in (left, busy, notes):
            os.utime(path, (1, 1))
        with scratch.folder() as own:
            assert set(tmp_path.iterdir()) == {busy, notes, own}
    finally:
        held[1].kill()
        held[1].wait()


@landlock
def test_the_compiler_reads_no_files_of_the_account(tmp_path):
    """Broken: what a file includes, such as another student's program, is shown in the compiler's messages."""
    (tmp_path / "other.cu").write_text("the marks are secret\n")
    status, said = judged(tmp_path, f'#include "{tmp_path}/other.cu"\n' + RIGHT)
    assert status == 3 and "builds ............... no" in said and "marks" not in said


@pytest.fixture
def refused(monkeypatch, capsys):
    """Calls check.py, in this process, with arguments that it must refuse; returns what it says."""
    def call(arguments):
        unused = ["--nvcc", "/bin/true", "--options", "", "--object", "README.md", "--library", "README.md"]
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr(sys, "argv", ["check.py", *unused, *arguments])
        before = signal.getsignal(signal.SIGINT)
        try:
            with pytest.raises(SystemExit) as ended:
                check.main()
        finally:
            signal.signal(signal.SIGINT, before)
        said = capsys.readouterr()
        assert ended.value.code == 2 and said.out == "" and len(said.err.splitlines()) == 1
        return said.err
    return call


@pytest.mark.parametrize("arguments, other", [([""], "judge-all DIR="), (["tests"], "judge-all DIR="), (["--all", "README.md"], "judge FILE=")], ids=repr)
def test_the_other_command_is_named(arguments, other, refused):
    """Broken: who gives make judge a folder, or make judge-all a file, learns no command that takes it."""
    assert f": make {other}" in refused(arguments)


@pytest.mark.parametrize("arguments", [[""], ["absent.cu"], ["."], ["--all", "absent"], ["--all", "tests/corpus"], ["a.cu", "--seconds", "0"],
                                       ["a.cu", "--library", "absent"], ["a.cu", "--nvcc", "absent"], ["--", "-h"], [], ["README.md", "--lab", "cpu"],
                                       ["README.md", "--exercise", "99"], ["README.md", "--exercise", ""], ["README.md", "--lab", ""],
                                       ["README.md", "--lab", "rowscale", "--exercise", "07"]], ids=repr)
def test_bad_arguments(arguments, refused):
    """Broken: a typing error gives a traceback, or counts as a verdict."""
    assert refused(arguments).startswith("check.py: ")


# ---- The sandbox alone

def boxed(*arguments, command="true", folder="/tmp"):
    return subprocess.run([sys.executable, ROOT / "drywarp/judge/sandbox.py", "--system", "--write", folder, *arguments, "--", "/bin/sh", "-c", command],
                          capture_output=True, text=True, timeout=60, env=os.environ | {"SECRET": "1"})


def test_the_sandbox(tmp_path):
    """Broken: a command's status is lost, it keeps the environment, writes too much, or its time does not end it with all that it began."""
    assert [boxed(command=f"exit {status}", folder=tmp_path).returncode for status in (0, 7, 124)] == [0, 7, 124]
    assert boxed(command="kill -SEGV $$", folder=tmp_path).returncode == 128 + 11
    seen = boxed(command="env; pwd", folder=tmp_path).stdout
    assert "SECRET" not in seen and "HOME" not in seen and seen.endswith(f"{tmp_path}\n")
    boxed(command="touch own", folder=tmp_path)
    assert (tmp_path / "own").stat().st_uid == (os.getuid() or means.UNPRIVILEGED), "root's rights are kept"
    assert boxed("--file-bytes", "1K", command="head -c 5000 /dev/zero > large; exit 0", folder=tmp_path).returncode == 0
    assert (tmp_path / "large").stat().st_size == 1024
    many = "k=0; while [ $k -lt 3000 ]; do k=$((k + 1)); head -c 9000 /dev/zero > $k; done"
    assert boxed("--space", "1M", command=many, folder=tmp_path).returncode == sandbox.SPACE_OVER
    assert boxed("--seconds", "2", "--threads", "3", command="ulimit -t", folder=tmp_path).stdout == "9\n"
    mark = f"97{os.getpid()}"
    assert boxed("--seconds", "1", command=f"sleep {mark} & sleep {mark}", folder=tmp_path).returncode == sandbox.TIME_OVER
    assert mark not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert boxed("--seconds", "1", "--wall-seconds", "50", "--threads", "1", command="while :; do :; done", folder=tmp_path).returncode == sandbox.TIME_OVER
    assert boxed("--seconds", "1", "--wall-seconds", "50", command="sleep 2", folder=tmp_path).returncode == 0


@pytest.mark.parametrize("arguments", [[], ["--seconds", "x", "true"], ["--memory", "much", "true"], ["--set", "x", "true"], ["--", "absent"]], ids=repr)
def test_bad_arguments_of_the_sandbox(arguments):
    """Broken: a typing error gives a traceback, or runs the command all the same."""
    result = subprocess.run([sys.executable, ROOT / "drywarp/judge/sandbox.py", *arguments], capture_output=True, text=True)
    assert result.returncode == sandbox.SANDBOX_FAILED and len(result.stderr.splitlines()) == 1 and result.stderr.startswith("sandbox.py: ")


DUMPABLE = 4  # of prctl


def test_processes_are_counted():
    """Broken: a program that is not stopped from starting threads starts as many as the machine has room for."""
    def forks(threads):
        if os.getuid() == 0:
            os.setresuid(4321, 4321, 4321)  # the limit does not apply to an administrator
            means.LIBC.prctl(DUMPABLE, 1, 0, 0, 0)  # else it may not enter a namespace any more
        means.enter_namespaces()
        means.limit(types.SimpleNamespace(seconds=9, threads=threads, file_bytes=1 << 20, memory=1 << 30, reserves=False, apart=True))
        for _ in range(20):
            if os.fork() == 0:
                time.sleep(0.5)
                os._exit(0)

    if not means.works(means.enter_namespaces):
        pytest.skip("this machine has no namespaces")
    assert [means.works(forks, threads) for threads in (2, 30)] == [False, True]


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


MEANS = {"Landlock": lambda: means.restrict_files(NOTHING), "namespaces": means.enter_namespaces, "seccomp": lambda: means.restrict_calls(NOTHING)}


@pytest.mark.parametrize("name, attempt", [("Landlock", "read"), ("Landlock", "write"), ("namespaces", "connect"), ("seccomp", "connect"),
                                            ("seccomp", "fork")])
def test_each_means_alone(name, attempt, listener, tmp_path):
    """Broken: one of the sandbox's means does nothing, and only another one hides it."""
    attempts = {"read": lambda: open(__file__), "write": lambda: open(tmp_path / "new", "w"), "fork": lambda: os.fork() or os._exit(1),
                "connect": lambda: socket.create_connection(listener.getsockname(), timeout=5)}

    def refused():
        MEANS[name]()
        try:
            attempts[attempt]()
        except OSError:
            return
        raise means.Absent

    if not means.works(MEANS[name]):
        pytest.skip(f"this machine has no {name}")
    assert means.works(refused)


ATTEMPTS = """
import os, socket
def tries(what, attempt):
    try:
        attempt()
        print(what)
    except OSError:
        pass
tries("own", lambda: open("FOLDER/own/new", "w"))
tries("read", lambda: open("FOLDER/secret"))
tries("write", lambda: open("FOLDER/new", "w"))
if not os.path.exists("FOLDER/secret"):  # only inside: the root folder is not on a disk
    tries("memory", lambda: open("/new", "w"))
tries("signal", lambda: os.kill(JUDGE, 0))
tries("connect", lambda: socket.create_connection(("127.0.0.1", PORT), timeout=5))
"""


@pytest.mark.skipif(not means.has_bubblewrap(NOTHING), reason="this machine has no bubblewrap")
def test_bubblewrap_alone(listener, tmp_path):
    """Broken: where Landlock and seccomp are missing, bubblewrap is used so that it keeps nothing out."""
    (tmp_path / "own").mkdir()
    (tmp_path / "secret").write_text("the marks")
    script = ATTEMPTS.replace("FOLDER", str(tmp_path)).replace("JUDGE", str(os.getpid())).replace("PORT", str(listener.getsockname()[1]))
    options = types.SimpleNamespace(read=[], run=[], write=[str(tmp_path / "own")])
    commands = [sys.executable, "-I", "-S", "-c", script], means.in_bubblewrap(options, "-c", script)
    succeeded = [subprocess.run(command, capture_output=True, text=True).stdout.split() for command in commands]
    assert succeeded == [["own", "read", "write", "signal", "connect"], ["own"]]


def test_bubblewrap_is_the_systems(tmp_path, monkeypatch):
    """Broken: a PATH with the folder in which one stands takes a program that a student called bwrap for the sandbox."""
    (tmp_path / "bin/bwrap").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "system"):
        folder.mkdir(exist_ok=True)
        (folder / "bwrap").write_text("#!/bin/sh\n")
        (folder / "bwrap").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".::system:{tmp_path}/bin:{tmp_path}/system")
    assert means.bubblewrap() == f"{tmp_path}/system/bwrap"


def test_a_control_group_is_made_where_one_may_be(tmp_path):
    """Broken: a group is made where nothing limits it, with other limits, or a killed run's stays for ever."""
    own, above = tmp_path / "slice/own", tmp_path / "slice"
    own.mkdir(parents=True)
    (own / "cgroup.subtree_control").write_text("\n")
    (above / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (above / "check-0").mkdir()  # there is no process 0
    assert cgroup.made(1 << 20, 7, [own]) is None
    group = cgroup.made(1 << 20, 7, [own, above])
    assert group.folder == above / f"check-{os.getpid()}" and not (above / "check-0").exists()
    assert {name: (group.folder / name).read_text() for name in ("memory.max", "pids.max")} == {"memory.max": "1048576\n", "pids.max": "7\n"}
    for events, is_over in (("oom 3\noom_kill 0\n", False), ("oom 1\noom_kill 2\n", True)):
        (group.folder / "memory.events").write_text(events)
        assert group.is_over() == is_over
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "mountinfo").write_text("25 20 0:22 / / rw - ext4 /dev/vda rw\n41 25 0:38 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n")
    (proc / "cgroup").write_text("1:name=systemd:/other\n0::/user.slice/run.scope\n")
    assert list(map(str, cgroup.above(proc))) == ["/sys/fs/cgroup/user.slice/run.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"]


def test_a_control_group_counts_all_processes_together(tmp_path):
    """Broken: a command takes many times its memory, each process a part, and is not ended for that, or is not called over its limits."""
    group = cgroup.made("max", "max")
    if not group:
        pytest.skip("this machine does not allow control groups of version 2")
    group.end()
    assert not group.folder.exists()
    part = "head -c 40000000 /dev/zero | tail -c 39000000 | sleep 1"  # tail keeps it
    assert boxed("--memory", "64M", command=part, folder=tmp_path).returncode == 0
    assert boxed("--memory", "64M", command=" & ".join([part] * 3) + "; wait", folder=tmp_path).returncode == sandbox.MEMORY_OVER


def test_without_means_it_says_so(monkeypatch):
    """Broken: on a machine without Landlock, namespaces or seccomp all are reported as in force."""
    monkeypatch.setattr(sandbox, "has_bubblewrap", lambda options: False)
    monkeypatch.setattr(cgroup, "made", lambda memory, processes: None)
    monkeypatch.setattr(sandbox, "works", lambda *means: False)
    used, left_open = sandbox.measures()
    assert "Landlock" not in used and "namespaces" not in used and "seccomp" not in used and "bubblewrap" not in used
    assert all(words in left_open for words in ("no control group", "no Landlock", "the network is reachable", "can be sent signals", "no libseccomp"))
