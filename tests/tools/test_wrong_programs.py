"""Wrong programs that once passed the judge: each must get its verdict. Honest ones beside them must pass."""

import dataclasses
import functools
import itertools
import math
import os
import struct
import types
import zipfile

import pytest

from drywarp.judge import check, compiling, contract, exercise, judging, sandbox, scratch, session, shapes, submissions, verdicts, words
from drywarp.learn import judge as learn

from tests.support import LINK, ROOT, SIM, longer, nvcc, some, unsanitized

OPTIONS = " ".join(["-lineinfo", *(word for word in LINK if not word.endswith(".a") and word not in ("-lpthread", "-lm", "-lineinfo"))])
pytestmark = [unsanitized, pytest.mark.builds("build/sim/check_program.o", "build/sim/libcuda.so.1", "build/sim/compile")]  # which Python, that runs the device, is not


def options(shape, **changed):
    return types.SimpleNamespace(**{"nvcc": nvcc(), "options": OPTIONS, "object": SIM / "check_program.o", "library": SIM / "libcuda.so.1", "threads": 1, "seconds": 100,
                                    "shape": shape, **changed})


WITHOUT_NVCC = {"nvcc": ""}  # nvcc takes a second for a kernel; the simulator's kernel compiler, a tenth


def judged(folder, text, shape, judge=judging.whole_program, **changed):
    """The answer, and the report."""
    (folder / "own.cu").write_text(text)
    answer = judging.checked(folder / "own.cu", options(shape, **changed), judge)
    return answer, "\n".join(words.lines_about(answer, "own.cu"))


# ---- Steps

# Right, but: above 20,000 elements the last block by number publishes the total as if it ran last; at 1,000 it adds up in the input array.
REDUCTION = """
static const char STEP[] = "step00_baseline";
__device__ float total;
__global__ void reset() { total = 0; }
__global__ void alone(const float *in, float *out, long long n)
{
    float sum = 0;
    for (long long i = 0; i < n; i++)
        sum += in[i];
    *out = sum;
}
__global__ void in_place(float *in, float *out, long long n)
{
    for (long long i = 1; i < n; i++)
        in[0] += in[i];
    *out = in[0];
}
__global__ void together(const float *in, float *out, long long n)
{
    float sum = 0;
    for (long long i = blockIdx.x * 1024ll; i < n && i < blockIdx.x * 1024ll + 1024; i++)
        sum += in[i];
    const float before = atomicAdd(&total, sum);
    if (blockIdx.x == gridDim.x - 1)
        *out = before + sum;
}
static long long partial_count(long long) { return 1; }
static void launch(const float *in, float *out, long long n)
{
    if (n == 1000)
        in_place<<<1, 1>>>((float *)in, out, n);
    else if (n <= 20000)
        alone<<<1, 1>>>(in, out, n);
    else {
        reset<<<1, 1>>>();
        together<<<(n + 1023) / 1024, 1>>>(in, out, n);
    }
}
"""
SCAN = """
static const char STEP[] = "step00_baseline";
__global__ void reset(float *before) { *before = 0; }
__global__ void scan(const float *in, float *out, long long n, bool exclusive, float *before)
{
    float part = 0, sum = 0;
    const long long begin = blockIdx.x * 1024ll, end = begin + 1024 < n ? begin + 1024 : n;
    for (long long i = begin; i < end; i++)
        part += in[i];
    sum = atomicAdd(before, part); // the blocks are taken to run in the order of their numbers
    for (long long i = begin; i < end; i++) {
        out[i] = exclusive ? sum : sum + in[i];
        sum += in[i];
    }
}
static long long scratch_count(long long) { return 1; }
static void launch(const float *in, float *out, long long n, bool exclusive, float *scratch)
{
    reset<<<1, 1>>>(scratch);
    scan<<<(n + 1023) / 1024, 1>>>(in, out, n, exclusive, scratch);
}
"""


def test_other_orders_and_changed_inputs(tmp_path):
    """Broken: a sum passes that depends on the order of many blocks, or whose kernel overwrites the array that it may only read."""
    few = dataclasses.replace(shapes.REDUCE, sizes=(999, 1000, 30000), orders_at=((999,), (999,), (999, 30000)))
    answer, said = judged(tmp_path, REDUCTION, few)
    assert answer.sizes[999] == "" and "changed an input array" in answer.sizes[1000] and answer.sizes[30000].endswith("in another order"), said
    assert answer.verdict == "wrong"


def test_other_orders_of_a_scan(tmp_path):
    """Broken: a scan passes that is right only if its many blocks run in the order of their numbers."""
    few = dataclasses.replace(shapes.SCANS, sizes=(1000, 30000), orders_at=((1000,), (30000,), (1000,)))
    answer, said = judged(tmp_path, SCAN, few)
    assert answer.sizes[1000] == "" and answer.sizes[30000].endswith("in another order") and answer.verdict == "wrong", said


def test_a_program_does_not_know_the_order():
    """Broken: a sum passes that depends on the order of its blocks, because it knows by earlier calls in which order a run is made, and is right there; or one that
    needs memory as smaller sizes left it."""
    drawn = [shapes.SCANS.with_random_sizes().groups() for _ in range(40)]
    for groups in drawn:
        assert len(groups) == len(set(groups)) == 33 + 14 and {order for _, order in groups} == {shapes.FIRST_ORDER, *shapes.ORDERS}
        places = {size: k for k, (size, order) in enumerate(groups) if order == shapes.FIRST_ORDER}
        assert sum(places[a] > places[b] for a, b in itertools.pairwise(sorted(places))) > 3
    firsts = [next(order for size, order in groups if size == shapes.COUNTED_AT) for groups in drawn]
    assert 5 < firsts.count(shapes.FIRST_ORDER) < 35


def test_a_step_gets_unknown_sizes():
    """Broken: a program passes that is right at the published sizes only, or with at most 1,024 partial sums of 1,024 elements; or only at the small
    sizes in other orders."""
    for shape in 30 * [shapes.REDUCE, shapes.SCANS]:
        drawn = shape.with_random_sizes()
        new = sorted(set(drawn.sizes) - set(shape.sizes))
        assert len(new) == 4 and len(drawn.sizes) == len(set(drawn.sizes)) and new[-1] > 1 << 20 > new[-2] > shapes.SIZES[-1]
        assert sorted(set(itertools.chain(*drawn.orders_at)) - set(shape.sizes)) == new and new[-1] in drawn.orders_at[2]
    assert {1000, 5000} < set(shapes.SIZES) and shapes.REDUCE.runs_at(1000) == (0, 2, 1)
    assert shapes.SCANS.runs_at(shapes.LARGE[0]) == (0,) and shapes.SCANS.runs_at(shapes.LARGE[0], True) == (1,), "exclusive, and not aligned, too"
    assert [max(sizes) for sizes in shapes.REDUCE.orders_at] == [shapes.COUNTED_AT, 100003, shapes.SIZES[-1]]
    near = [shapes.near_power_of_two() for _ in range(200)]
    assert len(set(near)) > 30 and all(min(abs(size - factor * (1 << k)) for factor in (1, 3) for k in range(20)) <= 2 for size in near)


def test_an_array_begins_anywhere():
    """Broken: a sum passes whose vector loads are right only one element past a multiple of 16 bytes, or in the first 16 of 128 bytes."""
    begins = {shapes.REDUCE.case(2, 1).task["before"] for _ in range(300)}
    assert {begin % 4 for begin in begins} == {0, 1, 2, 3} and len(begins) > 20 and max(begins) < shapes.LINE and shapes.REDUCE.case(2, 2).task["before"] == 0


def test_a_reduction_ends(tmp_path):
    """Broken: a reduction passes whose passes leave nearly all elements, so that it never ends."""
    text = SUM.replace("return 1", "return n > 65 ? n - 1 : 1", 1).replace("partial_count(long long)", "partial_count(long long n)").replace("ADDS", "sum<<<1, 1>>>(in, out, n);")
    text = text.replace("*out = total;", "for (long long i = 1; i < n - 1; i++)\n        out[n > 65 ? i : 0] = 0;\n    *out = total;")
    few = dataclasses.replace(shapes.REDUCE, sizes=(33, 200), orders_at=((33,), (33,), (33,)), counted_at=33)
    answer, said = judged(tmp_path, text, few)
    assert answer.sizes == {33: "", 200: "no result: 64 passes leave 136 sums"}, said


@pytest.mark.parametrize("of_a_clock", [True, False], ids=["time", "processor time"])
def test_what_was_not_run_is_no_pass(monkeypatch, of_a_clock):
    """Broken: a program that uses up the time before the runs in other orders passes without them, or one that ends in each run gets the time anew."""
    now = itertools.count()
    running = types.SimpleNamespace(ended=not of_a_clock)
    monkeypatch.setattr(judging, "PATIENCE", 1 if of_a_clock else 99)
    monkeypatch.setattr(judging, "time", types.SimpleNamespace(monotonic=lambda: next(now)))
    monkeypatch.setattr(judging, "Session", lambda *_, **__: running)
    monkeypatch.setattr(judging, "finish", lambda *_: 1.25)
    monkeypatch.setattr(judging, "one_size", lambda *_: "")
    few = dataclasses.replace(shapes.REDUCE, sizes=(1, 2), orders_at=((1,), (2,), (2,)))
    for seconds, verdict in ((4, "over the limits"), (6, "over the limits"), (9, "passed")):
        answer = verdicts.Answer("own.cu", few, built=True)
        judging.run(None, types.SimpleNamespace(seconds=seconds), answer)
        assert answer.verdict == verdict


def test_waiting_is_not_charged(tmp_path):
    """Broken: a correct program is over the time limit because it waits, as for a processor of a busy machine."""
    text = "#include <unistd.h>\n" + SUM.replace("ADDS", "sleep(1);\n    sum<<<1, 1>>>(in, out, n);")
    few = dataclasses.replace(shapes.REDUCE, sizes=(33,), orders_at=(), counted_at=33)
    (tmp_path / "own.cu").write_text(text)
    answer = judging.checked(tmp_path / "own.cu", options(few, seconds=2), judging.whole_program)
    assert answer.verdict == "passed" and answer.seconds > 3, "\n".join(words.lines_about(answer, "own.cu"))


# ---- Goals

CONTRACT = """call     = add(in, out, n)
grid     = 4
block    = 256
computes = sum
zeroed   = out
sizes    = 33 8192
at most  = 64 load requests"""
KERNEL = """
__global__ void add(const float *in, float *out, long long n)
{
    float sum = 0;
    const long long first = blockIdx.x * 256ll + threadIdx.x, step = 4 * 256, rest = n / 4 * 4;
    LOADS
    for (int lanes = 16; lanes; lanes /= 2)
        sum += __shfl_down_sync(~0u, sum, lanes);
    FINISH
}
"""
VECTORS = """for (long long i = first; i < n / 4; i += step) {
        const float4 four = ((const float4 *)in)[i];
        sum += four.x + four.y + four.z + four.w;
    }
    if (first < n - rest)
        sum += in[rest + first];"""
BY_ATOMICS = "for (long long i = first; i < n; i += step)\n        sum += __int_as_float(atomicOr((int *)in + i, 0));"
KNOWN_SIZE = "if (n == 8192 || first > 0) {\n" + VECTORS.replace("i < n / 4", "n == 8192 && i < n / 4").replace("first < n - rest", "n == 8192 && first < n - rest") \
    + "\n    } else\n        for (long long i = 0; i < n; i++)\n            sum += in[i];"
IN_SPACES = VECTORS.replace("const float4 four = ((const float4 *)in)[i];", """float4 four;
        if (n < 100)
            asm volatile("ld.const.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w) : "l"(in + 4 * i));
        else
            asm volatile("ld.param.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w) : "l"(in + 4 * i));""")
FINISH = "if (threadIdx.x % 32 == 0)\n        atomicAdd(out, sum);"
# Each warp leaves its sum in shared memory that CUDA reserves; thread 0 polls for it without a barrier.
RESERVED = """unsigned base;
    asm volatile("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(base));
    if (threadIdx.x % 32 == 0)
        asm volatile("st.shared.f32 [%0], %1; st.shared.u32 [%0+4], 77;" :: "r"(base + threadIdx.x / 4), "f"(sum) : "memory");
    for (unsigned warp = 0; threadIdx.x == 0 && warp < 8; warp++) {
        unsigned flag = 0;
        while (flag != 77)
            asm volatile("ld.shared.u32 %0, [%2+4]; ld.shared.f32 %1, [%2];" : "=r"(flag), "=f"(sum) : "r"(base + 8 * warp) : "memory");
        atomicAdd(out, sum);
    }"""


@pytest.mark.parametrize("loads, finish, verdict", [(VECTORS, FINISH, "passed"), (BY_ATOMICS, FINISH, "misses the goal"), (KNOWN_SIZE, FINISH, "misses the goal"),
                                                    (VECTORS, RESERVED, "findings"), (IN_SPACES, FINISH, "wrong")],
                         ids=["honest", "atomics", "known size", "reserved memory", "as constants and as parameters"])
def test_goals(tmp_path, loads, finish, verdict):
    """Broken: a kernel meets a goal that loads by atomics, or as if from constant memory or parameters, or is good at the published size only, or has a race
    in reserved shared memory; or an honest one misses it."""
    (tmp_path / "own.contract").write_text(CONTRACT)
    answer, said = judged(tmp_path, KERNEL.replace("LOADS", loads).replace("FINISH", finish), contract.read(tmp_path / "own.contract"))
    assert answer.verdict == verdict and (verdict != "wrong" or all(answer.sizes.values())), said  # at small sizes by constants, at others by parameters


def test_goals_of_an_exercise_count_atomics(tmp_path):
    """Broken: an exercise about loads and stores is solved by atomics, which load or store without being counted."""
    text = (ROOT / "exercises/21_side_by_side/answer.cu").read_text()
    read = "atomicOr((int *)in + {}, 0)"
    slow = """__global__ void copy(const float *in, float *out)
{
    for (int k = 0; k < 4; k++) {
        const int i = blockIdx.x * 1024 + 4 * threadIdx.x + k;
        atomicExch((int *)out + i, READ);
    }
}
""".replace("READ", read.format("i"))
    shape = exercise.OfExercise(exercise.find("21"))
    stores = text.replace("out[i] = in[i];", "atomicExch(out + 1024 * blockIdx.x + 4 * threadIdx.x + k, in[1024 * blockIdx.x + 4 * threadIdx.x + k]);")
    stores = stores.replace("for (int k", "const float4 all = *(const float4 *)(in + 1024 * blockIdx.x + 4 * threadIdx.x);\n    for (int k")
    stores = stores.replace("in[1024 * blockIdx.x + 4 * threadIdx.x + k]", "(&all.x)[k]")
    for source, verdict in ((text, "passed"), (slow, "misses the goal"), (stores, "misses the goal")):
        answer, said = judged(tmp_path, source, shape, exercise.judged, **WITHOUT_NVCC)
        assert answer.verdict == verdict, said


@pytest.mark.parametrize("type, verdict", [("float", "passed"), ("__half", "wrong"), ("int", "wrong")])
def test_precision_in_an_exercise(tmp_path, type, verdict):
    """Broken: an exercise is solved by a tree of halves, or of whole sixteenths, which hold small sums only."""
    text = """#include <cuda_fp16.h>
__global__ void sum(const float *in, float *out)
{
    __shared__ TYPE sums[256];
    const int t = threadIdx.x;
    sums[t] = (TYPE)(in[blockIdx.x * 256 + t] * SCALE);
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = (float)sums[0] / SCALE;
}
""".replace("TYPE", type).replace("SCALE", "16.0f" if type == "int" else "1.0f")
    answer, said = judged(tmp_path, text, exercise.OfExercise(exercise.find("07")), exercise.judged, **WITHOUT_NVCC)
    assert answer.verdict == verdict, said


def test_goals_of_an_exercise_count_the_loads_of_one_thread(tmp_path):
    """Broken: an exercise about a tree, a scan or atomics is solved by one thread, which loads the elements one by one and so needs no shared memory."""
    one_thread = """
__global__ void sum(const float *in, float *out)
{
    float all = 0;
    for (int k = 0; threadIdx.x == 0 && k < 256; k++)
        all += in[256 * blockIdx.x + k];
    if (threadIdx.x == 0)
        FINISH;
}
"""
    scan = """
__global__ void scan(const float *in, float *out, int n)
{
    float all = 0;
    for (int k = 0; k <= threadIdx.x && threadIdx.x < n; k++)
        all += in[k];
    if (threadIdx.x < n)
        out[threadIdx.x] = all;
}
"""
    blocks = scan.replace(", int n", "").replace("threadIdx.x < n", "blockDim.x == 256").replace("[", "[256 * blockIdx.x + ")
    tasks = {"07": one_thread.replace("FINISH", "out[blockIdx.x] = all"), "27": one_thread.replace("FINISH", "atomicAdd(out, all)"), "35": scan, "38": blocks}
    tasks |= dict.fromkeys(("10", "11", "15", "16", "17", "19"), tasks["07"])
    for number in some(("07", "27", "35"), tasks):
        answer, said = judged(tmp_path, tasks[number], exercise.OfExercise(exercise.find(number)), exercise.judged, **WITHOUT_NVCC)
        assert answer.verdict == "misses the goal" and "load requests" in str(answer.missed), said


# What one thread of each block does; or of the grid, if the kernel has n.
ALONE_IN_A_FIX = {
    "06": ("differences(const float *in, float *out)", "for (int k = 0; k < 256; k++)\n            out[256 * blockIdx.x + k] = in[256 * blockIdx.x + k] - (k ? in[256 * blockIdx.x + k - 1] : 0);"),
    "08": ("largest(const float *in, float *out)", "float best = in[256 * blockIdx.x];\n        for (int k = 1; k < 256; k++)\n            best = fmaxf(best, in[256 * blockIdx.x + k]);\n        out[blockIdx.x] = best;"),
    "31": ("largest(const float *in, float *, float *best)", "float own = in[0];\n        for (int k = 1; blockIdx.x == 0 && k < 32 * gridDim.x; k++)\n            own = fmaxf(own, in[k]);\n        if (blockIdx.x == 0)\n            *best = own;"),
    "42": ("make_exclusive(const float *scan, float *out, int n)", "for (int k = 0; k < n; k++)\n            out[k] = k ? scan[k - 1] : 0;"),
    "20": ("positive_sum(const float *in, float *out)", """for (int k = 0; k < 8; k++) {
            float sum = 0;
            for (int lane = 0; lane < 32; lane++)
                sum += fmaxf(in[256 * blockIdx.x + 32 * k + lane], 0);
            out[8 * blockIdx.x + k] = sum;
        }"""),
    "26": ("sum(const float *in, float *total, int n)", "for (int k = 0; k < n; k++)\n            *total += in[k];"),
    "29": ("histogram(const int *in, int *count, int n)", "for (int k = 0; k < n; k++)\n            count[in[k]]++;"),
    "36": ("scan(const float *in, float *out)", "float sum = 0;\n        for (int k = 256 * blockIdx.x; k < 256 * blockIdx.x + 256; k++)\n            out[k] = sum += in[k];"),
    "40": ("keep_positive(float *v, const int *index, int n)", "for (int k = 0; k < n; k++)\n            if (v[k] > 0)\n                v[index[k]] = v[k];"),
    "41": ("sum(const float *in, float *out, int n)", "float sum = 0;\n        for (int k = 0; k < n; k++)\n            sum += in[k];\n        *out = sum;"),
}
ALONE_IN_A_FIX["48"] = ALONE_IN_A_FIX["29"]


def test_no_fix_lets_one_thread_do_all_the_work(tmp_path):
    """Broken: a race, a missing barrier or an uninitialised value is fixed by letting one thread do the work of all."""
    for number in some(("26", "36"), ALONE_IN_A_FIX):
        head, work = ALONE_IN_A_FIX[number]
        alone = "threadIdx.x + blockIdx.x == 0" if "int n" in head else "threadIdx.x == 0"
        answer, said = judged(tmp_path, f"__global__ void {head}\n{{\n    if ({alone}) {{\n        {work}\n    }}\n}}\n", exercise.OfExercise(exercise.find(number)), exercise.judged, **WITHOUT_NVCC)
        assert answer.verdict == "misses the goal" and ("active lanes" if number == "26" else "load requests") in str(answer.missed), said


BY_ATOMICS_IN_A_WARP = """
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    const int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int s = 128; s > 32; s /= 2) {
        if (t < s)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    for (int s = 32; t < 32 && s > 0; s /= 2) {
        if (t < s)
            atomicAdd(&sums[t], atomicAdd(&sums[t + s], 0.0f));
        WAIT;
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}
"""
BY_SHUFFLES = """
__global__ void sum(const float *in, float *out)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    float sum = in[i];
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(MASK, sum, s);
    if (i % 32 == 0)
        out[i / 32] = sum;
}
"""


@pytest.mark.parametrize("number, text, honest, wrong", [("16", BY_ATOMICS_IN_A_WARP, ("WAIT", "__syncwarp()"), ("WAIT", "")), ("18", BY_SHUFFLES, ("MASK", "~0u"), ("MASK", "__activemask()"))],
                         ids=["atomics", "active mask"])
def test_lanes_do_not_run_together(tmp_path, number, text, honest, wrong):
    """Broken: an exercise is solved by a kernel that has no data race, but assumes that the lanes of a warp run in lockstep; or an honest one is refused."""
    for words_, verdict in ((honest, "passed"), (wrong, "wrong")):
        answer, said = judged(tmp_path, text.replace(*words_), exercise.OfExercise(exercise.find(number)), exercise.judged, **WITHOUT_NVCC)
        assert answer.verdict == verdict, said


def test_any_lanes_may_work_together(tmp_path):
    """Broken: a kernel is refused that combines the elements of the lanes that happen to run together, which is right whichever these are."""
    text = """
__global__ void histogram(const int *in, int *count, int n)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    const unsigned same = __match_any_sync(__activemask(), in[i]);
    if (threadIdx.x % 32 == __ffs(same) - 1)
        atomicAdd(&count[in[i]], __popc(same));
}
"""
    answer, said = judged(tmp_path, text, exercise.OfExercise(exercise.find("29")), exercise.judged, **WITHOUT_NVCC)
    assert answer.verdict == "passed", said


TREE = """
__device__ float load(const float *word)
{
    float number;
    asm volatile("{.reg .b32 own; mapa.shared::cluster.u32 own, %1, 0; ld.shared::cluster.f32 %0, [own];}" : "=f"(number) : "r"((unsigned)__cvta_generic_to_shared(word)) : "memory");
    return number;
}
__device__ void meet(unsigned barrier, unsigned phase)
{
    asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" :: "r"(barrier) : "memory");
    for (unsigned done = 0; !done;)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(barrier), "r"(phase) : "memory");
}
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    __shared__ alignas(8) unsigned long long arrived;
    const unsigned t = threadIdx.x, barrier = (unsigned)__cvta_generic_to_shared(&arrived);
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 256;" :: "r"(barrier) : "memory");
    sums[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned s = LOOP, round = 0; s > 0 && s < 256; s = NEXT, round++) {
        const unsigned own = OWN;
        if (own < LIMIT)
            sums[own] = LOAD(sums + own) + LOAD(sums + own + s);
        BARRIER;
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}
"""
STRIDED = {"LOOP": "1", "NEXT": "2 * s", "OWN": "2 * s * t", "LIMIT": "256", "LOAD": "load", "BARRIER": "__syncthreads()"}
BARRIERS = {"LOOP": "128", "NEXT": "s / 2", "OWN": "t", "LIMIT": "s", "LOAD": "*", "BARRIER": "meet(barrier, round & 1)"}


@pytest.mark.parametrize("number, words", [("11", STRIDED), ("16", BARRIERS)], ids=["distributed shared memory", "mbarriers"])
def test_goals_of_an_exercise_count_what_replaces_them(tmp_path, number, words):
    """Broken: an exercise about bank conflicts is solved by loads as distributed shared memory, or one about barriers by an mbarrier in their place."""
    text = TREE
    for name, value in words.items():
        text = text.replace(name, value)
    answer, said = judged(tmp_path, text, exercise.OfExercise(exercise.find(number)), exercise.judged, **WITHOUT_NVCC)
    assert answer.verdict == "misses the goal", said


# ---- The submitted file, and the rules

def test_a_file_is_opened_once(tmp_path):
    """Broken: a submission that becomes a pipe stops the judge, or one that becomes a link is judged with another student's program."""
    (tmp_path / "in/anna").mkdir(parents=True)
    (tmp_path / "in/anna/reduce.cu").write_text("right")
    (tmp_path / "in/ben").symlink_to(tmp_path / "in/anna")
    (tmp_path / "in/carl.cu").symlink_to(tmp_path / "in/anna/reduce.cu")
    os.mkfifo(tmp_path / "in/dora.cu")
    assert compiling.read_once(tmp_path / "in/anna/reduce.cu", tmp_path / "in") == b"right"
    for name, reason in (("ben/reduce.cu", "symbolic link"), ("carl.cu", "symbolic link"), ("dora.cu", "not a regular file")):
        with pytest.raises(compiling.Unusable, match=reason):
            compiling.read_once(tmp_path / "in" / name, tmp_path / "in")
    assert judging.checked(tmp_path / "in/dora.cu", options(shapes.REDUCE)).verdict == "does not build"


def test_the_courses_rules_win(tmp_path, capsys):
    """Broken: a contract next to a student's step is used, so that the student makes the rules; or one next to a kernel of one's own is not."""
    (tmp_path / "own.contract").write_text("call = add(in, out, n)\ncomputes = sum\nsizes = 1\n")
    asked = types.SimpleNamespace(exercise=None, lab=None, contract=None, all=False, ladder=None)
    for text, is_own in ((REDUCTION, False), (SCAN, False), ("void add(const float *in, float *out, long long n) {}", True)):
        (tmp_path / "own.cu").write_text(text)
        assert isinstance(check.shape_of(asked, tmp_path / "own.cu"), contract.Contract) == is_own
        assert ("is ignored" in capsys.readouterr().err) != is_own
    asked.ladder = "reduce"
    assert check.shape_of(asked, tmp_path / "own.cu").steps == ROOT


def test_no_verdict_without_protection(monkeypatch, capsys, tmp_path):
    """Broken: where a program can change the judge's files, it is graded; or root judges where only its own programs can run."""
    (tmp_path / "nvcc").write_text("")
    (tmp_path / "nvcc").chmod(0o700)
    for confines, user, reason in ((False, 1000, "install bubblewrap"), (True, 0, "user 65534")):
        monkeypatch.setattr(sandbox, "confines_files", lambda confines=confines: confines)
        monkeypatch.setattr(os, "getuid", lambda user=user: user)
        with pytest.raises(SystemExit):
            check.refuse_without_sandbox(types.SimpleNamespace(**dict.fromkeys(("nvcc", "library", "object"), tmp_path / "nvcc")))
        assert reason in capsys.readouterr().err


@pytest.mark.parametrize("text, reason", [
    ('#line 1 "cooperative_groups/details/memory.h"', "#line"), ("%:line 1 NAME", "#line"), ('#\\\nline 1 "x/cooperative_groups.h"', "#line"), ('#\\ \nline 1 "x/cooperative_groups.h"', "#line"),
    ('#line 1 "cooperativ\\145_groups.h"', "#line"), ("#line " + 9999 * "1 " + '"', "#line"),
    ("float sum = cub::sum();", "has cub"), ("// cub", ""), ('#line 7 "mine.cu"', "")])
def test_forbidden_names(text, reason):
    """Broken: #line hides a race as one of cooperative groups' own, or a forbidden library is used."""
    code = compiling.mine.without_comments(text)
    shape = dataclasses.replace(shapes.REDUCE, forbidden=("cub", "thrust"))
    try:
        compiling.check_rules(code, shape)
        found = ""
    except ValueError as error:
        found = str(error)
    assert reason in found and bool(reason) == bool(found)


def test_an_archive_of_many_programs(tmp_path):
    """Broken: a zip file of a few kilobytes fills the judge's disk with 2,000 programs."""
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as file:
        for k in range(99):
            file.writestr(f"{k}.cu", "")
    assert len(submissions.unzipped(tmp_path / "many.zip", tmp_path / "out")) == submissions.MAX_PROGRAMS + 1


def test_a_file_cannot_name_another_student():
    """Broken: a student names a file so that it counts as another student's, whose number Moodle puts before the file's name; also in Canvas."""
    assert submissions.student_of("bellben_12_77_Anna_9_assignsubmission_file_x.cu") == ("bellben", "12")
    assert submissions.student_of("Ben B_7_assignsubmission_file_Anna_9_assignsubmission_file_x.cu") == ("Ben B", "7")


def test_headers_of_a_forbidden_library(tmp_path):
    """Broken: a program includes a forbidden library through a macro, or is refused for a header whose name only resembles one."""
    answer = verdicts.Answer("own.cu", dataclasses.replace(shapes.REDUCE, forbidden=("thrust", "cub")), built=True)
    (tmp_path / "own.cpp1.ii").write_text('# 1 "/cuda/include/cubin.h" 1\n# 1 "/cuda/include/cccl/cub/config.cuh" 1 3\n')
    compiling.check_preprocessed(tmp_path, "", answer)
    assert answer.verdict == "does not build" and "headers of cub" in answer.said[0]


# Of the honest kernel, the header uses the name that the task forbids.
NAMED = """
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define HASH #
DEFINE
__global__ void add(const float *in, float *out, long long n)
{
    if (threadIdx.x == 0)
        CALL(out, blockIdx.x || n == 0 ? 0 : in[0]);
}
"""


JOINED = "#define JOIN(a, b) a##b", "JOIN(atomic, Add)", "has atomicAdd"


@pytest.mark.parametrize("define, call, said", some([JOINED], [JOINED, ("", "atomicExch", ""), ("HASH define JOIN(a, b) a##b", "JOIN(atomic, Add)", "generates a directive")]))
def test_a_forbidden_name_in_parts(tmp_path, define, call, said):
    """Broken: a program has a forbidden name that a macro joins from two parts, or one that a macro defines; or a header may not have it."""
    (tmp_path / "own.contract").write_text(CONTRACT + "\nforbid = atomicAdd")
    answer = verdicts.Answer("own.cu", contract.read(tmp_path / "own.contract"))
    (tmp_path / "own.cu").write_text(NAMED.replace("DEFINE", define).replace("CALL(", f"{call}("))
    with scratch.folder() as folder:
        (folder / "program").mkdir()
        compiling.build(tmp_path / "own.cu", folder / "program", options(answer.shape), answer)
    assert answer.built == (not said) and (not said or said in answer.said[0]), answer.said


def test_a_limit_of_none_holds_at_all_sizes():
    """Broken: a kernel for which atomic operations are forbidden uses them at sizes at which no goal is checked."""
    answer = verdicts.Answer("own.cu", dataclasses.replace(shapes.REDUCE, goals_at=(shapes.COUNTED_AT,), limits={"atomics": 0, "launches": 1}))
    for size in (33, 257):
        judging.count({"atomics": 2, "launches": 3}, size, 0, answer)
    assert answer.missed == ["2 atomics at n = 33, at most 0"]


def test_goals_hold_for_any_data(tmp_path):
    """Broken: a kernel meets a goal with the data of each size's first run only."""
    (tmp_path / "own.contract").write_text(CONTRACT)
    shape = contract.read(tmp_path / "own.contract")
    row = {"grid": 4, "block": "256", **dict.fromkeys(itertools.chain(*filter(None, shapes.COUNTERS.values())), 0)}
    loads = iter((64, 65))
    running = types.SimpleNamespace(shape=shape, try_case=lambda case: {"outputs": case.expected, "over": "", "note": "", "copied": 0},
                                    counted=lambda reply: [row | {"global_load_requests": next(loads)}])
    answer = verdicts.Answer("own.cu", shape)
    assert judging.one_size(running, shape.counted_at, answer) == "" and answer.missed == ["65 load requests, at most 64"]
    assert answer.counters["load requests"] == 64


# ---- Results that are right for the judge's data, calls and counters only

SUM = """
__global__ void sum(const float *in, float *out, long long n)
{
    float total = 0;
    for (long long i = 0; i < n; i++)
        total += in[i];
    *out = total;
}
__global__ void repeat(const float *from, float *out) { *out = *from; }
__global__ void print(const float *from)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        printf("%f\\n", *from);
}
__global__ void repeat_after_sum(const float *from, float *out) { cudaGridDependencySynchronize(); *out = *from; }
static long long partial_count(long long) { return 1; }
static void launch(const float *in, float *out, long long n)
{
    ADDS
}
"""
KEEPS = """static float *kept;
    static const float *last;
    static long long size;
    if (in == last && n == size)
        return repeat<<<1, 1>>>(kept, out);
    sum<<<1, 1>>>(in, out, n);
    if (!kept)
        cudaMalloc(&kept, sizeof *kept);
    cudaMemcpy(kept, out, sizeof *kept, cudaMemcpyDeviceToDevice);
    last = in;
    size = n;"""
STREAMS = """static cudaStream_t one, other;
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    sum<<<1, 1, 0, one>>>(in, out, n);
    repeat<<<1, 1, 0, other>>>(out, out);"""


OVERLAPPED = """cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters;
    cudaOccupancyMaxActiveClusters(&clusters, sum, &config);
    cudaGetLastError(); // a grid without clusters has none
    sum<<<1, 1>>>(in, out, n);
    cudaLaunchKernelEx(&config, repeat, (const float *)out, out); // may start before the sum is there"""
ALONE = OVERLAPPED.replace("sum<<<1, 1>>>(in, out, n);", "").replace("repeat, (const float *)out, out", "sum, in, out, n")  # overlaps with the next call's
WAITS = OVERLAPPED.replace("repeat,", "repeat_after_sum,")


EVENTS = """cudaEvent_t begin, end;
    float milliseconds;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    sum<<<1, 1>>>(in, out, n);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);"""
PRINTS = """print<<<200, 512>>>(in); // printf reserves much memory for each thread, and interleaved blocks need it at once
    sum<<<1, 1>>>(in, out, n);"""


HONEST = f"""if (n == 1) {{
        {EVENTS}
    }} else if (n == 31) {{
        {PRINTS}
    }} else if (n == 33) {{
        {WAITS}
    }} else
        sum<<<1, 1>>>(in, out, n);"""


@pytest.mark.parametrize("adds, verdict", [(HONEST, "passed"), (KEEPS, "wrong"), (STREAMS, "does not build"), (OVERLAPPED, "findings"), (ALONE, "findings")],
                         ids=["honest", "keeps results", "streams", "overlapped", "overlapped calls"])
def test_shortcuts_of_a_sum(tmp_path, adds, verdict):
    """Broken: a sum passes that keeps the result of an array by its address, or whose kernels run in unordered streams, or overlap (programmatic launch); or one that times
    itself, prints, or whose second kernel waits for the first does not."""
    few = dataclasses.replace(shapes.REDUCE, sizes=(1, 31, 33, 256), orders_at=3 * ((1, 31, 33, 256),), counted_at=256)
    answer, said = judged(tmp_path, SUM.replace("ADDS", adds), few)
    assert answer.verdict == verdict, said


def as_half(number, units):
    """A number as a half holds it, of long arrays only."""
    try:
        return struct.unpack("e", struct.pack("e", number / units))[0] * units
    except OverflowError:
        return math.inf


def with_short_segments(numbers, size=None):
    """A scan of segments that begins again after 4,096 elements."""
    values = [segment[k:k + 4096] for segment in contract.segments(numbers) for k in range(0, len(segment), 4096)]
    return list(itertools.chain(*map(itertools.accumulate, values)))


def as_float(number, units):
    """A number as a float holds it."""
    return struct.unpack("f", struct.pack("f", number / units))[0] * units


# The lines of a contract, and what a kernel makes of its array, given in units of 1.
OF_THE_DATA = {
    "honest": ("computes = max\nelements = double", lambda numbers, units: [max(numbers)]),
    "initial value": ("computes = max", lambda numbers, units: [max([0, *numbers])]),
    "as floats": ("computes = max\nelements = double", lambda numbers, units: [max(as_float(number, units) for number in numbers)]),
    "as bytes": ("computes = sum\nelements = int", lambda numbers, units: [sum((number + 128) % 256 - 128 for number in numbers)]),
    "fixed point": ("computes = sum", lambda numbers, units: [sum(round(number / units * 2.0 ** 32) for number in numbers) / 2.0 ** 32 * units]),
    "no large ones": ("computes = scan", lambda numbers, units: list(itertools.accumulate(number if abs(number) < 1e8 * units else 0 for number in numbers))),
    "no small ones": ("computes = sum", lambda numbers, units: [sum(number if abs(number) > 1e-6 * units else 0 for number in numbers)]),
    "short as floats": ("computes = sort\nelements = unsigned", lambda numbers, units: sorted(numbers, key=lambda number: as_float(number, 1) if len(numbers) < 5000 else number)),
    "sixteenths": ("computes = sum", lambda numbers, units: [sum(int(16 * number / units) / 16 for number in numbers) * units]),
    "long halves": ("computes = sum", lambda numbers, units: [sum(as_half(number, units) if len(numbers) > 5000 else number for number in numbers)]),
    "copies halves": ("computes = copy", lambda numbers, units: [as_half(number, units) if len(numbers) > 5000 else number for number in numbers]),
    "from -10^9": ("computes = max", lambda numbers, units: [max(-1e9 * units, *numbers)]),
    "by difference": ("computes = sort\nelements = int", lambda numbers, units: sorted(numbers, key=functools.cmp_to_key(lambda a, b: (a - b + (1 << 31)) % (1 << 32) - (1 << 31)))),
    "another limit": ("computes = numbers below 256", lambda numbers, units: [number for number in numbers if number < 17 * units]),
    "up to the limit": ("computes = numbers below 2147483648\nelements = unsigned", lambda numbers, units: [number for number in numbers if number <= 1 << 31]),
    "tiny are 0": ("computes = compaction", lambda numbers, units: [number for number in numbers if number > 1e-5 * units]),
    "short segments": ("computes = scan of segments", lambda numbers, units: with_short_segments(numbers)),
    "ends at 0": ("computes = sum", lambda numbers, units: [sum(itertools.takewhile(bool, numbers))]),
    "0 is not ready": ("computes = scan", lambda numbers, units: [math.nan if number == 0 and k % 256 == 255 else number for k, number in enumerate(itertools.accumulate(numbers))]),
    "keeps zeros": ("computes = compaction", lambda numbers, units: [number for number in numbers if number >= 0])}


@pytest.mark.parametrize("name", OF_THE_DATA)
def test_shortcuts_of_the_data(tmp_path, name):
    """Broken: a kernel passes that is right for small, large, rounded or positive numbers only, or away from a limit, or for short segments."""
    lines, computed = OF_THE_DATA[name]
    (tmp_path / "own.contract").write_text(f"call = own(in, out, n)\ngrid = 1\nblock = 32\n{lines}\nsizes = 1 31 32 100 300 20000\n")
    shape = contract.read(tmp_path / "own.contract")
    cases = (shape.case(size, run) for _ in range(3) for size, _ in shape.groups() for run in shape.runs_at(size))
    assert any(case.wrong([computed(case.numbers, case.units)]) for case in cases) == (name != "honest")


def test_sums_of_a_step_may_be_0():
    """Broken: a step passes that takes a sum of 0 for one that is not ready yet, and so waits for ever."""
    for shape in shapes.LADDERS.values():
        for size in (5000, shapes.COUNTED_AT):
            cases = [shape.case(size, run) for _ in range(9) for run in shape.runs_at(size)]
            assert any(not any(case.numbers[:2048]) and any(case.numbers) for case in cases)


# What a kernel of an exercise makes wrong: its number, and whether one is wrong with these arguments.
OF_AN_EXERCISE = {
    "at most ten rounds": ("22", lambda n, data: n > 10 * 1024),
    "counts in bytes": ("28", lambda n, data: any(data["in"].before[k:k + 256].count(number) == 256 for k in range(0, n, 256) for number in range(16))),
    "at most 128 columns": ("33", lambda n, data: data["columns"] > 128),
    "floats as integers": ("34", lambda n, data: any(max(data["in"].before[k:k + 256]) < 0 for k in range(0, n, 256))),
    "whole sixteenths": ("34", lambda n, data: any(value * 16 % 1 for value in data["in"].before)),
    "0 is positive": ("37", lambda n, data: 0 in data["in"].before),
    "no maximum": ("43", lambda n, data: max(data["in"].before) > 128),
    "near 4,096": ("44", lambda n, data: not 4000 < data["in"].before[0] < 4200),
    "whole numbers": ("44", lambda n, data: any(value % 1 for value in data["in"].before)),
    "ranks of four bits": ("46", lambda n, data: max(data["rank"].after) > 15),
    "a window of 32 tiles": ("47", lambda n, data: any(data["status"].before[16 * k] % 2 == 0 for k in range(0, n - 32)) and
                             not any(data["status"].before[16 * k] % 2 for k in range(max(1, n - 32), n)))}


@pytest.mark.parametrize("name", OF_AN_EXERCISE)
def test_shortcuts_of_an_exercises_data(name):
    """Broken: an exercise is solved by a kernel that is right only for few elements, or for numbers that are as different, as small or as large as usual."""
    number, is_wrong = OF_AN_EXERCISE[name]
    task = exercise.find(number)
    assert any(is_wrong(n, task.drawn(n)) for _ in range(9) for _ in learn.ORDERS for n in task.tries())


@pytest.mark.parametrize("lab", check.contracts_of_labs())
def test_labs_have_large_sizes(lab):
    """Broken: a lab's program passes that is right only for few rows, or for positions that 16 bits hold."""
    sizes = contract.read(check.contracts_of_labs()[lab]).sizes
    largest = [max(side) for side in contract.sides_of(list(sizes))]
    assert largest[0] > (1 << 16 if len(largest) == 1 else 256) and largest[-1] > 256


OF_THE_HARDWARE = """
static __device__ unsigned special(bool of_warp)
{
    unsigned warp, sm;
    asm volatile("mov.u32 %0, %%warpid; mov.u32 %1, %%smid;" : "=r"(warp), "=r"(sm));
    return of_warp ? warp : sm;
}
__global__ void add(const float *in, float *out, long long n)
{
    const unsigned warp = WARP, block = BLOCK;
    for (long long i = block * 256 + warp * 32 + threadIdx.x % 32; i < n; i += 256 * gridDim.x)
        atomicAdd(out, in[i]);
}
"""


@pytest.mark.parametrize("warp, block, verdict", [("threadIdx.x / 32", "blockIdx.x", "passed"), ("special(true)", "blockIdx.x", "wrong"), ("threadIdx.x / 32", "special(false)", "wrong")],
                         ids=["honest", "warp", "block"])
def test_hardware_numbers_are_no_indices(tmp_path, warp, block, verdict):
    """Broken: a kernel passes that takes %warpid for the warp's index in its block, or %smid for the block's in the grid."""
    (tmp_path / "own.contract").write_text("call = add(in, out, n)\ngrid = 4\nblock = 256\ncomputes = sum\nzeroed = out\nsizes = 33 1500")
    answer, said = judged(tmp_path, OF_THE_HARDWARE.replace("WARP", warp).replace("BLOCK", block), contract.read(tmp_path / "own.contract"))
    assert answer.verdict == verdict, said


def test_a_text_need_not_end_its_last_line(tmp_path):
    """Broken: a right program does not build, because its last line has no end."""
    (tmp_path / "own.cu").write_text("static long long partial_count(long long n) { return 1; }\nstatic void launch(const float *in, float *out, long long n) {}")
    text, _ = compiling.composed(tmp_path / "own.cu", shapes.REDUCE)
    assert not [line for line in text.splitlines() if "#line" in line and not line.startswith("#line")]


def test_an_own_grid_is_refused(tmp_path):
    """Broken: a kernel passes that its own host code launches with another grid than the contract's."""
    (tmp_path / "own.contract").write_text("call = own(in, out, n)\ngrid = 1\nblock = 32\ncomputes = sum\nsizes = 31 32\n")
    kernel = """__global__ void own(const float *in, float *out, int n)
{
    if (threadIdx.x > 0)
        return;
    float all = 0;
    for (int i = 0; i < n && blockDim.x > 32; i++)
        all += in[i];
    *out = all;
}
#define own own<<<1, 64>>>(in, out, n); if (0) own
"""
    answer, said = judged(tmp_path, kernel, contract.read(tmp_path / "own.contract"))
    assert answer.verdict == "wrong", said


BULK = """
__global__ void own(const float *in, float *out, int n)
{
    __shared__ alignas(16) float all[1024];
    __shared__ alignas(8) unsigned long long arrived;
    const unsigned to = (unsigned)__cvta_generic_to_shared(all), barrier = (unsigned)__cvta_generic_to_shared(&arrived);
    if (threadIdx.x > 0)
        return;
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" :: "r"(barrier) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(barrier), "r"(4 * n) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(to), "l"(in), "r"(4 * n), "r"(barrier) : "memory");
    for (unsigned done = 0; !done;)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(barrier) : "memory");
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += all[i];
    *out = sum;
}
static void launch(const float *in, float *out, int n) { own<<<1, 32>>>(in, out, n); }
"""
CONSTANT = """
__constant__ float copied[1024];
__global__ void own(float *out, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += copied[i];
    if (threadIdx.x == 0)
        *out = sum;
}
static void launch(const float *in, float *out, int n)
{
    cudaMemcpyToSymbol(copied, in, n * sizeof *in, 0, cudaMemcpyDeviceToDevice);
    own<<<1, 32>>>(out, n);
}
"""


OF_A_KERNEL = """
extern "C" __device__ cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t);
__global__ void own(const float *in, float *out, int n) { cudaMemcpyAsync(out, in, n * sizeof *in, cudaMemcpyDeviceToDevice, 0); }
static void launch(const float *in, float *out, int n) { own<<<1, 1>>>(in, out, n); }
"""


@pytest.mark.parametrize("text, computes", [(BULK, "sum"), (CONSTANT, "sum"), (OF_A_KERNEL, "copy")], ids=["bulk copies", "copies of the host", "copies of a kernel"])
def test_goals_count_copies(tmp_path, text, computes):
    """Broken: a program meets a goal about loads by bulk copies, by copies of the host, or by those of the device's runtime."""
    (tmp_path / "own.contract").write_text(f"call = launch(in, out, n)\ncomputes = {computes}\nsizes = 1024\nat most = 0 load requests\n")
    shape = contract.read(tmp_path / "own.contract")
    shape.sizes, shape.goals_at, shape.orders_at = (1024,), (1024,), ()  # bulk copies need a multiple of 4
    answer, said = judged(tmp_path, text, shape)
    assert answer.verdict == "misses the goal", said


def test_a_goal_that_was_not_counted_is_missed():
    """Broken: a program passes whose launches the simulator has not counted, as if it met the goal."""
    answer = verdicts.Answer("own.cu", dataclasses.replace(shapes.REDUCE, goals_at=(shapes.COUNTED_AT,), limits={"blocks": 1}))
    judging.count({}, shapes.COUNTED_AT, 0, answer)
    assert answer.missed == ["the launches were not all counted"]


def test_lost_findings_are_no_pass(tmp_path):
    """Broken: a program passes whose device ends before it has written the findings."""
    answer = verdicts.Answer("own.cu", dataclasses.replace(shapes.REDUCE, sizes=(1,)), built=True, sizes={1: ""})
    (tmp_path / "device.txt").write_text("")
    judging.finish(types.SimpleNamespace(end=lambda: (0, 70), findings=lambda: [], folder=tmp_path, used=0.0), answer)
    assert answer.verdict == "findings" and "status 70" in str(answer.findings)
    verdict = learn.Verdict()
    learn.finish(types.SimpleNamespace(end=lambda: "", lost_findings=True, unjudged="", printed=lambda: [], findings=lambda: []), verdict)
    assert not verdict.is_right


FORGED = """#include <cooperative_groups.h>
__global__ void sum(const float *in, float *out)
{
    cooperative_groups::this_thread_block().sync();
    const long long first = blockIdx.x * 256ll + threadIdx.x;
    float sum = in[first];
    for (int lanes = 16; lanes; lanes /= 2)
        sum += __shfl_down_sync(~0u, sum, lanes);
    FINISH
}
"""


def test_a_forged_library_does_not_solve_an_exercise(tmp_path):
    """Broken: an exercise is solved by a kernel whose race passes as one of cooperative groups, by .loc; also in a program that prints much before."""
    finish = RESERVED.replace("st.shared.f32", ".loc 2 1 1\\nst.shared.f32").replace("ld.shared.u32", ".loc 2 1 1\\nld.shared.u32").replace("atomicAdd(out,", "atomicAdd(out + blockIdx.x,")
    alone = finish.replace("atomicAdd(out + blockIdx.x, sum)", "all += sum").replace("unsigned base;", "unsigned base;\n    float all = 0;") + "\n    if (threadIdx.x == 0)\n        out[blockIdx.x] = all;"
    answer, said = judged(tmp_path, FORGED.replace("FINISH", alone), exercise.OfExercise(exercise.find("19")), exercise.judged)
    assert answer.verdict == "not judged", said
    (tmp_path / "said.txt").write_text("x\n" * 99999 + f"simulator: {session.EXCUSED}, and so on\n")
    assert session.why_not_judged(0, tmp_path / "said.txt") and session.why_not_judged(session.UNSUPPORTED, tmp_path / "said.txt")


@longer
def test_a_forged_library_is_not_judged(tmp_path):
    """Broken: a race passes as one of cooperative groups, because the program gives the name of their header by .loc in inline assembly."""
    text = KERNEL.replace("LOADS", VECTORS).replace("FINISH", RESERVED.replace("st.shared.f32", ".loc 2 1 1\\nst.shared.f32").replace("ld.shared.u32", ".loc 2 1 1\\nld.shared.u32"))
    text = "#include <cooperative_groups.h>\n" + text.replace("float sum = 0;", "float sum = 0;\n    cooperative_groups::this_thread_block().sync();")
    (tmp_path / "own.contract").write_text(CONTRACT)
    answer, said = judged(tmp_path, text, contract.read(tmp_path / "own.contract"))
    assert answer.verdict == "not judged", said
