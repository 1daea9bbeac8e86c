"""What several files of tests share: where things lie, how programs are built and run, and the steps' errors that every check has to find."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import tables

ROOT = Path(__file__).resolve().parent.parent
STEPS = sorted(ROOT.glob("step[0-9][0-9]_*"))
PROGRAMS = [*(step / "reduce.cu" for step in STEPS), ROOT / "reference_cub/reduce.cu"]
MARK = "// ==== Harness"
unsanitized = pytest.mark.skipif("-fsanitize" in os.environ.get("SIM_LINK", ""), reason="made for a simulator without gcc's sanitizers")


def name(path):
    return path.parent.name


def needs_measuring(step):
    """Skips what only a GPU can fix, for a step that is new: no CSV of plots/h200 holds it yet."""
    if tables.is_new(step):
        pytest.skip(f"{step} is not measured yet: CONTRIBUTING.md says what a GPU has to do")


def split(path):
    """Lesson without its first comment and its name, and harness."""
    text = path.read_text(encoding="utf-8")
    assert text.count(MARK) == 1
    lesson, harness = text.split(MARK)
    lesson = re.sub(r"^static const char STEP\[\] = .*\n", "", lesson, flags=re.M)
    return re.sub(r"\A(//.*\n)+", "", lesson), harness


def changed_lines(before, after, tmp_path):
    files = []
    for side, path in (("before", before), ("after", after)):
        files.append(tmp_path / side)
        files[-1].write_text("".join(split(path)))
    output = subprocess.run(["diff", *files], capture_output=True, text=True).stdout
    return sum(line[0] in "<>" for line in output.splitlines())


def nvcc():
    """The compiler's path; None if there is none."""
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    found = shutil.which("nvcc") or shutil.which("nvcc", path=f"{home}/bin:/usr/local/cuda/bin:{ROOT}/.cuda/bin")
    return found and os.path.abspath(found)  # for tests in other folders


SIZES = [1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1023, 1025, 65535, 65537, 99991, 1000003, 9999991]
LOAD = "sums[tid] = i < n ? in[i] : 0;"
# What a wrong kernel does, the step that it is planted in, and the change.
PLANTED = {
    "an element dropped": ("step03_sequential", LOAD, "sums[tid] = i < n && i != 5 ? in[i] : 0;"),
    "an element added twice": ("step03_sequential", LOAD, "sums[tid] = i < n ? in[i] : 0; if (i == 7) sums[tid] += in[i];"),
    "the last element missed": ("step03_sequential", LOAD, "sums[tid] = i + 1 < n ? in[i] : 0;"),
    "an element read past the end": ("step00_baseline", "i < n; i++", "i <= n; i++"),
    "a partial sum not written": ("step03_sequential", "if (tid == 0)", "if (tid == 0 && blockIdx.x != 1)"),
    "elements cut off to whole numbers": ("step03_sequential", LOAD, "sums[tid] = i < n ? (int)in[i] : 0;"),
    "the array taken to begin at a multiple of 16 bytes": ("step09_vectorload", "min(n, unaligned)", "min(n, 0ll)"),
    "the first elements, before that multiple, left out": ("step09_vectorload", "in[tid < head ? tid : 4 * count + tid]",
                                                           "tid < head ? 0 : in[4 * count + tid]"),
    "the last run's result returned": ("step00_baseline", "    out[0] = sum;", """    static __device__ float found[2]; // for arrays that begin at a multiple of 16 bytes, and for others
    float *first = &found[(size_t)in % 16 != 0];
    if (*first == 0)
        *first = sum;
    out[0] = *first;"""),
    "the single pass without its reset": ("step11_singlepass", "            ticket.store(0, cuda::memory_order_relaxed); // for the next launch", "            ;"),
}


def changed(step, old, new):
    """The source of a step with its first old replaced by new."""
    source = (ROOT / step / "reduce.cu").read_text()
    assert old in source
    return source.replace(old, new, 1)


SIM = ROOT / "build/sim"
needs_simulator = pytest.mark.builds("build/sim/libsimulator.a")  # of tests that link it: build, link
LINK = shlex.split(os.environ.get("SIM_LINK", ""))
COUNTED = ["shared_loads", "shared_stores", "bank_conflicts", "global_load_requests", "global_load_sectors",
           "global_store_requests", "global_store_sectors"]


def run(program, *arguments, **environment):
    return subprocess.run([str(word) for word in (program, *arguments)], capture_output=True, text=True, errors="replace",
                          env=os.environ | environment, timeout=120)


def reported(result):
    """The lines on stderr, without those that every measuring program and a slow machine cause."""
    return [line for line in result.stderr.splitlines() if not line.startswith(("simulator: cudaEventElapsedTime gave NaN", "simulator: after "))]


BUILT = SIM / "tests"  # programs that tests compile, in a folder for each file of tests


def is_current(made, command):
    """Whether made is what this command makes: made.read, which compiled() writes, has the command and the files that nvcc read, all older than made."""
    try:
        before, *read = made.with_name(f"{made.name}.read").read_text().splitlines()
        return before == command and all(os.path.getmtime(file) < made.stat().st_mtime for file in read)
    except FileNotFoundError:
        return False


def compiled(made, *words):
    """The path of what nvcc makes of these words, in BUILT unless made is absolute. As with make, nvcc runs only if a word or a file that it read has changed."""
    if not nvcc():
        pytest.fail("nvcc was not found: make toolkit installs it", pytrace=False)
    made = BUILT / made
    headers, record, command = made.with_name(f"{made.name}.d"), made.with_name(f"{made.name}.read"), shlex.join(map(str, [nvcc(), *words]))
    if is_current(made, command):
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    record.unlink(missing_ok=True)
    result = subprocess.run([nvcc(), "-o", made, "-MMD", "-MF", headers, *words], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    read = headers.read_text().partition(" : ")[2].split() if headers.exists() else []  # nvcc writes none where it only links
    record.write_text("\n".join([command, *(str(ROOT / file) for file in [nvcc(), *read, *words] if (ROOT / file).is_file())]))
    return made


def build_object(source, made, *flags):
    return compiled(made, "-c", source, *(word for word in LINK if not word.endswith(".a")), *flags)


def link(program, *inputs):
    return compiled(program, *inputs, *LINK)


def build(source, program, *flags):
    """Compiled and linked separately, so that a change of the simulator only relinks."""
    return link(program, build_object(source, f"{program}.o", *flags))


def write_source(source, text):
    """The path of a source in BUILT, or of an absolute one, which is written only if it has another text: compiled() looks at its time."""
    source = BUILT / source
    source.parent.mkdir(parents=True, exist_ok=True)
    if not source.exists() or source.read_text(encoding="utf-8") != text:
        source.write_text(text, encoding="utf-8")
    return source


def build_text(text, program, *flags):
    return build(write_source(f"{program}.cu", text), program, *flags)


def returning(main):
    """A main as any other function, which does not return 0 by itself."""
    return main[0] if re.search(r"return [^;]*;\s*}$", main[0]) else main[0].removesuffix("}") + "return 0; }"


STARTS = """inline int start(int (*main)(), int, char **) { return main(); }
inline int start(int (*main)(int, char **), int count, char **arguments) { return main(count, arguments); }
"""


def write_together(texts, source):
    """One program of several CUDA programs: its first argument is the name of the one that runs. Each is in a namespace, but for its headers,
    which take nvcc longest, and are read once."""
    include, main = re.compile(r"^#include [<\"].*$", re.M), re.compile(r"^int main\(.*?^}", re.M | re.S)
    headers = dict.fromkeys(include.findall("\n".join(["#include <cstring>", *texts.values()])))
    parts, choices = [], []
    for k, (name, text) in enumerate(texts.items()):
        undone = "".join(f"#undef {macro}\n" for macro in dict.fromkeys(re.findall(r"^#define (\w+)", text, re.M)))
        parts.append(f'namespace part{k} {{\n#line 1 "{name}.cu"\n{main.sub(returning, include.sub("", text))}\n}}\n{undone}')
        choices.append(f'    if (strcmp(arguments[1], "{name}") == 0)\n        return start(part{k}::main, count - 1, arguments + 1);\n')
    return write_source(source, "\n".join(headers) + f"\n{STARTS}{''.join(parts)}int main(int count, char **arguments)\n{{\n{''.join(choices)}    return 2;\n}}\n")


def build_together(texts, program, *flags):
    return build(write_together(texts, f"{program}.cu"), program, *flags)


def counters(program, tmp_path, *arguments, **environment):
    """The rows of one whole reduction, or of all launches where no two are alike. Without the checker, unless it is asked for."""
    path = tmp_path / "counters.csv"
    result = run(program, *arguments, **{"SIM_COUNTERS": str(path), "SIM_CHECK": "0"} | environment)
    assert result.returncode == 0, result.stderr
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row["kernel"] != "prepare"]  # that is the harness's


def make(*arguments, **environment):
    return subprocess.run(["make", *arguments], capture_output=True, text=True, cwd=ROOT, env=os.environ | environment)


FINDINGS = 88  # the status of a program with findings


def findings(program, tmp_path, *arguments, **environment):
    """The run, and its findings."""
    path = tmp_path / "findings.json"
    result = run(program, *arguments, SIM_FINDINGS=str(path), **environment)
    return result, json.loads(path.read_text())["findings"]


def only(program, tmp_path, *arguments, **environment):
    """The one finding, as kind and title; and the run."""
    result, found = findings(program, tmp_path, *arguments, **environment)
    assert result.returncode == FINDINGS and len(found) == 1, result.stderr
    assert f"{found[0]['title']}\n" in result.stderr and result.stderr.endswith("1 finding\n")
    return found[0]["kind"], found[0]["title"], result


def some(few, every):
    """What make test tries of many similar cases; make test-long (ALL=1) tries every one."""
    return few if os.environ.get("LEFT_OUT") else every


# What is proven by others for the most part, and takes seconds.
longer = pytest.mark.skipif(bool(os.environ.get("LEFT_OUT")), reason="one of the longer tests: make test-long")
