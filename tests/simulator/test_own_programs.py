"""make sim and make run: any CUDA program, on the simulator."""

import itertools
import os
import subprocess
from pathlib import Path

import pytest


from drywarp import program
from drywarp import counters_table

from tests.support import ROOT, longer, make, unsanitized

pytestmark = pytest.mark.builds("build/sim/ptx_run")

REFUSED = [("", "", "FILE is missing"), ("none.cu", "", "no file"), ("README.md", "", "neither a source"), ("'a.cu", "", "quotation mark"),
           ("tests/simulator/offsets.cu", "-arch=sm_80", "leave out -arch=sm_80"), ("tests/simulator/offsets.cu", "-I'x", "quotation mark"),
           ("tests/simulator/offsets.cu", "-o x", "leave out -o")]


@pytest.mark.parametrize("file,flags,why", REFUSED, ids=[why for _, _, why in REFUSED])
def test_bad_input_gets_one_line(file, flags, why):
    """Broken: an invalid FILE or FLAGS leads to a message of nvcc or of the shell, or is reported only after the simulator was compiled."""
    result = make("-s", "sim", f"FILE={file}", f"FLAGS={flags}")
    first, *rest = result.stderr.splitlines()
    assert why in first and result.returncode == 2 and not result.stdout and all(line.startswith("make") for line in rest)


def test_programs_do_not_collide():
    """Broken: two programs with the same name in different folders overwrite each other, or a program is built outside the folder for programs."""
    names = ["x/task1.cu", "y/task1.cu", "task1.cu", "/x/task1.cu", f"../not {ROOT.name}/task1.cu", "a b/../x y/task1.cu", "build/x.cu"]
    programs = [str(program.program_of(ROOT / name, Path("folder"))) for name in names]
    assert programs[:4] == ["folder/programs/x/task1", "folder/programs/y/task1", "folder/programs/task1", "folder/elsewhere/x/task1"]
    assert programs[5] == "folder/programs/x y/task1"
    assert len(set(programs)) == len(names) and not any(".." in program for program in programs)


def test_libraries_of_nvidia_are_not_linked(monkeypatch):
    """Broken: a library of NVIDIA's, or its runtime, is linked together with the simulator, and fails or is called instead."""
    monkeypatch.setenv("FLAGS", "-O1 -lcublas -l cublasLt_static -lcudart -lcuda -lcurand -lm -l own -lcudaless --std=c++20 -DX='a b'")
    given = [word for word in program.flags() if not program.NOT_LINKED.fullmatch(word)]
    assert given == ["-O1", "-lm", "-lown", "-lcudaless", "--std=c++20", "-DX=a b"]
    monkeypatch.setenv("FLAGS", "-lineinfo")
    assert program.flags() == ["-O3", "-std=c++17", "-lineinfo"]


MISSING = """
#include <cufft.h>
extern "C" { int cudaFoo(); int cudaBar(); int cuFoo(); }
void elsewhere(int);
int main() { return cudaFoo() + cudaBar() + cufftPlan1d() + cuFoo() + cufftBar(); }
"""


def test_what_is_missing_is_named(tmp_path):
    """Broken: a program that calls unsupported functions gets a page of linker errors, or not all names at once."""
    (tmp_path / "missing.cu").write_text(MISSING)
    (tmp_path / "cufft.h").write_text('extern "C" { int cufftPlan1d(); int cufftBar(); }\n')
    (tmp_path / "other.cpp").write_text('extern "C" int cudaBar();\nvoid elsewhere(int);\nint other() { elsewhere(1); return cudaBar(); }\n')
    file, other = f"{tmp_path}/missing.cu", f"{tmp_path}/other.cpp"
    result = make("-s", "sim", f"FILE={file} {other}", f"FLAGS=-lcufft -I{tmp_path}")
    lines = [line for line in result.stderr.splitlines() if not line.startswith(("make", "another make"))]
    assert result.returncode == 2 and sorted(lines) == [
        f"the simulator has no cuFFT (cufftPlan1d, cufftBar, called in {file}): "
        "write the kernel yourself, or use a library for the CPU, such as FFTW",
        f"the simulator has no cuFoo (called in {file}); simulator/covers.md lists the calls of the driver that it has",
        f"the simulator has no cudaBar (called in {file}, {other})", f"the simulator has no cudaFoo (called in {file})",
        f"undefined: elsewhere(int) (called in {other}): is a file missing in FILE, or a library in FLAGS?"], result.stderr
    (tmp_path / "missing.cu").write_text("#include <nccl_of_tests.h>\n")
    result = make("-s", "sim", f"FILE={file}")
    assert "the simulator has no NCCL (whose header" in result.stderr


STRAY = {"cublas": (("1", "cublasSgemm reads 64 bytes at offset 0 of a 60-byte allocation: 4 bytes past the end"),
                    ("2", "the source of cublasSgemm must be device memory, but it is host memory"),
                    ("3", "cublasScopy in stream 2 reads byte 0 of a 4096-byte allocation, which kernel fill in stream 1 may not have written yet"),
                    ("4", "the source of cublasSgemmBatched must be device memory, but it is host memory"),
                    ("5", "the source of cublasSgetrfBatched must be device memory, but it is host memory")),
         "curand": (("1", "curandGenerateUniform writes 262148 bytes at offset 0 of a 262144-byte allocation: 4 bytes past the end"),
                    ("2", "the handle that curandGenerateUniform gets is not a generator that curandCreateGenerator created and that has not been destroyed"))}

SAID_LINES = {"cublas": 1, "curand": 4}  # lines printed by the simulator: that it replaces the library; that quasirandom numbers are not supported


@longer  # cuBLAS needs a download of OpenBLAS
@unsanitized
@pytest.mark.parametrize("library", ["cublas", "curand"])
def test_replacements_of_nvidias_libraries(library):
    """Broken: a call of cuBLAS or cuRAND computes something else, or is not linked automatically; the checker does not know its accesses or its stream,
    or reports a line of the library instead of the program's."""
    made = ["scripts/build/one_at_a_time.sh", "make", "-s", f"build/sim/lib{library}.a"]
    if subprocess.run(made, cwd=ROOT, env=os.environ | {"COMPILING": "1"}, capture_output=True).returncode != 0:
        pytest.skip("OpenBLAS could not be installed from PyPI")
    result = make("-s", "sim", f"FILE=tests/simulator/{library}.cu", "FLAGS=-O0")
    assert result.returncode == 0 and "the simulator's own" in result.stdout, result.stderr
    built = ROOT / "build/sim/programs/tests/simulator" / library
    result = subprocess.run([built], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "PASS\n") and result.stderr.count("\n") == SAID_LINES[library], result.stderr
    for mistake, said in STRAY[library]:
        result = subprocess.run([built, mistake], capture_output=True, text=True)
        assert result.returncode == 88 and said in result.stderr, (mistake, result.stderr)
        assert f"--> tests/simulator/{library}.cu:" in result.stderr and "libraries/" not in result.stderr, (mistake, result.stderr)


@unsanitized
def test_the_management_library(tmp_path):
    """Broken: a program that asks NVML for its device and memory is not linked, gets wrong answers, or gets a made-up power."""
    result = make("-s", "sim", "FILE=tests/simulator/nvml.cu", "FLAGS=-O0 -lnvidia-ml")
    assert result.returncode == 0 and "NVML: the simulator's own" in result.stdout, result.stderr
    result = subprocess.run([ROOT / "build/sim/programs/tests/simulator/nvml"], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "PASS\n", "")


def test_what_two_files_define_is_named(tmp_path):
    """Broken: two files that both define main, or the same function, get a page of linker errors."""
    (tmp_path / "one.cpp").write_text("int size() { return 1; }\nint main() {}\n")
    (tmp_path / "two.cpp").write_text("int size() { return 2; }\nint main() {}\nint number = 1;\n")
    (tmp_path / "three.cpp").write_text("int number = 2;\n")
    one, two, three = (tmp_path / f"{name}.cpp" for name in ("one", "two", "three"))
    result = make("-s", "sim", f"FILE={one} {two} {three}")
    lines = [line for line in result.stderr.splitlines() if not line.startswith(("make", "another make"))]
    assert result.returncode == 2 and sorted(lines) == sorted([
        f"{one} and {two} define the same: size() and main; a program has one main: leave a file out of FILE",
        f"{two} and {three} define the same: number; rename one, or declare it static"]), result.stderr


PROGRAM = """
#include <cstdio>
#include <cstdlib>
#include "size.h"
template <int THREADS> __global__ void add(int *sum)
{
    atomicAdd(sum, 1);
    if (threadIdx.x == 0)
        printf("block %d\\n", blockIdx.x);
}
static __global__ void twice(int *sum) { *sum *= 2; }
int main(int count, char **arguments)
{
    int *sum;
    cudaMallocManaged(&sum, sizeof(int));
    *sum = 0;
    add<SIZE><<<2, SIZE>>>(sum);
    add<SIZE><<<1, SIZE>>>(sum);
    twice<<<1, 1>>>(sum);
    cudaDeviceSynchronize();
    printf("sum %d of %s", *sum, arguments[1]);
    return atoi(arguments[2]);
}
"""


def test_run_shows_what_a_program_prints_and_its_counters(tmp_path):
    """Broken: make run loses what a kernel prints, an argument, an option, the exit status, or a kernel's counters."""
    folder = tmp_path / "it's mine"
    folder.mkdir()
    (folder / "own.cu").write_text(PROGRAM)
    (folder / "size.h").write_text("#define SIZE LENGTH\n")
    result = make("-s", "run", f"FILE={folder}/own.cu", "FLAGS=-DLENGTH=64", "ARGS='a b' 3", "DEVICE=sim")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("built: build/sim/elsewhere/") and lines[1:5] == ["block 0", "block 1", "block 0", "sum 384 of a b"], result.stderr
    table = [line.split() for line in lines[6:]]
    assert [row[:2] for row in table[:3]] == [["kernel", "launches"], ["add", "2"], ["twice", "1"]]
    assert table[1][table[0].index("atomics")] == "6" and table[-1][:3] == ["0", "in", "all:"]
    assert "Error 3" in result.stderr


def test_the_table_sums_up(tmp_path):
    """Broken: the launches of a kernel are not added up, the mean is that of the last launch, or the name is mangled."""
    header = "step,kernel,launch,grid,block,warp_instructions,active_lanes_mean,shuffles,atomics\n"
    (tmp_path / "x.csv").write_text(header + "s,add,0,1,1,10,32.000,0,1\ns,_ZL5twicePi,1,1,1,5,1.000,0,0\ns,add,2,1,1,30,16.000,0,2\n")
    assert counters_table.of(tmp_path / "x.csv").splitlines()[1:] == [
        "                          warp  active_lanes", "kernel  launches  instructions          mean  atomics",
        "add            2            40          20.0        3", "twice          1             5           1.0        0", "0 in all: shuffles"]
    assert counters_table.of(tmp_path / "none.csv") == "no kernel was launched, or none came to its end"


# ---- Separate compilation: -rdc=true

def test_files_compiled_apart():
    """Broken: a file cannot use functions, variables, constants, kernels or function pointers of another file."""
    files = " ".join(f"tests/programs/rdc/{name}.cu" for name in ("main", "parts"))
    result = make("-s", "run", f"FILE={files}", "FLAGS=-rdc=true", "DEVICE=sim")
    assert result.returncode == 0 and "\nPASS\n" in result.stdout, result.stderr


@longer  # the labelled programs and those of test_install.py have nested launches, too
def test_kernels_launch_kernels():
    """Broken: a kernel cannot launch kernels; they run in an order that their streams, events and tail launches forbid; limits are not checked;
    make run does not add -rdc=true by itself; or child grids have no counters."""
    result = make("-s", "run", "FILE=tests/programs/rdc/children.cu", "DEVICE=sim")
    assert result.returncode == 0 and "\nPASS\n" in result.stdout, result.stderr
    launches = {line.split()[0]: int(line.split()[1]) for line in result.stdout.splitlines() if len(line.split()) > 10 and line.split()[1].isdigit()}
    assert launches["write"] == 7 and launches["alone"] == 15 and launches["deeper"] == 25, result.stdout


HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"{file}\"\n"
MAIN = """
.visible .entry use(.param .u64 in, .param .u64 out)
{{
    .reg .b32 %r<6>; .reg .b64 %to;
    ld.param.u64 %to, [out];
    .loc 1 30 1
    {{ .param .b32 v; call.uni (v), {first}; ld.param.b32 %r1, [v]; }}
    .loc 2 7 1
    {{ .param .b32 v; call.uni (v), {second}; ld.param.b32 %r2, [v]; }}
    .loc 1 40 1
    st.global.u32 [%to], %r1;
    st.global.u32 [%to+4], %r2;
    ret;
}}
"""


def linked(tmp_path, *texts):
    """The output of the kernel `use` of the linked texts; or the error message."""
    for k, text in enumerate(texts):
        (tmp_path / f"{k}.ptx").write_text(HEAD.format(file=f"{k}.cu") + text)
    (tmp_path / "in").write_bytes(bytes(8))
    names = ",".join(str(tmp_path / f"{k}.ptx") for k in range(len(texts)))
    result = subprocess.run([ROOT / "build/sim/ptx_run", names, "use", "1", tmp_path / "in", tmp_path / "out"], capture_output=True, text=True,
                            env=os.environ | {"SIM_CHECK": "0"}) # which says it in one line
    if result.returncode:
        return result.stderr
    written = (tmp_path / "out").read_bytes()
    return [int.from_bytes(written[:4], "little"), int.from_bytes(written[4:8], "little")]


def function(name, how, before=""):
    """A function that returns the value that an instruction stores in %v."""
    return f".func (.param .b32 r) {name}() {{ .reg .b32 %v; {before} {how} st.param.b32 [r], %v; ret; }}\n"


def variable(value):
    return f".global .align 4 .u32 x = {value};\n"


EXTERN = ".extern .func (.param .b32 r) {}();\n"
GET = function("get", "ld.global.u32 %v, [x];")
OTHER = ".visible " + function("other", "ld.param.b32 %v, [v];", ".param .b32 v; call.uni (v), get;")


def test_names_of_one_text_stay_its_own(tmp_path):
    """Broken: a static function or variable is used instead of another file's with the same name."""
    caller = EXTERN.format("other") + MAIN.format(first="get", second="other")
    mine, other = variable(1) + GET + caller, variable(2) + GET + OTHER
    assert linked(tmp_path, mine, other) == [1, 2] == linked(tmp_path, other, mine)
    mine, everyone = EXTERN.format("get") + caller, ".visible " + variable(3) + ".visible " + GET
    for texts in itertools.permutations([mine, other, everyone]):
        assert linked(tmp_path, *texts) == [3, 2]


def test_one_of_several_equal_functions_stays(tmp_path):
    """Broken: a template or inline function in two files is an error, or its static variable exists twice."""
    caller = EXTERN.format("other") + MAIN.format(first="get", second="other")
    mine, other = ".weak " + variable(4) + ".weak " + GET + caller, ".weak " + variable(4) + ".weak " + GET + OTHER
    assert linked(tmp_path, mine, other) == [4, 4] == linked(tmp_path, other, mine)
    other = ".visible " + variable(5) + ".visible " + function("other", "ld.global.u32 %v, [x];")
    assert linked(tmp_path, mine, other) == [5, 5] == linked(tmp_path, other, mine)


def test_what_cannot_be_linked_is_named(tmp_path):
    """Broken: a name with two definitions or none links without an error, or an unsupported call in a kernel is not reported."""
    caller = MAIN.format(first="get", second="__cudaCDP2Memset3DAsync")
    defined = ".visible " + variable(1) + ".visible " + GET
    extern = EXTERN.format("get") + EXTERN.format("__cudaCDP2Memset3DAsync") + caller
    assert "two files define 'x'" in linked(tmp_path, defined, ".visible " + variable(1))
    assert "two files define 'get'" in linked(tmp_path, extern, defined, ".visible " + function("get", "mov.b32 %v, 0;"))
    assert "no file defines the variable 'y'" in linked(tmp_path, ".extern .global .align 4 .u32 y;\n" + extern, defined)
    mangled = extern.replace("get", "_ZN4mine3getEi")
    assert "(0.cu:30): it calls 'mine::get', which no file defines: name the file that does, too" in linked(tmp_path, mangled)
    message = linked(tmp_path, defined, '.file 2 "runtime.h"\n' + extern)
    assert "(runtime.h:7): the simulator has no cudaMemset3DAsync in kernels" in message, message


INLINED = """
.file 2 "mine.h"
.file 3 "/include/mma.hpp"
.visible .entry use(.param .u64 in, .param .u64 out)
{{
    .reg .b32 %r<3>;
    .loc 1 5 0
    mov.b32 %r1, 0;
    .loc 1 14 5
    .loc 1 6 5, function_name $L__info_string0, inlined_at 1 14 5
    .loc 3 91 5, function_name $L__info_string1+7, inlined_at 1 6 5
    {0}
    .loc 1 20 5
    .loc 2 7 1, function_name $L__info_string2, inlined_at 1 20 5
    .loc 3 92 5, function_name $L__info_string1, inlined_at 2 7 1
    {1}
    .loc 1 21 5
    .loc 2 7 1, function_name $L__info_string2, inlined_at 1 21 5
    .loc 3 92 5, function_name $L__info_string1, inlined_at 2 7 1
    {2}
    .loc 1 22 5
    .loc 3 92 5, function_name $L__info_string1, inlined_at 2 7 1
    {3}
    .loc 3 93 5, function_name $L__info_string1, inlined_at 2 8 1
    {4}
    .loc 1 23 5
    {5}
    ret;
}}
"""
LINES = ["/include/mma.hpp:91, inlined into 0.cu:6", "/include/mma.hpp:92, inlined into 0.cu:20", "/include/mma.hpp:92, inlined into 0.cu:21",
         "/include/mma.hpp:92", "/include/mma.hpp:93", "0.cu:23"]  # line 7 of mine.h is inlined at two lines; for line 8 the calling line is unknown


@pytest.mark.parametrize("place", range(len(LINES)))
def test_what_was_inlined_is_named_with_the_users_line(place, tmp_path):
    """Broken: a fault in a CUDA header does not name the calling line of the user's file, or names a wrong one."""
    text = INLINED.format(*("strange.u32 %r1, %r1;" if k == place else "mov.b32 %r2, %r1;" for k in range(len(LINES))))
    assert f" ({LINES[place]}): the simulator does not know" in linked(tmp_path, text)
    assert f" ({LINES[place].replace('0.cu', '1.cu')}): the simulator does not know" in linked(tmp_path, variable(1), text)
