"""The checker on the simulator: what the host does wrong, and what only looks like it."""

import subprocess

import pytest

from tests.support import FINDINGS, ROOT, SIM, build, build_object, findings, link, only, run


@pytest.fixture(scope="module")
def host_object(tmp_path_factory):
    return build_object(ROOT / "tests/checker/checker_host.cu", tmp_path_factory.mktemp("checker") / "host.o")


@pytest.fixture(scope="module")
def host(host_object):
    return link(host_object.with_name("host"), host_object)


@pytest.mark.parametrize("word, kind, title", [
    ("beyond", "out-of-bounds", "cudaMemcpy writes 1600 bytes from byte 0 of the 2nd cudaMalloc's 400 bytes on: 1200 too many"),
    ("beyond 2D", "out-of-bounds", "cudaMemcpy2D reads 400 bytes from byte 4 of the 2nd cudaMalloc's 400 bytes on: 4 too many"),
    ("some padding", "out-of-bounds", "cudaMemcpy2D writes rows of 44 bytes from byte 0 of a row on, of the 1st cudaMallocPitch's 1536 bytes, "
     "whose rows have 40: the rest is padding"),
    ("some padding of boxes", "out-of-bounds", "cudaMemcpy2D writes rows of 24 bytes from byte 20 of a row on, of the 1st cudaMallocPitch's"),
    ("beyond async", "out-of-bounds", "cudaMemcpy reads 400 bytes from byte 200 of the 2nd cudaMalloc's 400 bytes on: 200 too many"),
    ("memset", "out-of-bounds", "cudaMemset writes 404 bytes from byte 0 of the 2nd cudaMalloc's 400 bytes on: 4 too many"),
    ("memset of the host", "host-pointer", "cudaMemset writes 400 bytes of device memory, and was given memory of the host"),
    ("swapped", "host-pointer", "cudaMemcpy writes 400 bytes of device memory, and was given memory of the host"),
    ("copy of freed", "use-after-free", "cudaMemcpy reads 400 bytes of device memory, and was given byte 0 of the 2nd cudaMalloc's "
     "400 bytes, which cudaFree has freed"),
    ("copy to null", "out-of-bounds", "cudaMemcpy writes 400 bytes of device memory, and was given a null pointer"),
    ("too large and null", "out-of-bounds", "cudaMemset writes 4 bytes of device memory, and was given a null pointer (the 3rd "
     "cudaMalloc, of 1125899906842624 bytes, has failed)"),
    ("free twice", "double-free", "cudaFree of byte 0 of the 2nd cudaMalloc's 400 bytes, which cudaFree has freed"),
    ("free inside", "double-free", "cudaFree of byte 4 of the 2nd cudaMalloc's 400 bytes"),
    ("free of the host", "double-free", "cudaFree of memory of the host"),
    ("free by another function", "double-free", "cudaFree of the 1st cudaHostAlloc's 400 bytes")])
def test_wrong_pointers_and_sizes_are_named(host, tmp_path, word, kind, title):
    """Broken: CUDA's error, which the program ignores, is all that one learns of a wrong copy, fill or free."""
    found, said, _ = only(host, tmp_path, word)
    assert found == kind and said.startswith(title), said


@pytest.mark.parametrize("word, title", [
    ("copied unwritten", "8 bytes are copied to the host, from byte 8 of the 2nd cudaMalloc's 400 bytes on, which no kernel, copy or "
     "fill has written"),
    ("copied unwritten, on the device, too", "64 bytes are copied to the host, from byte 0 of the 1st cudaMalloc's 64 bytes on, which "
     "no kernel, copy or fill has written"),
    ("copied in part", "32 bytes are copied to the host, from byte 0 of the 1st cudaMalloc's 64 bytes on, which no kernel, copy or "
     "fill has written")])
def test_results_that_nobody_wrote(host, tmp_path, word, title):
    """Broken: a program copies a result that no kernel has written, and passes; or one that a part of was written is accused."""
    assert only(host, tmp_path, word)[:2] == ("uninitialised", title)


def test_unwritten_memory_needs_none_of_the_checkers(host, tmp_path):
    """Broken: the checker keeps its lines, 64 bytes for each 128, of memory of which nothing is known, as soon as it is copied, and looks at
    each of them."""
    result, found = findings(host, tmp_path, "much unwritten")
    assert result.stdout == "0 pages too many\n"
    assert [one["title"] for one in found] == ["4 bytes are copied to the host, from byte 0 of the 2nd cudaMalloc's 400 bytes on, which no kernel, "
                                               "copy or fill has written", "16777216 bytes are copied to the host, from byte 0 of the 3rd "
                                               "cudaMalloc's 16777216 bytes on, which no kernel, copy or fill has written"]


@pytest.mark.parametrize("word, kind, title", [
    ("host reads", "host-pointer", "the host reads device memory: byte 16 of the 2nd cudaMalloc's 400 bytes"),
    ("host writes", "host-pointer", "the host writes device memory: byte 16 of the 2nd cudaMalloc's 400 bytes"),
    ("host reads variable", "host-pointer", "the host reads device memory: byte 12 of a variable's 100 bytes"),
    ("host reads freed", "use-after-free", "the host reads device memory: byte 4 of the 2nd cudaMalloc's 400 bytes, which cudaFree "
     "has freed")])
def test_the_host_touches_device_memory(host, tmp_path, word, kind, title):
    """Broken: the program dies without a word, or without its findings."""
    found, said, _ = only(host, tmp_path, word)
    assert (found, said) == (kind, title)


@pytest.mark.parametrize("word, call", [("beside managed", "cudaMallocManaged"), ("beside pinned", "cudaHostAlloc")])
def test_a_kernel_goes_beyond_memory_that_host_and_device_share(host, tmp_path, word, call):
    """Broken: it is told that it follows a pointer of the host's, which is not so, and not whose end it has passed."""
    found, said, _ = only(host, tmp_path, word)
    assert found == "out-of-bounds" and said.endswith(f": 0 bytes behind the end of the 1st {call}'s 400 bytes"), said


def test_memory_that_host_and_device_share_has_its_end_without_pages(host_object, tmp_path):
    """Broken: on the plain platform, which a program's page has, a kernel that goes beyond managed memory is told that nothing lies there."""
    result = run(link(tmp_path / "plain", host_object, SIM / "objects/base/platform_plain.o"), "beside managed")
    assert result.returncode == FINDINGS and ": 0 bytes behind the end of the 1st cudaMallocManaged's 400 bytes\n" in result.stderr, result.stderr


@pytest.mark.parametrize("word, hint", [
    ("refused", "a block of 2048 threads; it can have 1024"),
    ("refused: no blocks", "a grid without blocks: is a number of elements 0, or was it divided and rounded down?")])
def test_a_refused_launch_that_nobody_asked_about(host, tmp_path, word, hint):
    """Broken: a kernel did not run, nobody asked, and the program passes; or it is not said why it did not."""
    found, said, result = only(host, tmp_path, word)
    assert found == "unchecked-error" and said.startswith("kernel fill<<<(") and hint in result.stderr
    assert "did not run: invalid configuration argument (cudaErrorInvalidConfiguration), and the program never asked" in said


def test_rows_with_a_pitch_may_be_copied_with_and_without_their_padding(host):
    """Broken: a copy of rows as wide as they are, or with all their padding, is taken for one of a part of it."""
    assert "padding" not in run(host, "no padding").stderr


def test_a_program_that_launches_nothing_gets_a_line_and_is_accused_of_nothing(host, tmp_path):
    """Broken: a program that has computed nothing on the device gets no word, or one that only copies is accused."""
    result, found = findings(host, tmp_path, "none")
    assert (result.returncode, found) == (0, []) and result.stderr == (
        "simulator: the program has kernels, and has copied data to or from the device, but has launched none: "
        "kernel<<<blocks, threads>>>(...) launches one\n")


def test_kernels_that_wrote_nothing_get_a_line_and_are_no_finding(host, tmp_path):
    """Broken: a filter with nothing to keep, or who validates what is right, is accused; or a kernel that returns too early gets no word."""
    result, found = findings(host, tmp_path, "writes nothing")
    assert (result.returncode, found) == (0, []) and result.stderr == (
        "simulator: 1 kernel ran, and none has written anything: no thread came to a store, so what the program copied from the "
        "device is what it was before\n")


@pytest.mark.parametrize("word", ["", "none, failed", "writes something", "nothing wanted", "prints", "refused, asked", "tried", "leak"])
def test_what_is_no_mistake(host, tmp_path, word):
    """Broken: a program is accused that asks for errors, tries what may fail, prints instead of writing, or has nothing to do."""
    result, found = findings(host, tmp_path, word)
    said = [line for line in result.stderr.splitlines() if "cannot be launched: 2048 threads" not in line] # which the program asks for
    assert (found, said) == ([], []) and result.returncode == (word == "none, failed")


@pytest.mark.parametrize("word, title", [
    ("leak", "2 allocations, of 464 bytes in all, were never freed; the largest: the 2nd cudaMalloc's 400 bytes"),
    ("leak one", "1 allocation, of 64 bytes in all, was never freed; the largest: the 1st cudaMalloc's 64 bytes")])
def test_leaks_are_named_where_they_are_asked_for(host, tmp_path, word, title):
    """Broken: SIM_CHECK=leaks finds no leak, or one that is none."""
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
    """Broken: free() or delete of the first that cudaMalloc gave kills the program without a word, as it looks at what lies before."""
    (tmp_path / "frees.cu").write_text(FREES)
    found, said, result = only(build(tmp_path / "frees.cu", tmp_path / "frees"), tmp_path)
    assert (found, said) == ("out-of-bounds", "the host reads device memory: 8 bytes before the 1st cudaMalloc's 128 bytes")
    assert "  = cudaFree frees it; free and delete are for the host's own" in result.stderr and "free(numbers);" in result.stderr


def lines_of(places):
    return [f"{place['access']}: {place['text']}" for place in places]


@pytest.mark.parametrize("word, line", [
    ("swapped", "calls cudaMemcpy: cudaMemcpy(host, device, BYTES, cudaMemcpyHostToDevice);"),
    ("free twice", "calls cudaFree: cudaFree(device);"),
    ("host reads", "reads it: host[0] = device[4];"),
    ("copied unwritten", "copies them: cudaMemcpy(host, device + 2, 8, cudaMemcpyDeviceToHost);"),
    ("refused", "launches it: fill<<<1, 2048>>>(device, 1);")])
def test_lines_of_the_host(host, tmp_path, word, line):
    """Broken: it is not said which line of the host's source made the mistake; or a program without debug information gets a wrong one, or none
    of its findings."""
    whole, bare = findings(host, tmp_path, word)[1][0], tmp_path / "bare"
    assert lines_of(whole["places"]) == [line] and whole["places"][0]["file"] == str(ROOT / "tests/checker/checker_host.cu")
    subprocess.run(["strip", "--strip-debug", "-o", bare, host], check=True)
    without = findings(bare, tmp_path, word)[1][0]
    assert without["title"] == whole["title"] and lines_of(without["places"]) == [line.partition(": ")[0] + ": "]


@pytest.mark.parametrize("word, counts", [("in a loop", [1000]), ("by one function", [1, 1])])
def test_one_finding_for_each_way_to_a_call(host, tmp_path, word, counts):
    """Broken: a mistake in a loop is told a thousand times, or takes minutes; or of two that one function makes for its callers only one is told."""
    result, found = findings(host, tmp_path, word)
    assert [finding["count"] for finding in found] == counts
    source = (ROOT / "tests/checker/checker_host.cu").read_text().splitlines()
    callers = [source[int(one["places"][0]["caller"].split(":")[1]) - 1].strip() for one in found]
    assert callers == {"in a loop": ["often(word);"], "by one function": ["clear(device, BYTES + 4);", "clear(other, BYTES);"]}[word]
    assert "called from checker_host.cu:" in result.stderr


def test_checks_are_off(host):
    """Broken: SIM_CHECK=0 does not switch the checker off."""
    result = run(host, "free twice", SIM_CHECK="0")
    assert (result.returncode, result.stderr) == (0, "")


# ---- Memory that host and device share, and what streams have to do

@pytest.fixture(scope="module")
def order(tmp_path_factory):
    return build(ROOT / "tests/checker/checker_order.cu", tmp_path_factory.mktemp("checker") / "order")


@pytest.mark.parametrize("word, title, result", [
    ("no synchronization", "the host reads byte 4 of the 1st cudaMallocManaged's 16384 bytes, which kernel scale in the default "
     "stream may not have written yet", 3),
    ("wrong stream", "the host reads byte 4 of the 1st cudaMallocManaged's 16384 bytes, which kernel scale in stream 1 may not "
     "have written yet", 3),
    ("default stream does not wait for it", "the host reads byte 4 of the 1st cudaMallocManaged's 16384 bytes, which kernel scale "
     "in stream 3 may not have written yet", 3),
    ("event before the kernel", "the host reads byte 4 of the 1st cudaMallocManaged's 16384 bytes, which kernel scale in stream 1 "
     "may not have written yet", 3),
    ("host writes what is read", "the host writes byte 4 of the 1st cudaMallocManaged's 16384 bytes, which kernel sum_of in the "
     "default stream may still read", 0),
    ("variable", "the host reads byte 8 of a variable's 32 bytes, which kernel set_shown in the default stream may not have "
     "written yet", 2),
    ("copy to pinned", "the host reads byte 16380 of the 1st cudaHostAlloc's 16384 bytes, which cudaMemcpyAsync in stream 1 may not "
     "have written yet", 0),
    ("copy from pinned", "the host writes byte 0 of the 1st cudaHostAlloc's 16384 bytes, which cudaMemcpyAsync in stream 1 may still "
     "read", 0)])
def test_the_host_does_not_wait(order, tmp_path, word, title, result):
    """Broken: a program reads a result before its kernel or its copy is over, which here it always is, and passes."""
    found, said, ran = only(order, tmp_path, word)
    assert (found, said) == ("race-host", title) and ran.stdout == f"{result}\n"


@pytest.mark.parametrize("word, title", [
    ("two streams", "kernel scale in stream 2 writes byte 0 of the 1st cudaMalloc's 16384 bytes, which kernel scale in stream 1 may "
     "still write"),
    ("copy beside kernel", "cudaMemcpyAsync in stream 2 reads byte 400 of the 1st cudaMalloc's 16384 bytes, which kernel scale in "
     "stream 1 may not have written yet"),
    ("overwritten while it is read", "cudaMemsetAsync in stream 2 writes byte 0 of the 1st cudaMalloc's 16384 bytes, which kernel "
     "sum_of in stream 1 may still read"),
    ("fill beside kernel", "kernel scale in stream 3 writes byte 0 of the 1st cudaMalloc's 16384 bytes, which cudaMemset in the "
     "default stream may still write"),
    ("a word of a line", "cudaMemcpyAsync in stream 3 reads byte 4 of the 1st cudaMalloc's 16384 bytes, which cudaMemsetAsync in stream 2 "
     "may not have written yet"),
    ("a line behind one with a word", "cudaMemcpyAsync in stream 3 reads byte 128 of the 1st cudaMalloc's 16384 bytes, which kernel count_each in "
     "stream 2 may not have written yet"),
    ("one cleared, then counted", "kernel count_each in stream 2 writes byte 12 of the 1st cudaMalloc's 16384 bytes, which kernel "
     "clear_one_and_count_each in stream 1 may still write"),
    ("counted, then one cleared", "kernel count_each in stream 2 writes byte 12 of the 1st cudaMalloc's 16384 bytes, which kernel "
     "count_each_and_clear_one in stream 1 may still write"),
    ("event too early", "kernel scale in stream 2 writes byte 0 of the 1st cudaMalloc's 16384 bytes, which kernel scale in stream 1 "
     "may still write"),
    ("branches of a graph", "kernel scale of a graph in stream 3 writes byte 0 of the 1st cudaMalloc's 16384 bytes, which kernel scale of a "
     "graph in stream 3 may still write"),
    ("graph beside a kernel", "kernel scale in stream 1 writes byte 0 of the 1st cudaMalloc's 16384 bytes, which kernel scale of a graph in "
     "stream 3 may still write")])
@pytest.mark.parametrize("threads", "13")
def test_streams_that_nothing_orders(order, tmp_path, word, title, threads):
    """Broken: two streams use the same memory in any order, and the program passes, as here they run one after the other."""
    assert only(order, tmp_path, word, SIM_THREADS=threads)[:2] == ("race-host", title)


@pytest.mark.parametrize("word, lines", [
    ("overwritten while it is read", ["starts kernel sum_of in stream 1: sum_of<<<1, 1, 0, one>>>(device, device + 100);",
                                      "starts cudaMemsetAsync in stream 2: cudaMemsetAsync(device, 0, 400, two);"]),
    ("copy to pinned", ["starts cudaMemcpyAsync in stream 1: cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, one);",
                        "reads it: return pinned[COUNT - 1];"])])
def test_lines_of_both_sides(order, tmp_path, word, lines):
    """Broken: of two operations that nothing orders it is not said which lines started them."""
    assert lines_of(findings(order, tmp_path, word)[1][0]["places"]) == lines


def test_only_the_pages_that_are_in_use_are_closed_to_the_host(order, tmp_path):
    """Broken: each asynchronous copy closes and opens whole arrays, so that a program that copies a large one in many parts takes for ever; or a page
    that the host has touched stays open, or closed for a system call, while other operations begin and end."""
    found, said, ran = only(order, tmp_path, "parts")
    assert ran.stdout.splitlines()[:-1] == [
        "two copies: 2", "and a kernel that uses none of it: 2", "the host reads beside a copy's bytes: 1", "and a fill begins elsewhere: 2",
        "the host has waited for one stream: 1", "and for nine copies, not the last: 10", "the host writes to the first one's: 1",
        "and has waited for all: 0"]
    assert (found, said) == ("race-host", "the host writes byte 819200 of the 2nd cudaHostAlloc's 4194304 bytes, which cudaMemcpyAsync in stream 3 "
                             "may still write")


def test_freed_memory_that_the_host_shares(order, tmp_path):
    """Broken: the host reads managed memory after cudaFree, and finds what was there."""
    assert only(order, tmp_path, "freed")[:2] == ("use-after-free", "the host reads byte 0 of the 1st cudaMallocManaged's 16384 bytes, "
                                                "which cudaFree has freed")


@pytest.mark.parametrize("word, result", [("ordered", "151\n"), ("ordered streams", "0\n"), ("no synchronization, own handler", "3\n")])
def test_what_is_in_order(order, tmp_path, word, result):
    """Broken: a program that waits for its results, in any of CUDA's ways, is accused of a race; or one that has put a handler in
    place of the simulator's dies of memory that was closed to see one."""
    ran, found = findings(order, tmp_path, word)
    assert (found, ran.stderr, ran.returncode, ran.stdout) == ([], "", 0, result)


def test_colours_are_for_terminals(host, tmp_path):
    """Broken: a file or JSON holds colours, a terminal behind make run-all has none, or who wants none gets them."""
    asked = {"CLICOLOR_FORCE": "1"}
    plain, coloured, refused = (run(host, "beyond", SIM_FINDINGS=str(tmp_path / "json"), **asks) for asks in ({}, asked, asked | {"NO_COLOR": "1"}))
    assert "\033[1;31merror: out of bounds:\033[0m cudaMemcpy writes" in coloured.stderr
    assert "\033" not in plain.stderr + refused.stderr + (tmp_path / "json").read_text()


def test_files_are_named_as_one_types_them(host):
    """Broken: a message in the working folder begins with the whole path, which nobody reads."""
    assert "--> tests/checker/checker_host.cu:" in subprocess.run([host, "beyond"], cwd=ROOT, capture_output=True, text=True).stderr
