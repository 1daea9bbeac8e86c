"""Wrong programs that once passed the judge: each must get its verdict. Honest ones beside them must pass."""

import dataclasses
import itertools
import os
import types

import pytest

from drywarp.judge import check, compiling, contract, exercise, judging, sandbox, shapes, verdicts, words

from tests.support import LINK, ROOT, SIM, nvcc, unsanitized

OPTIONS = " ".join(["-lineinfo", *(word for word in LINK if not word.endswith(".a") and word not in ("-lpthread", "-lm", "-lineinfo"))])
pytestmark = unsanitized  # which Python, that runs the device, is not


def options(shape, **changed):
    return types.SimpleNamespace(**{"nvcc": nvcc(), "options": OPTIONS, "object": SIM / "check_program.o", "library": SIM / "libcuda.so.1", "threads": 1, "seconds": 100,
                                    "shape": shape, **changed})


def judged(folder, text, shape, judge=judging.whole_program):
    """The answer, and the report."""
    (folder / "own.cu").write_text(text)
    answer = judging.checked(folder / "own.cu", options(shape), judge)
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


def test_a_step_gets_unknown_sizes():
    """Broken: a program passes that is right at the published sizes only, or with at most 1,024 partial sums of 1,024 elements; or only at the small
    sizes in other orders."""
    for shape in 30 * [shapes.REDUCE, shapes.SCANS]:
        drawn = shape.with_random_sizes()
        new = sorted(set(drawn.sizes) - set(shape.sizes))
        assert len(new) == 3 and len(drawn.sizes) == len(set(drawn.sizes)) and new[-1] > 1 << 20
        assert sorted(set(itertools.chain(*drawn.orders_at)) - set(shape.sizes)) == new and new[-1] in drawn.orders_at[2]
    assert {1000, 5000} < set(shapes.SIZES) and shapes.REDUCE.runs_at(1000) == 2 and shapes.REDUCE.runs_at(shapes.LARGE[0]) == 1
    near = [shapes.near_power_of_two() for _ in range(200)]
    assert len(set(near)) > 30 and all(min(abs(size - factor * (1 << k)) for factor in (1, 3) for k in range(20)) <= 2 for size in near)


def test_what_was_not_run_is_no_pass(monkeypatch):
    """Broken: a program that uses up the time before the runs in other orders passes without them."""
    now = itertools.count()
    session = types.SimpleNamespace(ended=False)
    monkeypatch.setattr(judging, "time", types.SimpleNamespace(monotonic=lambda: next(now)))
    monkeypatch.setattr(judging, "Session", lambda *_, **__: session)
    monkeypatch.setattr(judging, "finish", lambda *_: None)
    monkeypatch.setattr(judging, "one_size", lambda *_: "")
    few = dataclasses.replace(shapes.REDUCE, sizes=(1, 2), orders_at=((1,), (2,), (2,)))
    for seconds, verdict in ((4, "over the limits"), (9, "passed")):
        answer = verdicts.Answer("own.cu", few, built=True)
        judging.run(None, types.SimpleNamespace(seconds=seconds), answer)
        assert answer.verdict == verdict


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
                                                    (VECTORS, RESERVED, "findings")], ids=["honest", "atomics", "known size", "reserved memory"])
def test_goals(tmp_path, loads, finish, verdict):
    """Broken: a kernel meets a goal that loads by atomics, or is good at the published size only, or has a race in reserved shared memory; or an honest one misses it."""
    (tmp_path / "own.contract").write_text(CONTRACT)
    answer, said = judged(tmp_path, KERNEL.replace("LOADS", loads).replace("FINISH", finish), contract.read(tmp_path / "own.contract"))
    assert answer.verdict == verdict, said


def test_goals_of_an_exercise_count_atomics(tmp_path):
    """Broken: an exercise about loads is solved by atomics, which load without being counted."""
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
    for source, verdict in ((text, "passed"), (slow, "misses the goal")):
        answer, said = judged(tmp_path, source, shape, exercise.judged)
        assert answer.verdict == verdict, said


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
    ('#line 1 "cooperative_groups/details/memory.h"', "#line"), ("%:line 1 NAME", "#line"), ('#\\\nline 1 "x/cooperative_groups.h"', "#line"),
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


def test_headers_of_a_forbidden_library(tmp_path):
    """Broken: a program includes a forbidden library through a macro, or is refused for a header whose name only resembles one."""
    answer = verdicts.Answer("own.cu", dataclasses.replace(shapes.REDUCE, forbidden=("thrust", "cub")), built=True)
    (tmp_path / "list").write_text("own: own.cu /cuda/include/cubin.h \\\n /cuda/include/cccl/cub/config.cuh\n")
    compiling.check_includes(tmp_path / "list", answer)
    assert answer.verdict == "does not build" and "headers of cub" in answer.said[0]
