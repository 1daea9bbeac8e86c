"""Recordings (SIM_RECORD) and their replay: by build/sim/replay, and by book/player/simulator.js in a page."""

import csv
import json
import os
import shutil
import subprocess
import sys

import pytest

from drywarp import recordings
from scripts.ladder import lesson_programs, tries
from tests.simulator import host_calls
from tests.simulator.ptx import RUN, kernel
from tests.support import ROOT

pytestmark = pytest.mark.builds("build/sim/replay", "build/sim/ptx_run", "build/sim/step03_sequential/reduce", "build/sim/libcuda.so.1")

REPLAY, ENGINE = ROOT / "build/sim/replay", ROOT / "book/player/simulator.js"
STEP = ROOT / "build/sim/step03_sequential/reduce"
LOAD, FIRST_BARRIER, ADDITION = 19, 20, 24  # lines of step 03


def run(words, **settings):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, env=os.environ | {"SIM_THREADS": "1"} | settings)


def files(folder):
    """Settings that write counters and trace to a folder."""
    folder.mkdir(exist_ok=True)
    return {"SIM_COUNTERS": str(folder / "counters"), "SIM_TRACE": str(folder / "trace")}


def counters(text):
    """For each launch except the harness's: all columns after program name and launch number."""
    rows = [row.split(",") for row in text.splitlines()]
    return [[row[1], *row[3:]] for row in rows if row[1] != "prepare"]


def trace(text):
    return [row for row in (row.split(",", 1)[1] for row in text.splitlines()) if not row.startswith("prepare,")]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    result = run([STEP, "1000"], SIM_RECORD=str(folder / "recording"), **files(folder))
    assert result.returncode == 0, result.stderr
    return folder / "recording"


def test_a_replay_does_what_the_program_did(recording, tmp_path):
    """Broken: a call is not recorded, or its replay has another effect."""
    result = run([REPLAY, recording], **files(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")
    checks = json.loads(result.stdout)["checks"]
    assert len(checks) > 1 and all(check["equal"] for check in checks)
    assert (tmp_path / "trace").read_text() == (recording.parent / "trace").read_text()
    assert counters((tmp_path / "counters").read_text()) == counters((recording.parent / "counters").read_text())


def test_values_are_those_that_lanes_load_and_store(recording, tmp_path):
    """Broken: the values are of another register, or from another time."""
    assert run([REPLAY, recording], SIM_TRACE_VALUES="1", **files(tmp_path)).returncode == 0
    with open(tmp_path / "trace", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kernel"] == "reduce" and row["launch"] == "1"]
    held = {}  # shared memory of the block: the last stored value of each address
    compared = 0
    for row in rows:
        if row["memory"] != "shared" or not row["addresses"]:
            continue
        cells = list(zip(row["addresses"].split(";"), row["values"].split(";"), strict=True))
        if row["opcode"].startswith("ld"):
            assert all(held[address] == value for address, value in cells), row
            compared += len(cells)
        held |= dict(cells) if row["opcode"].startswith("st") else {}
    assert compared == 2 * 255 + 1  # two for each addition, and the sum


def test_a_trace_may_end_early(recording, tmp_path):
    """Broken: a page that requests the first rows waits for all rows, gets other ones, or the run ends after them."""
    result = run([REPLAY, recording], SIM_TRACE_ROWS="100", **files(tmp_path))
    assert result.returncode == 0 and all(check["equal"] for check in json.loads(result.stdout)["checks"])
    with open(recording.parent / "trace", newline="") as whole, open(tmp_path / "trace", newline="") as begin:
        by_launch = [row for row in csv.DictReader(whole) if int(row["order"]) < 100]
        assert list(csv.DictReader(begin)) == by_launch
    assert counters((tmp_path / "counters").read_text()) == counters((recording.parent / "counters").read_text())


def test_a_copy_does_not_go_beyond_the_rows_of_a_trace(tmp_path):
    """Broken: a trace has one row too many if the last row is of a copy, which has two."""
    copy = "{.shared .align 4 .b32 word; cp.async.ca.shared.global [word], [%in], 4; cp.async.wait_all; mov.u32 %t, 0;}"
    (tmp_path / "k.ptx").write_text(kernel(copy, "u32", ["u32"]))
    (tmp_path / "in").write_bytes(bytes(8))

    def events(**limit):
        result = run([RUN, tmp_path / "k.ptx", "k", "1", tmp_path / "in", tmp_path / "out"], SIM_CHECK="0", SIM_TRACE=tmp_path / "trace", **limit)
        assert result.returncode == 0, result.stderr
        with open(tmp_path / "trace", newline="") as file:
            return [row["event"] for row in csv.DictReader(file)]
    whole = events()
    before = whole.index("target")
    assert events(SIM_TRACE_ROWS=str(before)) == whole[:before]


def lines_of_findings(text):
    return [(found["kind"], [place["line"] for place in found["places"]]) for found in json.loads(text)["findings"]]


def test_a_barrier_can_be_left_out(recording, tmp_path):
    """Broken: instructions of another line are removed, or the control flow changes."""
    result = run([REPLAY, recording, "--without", str(FIRST_BARRIER)], SIM_FINDINGS=str(tmp_path / "findings"))
    assert result.returncode == 88
    assert ("race-shared", [LOAD, ADDITION]) in lines_of_findings((tmp_path / "findings").read_text())
    check = json.loads(result.stdout)["checks"][0]
    assert not check["equal"] and check["at"] == 0 and check["got"] != check["expected"]


def test_a_test_can_be_left_out(recording, tmp_path):
    result = run([REPLAY, recording, "--without", f"t{LOAD}"], SIM_FINDINGS=str(tmp_path / "findings"))
    assert result.returncode == 88 and lines_of_findings((tmp_path / "findings").read_text()) == [("out-of-bounds", [LOAD])]


@pytest.mark.parametrize("old, new, said", [
    (b"recording 1\n", b"recording 9\n", "begins with"), (b"\nfill 1+0 32 ", b"\nfill 1+8 32 ", "the byte count exceeds the allocation"),
    (b"\nfill 1+0", b"\nfill 7+0", "no such allocation"), (b"_Z6reducePKfPfx 4,1,1", b"_Z6missingPKfPfx 4,1,1", "no such kernel"),
    (b"\nwrite 0+0", b"\nwritten 0+0", "first word"), (b"ptx 0 ", b"ptx 0 9", "its data is truncated")])
def test_a_damaged_recording_is_refused(recording, tmp_path, old, new, said):
    data = recording.read_bytes()
    assert old in data
    (tmp_path / "damaged").write_bytes(data.replace(old, new, 1))
    result = run([REPLAY, tmp_path / "damaged"])
    assert result.returncode == 2 and said in result.stderr and result.stderr.startswith("replay: ") and len(result.stderr.splitlines()) == 1


def test_only_lines_that_can_be_left_out_are(recording):
    result = run([REPLAY, recording, "--without", f"{ADDITION}"])
    assert result.returncode == 2 and result.stderr == f"replay: '{ADDITION}' names no line with a barrier or a fence\n"


# ---- Recordings with a kernel of this file

# Copies the last eight bytes of its first parameter, or what they point to.
LAST_WORD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 8 .b8 s[%d], .param .u64 out)
{
.reg .b64 %%a<3>;
ld.param.u64 %%a0, [s+%d];
%s
ld.param.u64 %%a1, [out];
st.global.u64 [%%a1], %%a0;
ret;
}
"""


def replay_of(tmp_path, parameter, launch, follow=""):
    """Replays one launch of the kernel above, which should store 42 in allocation 0."""
    ptx = LAST_WORD % (parameter, parameter - 8, follow)
    (tmp_path / "recording").write_bytes(f"recording 1\nptx 0 {len(ptx)}\n{ptx}\nbytes 2a 8\n".encode() + bytes([42, *7 * [0]])
        + f"\nallocate 0 device 8 cudaMalloc\nallocate 1 device 8 cudaMalloc\nwrite 1+0 8 2a\nlaunch 0 k {launch}\nread 0+0 8 2a\n".encode())
    return run([REPLAY, tmp_path / "recording"])


@pytest.mark.parametrize("argument, follow", [(",".join([*499 * [16 * "0"], f"{42:016x}"]), ""), (",".join(300 * ["@1+0"]), "ld.global.u64 %a0, [%a0];")])
def test_arguments_may_be_large(tmp_path, argument, follow):
    """Broken: a large argument is truncated or overflows a buffer: 500 words, 300 pointers."""
    result = replay_of(tmp_path, 8 * len(argument.split(",")), f"1,1,1 1,1,1 0 0,0,0 0 {argument} @0+0", follow)
    assert (result.returncode, result.stderr) == (0, "") and [check["equal"] for check in json.loads(result.stdout)["checks"]] == [True]


@pytest.mark.parametrize("launch, said", [
    ("1,1,1 2000,1,1 0 0,0,0 0 {}", "2000 threads a block"), ("1,1,1 0,1,1 0 0,0,0 0 {}", "a block of 0"), ("0,1,1 1,1,1 0 0,0,0 0 {}", "a grid of 0"),
    ("1,1,1 1,1,1 99999999999 0,0,0 0 {}", "dynamic shared memory"), ("1,1,1 1,1,1 0 3,5,7 0 {}", "clusters of 3 x 5 x 7"), ("1,1,1 1,1,1 0 1,0,1 0 {}", "must be all 0 or none"),
    ("1,1,1 1,1,1 0 0,0,0 0 {} 05", "too many arguments"), ("1,1,1 1,1,1 0 0,0,0 0 00", "size differs"), ("1,1,1 1,1,1 0 0,0,0 0", "arguments are missing"),
    ("1,1,1 1,1,1 0 0,0,0 0 " + 3000 * "0", "too long")])
def test_a_launch_that_cannot_be_is_refused(tmp_path, launch, said):
    """Broken: a launch runs that cudaLaunchKernel would have refused."""
    result = replay_of(tmp_path, 8, launch.format(16 * "0" + " @0+0"))
    assert result.returncode == 2 and said in result.stderr and len(result.stderr.splitlines()) == 1


def test_a_launch_may_have_what_the_program_had_allowed(tmp_path):
    """Broken: more than 48 KB of dynamic shared memory is refused, because cudaFuncSetAttribute is not recorded."""
    assert replay_of(tmp_path, 8, f"1,1,1 1,1,1 100000 0,0,0 0 {42:016x} @0+0").returncode == 0


ONE_BARRIER = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.loc 1 7 0\nbar.sync 0;\nret;\n}\n.file 1 \"k.cu\"\n"


def test_binaries_may_have_any_numbers(tmp_path):
    """Broken: lines of binary 1 cannot be removed if binary 0 has no PTX."""
    recording = tmp_path / "recording"
    recording.write_text(f"recording 1\nptx 1 {len(ONE_BARRIER)}\n{ONE_BARRIER}\nlaunch 1 k 1,1,1 1,1,1 0 0,0,0 0\n")
    assert [line["line"] for line in json.loads(run([REPLAY, recording, "--lines"]).stdout)] == [7]
    assert run([REPLAY, recording, "--without", "7"]).returncode == 0


@pytest.mark.parametrize("text, words, said", [("fill x:name+0 1 0", [], "expected a number"), ("ptx 0 7\n.bar 20", ["--without", "20"], "begins with .version")])
def test_what_cannot_be_read_is_refused(tmp_path, text, words, said):
    """Broken: an invalid binary number is read as 0, or removing lines from an empty text succeeds."""
    (tmp_path / "recording").write_text(f"recording 1\n{text}\n")
    result = run([REPLAY, tmp_path / "recording", *words])
    assert result.returncode == 2 and said in result.stderr


def test_a_folder_is_no_recording(tmp_path):
    result = run([REPLAY, tmp_path])
    assert result.returncode == 2 and result.stderr == f"replay: cannot read {tmp_path}: Is a directory\n"


# Creates a texture object of linear memory, or passes registered memory to a kernel.
UNRECORDED = """
import ctypes, struct, sys
cuda, place, host = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p(), ctypes.create_string_buffer(4096)
assert cuda.cudaMalloc(ctypes.byref(place), 128) == 0
if sys.argv[2] == "texture":
    linear = struct.pack("iPiiiiiN", 2, place.value, 32, 0, 0, 0, 0, 128).ljust(256, bytes(1))
    print(cuda.cudaCreateTextureObject(ctypes.byref(ctypes.c_ulonglong()), linear, bytes(256), None))
else:
    module, kernel, argument = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cudaHostRegister(host, 4096, 2) == 0 and cuda.cudaHostGetDevicePointer(ctypes.byref(argument), host, 0) == 0
    ptx = b".version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry k(.param .u64 p)\\n{\\nret;\\n}\\n"
    assert cuda.cuModuleLoadData(ctypes.byref(module), ptx) == 0 and cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"k") == 0
    print(cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, (ctypes.c_void_p * 1)(ctypes.addressof(argument)), None))
"""


@pytest.mark.parametrize("what, said", [("texture", "textures"), ("registered", "cudaHostRegister")])
def test_what_is_not_recorded_ends_the_program(tmp_path, what, said):
    """Broken: a recording lacks memory that the kernel reads, without a message. (Without SIM_RECORD the program works.)"""
    words = [sys.executable, "-c", UNRECORDED, ROOT / "build/sim/libcuda.so.1", what]
    assert run(words).stdout == "0\n"
    result = run(words, SIM_RECORD=str(tmp_path / "recording"))
    assert result.returncode == 1 and result.stderr.startswith("simulator: cannot write the recording") and said in result.stderr


# ---- In a page

needs_engine = pytest.mark.skipif(not ENGINE.exists() or not shutil.which("node"), reason="needs node, and book/player/simulator.js, which `make stage` builds")

# Replays a recording unchanged, and without the barrier of a line; prints both results as JSON.
IN_NODE = """
const Simulator = require(process.argv[1]);
const program = JSON.parse(require("fs").readFileSync(0, "utf8"));
(async () => console.log(JSON.stringify([await Simulator.run(program, {n: 1000}), await Simulator.run(program, {n: 1000, without: [%d]})])))();
"""


@needs_engine
def test_the_pages_simulator_does_the_same(recording):
    """Broken: in WebAssembly, with 32-bit addresses and without threads and files, a result differs."""
    calls, texts, blobs = recordings.split(recording.read_bytes())
    calls = host_calls.first_run(calls, 1000)
    program = {"name": "step03", "source": {"file": "reduce.cu", "text": ""}, "sizes": [1000], "harness": ["prepare"],
               "ptx": texts, "runs": {1000: "".join(call + "\n" for call in calls)}, "bytes": recordings.in_base64(blobs)}
    result = subprocess.run(["node", "-e", IN_NODE % FIRST_BARRIER, ENGINE], input=json.dumps(program), capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    right, wrong = json.loads(result.stdout)
    assert (right["status"], right["output"], right["findings"]) == (0, "", []) and [check["equal"] for check in right["checks"]] == [True]
    rows = counters(right["counters"])
    assert rows == counters((recording.parent / "counters").read_text())[:len(rows)] and len(rows) == 3
    rows = trace(right["trace"])
    assert rows == trace((recording.parent / "trace").read_text())[:len(rows)] and len(rows) > 500
    assert wrong["status"] == 88
    assert ("race-shared", [LOAD, ADDITION]) in [(found["kind"], [place["line"] for place in found["places"]]) for found in wrong["findings"]]


# ---- The steps, as pages run them

PROGRAMS = ROOT / "book/player/programs"
LESSONS = [str(path.relative_to(ROOT)) for path in sorted([*ROOT.glob("step[0-9][0-9]_*"), *ROOT.glob("scan/step[0-9][0-9]_*")])]
needs_recordings = pytest.mark.skipif(not PROGRAMS.exists(), reason="book/player/programs is not there: `make recordings` writes it")


@needs_recordings
@pytest.mark.parametrize("step", LESSONS)
def test_the_players_programs_are_these_lessons(step):
    """Broken: a lesson or a Try has changed, and the page runs the old version."""
    text = (PROGRAMS / f"{lesson_programs.step_name(step)}.js").read_text(encoding="utf-8")
    program = json.loads(text[text.index("] = ") + len("] = "):].rstrip(";\n"))
    assert program["source"]["text"] == tries.source_of(step).read_text(encoding="utf-8").split(lesson_programs.MARK)[0], "make recordings"
    assert [each["diff"] for each in program["tries"]] == [diff for diff, _ in tries.tries(step)], "make recordings"
    assert program["host"]["text"] == lesson_programs.harness_of(step).read_text(encoding="utf-8"), "make recordings"
    assert program["sizes"] == lesson_programs.SIZES


# Runs lessons with a number of elements each; prints the results without traces.
LESSONS_IN_NODE = """
const Simulator = require(process.argv[1]), fs = require("fs"), folder = process.argv[2];
Simulator.load = async (file) => (0, eval)(fs.readFileSync(`${folder}/${file}`, "utf8"));
(async () => {
    const results = {};
    for (const [name, n] of JSON.parse(fs.readFileSync(0, "utf8"))) {
        await Simulator.load(`${name}.js`);
        results[name] = await Simulator.run(playerPrograms[name], {n, trace: false, check: n < 65536});
    }
    console.log(JSON.stringify(results));
})();
"""


def lessons_in_node(cases):
    result = subprocess.run(["node", "-e", LESSONS_IN_NODE, ENGINE, PROGRAMS], input=json.dumps(cases), capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr
    results = json.loads(result.stdout)
    assert {name: (made["status"], made["output"], [check["equal"] for check in made["checks"]]) for name, made in results.items()} == {
        name: (0, "", [True]) for name, _ in cases}
    return results


@needs_engine
@needs_recordings
def test_every_lesson_runs_in_a_page():
    """Broken: a lesson's result is wrong in a page, or the checker reports a false positive there."""
    lessons_in_node([(lesson_programs.step_name(step), 1000) for step in LESSONS])


@needs_engine
@needs_recordings
def test_a_page_counts_what_the_simulator_counts_elsewhere():
    """Broken: a counter in a page differs from that of nvcc's program; only instructions, lanes and branches may, because the page compiles the lesson."""
    with open(ROOT / "tests/counters/simulator/steps.csv", newline="") as file:
        committed = list(csv.reader(file))
    steps = [step for step in LESSONS if not step.startswith("scan/")]
    results = lessons_in_node([(lesson_programs.step_name(step), 65536) for step in steps])
    for step in steps:
        rows = [row.split(",") for row in results[lesson_programs.step_name(step)]["counters"].splitlines()[1:]]
        assert [[row[1], *row[3:5], *row[8:-1]] for row in rows] == [[row[1], *row[3:5], *row[8:-1]] for row in committed if row[0] == step], step
