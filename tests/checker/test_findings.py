"""The grouping, order and text of findings: hints, levels, descriptions of addresses."""

import re

import pytest

from scripts.evidence import message_table
from tests.support import FINDINGS, ROOT, build, findings, needs_simulator

pytestmark = needs_simulator

SOURCE = ROOT / "tests/checker/findings.cu"


@pytest.fixture(scope="module")
def program():
    return build(SOURCE, "findings/findings", "-lineinfo")


def line(text):
    return next(number for number, each in enumerate(SOURCE.read_text().splitlines(), 1) if text in each)


def hint_at(found, text):
    """The hint of the finding whose accesses are all at the line with this text."""
    return next(one["hint"] for one in found if {place["line"] for place in one["places"]} == {line(text)})


def test_a_warp_barrier_is_a_hint_only_for_one_warp(program, tmp_path):
    """Broken: __syncwarp() is suggested for a race between warps, or not suggested for a race within a warp."""
    across, within = (hint_at(findings(program, tmp_path, f"tree of {warps}")[1], "sums[threadIdx.x] +=") for warps in ("eight warps", "one warp"))
    assert "add __syncthreads() between two executions" in across and "__syncwarp" not in across
    assert "add __syncwarp(), or __syncthreads() if other warps take part, between two executions" in within


def test_a_wrong_parity_is_not_a_missing_barrier(program, tmp_path):
    """Broken: a wait for the wrong phase of an mbarrier is reported as a missing barrier, or after the infinite loop that it causes."""
    result, found = findings(program, tmp_path, "parity")
    assert "check the parity of the mbarrier wait" in found[0]["hint"] and "add a barrier" not in result.stderr
    assert [re.sub(":.*", "", each) for each in re.findall(r"^error: (.*)", result.stderr, re.M)] == ["data race in shared memory", "kernel fault"]


def test_the_instances_of_a_template_share_a_finding(program, tmp_path):
    """Broken: one line causes a finding for each instance of its template, or for each launch; or an effect is listed before its cause."""
    result, found = findings(program, tmp_path, "templates", SIM_STRICT="1")
    # The last launch overwrites the uninitialised values of the others before the host reads them.
    assert sorted((one["kind"], one["count"] > 1) for one in found) == [("race-global", True), ("race-shared", True), ("uninitialised", False)]
    assert f"  = help: fix the data race in shared memory at line {line('values[threadIdx.x] = N')} first: " in result.stderr
    assert result.stderr.index("error: data race in shared memory") < result.stderr.index("error: uninitialised read")
    assert "occurrences; the first is shown" in result.stderr


@pytest.mark.parametrize("word", ["flag", "shared flag"])
def test_a_race_of_equal_values_is_a_warning(program, tmp_path, word):
    """Broken: the program exits with an error, the race is not printed, or it is still a warning where warnings are errors."""
    result, (one,) = findings(program, tmp_path, word)
    assert result.returncode == 0 and one["level"] == "warning" and result.stderr.startswith("warning: data race in ") and result.stderr.endswith("\n1 warning\n")
    assert "note: both writes store the same value" in one["hint"] and "atomicAdd" not in one["hint"]
    result, (one,) = findings(program, tmp_path, word, SIM_STRICT="1")
    assert result.returncode == FINDINGS and one["level"] == "error" and result.stderr.startswith("error: ") and result.stderr.endswith("\n1 finding\n")


def test_a_finding_is_suppressed_by_kernel_or_by_list(program, tmp_path):
    """Broken: a suppressed finding is printed, written or changes the exit status; or another finding is suppressed, too."""
    suppressed = tmp_path / "list"
    for text, kept in (("uninitialised:*", ["race-global", "race-shared"]), (f"race-shared:{SOURCE}", ["race-global", "uninitialised"]), ("*:*", [])):
        suppressed.write_text(f"# known\n{text}\n")
        result, found = findings(program, tmp_path, "templates", SIM_SUPPRESSIONS=str(suppressed), SIM_STRICT="1")
        assert sorted(one["kind"] for one in found) == kept and result.returncode == (FINDINGS if kept else 0)
        assert result.stderr.count("error: ") == len(kept) and result.stderr.endswith(f"{3 - len(kept)} suppressed\n"), result.stderr
    result, found = findings(program, tmp_path, "templates", SIM_KERNEL="none*")
    assert (result.returncode, found, result.stderr) == (0, [], "3 suppressed\n")


def test_a_warning_becomes_an_error_when_values_differ(program, tmp_path):
    """Broken: a race remains a warning because its first occurrence stored equal values."""
    result, (one,) = findings(program, tmp_path, "flag, then index")
    assert result.returncode == FINDINGS and (one["level"], one["count"]) == ("error", 2) and "same value" not in one["hint"]


def test_an_address_names_the_nearest_allocation(program, tmp_path):
    """Broken: the message lacks the distance, or where the memory was allocated."""
    (one,) = findings(program, tmp_path, "past the end")[1]
    assert one["title"].endswith(", 12 bytes past the end of a 4096-byte allocation")
    assert f"note: allocated by the 1st cudaMalloc, at {SOURCE.relative_to(ROOT)}:{line('cudaMalloc(&memory')}" in one["hint"].replace(f"{ROOT}/", "")


def test_an_index_that_overflows_is_named(program, tmp_path):
    """Broken: an int that overflowed at 2^31 is reported as an unallocated address, without the reason."""
    (one,) = findings(program, tmp_path, "overflow")[1]
    assert one["kind"] == "out-of-bounds" and one["title"].endswith(" bytes before a 2200000000-byte allocation")
    assert one["hint"].startswith("compute the index in 64 bits")


def test_a_use_after_free_is_of_a_pointer_to_freed_memory(program, tmp_path):
    """Broken: an out-of-bounds index that hits freed memory is reported as a use after free, or an access to what the kernel freed is not; or the line of the free is missing."""
    (freed,), (reached,), (own,) = (findings(program, tmp_path, word)[1] for word in ("freed argument", "reached by index", "freed by the kernel"))
    assert freed["kind"] == "use-after-free" and f"note: freed by cudaFree, at {SOURCE.name}:" in freed["hint"].replace(f"{SOURCE.parent}/", "").replace("tests/checker/", "")
    assert reached["kind"] == "out-of-bounds" and "but no argument points to it" in reached["hint"]
    assert own["kind"] == "use-after-free" and "note: freed by a kernel's free" in own["hint"]


def test_no_rule_depends_on_the_text_of_the_source(program, tmp_path):
    """Broken: the word `return` in a comment suppresses the finding of a bypassed barrier."""
    assert "that do not return" in SOURCE.read_text()
    (one,) = findings(program, tmp_path, "bypass")[1]
    assert one["kind"] == "barrier" and one["title"] == "128 of the block's 256 threads bypass this barrier and exit"


def test_messages_before_and_after_are_current():
    """Broken: a message in tests/mistakes/before_and_after.md is not what the simulator prints, or a kind is missing."""
    before = message_table.kept()
    assert message_table.page(before) == message_table.PAGE.read_text(), "run python3 -m scripts.evidence.message_table"


def test_two_barriers_on_one_line_differ(program, tmp_path):
    """Broken: lanes of a warp that wait at two barriers of one line are not reported."""
    _, found = findings(program, tmp_path, "two on one line")
    assert [(one["kind"], one["places"][0]["line"]) for one in found] == [("barrier", line("// two barriers"))]
