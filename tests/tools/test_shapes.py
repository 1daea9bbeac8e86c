"""What make judge knows besides a step of the first ladder: scans, and what a contract says."""

import dataclasses
import itertools
import math
import re
import subprocess
import types

import pytest

from drywarp import mine
from drywarp.judge import check
from drywarp.judge import contract
from drywarp.judge import exercise
from drywarp.judge import judging
from drywarp.judge import shapes
from drywarp.judge import verdicts
from drywarp.judge import words

from tests.support import LINK, ROOT, SIM, longer, nvcc, unsanitized

OPTIONS = " ".join(["-lineinfo", *(word for word in LINK if not word.endswith(".a") and word not in ("-lpthread", "-lm", "-lineinfo"))])
pytestmark = [unsanitized, pytest.mark.builds("build/sim/check_program.o", "build/sim/libcuda.so.1", "build/sim/compile")]  # which Python, that runs the device, is not

# Right, but at some sizes.
SCAN = """
static const char STEP[] = "step00_baseline";
__global__ void scan(const float *in, float *out, long long n, bool exclusive, float *scratch)
{
    float sum = 0.0f;
    for (long long i = 0; i < n - (n == 256); i++) {
        if (n == 257 && i == 250)
            sum = 0.0f;
        if (n == 511 && exclusive)
            sum = i == 0 ? *scratch : sum;
        out[i] = exclusive && n != 33 ? sum : sum + in[i];
        sum += in[i];
    }
    *scratch = 1.0f;
}
static long long scratch_count(long long) { return 1; }
static void launch(const float *in, float *out, long long n, bool exclusive, float *scratch)
{
    scan<<<1, 1>>>(in, out, n, exclusive, scratch);
    CHECK(cudaGetLastError());
}
"""


INLINE = {"cudaLaunchKernelEx", "cudaGridDependencySynchronize"}  # calls that a header or the device defines


def test_the_judge_has_the_steps_calls():
    """Broken: the judge refuses a step of this course, because the step calls what the judge does not define."""
    names = subprocess.run(["nm", "-g", "--defined-only", SIM / "check_program.o"], capture_output=True, text=True, check=True).stdout.split()
    for path in (*ROOT.glob("step*/reduce.cu"), *ROOT.glob("scan/step*/scan.cu")):
        calls = re.findall(r"\bcuda[A-Z]\w+(?=\()", mine.without_comments(mine.split(path.read_text())[0]))
        assert set(calls) - INLINE <= set(names), path


def judged(folder, name, text, shape, judge=judging.whole_program, **changed):
    """The answer, and the lines about it."""
    (folder / name).write_text(text)
    options = types.SimpleNamespace(**{"nvcc": nvcc(), "options": OPTIONS, "object": SIM / "check_program.o", "library": SIM / "libcuda.so.1", "threads": 1, "seconds": 60,
                                       "shape": shape} | changed)
    answer = judging.checked(folder / name, options, judge)
    return answer, "\n".join(words.lines_about(answer, name))


def test_scans(tmp_path):
    """Broken: a right scan does not pass, or one that is wrong exclusively, at its end, from an element on, or with scratch memory that is not cleared does."""
    few = dataclasses.replace(shapes.SCANS, sizes=(1, 33, 256, 257, 511, 512, shapes.COUNTED_AT), orders_at=3 * ((512,),))
    answer, said = judged(tmp_path, "scan.cu", SCAN, few)
    assert answer.built and answer.status == verdicts.WRONG, said
    wrong = dict(re.findall(r"^n = ([\d,]+) \.+ (.*)$", said, re.M))
    assert [n for n, words in wrong.items() if words == "correct"] == ["1", "512", "65,536"], said
    assert re.fullmatch(r"wrong: out\[0\] is \S+, expected 0.0000, exclusive; 33 of 33 are wrong", wrong["33"])
    assert wrong["256"].startswith("wrong: out[255] is not a number: it is uninitialised")
    assert re.fullmatch(r"wrong: out\[250\] is \S+, expected \S+; 7 of 257 are wrong: from element 250 on, the sum of the earlier elements is missing", wrong["257"])
    assert "expected 0.0000, exclusive" in answer.sizes[511]  # but 1.0, which the first run has left in the scratch memory
    assert re.search(r"warp instructions +[\d,]+ +294,936 +88,754", said), said


def test_scratch_memory_has_its_limits(tmp_path):
    """Broken: a scan that asks for less than nothing, or for more than there is, ends the judge or passes."""
    asks = SCAN.replace("scratch_count(long long) { return 1; }", "scratch_count(long long n) { return n == 1 ? -5 : n == 2 ? 1ll << 62 : 1; }")
    few = dataclasses.replace(shapes.SCANS, sizes=(1, 2, 3), orders_at=3 * ((3,),), counted_at=3)
    answer, said = judged(tmp_path, "scan.cu", asks, few)
    assert answer.sizes == {1: "no result: scratch_count(1) is -5", 2: "the program needed more than 256 MB of device memory", 3: ""}, said
    assert answer.status == verdicts.WRONG and answer.findings == {}, said


def test_a_step_of_the_scan_counts_what_the_table_says(tmp_path):
    """Broken: the judge counts a step of the scan otherwise than tests/counters does, or finds fault with it."""
    few = dataclasses.replace(shapes.SCANS, sizes=(1, 513, shapes.COUNTED_AT), orders_at=3 * ((513,),))
    answer, said = judged(tmp_path, "scan.cu", (ROOT / "scan/step03_vectors/scan.cu").read_text(), few)
    assert answer.status == verdicts.PASSED and answer.counters == words.step_counters(few)["step03_vectors"], said


def test_another_shape_is_refused_in_a_line(tmp_path):
    """Broken: a reduction that is judged as a scan gives a page of the compiler's messages."""
    answer, _ = judged(tmp_path, "reduce.cu", (ROOT / "step03_sequential/reduce.cu").read_text(), shapes.SCANS)
    assert answer.status == verdicts.UNBUILT and answer.said == ["reduce.cu defines no scratch_count; docs/judge.md shows what the harness calls"]


# ---- Contracts

# Right, but at some sizes: what is above 0 of an array, in its order, and how much that is. All is done by a warp.
COMPACT = """
__global__ void compact(const int *in, int *out, int *count, unsigned n)
{
    int before = 0;
    for (unsigned k = 0; k < n; k += 32) {
        const unsigned i = k + threadIdx.x;
        const bool kept = i < n - (n == 64) && in[i] > 0;
        const unsigned all = __ballot_sync(0xffffffff, kept);
        if (kept)
            out[before + __popc(all & ((1u << threadIdx.x) - 1))] = in[i];
        before += __popc(all);
    }
    if (threadIdx.x == 0)
        *count = before + (n == 33);
}
"""
TEXT = """call = compact(in, out, count, n)
grid = 1    # a block
block = 32  # of a warp
elements = int
computes = compaction
sizes = 1 33 64 1000
at most = 1 launches, 40 load requests"""


def read(folder, text):
    (folder / "own.contract").write_text(text)
    return contract.read(folder / "own.contract")


def test_a_kernel_of_ones_own(tmp_path):
    """Broken: a part of a contract is not checked: an output, a size, random sizes, a counter's limit; or the race checker does not run."""
    shape = read(tmp_path, TEXT)
    assert len(shape.sizes) in (6, 7) and {1, 33, 64, 1000} <= set(shape.sizes) and shape.goals_at[0] == 1000 and 500 <= shape.goals_at[1] <= 875
    shape.sizes = (1, 33, 64, 1000)
    answer, said = judged(tmp_path, "own.cu", COMPACT, shape)
    assert "own.cu, which computes compaction, according to own.contract\nbuilds ............... yes\n" in said
    wrong = dict(re.findall(r"^n = ([\d,]+) \.+ (.*)$", said, re.M))
    assert wrong.pop("33").startswith("wrong: count is ") and answer.status == verdicts.WRONG, said
    assert wrong.pop("1") == wrong.pop("1,000") == "correct" and answer.findings == {}, said
    assert "    goal missed: 64 load requests, at most 40" in said, said


# Of each lab's task a step, and what makes it wrong at 33 elements, or at 33 x 33, or where there are five rows.
LABS = {
    "accuracy": ("step03_gridstride", "out[blockIdx.x] = sums[0]", "out[blockIdx.x] = sums[0] + (n == 33)"),
    "bankconflicts": ("step02_sequential", "out[blockIdx.x] = sums[0]", "out[blockIdx.x] = sums[0] + (n == 33)"),
    "coalescing/add": ("step01_columns", "a[i] + b[i]", "a[i] + (n == 33 ? 2 : b[i])"),
    "coalescing/transpose": ("step04_padded", "= tile[x][r]", "= tile[x][r] + (n == 33)"),
    "launch": ("step01_several", "a[i] + b[i]", "a[i] + b[i] + (n == 33)"),
    "operators/max": ("step00_operator", "out[blockIdx.x] = value", "out[blockIdx.x] = value + (n == 33)"),
    "operators/sum": ("step00_operator", "out[blockIdx.x] = value", "out[blockIdx.x] = value + (n == 33)"),
    "rows": ("step00_passes", "- largest) * scale", "- largest) * scale * (gridDim.x == 5 ? 2 : 1)"),
    "rowscale": ("step03_shuffle", "largest == 0 ? 1 :", "rows == 5 ? 2 : largest == 0 ? 1 :"),
    "segmented/exclusive": ("step00_onethread", "exclusive ? sum :", "exclusive ? sum + (n == 33) :"),
    "segmented/scan": ("step00_onethread", ": sum + own;", ": sum + own + (n == 33);"),
    "segmented/sums": ("step00_onethread", "out[i] = exclusive ? sum : sum + own;",
                       "if (i == n - 1 || keys[i] != keys[i + 1])\n            out[keys[i]] = sum + own + (n == 33);"),
    "sort/keys": ("step14_onesweep", "+ i] = staged[i];", "+ i] = staged[i] + (n == 33);"),
    "sort/select": ("step00_three_kernels", "= items.keys[k];", "= items.keys[k] + (n == 33);"),
}


# Of each form of result one: a number, two matrices, rows, a scan by keys; make test-long runs all.
SOME = {"accuracy", "coalescing/transpose", "rowscale", "segmented/exclusive"}


@pytest.mark.parametrize("task", [task if task in SOME else pytest.param(task, marks=longer) for task in LABS])
def test_a_task_of_a_lab(tmp_path, task):
    """Broken: a lab's contract does not fit its steps, or takes what is wrong."""
    file, (step, right, wrong) = check.contracts_of_labs()[task], LABS[task]
    shape = contract.read(file)
    if isinstance(shape, shapes.Step):
        shape = dataclasses.replace(shape, sizes=(32, 33, 1000), orders_at=3 * ((1000,),), counted_at=1000)
    text = (file.parent / step / f"{file.parent.name}.cu").read_text()
    assert right in text
    answer, said = judged(tmp_path, "mine.cu", text.replace(right, wrong), shape)
    at = {size for size in shape.sizes if size in (33, (33, 33)) or task in ("rows", "rowscale") and size[0] == 5}
    assert {size for size, words in answer.sizes.items() if words} == at and answer.built and answer.findings == {}, said


def test_every_task_is_listed():
    """Broken: the page names a lab's task that is not there, or lacks one; or no test tries it."""
    assert set(LABS) == set(check.contracts_of_labs()) == set(re.findall(r"`LAB=([a-z/]+)`", (ROOT / "docs/judge.md").read_text()))


def test_two_sizes_are_unknown():
    """Broken: a drawn size is one of the contract's, and a program that knows those passes now and then; or one is looked for where there is none."""
    for sizes in 40 * ([1, 31, 1000], [(1, 1), (40, 40)], [(2, 3), (9, 1)]):
        drawn = contract.drawn_sizes(sizes)
        assert len(drawn) == 2 and not set(drawn) & set(sizes)
    assert contract.drawn_sizes([1, 2]) == []


# ---- Exercises

PREDICTED = "// shared loads per block = 25\n// barrier arrivals per block = 72\n"  # of exercise 09


@pytest.mark.parametrize("number, text, verdict, says", [
    ("01", "answer.cu", "passed", ""), ("01", "task.cu", "wrong", "n = "), ("01", "__global__ void nothing() {}", "does not build", "it defines no kernel"),
    ("02", "answer.cu", "passed", ""), ("02", "task.cu", "wrong|findings", "02_bounds"), ("15", "task.cu", "misses the goal", "goal missed: "),
    ("09", PREDICTED, "passed", "shared loads"), ("09", PREDICTED.replace("25", "24"), "wrong", "24, but the simulator counts more")])
def test_an_exercise(tmp_path, number, text, verdict, says):
    """Broken: make judge judges an exercise otherwise than make learn does, or shows the numbers to who has not predicted them."""
    task = exercise.find(number)
    text = task.text(text) if text.endswith(".cu") else text
    answer, said = judged(tmp_path, f"{task.name}.cu", text, exercise.OfExercise(task), exercise.judged, nvcc="")  # the simulator's: nvcc takes a second
    assert re.fullmatch(verdict, answer.verdict) and says in said and ("counters:" in said) == (answer.verdict in ("passed", "misses the goal")), said


def test_a_name_is_no_command(tmp_path):
    """Broken: nvcc gives a file's name to a shell, which runs what stands in it, or looks for another file."""
    task = exercise.find("07")
    answer, said = judged(tmp_path, "a$(id)`id`.cu", task.text("answer.cu"), exercise.OfExercise(task), exercise.judged)
    assert answer.verdict == "passed", said


@pytest.mark.parametrize("computes, numbers, size, expected", [
    ("max", [3, -5, 7], 3, [[7]]), ("min", [3, -5, 7], 3, [[-5]]), ("argmax", [3, 7, 7], 3, [[1]]), ("scan", [3, -5, 7], 3, [[3, -2, 5]]),
    ("exclusive scan", [3, -5, 7], 3, [[0, 3, -2]]), ("sums of both", [1, 2, 30, 40], 2, [[31, 42]]), ("dot product", [1, 2, 30, 40], 2, [[110]]),
    ("compaction", [3, -5, 7], 3, [[3, 7], [2]]), ("sort", [3, -5, 7, 3], 4, [[-5, 3, 3, 7]]), ("sums of rows", [1, 2, 3, 4, 5, 6], (2, 3), [[6, 15]]), ("sums of columns", [1, 2, 3, 4, 5, 6], (2, 3), [[5, 7, 9]]),
    ("transpose", [1, 2, 3, 4, 5, 6], (2, 3), [[1, 4, 2, 5, 3, 6]]), ("rows by their largest", [1, -2, 3, 4], (2, 2), [[0.5, -1.0, 0.75, 1.0]]),
    ("sums of pieces of 2", [1, 2, 3, 4, 5], 5, [[3, 7, 5]]), ("copy", [3, -5], 2, [[3, -5]])])
def test_what_is_computed(computes, numbers, size, expected):
    """Broken: the judge itself computes something else than a contract says."""
    assert contract.operation(computes).of(numbers, size) == expected


@pytest.mark.parametrize("got, says", [([0.5, 0.5, 1 / 3, 2 / 3], ""), ([0.5, 0.500001, 1 / 3, 2 / 3], ""), ([0.5, 0.5, 1 / 3, 0.6667], "out[3] is "), ([0.5, float("nan"), 1 / 3, 2 / 3], "out[1] is not a number")])
def test_softmax_has_a_tolerance(got, says):
    """Broken: the rounding of a correct softmax is reported, or a wrong one passes."""
    case = shapes.Case((2, 2), {}, b"", [-1000, -1000, 0, math.log(2)], contract.operation("softmax of rows"), "float", 4)
    assert case.wrong([got]).startswith(says) and bool(case.wrong([got])) == bool(says)


@pytest.mark.parametrize("elements", shapes.CODES)
def test_elements_that_are_compared(elements):
    """Broken: values that are only moved or compared are not those of the whole type, are none near a limit, or are not given as they are expected."""
    least, greatest, near = 0, 0, set()
    for sign, repeat in 40 * list(itertools.product((0, 1, -1), (True, False))):
        numbers, units = shapes.drawn_values(100, elements, repeat, sign, limit=256)
        case = shapes.Case(100, {}, shapes.packed(numbers, elements, units), numbers, contract.operation("copy"), elements, units)
        assert case.wrong(case.read([case.data])) == "" and (not sign or all(number * (sign if elements != "unsigned" else 1) > 0 for number in numbers))
        least, greatest = min([least, *(number / units for number in numbers)]), max([greatest, *(number / units for number in numbers)])
        near |= {number - 256 * int(units) for number in numbers} & {-1, 0, 1}
    ends = {"int": (-2e9, 2e9), "unsigned": (0, 4e9), "float": (-1e38, 1e38), "double": (-1e200, 1e200)}[elements]
    assert least <= ends[0] and greatest >= ends[1] and near == {-1, 0, 1}


def test_numbers_below_a_limit_are_real_ones():
    """Broken: a right selection of floats is wrong, because the limit or the number of elements is taken for a number of units."""
    operation = contract.operation("numbers below 256")
    case = shapes.Case(3, {}, b"", [255 * 64, 256 * 64, -1], operation, "float", 64)
    assert case.expected == [[255 * 64, -1], [2]] and case.scale(1) == 1 and case.shown(2, 1) == "2.0000"


def test_long_arrays_need_the_precision_of_their_type():
    """Broken: a program that reads the elements of a long array as half or bfloat16 gets the right sum; or a right one's sum is rounded."""
    for elements, bits in (("float", 11), ("int", 16)):
        numbers = shapes.with_large_ones(shapes.drawn(1 << 20, elements), elements)
        assert sum(map(abs, numbers)) < shapes.EXACT[elements] and any(number % (1 << max(0, abs(number).bit_length() - bits)) for number in numbers)


@pytest.mark.parametrize("elements, bits", [("float", [1.0, -0.5]), ("double", [1.0, -0.5]), ("int", [16, -8])])
def test_elements_keep_their_values(elements, bits):
    """Broken: what a kernel gets and gives is not what the judge compares."""
    units = 16 if elements != "int" else 1
    case = shapes.Case(2, {}, shapes.packed([16, -8], elements, units), [16, -8], contract.operation("copy"), elements, units)
    assert list(shapes.array.array(shapes.CODES[elements], case.data)) == bits and case.wrong(case.read([case.data])) == ""
    assert case.wrong([[16, 8]]).startswith("out[1] is ")


def test_a_launch_is_computed_as_in_c(tmp_path):
    """Broken: a correct program "launches another grid", because the judge rounds a negative quotient down, and the compiled contract towards 0."""
    shape = read(tmp_path, re.sub("grid .*", "grid = 2 + (n - 100) / 64, 64 + (n - 100) % 64", TEXT))
    assert shape.value("grid", 70) == (2, 64 - 30) and shape.value("grid", 170) == (3, 64 + 6)
    assert contract.numbers_of("+1 - -(7 / -2) * n, n", {"n": 5}) == (-14, 5)


@pytest.mark.parametrize("line, reported", [("computes = summ", "computes = summ"), ("grid = n;3", "';'"), ("grid = system(1)", "'system'"), ("call = add(in, x)", "'x'"),
                                        ("call = add", "call = add"), ("sizes = 0", "'0'"), ("sizes = 9999999", "9,999,999"), ("elements = half", "half"),
                                        ("blocks = 3", "blocks = 3"), ("at most = 3 apples", "3 apples"), ("zeroed = in", "zeroed = in"), ("block = ", "block"), ("", "no line"),
                                        ("grid = n // 256", "not a valid expression"), ("grid = (n + 1", "not a valid expression"), ("grid = é", "'é'"),
                                        ("grid = " + 3000 * "-" + "1", "not a valid expression"), ("grid = (5)(6)", "not a valid expression"), ("grid = n / 4096", "is 0 at n = 1;"), ("block = 32, 64", "is 32, 64")])
def test_a_bad_contract_is_refused_in_a_line(tmp_path, line, reported):
    """Broken: a contract that says nothing sensible is taken, or gives a traceback."""
    key = line.partition(" =")[0] or "sizes"
    text = "\n".join([*(other for other in TEXT.splitlines() if not other.startswith(f"{key} =")), line])
    with pytest.raises(contract.Unusable, match=re.escape(reported)):
        read(tmp_path, text)
