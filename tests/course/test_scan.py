"""The prefix sum, the second ladder: the diff rule, right results at every size, a check that finds planted mistakes, its commands and charts."""

import csv
import os
import subprocess
import sys

import pytest


pytest.importorskip("matplotlib", reason="Matplotlib is not there: make test installs it into .venv")
import picture_scan
import plot
import scan as charts
import tables
from scripts.ladder import step_pages, tries

from tests.support import ROOT, build_together, changed_lines, longer, name, needs_simulator, nvcc, some, split

STEPS = sorted(ROOT.glob("scan/step[0-9][0-9]_*"))
PROGRAMS = [*(step / "scan.cu" for step in STEPS), ROOT / "scan/reference_cub/scan.cu"]
SIZES = [1, 31, 32, 33, 255, 256, 257, 511, 512, 513, 4095, 4096, 4097, 8191, 8192, 8193, 100003, 300001]
# An exclusive scan differs only in what it writes of the same sums.
FEW_SIZES = {(): [1, 31, 33, 255, 256, 257, 513, 4096, 4097, 8191, 8192, 8193, 100003], ("--exclusive",): [33, 512, 4097, 8192, 100003]}
# On a small GPU the harness's own kernels are short, and a persistent block gets many tiles.
SMALL = os.environ | {"SIM_SMS": "2"}
INTERLEAVED = {"SIM_TOGETHER": "1"}


def run(program, *arguments, **environment):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, env=SMALL | environment, timeout=60)


def simulated(source):
    return ROOT / "build/sim" / source.relative_to(ROOT).with_suffix("")


def make(*arguments):
    return subprocess.run(["make", "-s", *arguments, "LADDER=scan"], capture_output=True, text=True, cwd=ROOT)


# ---- The programs

@pytest.mark.parametrize("source", PROGRAMS, ids=name)
def test_harness_is_the_same_everywhere(source):
    """Broken: steps are measured or checked in different ways."""
    assert split(source)[1] == split(PROGRAMS[0])[1]


@pytest.mark.parametrize("before, after", list(zip(STEPS, STEPS[1:])), ids=lambda step: step.name)
def test_a_step_changes_only_its_idea(before, after, tmp_path):
    """Broken: the diff of a step, its lesson, has grown noise."""
    assert 0 < changed_lines(before / "scan.cu", after / "scan.cu", tmp_path) <= min(step_pages.about(after).changed_lines, 100)


@pytest.mark.parametrize("source", PROGRAMS, ids=name)
def test_a_program_says_what_it_is(source):
    """Broken: a program has the name of another step, is too wide to show a class, or does not say how to build it."""
    text = source.read_text(encoding="utf-8")
    assert f'static const char STEP[] = "{source.parent.name}";' in text
    assert text.startswith(f"// Step {source.parent.name[4:6]}: " if source.parent.name.startswith("step") else "// Reference: ")
    assert max(map(len, text.splitlines())) <= 92
    assert "// Build and run: nvcc -O3 -arch=native -o scan scan.cu && ./scan" in text.splitlines()[:4]


@pytest.mark.parametrize("source", PROGRAMS, ids=name)
@pytest.mark.parametrize("options", [(), ("--exclusive",)], ids=["inclusive", "exclusive"])
@pytest.mark.builds("build/sim/scan/{source.parent.name}/scan")
def test_a_scan_is_right_at_any_size(source, options):
    """Broken: an element is wrong if a thread's elements, a warp, a block or a tile end just before n, at it, or just past it."""
    for n in some(FEW_SIZES[options], SIZES):
        result = run(simulated(source), "--csv", *options, n)
        row = result.stdout.strip().split(",")
        assert result.returncode == 0 and (row[0], row[2], row[-1], len(row)) == (source.parent.name, str(n), "PASS", 11), (n, result.stderr)


@pytest.mark.parametrize("source", PROGRAMS[6:-1], ids=name)
@pytest.mark.builds("build/sim/scan/{source.parent.name}/scan")
def test_a_scan_is_right_when_blocks_interleave(source):
    """Broken: a block adds up the wrong aggregates. (One after the other, the first block draws all tiles.)"""
    for n in (100003, 300001):
        result = run(simulated(source), n, **INTERLEAVED)
        assert result.returncode == 0 and "PASS" in result.stdout, result.stderr


@pytest.mark.parametrize("arguments", [["0"], ["-5"], ["1e6"], [""], ["18446744073709551617"], ["3", "4"], ["--cvs"]], ids=repr)
@pytest.mark.builds("build/sim/scan/step00_baseline/scan")
def test_bad_arguments(arguments):
    """Broken: a typing error crashes the program, or runs it with another size."""
    result = run(simulated(PROGRAMS[0]), *arguments)
    assert result.returncode == 2 and result.stdout == ""
    assert len(result.stderr.splitlines()) == 1 and "accepted" in result.stderr


# Each planted error: the step, the original text, its replacement, and the environment that exposes it.
# With interleaved blocks (SIM_TOGETHER) a block polls a status word before another has written it; in a shuffled order some blocks pause, and others have to wait.
MISTAKES = {
    "an element dropped at the tile's edge": ("step05_reducefirst", "items[k].z + items[k].w;\n    return sum;",
                                              "items[k].z + (threadIdx.x * VECTORS + k < TILE / 4 - 1 ? items[k].w : 0);\n    return sum;", {}),
    "exclusive ignored": ("step05_reducefirst", "*items = exclusive ? make_float4(prefix, x, y, z) :", "*items =", {}),
    "the prefix not passed on": ("step06_lookback", "publish(status + tile, launch + 1, sum + aggregate)", "publish(status + tile, launch + 1, aggregate)", {}),
    "the flag set before the value": ("step06_lookback", "publish(status + tile, launch, aggregate);",
                                      "{ publish(status + tile, launch, 0.0f); for (int k = 0; k < 99; k++) __nanosleep(k); publish(status + tile, launch, aggregate); }",
                                      INTERLEAVED | {"SIM_BLOCK_ORDER": "7", "SIM_SMS": "1"}),
    "an aggregate published as a prefix": ("step06_lookback", "publish(status + tile, launch, aggregate);", "publish(status + tile, launch + 1, aggregate);", INTERLEAVED),
    "no barrier before the sums are overwritten": ("step07_ahead", "    __syncthreads(); // all threads have read the previous scan's sums\n", "", {}),
    "a fallback adds up the wrong tile": ("step11_small", "publish(status + tile, launch, sum);", "publish(status + tile, launch, sum + 1.0f);", {"SIM_BLOCK_ORDER": "1", "SIM_SMS": "16"}),
    "a status word not polled until valid": ("step06_lookback", "} while ((int)(seen >> 32) < (int)launch);", "} while (false);", INTERLEAVED | {"SIM_BLOCK_ORDER": "7", "SIM_SMS": "1"}),
    "status words of old launches accepted": ("step10_specialised", "missing |= (seen[k] >> 32 != launch) << k;", "missing |= (seen[k] >> 32 == 0) << k;", {}),
}


# Lines of step 10 without which the sums happen to be right here, and the checker's message if they are missing.
UNORDERED = {
    "no wait for the bulk copy": ("    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());\n", "wait for the asynchronous copy between the two accesses"),
    "no proxy fence before a bulk copy": ("        ptx::fence_proxy_async(ptx::space_shared); // make the writes visible to TMA\n", "add a fence.proxy.async between"),
    "no fence after mbarrier initialisation": ("    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);\n", "add a fence.mbarrier_init or fence.proxy.async between"),
    "no barrier between lanes": ("        __syncwarp(); // all lanes have read the tile index\n", "race in shared memory"),
}


def changed(step, good, bad):
    text = (ROOT / "scan" / step / "scan.cu").read_text(encoding="utf-8")
    assert text.count(good) == 1, good
    return text.replace(good, bad)


@pytest.fixture(scope="module")
def planted():
    wrong = {what: changed(*MISTAKES[what][:3]) for what in MISTAKES} | {what: changed("step10_specialised", line, "") for what, (line, _) in UNORDERED.items()}
    older = changed(STEPS[-1].name, "kernel.ptxVersion >= 90", "false").replace("#if __CUDA_ARCH__ >= 900", "#if false")
    return build_together(wrong | {"an older GPU": older}, "scan/planted")


@pytest.mark.parametrize("what", MISTAKES)
@needs_simulator
def test_a_planted_mistake_is_found(what, planted):
    """Broken: the harness's check passes a wrong scan."""
    *_, environment = MISTAKES[what]
    result = run(planted, what, "--exclusive" if "exclusive" in what else "--csv", 100002, SIM_CHECK="0", **environment)
    assert result.returncode == 1 and "elements are wrong" in result.stderr, result.stdout + result.stderr


@pytest.mark.parametrize("what", UNORDERED)
@needs_simulator
def test_unordered_accesses_are_reported(what, planted):
    """Broken: the checker misses a race with a bulk copy, or a race in a long chain of barriers."""
    result = run(planted, what, "--csv", 50003, SIM_SMS="1")
    assert result.returncode == 88 and UNORDERED[what][1] in result.stderr, result.stderr


@needs_simulator
def test_an_older_gpu_scans_large_arrays(planted):
    """Broken: on a GPU without TMA the last step's kernel for large arrays is wrong, has a race, or is launched with another block size."""
    result = run(planted, "an older GPU", "--csv", 300001, **INTERLEAVED)
    assert result.returncode == 0 and "PASS" in result.stdout, result.stderr


@longer
def test_the_pipeline_fits_on_every_gpu_with_tma(tmp_path):
    """Broken: the last step needs more shared memory than the 99 KB of a block with compute capability 12.0."""
    source = tmp_path / "scan.cu"
    source.write_text((STEPS[-1] / "scan.cu").read_text(encoding="utf-8") + "\nstatic_assert(sizeof(Pipeline) + 1024 <= 99 * 1024); // and static arrays\n")
    subprocess.run([nvcc(), "-std=c++17", "-arch=sm_120", "-cuda", "-o", tmp_path / "out", source], check=True, timeout=60)


# ---- The commands

def test_a_step_is_run_by_its_number(tmp_path):
    """Broken: make step03 LADDER=scan runs the sum, or counts the harness's kernels, or EXCLUSIVE=1 does not arrive."""
    for exclusive, elements in (("0", 9000), ("1", 9001)):
        result = make("step06", "DEVICE=sim", f"N={elements}", f"EXCLUSIVE={exclusive}", f"RESULTS={tmp_path}")
        assert result.returncode == 0 and result.stdout.splitlines()[-1] == "1 passed, 0 failed, 0 skipped", result.stderr
        with open(tmp_path / "step06-counters.csv", newline="") as file:
            assert [(row["step"], row["kernel"]) for row in csv.DictReader(file)] == [("step06_lookback", "scan_tiles")]
    shown = make("-n", "run-all", "DEVICE=gpu", "EXCLUSIVE=1").stdout
    assert " --exclusive --elements " in shown and "make diff LADDER=scan STEP=01, and scan/step01_hillissteele/README.md" in shown


@pytest.mark.builds("build/sim/scan/step06_lookback/scan")
def test_a_sweep_goes_on_where_it_stopped(tmp_path):
    """Broken: make sweep LADDER=scan counts the harness's kernels, or a second one starts from scratch."""
    sweep = [sys.executable, "-m", "scripts.ladder.sweep", "--simulated", "--output", tmp_path / "sweep.csv", simulated(PROGRAMS[6])]
    assert subprocess.run(sweep, env=SMALL).returncode == 0
    with open(tmp_path / "sweep.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["step"], row["launches"], row["status"]) for row in rows} == {("step06_lookback", "1", "PASS")}
    assert "there already" in subprocess.run(sweep, env=SMALL, capture_output=True, text=True).stdout


@pytest.mark.parametrize("arguments", [["run-all", "LADDER=nothing"], ["diff", "STEP=00"], ["undo", "STEP=77"], ["step77"], ["picture", "STEP=77"]], ids=" ".join)
def test_typing_errors_are_explained(arguments):
    """Broken: a mistyped ladder or step runs something else, or is not explained."""
    result = subprocess.run(["make", "-s", "LADDER=scan", *arguments], capture_output=True, text=True, cwd=ROOT)
    said = [line for line in result.stderr.splitlines() if not line.startswith("make: ***")]
    assert result.returncode == 2 and len(said) == 1 and result.stdout == "", result.stderr


def test_diff_shows_a_step():
    """Broken: make diff LADDER=scan shows a step of the other ladder."""
    shown = make("diff", "STEP=06").stdout
    assert shown.startswith("--- scan/step05_reducefirst/scan.cu\n+++ scan/step06_lookback/scan.cu\n")


# ---- The charts and the pages

def test_the_look_back_goes_over_several_tiles():
    """Broken: the figure of step 06 shows what no run did."""
    found = picture_scan.looks(picture_scan.together("step06_lookback", 28 * 8192, 2))
    of_15 = {tile: written for looker, tile, written in found if looker == 15}
    assert of_15[7] == 2 and {of_15[tile] for tile in range(8, 15)} == {1}  # an aggregate first, then a prefix


RUNS = "step,device,elements,launches,median_ms,min_ms,q1_ms,q3_ms,gb_per_s,peak_gb_per_s,status\n" + "".join(
    f"{program.parent.name},A GPU,67108864,1,{0.2 + k},0.19,{0.2 + k},{0.21 + k},{2684.355 / (1 + k):.3f},4814.4,PASS\n" for k, program in enumerate(PROGRAMS))
SWEEP = "step,cache,device,elements,median_ms,q1_ms,q3_ms,gb_per_s,peak_gb_per_s,status\n" + "".join(  # each step gains more at 4096
    f"{program.parent.name},cold,A GPU,{n},{ms},{ms},{ms},800.0,4814.4,PASS\n"
    for k, program in enumerate(PROGRAMS) for n, ms in ((1024, 1e-5 / (10 + k)), (4096, 4e-5 / (1 + k))))
RESULTS = {
    "run-all": (RUNS, "bandwidth"), "sweep": (SWEEP, "sweep"),
    "against-cub": ("elements,scan_us,cub_us,copy_us,kernel_copy_us,scan_gb_per_s,cub_gb_per_s,copy_gb_per_s,kernel_copy_gb_per_s\n"
                    "1024,2.0,3.0,1.0,1.5,4.0,2.7,8.2,5.5\n4096,4.0,5.0,2.0,1.0,8.2,6.5,16.4,32.8\n", "over-n"),
    "bytes": ("step,elements,read_bytes_per_element,written_bytes_per_element\nstep00_baseline,1024,4.1,4\nreference_cub,1024,4,4\n", "bytes"),
    "counters": ("step,kernel,warp_instructions,global_load_sectors,global_store_sectors,status\n"
                 "step07_ahead,scan_tiles,9,200,300,PASS\nstep08_bulk,scan_tiles,9,0,0,PASS\n", "simulated"),
}


def test_charts_are_drawn_of_what_is_there(tmp_path, monkeypatch):
    """Broken: make run-all LADDER=scan ends without a chart, or draws one of nothing."""
    monkeypatch.setattr(sys, "argv", ["scan.py", str(tmp_path)])
    with pytest.raises(SystemExit, match="has no results"):
        charts.main()
    for file, (text, _) in RESULTS.items():
        (tmp_path / f"{file}.csv").write_text(text)
        (tmp_path / f"{file}.txt").write_text("date: 2026-01-01\nelements: 1024\n")
    with plot.matplotlib.rc_context({"figure.autolayout": False}):  # laying out takes half of the time
        charts.main()
    assert {path.name for path in tmp_path.glob("*.svg")} == {f"{chart}.svg" for _, chart in RESULTS.values()}


def test_tables_hold_what_was_measured(tmp_path, monkeypatch):
    """Broken: the pages of the prefix sum show numbers of another step or file."""
    monkeypatch.setattr(tables, "SCANS", tmp_path)
    page = f"scan/{STEPS[1].name}"
    assert tables.scanover("scan") == tables.NOT_MEASURED and "Gain" not in tables.scannumbers(page)
    for file, (text, _) in RESULTS.items():
        (tmp_path / f"{file}.csv").write_text(text)
    numbers = tables.scannumbers(page)
    assert "| GB/s, n = 2^26 | 2,684 | 1,342 |" in numbers and "| bytes read per element | 4.10 | not measured yet |" in numbers
    assert "| µs, n = 2^12, in [the sweep](../h200/sweep.csv) | 0.04 | 0.02 |" in numbers
    assert numbers.endswith("Largest gain: **2.00× at 2^12**; at 2^26: **0.17×**.")
    ladder, gains = tables.scanladder("scan").splitlines(), tables.scangains("scan").splitlines()
    assert ladder[2:4] == [f"| [{STEPS[0].name}]({STEPS[0].name}/README.md) | one thread, one loop | – |", f"| [{STEPS[1].name}]({STEPS[1].name}/README.md) | {tables.idea(page)} | 2.00× at 2^12 |"]
    assert gains[2:4] == [f"| {STEPS[0].name} | 2,684 | – | not measured yet | not measured yet |", f"| {STEPS[1].name} | 1,342 | 0.17× | not measured yet | not measured yet |"]
    over = tables.scanover("scan")
    assert "| 2^10 | 2 | 3 | 1 | 1.5 | 1.50 | 50 % |" in over and "| 2^12 | 4 | 5 | 2 | 1 | 1.25 | 25 % |" in over  # the faster copy
    assert over.endswith("geometric mean 1.37, minimum 1.25 (n = 2^12).")


@pytest.mark.parametrize("source", PROGRAMS[:-1], ids=name)
def test_tries_apply_and_are_the_measured_ones(source):
    """Broken: a lesson suggests a change that the program no longer takes, or shows what was measured of another one."""
    step = str(source.parent.relative_to(ROOT))
    diffs = [diff for diff, _ in tries.tries(step)]
    measured = {int(row["try"]): row["diff"] for row in tables.read(tables.SCANS / "tries.csv") if row["step"] == step}
    assert diffs and all(tries.digest(diffs[number - 1]) == digest for number, digest in measured.items())
    for diff in diffs:
        tries.applied(step, diff)
