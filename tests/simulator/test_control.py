"""Control flow: reconvergence, forward progress, and the reports of deadlocks and infinite loops."""

import re
import resource

import pytest

from tests.simulator.ptx import kernel, run as results
from tests.support import ROOT, build, build_text, counters, run, unsanitized

pytestmark = pytest.mark.builds("build/sim/ptx_run")


@pytest.fixture(scope="module")
def program():
    return build(ROOT / "tests/simulator/lanes_and_loops.cu", "control/lanes_and_loops", "-lineinfo")


def test_early_return_does_not_split_the_other_lanes(tmp_path):
    """Broken: after an early return in one arm of an if, the remaining lanes run the rest in two splits and count twice."""
    program = build(ROOT / "tests/programs/control.cu", "control/control")
    rows = counters(program, tmp_path)
    row = next(row for row in rows if row["kernel"] == "may_leave_early")
    assert (row["global_load_requests"], row["global_store_requests"]) == ("11", "13")
    for threads in "15":
        assert counters(program, tmp_path, SIM_THREADS=threads) == rows


@pytest.mark.parametrize("time_sliced", "01")
@pytest.mark.parametrize("what, line, message", [("waits", 9, "kernel deep::waits<3, int>, .* infinite loop: all threads that could end it are waiting"),
                                              ("counts", 27, "still running after [0-9]+ warp instructions: perhaps an infinite loop")])
def test_infinite_loop_is_located(what, line, message, time_sliced, program):
    """Broken: blocks in a deadlock or an infinite loop run for minutes, or the message does not give the line."""
    result = run(program, what, SIM_TOGETHER=time_sliced, SIM_SMS="16", SIM_MAX_INSTRUCTIONS="100000000")
    assert result.stdout == "cudaErrorLaunchTimeout\n" and len(result.stderr.splitlines()) == 1
    assert re.search(message, result.stderr) and f"lanes_and_loops.cu:{line})" in result.stderr, result.stderr


def test_waiting_for_the_host_is_no_finding():
    """Broken: a correct program whose kernel waits for the host, which the simulator cannot run, is reported as an infinite loop; or an infinite loop is not."""
    program = build(ROOT / "tests/simulator/waits_for_host.cu", "control/waits", "-lineinfo")
    for flag in ("variable", "mapped", "managed"):
        for environment in ({}, {"SIM_CHECK": "1"}, {"SIM_CHECK": "1", "SIM_TOGETHER": "1"}):
            result = run(program, flag, **environment)
            assert (result.returncode, result.stdout) == (77, ""), result.stderr
            assert re.fullmatch(r"simulator: .*waits_for_host.cu:9\): this loop polls memory that the host may write, .*\n", result.stderr), result.stderr
    result = run(program, "counts", SIM_MAX_INSTRUCTIONS="100000")
    assert result.returncode == 77 and "this loop polls memory that the host may write" in result.stderr, result.stderr
    result = run(program, "device", SIM_CHECK="1")
    assert result.returncode == 88 and "infinite loop: all threads that could end it are waiting" in result.stderr, result.stderr


def test_unsupported_instruction_is_no_finding():
    """Broken: an instruction that the simulator does not support is reported as a finding, or the program succeeds."""
    program = build_text("""#include <cstdio>
__global__ void arrive() { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(0)); }
int main() { arrive<<<1, 1>>>(); cudaDeviceSynchronize(); puts("went on"); }
""", "control/unknown", "-lineinfo")
    result = run(program, SIM_CHECK="1")
    assert (result.returncode, result.stdout) == (77, "went on\n"), result.stderr
    assert re.fullmatch(r"simulator: kernel arrive, .*mbarrier\.arrive.*unknown\.cu:2\): the simulator does not know this instruction\n", result.stderr), result.stderr


def test_missing_driver_function_is_named():
    """Broken: a program that gets NULL for cuTensorMapEncodeTiled, and calls it, crashes without a message."""
    program = build_text("""#include <cstdio>
int main() { void *f = &f; printf("%d ", cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault)); puts(f ? "?" : "NULL"); }
""", "control/asks")
    result = run(program)
    assert result.stdout == "0 NULL\n" and "the simulator has no cuTensorMapEncodeTiled: " in result.stderr, result.stderr


def test_stuck_mbarrier_wait_reports_the_missing_arrivals(program):
    """Broken: if fewer threads arrive at an mbarrier than it expects, only an infinite loop is reported."""
    result = run(program, "miscounts", SIM_MAX_INSTRUCTIONS="100000")
    assert "infinite loop" in result.stderr and "it waits at an mbarrier for 1 of 33 arrivals" in result.stderr, result.stderr


def test_failed_assertion_is_printed_for_every_thread(program):
    """Broken: of several failed assertions only the first is printed, or not as CUDA prints them."""
    result = run(program, "fails")
    *printed, last = result.stderr.splitlines()
    form = re.compile(r"\S*lanes_and_loops\.cu:(\d+): void fails\(int \*\): block: \[0,0,0\], thread: \[(\d+),0,0\] Assertion `(.*)` failed\.")
    assert [form.fullmatch(line).groups() for line in printed] == [
        ("34", "3", "threadIdx.x % 40 != 3"), ("34", "43", "threadIdx.x % 40 != 3"),
        ("37", "62", "threadIdx.x < 62"), ("37", "63", "threadIdx.x < 62")]
    assert result.stdout == "cudaErrorAssert\n" and "kernel fails, block (0,0,0), thread (3,0,0)" in last


def test_names_are_as_in_the_source(program, tmp_path):
    """Broken: the CSV has a mangled name, or a namespace, for a kernel that is static or in an unnamed namespace."""
    assert [row["kernel"] for row in counters(program, tmp_path, "names")] == ["hidden", "nameless", "alone"]


def test_untaken_loop_exit_does_not_split_lanes(program, tmp_path):
    """Broken: lanes reconverge only after an assertion or return that one of them passes, and wait there or continue in separate splits."""
    rows = counters(program, tmp_path, "tries")
    assert [(row["kernel"], row["block_barriers"]) for row in rows] == [("tries", "12")] * 2


@pytest.mark.parametrize("time_sliced", "01")
def test_every_lane_makes_progress(time_sliced, program):
    """Broken: a lane that holds a lock starves, while the others of its warp poll the lock in a loop that counts or reads the clock."""
    assert run(program, "o", SIM_TOGETHER=time_sliced).stdout == "192\ncudaSuccess\n"


def test_each_grid_has_an_id(program):
    """Broken: %gridid is the same for all launches, or unknown to `mov.u32`."""
    assert run(program, "i").stdout == "1 1 1\ncudaSuccess\n"


@pytest.mark.parametrize("environment", [{"SIM_THREADS": "1"}, {"SIM_THREADS": "4"}, {"SIM_BLOCK_ORDER": "3"}, {"SIM_CHECK": "1"}])
def test_blocks_that_wait_for_later_ones_are_time_sliced(environment, program, tmp_path):
    """Broken: a hand-written grid barrier, correct if all blocks are resident, is reported as an infinite loop, or runs without a warning."""
    result = run(program, "b", **environment)
    assert result.stdout == "5050\ncudaSuccess\n"
    assert "kernel meets_by_hand: its blocks wait for later ones, so they run together" in result.stderr
    rows = counters(program, tmp_path, "b", **{name: value for name, value in environment.items() if name != "SIM_CHECK"})
    assert rows == counters(program, tmp_path, "b", **environment | {"SIM_THREADS": "3"})


@unsanitized  # sanitizers use memory of their own
def test_exit_in_a_function_frees_its_frames(program):
    """Broken: a block whose threads exit in a device function leaks the frames of its calls."""
    assert run(program, "leaves").stdout == "cudaSuccess\n"


@unsanitized
def test_no_memory_for_a_block_is_a_cuda_error(program):
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


def test_function_with_many_callers_is_analysed_once(tmp_path):
    """Broken: the analysis of effects visits a function once for each path to it: minutes for a deep call tree."""
    text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f25() { ret; }\n"
    for k in range(24, -1, -1):
        text += f".func f{k}() {{ {f'call f{k + 1}, (); ' * 4} ret; }}\n"
    text += ".visible .entry k(.param .u64 input, .param .u64 output) { .reg .pred %p; setp.eq.u32 %p, 1, 0; @%p call f0, (); ret; }\n"
    assert set(results(tmp_path, text, [(0,)] * 64)) == {0}


UNWRITTEN = {  # unwritten registers are zero in each block, whatever the previous block left in them
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
    """Broken: a register holds what an earlier block left, so that the result depends on the host's threads."""
    monkeypatch.setenv("SIM_THREADS", "1")
    assert set(results(tmp_path, with_registers(UNWRITTEN[what]), [(0,)] * 64 * 5)) == {1}


def test_a_shuffle_reads_zero_from_lanes_that_wrote_nothing(tmp_path, monkeypatch):
    """Broken: a shuffle reads from an exited lane what an earlier block left in its register."""
    monkeypatch.setenv("SIM_THREADS", "1")
    assert results(tmp_path, with_registers(ENDED), [(0,)] * 64 * 4) == ((3,) * 64 + (0,) * 64) * 2
