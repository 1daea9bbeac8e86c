"""The simulator's checker on typical mistakes of students, on the steps with one line removed, and on the unchanged steps.

Each program in tests/mistakes begins with its expected message: `finds:` a kind of finding and a phrase that it must contain,
`also:` further kinds that may be reported, `with:` settings. The accesses of the finding are the lines that end with `// <- here`."""

import json
import re
from pathlib import Path

import pytest

from drywarp.findings import apart, how_many
from scripts.evidence import shown_messages
from scripts.ladder import tries

from tests.support import BUILT, ROOT, STEPS, build, build_text, needs_simulator, run, write_source

pytestmark = needs_simulator

MISTAKES = sorted((ROOT / "tests/mistakes").glob("*.cu"))
HERE = "// <- here"
FINDINGS_STATUS = 88
STEP = {step.name[4:6]: step for step in STEPS}
# All programs are compiled as one, so that nvcc runs once: each is in a namespace, where its main is renamed.
INCLUDED = "#include <cooperative_groups.h>\n#include <cstdint>\n#include <cstdio>\n#include <cstring>\n#include <algorithm>\n#include <cuda/atomic>\n#include <cuda/barrier>\n#include <cuda/ptx>\n#include <cuda_pipeline.h>\n"
DRIVER = """
static void check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error != cudaSuccess)
        printf("%s:%d: %s: %s\\n", file, line, call, cudaGetErrorString(error));
}

int run()
{
    const long long elements = 20000;
    float *in, *out;
    CHECK(cudaMalloc(&in, elements * sizeof(float)));
    CHECK(cudaMalloc(&out, elements * sizeof(float)));
    CHECK(cudaMemset(in, 0, elements * sizeof(float)));
    launch(in, out, elements);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return 0;
}
"""
BARRIER, WARP_BARRIER = "__syncthreads();", "__syncwarp();"
ADDS, HALVES = "sums[tid] += sums[tid + s];", "sum += sums[lane + s];"
STORES, LOADS = "sums[lane] = sum;", "sums[tid] = i < n ? in[i] : 0;"
LOADS_TWO = "sums[tid] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);"
OUT = "out[blockIdx.x] = sums[0];"
WARP_SUM, WARPS_READ = "sums[tid / 32] = sum;", "sum = reduce_warp(tid < block_size / 32 ? sums[tid] : 0);"


def without(text, number=0):
    """A change that removes the given occurrence of a text."""
    return lambda source: remove(source, text, number)


def remove(source, text, number):
    places = [found.start() for found in re.finditer(re.escape(text), source)]
    assert number < len(places), text
    return source[:places[number]] + source[places[number] + len(text):]


def replaced(*pairs):
    def change(source):
        for old, new in pairs:
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        return source
    return change


LOOP_BARRIER = f"{ADDS}\n        {BARRIER}"
# The step, the change, the kind of the finding, and the text of each line that the message names.
CHANGED = {
    "03-load-barrier": ("03", without(BARRIER, 0), "race-shared", [LOADS, ADDS]),
    "03-loop-barrier": ("03", without(BARRIER, 1), "race-shared", [ADDS]),
    "03-last-barrier": ("03", replaced((LOOP_BARRIER, f"{ADDS}\n        if (s > 1)\n            {BARRIER}"), ("if (tid == 0)", "if (tid == 255)")),
                        "race-shared", [ADDS, OUT]),
    "03-barrier-above-a-warp": ("03", replaced((LOOP_BARRIER, f"{ADDS}\n        if (s > 32)\n            {BARRIER}")), "race-shared", [ADDS]),
    "03-warp-writes-again": ("03", replaced((f"    if (tid == 0)\n        {OUT}", "    if (tid / 32 == 1)\n        sums[tid % 32] = 0;\n"
                                            "    if (tid == 0)\n        out[blockIdx.x] = sums[0] + sums[1];")),
                             "race-shared", ["sums[tid % 32] = 0;", "out[blockIdx.x] = sums[0] + sums[1];"]),
    "05-load-barrier": ("05", without(BARRIER, 0), "race-shared", [LOADS_TWO, ADDS]),
    "05-loop-barrier": ("05", without(BARRIER, 1), "race-shared", [ADDS]),
    "05-first-syncwarp": ("05", without(WARP_BARRIER, 0), "race-shared", [HALVES, STORES]),
    "05-second-syncwarp": ("05", without(WARP_BARRIER, 1), "race-shared", [HALVES, STORES]),
    "05-barrier-in-last-warp": ("05", lambda source: source.replace(WARP_BARRIER, BARRIER, 1), "barrier", [BARRIER]),
    "07-load-barrier": ("07", without(BARRIER, 0), "race-shared", ["sums[tid] = sum;", ADDS]),
    "07-loop-barrier": ("07", without(BARRIER, 1), "race-shared", [ADDS]),
    "08-barrier": ("08", without(BARRIER), "race-shared", [WARP_SUM, WARPS_READ]),
    "11-sums-barrier": ("11", without(BARRIER, 0), "race-shared", [WARP_SUM, WARPS_READ]),
    "11-ticket-barrier": ("11", without(BARRIER, 1), "race-shared", ["is_last = ticket", "return is_last;"]),
}
# Kinds that may accompany a race, depending on the order of execution.
ALSO = {"uninitialised", "race-shared", "race-global", "barrier"}


def lesson(step):
    return (STEP[step] / "reduce.cu").read_text().split("// ==== Harness")[0]


@pytest.fixture(scope="module")
def program():
    sources = {file.stem: file for file in MISTAKES}
    for name, change in [*((f"as-it-is-{step}", (step, str)) for step in STEP), *CHANGED.items()]:
        sources[name] = write_source(f"checker/{name}.cu", change[1](lesson(change[0])) + DRIVER)
    parts = [INCLUDED, "#define main run\n"]
    parts += [f'namespace program_{number} {{\n#include "{file}"\n}}\n#undef CHECK\n' for number, file in enumerate(sources.values())]
    parts += ["#undef main\nint main(int, char **argv)\n{\n"]
    parts += [f'    if (!strcmp(argv[1], "{name}"))\n        return program_{number}::run();\n' for number, name in enumerate(sources)]
    return build_text("".join(parts) + "    return 1;\n}\n", "checker/all", "-lineinfo")


def findings(program, tmp_path, name, **settings):
    """A program's findings, and its stderr."""
    file = tmp_path / "findings.json"
    result = run(program, name, SIM_FINDINGS=str(file), **settings)
    found = json.loads(file.read_text())["findings"] if file.exists() else []
    assert result.returncode == (FINDINGS_STATUS if any(one["level"] == "error" for one in found) else 0), result.stderr
    return found, result.stderr


def lines_of(finding, name):
    return {place["line"] for place in finding["places"] if Path(place["file"]).stem == name}


def check_message(finding, stderr, name, source):
    """Checks that stderr shows the finding, with every source line of its places."""
    assert re.search(r"^(error|warning): .+", stderr, re.M)
    for line in lines_of(finding, name):
        assert re.search(rf"--> .*{re.escape(name)}\.cu:{line}\b", stderr), stderr
        assert source[line - 1].split("//")[0].strip() in stderr
    assert re.search(r"^\d+ (findings?|warnings?)\b", stderr, re.M)


def test_a_page_quotes_the_simulators_message_of_a_try(monkeypatch):
    """Broken: a lesson quotes a message that the simulator no longer prints. (One Try suffices, since one command writes all of them.)"""
    program = build_text(tries.changed("step08_shuffle", 1), "checker/step08_shuffle/reduce", "-lineinfo")
    monkeypatch.chdir(BUILT / "checker")  # messages name source files relative to this folder
    stderr = run(program, 65536).stderr.replace(f"{BUILT / 'checker'}/", "")
    found, others = apart(shown_messages.kept_message(stderr))
    assert shown_messages.try_message("step08_shuffle", 1).read_text().split("\n", 1)[1] == "\n".join([*found, how_many(others)]) + "\n", "make findings tables"


@pytest.mark.parametrize("file", MISTAKES, ids=lambda file: file.stem)
def test_a_mistake_gets_its_expected_message(file, program, tmp_path):
    """Broken: a mistake is not reported, or the message lacks the line or the fix."""
    source = file.read_text().splitlines()
    kind, phrase = re.search(r'^// finds: (\S+) "(.+)"$', "\n".join(source), re.M).groups()
    also_allowed = " ".join(re.findall(r"^// also: (.*)", "\n".join(source), re.M)).split()
    marked_lines = {number for number, line in enumerate(source, 1) if line.endswith(HERE)}
    settings = dict(re.findall(r"^// with: (\w+)=(.*)$", "\n".join(source), re.M))
    found, stderr = findings(program, tmp_path, file.stem, **settings)
    assert {one["kind"] for one in found} <= {kind, *also_allowed}, found
    matching = [one for one in found if one["kind"] == kind and lines_of(one, file.stem) == marked_lines]
    assert matching, found
    assert any(phrase in one["title"] + one["hint"] for one in matching), matching
    check_message(matching[0], stderr, file.stem, source)
    quoted = shown_messages.MESSAGES / f"{file.stem}.txt"
    assert not quoted.exists() or shown_messages.kept_message(re.sub(r"program_\d+::|, called from all\.cu:\d+", "", stderr)) == quoted.read_text(), "docs/findings.md shows another message: make findings tables"


@pytest.mark.parametrize("name", CHANGED)
def test_a_step_with_a_mistake_is_reported(name, program, tmp_path):
    """Broken: a step whose barrier is missing, or is not executed by all threads, has no finding."""
    _, change, kind, texts = CHANGED[name]
    source = change(lesson(CHANGED[name][0])).splitlines()
    found, stderr = findings(program, tmp_path, name)
    assert {one["kind"] for one in found} <= {kind} | ALSO, found
    matching = [one for one in found if one["kind"] == kind and
              {text for text in texts for line in lines_of(one, name) if text in source[line - 1]} == set(texts)]
    assert matching, found
    check_message(matching[0], stderr, name, source)


@pytest.mark.parametrize("step", STEP)
def test_a_correct_step_has_no_findings(step, program, tmp_path):
    """Broken: a false positive in a correct program."""
    found, stderr = findings(program, tmp_path, f"as-it-is-{step}")
    assert not found and not stderr, stderr


def test_a_mistake_of_two_lines_is_one_finding(program, tmp_path):
    """Broken: a lock without fences causes separate findings for each variable, or for reads and for writes."""
    found, stderr = findings(program, tmp_path, "30_lock_without_fences")
    assert len(found) == 1, stderr


def test_mistakes_are_small():
    """Broken: a program is too long for a quick look."""
    assert len(MISTAKES) >= 20
    for file in MISTAKES:
        assert len(file.read_text().splitlines()) < 40, file.name


def test_uninitialised_values_are_tracked_among_others(tmp_path):
    """Broken: the checker loses an undefined value when other registers become defined, or misses a new one after many others; or reports a value of an earlier
    block in a later one; or names the last read instead of the first."""
    file = ROOT / "tests/checker/follow.cu"
    program = build(file, "checker/follow", "-lineinfo")
    found, _ = findings(program, tmp_path, "uninitialised")
    read, used = ([number for number, line in enumerate(file.read_text().splitlines(), 1) if line.endswith(mark)] for mark in ("// <- read here", HERE))
    assert {one["kind"] for one in found} == {"uninitialised"} and [max(lines_of(one, "follow")) for one in found] == used
    assert {min(lines_of(one, "follow")) for one in found} == set(read)
    assert not findings(program, tmp_path, "initialised")[0]
