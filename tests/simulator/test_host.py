"""A page evaluates the host code of a lesson (simulator/compiler/host.h): its launches are those of the program, and its mistakes have messages."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.ladder import lesson_programs, tries
from tests.simulator import host_calls

ROOT = Path(__file__).resolve().parents[2]
LESSONS = [str(path.relative_to(ROOT)) for path in sorted([*ROOT.glob("step[0-9][0-9]_*"), *ROOT.glob("scan/step[0-9][0-9]_*")])]
SIZES = (1, 4096, 40000)  # 40,000: clusters of step 14, several tiles of the scan

pytestmark = pytest.mark.builds("build/sim/replay")


def lesson_of(step, folder, change=()):
    """A file with the lesson's text, in which the first of each pair is replaced by the second."""
    text = tries.source_of(step).read_text(encoding="utf-8").split(lesson_programs.MARK)[0]
    for old, new in change:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file = folder / tries.source_of(step).name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("step", [pytest.param(step, marks=pytest.mark.builds(f"build/sim/{step}/{tries.source_of(step).stem}")) for step in LESSONS])
def test_the_evaluated_calls_are_those_of_the_program(step, tmp_path):
    """Broken: a page launches a lesson with another grid, block, cluster, shared memory or argument than nvcc's program does."""
    program = ROOT / "build/sim" / step / tries.source_of(step).stem
    file = lesson_of(step, tmp_path)
    for n in SIZES:
        calls, messages = host_calls.evaluated(file, step, n)
        assert messages.strip() == "[]", messages
        seen, wanted = host_calls.of_lesson(calls), host_calls.of_lesson(host_calls.recorded(program, n, tmp_path / "recording"))
        if not step.startswith("scan/"):  # a page's input ends after n elements, so that a read past the end is found; the program's has room around it
            seen, wanted = ([call for call in calls if not call.startswith(("allocate allocation0", "write allocation0"))] for calls in (seen, wanted))
        if step.startswith("scan/"):
            seen, wanted = host_calls.without_data(seen), host_calls.without_data(wanted)
        assert seen == wanted and any(call.startswith("launch") for call in seen), n


LAUNCH = "    reduce<<<partial_count(n), BLOCK_SIZE>>>(in, out, n);\n"
COUNT = "    return (n + BLOCK_SIZE - 1) / BLOCK_SIZE;\n"
MISTAKES = [ # what replaces what in step 03, the message, and the text that it underlines
    (LAUNCH, LAUNCH.replace("BLOCK_SIZE>", "2048>"), "2048 threads a block, at most 1024 are possible", "reduce<<<partial_count(n), 2048>>>(in, out, n)"),
    (LAUNCH, LAUNCH.replace("partial_count(n)", "0"), "a grid of 0 x 1 x 1 blocks", "reduce<<<0, BLOCK_SIZE>>>(in, out, n)"),
    (LAUNCH, LAUNCH.replace("partial_count(n)", "n / 0"), "a division by zero has no value", "n / 0"),
    (LAUNCH, LAUNCH.replace("partial_count(n)", "blocks"), "'blocks' is not declared", "blocks"),
    (LAUNCH, LAUNCH.replace("BLOCK_SIZE>", "BLOCK_SIZE, 100000>"), "need cudaFuncSetAttribute", "reduce<<<partial_count(n), BLOCK_SIZE, 100000>>>(in, out, n)"),
    (LAUNCH, LAUNCH.replace(", n)", ")"), "'reduce' needs 3 arguments", "reduce<<<partial_count(n), BLOCK_SIZE>>>(in, out)"),
    (LAUNCH, LAUNCH.replace("in, out", "in, &n"), "cannot convert 'long long *' to 'float *'", "&n"),
    (LAUNCH, "    for (;;)\n        n++;\n", "does the loop end?", "n++"),
    (LAUNCH, "    for (;;)\n" + LAUNCH, "more than 1000 launches", "reduce<<<partial_count(n), BLOCK_SIZE>>>(in, out, n)"),
    (LAUNCH, "    float x = in[0];\n", "the host cannot read device memory", "in[0]"),
    (LAUNCH, "    start(n);\n", "'start' is not declared", "start"),
    (LAUNCH, "    std::vector<float> values(n);\n", "'std::vector' is not supported in host code that a page evaluates", "std::vector"),
    (LAUNCH, "    CHECK(cudaMemset(out, 0, 4 * n));\n", "this call needs 16384 bytes of device memory, and there are 128", "cudaMemset(out, 0, 4 * n)"),
    (LAUNCH, "    float x;\n    cudaMemcpy(&x, in, 4, cudaMemcpyDeviceToHost);\n", "the host cannot read a kernel's result here",
     "cudaMemcpy(&x, in, 4, cudaMemcpyDeviceToHost)"),
    (COUNT, "    return n;\n", "partial_count(n) is not less than n", "partial_count"),
    (COUNT, "    return 0;\n", "partial_count(n) is less than 1", "partial_count"),
    (COUNT, "    return partial_count(n);\n", "does the recursion end?", "partial_count(n)"),
    (COUNT, "", "may end without returning a 'long long'", "}"),
    ("static long long partial_count(long long n)", "static long long count(long long n)", "the function 'partial_count' is declared with these parameters", ""),
]


@pytest.mark.parametrize("old, new, message, underlined", MISTAKES, ids=[mistake[2] for mistake in MISTAKES])
def test_a_mistake_in_host_code_has_a_message(old, new, message, underlined, tmp_path):
    """Broken: a learner who edits `launch` sees no message, a wrong one, or none in the right line."""
    if "count(long" in old:
        pairs = [(old, new), (LAUNCH, LAUNCH.replace("partial_count", "count"))]
    else:
        pairs = [(old, new)]
    file = lesson_of("step03_sequential", tmp_path, pairs)
    calls, messages = host_calls.evaluated(file, "step03_sequential", 4096)
    first = json.loads(messages)[0]
    line = file.read_text(encoding="utf-8").splitlines()[first["line"] - 1]
    assert (first["severity"], calls) == ("error", []) and message in first["message"] and first["file"] == file.name
    assert line[first["column"] - 1:][:first["length"]] == underlined


FEATURES = """
#include <cstdio>
#include <vector>
struct Pair { float *first; int second; };
__constant__ float factors[4];
__global__ void one(const float *in, float *out, int n) { out[0] = in[0] + n * factors[1]; }
template <unsigned size> __global__ void sized(float *out, Pair pair, bool flag) { out[threadIdx.x] = size + pair.second + flag; }
__global__ void dynamic(float *out) { extern __shared__ float s[]; s[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = s[0]; }
static int twice(int x) { return 2 * x; }
static long long partial_count(long long) { return 1; }
static void launch(const float *in, float *out, long long n)
{
    static int calls = 0;
    calls++;
    const float host[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(factors, host, sizeof host);
    switch (calls) {
    case 1: sized<64><<<dim3(2, 3), dim3(4, 5, 6)>>>(out, Pair{out + 1, twice(7)}, true); break;
    default: return;
    }
    int sms;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    one<<<{1, 2, 1}, max(32, sms - 100)>>>(in + n - 1, out, (int)n);
    cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
    dynamic<<<1, 32, 100000>>>(out);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 2;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(32);
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, one, in, out, 3);
    float *more;
    cudaMalloc(&more, 64);
    for (int k = 0; k < 2; k++)
        cudaMemcpyAsync(more + 4 * k, out, 8, cudaMemcpyDeviceToDevice);
    cudaFree(more);
}
int main()
{
    std::vector<float> unused(10);
    for (auto one : unused)
        printf("%f", one);
}
"""
FEATURE_CALLS = """\
write 0:factors+0 16 0eeab072677b6818
launch 0 _Z5sizedILj64EEvPf4Pairb 2,3,1 4,5,6 0 0,0,0 0 @1+0 @1+4,000000000000000e 01
launch 0 _Z3onePKfPfi 1,2,1 32,1,1 0 0,0,0 0 @0+12 @1+0 00000004
launch 0 _Z7dynamicPf 1,1,1 32,1,1 100000 0,0,0 0 @1+0
launch 0 _Z3onePKfPfi 4,1,1 32,1,1 0 2,1,1 0 @0+0 @1+0 00000003
allocate 2 device 64 cudaMalloc
copy 2+0 1+0 8
copy 2+16 1+0 8
free 2
""".splitlines()


def test_host_code_has_what_cuda_programs_use(tmp_path):
    """Broken: structs, templates, switch, static variables, clusters, symbols or copies are evaluated wrongly; or code that does not run has errors."""
    file = tmp_path / "features.cu"
    file.write_text(FEATURES, encoding="utf-8")
    calls, messages = host_calls.evaluated(file, "step03_sequential", 4)
    assert (messages.strip(), calls[4:-1]) == ("[]", FEATURE_CALLS)


ENGINE = ROOT / "book/player/simulator.js"
IN_NODE = """
const Simulator = require(process.argv[1]), program = JSON.parse(require("fs").readFileSync(0, "utf8"));
(async () => {
    const edited = (size) => program.source.text.replace("BLOCK_SIZE = 256", `BLOCK_SIZE = ${size}`), results = [];
    for (const request of [{n: 5000, data: "ones", text: edited(128)}, {n: 5000, text: edited(2048)}, {n: 33, try: 1}, {n: 1000, data: "ascending"}])
        results.push(await Simulator.run(program, {...request, trace: false}));
    console.log(JSON.stringify(results));
})();
"""


@pytest.mark.skipif(not ENGINE.exists() or not shutil.which("node"), reason="needs node, and book/player/simulator.js, which `make stage` builds")
def test_a_page_runs_edited_host_code():
    """Broken: an edited block size, a number of elements or the choice of data has no effect in a page, or an impossible launch no message."""
    result = subprocess.run(["node", "-e", IN_NODE, ENGINE], input=json.dumps(lesson_programs.program_of("step03_sequential")), capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    smaller, impossible, attempt, ascending = json.loads(result.stdout)
    assert (smaller["status"], [check["got"]["float"] for check in smaller["checks"]]) == (0, [5000])
    assert [(launch["grid"], launch["block"]) for launch in smaller["launches"]] == [([40, 1, 1], [128, 1, 1]), ([1, 1, 1], [128, 1, 1])]
    assert (impossible["status"], impossible["launches"]) == ("errors", []) and "2048 threads a block" in impossible["diagnostics"][0]["message"]
    assert attempt["launches"] and attempt["diagnostics"] == []
    assert [check["got"]["float"] for check in ascending["checks"]] == [sum(k % 16 + 1 for k in range(1000)) / 16]
