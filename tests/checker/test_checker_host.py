"""The checker on host code: invalid calls and accesses, and similar correct programs."""

import subprocess

import pytest

from tests.support import FINDINGS, ROOT, SIM, build, build_object, build_text, findings, link, needs_simulator, only, run

pytestmark = needs_simulator


@pytest.fixture(scope="module")
def host_object():
    return build_object(ROOT / "tests/checker/checker_host.cu", "checker_host/host.o")


@pytest.fixture(scope="module")
def host(host_object):
    return link("checker_host/host", host_object)


@pytest.mark.parametrize("word, kind, title", [
    ("beyond", "out-of-bounds", "cudaMemcpy writes 1600 bytes at offset 0 of a 400-byte allocation: 1200 bytes past the end"),
    ("beyond 2D", "out-of-bounds", "cudaMemcpy2D reads 400 bytes at offset 4 of a 400-byte allocation: 4 bytes past the end"),
    ("some padding", "out-of-bounds", "cudaMemcpy2D writes rows of 44 bytes at byte 0 of a row, in a 1536-byte allocation with rows of 40 bytes: "
     "the rest is padding"),
    ("some padding of boxes", "out-of-bounds", "cudaMemcpy2D writes rows of 24 bytes at byte 20 of a row, in a "),
    ("beyond async", "out-of-bounds", "cudaMemcpy reads 400 bytes at offset 200 of a 400-byte allocation: 200 bytes past the end"),
    ("memset", "out-of-bounds", "cudaMemset writes 404 bytes at offset 0 of a 400-byte allocation: 4 bytes past the end"),
    ("memset of the host", "host-pointer", "the destination of cudaMemset must be device memory, but it is host memory"),
    ("swapped", "host-pointer", "the destination of cudaMemcpy must be device memory, but it is host memory"),
    ("copy of freed", "use-after-free", "cudaMemcpy reads 400 bytes at byte 0 of a freed 400-byte allocation"),
    ("copy to null", "out-of-bounds", "cudaMemcpy writes 400 bytes at a null pointer"),
    ("too large and null", "out-of-bounds", "cudaMemset writes 4 bytes at a null pointer"),
    ("free twice", "invalid-free", "cudaFree of byte 0 of a freed 400-byte allocation"),
    ("free inside", "invalid-free", "cudaFree of byte 4 of a 400-byte allocation"),
    ("free of the host", "invalid-free", "cudaFree of host memory"),
    ("free by another function", "invalid-free", "cudaFree of a 400-byte allocation that another function has to free")])
def test_wrong_pointers_and_sizes_are_named(host, tmp_path, word, kind, title):
    """Broken: an invalid copy, fill or free only returns CUDA's error, which the program ignores."""
    found, said, _ = only(host, tmp_path, word)
    assert found == kind and said.startswith(title), said


@pytest.mark.parametrize("word, title", [
    ("copied unwritten", "8 bytes copied to the host, from byte 8 of a 400-byte allocation on, have not been written"),
    ("copied unwritten, on the device, too", "64 bytes copied to the host, from byte 0 of a 64-byte allocation on, have not been written"),
    ("copied in part", "32 bytes copied to the host, from byte 0 of a 64-byte allocation on, have not been written")])
def test_results_that_were_not_written(host, tmp_path, word, title):
    """Broken: no finding if a program copies a result that no kernel has written; or a false positive if a part of it was written."""
    assert only(host, tmp_path, word)[:2] == ("uninitialised", title)


def test_unwritten_memory_needs_no_shadow_memory(host, tmp_path):
    """Broken: copying untouched memory makes the checker allocate and scan its shadow memory, 64 bytes for each 128."""
    result, found = findings(host, tmp_path, "much unwritten")
    assert result.stdout == "0 pages too many\n"
    assert [one["title"] for one in found] == ["4 bytes copied to the host, from byte 0 of a 400-byte allocation on, have not been written",
                                               "16777216 bytes copied to the host, from byte 0 of a 16777216-byte allocation on, have not been written"]


@pytest.mark.parametrize("word, kind, title", [
    ("host reads", "host-pointer", "the host reads device memory: byte 16 of a 400-byte allocation"),
    ("host writes", "host-pointer", "the host writes device memory: byte 16 of a 400-byte allocation"),
    ("host reads variable", "host-pointer", "the host reads device memory: byte 12 of a 100-byte device variable"),
    ("host reads freed", "use-after-free", "the host reads device memory: byte 4 of a freed 400-byte allocation")])
def test_the_host_accesses_device_memory(host, tmp_path, word, kind, title):
    """Broken: the program is killed without a message, or without its findings."""
    found, said, _ = only(host, tmp_path, word)
    assert (found, said) == (kind, title)


@pytest.mark.parametrize("word, call", [("beside managed", "cudaMallocManaged"), ("beside pinned", "cudaHostAlloc")])
def test_a_kernel_exceeds_memory_shared_with_the_host(host, tmp_path, word, call):
    """Broken: the message reports a host pointer instead of an access past the end of an allocation."""
    found, said, result = only(host, tmp_path, word)
    assert found == "out-of-bounds" and said.endswith(", 0 bytes past the end of a 400-byte allocation"), said
    assert f"  = note: allocated by the 1st {call}, at " in result.stderr


def test_shared_memory_of_host_and_device_has_bounds_without_pages(host_object):
    """Broken: on the minimal platform, which the player uses, an access past the end of managed memory is reported as an unallocated address."""
    result = run(link("checker_host/plain", host_object, SIM / "objects/base/platform_minimal.o"), "beside managed")
    assert result.returncode == FINDINGS and ", 0 bytes past the end of a 400-byte allocation\n" in result.stderr, result.stderr


@pytest.mark.parametrize("word, hint", [
    ("refused", "launch at most 1024 threads per block, not 2048"),
    ("refused: no blocks", "launch at least one block: is the number of elements 0, or was it divided and rounded down?")])
def test_a_failed_launch_that_is_not_checked(host, tmp_path, word, hint):
    """Broken: no finding if a launch fails and the program does not check for errors; or the message lacks the reason."""
    found, said, result = only(host, tmp_path, word)
    assert found == "unchecked-error" and said.startswith("kernel fill<<<(") and hint in result.stderr
    assert "did not run: invalid configuration argument (cudaErrorInvalidConfiguration), and the program did not check for errors" in said


def test_rows_with_a_pitch_may_be_copied_with_and_without_their_padding(host):
    """Broken: a copy of whole rows, with all or none of their padding, is reported as a copy of a part of the padding."""
    assert "padding" not in run(host, "no padding").stderr


def test_a_program_without_launches_is_warned_without_a_finding(host, tmp_path):
    """Broken: a program that launches no kernel has no message, or has a finding."""
    result, found = findings(host, tmp_path, "none")
    assert (result.returncode, found) == (0, []) and result.stderr == (
        "simulator: the program has kernels and copies data to or from the device, but launches no kernel; "
        "kernel<<<blocks, threads>>>(...) launches one\n")


def test_kernels_without_effect_are_warned_without_a_finding(host, tmp_path):
    """Broken: a kernel that correctly writes nothing, such as a filter that keeps no element, has a finding; or a kernel that returns too early has no message."""
    result, found = findings(host, tmp_path, "writes nothing")
    assert (result.returncode, found) == (0, []) and result.stderr == (
        "simulator: 1 kernel ran without writing anything: no thread executed a store, so the program copied unchanged data from "
        "the device\n")


@pytest.mark.parametrize("word", ["", "none, failed", "writes something", "nothing wanted", "prints", "refused, asked", "tried", "leak"])
def test_correct_programs_of_the_host(host, tmp_path, word):
    """Broken: a false positive in a program that checks for errors, makes calls that may fail, prints instead of writing, or does nothing."""
    result, found = findings(host, tmp_path, word)
    said = [line for line in result.stderr.splitlines() if "cannot be launched: 2048 threads" not in line] # which the program queries
    assert (found, said) == ([], []) and result.returncode == (word == "none, failed")


@pytest.mark.parametrize("word, title", [
    ("leak", "2 allocations of 464 bytes in total were never freed; the largest is a 400-byte allocation"),
    ("leak one", "1 allocation of 64 bytes in total was never freed; the largest is a 64-byte allocation")])
def test_leaks_are_reported_on_request(host, tmp_path, word, title):
    """Broken: SIM_CHECK=leaks misses a leak, or reports one in a correct program."""
    assert only(host, tmp_path, word, SIM_CHECK="leaks")[:2] == ("leak", title)
    assert findings(host, tmp_path, "", SIM_CHECK="leaks")[1] == []


FREES = """#include <cstdlib>
__global__ void set(int *numbers) { numbers[threadIdx.x] = 1; }
int main()
{
    int *numbers;
    cudaMalloc(&numbers, 128);
    set<<<1, 32>>>(numbers);
    free(numbers);
}
"""


def test_device_memory_that_the_host_frees(tmp_path):
    """Broken: free() or delete of a pointer from cudaMalloc, which reads the bytes before it, kills the program without a message."""
    found, said, result = only(build_text(FREES, "checker_host/frees"), tmp_path)
    assert (found, said) == ("out-of-bounds", "the host reads device memory: 8 bytes before a 128-byte allocation")
    assert "  = help: free it with cudaFree(): free() and delete are for host memory" in result.stderr and "free(numbers);" in result.stderr


def lines_of(places):
    return [f"{place['access']}: {place['text']}" for place in places]


@pytest.mark.parametrize("word, line", [
    ("swapped", "cudaMemcpy of 400 bytes, called by the host: cudaMemcpy(host, device, BYTES, cudaMemcpyHostToDevice);"),
    ("free twice", "cudaFree, called by the host: cudaFree(device);"),
    ("host reads", "read by the host: host[0] = device[4];"),
    ("copied unwritten", "read by a copy, called by the host: cudaMemcpy(host, device + 2, 8, cudaMemcpyDeviceToHost);"),
    ("refused", "launched by the host: fill<<<1, 2048>>>(device, 1);")])
def test_lines_of_the_host(host, tmp_path, word, line):
    """Broken: the message lacks the line of the host's source; or a program without debug information gets a wrong line, or no findings."""
    whole, bare = findings(host, tmp_path, word)[1][0], tmp_path / "bare"
    assert lines_of(whole["places"]) == [line] and whole["places"][0]["file"] == str(ROOT / "tests/checker/checker_host.cu")
    subprocess.run(["strip", "--strip-debug", "-o", bare, host], check=True)
    without = findings(bare, tmp_path, word)[1][0]
    assert without["title"] == whole["title"] and lines_of(without["places"]) == [line.partition(": ")[0] + ": "]


@pytest.mark.parametrize("word, counts", [("in a loop", [1000]), ("by one function", [1, 1])])
def test_one_finding_for_each_call_path(host, tmp_path, word, counts):
    """Broken: a mistake in a loop is reported a thousand times, or takes minutes; or only one of two calls of a function is reported."""
    result, found = findings(host, tmp_path, word)
    assert [finding["count"] for finding in found] == counts
    source = (ROOT / "tests/checker/checker_host.cu").read_text().splitlines()
    callers = [source[int(one["places"][0]["caller"].split(":")[1]) - 1].strip() for one in found]
    assert callers == {"in a loop": ["often(word);"], "by one function": ["clear(device, BYTES + 4);", "clear(other, BYTES);"]}[word]
    assert "called from checker_host.cu:" in result.stderr


def test_checks_are_off(host):
    """Broken: SIM_CHECK=0 does not disable the checker."""
    result = run(host, "free twice", SIM_CHECK="0")
    assert (result.returncode, result.stderr) == (0, "")


# ---- Memory shared by host and device, and unordered streams

@pytest.fixture(scope="module")
def order():
    return build(ROOT / "tests/checker/checker_order.cu", "checker_host/order")


@pytest.mark.parametrize("word, title, result", [
    ("no synchronization", "the host reads byte 4 of a 16384-byte allocation, which kernel scale in the default "
     "stream may not have written yet", 3),
    ("wrong stream", "the host reads byte 4 of a 16384-byte allocation, which kernel scale in stream 1 may not "
     "have written yet", 3),
    ("default stream does not wait for it", "the host reads byte 4 of a 16384-byte allocation, which kernel scale "
     "in stream 3 may not have written yet", 3),
    ("event before the kernel", "the host reads byte 4 of a 16384-byte allocation, which kernel scale in stream 1 "
     "may not have written yet", 3),
    ("host writes what is read", "the host writes byte 4 of a 16384-byte allocation, which kernel sum_of in the "
     "default stream may still read", 0),
    ("variable", "the host reads byte 8 of a 32-byte device variable, which kernel set_shown in the default stream may not have "
     "written yet", 2),
    ("copy to pinned", "the host reads byte 16380 of a 16384-byte allocation, which cudaMemcpyAsync in stream 1 may not "
     "have written yet", 0),
    ("copy from pinned", "the host writes byte 0 of a 16384-byte allocation, which cudaMemcpyAsync in stream 1 may still "
     "read", 0)])
def test_the_host_does_not_wait(order, tmp_path, word, title, result):
    """Broken: no finding if a program reads a result without waiting for its kernel or copy, which the simulator has always completed."""
    found, said, ran = only(order, tmp_path, word)
    assert (found, said) == ("race-operations", title) and ran.stdout == f"{result}\n"


@pytest.mark.parametrize("word, title", [
    ("two streams", "kernel scale in stream 2 writes byte 0 of a 16384-byte allocation, which kernel scale in stream 1 may "
     "still write"),
    ("copy beside kernel", "cudaMemcpyAsync in stream 2 reads byte 400 of a 16384-byte allocation, which kernel scale in "
     "stream 1 may not have written yet"),
    ("overwritten while it is read", "cudaMemsetAsync in stream 2 writes byte 0 of a 16384-byte allocation, which kernel "
     "sum_of in stream 1 may still read"),
    ("fill beside kernel", "kernel scale in stream 3 writes byte 0 of a 16384-byte allocation, which cudaMemset in the "
     "default stream may still write"),
    ("a word of a line", "cudaMemcpyAsync in stream 3 reads byte 4 of a 16384-byte allocation, which cudaMemsetAsync in stream 2 "
     "may not have written yet"),
    ("a line after one with a word", "cudaMemcpyAsync in stream 3 reads byte 128 of a 16384-byte allocation, which kernel count_each in "
     "stream 2 may not have written yet"),
    ("one cleared, then counted", "kernel count_each in stream 2 writes byte 12 of a 16384-byte allocation, which kernel "
     "clear_one_and_count_each in stream 1 may still write"),
    ("counted, then one cleared", "kernel count_each in stream 2 writes byte 12 of a 16384-byte allocation, which kernel "
     "count_each_and_clear_one in stream 1 may still write"),
    ("event too early", "kernel scale in stream 2 writes byte 0 of a 16384-byte allocation, which kernel scale in stream 1 "
     "may still write"),
    ("branches of a graph", "kernel scale of a graph in stream 3 writes byte 0 of a 16384-byte allocation, which kernel scale of a "
     "graph in stream 3 may still write"),
    ("graph beside a kernel", "kernel scale in stream 1 writes byte 0 of a 16384-byte allocation, which kernel scale of a graph in "
     "stream 3 may still write")])
@pytest.mark.parametrize("threads", "13")
def test_unordered_streams(order, tmp_path, word, title, threads):
    """Broken: no finding if two unordered streams use the same memory; the simulator runs them one after the other."""
    assert only(order, tmp_path, word, SIM_THREADS=threads)[:2] == ("race-operations", title)


@pytest.mark.parametrize("word, lines", [
    ("overwritten while it is read", ["kernel sum_of in stream 1, launched by the host: sum_of<<<1, 1, 0, one>>>(device, device + 100);",
                                      "cudaMemsetAsync in stream 2, called by the host: cudaMemsetAsync(device, 0, 400, two);"]),
    ("copy to pinned", ["cudaMemcpyAsync in stream 1, called by the host: cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, one);",
                        "read by the host: return pinned[COUNT - 1];"])])
def test_lines_of_both_sides(order, tmp_path, word, lines):
    """Broken: the message lacks the lines that started two unordered operations."""
    assert lines_of(findings(order, tmp_path, word)[1][0]["places"]) == lines


def test_only_pages_in_use_are_closed_to_the_host(order, tmp_path):
    """Broken: each asynchronous copy closes and opens whole arrays, which makes copies of a large array in many parts slow; or a page that the host has
    accessed remains open, or closed for a system call, while other operations begin and complete."""
    found, said, ran = only(order, tmp_path, "parts")
    assert ran.stdout.splitlines()[:-1] == [
        "two copies: 2", "and a kernel that uses none of it: 2", "the host reads beside a copy's bytes: 1", "and a fill begins elsewhere: 2",
        "the host has waited for one stream: 1", "and for nine copies, not the last: 10", "the host writes to the first one's: 1",
        "and has waited for all: 0"]
    assert (found, said) == ("race-operations", "the host writes byte 819200 of a 4194304-byte allocation, which cudaMemcpyAsync in stream 3 "
                             "may still write")


def test_freed_managed_memory(order, tmp_path):
    """Broken: the host reads managed memory after cudaFree, and gets the old value."""
    assert only(order, tmp_path, "freed")[:2] == ("use-after-free", "the host reads byte 0 of a freed 16384-byte allocation")


@pytest.mark.parametrize("word, result", [("ordered", "151\n"), ("ordered streams", "0\n"), ("no synchronization, own handler", "3\n")])
def test_ordered_operations(order, tmp_path, word, result):
    """Broken: a false positive in a program that waits for its results by one of CUDA's functions; or a program with its own fault handler is killed at a
    page that the checker has closed."""
    ran, found = findings(order, tmp_path, word)
    assert (found, ran.stderr, ran.returncode, ran.stdout) == ([], "", 0, result)


def test_colours_are_for_terminals(host, tmp_path):
    """Broken: a file or JSON contains colours, make run-all in a terminal shows none, or NO_COLOR is ignored."""
    asked = {"CLICOLOR_FORCE": "1"}
    plain, coloured, refused = (run(host, "beyond", SIM_FINDINGS=str(tmp_path / "json"), **setting) for setting in ({}, asked, asked | {"NO_COLOR": "1"}))
    assert "\033[1;31merror: out-of-bounds access:\033[0m cudaMemcpy writes" in coloured.stderr
    assert "\033" not in plain.stderr + refused.stderr + (tmp_path / "json").read_text()


def test_files_are_named_relative_to_the_folder(host):
    """Broken: a message names a file in the working directory by its absolute path."""
    assert "--> tests/checker/checker_host.cu:" in subprocess.run([host, "beyond"], cwd=ROOT, capture_output=True, text=True).stderr
