"""How lanes, warps and blocks get on: where they meet, what holds them up, and what is said of those that never end."""

import re
import resource

import pytest

from tests.simulator.ptx import kernel, run as results
from tests.support import ROOT, build, counters, run, unsanitized


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build(ROOT / "tests/simulator/lanes_and_loops.cu", tmp_path_factory.mktemp("control") / "lanes_and_loops", "-lineinfo")


def test_lanes_that_leave_do_not_part_the_others(tmp_path):
    """Broken: after an early return in one arm of an if the lanes that stay run the rest in two groups, and count twice."""
    rows = counters(build(ROOT / "tests/programs/control.cu", tmp_path / "control"), tmp_path)
    row = next(row for row in rows if row["kernel"] == "may_leave_early")
    assert (row["global_load_requests"], row["global_store_requests"]) == ("11", "13")
    for threads in "15":
        assert counters(tmp_path / "control", tmp_path, SIM_THREADS=threads) == rows


@pytest.mark.parametrize("together", "01")
@pytest.mark.parametrize("what, line, said", [("waits", 9, "kernel deep::waits<3, int>, .* an endless loop turns here"),
                                              ("counts", 27, "[0-9]+ warp instructions and no end: an endless loop")])
def test_an_endless_loop_is_named(what, line, said, together, program):
    """Broken: blocks that wait for what never comes run for minutes, or the message does not say where."""
    result = run(program, what, SIM_TOGETHER=together, SIM_SMS="16", SIM_MAX_INSTRUCTIONS="100000000")
    assert result.stdout == "cudaErrorLaunchTimeout\n" and len(result.stderr.splitlines()) == 1
    assert re.search(said, result.stderr) and f"lanes_and_loops.cu:{line})" in result.stderr, result.stderr


def test_who_waits_for_the_host_is_not_accused(tmp_path):
    """Broken: a right program whose kernel waits for the host, which cannot be run here, is said to have an endless loop; or a wrong one is not."""
    program = build(ROOT / "tests/simulator/waits_for_host.cu", tmp_path / "waits", "-lineinfo")
    for flag in ("variable", "mapped", "managed"):
        for environment in ({}, {"SIM_CHECK": "1"}, {"SIM_CHECK": "1", "SIM_TOGETHER": "1"}):
            result = run(program, flag, **environment)
            assert (result.returncode, result.stdout) == (77, ""), result.stderr
            assert re.fullmatch(r"simulator: .*waits_for_host.cu:9\): this loop asks memory that the host may write, .*\n", result.stderr), result.stderr
    result = run(program, "counts", SIM_MAX_INSTRUCTIONS="100000")
    assert result.returncode == 77 and "this loop asks memory that the host may write" in result.stderr, result.stderr
    result = run(program, "device", SIM_CHECK="1")
    assert result.returncode == 88 and "an endless loop turns here" in result.stderr, result.stderr


def test_what_is_not_known_is_no_mistake_of_the_program(tmp_path):
    """Broken: a right program with an instruction that the simulator does not know has a finding, or ends as if all were well."""
    source = tmp_path / "unknown.cu"
    source.write_text("""#include <cstdio>
__global__ void arrive() { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(0)); }
int main() { arrive<<<1, 1>>>(); cudaDeviceSynchronize(); puts("went on"); }
""")
    result = run(build(source, tmp_path / "unknown", "-lineinfo"), SIM_CHECK="1")
    assert (result.returncode, result.stdout) == (77, "went on\n"), result.stderr
    assert re.fullmatch(r"simulator: kernel arrive, .*mbarrier\.arrive.*unknown\.cu:2\): the simulator does not know this instruction\n", result.stderr), result.stderr


def test_a_driver_function_that_is_missing_is_named(tmp_path):
    """Broken: a program that gets NULL for cuTensorMapEncodeTiled, and calls it, ends with SIGSEGV and without a word."""
    source = tmp_path / "asks.cu"
    source.write_text("""#include <cstdio>
int main() { void *f = &f; printf("%d ", cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault)); puts(f ? "?" : "NULL"); }
""")
    result = run(build(source, tmp_path / "asks"))
    assert result.stdout == "0 NULL\n" and "the simulator has no cuTensorMapEncodeTiled: " in result.stderr, result.stderr


def test_who_waits_at_an_mbarrier_in_vain_is_told_for_what(program):
    """Broken: where fewer threads arrive at an mbarrier than it awaits, a student learns of an endless loop only."""
    result = run(program, "miscounts", SIM_MAX_INSTRUCTIONS="100000")
    assert "endless loop" in result.stderr and "it waits at an mbarrier, for 1 of 33 arrivals" in result.stderr, result.stderr


def test_every_thread_tells_that_its_assertion_failed(program):
    """Broken: of several failed assertions only the first is printed, or not as CUDA prints them."""
    result = run(program, "fails")
    *printed, last = result.stderr.splitlines()
    form = re.compile(r"\S*lanes_and_loops\.cu:(\d+): void fails\(int \*\): block: \[0,0,0\], thread: \[(\d+),0,0\] Assertion `(.*)` failed\.")
    assert [form.fullmatch(line).groups() for line in printed] == [
        ("34", "3", "threadIdx.x % 40 != 3"), ("34", "43", "threadIdx.x % 40 != 3"),
        ("37", "62", "threadIdx.x < 62"), ("37", "63", "threadIdx.x < 62")]
    assert result.stdout == "cudaErrorAssert\n" and "kernel fails, block (0,0,0), thread (3,0,0)" in last


def test_names_are_the_source_s(program, tmp_path):
    """Broken: a kernel that is static or in a nameless namespace bears a mangled name, or its namespace's, in the CSV."""
    assert [row["kernel"] for row in counters(program, tmp_path, "names")] == ["hidden", "nameless", "alone"]


def test_a_way_out_of_a_loop_that_nobody_takes_does_not_part_lanes(program, tmp_path):
    """Broken: lanes meet again only behind an assertion or a return that one of them passes, and wait there, or go on apart."""
    rows = counters(program, tmp_path, "tries")
    assert [(row["kernel"], row["block_barriers"]) for row in rows] == [("tries", "12")] * 2


@pytest.mark.parametrize("together", "01")
def test_each_lane_gets_on_at_last(together, program):
    """Broken: a lane that holds a lock never goes on, as the others of its warp wait for it in a loop that counts or reads the clock."""
    assert run(program, "o", SIM_TOGETHER=together).stdout == "192\ncudaSuccess\n"


def test_each_grid_has_a_number(program):
    """Broken: %gridid is the same for all launches, or unknown to `mov.u32`."""
    assert run(program, "i").stdout == "1 1 1\ncudaSuccess\n"


@pytest.mark.parametrize("environment", [{"SIM_THREADS": "1"}, {"SIM_THREADS": "4"}, {"SIM_BLOCK_ORDER": "3"}, {"SIM_CHECK": "1"}])
def test_blocks_that_wait_for_later_ones_run_together(environment, program, tmp_path):
    """Broken: a barrier of the grid by hand, right on a GPU that holds all blocks, ends as an endless loop, or is not told."""
    result = run(program, "b", **environment)
    assert result.stdout == "5050\ncudaSuccess\n"
    assert "kernel meets_by_hand: its blocks wait for later ones, so they run together" in result.stderr
    rows = counters(program, tmp_path, "b", **{name: value for name, value in environment.items() if name != "SIM_CHECK"})
    assert rows == counters(program, tmp_path, "b", **environment | {"SIM_THREADS": "3"})


@unsanitized  # which take memory of their own
def test_threads_that_end_in_a_function_leave_nothing(program):
    """Broken: each block whose threads end in a function keeps the memory of its calls."""
    assert run(program, "leaves").stdout == "cudaSuccess\n"


@unsanitized
def test_no_memory_for_a_block_is_an_error_of_cuda(program):
    """Broken: a kernel with more local memory than the host has aborts the program."""
    limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (200 << 20, limit[1]))
    try:
        result = run(program, "stack", SIM_THREADS="1")
        enough = run(program, "fails")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limit)
    assert result.stdout == "cudaErrorMemoryAllocation\n" and "kernel calls: no memory" in result.stderr, result.stderr
    assert enough.stdout == "cudaErrorAssert\n"


def test_a_function_called_on_many_ways_is_looked_at_once(tmp_path):
    """Broken: whether blocks depend on each other is found out anew for each way to a function: minutes for a deep tree of calls."""
    text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f25() { ret; }\n"
    for k in range(24, -1, -1):
        text += f".func f{k}() {{ {f'call f{k + 1}, (); ' * 4} ret; }}\n"
    text += ".visible .entry k(.param .u64 input, .param .u64 output) { .reg .pred %p; setp.eq.u32 %p, 1, 0; @%p call f0, (); ret; }\n"
    assert set(results(tmp_path, text, [(0,)] * 64)) == {0}


UNWRITTEN = {  # what is read before anything was written is zero in each block, whatever the one before left there
    "never written": "add.u64 %t, %t, 1;",
    "written under a guard": "setp.eq.u32 %p, %n, 0; @%p mov.u64 %t, 5; mov.u64 %u, 7; setp.ne.u32 %p, %n, 0; @%p bra DONE; sub.u64 %t, %t, 4; bra END; DONE: "
                             "add.u64 %t, %t, 1; END:",
    "written in a loop only": "mov.u32 %i, 0; LOOP: add.u64 %t, %t, %u; mov.u64 %u, 1; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 2; @%p bra LOOP;",
    "part of a vector": "mov.b64 {%j, _}, %u; cvt.u64.u32 %t, %j; mov.u32 %j, 9; mov.u64 %u, 12; add.u64 %t, %t, 1;",
}


ENDED = """mov.u32 %j, %ctaid.x; and.b32 %j, %j, 1; setp.eq.u32 %p, %j, 1; @%p bra ODD; mov.u32 %m, 3; bra SHUFFLE;
ODD: and.b32 %j, %n, 31; setp.gt.u32 %p, %j, 15; @%p exit; mov.u32 %m, 0; SHUFFLE: shfl.sync.idx.b32 %m, %m, 31, 31, -1; cvt.u64.u32 %t, %m;"""


def with_registers(text):
    return kernel(f"{{ {text} }}", "u64", []).replace(".reg .u16 %q;", ".reg .u16 %q; .reg .u64 %u; .reg .u32 %m; .reg .pred %p;")


@pytest.mark.parametrize("what", UNWRITTEN)
def test_registers_start_as_zero(what, tmp_path, monkeypatch):
    """Broken: a block reads in a register what an earlier block left there, so that the result depends on the host's threads."""
    monkeypatch.setenv("SIM_THREADS", "1")
    assert set(results(tmp_path, with_registers(UNWRITTEN[what]), [(0,)] * 64 * 5)) == {1}


def test_a_shuffle_reads_zero_from_lanes_that_wrote_nothing(tmp_path, monkeypatch):
    """Broken: a shuffle reads from a lane that has ended what an earlier block left in its register."""
    monkeypatch.setenv("SIM_THREADS", "1")
    assert results(tmp_path, with_registers(ENDED), [(0,)] * 64 * 4) == ((3,) * 64 + (0,) * 64) * 2
