"""The labs: the diff rule, checks that find planted mistakes, pages with their parts, and the script that runs them."""

import argparse
import csv
import functools
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


pytest.importorskip("matplotlib", reason="Matplotlib is not there: make test installs it into .venv")
from drywarp import files
from drywarp import execute
from scripts.ladder import labs
import labs as charts
import plot
import tables
from scripts.ladder import tries

from tests.support import ROOT, build, build_together, changed_lines, reported, some, split

LABS = labs.labs()
SOURCES = [source for lab in LABS for source in labs.sources(lab)]
PAIRS = [(before, after) for lab in LABS for before, after in zip(labs.sources(lab), labs.sources(lab)[1:])]
# The largest number of lines by which a step of a lab may differ from the previous one.
BUDGET = 30
# Steps that may differ by more, and the program to compare with; None: the previous step.
EXCEPTIONS = {
    "rows-step02_online": (None, 70),  # pairs instead of numbers
    "rows-step03_vectors": (None, 67),  # templates over the vector's width
    "rows-step04_registers": (None, 95),  # an array in registers, and its size as a template parameter
    "rows-step05_warp": (None, 53),  # teams instead of blocks
    "rows-step06_cluster": (None, 93),  # clusters, and their launch
    "rows-step07_bf16": (None, 96),  # the type as a template parameter, in every declaration
    "rows-step08_welford": (None, 111),  # another operation
    "rows-step09_rms": (None, 86),  # another operation
    "segmented-step01_cub": (None, 33),  # a call replaces the whole kernel
    "segmented-step02_pairs": ("scan/step10_specialised/scan.cu", 531),  # the prefix sum's design with keys, pairs and bits; the previous step is a library call
    "segmented-step03_sums": (None, 129),  # removes the copy of results from shared memory to the array
    "sort-step01_lookback": (None, 122),  # one kernel with status words instead of three
    "sort-step02_staged_selection": (None, 36),  # ranks are used at once instead of kept
    "sort-step04_global_atomics": (None, 183),  # another task
    "sort-step07_vectors": (None, 39),  # vectors, and the bytes that fill none
    "sort-step08_per_lane": (None, 52),  # another layout of the bins, and how they are added up
    "sort-step09_one_digit": (None, 210),  # another task
    "sort-step10_four_passes": (None, 42),  # the shift as a parameter of every function
    "sort-step11_staged_tiles": (None, 38),  # ranks within the tile
    "sort-step13_lookback_digits": (None, 131),  # status words instead of counts and their scan
    "sort-step14_onesweep": (None, 58),  # words of four passes
    "sort-step15_pairs": (None, 70),  # a second array in every function
}
# The programs that can be built here (for the simulator without NCCL, and in C), without those that make test omits.
LEFT_OUT = os.environ.get("LEFT_OUT", "").split()
BUILT = [source for source in SOURCES if not labs.obstacle(source, True, "nvcc") and str(labs.program(source, True)) not in LEFT_OUT]
LEFT_OUT_WHOLE = {lab for lab in LABS if all(str(labs.program(source, True)) in LEFT_OUT for source in labs.sources(lab))}
SOFTMAX = ROOT / "labs/rowscale/softmax/softmax.cu"
ENVIRONMENT = os.environ | labs.MPI_ENVIRONMENT
needs_programs = pytest.mark.builds("lab-programs", "build/sim/libsimulator.a")
TOGETHER = {"SIM_TOGETHER": "1", "SIM_SMS": "2"}  # two SMs: the harness's own kernels are short then


def name(source):
    return f"{source.parent.parent.name}-{source.parent.name}"


@functools.cache
def together():
    """All programs with a planted mistake in one executable, which runs one of them by its name; with LEFT_OUT also the labs' own programs."""
    texts = {name(source): source.read_text(encoding="utf-8") for source in [*BUILT, SOFTMAX] if LEFT_OUT and source.suffix == ".cu"}
    texts |= {f"mistake {k}": changed(*mistake) for k, (*mistake, _) in enumerate(TRIED)
              if source_of(*mistake[:2]).suffix == ".cu" and mistake[0] not in LEFT_OUT_WHOLE}
    return build_together(texts, "labs/together")


def command(source):
    """The command line of a program. make test compiles the CUDA programs together, ALL=1 each separately."""
    return [together(), name(source)] if LEFT_OUT and source.suffix == ".cu" else labs.command(source, True)


def run(source, *arguments, **environment):
    return subprocess.run([*command(source), *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, env=ENVIRONMENT | environment)


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_harness_is_the_same_within_a_lab(source):
    """Broken: the steps of a lab are measured or checked in different ways."""
    assert split(source)[1] == split(labs.sources(source.parent.parent.name)[0])[1]


@pytest.mark.parametrize("before, after", PAIRS, ids=lambda source: name(source))
def test_a_step_changes_only_its_idea(before, after, tmp_path):
    """Broken: the diff of a lab's step contains more than its lesson."""
    other, budget = EXCEPTIONS.get(name(after), (None, BUDGET))
    if other:  # with another harness: the lessons are compared
        before = tmp_path / "other"
        before.write_text(labs.MARK.join([split(ROOT / other)[0], split(after)[1]]), encoding="utf-8")
    assert 0 < changed_lines(before, after, tmp_path) <= budget


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_a_program_says_what_it_is(source):
    """Broken: a program has the name of another step, is too wide for a projector, or lacks its build command."""
    text = source.read_text(encoding="utf-8")
    assert f'static const char STEP[] = "{source.parent.name}";' in text
    assert max(len(line) for line in text.splitlines() if not line.startswith("// Build and run: ")) <= 92
    assert text.startswith(f"// Lab {source.parent.parent.name}, step {source.parent.name[4:6]}: ")
    assert f" -o {source.stem} {source.name}" in labs.build_line(source)


# make test tries the larger size only with the last program of each lab.
LAST = {source.parent.parent.name: source for source in BUILT}.values()


@pytest.mark.parametrize("source, size", [(source, size) for size in some(["33", "small"], ["1", "33", "small"]) for source in BUILT
                                          if size != "small" or source in some(LAST, BUILT)], ids=lambda value: value if isinstance(value, str) else name(value))
@needs_programs
def test_a_lab_is_right_at_any_size(source, size):
    """Broken: a program accesses memory out of bounds, or omits an element, at an odd size or when its loops have several iterations."""
    lab = source.parent.parent.name
    result = run(source, "--csv", size if size.isdecimal() else labs.small_size(lab), SIM_REPEAT="1")  # every launch runs; none is reported as skipped
    header, rows = labs.program_rows(result.stdout, source.parent.name)
    assert result.returncode == 0 and rows, result.stderr
    said = [line for line in reported(result) if "/cccl/" not in line]  # gcc's sanitizer reports Thrust's headers
    assert all(line.startswith("one GPU") for line in said)  # printed by the several_gpus lab
    assert header[0] == "step" and all(row[-1] == "PASS" for row in rows)


# (lab, step, original text, planted text, arguments): each must make the program fail. Blocks run together; otherwise the first block of the
# lab segmented processes all tiles, and looks back only at its own.
MISTAKES = [
    ("accuracy", "step02_pairwise", "i < n ? in[i] : 0", "i < n && i != 32 ? in[i] : 0", "33"),
    ("bankconflicts", "step01_padded", "k < padded(blockDim.x)", "k < blockDim.x", "256"),
    ("cpu", "step04_simd", "i < n; i++)", "i < n - 1; i++)", "33"),
    ("several_gpus", "step01_together", "gpu.in, gpu.sum, gpu.n,", "gpu.in, gpu.sum, gpu.n - 1,", "33"),
    ("mpi", "step03_operator", "a.index < b.index", "a.index > b.index", "33"),
    ("thrust", "step04_cub", "const long long n = v.size();", "const long long n = v.size() - 1;", "33"),
    ("coalescing", "step03_shared", "__syncthreads();", "", "33"),
    ("launch", "step00_block", "    if (i < n)\n        sum[i]", "    if (i < n - 1)\n        sum[i]", "33"),
    ("operators", "step00_operator", "tid < BLOCK_SIZE / 32 ? values[tid]", "tid < BLOCK_SIZE / 32 - 1 ? values[tid]", "257"),
    ("operators", "step05_wide", "e < count && i + k * step < end", "e < count", "257"),  # the last vector counts twice
    ("rows", "step02_online", "a.sum * power(a.largest - largest)", "a.sum", "33"),
    ("rows", "step02_online", "return {-FLT_MAX, 0.0f};", "return {-INFINITY, 0.0f};", "33"),  # rows that begin with -infinity
    ("rows", "step05_warp", "y[first + k * team_size] = result(v[k], p);", "y[first + k * team_size] = result(v[k], {p.largest, 1.004f * p.sum});", "33"),
    ("rowscale", "step05_teams", "end = row < rows ? count : 0;", "end = row < rows ? count - (count == 1023) : 0;", "33"),
    ("segmented", "step02_pairs", "2 * launch + aggregate.begins", "2 * launch", "30011"),  # ignores segments that begin in another tile
    ("segmented", "step02_pairs", "return exclusive ? without", "return exclusive ? *before", "--exclusive 33"),
    ("segmented", "step03_sums", "remaining <= ITEMS)", "remaining < ITEMS)", "30008"),  # the last segment has no sum if the array ends with a full thread's items
    ("segmented", "step02_pairs", "32 * k + lane >= begin_tile ?", "true ?", "30011"),  # includes elements before the last segment start
    ("segmented", "step02_pairs", "    if (threadIdx.x % 32 > 0)\n", "    if (threadIdx.x > 0)\n", "30011"),  # lane 0 takes its own last key for its neighbour's
    ("sort", "step00_three_kernels", "items.kept + __popc(flags & lanes_before())", "items.kept + __popc(flags & ~lanes_before()) - 1", "33"),  # another order
    ("sort", "step08_per_lane", "if (i < n % 16)", "if (i < n % 16 - 1)", "33"),  # a byte that fills no vector
    ("sort", "step09_one_digit", "__popc(same & lanes_before())", "__popc(same & ~lanes_before()) - 1", "33"),  # not stable
    ("sort", "step14_onesweep", "sum += word & COUNT;", "sum += tile > 0 ? word & COUNT : 0;", "12289"),  # omits tile 0
    ("sort", "step15_pairs", "staged_values[i] = values[k];", "staged_values[i ^ (i < 2)] = values[k];", "33"),  # exchanges two values
]


# make test tries the first of each lab.
TRIED = some(list({mistake[0]: mistake for mistake in reversed(MISTAKES)}.values()), MISTAKES)


def test_each_lab_has_a_planted_mistake():
    """Broken: no test shows that the check of a lab finds a mistake."""
    assert {lab for lab, *_ in MISTAKES} == set(LABS)


def source_of(lab, step):
    return next((ROOT / "labs" / lab / step).glob(f"{lab}.c*"))


def changed(lab, step, good, bad):
    """The source text of a program with its planted mistake."""
    text = source_of(lab, step).read_text(encoding="utf-8")
    assert text.count(good) == 1, good
    return text.replace(good, bad)


@pytest.mark.parametrize("lab, step, good, bad, arguments", TRIED, ids=lambda text: text if text in LABS or text.startswith("step") else "")
@needs_programs
def test_a_planted_mistake_is_found(lab, step, good, bad, arguments, tmp_path):
    """Broken: the check of a lab passes a wrong result."""
    source = source_of(lab, step)
    if why := labs.obstacle(source, True, "nvcc"):
        pytest.skip(why)
    if lab in LEFT_OUT_WHOLE:
        pytest.skip("its headers take nvcc long: make test-long")
    if source.suffix == ".c":
        (tmp_path / source.name).write_text(changed(lab, step, good, bad), encoding="utf-8")
        assert subprocess.run(labs.build_line(source).split(" && ")[0].split(), cwd=tmp_path).returncode == 0
        program = [tmp_path / lab]
    else:
        program = [together(), f"mistake {TRIED.index((lab, step, good, bad, arguments))}"]
    *start, _ = labs.command(source, True)
    result = subprocess.run([*start, *program, "--csv", *arguments.split()], capture_output=True, text=True, env=ENVIRONMENT | TOGETHER | {"SIM_CHECK": "0"})
    assert result.returncode not in (0, 2, 77) and result.stderr, result.stdout


@pytest.mark.parametrize("lab", sorted({source.parent.parent.name for source in BUILT}))
@pytest.mark.parametrize("arguments", some([["99999999999999999999"], ["--cvs"]], [["0"], ["99999999999999999999"], ["3", "4"], ["--cvs"]]), ids=" ".join)
@needs_programs
def test_bad_arguments(lab, arguments):
    """Broken: a mistyped argument crashes a program of a lab, or runs it with another size."""
    for source in {source.suffix + str(labs.is_started_by_mpi(source)): source for source in BUILT if source.parent.parent.name == lab}.values():
        result = run(source, *arguments)
        said = [line for line in result.stderr.splitlines() if "unusable" in line]
        assert result.returncode == 2 and result.stdout == "" and len(said) == 1 and "accepted" in said[0]


@pytest.mark.parametrize("source", [source for source in BUILT if source.parent.name in ("step02_pairs", "step03_sums")], ids=name)
@needs_programs
def test_segments_are_right_where_blocks_wait_for_each_other(source):
    """Broken: the segmented lab is correct only with one block, or only without --exclusive."""
    for options in ((), ("--exclusive",)):
        result = run(source, "--csv", *options, labs.small_size("segmented"), **TOGETHER)
        assert result.returncode == 0 and result.stdout.count("PASS") == 4, result.stderr


@pytest.mark.parametrize("source", [source for source in BUILT if source.parent.name in ("step02_staged_selection", "step13_onesweep", "step14_pairs")], ids=name)
@needs_programs
def test_a_sort_is_right_where_blocks_wait_for_each_other(source):
    """Broken: a tile of the sort lab finds its place only if the tiles before are finished."""
    result = run(source, "--csv", "12289", **TOGETHER)
    assert result.returncode == 0 and result.stdout.count("PASS") == 4, result.stderr


@needs_programs
def test_softmax_is_right():
    """Broken: the answer to the exercise of the rowscale lab is wrong."""
    program = [together(), name(SOFTMAX)] if LEFT_OUT else [build(SOFTMAX, ROOT / "build/sim/labs/softmax")]
    for rows in (1, 33, 64):
        result = subprocess.run([*program, str(rows)], capture_output=True, text=True)
        assert result.returncode == 0 and result.stdout.count("PASS") == 8, result.stdout + result.stderr


# ---- Pages

@pytest.mark.parametrize("lab", LABS)
def test_a_lab_has_its_parts(lab):
    """Broken: a lab lacks its chart, its steps or a lesson, or its pages do not link to each other."""
    text = (ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8")
    assert f"](../../plots/h200/labs/{lab}.svg)" in text and "<!-- labsteps: " in text and "## What you learn" in text
    assert f"make lab NAME={lab}" in text and "TODO" not in text
    steps = [Path(folder).name for folder in tables.lab_steps(lab)]
    for place, step in enumerate(steps):
        page = (ROOT / "labs" / lab / step / "README.md").read_text(encoding="utf-8")
        for part in ("<!-- code ", "## Predict before you run", "<!-- lab ", "## Try", "<summary>Answer</summary>"):
            assert part in page, (step, part)
        assert page.count("<details>") == page.count("</details>") and "TODO" not in page
        links = [f"{word}: [{other}](../{other}/README.md)" for word, others in (("previous", steps[:place][-1:]), ("next", steps[place + 1:][:1]))
                 for other in others]
        links.insert(place > 0, "[the lab](../README.md)")
        assert page.splitlines()[-1] == " · ".join(links)


@pytest.mark.parametrize("lab", LABS)
def test_a_lab_is_measured(lab):
    """Broken: the committed table of a lab lacks a step, or its chart is missing."""
    measured = {row["step"] for row in tables.read(f"labs/{lab}.csv") if row["status"] == "PASS"}
    assert measured == {source.parent.name for source in labs.sources(lab)}
    assert (ROOT / "plots/h200/labs" / f"{lab}.svg").exists()


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_tries_apply_and_are_the_measured_ones(source):
    """Broken: a lab's lesson suggests a change that no longer applies to the program, or shows measurements of another change."""
    step = str(source.parent.relative_to(ROOT))
    diffs = [diff for diff, _ in tries.tries(step)]
    measured = {int(row["try"]): row["diff"] for row in tables.read(f"labs/{source.parent.parent.name}-tries.csv") if row["step"] == step}
    assert diffs and all(tries.digest(diffs[number - 1]) == digest for number, digest in measured.items())
    for diff in diffs:
        tries.applied(step, diff)


@pytest.mark.parametrize("lab", ["bankconflicts", "coalescing"])
@needs_programs
def test_counters_equal_those_of_a_gpu(lab, tmp_path):
    """Broken: the simulator's counters differ from those of Nsight Compute on an H200, contrary to the pages."""
    read = tables.read(f"labs/{lab}-profile.csv")
    assert {row["step"] for row in read} == {source.parent.name for source in labs.sources(lab)}
    for source in labs.sources(lab):
        counters = tmp_path / source.parent.name
        environment = os.environ | {"SIM_COUNTERS": str(counters), "SIM_CHECK": "0"}  # the checker is tested above
        subprocess.run([*command(source), read[0]["size"]], cwd=ROOT, check=True, env=environment, capture_output=True)
        header, rows = labs.counted_rows(counters, source)
        rows = [dict(zip(header, row)) for row in rows]
        ours = [[str((row | {"block": files.threads(row["block"])})[column]) for column in list(read[0])[3:]] for row in rows]
        theirs = [list(row.values())[3:] for row in read if (row["step"], row["counted_by"]) == (source.parent.name, "ncu")]
        assert theirs and all(row in ours for row in theirs)
        if source.parent.name == "step01_columns":  # blocks of 256 threads in another order of accesses
            assert {"32x8", "16x16"} <= {row["block"] for row in rows}


def test_charts_are_drawn(tmp_path, monkeypatch):
    """Broken: `make lab` ends without a chart."""
    drawn = LABS[::4] if LEFT_OUT else LABS
    for lab in drawn:
        shutil.copy(ROOT / f"plots/h200/labs/{lab}.csv", tmp_path)
    monkeypatch.setattr(sys, "argv", ["labs.py", str(tmp_path), *drawn])
    with plot.matplotlib.rc_context({"figure.autolayout": False}):  # the layout takes half of the time
        charts.main()
    assert all((tmp_path / f"{lab}.svg").stat().st_size > 1000 for lab in drawn)


# ---- The script that runs them

def test_all_ways_to_end_are_distinguished(tmp_path):
    """Broken: a program that fails, hangs or crashes counts as passed."""
    for text, expected in (("exit 0", "PASS"), ("echo 'FAIL: 1 is wrong' >&2; exit 1", "FAIL"), ("exit 77", "SKIP"), ("exit 2", "REFUSED"),
                           ("kill -SEGV $$", "CRASH"), ("echo 'error: race' >&2; exec sleep 1000.5", "HANG"), ("exit 88", "FINDING")):
        program = tmp_path / "program"
        program.write_text(f"#!/bin/bash\n{text}\n")
        program.chmod(0o755)
        assert execute.run([program], 1, {}).status == expected
        if expected == "HANG":
            assert execute.run([program], 1, {}).found == ["error: race"]  # findings up to then are shown
    assert subprocess.run(["pgrep", "-fx", "sleep 1000.5"], capture_output=True).returncode == 1


def test_findings_are_shown_whole(tmp_path, capsys, monkeypatch):
    """Broken: make lab shows the checker's messages without line or hint."""
    message = "error: race in shared memory: two threads\n  --> x.cu:19: thread (1,0,0)\n    19 |     sum\n  = a barrier is missing"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/bash\necho '{message}' >&2; echo '1 finding' >&2; exit 88\n")
    program.chmod(0o755)
    monkeypatch.setattr(labs, "command", lambda source, simulated: [str(program)])
    options = argparse.Namespace(size="1", simulated=True, nvcc="nvcc", time_limit=5)
    status, _, _ = labs.run_step(labs.sources("rowscale")[0], options, tmp_path, set())
    assert status == "FINDING" and capsys.readouterr().out == f"    FINDING  1 finding (docs/findings.md explains them):\n{message}\n"


def test_a_remark_is_shown_once(tmp_path, capsys, monkeypatch):
    """Broken: every program of a lab repeats that the simulator has no clock; or none reports it."""
    program = tmp_path / "program"
    program.write_text("#!/bin/bash\necho step,status\necho $STEP,PASS\necho 'simulator: no clock' >&2\n")
    program.chmod(0o755)
    monkeypatch.setattr(labs, "command", lambda source, simulated: ["env", f"STEP={source.parent.name}", str(program)])
    options = argparse.Namespace(size="1", simulated=True, nvcc="nvcc", time_limit=5, output=tmp_path / "out", charts="")
    assert labs.run(["rowscale", "launch"], options) == 0
    assert capsys.readouterr().out.count("simulator: no clock") == 1


def test_malformed_tables_are_rejected():
    """Broken: a program that prints nonsense, or rows with too few columns, passes."""
    assert labs.program_rows("a line of a kernel\nstep,ms,status\nstep00_x,1,PASS\n", "step00_x") == (["step", "ms", "status"], [["step00_x", "1", "PASS"]])
    for printed in ("", "Hello", "step,ms,status\n", "step00_x,1,PASS\n", "step,ms,status\nstep00_x,PASS\n"):
        assert labs.program_rows(printed, "step00_x") == ([], [])


def test_missing_libraries_are_reported(monkeypatch):
    """Broken: without NCCL or MPI a class sees compiler errors instead of one line."""
    nccl = next(source for source in SOURCES if "-lnccl" in labs.build_line(source))
    mpi = next(source for source in SOURCES if "mpicc" in labs.build_line(source))
    assert "NCCL" in labs.obstacle(nccl, True, "nvcc") and "NCCL" in labs.obstacle(nccl, False, "false")
    monkeypatch.setenv("PATH", "/nowhere")
    assert "Open MPI" in labs.obstacle(mpi, True, "nvcc")


def test_a_run_without_a_result_leaves_the_old_one(tmp_path):
    """Broken: a size that does not fit destroys the table of an earlier measurement."""
    old = tmp_path / "labs/cpu.csv"
    old.parent.mkdir()
    old.write_text("measured\n")
    result = subprocess.run(["make", "-s", "lab", "NAME=cpu", "N=999999999999", f"RESULTS={tmp_path}"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode != 0 and "REFUSED" in result.stdout and result.stdout.splitlines()[-1] == "0 passed, 5 failed, 0 skipped"
    assert old.read_text() == "measured\n"


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.builds("build/sim/labs/accuracy/step00_one_thread/accuracy")
def test_an_interrupt_ends_what_runs(ending, tmp_path):
    """Broken: Ctrl-C, or the end of a job's time, leaves a program running, or half a file."""
    process = subprocess.Popen([sys.executable, "-m", "scripts.ladder.labs", "run", "accuracy", "--simulated", "--size", "16777216", "--output", tmp_path / "out"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    while "step00" not in process.stdout.readline():
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(ending)
    assert process.wait(timeout=10) == 130 and "interrupted" in process.communicate()[1]
    assert not (tmp_path / "out").exists() or not os.listdir(tmp_path / "out")
    assert subprocess.run(["pgrep", "-f", "step00_one_thread/accuracy --csv 16777216"], capture_output=True).returncode == 1


def test_another_programs_name_is_no_lab():
    """Broken: if the environment has a NAME, make labs runs nothing."""
    result = subprocess.run(["make", "-s", "-n", "labs", "DEVICE=sim", "COMPILE=@true"], cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NAME": "machine"})
    assert "scripts.ladder.labs names" in result.stdout and "NAME" not in result.stdout, result.stdout


# A lab of C programs; in the full tests also one that nvcc compiles and the simulator counts.
@pytest.mark.parametrize("lab, table", [("cpu", "cpu"), ("bankconflicts", "bankconflicts-counters")][:1 if LEFT_OUT else 2])
def test_a_lab_is_run_by_its_name(lab, table, tmp_path):
    """Broken: make lab does not run a lab, or writes no table."""
    result = subprocess.run(["make", "-s", "lab", f"LAB={lab}", "DEVICE=sim", "N=33", f"RESULTS={tmp_path}"], cwd=ROOT, capture_output=True, text=True)
    steps = {source.parent.name for source in labs.sources(lab)}
    assert result.returncode == 0 and result.stdout.splitlines()[-1] == f"{len(steps)} passed, 0 failed, 0 skipped", result.stderr
    with open(tmp_path / f"labs/{table}.csv", newline="") as file:
        assert {row["step"] for row in csv.DictReader(file)} == steps
    assert (tmp_path / f"labs/{table}.svg").exists()


@pytest.mark.parametrize("arguments", [["lab", "NAME=nothing"], ["lab", "NAME="], ["lab", "NAME=rowscale", "N=abc"],
                                       ["diff", "LAB=nothing", "STEP=01"], ["diff", "LAB=rowscale/step01_vector", "STEP=01"], ["diff", "LAB=rowscale", "STEP=00"], ["undo", "LAB=rowscale", "STEP=77"]],
                         ids=" ".join)
def test_typing_errors_are_explained(arguments):
    """Broken: a mistyped name of a lab or step runs something else, or is not explained."""
    result = subprocess.run(["make", "-s", *arguments, "DEVICE=sim"], cwd=ROOT, capture_output=True, text=True)
    said = [line for line in result.stderr.splitlines() if "***" not in line]
    assert result.returncode != 0 and len(said) == 1, result.stderr
