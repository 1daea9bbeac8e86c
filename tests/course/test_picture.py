"""The trace of a run on the simulator, and the figures drawn from it."""

import csv
import os
import re
import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree

import pytest


import drawing
import picture
import picture_labs
import traced

from scripts.ladder import labs

from tests.support import ROOT, SIM, STEPS, build, build_text, counters, longer, needs_simulator, nvcc, run

STEP03 = (ROOT / "step03_sequential/reduce.cu").read_text()
NOT_SIMULATED = {"cpu", "mpi", "several_gpus"}  # labs without a kernel of their own to trace
LAB_PICTURES = sorted(ROOT.glob("labs/**/picture.svg"))
SCANS = sorted(ROOT.glob("scan/step[0-9][0-9]_*"))
DRAWN = [step.name for step in STEPS]
DRAWN_HERE = [*DRAWN, *(f"scan/{step.name}" for step in SCANS)]
# make test draws every sixth figure and that of the newest step, and reads the other committed ones.
REDRAWN = [name for k, name in enumerate(DRAWN_HERE) if k % 6 == 0 or name == DRAWN[-1] or not os.environ.get("LEFT_OUT")]


def built(name):
    """A step as a parameter of a test, for which its program is built if its figure is drawn."""
    program = f"build/sim/{name}/{'scan' if name.startswith('scan/') else 'reduce'}"
    return pytest.param(name, marks=pytest.mark.builds(program)) if name in REDRAWN else name


DRAWN_WITH = "release 13.0"  # the nvcc whose PTX the committed figures show


def trace(program, tmp_path, *arguments, **environment):
    """The rows of the first pass."""
    path = tmp_path / "trace.csv"
    result = run(program, *arguments, SIM_TRACE=str(path), **environment)
    assert result.returncode == 0, result.stderr
    with open(path, newline="") as file:
        return traced.first_run(map(traced.read_row, csv.DictReader(file)))[0]


def draw(step, output, *arguments, root=ROOT):
    return subprocess.run([sys.executable, root / "plots/picture.py", step, "--output", output, *arguments],
                          capture_output=True, text=True)


# ---- The trace

@pytest.mark.builds("build/sim/step03_sequential/reduce")
def test_trace_of_step_03_worked_out_by_hand(tmp_path):
    """Broken: the trace misses an instruction, a barrier or a lane, or has a wrong position or address."""
    rows = trace(SIM / "step03_sequential/reduce", tmp_path, 256)
    ran = [row for row in rows if row.event == "run"]
    what = Counter(row.opcode for row in ran)
    # 8 warps fill; in 8 rounds 4 + 2 + 1 + 1 + 1 + 1 + 1 + 1 of them add, with two loads each; one more load for the result.
    assert what["st.shared.f32"] == 8 + 12 and what["ld.shared.f32"] == 2 * 12 + 1 and what["ld.global.f32"] == 8
    assert what["bar.sync"] == 9 * 8 == sum(row.event == "release" for row in rows)
    for row in ran:
        if row.opcode == "ld.global.f32":
            assert row.memory.startswith("device") and row.bytes == 4 and row.lanes == list(range(32))
            assert row.addresses == [128 * row.warp + 4 * lane for lane in range(32)]
            assert "in[i]" in STEP03.splitlines()[row.line - 1] and row.file == "reduce.cu"
    stores = [row for row in ran if row.opcode == "st.shared.f32"][8:]
    assert [len(row.lanes) for row in stores if row.warp == 0] == [32, 32, 32, 16, 8, 4, 2, 1]
    assert all(row.addresses == [128 * row.warp + 4 * lane for lane in row.lanes] for row in stores)
    last = [row for row in ran if row.opcode == "st.global.f32"]
    assert len(last) == 1 and (last[0].warp, last[0].lanes, last[0].addresses) == (0, [0], [0])


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
@pytest.mark.builds("build/sim/{step.name}/reduce")
def test_trace_has_every_instruction(step, tmp_path):
    """Broken: an instruction of a warp has no row or two rows, or tracing changes a program's behaviour."""
    program = SIM / step.name / "reduce"
    plain = counters(program, tmp_path, 200)
    path = tmp_path / "trace.csv"
    assert counters(program, tmp_path, 200, SIM_TRACE=str(path)) == plain
    with open(path, newline="") as file:
        rows = Counter(int(row["launch"]) for row in csv.DictReader(file) if row["event"] == "run")
    alone = {int(row["launch"]): int(row["warp_instructions"]) for row in plain if row["grid"] == "1"}
    assert {launch: rows[launch] for launch in alone} == alone


@pytest.mark.parametrize("block", [0, 2])
@pytest.mark.builds("build/sim/step11_singlepass/reduce")
def test_trace_shows_the_block_asked_for(block, tmp_path):
    """Broken: $SIM_TRACE_BLOCK selects another block, or the trace depends on the host's threads."""
    step = next(step for step in STEPS if step.name.endswith("_singlepass"))
    texts = set()
    for threads in "15":
        trace(SIM / step.name / "reduce", tmp_path, 100003, SIM_TRACE_BLOCK=str(block), SIM_THREADS=threads)
        texts.add((tmp_path / "trace.csv").read_text())
    assert len(texts) == 1
    assert {row["block"] for row in csv.DictReader(texts.pop().splitlines())} == {str(block)}


@needs_simulator
def test_trace_names_every_memory(tmp_path):
    """Broken: a generic address, a copy or an atomic operation is attributed to the wrong memory."""
    program = build_text("""
__device__ int count;
__global__ void memories(int *out, const int *in)
{
    __shared__ __align__(16) int words[64];
    const unsigned lane = threadIdx.x, to = __cvta_generic_to_shared(words + 4 * lane);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(to), "l"(in + 4 * lane));
    volatile int *p = lane == 0 ? words + 3 : out + lane;
    *p = 1;
    atomicAdd(&count, 1);
}
int main()
{
    int *out, *in;
    cudaMalloc(&out, 1024);
    cudaMalloc(&in, 1024);
    memories<<<1, 3>>>(out, in);
    return cudaDeviceSynchronize();
}
""", "picture/memories", "-O3")
    rows = trace(program, tmp_path, SIM_CHECK="0")
    copies = [row for row in rows if row.opcode.startswith("cp.async.ca")]
    assert [(row.event, row.bytes, row.addresses) for row in copies] == [("run", 16, [0, 16, 32]), ("target", 16, [0, 16, 32])]
    assert copies[1].memory == "shared"
    lines = [line.split(",") for line in (tmp_path / "trace.csv").read_text().splitlines()]
    store, = [line for line in lines if re.fullmatch(r"st(\.volatile)?\.u32|st(\.volatile)?\.b32", line[7])]
    out = f"device{int(copies[0].memory.removeprefix('device')) - 1}"
    assert store[-3:] == ["shared", "4", f"12;{out}+4;{out}+8"]
    atomic, = [row for row in rows if row.opcode.startswith(("atom.", "red."))]
    assert atomic.bytes == 4 and set(atomic.addresses) == {0} and atomic.memory not in ("shared", out, copies[0].memory)


# ---- The figures

def test_every_lesson_has_a_picture():
    """Broken: a step has no figure."""
    for ladder, steps in (("reduce", STEPS), ("scan", SCANS)):
        for step in steps:
            assert callable(picture.function_of(ladder, step)[0])
    assert [step.name for step in (*STEPS, *SCANS) if not (step / "picture.svg").exists()] == [], "make picture STEP=NN"


def test_every_lab_has_a_picture():
    """Broken: a lab has no figure, or no page of the lab shows it."""
    shown = {(page.parent / uri).resolve() for page in ROOT.glob("labs/**/README.md") for uri in re.findall(r"\]\(([./]*picture\.svg)\)", page.read_text())}
    assert shown == set(LAB_PICTURES)
    assert {path.relative_to(ROOT).parts[1] for path in LAB_PICTURES} == set(labs.labs()) - NOT_SIMULATED


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Draws a step's figure, once."""
    folder = tmp_path_factory.mktemp("pictures")

    def path(name):
        output = folder / f"{name.replace('/', '_')}.svg"
        if not output.exists():
            ladder, _, step = name.rpartition("/")
            result = draw(step[4:6], output, "--ladder", ladder or "reduce")
            assert result.returncode == 0 and result.stderr == "", result.stderr
        return output
    return path


@pytest.mark.parametrize("name", [built(name) for name in REDRAWN])
def test_committed_picture_is_what_the_program_does(name, drawn):
    """Broken: a figure is out of date; make picture STEP=... redraws it."""
    if DRAWN_WITH not in subprocess.run([nvcc(), "--version"], capture_output=True, text=True).stdout:
        pytest.skip(f"the committed figures show PTX of nvcc {DRAWN_WITH}")
    assert drawn(name).read_bytes() == (ROOT / name / "picture.svg").read_bytes()


@longer  # nvcc is slow on the labs' programs
@pytest.mark.parametrize("lab", picture_labs.LABS)
def test_committed_picture_of_a_lab_is_what_its_programs_do(lab, tmp_path):
    """Broken: a lab's figure is out of date; make picture LAB=... redraws it."""
    result = subprocess.run([sys.executable, ROOT / "plots/picture_labs.py", lab, "--output", tmp_path / "picture.svg"], capture_output=True, text=True)
    assert result.returncode == 0 and result.stderr == "", result.stderr
    assert (tmp_path / "picture.svg").read_bytes() == (ROOT / "labs" / lab / "picture.svg").read_bytes()


@pytest.mark.parametrize("name", [*(built(name) for name in DRAWN_HERE), *(str(path.parent.relative_to(ROOT)) for path in LAB_PICTURES)])
def test_picture_is_whole(name, drawn):
    """Broken: a figure is not valid XML, its text overflows or is too small, or it has no dark colours."""
    text = (drawn(name) if name in REDRAWN else ROOT / name / "picture.svg").read_text()
    root = ElementTree.fromstring(text)
    assert "prefers-color-scheme: dark" in text and min(map(int, re.findall(r"(\d+)px", text))) >= 11
    for words in root.iter("{http://www.w3.org/2000/svg}text"):
        css = words.get("class").split()
        wide = len(words.text) * (9.1 if "title" in css else 7 if {"head", "step"} & set(css) else 6.6 if "code" in css else 6.3)
        before = wide if "end" in css else wide / 2 if "mid" in css else 0
        assert -1 <= float(words.get("x")) - before and float(words.get("x")) - before + wide <= drawing.WIDTH, words.text


@pytest.mark.parametrize("arguments, status, named", [
    (["STEP=77"], 2, "'77'"), ([], 2, "''"), (["STEP=03", "BLOCK=one"], 2, "'one'"),
    (["STEP=03", "BLOCK=16"], 2, "no block 16 at n = 4096")])
@pytest.mark.builds("build/sim/step03_sequential/reduce")
def test_a_picture_that_cannot_be_is_named(arguments, status, named, tmp_path):
    """Broken: a missing step or block causes a traceback, or another figure."""
    words = dict(argument.split("=") for argument in arguments)
    result = draw(words.get("STEP", ""), tmp_path / "picture.svg", "--block", words.get("BLOCK", "0"))
    assert result.returncode == status and len(result.stderr.splitlines()) == 1 and named in result.stderr
    assert not (tmp_path / "picture.svg").exists()


def edited(tmp_path, old, new):
    """A copy of the files that draw step 03, with a changed program."""
    root = tmp_path / "root"
    (root / "step03_sequential").mkdir(parents=True)
    (root / "step03_sequential/README.md").symlink_to(ROOT / "step03_sequential/README.md")
    (root / "step02_bitops").symlink_to(ROOT / "step02_bitops")
    (root / "scripts").symlink_to(ROOT / "scripts")
    (root / "drywarp").symlink_to(ROOT / "drywarp")
    (root / "plots").mkdir()
    for script in ("picture.py", "picture_scan.py", "drawing.py", "traced.py"):
        (root / "plots" / script).write_text((ROOT / "plots" / script).read_text())
    (root / "build/sim/step02_bitops").mkdir(parents=True)
    (root / "build/sim/step02_bitops/reduce").symlink_to(SIM / "step02_bitops/reduce")
    source = root / "step03_sequential/reduce.cu"
    source.write_text(STEP03.replace(old, new))
    build(source, root / "build/sim/step03_sequential/reduce", "-O3", "-lineinfo")
    return root


@pytest.mark.builds("build/sim/step02_bitops/reduce", "build/sim/libsimulator.a")
def test_an_edited_program_is_drawn_as_it_is(tmp_path):
    """Broken: the figure shows the lesson's program instead of the learner's."""
    root = edited(tmp_path, "BLOCK_SIZE = 256", "BLOCK_SIZE = 512")
    result = draw("03", tmp_path / "picture.svg", root=root)
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "picture.svg").read_text()
    assert ">15<" in text and "round 9" in text  # the last warp and the last round


@pytest.mark.builds("build/sim/step02_bitops/reduce", "build/sim/libsimulator.a")
@longer
def test_an_edited_program_without_the_lesson_is_named(tmp_path):
    """Broken: a program without the accesses that the figure shows causes a traceback or an empty figure."""
    root = edited(tmp_path, "sums[tid] += sums[tid + s];", ";")
    result = draw("03", tmp_path / "picture.svg", root=root)
    assert result.returncode == 2 and not (tmp_path / "picture.svg").exists()
    assert result.stderr.splitlines()[-1] == (
        "picture.py: step03_sequential: no thread of block 0 adds in shared memory, which this figure shows")
