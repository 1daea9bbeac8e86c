"""What make check knows besides a step of the first ladder: scans."""

import dataclasses
import re
import types

from scripts.judge import check
from scripts.judge import shapes

from tests.support import LINK, ROOT, SIM, nvcc, unsanitized

OPTIONS = " ".join(["-lineinfo", *(word for word in LINK if not word.endswith(".a") and word not in ("-lpthread", "-lm", "-lineinfo"))])
pytestmark = unsanitized  # which Python, that runs the device, is not

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


def judged(folder, name, text, shape):
    """The answer, and the lines about it."""
    (folder / name).write_text(text)
    options = types.SimpleNamespace(nvcc=nvcc(), options=OPTIONS, object=SIM / "check_program.o", library=SIM / "libcuda.so.1", threads=1, seconds=60, shape=shape)
    answer = check.checked(folder / name, options)
    return answer, "\n".join(check.lines_about(answer, name))


def test_scans(tmp_path):
    """Broken: a right scan does not pass, or one that is wrong exclusively, at its end, from an element on, or with scratch memory that is not cleared does."""
    few = dataclasses.replace(shapes.SCANS, sizes=(1, 33, 256, 257, 511, 512, shapes.COUNTED_AT), orders_at=(512, 512, 512))
    answer, said = judged(tmp_path, "scan.cu", SCAN, few)
    assert answer.built and answer.status == check.WRONG, said
    wrong = dict(re.findall(r"^n = ([\d,]+) \.+ (.*)$", said, re.M))
    assert [n for n, words in wrong.items() if words == "right"] == ["1", "512", "65,536"], said
    assert re.fullmatch(r"wrong: out\[0\] is \S+, expected 0.0000, exclusive; 33 of 33 are wrong", wrong["33"])
    assert wrong["256"].startswith("wrong: out[255] is no number: nobody has written it")
    assert re.fullmatch(r"wrong: out\[250\] is \S+, expected \S+; 7 of 257 are wrong: from number 250 on, what comes before is missing", wrong["257"])
    assert "expected 0.0000, exclusive" in wrong["511"]  # 1.0, which the first run has left in the scratch memory
    assert re.search(r"warp instructions +[\d,]+ +294,936 +36,969", said), said


def test_a_step_of_the_scan_counts_what_the_table_says(tmp_path):
    """Broken: the judge counts a step of the scan otherwise than tests/counters does, or finds fault with it."""
    few = dataclasses.replace(shapes.SCANS, sizes=(1, 513, shapes.COUNTED_AT), orders_at=(513, 513, 513))
    answer, said = judged(tmp_path, "scan.cu", (ROOT / "scan/step03_runs/scan.cu").read_text(), few)
    assert answer.status == check.PASSED and answer.counters == check.step_counters(few)["step03_runs"], said


def test_another_shape_is_refused_in_a_line(tmp_path):
    """Broken: a reduction that is judged as a scan gives a page of the compiler's messages."""
    answer, _ = judged(tmp_path, "reduce.cu", (ROOT / "step03_sequential/reduce.cu").read_text(), shapes.SCANS)
    assert answer.status == check.UNBUILT and answer.said == ["reduce.cu defines no scratch_count; docs/judge.md shows what the harness calls"]
