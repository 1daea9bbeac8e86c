"""The simulator: all steps, counters, programs of courses, and faults in kernels."""

import csv
import functools
import json
import os
import re
import signal
import subprocess
from collections import Counter

import pytest


from scripts.ladder import tries

from tests.support import COUNTED, LINK, LOAD, PLANTED, ROOT, SIM, SIZES, STEPS, build, build_text, build_together, changed, counters, longer, needs_measuring, needs_simulator, nvcc, reported, run, some

pytestmark = needs_simulator

NAMES = [*(step.name for step in STEPS), "reference_cub"]
BUILT = [pytest.param(name, marks=pytest.mark.builds(f"build/sim/{name}/reduce")) for name in NAMES]
PROGRAMS = sorted((ROOT / "tests/programs").glob("*.cu"))


# ---- The steps

@pytest.mark.parametrize("name", NAMES)
@pytest.mark.builds("build/sim/{name}/reduce")
def test_every_size_is_summed_right(name):
    """Broken: a step has a wrong sum at some size."""
    for elements in some((1, 33, 255, 256, 257, 513, 1023, 65537, 99991), SIZES[:-2]):
        result = run(SIM / name / "reduce", elements)
        assert result.returncode == 0 and "PASS" in result.stdout, (elements, result.stderr)


@pytest.mark.parametrize("step", STEPS[7:], ids=lambda step: step.name)
@pytest.mark.builds("build/sim/{step.name}/reduce")
def test_blocks_go_on_through_the_array(step):
    """Broken: a step is wrong on a GPU with few resident blocks, where each block has many tiles."""
    for elements in (65537, 100003, 1048577, 2500001):
        result = run(SIM / step.name / "reduce", elements, SIM_SMS="1")
        assert result.returncode == 0 and "PASS" in result.stdout, (elements, result.stderr)


def around(program, step=None):
    """A program of this folder that includes a step's source."""
    text = (ROOT / f"tests/simulator/{program}.cu").read_text()
    (line, named), = re.findall(r'^(#include (?:"../../(.*)"|STEP_FILE))$', text, re.M)
    return text.replace(line, (step or ROOT / named).read_text())


@pytest.fixture(scope="module")
def changed_steps():
    """Steps with another main, and steps with a planted error."""
    texts = {step.name: around("offsets", step / "reduce.cu") for step in STEPS[9:]}
    texts |= {program: around(program) for program in ("after_abort", "after_abort_scan")}
    texts |= {error: changed(*PLANTED[error]) for error in PLANTED}
    texts["no bounds"] = changed("step03_sequential", LOAD, "sums[tid] = in[i];")
    return build_together(texts, "simulator/changed_steps")


@pytest.mark.parametrize("step", STEPS[9:], ids=lambda step: step.name)
def test_arrays_begin_and_end_anywhere(step, changed_steps):
    """Broken: a step reads out of bounds in an array that is not aligned to 16 bytes, or adds its first or last elements wrongly."""
    result = run(changed_steps, step.name)
    assert result.returncode == 0 and "PASS" in result.stdout, result.stderr


@pytest.mark.parametrize("program", ["after_abort", "after_abort_scan"])
def test_after_an_aborted_launch(program, changed_steps):
    """Broken: step 11, or step 10 of the prefix sum, uses the tickets of an aborted launch."""
    result = run(changed_steps, program, SIM_CHECK="0")  # the abort is intended
    assert result.returncode == 0 and result.stdout == "PASS\n", result.stderr


@pytest.mark.parametrize("error", PLANTED)
def test_planted_error_fails_the_check(error, changed_steps):
    """Broken: on the simulator a wrong sum passes."""
    for elements in (65537, 100003):
        result = run(changed_steps, error, elements, SIM_CHECK="0")
        assert result.returncode == 1 and ("FAIL" in result.stderr or "misaligned address" in result.stderr), (elements, result.stderr)


def test_reading_past_a_small_array_is_named(changed_steps):
    """Broken: the harness's array has so much padding that an access past its end is not reported."""
    result = run(changed_steps, "no bounds", 100003)
    assert result.returncode == 88 and re.search(r"out-of-bounds access: .* past the end of a \d+-byte allocation", result.stderr), result.stderr


# ---- Counters

def committed(folder, table, step=None):
    with open(ROOT / "tests/counters" / folder / table, newline="") as file:
        return [row for row in csv.DictReader(file) if step in (None, row["step"])]


# Counters that differ on a GPU, in all kernels of a step or in all of that name, and why.
MERGED = ["shared_loads"]  # ptxas merges adjacent accesses into wider ones
POLLED = ["global_load_requests", "global_load_sectors", "global_store_requests"]  # the number of polls varies, and lanes that poll longer store later
PLACED = ["global_store_sectors"]  # the words that it resets may begin in the middle of a sector
UNEQUAL = {("shared_merged",): MERGED, ("DeviceReduceKernel",): MERGED, ("DeviceReduceSingleTileKernel",): MERGED,
           ("step12_onetree",): MERGED, ("step13_oneblock",): MERGED, ("step14_cluster",): MERGED, ("step15_notickets",): MERGED,
           ("step15_notickets", "reduce"): POLLED + PLACED}
# 128-bit loads from device memory disturb concurrent shared accesses; ncu counts that as conflicts, and the number varies.
DISTURBED = NAMES[9:]


def compare(ours, theirs):
    assert theirs
    for mine, read in zip(ours, theirs):
        whose = (read["kernel"],), (read["step"],), (read["step"], read["kernel"])
        skipped = [column for key in whose for column in UNEQUAL.get(key, [])]
        assert mine["grid"] == read["blocks"] and mine["block"] == read["threads"]
        assert mine["block_barriers"] == read["barriers"]
        for column in COUNTED:
            # On larger grids blocks disturb each other's shared memory, which ncu counts too.
            if column in skipped or (column == "bank_conflicts" and (int(read["blocks"]) > 256 or read["step"] in DISTURBED)):
                continue
            assert float(mine[column]) == float(read[column]), (read["step"], read["kernel"], read["pass"], column)


@pytest.fixture(scope="module")
def strided(tmp_path_factory):
    """The Try of step 02."""
    source = tmp_path_factory.mktemp("strided") / "step02_strided/reduce.cu"
    source.parent.mkdir()
    source.write_text(tries.applied("step02_bitops", tries.tries("step02_bitops")[0][0]))
    return build(source, source.with_suffix(""))


@pytest.mark.parametrize("table, elements", [("steps.csv", 65536), ("ragged.csv", 100003)])
@pytest.mark.parametrize("name", [*BUILT, pytest.param("step02_strided", marks=longer)])
def test_counters_equal_those_of_a_gpu(name, table, elements, tmp_path, request):
    """Broken: a counter differs from Nsight Compute's on an H200, or changes with the checker."""
    program = request.getfixturevalue("strided") if name == "step02_strided" else SIM / name / "reduce"
    expected = committed("simulator", table, name)
    assert expected, "make build DEVICE=sim && tests/counters/renew.sh"
    ours = counters(program, tmp_path, elements, SIM_CHECK=str(int(table == "steps.csv")))[: len(expected)]  # without the repetitions of the reduction
    assert ours == expected
    theirs = committed("h200", table, name)
    if not theirs:
        needs_measuring(name)
    assert len(theirs) == len(ours)
    compare(ours, theirs)


@pytest.fixture(scope="module")
def counted():
    """Programs whose counters are tested."""
    files = {path.stem: path.read_text() for path in (*ROOT.glob("tests/counters/access/*.cu"), ROOT / "tests/simulator/struct_argument.cu")}
    return build_together(files | {"in turn": IN_TURN, "textures": TEXTURE_COUNTS}, "simulator/counted")


def test_counters_of_all_kinds_of_access_equal_those_of_a_gpu(counted, tmp_path):
    """Broken: conflicts, requests or sectors of an access differ from Nsight Compute's."""
    ours, theirs = counters(counted, tmp_path, "access"), committed("h200", "access.csv")
    assert len(ours) == len(theirs) and [{**row, "step": "access"} for row in ours] == [
        {**row, "step": "access"} for row in committed("simulator", "access.csv")]
    compare(ours, theirs)


def test_counters_of_clusters_and_of_threads_that_return_equal_those_of_a_gpu(counted, tmp_path):
    """Broken: accesses to another block's shared memory are counted, or lanes stay diverged after others have returned."""
    ours, theirs = counters(counted, tmp_path, "together"), committed("h200", "together.csv")
    assert [{**row, "step": "together"} for row in ours] == committed("simulator", "together.csv")
    waits = [row["kernel"] for row in ours].index("grid_meets")  # one for each poll for the other blocks
    compare(*([row for k, row in enumerate(rows) if k != waits] for rows in (ours, theirs)))
    assert all(ours[waits][column] == theirs[waits][other] for column, other in (
        ("block_barriers", "barriers"), ("global_store_requests", "global_store_requests"), ("global_store_sectors", "global_store_sectors")))


def test_where_a_gpu_counts_more(counted, tmp_path):
    """Broken: counters.md describes a difference that does not exist."""
    (ours,), (theirs,) = counters(counted, tmp_path, "loops"), committed("h200", "loops.csv")
    assert {**ours, "step": "loops"} == {**committed("simulator", "loops.csv")[0], "step": "loops"}
    assert int(ours["global_load_requests"]) < int(theirs["global_load_requests"])
    assert int(ours["global_store_sectors"]) == int(theirs["global_store_sectors"])


@pytest.mark.parametrize("name", ["step01_divergent", "step08_shuffle", "step11_singlepass", "step14_cluster", "step15_notickets"])
@pytest.mark.builds("build/sim/{name}/reduce")
def test_counters_do_not_depend_on_the_host(name, tmp_path):
    """Broken: counters depend on the number of host threads."""
    once = counters(SIM / name / "reduce", tmp_path, 100003, SIM_THREADS="1")
    assert all(counters(SIM / name / "reduce", tmp_path, 100003, SIM_THREADS=threads) == once for threads in ("2", "5"))


IN_TURN = """
#include <cstdio>
__device__ int work(int x, int zero)
{
    for (int k = 0; k < 2000; k++)
        x = x * 5 + k;
    return x & zero;
}
__global__ void reads_what_others_write(unsigned long long *total, int zero)
{
    const unsigned long long before = *total; // no atomic operation: whatever is there now
    atomicAdd(total, before + 1 + work((int)before, zero));
}
__global__ void goes_astray_ahead_of_its_turn(int *ended, const int *zeros)
{
    const int here = zeros[*ended - (int)blockIdx.x]; // in the array only after all blocks before
    atomicAdd(ended, 1 + work(here, here));
}
int main()
{
    unsigned long long *total;
    int *ended, *zeros;
    cudaMallocManaged(&total, sizeof *total);
    cudaMallocManaged(&ended, sizeof *ended);
    cudaMalloc(&zeros, 4);
    cudaMemset(zeros, 0, 4);
    *total = *ended = 0;
    reads_what_others_write<<<40, 1>>>(total, 0);
    goes_astray_ahead_of_its_turn<<<40, 1>>>(ended, zeros);
    printf("%s, %llu, %d\\n", cudaGetErrorString(cudaDeviceSynchronize()), *total, *ended);
}
"""


def test_blocks_that_run_ahead_see_what_they_would_in_turn(counted, tmp_path):
    """Broken: a block that ran ahead keeps a value that an earlier block changed, so that results or counters depend on the host."""
    once = counters(counted, tmp_path, "in turn", SIM_THREADS="1")
    for threads in "125":
        result = run(counted, "in turn", SIM_THREADS=threads, SIM_CHECK="0")
        assert result.stdout == f"no error, {2**40 - 1}, 40\n" and result.stderr == ""
        assert counters(counted, tmp_path, "in turn", SIM_THREADS=threads) == once


COUNTED_BY_HAND = """
__global__ void two_halves(int *out)
{
    if (threadIdx.x % 32 < 8) {
        out[threadIdx.x] = 1;
    } else {
        out[threadIdx.x * 8] = 2;
        out[threadIdx.x * 8 + 4] = 3;
    }
    __syncthreads();
    atomicAdd(out + 4000, __shfl_down_sync(~0u, threadIdx.x, 1));
    __syncwarp();
}
int main()
{
    int *out;
    cudaMalloc(&out, 20000);
    two_halves<<<3, 64>>>(out);
    return cudaDeviceSynchronize();
}
"""


def test_counters_worked_out_by_hand(tmp_path):
    """Broken: a counter differs from its description in README.md."""
    row, = counters(build_text(COUNTED_BY_HAND, "simulator/counted_by_hand", "-G"), tmp_path)  # without optimisation
    # 3 blocks of 2 warps; 8 lanes store one sector, then 24 lanes a sector each, twice.
    assert (row["kernel"], row["grid"], row["block"]) == ("two_halves", "3", "64")
    expected = {"divergent_branches": 6, "global_store_requests": 18, "global_store_sectors": 6 * (1 + 48),
                "block_barriers": 6, "shuffles": 6, "atomics": 6, "warp_barriers": 6, "shared_loads": 0}
    assert {name: int(row[name]) for name in expected} == expected


# ---- Programs

# Programs that provoke CUDA errors, or whose threads exit before a barrier of the others.
WRONG_ON_PURPOSE = ["api_edge", "device_heap", "divergence", "driver_api", "graphs", "host_threads", "runtime_calls"]

# make test compiles each program once, ALL=1 also for a debugger. -O3 and -O0 differ only in host code, and -O0 takes half as long.
COMPILED = [(source, flags) for source in PROGRAMS for flags in some(["-O0"], ["-O3", "-G"])]
# make test compiles programs with the same flags together, except one that tests for a header; ALL=1 compiles each alone.
COMPILED_TOGETHER = [(source, flags) for source, flags in COMPILED if os.environ.get("LEFT_OUT") and "__has_include" not in source.read_text()]


@pytest.fixture(scope="module")
def program():
    """Builds a program, perhaps together with others of the same flags; returns the command that runs it."""
    @functools.cache
    def group(flags):
        texts = {source.stem: source.read_text() for source, those in COMPILED_TOGETHER if those == flags}
        return build_together(texts, f"simulator/programs{flags}", flags, "-lineinfo", "-Xptxas=-suppress-stack-size-warning", f"-I{PROGRAMS[0].parent}")

    def words(source, flags):
        if (source, flags) in COMPILED_TOGETHER:
            return [group(flags), source.stem]
        return [build(source, f"simulator/{source.stem}{flags}", flags, "-lineinfo", "-Xptxas=-suppress-stack-size-warning")]
    return words


@pytest.mark.parametrize("source, flags", COMPILED, ids=lambda value: getattr(value, "stem", value))
def test_programs_of_a_course(source, flags, program):
    """Broken: a program that passes on a GPU fails here, or the checker reports a false positive."""
    result = run(*program(source, flags), SIM_CHECK="0" if source.stem in WRONG_ON_PURPOSE else "1")
    assert result.returncode == 0 and result.stdout.splitlines()[-1] == "PASS", result.stderr


def named(name):
    """A course program and its first compiler flags."""
    return next((source, flags) for source, flags in COMPILED if source.stem == name)


def test_a_kernel_is_counted_by_its_own_name(counted, tmp_path):
    """Broken: a kernel with a struct parameter has the struct's name in the CSV."""
    assert [row["kernel"] for row in counters(counted, tmp_path, "struct_argument")] == ["add_pair"]


def test_printf(program):
    """Broken: printf in a kernel has other output than on the host."""
    result = run(*program(*named("output")))
    assert result.stdout.splitlines()[1] == "lane 0.1:  0.50|7   |ff|1099511627776|b|%|1.234568e+04"
    assert result.stdout.splitlines()[4] == "-1|1|   5|end"


@pytest.mark.builds("build/sim/replay")
def test_what_the_host_writes_without_a_call_is_recorded(program, tmp_path):
    """Broken: a recording lacks the content of pinned or managed memory or of a variable, or pointers in a struct are wrong in a replay."""
    assert run(*program(*named("written_by_host")), SIM_RECORD=str(tmp_path / "recording")).returncode == 0
    result = run(SIM / "replay", tmp_path / "recording")
    assert (result.returncode, result.stderr) == (0, "")
    assert [check["equal"] for check in json.loads(result.stdout)["checks"]] == [True] * 4


# ---- Memory

@pytest.fixture(scope="module")
def memory():
    return build(ROOT / "tests/simulator/memory.cu", "simulator/memory")


@pytest.mark.parametrize("access, said", [
    ("read", "the host reads device memory: byte 16 of a 4096-byte allocation"),
    ("write", "the host writes device memory: byte 16 of a 4096-byte allocation"),
    ("variable", "the host reads device memory: byte 12 of a 100-byte device variable"),
    ("freed", "the host reads device memory: byte 4 of a freed 4096-byte allocation")])
def test_the_host_cannot_touch_device_memory(memory, access, said):
    """Broken: without the checker, a program that forgets cudaMemcpy passes here but crashes on a GPU, or crashes without a message."""
    result = run(memory, access, SIM_CHECK="0")
    assert result.returncode != 0 and f"simulator: {said}\n" in result.stderr
    if not os.environ.get("ASAN_OPTIONS"):  # the sanitizer's own handler runs next
        assert result.returncode == -signal.SIGSEGV and len(result.stderr.splitlines()) == 1


def test_other_crashes_are_none_of_the_simulator(memory):
    """Broken: a program's own crash is reported as an access to device memory, or does not end the program."""
    result = run(memory, "elsewhere")
    assert result.returncode != 0 and "simulator" not in result.stderr


def test_fresh_memory_is_poison(memory):
    """Broken: managed or pinned memory is not zeroed, as on a GPU; uninitialised device memory reads as zeros, or as the content of a freed allocation; or 4 GiB are committed at once."""
    result = run(memory, "fresh", SIM_CHECK="0")
    assert result.stdout == "-1 0 0 7\ncudaSuccess -1 -1 0 small\n-1 -1 small\ncudaSuccess\n", result.stdout + result.stderr


def test_a_kernel_cannot_use_freed_memory(memory):
    """Broken: a kernel reads memory that the program has freed."""
    result = run(memory, "use after free", SIM_CHECK="0")
    assert result.stdout.endswith("cudaErrorIllegalAddress\n") and "kernel read, block (0,0,0), thread (0,0,0)" in result.stderr


def test_many_pieces_of_the_heap(memory):
    """Broken: a kernel's malloc or free loses an allocation, or takes time linear in their number: then half a million take minutes."""
    result = subprocess.run([memory, "pieces"], capture_output=True, text=True, timeout=40, env=os.environ | {"SIM_CHECK": "0"})
    every, third = sum(range(1 << 19)), sum(range(0, 1 << 19, 3))
    assert result.stdout == f"{every + third}\ncudaSuccess\n", result.stderr


def test_wrong_ranges_give_cudas_errors(memory):
    """Broken: an invalid call returns another error than CUDA's, or a program that tests for errors is flooded with messages."""
    result = run(memory, "calls")
    assert result.stdout.startswith("1111111\n") and result.stderr.count("error: ") == 7, result.stderr
    assert run(memory, "calls", SIM_CHECK="0").stderr == ""


@pytest.mark.parametrize("threads", "128")
def test_local_memory_does_not_depend_on_the_host(memory, threads):
    """Broken: local memory keeps values of another block, so that results depend on the number of host threads."""
    result = run(memory, "strays", SIM_THREADS=threads, SIM_CHECK="0")
    assert result.stdout == "cudaErrorIllegalAddress\n" and "of local memory, past the 16 bytes of the thread's variables" in result.stderr
    assert run(memory, "stack", SIM_THREADS=threads, SIM_CHECK="0").stdout == "cudaSuccess" + 64 * " -1" + "\n"


def test_one_function_leads_to_memory():
    """Broken: an instruction accesses memory without sim_access, and so without checks and observers."""
    observers = ("written.c", "bulk_copies.c", "cluster_ends.c", "livelock.c")  # these observe accesses, or a block's progress
    for source in sorted((ROOT / "simulator").rglob("*.c")):
        found = re.search(r"(block|b)->(local|shared)\b(?!_)|\bnear->memory\b", source.read_text())
        assert not found or source.name in ("spaces.c", "block.c", "frames.c", *observers), (source.name, found[0])


# ---- Blocks that wait for each other

def looks_back(rows):
    """For each look-back in a launch of step 06's kernel: the number of tiles without a prefix that it passed at once."""
    rows = [row for row in rows if row["kernel"] == "scan_tiles"]
    rows = [row for row in rows if row["launch"] == rows[0]["launch"]]
    words = next(row["memory"] for row in rows if row["opcode"].startswith("st") and row["bytes"] == "8")
    stores, passed = Counter(), []  # a tile's word is stored twice: its sum, then its prefix
    for row in (row for row in rows if row["memory"] == words):
        addresses = row["addresses"].split(";")
        if row["opcode"].startswith("st"):
            stores.update(addresses)
        else:
            passed.append(next((k for k, address in enumerate(addresses) if stores[address] == 2), len(addresses)))
    return passed


@pytest.mark.builds("build/sim/scan/step06_lookback/scan")
def test_blocks_together_look_back(tmp_path):
    """Broken: interleaved blocks run serially, depend on host threads, or are missing from the trace."""
    program, path = SIM / "scan/step06_lookback/scan", tmp_path / "trace.csv"
    traced, passed = {"SIM_TRACE": str(path), "SIM_TRACE_BLOCK": "all"}, {}
    for together in "01":
        texts = set()
        for environment in ({}, {"SIM_THREADS": "1"}, {"SIM_THREADS": "8"}):
            counters(program, tmp_path, 100003, SIM_SMS="2", SIM_TOGETHER=together, **environment)
            plain = (tmp_path / "counters.csv").read_text()
            counters(program, tmp_path, 100003, SIM_SMS="2", SIM_TOGETHER=together, **traced, **environment)
            assert (tmp_path / "counters.csv").read_text() == plain
            texts.add((plain, path.read_text()))
        assert len(texts) == 1
        rows = list(csv.DictReader(texts.pop()[1].splitlines()))
        assert {row["block"] for row in rows if row["kernel"] == "scan_tiles"} == {str(k) for k in range(13)}
        assert all(row["memory"].startswith("device") for row in rows)
        passed[together] = looks_back(rows)
    assert max(passed["0"]) == 0 and max(passed["1"]) > 1


@pytest.mark.parametrize("together", "01")
@pytest.mark.parametrize("step", some(["step06_lookback", "step11_small"], ["step06_lookback", "step07_ahead", "step10_specialised", "step11_small"]))
@pytest.mark.builds("build/sim/scan/{step}/scan")
def test_tickets_pass_in_any_order_of_the_blocks(step, together, tmp_path):
    """Broken: blocks with dynamic tiles fail in a shuffled order, or the order depends on the host, or not on the seed."""
    orders = set()
    for seed in "12":
        shuffled = {"SIM_BLOCK_ORDER": seed, "SIM_TOGETHER": together, "SIM_SMS": "2"}
        once = counters(SIM / "scan" / step / "scan", tmp_path, 100003, SIM_THREADS="1", **shuffled)
        assert counters(SIM / "scan" / step / "scan", tmp_path, 100003, SIM_THREADS="5", **shuffled) == once
        path = tmp_path / "trace.csv"
        run(SIM / "scan" / step / "scan", 100003, SIM_TRACE=str(path), SIM_TRACE_BLOCK="all", **shuffled)
        with open(path, newline="") as file:
            orders.add(tuple(dict.fromkeys(row["block"] for row in csv.DictReader(file) if row["kernel"].startswith("scan_"))))
    assert len(orders) > 1


CHAINED = """#include <cstdio>
__global__ void chained(int *sums, int astray)
{
    int before = 0;
    while (blockIdx.x > 0 && before == 0) // it takes the block's number for the place in which it begins
        before = *(volatile int *)(sums + blockIdx.x - 1);
    __syncthreads();
    if (threadIdx.x == 0)
        *(volatile int *)(sums + blockIdx.x + (blockIdx.x == 3 ? astray : 0)) = before + 1;
}
int main(int argc, char **)
{
    int *sums, last = 0;
    cudaMalloc(&sums, 64 * sizeof *sums);
    cudaMemset(sums, 0, 64 * sizeof *sums);
    chained<<<64, 1024>>>(sums, argc > 1 ? 100 : 0);
    const cudaError_t error = cudaMemcpy(&last, sums + 63, sizeof last, cudaMemcpyDeviceToHost);
    printf("%s %d\\n", cudaGetErrorName(error), last);
}
"""
SHUFFLED, TOGETHER = {"SIM_BLOCK_ORDER": "1"}, {"SIM_TOGETHER": "1"}
INFINITE = "::chained, block .* infinite loop"


@pytest.mark.parametrize("environment, arguments, printed, said", [
    ({}, [], "cudaSuccess 64", ""), (SHUFFLED, [], "cudaSuccess 64", "::chained: its blocks wait for later ones, so they run together"),
    (TOGETHER | {"SIM_SMS": "1"}, [], "cudaSuccess 64", ""), (TOGETHER | SHUFFLED, [], "cudaSuccess 64", ""),
    (TOGETHER | SHUFFLED | {"SIM_SMS": "1"}, [], "cudaErrorLaunchTimeout 0", INFINITE),
    (TOGETHER, ["astray"], "cudaErrorIllegalAddress 0", r"block \(3,0,0\), thread \(0,0,0\), st.* 4 bytes at 0x")])
def test_a_block_that_waits_for_a_later_block(environment, arguments, printed, said, wrong):
    """Broken: waiting for a block that has not started succeeds or hangs, or faults of interleaved blocks get lost."""
    for threads in "15":
        result = run(wrong, "chained", *arguments, SIM_MAX_INSTRUCTIONS="40000000", SIM_THREADS=threads, SIM_CHECK="0", **environment)
        assert result.returncode == 0 and result.stdout == printed + "\n", result.stderr
        assert len(reported(result)) == (said != "") and re.search(said, result.stderr), result.stderr


# ---- Faults in kernels

MBARRIER = ("__shared__ alignas(16) int tile[64]; __shared__ unsigned long long bar;"
            "const unsigned to = __cvta_generic_to_shared(tile), b = __cvta_generic_to_shared(&bar);"
            "asm volatile(\"mbarrier.init.shared.b64 [%0], 2;\" :: \"r\"(b));")
TEST_WAIT = "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"


def bulk_copy(to, source, size):
    opcode = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    return (f"{MBARRIER} asm volatile(\"{opcode} [%0], [%1], %2, [%3];\" "
            f":: \"r\"({to}), \"l\"({source}), \"r\"({size}), \"r\"(b));")


FAULTS = {  # kernel, launch, CUDA's error, text that the message must contain
    "out of bounds": ("out[threadIdx.x * 100] = 1;", "2, 32", "cudaErrorIllegalAddress",
                      ["block (0,0,0)", "thread (3,0,0)", "4 bytes at 0x", "past the end of a 1024-byte allocation"]),
    "misaligned": ("*(int *)((char *)out + 2) = 1;", "1, 1", "cudaErrorMisalignedAddress", ["not a multiple of 4"]),
    "null": ("if (threadIdx.x == 7) out[-(out - (int *)nullptr)] = 1;", "1, 32", "cudaErrorIllegalAddress", ["thread (7,0,0)", "at 0x0"]),
    "shared memory": ("__shared__ int s[32]; s[threadIdx.x * 2] = 1; __syncthreads(); out[0] = s[out[1]];", "1, 32",
                      "cudaErrorIllegalAddress", ["of which the block has 128"]),
    "missed barrier": ("if (threadIdx.x < 32) __syncthreads(); else asm volatile(\"bar.sync 1, 64;\");", "1, 64",
                       "cudaErrorLaunchTimeout", ["wait at barrier"]),
    "infinite loop": ("while (*(volatile int *)out == 0);", "1, 32", "cudaErrorLaunchTimeout", ["infinite loop: "]),
    "trap": ("__trap();", "1, 1", "cudaErrorLaunchFailure", ["executed trap"]),
    "assert": ("assert(threadIdx.x < 3);", "1, 32", "cudaErrorAssert", ["thread (3,0,0)", "threadIdx.x < 3", "failed"]),
    "not in its own mask": ("asm volatile(\"bar.warp.sync 1;\");", "1, 32", "cudaErrorIllegalInstruction",
                            ["thread (1,0,0)", "not in its own mask 0x00000001"]),
    "use after free": ("__shared__ int *s; if (threadIdx.x == 0) s = (int *)malloc(4); __syncthreads(); *(volatile int *)s = 1;"
                       "__syncthreads(); if (threadIdx.x == 0) free(s); __syncthreads(); if (threadIdx.x == 63) *(volatile int *)s = 2;",
                       "1, 64", "cudaErrorIllegalAddress", ["thread (63,0,0)"]),
    "unknown instruction": ("asm volatile(\"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];\" :: \"r\"(0));", "1, 1", "cudaErrorNotSupported",
                            ["mbarrier.arrive", "does not know"]),
    "bulk copy of odd size": (bulk_copy("to", "out", 24), "1, 1", "cudaErrorMisalignedAddress",
                              ["24 bytes, which is not a multiple of 16"]),
    "bulk copy from a misaligned address": (bulk_copy("to", "out + 2", 16), "1, 1", "cudaErrorMisalignedAddress",
                                            ["not a multiple of 16"]),
    "bulk copy to a misaligned address": (bulk_copy("to + 8", "out", 16), "1, 1", "cudaErrorMisalignedAddress",
                                          ["not a multiple of 16"]),
    "bulk copy beyond the allocation": (bulk_copy("to", "out + 200", 240), "1, 1", "cudaErrorIllegalAddress",
                                        ["240 bytes at 0x", "byte 800 of a 1024-byte allocation"]),
    "bulk copy beyond shared memory": (bulk_copy("to + 16", "out", 272), "1, 1", "cudaErrorIllegalAddress",
                                       ["of shared memory"]),
    "mbarrier in device memory": ("asm volatile(\"mbarrier.inval.b64 [%0];\" :: \"l\"(out));", "1, 1",
                                  "cudaErrorIllegalAddress", ["the mbarrier is not in shared memory"]),
    "no mbarrier": ("__shared__ long long bar; asm volatile(\"mbarrier.arrive.b64 _, [%0];\" :: \"l\"(&bar));", "1, 1",
                    "cudaErrorLaunchFailure", ["mbarrier.init has not run"]),
    "one arrival too many": (MBARRIER + "asm volatile(\"mbarrier.arrive.shared.b64 _, [%0], 3;\" :: \"r\"(b));", "1, 1",
                             "cudaErrorLaunchFailure", ["3 arrivals at an mbarrier that expects only 2 more in this phase"]),
    "endless wait": (MBARRIER + f"for (int over = 0; !over;) asm volatile(\"{TEST_WAIT}\" : \"=r\"(over) : \"r\"(b));",
                     "1, 64", "cudaErrorLaunchTimeout", ["infinite loop: "]),
}


def faulty(body, launch):
    return f"""#include <cassert>
#include <cstdio>
__global__ void wrong(int *out) {{ {body} }}
int main() {{
    int *out;
    cudaMalloc(&out, 1024);
    cudaMemset(out, 0, 1024);
    wrong<<<{launch}>>>(out);
    const cudaError_t first = cudaDeviceSynchronize(), second = cudaMemset(out, 0, 4);
    printf("%s %s\\n", cudaGetErrorName(first), cudaGetErrorName(second));
}}
"""


@pytest.fixture(scope="module")
def wrong():
    texts = {"chained": CHAINED, "textures": TEXTURE_FAULTS} | {fault: faulty(*FAULTS[fault][:2]) for fault in FAULTS}
    return build_together(texts, "simulator/wrong", "-lineinfo")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_the_launch(fault, wrong):
    """Broken: a faulty kernel crashes the simulator, hangs or passes, or the message is not helpful."""
    *_, error, named = FAULTS[fault]
    result = run(wrong, fault, SIM_MAX_INSTRUCTIONS="100000", SIM_CHECK="0")
    assert result.returncode == 0 and result.stdout == f"{error} {error}\n", result.stderr
    assert len(result.stderr.splitlines()) == (30 if fault == "assert" else 1) and "::wrong, block" in result.stderr
    assert all(word in result.stderr for word in named), result.stderr
    assert f"{fault}.cu:3" in result.stderr, result.stderr


TEXTURE_FAULTS = r"""#include <cstdio>
#include <cstring>
__global__ void sample(cudaTextureObject_t t, float *out) { *out = tex2D<float>(t, 1.5f, 0.5f); }
__global__ void fetch(cudaTextureObject_t t, float *out) { *out = tex1Dfetch<float>(t, 1); }
__global__ void gather(cudaTextureObject_t t, float *out) { *out = tex2Dgather<float4>(t, 1, 1).x; }
__global__ void write(cudaSurfaceObject_t s, int x) { surf2Dwrite(1.0f, s, x, 1); }

int main(int argc, char **argv)
{
    const auto is = [&](const char *name) { return strcmp(argv[1], name) == 0; };
    float *out, *memory;
    cudaMalloc(&out, sizeof *out);
    cudaMalloc(&memory, 4096);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array, plain;
    cudaResourceDesc faces = {};
    cudaMalloc3DArray(&faces.res.array.array, &format, make_cudaExtent(4, 4, 6), cudaArrayCubemap);
    cudaTextureDesc seamless = {};
    cudaTextureObject_t cube;
    seamless.seamlessCubemap = 1;
    if (is("seamless"))
        printf("%s\n", cudaGetErrorName(cudaCreateTextureObject(&cube, &faces, &seamless, nullptr)));
    cudaMipmappedArray_t levels;
    if (is("mipmaps"))
        printf("%s\n", cudaGetErrorName(cudaMallocMipmappedArray(&levels, &format, make_cudaExtent(4, 4, 0), 2)));
    if (is("seamless") || is("mipmaps"))
        return 0;
    cudaMallocArray(&array, &format, 8, 4, cudaArraySurfaceLoadStore);
    cudaMallocArray(&plain, &format, 8);
    cudaResourceDesc resource = {}, row = {}, line = {};
    resource.res.array.array = array;
    row.res.array.array = plain;
    line.resType = cudaResourceTypeLinear;
    line.res.linear = {memory, format, 4096};
    const cudaTextureDesc sampling = {};
    cudaTextureObject_t texture, of_row, of_line;
    cudaSurfaceObject_t surface;
    cudaCreateTextureObject(&texture, &resource, &sampling, nullptr);
    cudaCreateTextureObject(&of_row, &row, &sampling, nullptr);
    cudaCreateTextureObject(&of_line, &line, &sampling, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
    cudaCreateTextureObject(&cube, &faces, &sampling, nullptr);
    sample<<<1, 1>>>(texture, out);
    fetch<<<1, 1>>>(of_line, out);
    write<<<1, 1>>>(surface, 28);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    if (is("destroyed"))
        cudaDestroyTextureObject(texture);
    if (is("freed array"))
        cudaFreeArray(array);
    if (is("freed memory"))
        cudaFree(memory);
    if (is("freed memory") || is("fetch from an array"))
        fetch<<<1, 1>>>(is("freed memory") ? of_line : texture, out);
    else if (is("gather"))
        gather<<<1, 1>>>(texture, out);
    else if (is("beside the surface") || is("misaligned"))
        write<<<1, 1>>>(surface, is("misaligned") ? 2 : 32);
    else
        sample<<<1, 1>>>(is("wild") ? 123456 : is("surface") ? surface : is("row") ? of_row : is("line") ? of_line : is("cube") ? cube : texture, out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
"""


@pytest.mark.parametrize("fault, error, said", [
    ("wild", "cudaErrorIllegalAddress", "texture object 123456 does not exist: it was never created, or destroyed"),
    ("destroyed", "cudaErrorIllegalAddress", "it was never created, or destroyed"),
    ("surface", "cudaErrorIllegalAddress", "object 4 is not a texture object"),
    ("freed array", "cudaErrorIllegalAddress", "the array of texture object 1 has been freed"),
    ("freed memory", "cudaErrorIllegalAddress", "4 bytes at 0x"),
    ("row", "cudaErrorIllegalAddress", "an access to 2-D texels of an object with 1-D texels"),
    ("line", "cudaErrorIllegalAddress", "linear memory can be read only by tex1Dfetch()"),
    ("fetch from an array", "cudaErrorIllegalAddress", "tex1Dfetch() reads only linear memory"),
    ("gather", "cudaErrorIllegalAddress", "an array created without cudaArrayTextureGather"),
    ("beside the surface", "cudaErrorLaunchFailure", "byte 32, row 1, slice 0, layer 0 of a surface of 32 bytes x 4 rows"),
    ("misaligned", "cudaErrorMisalignedAddress", "not a multiple of the 4 bytes"),
    ("cube", "cudaErrorIllegalAddress", "an access to 2-D texels of an object with cubemap 2-D texels"),
    ("seamless", "cudaErrorNotSupported", "seamlessCubemap (filtering across the edges of cubemap faces) is not supported"),
    ("mipmaps", "cudaErrorNotSupported", "mipmapped arrays are not supported")])
def test_a_wrong_use_of_a_texture_is_named(fault, error, said, wrong):
    """Broken: a kernel reads a destroyed texture, or one of another kind, without a fault."""
    result = run(wrong, "textures", fault, SIM_CHECK="0")
    assert result.returncode == 0 and result.stdout == error + "\n", result.stderr
    assert len(result.stderr.splitlines()) == 1 and said in result.stderr, result.stderr


TEXTURE_COUNTS = r"""
__global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float *out)
{
    out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f) + surf2Dread<float>(s, threadIdx.x * 4, 1);
    surf2Dwrite(1.0f, s, threadIdx.x * 4, 2);
}
int main()
{
    float *out;
    cudaMalloc(&out, 128);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaMallocArray(&resource.res.array.array, &format, 32, 4, cudaArraySurfaceLoadStore);
    const cudaTextureDesc sampling = {};
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    cudaCreateTextureObject(&texture, &resource, &sampling, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
    sample<<<1, 32>>>(texture, surface, out);
    return cudaDeviceSynchronize();
}
"""


def test_textures_and_surfaces_are_no_global_accesses(counted, tmp_path):
    """Broken: a texture or surface access is counted as a load or store of global memory."""
    row, = counters(counted, tmp_path, "textures")
    assert (row["global_load_requests"], row["global_store_requests"], row["global_store_sectors"]) == ("0", "1", "4")


CLUSTER_FAULTS = {
    "late": ("cudaErrorIllegalAddress", "the shared memory of block 0 of the cluster, which has exited"),
    "endless": ("cudaErrorLaunchTimeout", "infinite loop: "),
    0: ("cudaErrorIllegalInstruction", "arrives at the cluster barrier again"),
    1: ("cudaErrorIllegalInstruction", "without having arrived"),
    2: ("cudaErrorIllegalAddress", "but this instruction accesses only its own block's"),
    3: ("cudaErrorIllegalInstruction", "block rank 2 in a cluster of 2 blocks"),
    4: ("cudaErrorLaunchTimeout", "32 of 64 live threads wait at barrier 1, which the others never reach"),
}


def test_clusters(program, tmp_path):
    """Broken: results or counters of clusters depend on host threads, or a faulty kernel crashes the simulator, hangs or passes."""
    program, *words = program(*named("clusters"))
    assert counters(program, tmp_path, *words, SIM_THREADS="1") == counters(program, tmp_path, *words, SIM_THREADS="2")
    for fault, (error, said) in CLUSTER_FAULTS.items():
        result = run(program, *words, fault, SIM_CHECK="0")
        assert result.stdout == error + "\n" and said in result.stderr, (fault, result.stdout, result.stderr)
        assert len(result.stderr.splitlines()) == 1 and "clusters.cu:" in result.stderr, result.stderr


def test_compressed_or_missing_ptx_is_named(tmp_path):
    """Broken: a program without readable PTX crashes, or ends without a message."""
    link = [word for word in LINK if word != "--no-compress" and not word.startswith(("-gencode", "arch="))]
    (tmp_path / "small.cu").write_text("__global__ void kernel() {}\nint main() { kernel<<<1, 1>>>(); return cudaGetLastError() != cudaSuccess; }\n")
    for flag, said in (("-arch=sm_90", "--no-compress"), ("-gencode=arch=compute_90,code=sm_90", "no PTX")):
        built = subprocess.run([nvcc(), tmp_path / "small.cu", "-o", tmp_path / "small", *link, flag], capture_output=True, text=True, cwd=ROOT)
        assert built.returncode == 0, built.stderr
        result = run(tmp_path / "small", SIM_CHECK="0")  # which would report the error that is not tested for
        assert result.returncode == 1 and said in result.stderr


@pytest.mark.builds("build/sim/fuzz")
def test_damaged_files():
    """Broken: damaged PTX makes the parser crash or hang. (make fuzz finds reads beyond its end.)"""
    result = run(SIM / "fuzz", ROOT / "tests/corpus", 5000, 7, SIM_CHECK="0", SIM_MAX_INSTRUCTIONS="50000")
    assert result.returncode == 0 and "no fault" in result.stdout, result.stderr[-2000:]
