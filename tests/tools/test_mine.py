"""make mine: a learner's own kernel in the harness, and where it stands."""

import csv
import re
import subprocess
import sys

import pytest

from tests.support import ROOT, build, longer, needs_simulator, nvcc, run, some


STRICT = ["-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra"]
EXAMPLE = re.search(r"```cuda\n(.*?)```", (ROOT / "docs/mine.md").read_text(), re.S)[1]
STEP = (ROOT / "step08_shuffle/reduce.cu").read_text()


def mine(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "drywarp.mine", *arguments], capture_output=True, text=True, **options)


def compose(folder, source, name="reduce.cu"):
    """The program made of a file of that name, named as a learner would: from the folder it lies in."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(source if isinstance(source, bytes) else source.encode())
    result = mine("compose", name, "build/mine/reduce.cu", cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder / "build/mine/reduce.cu"


def compiled(program):
    return subprocess.run([nvcc(), *STRICT, "-std=c++17", "-arch=sm_90", "-ptx", "-o", "/dev/null", program],
                          capture_output=True, text=True)


def refused(folder, source):
    """The one line with which a file is refused, its output not begun."""
    (folder / "reduce.cu").write_text(source)
    result = mine("compose", "reduce.cu", "out/reduce.cu", cwd=folder)
    assert result.returncode != 0 and result.stdout == "" and len(result.stderr.splitlines()) == 1
    assert not (folder / "out").exists()
    return result.stderr


# ---- compose

@pytest.mark.parametrize("source, name", [(EXAMPLE, 'a"b.cu'), pytest.param(STEP, "reduce.cu", marks=longer)], ids=["the page's example", "a whole step"])
@needs_simulator
def test_composed_programs_run(source, name, tmp_path):
    """Broken: what the page shows, or a copy of a step, does not run in the harness; a quote in the file's name ends a string."""
    program = build(compose(tmp_path, source, name), tmp_path / "mine/reduce", *STRICT, "-lineinfo")
    for elements in (1, 65, 100003):
        result = run(program, "--csv", elements)
        assert result.returncode == 0 and result.stdout.startswith("mine,") and result.stdout.endswith("PASS\n"), result.stderr


@longer  # the harness is that of the steps, whose planted errors make test finds
@needs_simulator
def test_a_wrong_kernel_fails(tmp_path):
    """Broken: a learner's wrong kernel passes."""
    program = build(compose(tmp_path, EXAMPLE.replace("i < n;", "i + 1 < n;")), tmp_path / "reduce")
    result = run(program, 100003)
    assert result.returncode == 1 and result.stderr.startswith("FAIL: the sum is")


def test_a_copied_step_stays_as_it_is(tmp_path):
    """Broken: the lesson of a whole step is changed on the way, by more than its name, or keeps a harness of its own."""
    lesson = STEP[:STEP.index("// ==== Harness")].replace('STEP[] = "step08_shuffle"', 'STEP[] = "mine"')
    harness = STEP[STEP.index("// ==== Harness"):]
    text = compose(tmp_path, STEP.replace("ENOUGH_MS = 1000", "ENOUGH_MS = 1")).read_text()
    assert lesson in text and text.endswith(harness) and text.count("// ==== Harness") == 1


@pytest.mark.parametrize("name", ["my/reduce.cu", "a b/it's back\\nslash\\.cu"])
def test_errors_name_the_learners_line(name, tmp_path):
    """Broken: the compiler complains about a file that the learner does not know."""
    number = EXAMPLE.splitlines().index("        sum += in[i];") + 1
    result = compiled(compose(tmp_path, EXAMPLE.replace("sum += in[i]", "sum += inn[i]"), name))
    assert result.returncode != 0 and f'{name}({number}): error: identifier "inn" is undefined' in result.stdout + result.stderr


def test_errors_of_the_harness_name_its_line(tmp_path):
    """Broken: a wrong partial_count is reported in a line that the harness does not have."""
    result = compiled(compose(tmp_path, EXAMPLE.replace("partial_count(long long n) {", "partial_count(long long n, int) {")))
    found = re.findall(r"step00_baseline/reduce\.cu\((\d+)\): error", result.stdout + result.stderr)
    lines = (ROOT / "step00_baseline/reduce.cu").read_text().splitlines()
    assert found and all("partial_count(" in lines[int(number) - 1] for number in found)


OWN = {
    "a CHECK of one's own": EXAMPLE.replace("\n__global__", "\n#define CHECK(call) (void)(call)\n__global__"),
    "some of what the harness needs": '#include <cstdio>\nstatic const char  STEP [ ] = "x // \\" y";\n' + EXAMPLE,
    "a STEP of another type": 'static const char *const STEP = "x";\n' + EXAMPLE,
    "what it needs only in a comment": '// static const char STEP[] = "x";\n/* #define CHECK(call)\n*/\n' + EXAMPLE.rstrip("\n"),
    "lines that end as on Windows, and a mark of the encoding": b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode(),
    "an old encoding": "// \xe4\n".encode("latin-1") + EXAMPLE.encode(),
    "a file beside it": '#include "parts/other.cuh"\n' + EXAMPLE[EXAMPLE.index("static long"):],
}


@pytest.mark.parametrize("way", some(["some of what the harness needs", "what it needs only in a comment", "a file beside it"], OWN))
def test_a_file_may_be_written_in_many_ways(way, tmp_path):
    """Broken: a right file does not compile."""
    (tmp_path / "my/parts").mkdir(parents=True)
    (tmp_path / "my/parts/other.cuh").write_text(EXAMPLE[:EXAMPLE.index("static long")])
    result = compiled(compose(tmp_path, OWN[way], "my/reduce.cu"))
    assert result.returncode == 0 and result.stdout + result.stderr == ""


def test_what_is_missing_is_said_in_a_line(tmp_path):
    """Broken: the compiler explains in the harness's words that launch or partial_count is missing."""
    without_launch = EXAMPLE[:EXAMPLE.index("static void launch")]
    assert "defines no launch;" in refused(tmp_path, without_launch + "// launch() {\n")
    assert "defines no partial_count;" in refused(tmp_path, EXAMPLE.replace("long long partial_count(", "long long partial("))
    assert "defines no partial_count and no launch;" in refused(tmp_path, "")


@pytest.mark.parametrize("end", ["", "// ==== Harness\n"])
def test_a_main_without_the_mark(end, tmp_path):
    """Broken: a whole program of another kind is taken for a lesson's part."""
    assert "has a main of its own" in refused(tmp_path, EXAMPLE + "int main(int argc, char **argv)\n{\n}\n" + end)


@pytest.mark.parametrize("arguments", [[], ["other"], ["compose"], ["compose", "", "out"], ["compose", "absent.cu", "out"],
                                       ["compose", ".", "out"], ["report", "absent.csv"], ["report", ROOT / "README.md"],
                                       ["report", ROOT / "plots/h200/run-all.csv"]], ids=repr)
def test_bad_arguments(arguments, tmp_path):
    """Broken: a typing error gives a traceback, or counts as success."""
    result = mine(*arguments, cwd=tmp_path)
    assert result.returncode != 0 and result.stdout == "" and len(result.stderr.splitlines()) == 1 and result.stderr.startswith("mine.py: ")
    assert not list(tmp_path.iterdir())


def test_the_learners_file_is_not_overwritten(tmp_path):
    """Broken: named as its own output, the learner's file is lost."""
    (tmp_path / "reduce.cu").write_text(EXAMPLE)
    assert mine("compose", "reduce.cu", "reduce.cu", cwd=tmp_path).returncode != 0
    assert (tmp_path / "reduce.cu").read_text() == EXAMPLE


# ---- report

LADDER = {"step01_a": 8.0, "step02_b": 4.0, "step03_c": 3.99, "step04_d": 2.0, "reference_cub": 2.5}


def timed(folder, ms, **changed):
    """A ladder's results with a row of mine."""
    return written(folder / "run-all.csv", [
        {"step": step, "device": "A GPU", "elements": 10**9, "median_ms": ms, "q1_ms": 0.99 * ms, "q3_ms": 1.01 * ms,
         "peak_gb_per_s": 2000.0, "status": "PASS"} | (changed if step == "mine" else {}) for step, ms in {**LADDER, "mine": ms}.items()])


def written(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def reported(*arguments):
    result = mine("report", *arguments)
    assert result.returncode == 0 and result.stderr == "", result.stderr
    return result.stdout.splitlines()


def test_the_report_of_a_gpu(tmp_path):
    """Broken: the lines say something else than the table."""
    assert reported(timed(tmp_path, 5.0)) == [
        "mine: 5 ms for n = 1,000,000,000, 800 GB/s, on A GPU",
        "  of the memory's peak: 40.0 %; at 2,000 GB/s it would take 2 ms",
        "  against CUB: 2 times its time (2.5 ms)",
        "  on the ladder: slower than step02_b (4 ms), faster than step01_a (8 ms)"]


@pytest.mark.parametrize("ms, place", [
    (10000.0, "slower than step01_a (8 ms)"), (1.0, "faster than step04_d (2 ms)"),
    (4.05, "slower than step04_d (2 ms), no significant difference from step02_b, step03_c (interquartile ranges overlap), faster than step01_a (8 ms)")])
def test_the_place_on_the_ladder(ms, place, tmp_path):
    """Broken: a kernel is put beside the wrong steps, or above its equal."""
    assert reported(timed(tmp_path, ms))[3] == f"  on the ladder: {place}"


def test_a_failed_kernel_has_no_report(tmp_path):
    """Broken: a kernel with a wrong sum is compared with the steps."""
    result = mine("report", timed(tmp_path, 2.0, median_ms="", status="FAIL"))
    assert result.returncode != 0 and result.stdout == "" and "mine ended with FAIL" in result.stderr and "make judge FILE=" in result.stderr


@pytest.mark.parametrize("damage", [{"median_ms": ""}, {"median_ms": "0"}, {"elements": "many"}, {"q1_ms": None}], ids=repr)
def test_damaged_results(damage, tmp_path):
    """Broken: a damaged CSV gives a traceback, or half a report."""
    result = mine("report", timed(tmp_path, 2.0, **damage))
    assert result.returncode != 0 and len(result.stderr.splitlines()) == 1 and result.stdout == ""


def test_the_line_on_the_sweep(tmp_path):
    """Broken: the sizes at which a kernel is wrong, or faster than CUB, are counted wrongly."""
    cases = [(1024, 1, 2, "PASS"), (2049, 3, 2, "PASS"), (4096, "", 2, "FAIL"), (2**30, "", "", "REFUSED")]
    rows = [{"step": step, "cache": cache, "elements": n, "median_ms": ms, "status": status}
            for n, ours, theirs, status in cases for cache in ("cold", "warm")
            for step, ms in (("mine", ours), ("reference_cub", theirs))]
    result = mine("report", timed(tmp_path, 2.0), "--sweep", written(tmp_path / "sweep.csv", rows))
    line = result.stdout.splitlines()[4]
    assert result.returncode == 1 and "N=4096" in result.stderr  # or a script would take the kernel for right
    assert line == "  over n: right at 2 of 3 sizes, 1,024 to 4,096; failed at 4,096; faster than CUB at 1 of 2, cold cache"


def test_the_report_of_the_simulator(tmp_path):
    """Broken: the counters are not those of all launches, or are compared with the wrong steps."""
    counters = dict(kernel="reduce", warp_instructions=100, shared_loads=3, shared_stores=2, bank_conflicts=1, global_load_requests=10,
                    global_load_sectors=64, status="PASS")
    rows = [{"step": "step01", **counters, "warp_instructions": 400}, {"step": "step02", **counters, "warp_instructions": 100},
            {"step": "step02", **counters, "global_load_requests": 0}, {"step": "mine", **counters}, {"step": "mine", **counters},
            {"step": "reference_cub", **counters}]
    (tmp_path / "counters.txt").write_text("date: 2026-01-01\nelements: 1024\n")
    head, instructions, shared, loads = reported(written(tmp_path / "counters.csv", rows))
    assert "n = 1,024, launches 2" in head
    assert instructions == "  warp instructions: 200, as many as step02; 2.00 times CUB's"
    assert shared == "  shared loads and stores: 10, as many as step02; bank conflicts: 2"
    assert loads == "  load requests: 20, more than step02 (10); sectors: 128, 1.00 times the lower bound"
